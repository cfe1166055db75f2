"""Offers that a scenario may use: joined with server, GPU, price and stock.

Set constraints (regions, countries, providers, GPU types, tiers, purchase kinds)
are applied here, before any physics; what each removed is counted, so that a 'no'
can say which one left nothing.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING, Any

from solver.catalog.inventory import Stock, stock_by_date
from solver.catalog.supply import storage_options
from solver.energy import kg_per_kwh, site_kw
from solver.hardware import precision_supported
from solver.scenario.quotas import covers
from solver.units import DAY, HOUR, MONTH_HOURS

if TYPE_CHECKING:
    from solver.catalog.load import Catalog
    from solver.catalog.schema import Gpu, NetworkTier, Offer, Server, StorageTier
    from solver.scenario.scenario import Scenario


HardwareKey = tuple[Any, ...]
"""All of a server that the physics sees."""


@dataclass(frozen=True, slots=True)
class Option:
    """One offer with all that it refers to, priced and limited for a scenario."""

    offer: Offer
    server: Server
    gpu: Gpu
    country: str | None
    network: NetworkTier | None
    usd_per_node_hour: float
    """After negotiated discounts."""
    stock_nodes: int
    stock_known: bool
    storage: tuple[StorageTier, ...]
    """Allowed tiers, one at least."""
    cluster_nodes: int | None = None
    """Most nodes on one fabric; None: no limit is known."""
    quotas: tuple[tuple[int, int], ...] = ()
    """Quotas that it falls under: position in the scenario, and what a node counts."""
    quota_nodes: int | None = None
    """Most nodes that these quotas allow; None: no limit."""
    fewer_nodes: int = 0
    """Nodes that the offer has on an earlier day already: so few need not wait."""
    start: date | None = None
    """Day on which the nodes can be used; None: today."""
    wait_s: float = 0.0
    """Seconds from the order, the plan's day 0, until then."""
    term_s: float = 0.0
    """Seconds that are paid for at least."""
    site_kw: float = 0.0
    """Power of a node and of what cools it."""
    kg_per_kwh: float = math.inf
    """CO2 of the grid; inf where it is not known."""
    energy_usd_per_node_hour: float = 0.0
    """Energy of a node of one's own while it is used."""
    hosting_usd_per_node_hour: float = 0.0
    """Hosting of a node of one's own while it is used."""
    mix: Mix | None = None
    """What it is made of, where it is a mix of two offers."""

    @property
    def parts(self) -> tuple[Option, ...]:
        """Itself, or base and rest of a mix."""
        return (self,) if self.mix is None else (self.mix.base, self.mix.rest)

    @property
    def name(self) -> str:
        """Id of the offer, or of both offers of a mix."""
        return "+".join(part.offer.id for part in self.parts)

    @property
    def purchase(self) -> str:
        """Purchase kind, or those of a mix: ``reserved+on_demand``."""
        return "+".join(part.offer.purchase for part in self.parts)

    @property
    def max_nodes(self) -> int:
        """Most nodes that one job can have of it from that day on."""
        limits = (self.stock_nodes, self.cluster_nodes, self.quota_nodes)
        most = min(limit for limit in limits if limit is not None)
        return most if self.mix is None else min(most, self.mix.max_nodes)

    @property
    def min_nodes(self) -> int:
        """Fewest nodes that are rented out, or worth waiting for."""
        if self.mix is not None:
            return self.mix.min_nodes
        return max(1, self.offer.min_nodes, self.fewer_nodes + 1)


@dataclass(frozen=True, slots=True)
class Mix:
    """A base of nodes that are paid for anyway, and an on-demand rest beside them.

    With the nodes of a job given, its bill is linear in how many of them are of the
    base, as the duration does not depend on it: as many as possible or as few are best.
    """

    base: Option
    rest: Option
    base_first: bool
    """Whether as many nodes as possible are of the base, or as few."""

    @property
    def base_min(self) -> int:
        """Fewest nodes that the base rents out."""
        return max(1, self.base.offer.min_nodes)

    @property
    def rest_min(self) -> int:
        """Fewest nodes that the rest rents out."""
        return max(1, self.rest.offer.min_nodes)

    @property
    def max_nodes(self) -> int:
        """Most nodes of both together."""
        return self.base.max_nodes + self.rest.max_nodes

    @property
    def min_nodes(self) -> int:
        """Fewest nodes that one of the two alone could not serve as well.

        With so few that the base could serve alone, or the rest, that end of the line
        is an option of its own.
        """
        alone = self.base if self.base_first else self.rest
        return max(alone.max_nodes + 1, self.base_min + self.rest_min)


@dataclass(frozen=True)
class OptionSet:
    """Usable options in canonical order, and what each rule removed.

    ``removed`` counts offers by the first rule (in the order of RULES) they break,
    ``alone`` those that break one rule only: lifting it would bring them back.
    """

    options: tuple[Option, ...]
    total: int
    removed: Mapping[str, int] = field(default_factory=dict)
    alone: Mapping[str, int] = field(default_factory=dict)
    supply_rules: frozenset[str] = frozenset()
    """Rules, beside stock and the constraints, that something is stated for."""
    dropped: tuple[tuple[Option, tuple[str, ...]], ...] = ()
    """Each offer that is not usable, and the rules that it breaks."""


