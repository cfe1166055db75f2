"""The user's own offers as catalog records."""

from __future__ import annotations

from math import log2
from typing import Any

from solver.catalog.inventory import supply_faults
from solver.catalog.schema import (
    Delivery,
    NetworkTier,
    Offer,
    PurchaseKind,
    Server,
    StorageTier,
)
from solver.catalog.slices import is_slice
from solver.catalog.supply import slowest_local_drive
from solver.errors import shown
from solver.scenario import lookup
from solver.scenario.own_nodes import (
    check_charge,
    own_depreciation,
    own_figures,
    own_term_hours,
)
from solver.scenario.own_parts import fractions_of, with_one_gpu
from solver.scenario.reading import Reading
from solver.scenario.scenario import InlineSupply
from solver.scenario.schema import ScenarioFile
from solver.scenario.supply_schema import OfferSpec, OwnNetworkSpec, OwnStorageSpec
from solver.units import GB, MONTH_HOURS, TB
from solver.yaml_source import DataPath

PRICES = (
    "usd_per_gpu_hour",
    "usd_per_node_hour",
    "usd_per_node_month",
    "buy_usd_per_node",
)
DEFAULT_REGION = "local"

SHARED_PORT_KINDS = ("ethernet",)
"""Fabrics whose nodes usually have few fast ports rather than one a GPU."""


def resolve_offers(file: ScenarioFile, reading: Reading) -> InlineSupply:
    """Return the user's own offers as catalog records, their names resolved.

    Parameters
    ----------
    file
        The scenario; a table that it names has been read already.
    reading
        Takes faults and notices.
    """
    with_catalog = file.catalog is not None or not file.offers
    specs = () if isinstance(file.offers, str) else file.offers
    if isinstance(file.offers, str):  # a table has been read and put in its place
        message = "expected a list of offers, or the name of a CSV file"
        reading.fault("wrong-type", message, ("offers",))
    _check_names(specs, reading)
    offers: list[Offer] = []
    servers: list[Server] = []
    storage: dict[str, StorageTier] = {}
    countries: dict[str, str] = {}
    for position, written in enumerate(specs):
        path: DataPath = ("offers", position)
        faults = len(reading.log)
        spec = with_one_gpu(written, path, reading)
        server = None if spec is None else _server(spec, path, reading)
        tiers = _tiers(spec or written, path, storage, reading)
        region = (
            f"{written.provider or written.name}/{written.region or DEFAULT_REGION}"
        )
        country = _country(written, region, path, reading)
        if country is not None:
            countries[region] = country
        if spec is None or server is None:
            continue
        servers.append(server)
        offers.extend(_offers(spec, path, region, server, tiers, reading))
        if len(reading.log) > faults:
            continue  # what is wrong with the node would be told of its fractions, too
        for part, node in fractions_of(spec, server, path, reading):
            servers.append(node)
            tiers = _tiers(part, path, storage, reading)
            offers.extend(_offers(part, path, region, node, tiers, reading))
    return InlineSupply(
        offers=tuple(offers),
        servers=tuple(servers),
        storage=tuple(storage.values()),
        countries=countries,
        with_catalog=with_catalog,
    )


def _tiers(
    spec: OfferSpec, path: DataPath, own: dict[str, StorageTier], reading: Reading
) -> tuple[str, ...] | None:
    """Return the ids of an offer's storage tiers; None: the usual ones."""
    if not spec.storage and spec.local_nvme_tb is not None:
        return _local_storage(spec, path, own, reading)
    return _storage(spec, path, own, reading)


def _check_names(specs: tuple[OfferSpec, ...], reading: Reading) -> None:
    """Log names that two offers share, or that an offer of the catalog has."""
    seen: dict[str, int] = {}
    for position, spec in enumerate(specs):
        path: DataPath = ("offers", position, "name")
        first = seen.setdefault(spec.name.casefold(), position)
        if first != position:
            where = reading.source.where(("offers", first, "name"))
            message = f"{shown(spec.name)} is the name of another offer, at {where}"
            reading.fault("duplicate-name", message, path)
        for key in ("name", "provider"):
            if "/" in (getattr(spec, key) or ""):
                message = "expected a name without '/', which parts provider and region"
                reading.fault("wrong-value", message, ("offers", position, key))


