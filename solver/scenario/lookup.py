"""Names in a scenario to catalog ids; a name that is not known is a logged fault.

The catalog's `names` know aliases; here the regions, countries and providers of the
user's own offers are known as well.
"""

from __future__ import annotations

from typing import TypeVar

from solver.catalog import names
from solver.catalog.country_groups import COUNTRY_GROUPS
from solver.catalog.schema import Architecture, Server
from solver.catalog.slices import card_id, is_slice
from solver.catalog.supply import standard_server as catalog_server
from solver.errors import InputError, Issue, nearest, shown
from solver.scenario.quantities import word
from solver.scenario.reading import Reading, list_hint
from solver.scenario.supply_schema import OfferSpec
from solver.yaml_source import DataPath

T = TypeVar("T", str, tuple[str, ...])


def _found(reading: Reading, path: DataPath, result: T | Issue) -> T | None:
    """Return what a look-up found, or None after logging why it found nothing."""
    if isinstance(result, Issue):
        several = None
        if path[0] == "constraints" or "storage" in path:  # where lists may stand
            several = list_hint(reading.value(path))
        reading.fault(result.code, result.message, path, several or result.hint)
        return None
    return result


def gpus(reading: Reading, name: str, path: DataPath) -> tuple[str, ...]:
    """Return the GPUs that a name or a family stands for.

    The slices of a card that are on offer belong to it.
    """
    result = names.resolve_gpu(name, reading.catalog, allow_family=True)
    found = _found(reading, path, result) or ()
    parts = (gpu for gpu in _slices_on_offer(reading) if card_id(gpu) in found)
    return tuple(dict.fromkeys((*found, *parts)))


def _slices_on_offer(reading: Reading) -> list[str]:
    """Return the MIG slices that the user or the catalog offers."""
    servers = [*reading.supply.servers]
    if reading.supply.with_catalog:
        servers += reading.catalog.servers.values()
    return sorted({server.gpu for server in servers if is_slice(server.gpu)})


def cards(reading: Reading, name: str, path: DataPath) -> tuple[str, ...]:
    """Return the whole cards that a name, or the name of a slice, stands for."""
    result = names.resolve_gpu(name, reading.catalog, allow_family=True)
    found = _found(reading, path, result) or ()
    return tuple(dict.fromkeys(card_id(gpu) for gpu in found))


def one_gpu(reading: Reading, name: str, path: DataPath) -> str | None:
    """Return the one GPU that a name stands for."""
    result = names.resolve_gpu(name, reading.catalog, allow_family=False)
    found = _found(reading, path, result)
    return found[0] if found else None


def regions(reading: Reading, name: str, path: DataPath) -> tuple[str, ...]:
    """Return the regions that an id, or a bare region name, stands for."""
    own = sorted({offer.region for offer in reading.supply.offers})
    wanted = name.casefold()
    mine = tuple(
        region
        for region in own
        if wanted in (region.casefold(), region.split("/", 1)[-1].casefold())
    )
    result = names.resolve_region(name, reading.catalog)
    if isinstance(result, Issue):
        if mine:
            return mine
        result = _with_own_hint(result, name, own)
    found = _found(reading, path, result) or ()
    return tuple(dict.fromkeys((*found, *mine)))


def one_region(reading: Reading, name: str, path: DataPath) -> str | None:
    """Return the one region that a name stands for."""
    found = regions(reading, name, path)
    if len(found) > 1:
        message = f"{shown(name)} is a region of several providers"
        reading.fault("ambiguous-name", message, path, found[0])
    return found[0] if found else None


def _with_own_hint(issue: Issue, name: str, own: list[str]) -> Issue:
    """Return an issue whose hint may also be a name of the user's own offers."""
    hint = nearest(name, [*([issue.hint] if issue.hint else []), *own])
    return Issue(issue.code, issue.message, hint=hint or issue.hint)