def price_after_discount(scenario: Scenario, offer: Offer, gpu_id: str) -> float:
    """Dollars a node-hour; the last price rule that matches an offer applies."""
    discount = 0.0
    for rule in scenario.prices:
        matches = (
            rule.provider in (None, offer.provider)
            and rule.region in (None, offer.region)
            and rule.gpu in (None, gpu_id)
            and rule.purchase in (None, offer.purchase)
        )
        if matches:
            discount = rule.discount
    return offer.usd_per_node_hour * (1.0 - discount)


def allowed_purchase(scenario: Scenario) -> frozenset[str]:
    """Purchase kinds in use: the stated ones, or the default and what one owns.

    A user who lists own nodes and says nothing of purchase means to use them.
    """
    kinds = set(scenario.constraints.purchase)
    if "purchase" not in scenario.constraints.stated:
        kinds |= {o.purchase for o in scenario.supply.offers} - {"spot"}
    return frozenset(kinds)


def network_gbps_per_gpu(server: Server) -> float:
    """A GPU's nominal share of the node's NICs, Gb/s; 0 without a fabric."""
    if server.network is None:
        return 0.0
    return server.network_gbps / server.gpus_per_node


def hardware_key(option: Option) -> HardwareKey:
    """What makes two offers' nodes the same to the physics."""
    server = option.server
    return (
        server.gpu,
        server.gpus_per_node,
        server.intra_node,
        server.intra_node_kind,
        server.intra_node_gb_per_s,
        server.nvlink_pair_only,
        server.nvlink_domain_gpus,
        server.network or "",
        server.network_gbps if server.network else 0.0,
    )


def host_key(option: Option) -> HardwareKey:
    """The same where work leaves the GPUs: with the CPUs and drives of the host."""
    server = option.server
    host = (server.vcpus or 0.0, server.local_nvme_tb or 0.0)
    return (*hardware_key(option), *host)


def _in(value: str | None, allowed: tuple[str, ...] | None) -> bool:
    return allowed is None or value in allowed


def _gpu_allowed(option: Option, scenario: Scenario) -> bool:
    limits = scenario.constraints
    return (
        _in(option.gpu.id, limits.gpu_types) and option.gpu.id not in limits.gpu_exclude
    )


def _intra_node_allowed(option: Option, scenario: Scenario) -> bool:
    limits, server = scenario.constraints, option.server
    fast_enough = limits.intra_node_min_gb_per_s is None or (
        server.intra_node_gb_per_s >= limits.intra_node_min_gb_per_s
    )
    return _in(server.intra_node_kind, limits.intra_node_kinds) and fast_enough


def _network_allowed(option: Option, scenario: Scenario) -> bool:
    limits = scenario.constraints
    kind = option.network.kind if option.network else None
    wide_enough = limits.network_min_gbps_per_gpu is None or (
        network_gbps_per_gpu(option.server) >= limits.network_min_gbps_per_gpu
    )
    return _in(kind, limits.network_kinds) and wide_enough


SET_RULES: Mapping[str, Callable[[Option, Scenario], bool]] = {
    "precision": lambda o, s: any(
        precision_supported(o.gpu, precision) for precision in s.workload.precisions
    ),
    "regions": lambda o, s: _in(o.offer.region, s.constraints.regions),
    "countries": lambda o, s: _in(o.country, s.constraints.countries),
    "residency": lambda o, s: _in(o.country, s.data.residency),
    "providers": lambda o, s: _in(o.offer.provider, s.constraints.providers),
    "gpu_types": _gpu_allowed,
    "gpus": lambda o, s: s.constraints.gpus_per_node.allows(o.server.gpus_per_node),
    "intra_node": _intra_node_allowed,
    "network": _network_allowed,
    "storage": lambda o, _: bool(o.storage),
    "purchase": lambda o, s: (
        # asked first, for it need not look at all of the user's own offers
        all(p.offer.purchase in s.constraints.purchase for p in o.parts)
        or all(p.offer.purchase in allowed_purchase(s) for p in o.parts)
    ),
    "stock": lambda o, _: o.stock_nodes >= max(o.offer.min_nodes, 1),
    "cluster": lambda o, _: (o.cluster_nodes or o.offer.min_nodes) >= o.offer.min_nodes,
    "quota": lambda o, _: o.quota_nodes is None or o.quota_nodes >= o.offer.min_nodes,
    "carbon": lambda o, s: not s.counts_carbon or math.isfinite(o.kg_per_kwh),
}
"""Rule id to 'this option satisfies it', in the order of RULES."""


