"""Tests of shortest chains: joined figures, bounds, and what they let drop."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solver.leases import LeaseTable
from solver.planning.phase_paths import (
    Bounds,
    Joined,
    Limits,
    Moves,
    Weights,
    hardest,
    joined,
    moves_of,
    priced,
    spending,
    tuned,
)
from tests.planning.jobs import catalog

PHASES = 3
Row = tuple[int, int, int, float, float, float]
"""First phase, last phase, region, wait, time and cost of a lease."""


def table(rows: list[Row]) -> LeaseTable:
    """Leases whose limits are a tenth above what is expected."""
    first, last, region = (np.array([r[k] for r in rows], np.int64) for k in range(3))
    wait, time, cost = (np.array([r[k] for r in rows], float) for k in range(3, 6))
    zero, none = np.zeros(len(rows)), np.zeros(len(rows), np.int64)
    return LeaseTable(
        first=first,
        last=last,
        rows=np.zeros((len(rows), PHASES), np.int64),
        option=none,
        tier=none,
        nodes=none,
        region=region,
        wait_s=wait,
        time_s=time,
        time_limit_s=1.1 * time,
        billed_s=zero,
        compute_usd=cost,
        storage_usd=zero,
        data_usd=zero,
        cost_usd=cost,
        cost_limit_usd=1.1 * cost,
    )


def moves(usd: float, seconds: float) -> Moves:
    """Moves between two regions that cost and take the same after each phase."""
    away = np.array([[[0.0, 1.0], [1.0, 0.0]]] * (PHASES - 1))
    return Moves((1e9, 1e9), usd * away, 0.0 * away, seconds * away)


def chains(leases: LeaseTable) -> Iterator[tuple[int, ...]]:
    """Every chain that covers each phase once."""

    def walk(phase: int, done: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if phase == PHASES:
            yield done
        for k in np.flatnonzero(leases.first == phase).tolist():
            yield from walk(int(leases.last[k]) + 1, (*done, k))

    return walk(0, ())


RANGES = [(i, j) for i in range(PHASES) for j in range(i, PHASES)]
WHOLE = st.integers(1, 20).map(float)
ROWS = st.lists(
    st.tuples(
        st.sampled_from(RANGES), st.integers(0, 1), st.integers(0, 15), WHOLE, WHOLE
    ).map(lambda t: (*t[0], t[1], float(t[2]), t[3], t[4])),
    min_size=3,
    max_size=12,
)


def test_the_finish_counts_a_wait_once() -> None:
    """Tests a wait that is covered, and one that holds the second lease up."""
    for wait, finish in ((5.0, 19.0), (20.0, 28.0)):
        leases = table([(0, 1, 0, 0.0, 10.0, 5.0), (2, 2, 1, wait, 8.0, 2.0)])
        total = joined(leases, (0, 1), moves(3.0, 1.0))
        assert total.finish_s == finish
        assert total.cost_usd == 10.0
        assert total.finish_limit_s == pytest.approx(max(11.0 + 1.0, wait) + 8.8)
        assert total.cost_limit_usd == pytest.approx(1.1 * 7.0 + 3.0)


def test_limits_are_kept_but_for_rounding() -> None:
    """Tests a chain right at both limits, and one beyond each."""
    total = Joined(9.0, 10.0, 4.0, 5.0)
    assert total.keeps(Limits())
    assert total.keeps(Limits(10.0, 5.0))
    assert not total.keeps(Limits(9.99, 5.0))
    assert not total.keeps(Limits(10.0, 4.99))


@settings(max_examples=80)
@given(ROWS, st.integers(0, 5), st.integers(0, 5), st.integers(0, 3))
def test_the_shortest_chain_is_the_shortest(
    rows: list[Row], usd: int, seconds: int, price: int
) -> None:
    """Tests the least chain through each lease against every chain, waits aside."""
    leases = table([(*r[:3], 0.0, *r[4:]) for r in rows])
    between = moves(float(usd), float(seconds))
    weights = Weights(1.0, 0.5, time_limit=float(price))
    found = priced(leases, between, weights, PHASES)
    values = {c: joined(leases, c, between).value(weights) for c in chains(leases)}
    assert found.least == pytest.approx(min(values.values(), default=np.inf))
    for k in range(len(leases)):
        best = min((v for c, v in values.items() if k in c), default=np.inf)
        assert found.through[k] == pytest.approx(best)
    if found.chain:
        assert values[found.chain] == pytest.approx(found.least)


@settings(max_examples=80)
@given(ROWS, st.integers(0, 5), st.integers(5, 60), st.integers(5, 60))
def test_what_is_dropped_is_in_no_best_chain(
    rows: list[Row], usd: int, deadline: int, budget: int
) -> None:
    """Tests bound, best and leases kept against every chain, with waits and limits."""
    leases, between = table(rows), moves(float(usd), 1.0)
    limits, goal = Limits(float(deadline), float(budget)), Weights(1.0, 0.0)
    bounds = tuned(Bounds(leases, between, goal, limits, PHASES))
    kept = bounds.kept()
    good = {
        c: total.value(goal)
        for c in chains(leases)
        if (total := joined(leases, c, between)).keeps(limits)
    }
    if not good:
        assert bounds.best == np.inf
        return
    least = min(good.values())
    assert bounds.bound <= least * (1 + 1e-9)
    assert bounds.best >= least * (1 - 1e-9)
    for chain, value in good.items():
        if value <= least * (1 + 1e-9):
            assert all(kept[k] for k in chain)


@settings(max_examples=60)
@given(ROWS, st.integers(5, 60), st.integers(5, 60), st.floats(0.0, 1.0))
def test_prices_of_the_limits_never_refuse_a_chain_that_keeps_them(
    rows: list[Row], deadline: int, budget: int, share: float
) -> None:
    """Tests that a chain within both limits comes to at most 1 at any share."""
    leases, between = table(rows), moves(2.0, 1.0)
    limits = Limits(float(deadline), float(budget))
    bounds = Bounds(leases, between, Weights(1.0, 0.0), limits, PHASES)
    for weights in (spending(limits, share), hardest(bounds)):
        assert weights is not None
        least = priced(leases, between, weights, PHASES).least
        for chain in chains(leases):
            if joined(leases, chain, between).keeps(limits):
                assert least <= 1.0 + 1e-9


def test_there_is_no_price_of_a_limit_that_is_not_stated() -> None:
    """Tests shares of a deadline or a budget that no one asks for."""
    assert spending(Limits(), 0.5) is None
    assert spending(Limits(time_s=5.0), 0.5) is None
    only = spending(Limits(time_s=5.0), 1.0)
    assert only is not None
    assert (only.time_limit, only.cost_limit) == (0.2, 0.0)
    bounds = Bounds(
        table([(0, 2, 0, 0.0, 1.0, 1.0)]), moves(0, 0), Weights(1.0, 0.0), Limits(), 3
    )
    assert hardest(bounds) is None


def test_moves_are_priced_by_the_catalog() -> None:
    """Tests egress within a cloud, to another one, and none on the spot."""
    regions = ("aws/us-east-1", "aws/us-west-2", "gcp/us-central1")
    data = np.array([0.0, 1.0, 2.0])
    found = moves_of(catalog(), regions, [1e12], data, bytes_per_s=1e9)
    assert not found.usd[0].diagonal().any()
    assert 0 < found.checkpoint_usd[0, 0, 1] < found.checkpoint_usd[0, 0, 2]
    assert found.data_usd[0, 0].tolist() == [0.0, 1.0, 2.0]
    assert found.time_s[0, 0].tolist() == [0.0, 1000.0, 1000.0]