def _country(
    spec: OfferSpec, region: str, path: DataPath, reading: Reading
) -> str | None:
    """Return the country that an offer is in, None if it is not known."""
    if spec.country is not None:
        return lookup.own_country(reading, spec.country, (*path, "country"))
    known = reading.catalog.regions.get(region.casefold())
    if known is not None:
        return known.country
    written = spec.region or ""
    if len(written) == 2 and written.isascii() and written.isalpha():
        return lookup.country_code(reading, written) or written.upper()
    return None


def _server(spec: OfferSpec, path: DataPath, reading: Reading) -> Server | None:
    """Return the server of an offer, None after logging why there is none."""
    standard = lookup.standard_server(reading, spec.gpu, spec, path)
    if standard is None:
        return None
    network = None
    if spec.network is not None:
        place = (*path, "network")
        network = _network(spec.network, spec, standard.network, place, reading)
    return standard.model_copy(
        update={
            "id": f"{spec.name}/{spec.gpus_per_node}x-{spec.gpu}",
            "source": _source(path, reading),
            "as_of": reading.today.isoformat(),
            "note": spec.note or "",
            "provider": spec.provider or spec.name,
            "network": None if network is None else network.id,
            "network_gbps": spec.network.gbps_per_node if spec.network else 0.0,
            "vcpus": spec.vcpus,
            "ram_gb": spec.ram_gb,
            "local_nvme_tb": spec.local_nvme_tb,
            "standard": False,
        }
    )


def _source(path: DataPath, reading: Reading) -> str:
    """Return where a record comes from: the place in the scenario."""
    return f"stated in {reading.source.where(path)}"


def _network(
    written: OwnNetworkSpec,
    spec: OfferSpec,
    usual_network: str | None,
    path: DataPath,
    reading: Reading,
) -> NetworkTier | None:
    """Return the catalog's tier that is most like a stated fabric; tell which.

    That of the GPU's standard server, if kind and rate allow, else the nearest.
    """
    tiers = [t for t in reading.catalog.networks.values() if t.kind == written.kind]
    if not tiers:
        message = f"the catalog has no {written.kind} network"
        reading.fault("unknown-name", message, (*path, "kind"))
        return None
    usual = reading.catalog.networks.get(usual_network or "")
    if usual in tiers and written.gbps_per_node % usual.gbps_per_nic == 0:
        tier = usual
    else:
        tier = nearest_tier(tiers, written.gbps_per_node, spec.gpus_per_node)
    reading.notice(
        "notice.offer.network",
        offer=spec.name,
        gbps=written.gbps_per_node,
        kind=written.kind,
        tier=tier.id,
    )
    return tier


def nearest_tier(
    tiers: list[NetworkTier], gbps_per_node: float, gpus_per_node: int
) -> NetworkTier:
    """Return the tier whose NIC rate is that of a node's NICs, or nearest to it.

    Parameters
    ----------
    tiers
        Tiers of one kind, at least one.
    gbps_per_node
        Sum of the node's NICs, Gb/s.
    gpus_per_node
        GPUs of the node.

    Notes
    -----
    How many NICs share the sum is not stated. A NIC a GPU is tried first, then one,
    two, four and so on; for Ethernet one NIC first. The first number that gives the
    rate of a tier decides, else the tier nearest (in ratio) to any of them.
    """
    counts = [2**power for power in range(gpus_per_node.bit_length())]
    if tiers[0].kind not in SHARED_PORT_KINDS:
        counts.insert(0, gpus_per_node)
    rates = [gbps_per_node / count for count in counts]
    for rate in rates:
        for tier in tiers:
            if tier.gbps_per_nic == rate:
                return tier
    return min(
        tiers,
        key=lambda tier: min(abs(log2(tier.gbps_per_nic / rate)) for rate in rates),
    )


