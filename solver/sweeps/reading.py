"""From a sweep file to a `Sweep`; every fault of the file is told at once.

::

    name: Deadline against cost by GPU
    base: llama3-70b-deadline
    axes: {constraints.deadline: {from: 20 days, to: 90 days, count: 8}}

Whether the scenario takes each value comes out in `solver.sweeps.trying`.
"""

from __future__ import annotations

from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from solver.errors import InputError, nearest, shown
from solver.scenario.gallery import SUFFIXES, Found, find_scenario
from solver.scenario.schema import ScenarioFile
from solver.sweeps.definition import (
    OVERLAY,
    PRICE_FACTOR,
    Axis,
    Condition,
    Draws,
    Sweep,
)
from solver.sweeps.draws import distribution
from solver.sweeps.faults import Reader
from solver.sweeps.overlay_reading import read_overlays
from solver.sweeps.ranges import RANGE_KEYS, expanded
from solver.units import QuantityError
from solver.yaml_source import DataPath, Source, dotted

if TYPE_CHECKING:
    from solver.catalog.load import Catalog

__all__ = ["KEYS", "read_sweep"]

KEYS = ("name", "base", "set", "axes", "zip", "overlays", "draws", "skip")
VARYING = ("axes", "zip", "overlays", "draws")
BOUNDS = ("below", "above", "at_least", "at_most")
MAX_DRAWS = 100_000
MAX_SEED = 2**31 - 1


def read_sweep(
    source: Source, catalog: Catalog, folder: Path | Traversable, stem: str
) -> Sweep:
    """Return a sweep from the data of its file.

    Parameters
    ----------
    source
        The file's data.
    catalog
        What names are looked up in.
    folder
        Where the file lies: paths in it are relative to that.
    stem
        Its name if it states none.

    Raises
    ------
    InputError
        Everything that is wrong with its form.
    """
    reader = Reader(source)
    data = reader.mapping(source.data, (), KEYS)
    name = data.get("name", "")
    if not isinstance(name, str):
        reader.fault("wrong-type", f"expected a text, not {shown(name)}", ("name",))
    base = _base(data.get("base"), reader, folder)
    set_values: tuple[tuple[str, Any, DataPath], ...] = ()
    if "set" in data:
        set_values = tuple(reader.scenario_keys(data["set"], ("set",)))
    axes = (*_axes(data.get("axes"), reader), *_zipped(data.get("zip"), reader))
    here = folder if isinstance(folder, Path) else Path()
    overlays = read_overlays(data.get("overlays"), reader, catalog, here)
    draws = _draws(data.get("draws"), reader)
    _check_keys(set_values, axes, draws, reader)
    names = [key for axis in axes for key in axis.keys]
    names += [] if draws is None else [d.key for d in draws.distributions]
    skips = _skips(data.get("skip"), (*names, OVERLAY), reader)
    if all(data.get(key) in (None, {}, []) for key in VARYING):
        message = "nothing varies; expected axes, zip, overlays or draws"
        reader.fault("missing-key", message, ("axes",))
    reader.log.raise_if_any()
    found, base_source = base
    return Sweep(
        source=source,
        name=name or stem,
        base=found,
        base_source=base_source,
        set_values=set_values,
        axes=axes,
        overlays=overlays,
        draws=draws,
        skips=skips,
    )


def _base(
    value: Any, reader: Reader, folder: Path | Traversable
) -> tuple[Found, Source]:
    """The base scenario and its data; stand-ins after logging why there are none."""
    nothing = Found(Path(), "", Path(), shipped=False), reader.source
    if not isinstance(value, str) or not value.strip():
        message = "'base' is needed: a scenario file, or the name of a shipped one"
        reader.fault("missing-key", message, ("base",))
        return nothing
    path = Path(value)
    is_path = path.suffix in SUFFIXES or len(path.parts) != 1
    try:
        if is_path and isinstance(folder, Path):
            found = find_scenario(folder / path)
        else:
            found = find_scenario(value)
        source = found.source()
    except InputError as error:
        for issue in error.issues:
            if issue.code == "file-not-found":
                message = f"{issue.message}: {shown(value)}"
                reader.fault(issue.code, message, ("base",), issue.hint)
            else:
                reader.log.extend([issue])
        return nothing
    return found, source


def _axes(value: Any, reader: Reader) -> tuple[Axis, ...]:
    """The axes of one key each."""
    if value is None:
        return ()
    found = []
    for key, item, path in reader.scenario_keys(value, ("axes",)):
        rows = [((value,), (place,)) for value, place in _values(item, path, reader)]
        if rows:
            found.append(Axis((key,), *zip(*rows, strict=True)))
    return tuple(found)


def _values(item: Any, path: DataPath, reader: Reader) -> list[tuple[Any, DataPath]]:
    """The values of an axis with their places; none after logging why."""
    if isinstance(item, list) and item:
        return [(value, (*path, position)) for position, value in enumerate(item)]
    if not isinstance(item, dict):
        message = "expected a list of values, or a range with from, to and count"
        reader.fault("wrong-type", message, path)
        return []
    before = len(reader.log)
    spec = reader.mapping(item, path, RANGE_KEYS)
    if len(reader.log) > before:
        return []
    try:
        return [(value, path) for value in expanded(spec)]
    except QuantityError as error:
        reader.refused(error, path)
        return []


