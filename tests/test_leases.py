"""Tests of leases: what phases share, what is billed once, and what is dropped."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from solver.candidates import CandidateTable
from solver.cost import billed_parts, billed_seconds
from solver.leases import (
    LeaseTable,
    PhaseRows,
    Places,
    Terms,
    lean,
    leases_of,
    moved_bytes,
    phase_rows,
)
from solver.planning.model_table import canonical_order
from solver.search import SearchLimits, search
from solver.setting import Setting, setting_of
from solver.units import HOUR
from tests.planning.jobs import A100, H100, catalog
from tests.planning.phased import phased

HOURLY = H100 | {"name": "w", "billing": "hour"}
MONTH_S = 730 * HOUR


@cache
def settings() -> tuple[Setting, ...]:
    """Two phases on two offers, of which one has a term."""
    scenario = phased(offers=[A100 | {"min_term": "3 days"}, H100])
    return tuple(setting_of(p.scenario, catalog()) for p in scenario.phases)


@cache
def everything() -> tuple[CandidateTable, ...]:
    """All candidates of both phases by themselves."""
    found = [search(lean(s), SearchLimits(), np.inf).table for s in settings()]
    assert all(table is not None for table in found)
    return tuple(table for table in found if table is not None)


@cache
def pools() -> tuple[PhaseRows, ...]:
    """The rows of both phases that some lease could need."""
    places = Places.of(settings())
    return tuple(
        phase_rows(
            lean(setting),
            table,
            canonical_order(setting, table),
            places,
            np.zeros(len(setting.options)),
        )
        for setting, table in zip(settings(), everything(), strict=True)
    )


@cache
def leases(z: float = 0.0) -> LeaseTable:
    """Every lease of both phases, with four hours of set-up and one of queue."""
    terms = Terms.of(settings(), Places.of(settings()), shared=False)
    return leases_of(pools(), terms, 4.0 * HOUR, 1.0 * HOUR, z)


def test_a_lean_phase_pays_nothing_that_a_lease_pays_once() -> None:
    """Tests that set-up, queue, terms and waits are gone, and prices are not."""
    setting = settings()[0]
    bare = lean(setting)
    assert bare.scenario.overheads.setup_s == bare.scenario.overheads.queue_s == 0.0
    for name in ("unit_s", "term_s", "wait_s", "egress_usd"):
        assert not getattr(bare.arrays, name).any()
    assert setting.arrays.term_s.any()
    assert np.array_equal(
        bare.arrays.usd_per_node_hour, setting.arrays.usd_per_node_hour
    )


def test_a_share_of_the_set_up_is_a_share() -> None:
    """Tests the part of a set-up that a phase is given in a bound."""
    assert lean(settings()[0], 0.25).scenario.overheads.setup_s == HOUR


def test_a_lean_phase_never_costs_more_than_in_a_lease() -> None:
    """Tests the bound that pruning rests on, for every lease over both phases."""
    table = leases()
    both = np.flatnonzero(table.last > table.first)
    spent = np.zeros(len(both))
    taken = np.zeros(len(both))
    for p, pool in enumerate(pools()):
        rows = pool.take(table.rows[both, p])
        spent += rows.table.cost_usd
        taken += rows.table.duration_s
    assert len(both) > 3
    assert (spent <= table.cost_usd[both] * (1 + 1e-12)).all()
    assert (taken <= table.time_s[both] * (1 + 1e-12)).all()


def test_a_lease_of_one_phase_is_the_phase_alone() -> None:
    """Tests time and bill of single phases against the candidates of plain solves."""
    table = leases()
    for p, setting in enumerate(settings()):
        alone = search(setting, SearchLimits(), np.inf).table
        assert alone is not None
        mine = np.flatnonzero((table.first == p) & (table.last == p))
        # five hours of queue and set-up here, four of set-up there
        assert table.time_s[mine].min() == pytest.approx(
            alone.duration_s.min() + HOUR, rel=1e-9
        )
        assert table.compute_usd[mine].min() == pytest.approx(
            alone.compute_usd.min(), rel=1e-9
        )


def test_leases_join_phases_in_one_place_alone() -> None:
    """Tests that offer, tier and nodes of both phases are the lease's."""
    table = leases()
    both = np.flatnonzero(table.last > table.first)
    for p, pool in enumerate(pools()):
        rows = pool.take(table.rows[both, p])
        assert np.array_equal(rows.option, table.option[both])
        assert np.array_equal(rows.tier, table.tier[both])
        assert np.array_equal(rows.nodes, table.nodes[both])
    single = np.flatnonzero(table.last == table.first)
    outside = table.rows[single, 1 - table.first[single]]
    assert (outside == -1).all()


