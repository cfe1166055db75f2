"""Chains of leases: what a chain comes to, and bounds on what any chain could.

A chain covers each phase once. Its cost and its time add up over leases and the moves
between them, so that with limits priced (Lagrange) the best chain is a shortest path
over (phase, region): a bound on every chain, also on those through one given lease.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from solver.catalog.egress import egress_usd
from solver.catalog.load import Catalog
from solver.leases import LeaseTable
from solver.performance.inputs import BoolArray, FloatArray, IntArray

ROUNDING = 1e-7
"""Relative room for float and integer rounding, so that no equal chain is dropped."""

_DOUBLINGS, _HALVINGS, _SECTIONS = 40, 24, 20
_GOLDEN = (5.0**0.5 - 1.0) / 2.0


@dataclass(frozen=True)
class Moves:
    """What a change of region costs after each phase but the last."""

    checkpoint_bytes: tuple[float, ...]
    checkpoint_usd: FloatArray
    """(phases - 1, regions, regions), 0 on the diagonal."""
    data_usd: FloatArray
    """Price of bringing the shared data set to the new region, same shape."""
    time_s: FloatArray

    @property
    def usd(self) -> FloatArray:
        """All that a move costs, same shape."""
        return self.checkpoint_usd + self.data_usd


def moves_of(
    catalog: Catalog,
    regions: Sequence[str],
    checkpoint_bytes: Sequence[float],
    data_usd: FloatArray,
    bytes_per_s: float,
) -> Moves:
    """The moves between all pairs of regions.

    Parameters
    ----------
    catalog
        Knows the prices of egress.
    regions
        Region ids.
    checkpoint_bytes
        What is moved after each phase but the last.
    data_usd
        Price of bringing the shared data set to each region, (regions,).
    bytes_per_s
        Rate of a move.
    """
    count, away = len(regions), ~np.eye(len(regions), dtype=bool)
    usd = np.zeros((len(checkpoint_bytes), count, count))
    for boundary, size in enumerate(checkpoint_bytes):
        known: dict[tuple[str, str], float] = {}
        for a, origin in enumerate(regions):
            for b, target in enumerate(regions):
                if a != b:
                    usd[boundary, a, b] = _priced(catalog, origin, target, size, known)
    times = np.array(checkpoint_bytes) / bytes_per_s
    return Moves(
        tuple(checkpoint_bytes),
        usd,
        np.broadcast_to(data_usd * away, usd.shape),
        times[:, None, None] * away,
    )


def _priced(
    catalog: Catalog,
    origin: str,
    target: str,
    size: float,
    known: dict[tuple[str, str], float],
) -> float:
    """Price of a move; between providers it is that of leaving for the internet."""
    provider = origin.partition("/")[0]
    same = target.partition("/")[0] == provider
    key = (origin, target if same else "internet")
    if key not in known:
        known[key] = egress_usd(catalog, origin, target, size)
    return known[key]


@dataclass(frozen=True)
class Weights:
    """Dollars that a dollar and a second count, expected and at the confidence."""

    cost: float
    time: float
    time_limit: float = 0.0
    cost_limit: float = 0.0

    @property
    def any_usd(self) -> float:
        """What a dollar of a move counts: it is certain."""
        return self.cost + self.cost_limit

    @property
    def any_second(self) -> float:
        """What a second of a move or a wait counts."""
        return self.time + self.time_limit


@dataclass(frozen=True)
class Limits:
    """What all phases share; infinite where nothing is stated."""

    time_s: float = np.inf
    cost_usd: float = np.inf


@dataclass(frozen=True)
class Joined:
    """What a chain comes to; seconds and dollars."""

    finish_s: float
    finish_limit_s: float
    cost_usd: float
    cost_limit_usd: float

    def keeps(self, limits: Limits) -> bool:
        """Whether it keeps the limits, float rounding aside."""
        room = 1.0 + 1e-9
        in_time = self.finish_limit_s <= limits.time_s * room
        return in_time and self.cost_limit_usd <= limits.cost_usd * room

    def value(self, weights: Weights) -> float:
        """Its objective; a goal may count what limits are held against as well."""
        return (
            weights.cost * self.cost_usd
            + weights.time * self.finish_s
            + weights.time_limit * self.finish_limit_s
            + weights.cost_limit * self.cost_limit_usd
        )


def joined(leases: LeaseTable, chain: Sequence[int], moves: Moves) -> Joined:
    """What the leases at ``chain``, first to last, come to.

    Nodes are ordered on day 0 and waited for as far as time has not passed already:
    the finish is the latest of ``wait of lease k + all time from lease k on``.
    """
    rest = rest_limit = finish = finish_limit = 0.0
    cost = cost_limit = 0.0
    for place in range(len(chain) - 1, -1, -1):
        lease = chain[place]
        if place + 1 < len(chain):
            step = (
                int(leases.last[lease]),
                int(leases.region[lease]),
                int(leases.region[chain[place + 1]]),
            )
            rest += float(moves.time_s[step])
            rest_limit += float(moves.time_s[step])
            cost += float(moves.usd[step])
            cost_limit += float(moves.usd[step])
        rest += float(leases.time_s[lease])
        rest_limit += float(leases.time_limit_s[lease])
        cost += float(leases.cost_usd[lease])
        cost_limit += float(leases.cost_limit_usd[lease])
        finish = max(finish, float(leases.wait_s[lease]) + rest)
        finish_limit = max(finish_limit, float(leases.wait_s[lease]) + rest_limit)
    return Joined(finish, finish_limit, cost, cost_limit)


@dataclass(frozen=True)
class Priced:
    """Shortest chains with limits priced."""

    through: FloatArray
    """Least value of any chain through each lease, (leases,)."""
    chain: tuple[int, ...]
    """A shortest chain; empty: no chain covers all phases."""

    @property
    def least(self) -> float:
        """Value of a shortest chain."""
        return float(self.through.min(initial=np.inf))


def priced(leases: LeaseTable, moves: Moves, weights: Weights, phases: int) -> Priced:
    """Shortest chains over (phase, region); waits count for the first lease alone."""
    regions = moves.usd.shape[-1] if phases > 1 else int(leases.region.max()) + 1
    value = (
        weights.cost * leases.cost_usd
        + weights.time * leases.time_s
        + weights.time_limit * leases.time_limit_s
        + weights.cost_limit * leases.cost_limit_usd
        + np.where(leases.first == 0, weights.any_second * leases.wait_s, 0.0)
    )
    step = weights.any_usd * moves.usd + weights.any_second * moves.time_s
    starts = [np.flatnonzero(leases.first == p) for p in range(phases)]
    reach = np.full((phases + 1, regions), np.inf)  # the cheapest way to that point
    ahead = np.full((phases + 1, regions), np.inf)
    ahead[phases] = 0.0
    for p in range(phases - 1, -1, -1):
        here = starts[p]
        total = value[here] + ahead[leases.last[here] + 1, leases.region[here]]
        best = np.full(regions, np.inf)
        np.minimum.at(best, leases.region[here], total)
        if p:
            ahead[p] = (step[p - 1] + best[None, :]).min(axis=1)
    through = np.full(len(leases), np.inf)
    for p in range(phases):
        here = starts[p]
        if p:
            into = (reach[p][:, None] + step[p - 1]).min(axis=0)[leases.region[here]]
        else:
            into = np.zeros(len(here))
        ends = leases.last[here] + 1
        np.minimum.at(reach, (ends, leases.region[here]), into + value[here])
        through[here] = into + value[here] + ahead[ends, leases.region[here]]
    return Priced(through, tuple(_shortest(leases, starts, value, ahead, step, phases)))


def _shortest(
    leases: LeaseTable,
    starts: Sequence[IntArray],
    value: FloatArray,
    ahead: FloatArray,
    step: FloatArray,
    phases: int,
) -> Iterator[int]:
    """The leases of a shortest chain, first to last; nothing if there is none."""
    p, region = 0, -1
    while p < phases:
        here = starts[p]
        total = value[here] + ahead[leases.last[here] + 1, leases.region[here]]
        if p:
            total = total + step[p - 1, region, leases.region[here]]
        if not len(here) or not np.isfinite(total.min()):
            return
        lease = int(here[int(np.argmin(total))])
        yield lease
        p, region = int(leases.last[lease]) + 1, int(leases.region[lease])


def priced_off(weights: Weights, goal: Weights, limits: Limits) -> float:
    """What limits whose prices come on top of the goal take off a chain's value."""
    total = 0.0
    if weights.time_limit > goal.time_limit:
        total += (weights.time_limit - goal.time_limit) * limits.time_s
    if weights.cost_limit > goal.cost_limit:
        total += (weights.cost_limit - goal.cost_limit) * limits.cost_usd
    return total


