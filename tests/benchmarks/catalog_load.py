"""Time the reading of the whole shipped catalog in this process, part by part."""

import json
from time import perf_counter

from solver.catalog.load import PARTS, load_catalog


def time_parts() -> dict[str, float]:
    """Return the seconds that reading each part takes; nothing is kept between runs."""
    catalog = load_catalog(environment={})
    seconds = {}
    for part in PARTS:
        start = perf_counter()
        catalog.entries(part)
        seconds[part] = perf_counter() - start
    start = perf_counter()
    _ = catalog.calibration
    seconds["calibration"] = perf_counter() - start
    return seconds


if __name__ == "__main__":
    print(json.dumps(time_parts()))