SUPPLY_RULES: Mapping[str, Callable[[Offer], Any]] = {
    "cluster": lambda offer: offer.max_nodes_per_cluster,
    "lead_time": lambda offer: offer.lead_time_days,
    "term": lambda offer: offer.min_term_hours,
}
"""Rule id to what an offer states for it; none or zero is no limit."""


def _allowed_storage(
    tiers: tuple[StorageTier, ...], scenario: Scenario
) -> tuple[StorageTier, ...]:
    limits = scenario.constraints
    return tuple(t for t in tiers if _in(t.kind, limits.storage_kinds))


def _variants(offer: Offer, scenario: Scenario, catalog: Catalog) -> list[Option]:
    """The offer today, and once for each delivery that adds nodes."""
    server = catalog.servers[offer.server]
    region = catalog.regions.get(offer.region)
    price = price_after_discount(scenario, offer, server.gpu)
    tiers = storage_options(catalog, offer, server)
    unknown, today = scenario.stock_unknown_nodes, scenario.start_date
    floor = scenario.stock_at_least if server.network else 0
    stated = {name: get(offer) for name, get in SUPPLY_RULES.items()}
    stated |= dict.fromkeys(scenario.lifted, 0)
    quotas = _quotas(scenario, offer, server)
    lifted = "quota" in scenario.lifted
    allowed = [scenario.quotas[i].limit // each for i, each in quotas if not lifted]
    gpu = catalog.gpu(server.gpu)
    power_kw, carbon = site_kw(catalog, offer, server, gpu), kg_per_kwh(catalog, offer)
    found: list[Option] = []
    for stock in stock_by_date(
        catalog, offer, server, unknown, today, stated["lead_time"]
    ):
        option = Option(
            offer=offer,
            server=server,
            gpu=gpu,
            country=region.country if region else None,
            network=catalog.networks[server.network] if server.network else None,
            usd_per_node_hour=price,
            stock_nodes=max(stock.nodes, floor),
            stock_known=stock.known,
            storage=_allowed_storage(tiers, scenario),
            cluster_nodes=stated["cluster"] or None,
            quotas=quotas,
            quota_nodes=min(allowed, default=None),
            fewer_nodes=found[-1].max_nodes if found else 0,
            start=stock.start,
            wait_s=_wait_s(stock, today),
            term_s=stated["term"] * HOUR,
            site_kw=power_kw,
            kg_per_kwh=carbon,
            energy_usd_per_node_hour=power_kw * offer.usd_per_kwh,
            hosting_usd_per_node_hour=offer.hosting_usd_per_node_month / MONTH_HOURS,
        )
        found.append(option)
    return found


def counted(unit: str, server: Server) -> int | None:
    """What one node counts towards a quota; None where its vCPUs are not known."""
    if unit == "vcpus":
        return None if server.vcpus is None else math.ceil(server.vcpus)
    return server.gpus_per_node if unit == "gpus" else 1


def _quotas(
    scenario: Scenario, offer: Offer, server: Server
) -> tuple[tuple[int, int], ...]:
    """Position of each quota that an offer falls under, and what a node counts."""
    found = []
    for place, quota in enumerate(scenario.quotas):
        each = counted(quota.unit, server)
        if each is not None and covers(quota, offer, server.gpu):
            found.append((place, each))
    return tuple(found)


def _wait_s(stock: Stock, today: date) -> float:
    return 0.0 if stock.start is None else float((stock.start - today).days * DAY)


def broken_rules(option: Option, scenario: Scenario) -> tuple[str, ...]:
    """Rules that an offer breaks by itself, in the order of RULES."""
    return tuple(name for name, ok in SET_RULES.items() if not ok(option, scenario))


def gather_options(scenario: Scenario, catalog: Catalog) -> OptionSet:
    """All offers of ``catalog`` that ``scenario`` allows, in canonical order.

    ``catalog`` already holds the scenario's own offers (``merged_catalog``). An offer
    is removed where all its variants are, by what its last delivery breaks. Mixes are
    not made here (`solver.mixes`).
    """
    usable: list[Option] = []
    removed: Counter[str] = Counter()
    alone: Counter[str] = Counter()
    dropped: list[tuple[Option, tuple[str, ...]]] = []
    stated = {"quota"} if scenario.quotas else set()
    stated |= {"spares"} if scenario.failures.spares is not None else set()
    for offer_id in sorted(catalog.offers):
        offer = catalog.offers[offer_id]
        stated |= {name for name, get in SUPPLY_RULES.items() if get(offer)}
        found = len(usable)
        for option in _variants(offer, scenario, catalog):
            broken = broken_rules(option, scenario)
            if not broken and option.min_nodes <= option.max_nodes:
                usable.append(option)
        if len(usable) > found:
            continue
        removed[broken[0]] += 1
        if len(broken) == 1:
            alone[broken[0]] += 1
        dropped.append((option, broken))
    total = len(catalog.offers)
    rules = frozenset(stated - scenario.lifted)
    return OptionSet(tuple(usable), total, removed, alone, rules, tuple(dropped))