def _storage(
    spec: OfferSpec,
    path: DataPath,
    own: dict[str, StorageTier],
    reading: Reading,
) -> tuple[str, ...]:
    """Return the ids of an offer's storage tiers, adding its own ones to ``own``."""
    ids: list[str] = []
    for place, written in reading.items((*path, "storage"), spec.storage):
        if isinstance(written, str):
            ids.extend(lookup.storage(reading, written, place))
        else:
            tier = _storage_tier(written, spec, place, reading)
            if tier.id in own and own[tier.id] != tier:
                message = (
                    f"the offer has two storage tiers called {shown(written.name)}"
                )
                reading.fault("duplicate-name", message, (*place, "name"))
            own[tier.id] = tier
            ids.append(tier.id)
    return tuple(dict.fromkeys(ids))


def _storage_tier(
    written: OwnStorageSpec, spec: OfferSpec, path: DataPath, reading: Reading
) -> StorageTier:
    """Return a storage tier of the user's own as a catalog record."""
    return StorageTier(
        id=f"{spec.name}/{written.name}",
        source=_source(path, reading),
        as_of=reading.today.isoformat(),
        name=written.name,
        provider=spec.provider or spec.name,
        kind=written.kind,
        usd_per_gb_month=written.usd_per_gb_month,
        read_gb_per_s_per_node=written.read / GB,
        write_gb_per_s_per_node=written.write / GB,
        aggregate_read_gb_per_s=_giga(written.total_read),
        aggregate_write_gb_per_s=_giga(written.total_write),
        capacity_tb=None if written.capacity is None else written.capacity / TB,
        gpudirect=written.gpudirect,
    )


def _local_storage(
    spec: OfferSpec, path: DataPath, own: dict[str, StorageTier], reading: Reading
) -> tuple[str, ...] | None:
    """Return the node's drives as a tier of their stated size, added to ``own``.

    Returns
    -------
    tuple of str, or None
        None where the nodes have no drives: the usual tiers of a network are assumed.
    """
    drive = slowest_local_drive(reading.catalog)
    if not spec.local_nvme_tb or drive is None:
        return None
    tier = drive.model_copy(
        update={
            "id": f"{spec.name}/local-nvme",
            "source": f"{_source(path, reading)}; rates of {drive.id}: {drive.source}",
            "as_of": reading.today.isoformat(),
            "name": "local NVMe",
            "provider": spec.provider or spec.name,
            "usd_per_gb_month": 0.0,
            "capacity_tb": spec.local_nvme_tb,
            # an owner who names no other storage is taken to copy checkpoints away;
            # a plan of several nodes says so
            "outlives_node": True,
        }
    )
    own[tier.id] = tier
    return (tier.id,)


def _giga(bytes_per_s: float | None) -> float | None:
    """Return a rate in GB/s; zero is as good as not stated."""
    return None if not bytes_per_s else bytes_per_s / GB


def _offers(
    spec: OfferSpec,
    path: DataPath,
    region: str,
    server: Server,
    storage: tuple[str, ...] | None,
    reading: Reading,
) -> list[Offer]:
    """Return the offers of one server: its price, and its spot price."""
    _check_stock(spec, path, reading)
    common: dict[str, Any] = {
        "source": _source(path, reading),
        "as_of": reading.today.isoformat(),
        "note": spec.note or "",
        "provider": spec.provider or spec.name,
        "region": region,
        "server": server.id,
        "max_nodes": spec.max_nodes,
        "min_nodes": spec.min_nodes,
        "max_nodes_per_cluster": spec.max_nodes_per_cluster,
        "lead_time_days": spec.lead_time,
        "available": tuple(
            Delivery.model_validate({"from": d.start, "nodes": d.nodes})
            for d in spec.available
        ),
        "storage": storage,
    }
    kind, usd_per_node_hour, unit = _price(spec, path, reading)
    offers = []
    term = {"min_term_hours": own_term_hours(spec, kind), **own_figures(spec)}
    if kind != "owned" or spec.spot_usd_per_gpu_hour is None:
        offers.append(
            Offer(
                id=spec.name,
                purchase=kind,
                usd_per_node_hour=usd_per_node_hour,
                billing_unit=unit,
                **common,
                **term,
            )
        )
    if spec.spot_usd_per_gpu_hour is not None:
        spot = spec.spot_usd_per_gpu_hour * spec.gpus_per_node
        name = f"{spec.name}/spot" if offers else spec.name
        common |= {} if offers else term  # what is priced beside spot has the term
        offers.append(Offer(id=name, purchase="spot", usd_per_node_hour=spot, **common))
    check_charge(spec, kind, path, reading)
    _check_terms(offers, path, reading)
    return offers


