"""Names in a scenario to catalog ids; a name that is not known is a logged fault.

The catalog's `names` know aliases; here the regions and providers of the user's own
offers are known as well.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from solver.catalog import names
from solver.catalog.schema import Architecture, Server
from solver.errors import InputError, nearest
from solver.scenario.reading import Reading
from solver.scenario.supply_schema import OfferSpec
from solver.yaml_source import DataPath

T = TypeVar("T")


def _found(reading: Reading, path: DataPath, find: Callable[[], T], none: T) -> T:
    """Return what a look-up finds, or ``none`` after logging its faults."""
    try:
        return find()
    except InputError as error:
        for issue in error.issues:
            reading.fault(issue.code, issue.message, path, issue.hint)
        return none


def gpus(reading: Reading, name: str, path: DataPath) -> tuple[str, ...]:
    """Return the GPUs that a name or a family stands for."""
    catalog = reading.catalog
    return _found(
        reading,
        path,
        lambda: names.resolve_gpu(name, catalog, allow_family=True),
        (),
    )


def one_gpu(reading: Reading, name: str, path: DataPath) -> str | None:
    """Return the one GPU that a name stands for."""
    found = _found(
        reading,
        path,
        lambda: names.resolve_gpu(name, reading.catalog, allow_family=False),
        (),
    )
    return found[0] if found else None


def regions(reading: Reading, name: str, path: DataPath) -> tuple[str, ...]:
    """Return the regions that an id, or a bare region name, stands for."""
    own = {offer.region for offer in reading.supply.offers}
    wanted = name.casefold()
    mine = [
        region
        for region in sorted(own)
        if wanted in (region.casefold(), region.split("/", 1)[-1].casefold())
    ]
    try:
        found = names.resolve_region(name, reading.catalog)
    except InputError as error:
        if mine:
            return tuple(mine)
        for issue in error.issues:
            hint = issue.hint or nearest(name, sorted(own))
            reading.fault(issue.code, issue.message, path, hint)
        return ()
    return tuple(dict.fromkeys((*found, *mine)))


def countries(reading: Reading, name: str, path: DataPath) -> tuple[str, ...]:
    """Return the country that a code or name stands for."""
    if name.upper() in reading.supply.countries.values():
        return (name.upper(),)
    return _found(
        reading, path, lambda: (names.resolve_country(name, reading.catalog),), ()
    )


def own_country(reading: Reading, name: str, path: DataPath) -> str | None:
    """Return the country of an own offer; any two letters are taken as a code."""
    code = country_code(reading, name)
    if code is not None:
        return code
    if len(name) == 2 and name.isascii() and name.isalpha():
        return name.upper()
    return _found(
        reading, path, lambda: names.resolve_country(name, reading.catalog), None
    )


def country_code(reading: Reading, name: str) -> str | None:
    """Return the code of a country that the catalog knows, else None."""
    try:
        return names.resolve_country(name, reading.catalog)
    except InputError:
        return None


def providers(reading: Reading, name: str, path: DataPath) -> tuple[str, ...]:
    """Return the provider that a name stands for."""
    own = sorted({offer.provider for offer in reading.supply.offers})
    for provider in own:
        if provider.casefold() == name.casefold():
            return (provider,)
    return _found(
        reading, path, lambda: (names.resolve_provider(name, reading.catalog),), ()
    )


def architecture(reading: Reading, name: str, path: DataPath) -> Architecture | None:
    """Return the architecture that a name stands for."""
    catalog = reading.catalog
    return _found(
        reading,
        path,
        lambda: catalog.architecture(names.resolve_architecture(name, catalog)),
        None,
    )


def framework(reading: Reading, name: str, path: DataPath) -> str | None:
    """Return the framework that a name stands for."""
    return _found(
        reading, path, lambda: names.resolve_framework(name, reading.catalog), None
    )


def optimizer(reading: Reading, name: str, path: DataPath) -> str | None:
    """Return the optimizer that a name stands for."""
    return _found(
        reading, path, lambda: names.resolve_optimizer(name, reading.catalog), None
    )


def storage(reading: Reading, name: str, path: DataPath) -> tuple[str, ...]:
    """Return the storage tiers that an id, a name, or a kind stands for."""
    tiers = reading.catalog.storage.values()
    wanted = name.casefold()
    for tier in tiers:
        if wanted in (tier.id.casefold(), tier.name.casefold()):
            return (tier.id,)
    kind = wanted.replace("-", "_").replace(" ", "_")
    found = tuple(t.id for t in tiers if t.kind == kind and not t.provider)
    if not found:
        known = [tier.id for tier in tiers] + [tier.kind for tier in tiers]
        message = f"no storage tier is called '{name}'"
        reading.fault("unknown-name", message, path, nearest(name, known))
    return found


def standard_server(
    reading: Reading, gpu: str, spec: OfferSpec, path: DataPath
) -> Server | None:
    """Return the server that a GPU, a count and a fabric inside the node make."""
    place: DataPath = (*path, "intra_node") if spec.intra_node else (*path, "gpu")
    return _found(
        reading,
        place,
        lambda: names.standard_server(
            reading.catalog, gpu, spec.gpus_per_node, spec.intra_node
        ),
        None,
    )
