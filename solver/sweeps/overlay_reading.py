"""Overlays of a sweep file: prices changed, offers left out, a catalog on top."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from solver.catalog import names
from solver.catalog.country_groups import COUNTRY_GROUPS
from solver.catalog.schema import PurchaseKind
from solver.errors import Issue, nearest, shown
from solver.files import is_folder
from solver.sweeps.definition import PRICE_FACTOR, Overlay, PriceChange
from solver.sweeps.faults import Reader
from solver.yaml_source import DataPath

if TYPE_CHECKING:
    from solver.catalog.load import Catalog

__all__ = ["read_overlays"]

KEYS = ("name", PRICE_FACTOR, "exclude", "catalog")
CHANGE_KEYS = ("factor", "providers", "regions", "gpus", "purchase")
EXCLUDE_KEYS = ("gpus", "providers", "regions", "countries", "purchase")

PURCHASE_KINDS: tuple[str, ...] = get_args(PurchaseKind)

Resolve = Callable[[str, "Catalog"], "tuple[str, ...] | Issue"]


def read_overlays(
    value: Any, reader: Reader, catalog: Catalog, folder: Path
) -> tuple[Overlay, ...]:
    """The overlays of a sweep, by default one that changes nothing.

    Parameters
    ----------
    value
        What stands at ``overlays``.
    reader
        Takes the faults.
    catalog
        What names are looked up in.
    folder
        What the folders of catalogs are relative to.
    """
    if value is None:
        return (Overlay("as listed"),)
    found: list[Overlay] = []
    seen: dict[str, int] = {}
    for path, item in reader.items(value, ("overlays",), "overlays"):
        overlay = _overlay(item, path, reader, catalog, folder)
        if overlay is None:
            continue
        if overlay.name in seen:
            message = f"another overlay is called {shown(overlay.name)} too"
            reader.fault("duplicate-key", message, (*path, "name"))
        seen[overlay.name] = len(found)
        found.append(overlay)
    return tuple(found) or (Overlay("as listed"),)


def _overlay(
    item: Any, path: DataPath, reader: Reader, catalog: Catalog, folder: Path
) -> Overlay | None:
    data = reader.mapping(item, path, KEYS)
    if not isinstance(item, dict):
        return None
    name = data.get("name")
    if not isinstance(name, str) or not name.strip():
        reader.fault("missing-key", "'name' is needed, a text", (*path, "name"))
        return None
    prices = _prices(data.get(PRICE_FACTOR), (*path, PRICE_FACTOR), reader, catalog)
    exclude = _sets(
        data.get("exclude", {}), (*path, "exclude"), EXCLUDE_KEYS, reader, catalog
    )
    written = data.get("catalog")
    place = None
    if written is not None:
        place = folder / str(written)
        if not is_folder(place):
            message = f"no such catalog folder: {shown(str(place))}"
            reader.fault("folder-not-found", message, (*path, "catalog"))
    where = None if place is None else str(place.resolve())
    return Overlay(name.strip(), prices, exclude, written and str(written), where)


def _prices(
    value: Any, path: DataPath, reader: Reader, catalog: Catalog
) -> tuple[PriceChange, ...]:
    """Factors on prices: a number for all offers, or one or several for some."""
    if value is None:
        return ()
    if not isinstance(value, dict | list):
        factor = reader.factor(value, path)
        return () if factor is None else (PriceChange(factor),)
    alone = isinstance(value, dict)
    listed = [(path, value)] if alone else reader.items(value, path, "price factors")
    return tuple(
        change
        for place, item in listed
        if (change := _change(item, place, reader, catalog)) is not None
    )


def _change(
    item: Any, path: DataPath, reader: Reader, catalog: Catalog
) -> PriceChange | None:
    data = reader.mapping(item, path, CHANGE_KEYS)
    if "factor" not in data:
        if isinstance(item, dict):
            reader.fault("missing-key", "'factor' is needed", (*path, "factor"))
        return None
    factor = reader.factor(data.pop("factor"), (*path, "factor"))
    sets = _sets(data, path, CHANGE_KEYS[1:], reader, catalog)
    return None if factor is None else PriceChange(factor, **sets)


def _sets(
    value: Any,
    path: DataPath,
    known: tuple[str, ...],
    reader: Reader,
    catalog: Catalog,
) -> dict[str, tuple[str, ...]]:
    """Names of GPUs, providers and so on as catalog ids, by key."""
    sets: dict[str, tuple[str, ...]] = {}
    for key, written in reader.mapping(value, path, known).items():
        place = (*path, key)
        alone = not isinstance(written, list)
        listed = [(place, written)] if alone else reader.items(written, place, key)
        ids: list[str] = []
        for at, name in listed:
            ids += _ids(key, name, at, reader, catalog)
        sets[key] = tuple(dict.fromkeys(ids))
    return sets


def _ids(
    key: str, name: Any, path: DataPath, reader: Reader, catalog: Catalog
) -> tuple[str, ...]:
    """The ids that one name stands for; none after logging why."""
    if not isinstance(name, str):
        reader.fault("wrong-type", "expected a name", path)
        return ()
    found = RESOLVE[key](name, catalog)
    if isinstance(found, Issue):
        reader.fault(found.code, found.message, path, found.hint)
        return ()
    return found


def _gpus(name: str, catalog: Catalog) -> tuple[str, ...] | Issue:
    return names.resolve_gpu(name, catalog, allow_family=True)


def _countries(name: str, catalog: Catalog) -> tuple[str, ...] | Issue:
    if name.upper() in COUNTRY_GROUPS:
        return COUNTRY_GROUPS[name.upper()]
    found = names.resolve_country(name, catalog)
    return found if isinstance(found, Issue) else (found,)


def _purchase(name: str, _: Catalog) -> tuple[str, ...] | Issue:
    word = name.strip().casefold().replace("-", "_").replace(" ", "_")
    if word in PURCHASE_KINDS:
        return (word,)
    message = f"expected one of {', '.join(PURCHASE_KINDS)}, not {shown(name)}"
    return Issue("wrong-value", message, hint=nearest(word, PURCHASE_KINDS))


RESOLVE: Mapping[str, Resolve] = {
    "gpus": _gpus,
    "providers": names.resolve_provider,
    "regions": names.resolve_region,
    "countries": _countries,
    "purchase": _purchase,
}
