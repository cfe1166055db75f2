"""Write what the measurements cover into catalog/calibration.yaml.

    python tools/write_covered.py

For each GPU and each combination of framework, kind and precision the largest number of
GPUs of a good measured step time. Plans warn beyond it. A test tells when the block is
older than the measurements.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

from solver.accuracy.cases import Case
from solver.accuracy.filling import case_from
from solver.accuracy.tables import SkippedRowError, read_tables
from solver.catalog.load import Catalog, load_catalog
from solver.spread import combination

ROOT = Path(__file__).resolve().parents[1]
CALIBRATION = ROOT / "catalog" / "calibration.yaml"

Covered = Mapping[str, Mapping[str, int]]
"""GPU to combination to GPUs of the largest run."""


def measured_cases(catalog: Catalog) -> list[Case]:
    """The good step times of the shipped tables."""
    found = []
    for row in read_tables(None)[0]:
        if "step_time" not in row.metrics or row.text("quality") != "good":
            continue
        try:
            found.append(case_from(row, catalog))
        except SkippedRowError:
            continue
    return found


def covered(cases: Iterable[Case]) -> Covered:
    """The largest number of GPUs by GPU and combination."""
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for case in cases:
        key = combination(case.framework_id, case.kind, case.precision)
        gpus = case.layout["nodes"] * case.layout["gpus_per_node"]
        of_gpu = found[case.machine.gpu.id]
        of_gpu[key] = max(of_gpu.get(key, 0), gpus)
    return {gpu: dict(sorted(found[gpu].items())) for gpu in sorted(found)}


def write(path: Path, found: Covered) -> None:
    """Replace the block ``covered`` of calibration.yaml."""
    lines = []
    for gpu, combinations in found.items():
        lines.append(f"  {gpu}:\n")
        lines += [f"    {key}: {gpus}\n" for key, gpus in combinations.items()]
    text = path.read_text(encoding="utf-8")
    block = re.compile(r"(?m)^covered:\n(?: .*\n)*")
    if not block.search(text):
        raise SystemExit(f"{path.name}: no block 'covered'")
    text = block.sub("covered:\n" + "".join(lines), text)
    path.write_text(text, encoding="utf-8")


def main() -> None:
    """Write the block."""
    write(CALIBRATION, covered(measured_cases(load_catalog(()))))


if __name__ == "__main__":
    main()
