"""Mixes: a reserved, monthly or own base, and nodes on demand for the rest.

Both are of one pool: the same provider, region and kind of node, so that one fabric
joins them. With the nodes of a job given, its duration does not depend on which of
them are of the base, so the bill is linear in their number: as many as there are, or as
few as there have to be, is best. Each mix is an option for one of the two.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from solver.catalog.supply import LOCAL_KINDS
from solver.options import HardwareKey, Mix, Option, OptionSet, hardware_key

if TYPE_CHECKING:
    from solver.catalog.schema import StorageTier
    from solver.scenario.scenario import Scenario

__all__ = ["BASE_KINDS", "REST_KIND", "with_mixes"]

BASE_KINDS = ("reserved", "monthly", "owned", "bought")
"""Purchase kinds of nodes that are there and paid for anyway."""

REST_KIND = "on_demand"

WRITTEN = ("id", "name", "provider", "source", "sources", "as_of", "note")
"""Fields of a storage tier that say nothing of what it can do."""

_Pool = tuple[str, str, HardwareKey]


def with_mixes(found: OptionSet, scenario: Scenario) -> OptionSet:
    """The options with the mixes of two of them after them."""
    added = [mix for pool in _pools(found.options) for mix in _mixes_of(pool, scenario)]
    return replace(found, options=(*found.options, *added)) if added else found


def _pools(options: Iterable[Option]) -> Iterator[list[Option]]:
    """Options of each pool that has a base and a rest, in order."""
    pools: dict[_Pool, list[Option]] = {}
    for option in options:
        offer = option.offer
        if option.network is not None and not offer.marketplace:
            key = (offer.provider, offer.region, hardware_key(option))
            pools.setdefault(key, []).append(option)
    for pool in pools.values():
        kinds = {option.offer.purchase for option in pool}
        if REST_KIND in kinds and not kinds.isdisjoint(BASE_KINDS):
            yield pool


def _mixes_of(pool: list[Option], scenario: Scenario) -> Iterator[Option]:
    """Every mix of a base and a rest of one pool.

    The stock of a base has to be known: two assumptions about one pool would be one
    too many.
    """
    bases = _by_offer(o for o in pool if o.offer.purchase in BASE_KINDS)
    rests = _by_offer(o for o in pool if o.offer.purchase == REST_KIND)
    for base_dates in bases:
        for rest_dates in rests if base_dates[0].stock_known else ():
            for base, rest in _dates(base_dates, rest_dates):
                yield from _mixes(base, rest, scenario)


def _by_offer(options: Iterable[Option]) -> list[list[Option]]:
    found: dict[str, list[Option]] = {}
    for option in options:
        found.setdefault(option.offer.id, []).append(option)
    return list(found.values())


def _dates(bases: list[Option], rests: list[Option]) -> Iterator[tuple[Option, Option]]:
    """What both offers have on each day on which one of them has more, or begins."""
    first = max(bases[0].wait_s, rests[0].wait_s)
    days = {o.wait_s for o in (*bases, *rests) if o.wait_s >= first}
    for day in sorted(days):
        yield (
            [o for o in bases if o.wait_s <= day][-1],
            [o for o in rests if o.wait_s <= day][-1],
        )


def _mixes(base: Option, rest: Option, scenario: Scenario) -> Iterator[Option]:
    """The mix that takes as much as it can of the base, and that of the rest."""
    storage = _common_storage(base, rest)
    later = max(base, rest, key=lambda o: o.wait_s)
    for base_first in (True, False):
        mix = Mix(base, rest, base_first)
        option = replace(
            rest,
            mix=mix,
            storage=storage,
            stock_nodes=_stock(base, rest, scenario),
            stock_known=rest.stock_known,
            cluster_nodes=_least(base.cluster_nodes, rest.cluster_nodes),
            quota_nodes=_shared_quota(base, rest, scenario),
            fewer_nodes=0,
            start=later.start,
            wait_s=later.wait_s,
            site_kw=base.site_kw,
        )
        if storage and option.min_nodes <= option.max_nodes:
            yield option


def _stock(base: Option, rest: Option, scenario: Scenario) -> int:
    """Nodes of both; no more than is wanted where stock is lifted to explain a 'no'."""
    lifted_to = scenario.stock_at_least
    both = base.stock_nodes + rest.stock_nodes
    return lifted_to if base.stock_nodes == rest.stock_nodes == lifted_to else both


def _least(*limits: int | None) -> int | None:
    return min((limit for limit in limits if limit is not None), default=None)


def _shared_quota(base: Option, rest: Option, scenario: Scenario) -> int | None:
    """Most nodes that the quotas allow under which both offers fall."""
    if "quota" in scenario.lifted:
        return None
    of_base, of_rest = dict(base.quotas), dict(rest.quotas)
    return _least(
        *(
            scenario.quotas[place].limit // max(of_base[place], of_rest[place])
            for place in of_base.keys() & of_rest.keys()
        )
    )


def _common_storage(base: Option, rest: Option) -> tuple[StorageTier, ...]:
    """Tiers that all nodes can use.

    What is shared in the region serves both offers; drives in the nodes have to be in
    the nodes of both.
    """
    tiers = {
        tier.id: tier
        for option in (base, rest)
        for tier in option.storage
        if tier.kind not in LOCAL_KINDS
    }
    drives = {_drive(tier) for tier in base.storage if tier.kind in LOCAL_KINDS}
    tiers |= {
        tier.id: tier
        for tier in rest.storage
        if tier.kind in LOCAL_KINDS and _drive(tier) in drives
    }
    return tuple(tiers[name] for name in sorted(tiers))


def _drive(tier: StorageTier) -> str:
    """What makes two nodes' drives the same: all but who wrote them down."""
    return tier.model_dump_json(exclude=set(WRITTEN))