def _zipped(value: Any, reader: Reader) -> tuple[Axis, ...]:
    """The groups of keys that vary together."""
    if value is None:
        return ()
    found = []
    for path, item in reader.items(value, ("zip",), "groups of keys"):
        columns: dict[str, list[tuple[Any, DataPath]]] = {}
        for key, values, place in reader.scenario_keys(item, path):
            columns[key] = _values(values, place, reader)
        lengths = {key: len(column) for key, column in columns.items()}
        if 0 in lengths.values() or not lengths:
            continue
        if len(set(lengths.values())) > 1:
            told = ", ".join(f"{key} has {n}" for key, n in lengths.items())
            message = f"expected lists of one length: {told}"
            reader.fault("contradiction", message, path)
            continue
        steps = list(zip(*columns.values(), strict=True))
        rows = tuple(tuple(value for value, _ in step) for step in steps)
        places = tuple(tuple(place for _, place in step) for step in steps)
        found.append(Axis(tuple(columns), rows, places))
    return tuple(found)


def _draws(value: Any, reader: Reader) -> Draws | None:
    """What is drawn; None: nothing, or a fault is logged."""
    if value is None:
        return None
    if not isinstance(value, dict):
        message = "expected count, seed, and a distribution for each drawn key"
        reader.fault("wrong-type", message, ("draws",))
        return None
    count, seed = value.get("count"), value.get("seed", 0)
    if count is None:
        reader.fault("missing-key", "'count' is needed", ("draws", "count"))
    else:
        count = reader.whole(count, ("draws", "count"), 1, MAX_DRAWS)
    seed = reader.whole(seed, ("draws", "seed"), 0, MAX_SEED)
    drawn = {k: v for k, v in value.items() if k not in ("count", "seed")}
    if not drawn:
        message = f"expected a distribution, such as {PRICE_FACTOR}: {{uniform: ...}}"
        reader.fault("missing-key", message, ("draws",))
    found = []
    for key, item, path in reader.scenario_keys(drawn, ("draws",)):
        try:
            found.append(distribution(key, item))
        except QuantityError as error:
            reader.refused(error, path)
    return Draws(count or 1, seed or 0, tuple(found))


def _check_keys(
    set_values: tuple[tuple[str, Any, DataPath], ...],
    axes: tuple[Axis, ...],
    draws: Draws | None,
    reader: Reader,
) -> None:
    """Log keys that nothing has, and keys that are given in two places."""
    places = [(key, path) for key, _, path in set_values]
    for axis in axes:
        # the last part of a place is the position in a list, if it is a number
        ends = [p[:-1] if isinstance(p[-1], int) else p for p in axis.places[0]]
        places += list(zip(axis.keys, ends, strict=True))
    if draws is not None:
        places += [(d.key, ("draws", d.key)) for d in draws.distributions]
    seen: dict[str, DataPath] = {}
    known = (*ScenarioFile.keys(), PRICE_FACTOR)
    for key, path in places:
        top = key.split(".")[0].split("[")[0]
        if top not in known:
            hint = nearest(top, known)
            rest = key[len(top) :]
            message = "the scenario has no such key"
            reader.fault("unknown-key", message, path, hint and hint + rest, key=True)
        lost = next((k for k in seen if _covers(key, k)), None)
        if lost is not None:
            what = "the key is also given" if lost == key else "this replaces what is"
            message = f"{what} at {dotted(seen[lost])}"
            reader.fault("duplicate-key", message, path, key=True)
        seen[key] = path
    if any(key == PRICE_FACTOR for key, _, _ in set_values):
        message = f"{PRICE_FACTOR} cannot be set for all; use an overlay"
        reader.fault("wrong-value", message, ("set", PRICE_FACTOR), key=True)


def _covers(key: str, other: str) -> bool:
    """Whether a key is another one, or has it among its parts."""
    return other == key or other.startswith((f"{key}.", f"{key}["))


def _skips(
    value: Any, known: tuple[str, ...], reader: Reader
) -> tuple[tuple[Condition, ...], ...]:
    """The conditions on points that are left out."""
    if value is None:
        return ()
    found = []
    for path, item in reader.items(value, ("skip",), "conditions"):
        conditions = []
        for key, wanted, place in reader.scenario_keys(item, path):
            if key not in known:
                reader.unknown_key(key, known, place)
                continue
            conditions.append(_condition(key, wanted, place, reader))
        if item == {}:
            message = f"expected a condition on one of {', '.join(known)}"
            reader.fault("missing-key", message, path)
        if conditions:
            found.append(tuple(conditions))
    return tuple(found)


def _condition(key: str, wanted: Any, path: DataPath, reader: Reader) -> Condition:
    """What one value has to be."""
    if not isinstance(wanted, dict):
        values = wanted if isinstance(wanted, list) else [wanted]
        return Condition(key, values=tuple(values), place=path)
    bounds = reader.mapping(wanted, path, BOUNDS)
    if not bounds:
        reader.fault("missing-key", f"expected one of {', '.join(BOUNDS)}", path)
    return Condition(key, bounds=bounds, place=path)
