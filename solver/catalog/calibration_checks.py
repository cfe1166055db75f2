"""Whether a calibration.yaml says what the performance model can use.

Every folder's file is checked by itself, so that a fault is told at its line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from solver.catalog.bounds import Bounds
from solver.catalog.reading import Folder, read_text
from solver.errors import Issue, nearest, shown
from solver.files import is_file
from solver.yaml_source import DataPath, Source, dotted, load_yaml

if TYPE_CHECKING:
    from solver.catalog.load import Catalog

__all__ = ["check_calibration", "generations_of", "where_calibrated"]

FILE = "calibration.yaml"

_SHARE = Bounds(1e-3, 1, "(a share)")
_SPREAD = Bounds(1e-3, 5)
_COUNT = Bounds(0, 1e9)
_SWITCH = Bounds(0, 1)
_RATE = Bounds(1e-3, 1e5, "GB/s")
_PHYSICS = {
    "hbm": _SHARE,
    "host_link": _SHARE,
    "tile_fill_s": Bounds(0, 1e-3, "seconds"),
    "wave_tail": Bounds(0, 10, "waves"),
    "attention_ramp_tokens": Bounds(0, 1e6, "tokens"),
    "fused_attention": _SWITCH,
    "plain_rate": _SHARE,
    "grouped": _SHARE,
    "gemm_16bit": _SHARE,
    "gemm_fp8": _SHARE,
    "gemm_mxfp8": _SHARE,
    "gemm_nvfp4": _SHARE,
    "attention": _SHARE,
    "silicon_tflops": Bounds(0.1, 1e5, "TFLOP/s"),
    "reference_w": Bounds(1, 1e5, "W"),
    "reference_w_per_tflop": Bounds(0, 1e3, "W per TFLOP/s"),
    "power_exponent": Bounds(0, 10),
    "sigma": _SPREAD,
}
_SECTIONS: Mapping[str, Mapping[str, Bounds]] = {
    "common": _PHYSICS,
    "pcie": {
        "bus_2": _RATE,
        "bus_4": _RATE,
        "bus_8": _RATE,
        "nvlink": _SHARE,
        "latency_us": Bounds(0, 1e6, "µs"),
        "without_peer": _SHARE,
    },
    "inference": {
        "weights_rate": _SHARE,
        "cache_rate": _SHARE,
        "matmul_rate": _SHARE,
        "layer_s": Bounds(0, 1, "seconds"),
        "step_s": Bounds(0, 10, "seconds"),
        "all_reduce_s": Bounds(0, 1, "seconds"),
        "workspace_gib": Bounds(0, 1e3, "GiB"),
        "most_sequences": Bounds(1, 1e6, "sequences"),
        "loop_rate": _SHARE,
        "longest_over_mean": Bounds(1, 1e3),
    },
    "reliability": {
        "checkpoint_s": Bounds(0, 1e6, "seconds"),
        "restart_s": Bounds(0, 1e6, "seconds"),
    },
}
_TABLES: Mapping[str, Mapping[str, Bounds]] = {
    "generations": _PHYSICS,
    "spread": {"sigma": _SPREAD, "runs": _COUNT, "sources": _COUNT},
}
_OPEN = {"covered": _COUNT}
"""Tables of tables whose inner keys are free, with the bounds of their numbers."""
_SAID = ("source", "note", "as_of", "fitted_on")
"""Keys of text, anywhere."""
_OF_GENERATION = ("generation", "compute_capability")
_KNOWN = (*_SECTIONS, *_TABLES, *_OPEN, *_SAID)
_YEAR = re.compile(r"@[0-9]{4}$")


def check_calibration(catalog: Catalog) -> Iterator[Issue]:
    """Yield keys that no calibration has, and numbers out of range.

    Under others the first folder, the shipped one, is taken to be right.
    """
    for folder in catalog.folders[1:] or catalog.folders:
        source = _source(folder)
        if source is not None:
            yield from _checked(source)


def generations_of(calibration: Mapping[str, Any]) -> set[str]:
    """Return the GPU generations that a calibration has figures for."""
    entries = calibration.get("generations")
    if not isinstance(entries, dict):
        return set()
    return {
        str(entry.get("generation", key))
        for key, entry in entries.items()
        if isinstance(entry, dict)
    }


def where_calibrated(catalog: Catalog, path: DataPath) -> str | None:
    """Return the place of a value in the last folder that has it, if any does."""
    for folder in reversed(catalog.folders):
        source = _source(folder)
        value: Any = None if source is None else source.data
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        if source is not None and value is not None:
            return source.where(path)
    return None


def _source(folder: Folder) -> Source | None:
    """Return the calibration of a folder with its places, None if it has none."""
    file = folder.root / FILE
    name = f"{folder.name}/{FILE}"
    return load_yaml(read_text(file, name), name) if is_file(file) else None


def _checked(source: Source) -> Iterator[Issue]:
    """Yield what is wrong with one file."""
    for key, value in source.data.items():
        if key in _SECTIONS:
            yield from _section(source, (key,), value, _SECTIONS[key])
        elif key in _TABLES or key in _OPEN:
            if not isinstance(value, dict):
                yield _no_mapping(source, (key,))
                continue
            for name, entry in value.items():
                known = _TABLES.get(key) or _free(entry, _OPEN[key])
                yield from _section(source, (key, name), entry, known)
        elif key not in _SAID:
            yield _unknown(source, (key,), _KNOWN)


def _free(entry: Any, bounds: Bounds) -> Mapping[str, Bounds]:
    """Return the same bounds for every key that an entry has."""
    return dict.fromkeys(entry, bounds) if isinstance(entry, dict) else {}


def _section(
    source: Source, path: DataPath, data: Any, known: Mapping[str, Bounds]
) -> Iterator[Issue]:
    """Yield what is wrong with one mapping of numbers."""
    if not isinstance(data, dict):
        yield _no_mapping(source, path)
        return
    others = _SAID + (_OF_GENERATION if path[0] == "generations" else ())
    for key, value in data.items():
        if key in others:
            yield from _text(source, (*path, key), value)
            continue
        bounds = known.get(_YEAR.sub("", key))
        if bounds is None:
            yield _unknown(source, (*path, key), (*known, *others))
        elif isinstance(value, bool) or not isinstance(value, int | float):
            message = f"expected a number, not {shown(value)}"
            yield _fault(source, "wrong-type", message, (*path, key))
        elif not bounds.allows(value):
            message = f"expected {bounds}, not {shown(value)}"
            yield _fault(source, "out-of-range", message, (*path, key))


def _text(source: Source, path: DataPath, value: Any) -> Iterator[Issue]:
    """Yield that a value is no text, or no list of it where a list belongs."""
    if path[-1] == "compute_capability":
        if not isinstance(value, list):
            message = 'expected a list such as ["8.6"]'
            yield _fault(source, "wrong-type", message, path)
    elif isinstance(value, dict | list):
        yield _fault(source, "wrong-type", "expected text", path)


def _no_mapping(source: Source, path: DataPath) -> Issue:
    """Return the fault of a single value where keys belong."""
    return _fault(source, "wrong-type", "expected keys and their values", path)


def _unknown(source: Source, path: DataPath, known: tuple[str, ...]) -> Issue:
    """Return the fault of a key that a calibration does not have."""
    where = source.where(path, key=True)
    hint = nearest(str(path[-1]), known)
    message = "a calibration has no such key here"
    return Issue("unknown-key", message, where, dotted(path), hint)


def _fault(source: Source, code: str, message: str, path: DataPath) -> Issue:
    """Return the fault of a value."""
    return Issue(code, message, source.where(path), dotted(path))