OWN_KEYS = {"min_term_hours": "min_term", "node_power_kw": "node_power"}
"""Field of an offer to the key of one's own, where they differ."""


def _check_terms(offers: list[Offer], path: DataPath, reading: Reading) -> None:
    """Log what the nodes and terms of an offer contradict."""
    for offer in offers:
        for field, message in supply_faults(offer):
            key = OWN_KEYS.get(field, field)
            missing = reading.value((*path, key)) is None
            code = "missing-key" if missing else "contradiction"
            kinds = [(*path, name) for name in ("purchase", "buy_usd_per_node")]
            reading.fault(code, message, (*path, key), depends_on=kinds)


def _price(
    spec: OfferSpec, path: DataPath, reading: Reading
) -> tuple[PurchaseKind, float, Any]:
    """Return purchase kind, USD per node-hour and billing unit of an offer."""
    given = [key for key in PRICES if getattr(spec, key) is not None]
    if len(given) > 1:
        message = f"give one price, not {' and '.join(given)}"
        reading.fault("conflicting-keys", message, (*path, given[1]), key=True)
        reading.broken.add((*path, given[1]))
    _check_purchase(spec, bool(given), path, reading)
    unit = "month" if spec.purchase == "monthly" else "second"
    if spec.usd_per_gpu_hour is not None:
        usd = spec.usd_per_gpu_hour * spec.gpus_per_node
        return spec.purchase or "on_demand", usd, unit
    if spec.usd_per_node_hour is not None:
        return spec.purchase or "on_demand", spec.usd_per_node_hour, unit
    if spec.usd_per_node_month is not None:
        usd = spec.usd_per_node_month / MONTH_HOURS
        return spec.purchase or "monthly", usd, "month"
    if spec.buy_usd_per_node is not None or spec.purchase == "bought":
        return spec.purchase or "bought", own_depreciation(spec), "second"
    return "owned", 0.0, "second"


def _check_purchase(
    spec: OfferSpec, priced: bool, path: DataPath, reading: Reading
) -> None:
    """Log a purchase kind that the price of an offer contradicts."""
    kind, has_spot = spec.purchase, spec.spot_usd_per_gpu_hour is not None
    message = None
    if kind == "owned" and (priced or has_spot):
        message = "a price is paid, so this is not owned"
    elif kind == "spot" and has_spot:
        message = "spot_usd_per_gpu_hour makes a spot offer already"
    elif kind not in (None, "owned", "bought") and not priced:
        message = f"no price of {kind} is stated"
    if message is not None:
        reading.fault("contradiction", message, (*path, "purchase"))
        reading.broken.add((*path, "purchase"))


def _stock(spec: OfferSpec) -> int | None:
    """Return the nodes in stock; all that will come, where only dates are stated."""
    if spec.max_nodes is None and spec.available:
        return sum(delivery.nodes for delivery in spec.available)
    return spec.max_nodes


def _check_stock(spec: OfferSpec, path: DataPath, reading: Reading) -> None:
    """Log a stock that contradicts itself; tell what cannot be used together."""
    stock = _stock(spec)
    if stock and spec.min_nodes > stock:
        message = f"at least {spec.min_nodes:,} nodes of {stock:,} cannot be rented"
        reading.fault("contradiction", message, (*path, "min_nodes"))
    if spec.network is None and spec.min_nodes > 1:
        message = "without a network between nodes a job cannot use more than one"
        reading.fault("contradiction", message, (*path, "min_nodes"))
    elif spec.network is None and (stock or 1) > 1 and not is_slice(spec.gpu):
        reading.notice("notice.offer.one-node", offer=spec.name, nodes=stock)