@dataclass
class Bounds:
    """The best chain met so far, and the weights with the highest bound."""

    leases: LeaseTable
    moves: Moves
    goal: Weights
    limits: Limits
    phases: int
    best: float = np.inf
    chain: tuple[int, ...] = ()
    bound: float = -np.inf
    weights: Weights = field(default_factory=lambda: Weights(0.0, 0.0))
    spent: Weights | None = None
    """Prices of both limits at which any chain that keeps them comes to at most 1."""
    through: FloatArray = field(default_factory=lambda: np.zeros(0))

    def at(self, weights: Weights) -> Joined | None:
        """Try the shortest chain at some weights; what it comes to, None: none."""
        found = priced(self.leases, self.moves, weights, self.phases)
        if not found.chain:
            return None
        bound = found.least - self.prices(weights)
        if bound > self.bound:
            self.bound, self.weights, self.through = bound, weights, found.through
        total = joined(self.leases, found.chain, self.moves)
        value = total.value(self.goal)
        if total.keeps(self.limits) and value < self.best:
            self.best, self.chain = value, found.chain
        return total

    def prices(self, weights: Weights) -> float:
        """What the priced limits take off a chain's value."""
        return priced_off(weights, self.goal, self.limits)

    def kept(self) -> BoolArray:
        """Leases that a chain no worse than the best may have, (leases,)."""
        room = ROUNDING * max(abs(self.best), abs(self.prices(self.weights)), 1e-9)
        ok = np.ones(len(self.leases), dtype=bool)
        if np.isfinite(self.best) and len(self.through):
            ok = self.through - self.prices(self.weights) <= self.best + room
        for weights in {
            spending(self.limits, 0.0),
            spending(self.limits, 1.0),
            self.spent,
        }:
            if weights is not None:
                least = priced(self.leases, self.moves, weights, self.phases).through
                ok &= least <= 1.0 + ROUNDING
        return np.asarray(ok)