def countries(reading: Reading, name: str, path: DataPath) -> tuple[str, ...]:
    """Return the countries that a code, a name or a group such as EU stands for."""
    if name.upper() in COUNTRY_GROUPS:
        return COUNTRY_GROUPS[name.upper()]
    if name.upper() in reading.supply.countries.values():
        return (name.upper(),)
    found = _found(reading, path, names.resolve_country(name, reading.catalog))
    return (found,) if found else ()


def own_country(reading: Reading, name: str, path: DataPath) -> str | None:
    """Return the country of an own offer; any two letters are taken as a code."""
    code = country_code(reading, name)
    if code is not None:
        return code
    return _found(reading, path, names.resolve_country(name, reading.catalog))


def country_code(reading: Reading, name: str) -> str | None:
    """Return the code of a country that is known or written as two letters."""
    found = names.resolve_country(name, reading.catalog)
    if isinstance(found, str):
        return found
    is_code = len(name) == 2 and name.isascii() and name.isalpha()
    return name.upper() if is_code else None


def providers(reading: Reading, name: str, path: DataPath) -> tuple[str, ...]:
    """Return the providers that a name stands for: one, or all clouds of a broker."""
    own = sorted({offer.provider for offer in reading.supply.offers})
    mine = tuple(p for p in own if p.casefold() == name.casefold())
    if mine:
        return mine
    result = names.resolve_provider(name, reading.catalog)
    if isinstance(result, Issue):
        result = _with_own_hint(result, name, own)
    return _found(reading, path, result) or ()


def architecture(reading: Reading, name: str, path: DataPath) -> Architecture | None:
    """Return the architecture that a name stands for."""
    catalog = reading.catalog
    found = _found(reading, path, names.resolve_architecture(name, catalog))
    return catalog.architecture(found) if found else None


def framework(reading: Reading, name: str, path: DataPath) -> str | None:
    """Return the framework that a name stands for."""
    return _found(reading, path, names.resolve_framework(name, reading.catalog))


def optimizer(reading: Reading, name: str, path: DataPath) -> str | None:
    """Return the optimizer that a name stands for."""
    return _found(reading, path, names.resolve_optimizer(name, reading.catalog))


def storage(reading: Reading, name: str, path: DataPath) -> tuple[str, ...]:
    """Return the storage tiers that an id, a name, or a kind stands for.

    A kind stands for the generic tiers of that kind, those of no provider.
    """
    kind = word(name)
    tiers = reading.catalog.storage.values()
    of_kind = tuple(t.id for t in tiers if t.kind == kind and not t.provider)
    if of_kind:
        return of_kind
    found = _found(reading, path, names.resolve_storage(name, reading.catalog))
    return (found,) if found else ()


def standard_server(
    reading: Reading, gpu: str, spec: OfferSpec, path: DataPath
) -> Server | None:
    """Return the usual server with so many GPUs of a kind and a fabric inside it."""
    place: DataPath = (*path, "gpus_per_node")
    tier = None
    if spec.intra_node is not None:
        place = (*path, "intra_node")
        tier = _intra_node(reading, gpu, spec, place)
        if tier is None:
            return None
    try:
        return catalog_server(reading.catalog, gpu, spec.gpus_per_node, tier)
    except InputError as error:
        for issue in error.issues:
            at = (*path, "gpus_per_node") if issue.code == "out-of-range" else place
            reading.fault(issue.code, issue.message, at, issue.hint)
        return None


def _intra_node(
    reading: Reading, gpu: str, spec: OfferSpec, path: DataPath
) -> str | None:
    """Return the tier inside a node that a name, or a kind such as pcie, stands for."""
    written = spec.intra_node or ""
    kind = word(written)
    try:
        usual = catalog_server(reading.catalog, gpu, spec.gpus_per_node)
    except InputError:
        usual = None  # a fault of gpus_per_node, logged by the caller
    if usual is not None and usual.intra_node_kind == kind:
        return usual.intra_node
    if kind == "pcie":
        written = f"pcie{reading.catalog.gpu(gpu).pcie_generation}"
    return _found(reading, path, names.resolve_intra_node(written, reading.catalog))