def test_every_pair_in_one_place_is_a_lease() -> None:
    """Tests the number of leases over both phases against counting pairs."""
    first, second = pools()
    keys = [
        list(zip(*(k.tolist() for k in pool.key), strict=True))
        for pool in (first, second)
    ]
    pairs = sum(a == b for a in keys[0] for b in keys[1])
    table = leases()
    assert int((table.last > table.first).sum()) == pairs


def test_the_term_is_paid_once() -> None:
    """Tests that two short phases pay three days together, not twice."""
    table = leases()
    short = table.billed_s == 3 * 24 * HOUR
    assert (short & (table.last > table.first)).any()
    assert (table.billed_s >= table.time_s - HOUR - 1e-6).all()


def test_late_figures_are_no_sooner() -> None:
    """Tests time and bill at nine of ten against the expectation."""
    usual, late = leases(), leases(1.2815515655446004)
    assert np.array_equal(usual.rows, late.rows)
    assert (late.time_limit_s > late.time_s).all()
    assert (late.cost_limit_usd >= late.cost_usd - 1e-9).all()
    assert np.array_equal(usual.time_limit_s, usual.time_s)
    assert np.array_equal(usual.cost_limit_usd, usual.cost_usd)


def test_late_leases_are_no_later_than_their_phases() -> None:
    """Tests that failures of a lease add up in variance, so that sums are safe."""
    z = 1.2815515655446004
    table = leases(z)
    both = np.flatnonzero(table.last > table.first)
    apart = np.zeros(len(both))
    for p in (0, 1):
        single = {
            int(table.rows[k, p]): float(table.time_limit_s[k])
            for k in np.flatnonzero((table.first == p) & (table.last == p))
        }
        apart += [single[int(row)] for row in table.rows[both, p]]
    assert (table.time_limit_s[both] + 5 * HOUR <= apart + 1e-6).all()


def test_what_another_row_betters_is_dropped() -> None:
    """Tests that each row left is, in its place, the soonest of its spread or surer."""
    for pool, table in zip(pools(), everything(), strict=True):
        assert len(pool) < len(table)
        for place in set(zip(*(k.tolist() for k in pool.key), strict=True)):
            mine = np.ones(len(pool), dtype=bool)
            for column, value in zip(pool.key, place, strict=True):
                mine &= column == value
            for sigma in np.unique(pool.table.sigma[mine]):
                rows = np.flatnonzero(mine & (pool.table.sigma == sigma))
                order = rows[np.argsort(pool.active_s[rows])]
                variance = pool.table.failure_variance_s2[order]
                assert (np.diff(variance) < 0).all()


def test_adapters_move_with_their_weights() -> None:
    """Tests that a LoRA checkpoint takes the base along, and a full one is all."""
    setting = settings()[0]
    assert moved_bytes(setting) == setting.most_checkpoint_bytes
    work = replace(setting.scenario.workload, method="lora", framework="hf-trainer")
    adapters = setting_of(replace(setting.scenario, workload=work), catalog())
    assert moved_bytes(adapters) > adapters.most_checkpoint_bytes + 2 * 200e6


@pytest.mark.parametrize("unit_s", [0.0, float(HOUR), float(MONTH_S)])
def test_parts_of_a_bill_stretch_together(unit_s: float) -> None:
    """Tests that a run in two parts of one spread costs what the whole run does."""
    one = np.array
    whole = billed_seconds(one([1e6]), 60.0, one([unit_s]), one([0.1]), 2e5)
    parts = billed_parts(
        one([[4e5], [6e5]]), 60.0, one([unit_s]), one([[0.1], [0.1]]), 2e5
    )
    assert parts == pytest.approx(whole, rel=1e-12)
    surer = billed_parts(
        one([[4e5], [6e5]]), 60.0, one([unit_s]), one([[0.0], [0.0]]), 2e5
    )
    assert surer <= parts + 1e-6