def spending(limits: Limits, share: float) -> Weights | None:
    """Prices at which a chain that keeps the limits comes to at most 1.

    ``share`` of it is the deadline's, the rest the budget's; None where a limit with a
    share is not stated.
    """
    stated = np.isfinite(limits.time_s), np.isfinite(limits.cost_usd)
    if (share > 0 and not stated[0]) or (share < 1 and not stated[1]):
        return None
    return Weights(
        0.0,
        0.0,
        time_limit=share / limits.time_s if share > 0 else 0.0,
        cost_limit=(1.0 - share) / limits.cost_usd if share < 1 else 0.0,
    )


def hardest(bounds: Bounds) -> Weights | None:
    """The prices of both limits under which chains are furthest from keeping them.

    The least of all chains is concave in the deadline's share: golden sections. None
    where there is no limit.
    """

    def least(share: float) -> float:
        weights = spending(bounds.limits, share)
        if weights is None:
            return -np.inf
        return priced(bounds.leases, bounds.moves, weights, bounds.phases).least

    if spending(bounds.limits, 0.5) is None:
        return spending(bounds.limits, 1.0) or spending(bounds.limits, 0.0)
    low, high = 0.0, 1.0
    for _ in range(_SECTIONS):
        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        if least(left) >= least(right):
            high = right
        else:
            low = left
    return spending(bounds.limits, (low + high) / 2.0)


def tuned(bounds: Bounds) -> Bounds:
    """Price the limits so that the bound is high, and meet good chains on the way."""
    goal = bounds.goal
    total = bounds.at(goal)
    if total is None or (total.keeps(bounds.limits) and bounds.best <= bounds.bound):
        return bounds
    for name in ("time_limit", "cost_limit", "time_limit"):
        limit = bounds.limits.time_s if name == "time_limit" else bounds.limits.cost_usd
        if np.isfinite(limit):
            goal = _tune(bounds, goal, name, limit)
    return bounds


def _tune(bounds: Bounds, start: Weights, name: str, limit: float) -> Weights:
    """The weights with the price of one limit where keeping it begins."""
    own = getattr(bounds.goal, name)

    def over(price: float) -> bool:
        total = bounds.at(replace(start, **{name: own + price}))
        spent = None if total is None else getattr(total, _HELD[name])
        return spent is not None and spent > limit

    if not over(0.0):
        return start
    scale = max(bounds.bound, 1e-9) / limit if limit > 0 else 1.0
    low, high = 0.0, scale * 1e-3
    for _ in range(_DOUBLINGS):
        if not over(high):
            break
        low, high = high, high * 4.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if over(middle) else (low, middle)
        if high - low <= 1e-9 * high:
            break
    return replace(start, **{name: own + high})


_HELD = {"time_limit": "finish_limit_s", "cost_limit": "cost_limit_usd"}
