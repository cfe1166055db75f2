"""Tests of the integer tables of phases: what stands where, and in which unit."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from solver.cpsat.chain import Finish, FlowSum
from solver.leases import LeaseTable
from solver.planning.phase_model import (
    PhaseProblem,
    canonical_leases,
    phase_problem,
    scale_of,
    undominated_leases,
)
from solver.planning.phase_paths import Bounds
from solver.planning.phase_search import PhaseSearch
from solver.planning.phase_solve import searched
from solver.scenario.scenario import Scenario
from tests.planning.jobs import A100, H100, catalog
from tests.planning.phased import phased

LIMITS = {"deadline": "20 days", "budget": 20_000, "confidence": 0.8}


@cache
def asked() -> Scenario:
    """Two phases on two offers, of which one is there later, with both limits."""
    return phased(constraints=LIMITS, offers=[A100, H100 | {"lead_time": "1 day"}])


@cache
def found() -> tuple[PhaseSearch, Bounds]:
    """The search, and the leases in it."""
    work = searched(asked(), catalog())
    bounds = work.run()
    assert bounds is not None
    return work, bounds


@cache
def leases() -> LeaseTable:
    """All leases in canonical order."""
    table = found()[1].leases
    return table.take(canonical_leases(table))


@cache
def problem() -> PhaseProblem:
    """The model's data over all of them."""
    work, _ = found()
    scale = scale_of((1.0, 1.0), leases(), work.moves, work.goal, 2)
    return phase_problem(
        work.scenario,
        work.settings,
        work.pools(),
        work.places,
        leases(),
        work.moves,
        work.limits,
        work.goal,
        scale,
    )


def test_long_leases_come_first() -> None:
    """Tests the canonical order: by length, then by phase, then fewer nodes."""
    length = leases().last - leases().first
    assert (np.diff(length) <= 0).all()
    single = length == 0
    assert (np.diff(leases().first[single]) >= 0).all()
    for p in (0, 1):
        nodes = leases().nodes[single & (leases().first == p)]
        assert (np.diff(nodes) >= 0).all()


def test_a_job_is_a_phase_and_a_row_a_lease_that_covers_it() -> None:
    """Tests names, rows and shared Booleans of both jobs."""
    jobs = problem().jobs
    assert [job.name for job in jobs] == ["pre-train", "extend"]
    for p, (job, covering) in enumerate(zip(jobs, problem().leases, strict=True)):
        assert job.choice is not None
        assert np.array_equal(job.choice, covering)
        assert ((leases().first[covering] <= p) & (leases().last[covering] >= p)).all()
    both = set(problem().leases[0].tolist()) & set(problem().leases[1].tolist())
    assert both == set(np.flatnonzero(leases().last > leases().first).tolist())


@pytest.mark.parametrize(
    ("quantity", "column"),
    [
        ("cost", "cost_usd"),
        ("cost_at_confidence", "cost_limit_usd"),
        ("time", "time_s"),
        ("time_at_confidence", "time_limit_s"),
        ("wait", "wait_s"),
    ],
)
def test_what_a_lease_spends_counts_in_its_first_phase(
    quantity: str, column: str
) -> None:
    """Tests that sums over phases count a lease once, rounded up to a unit."""
    scale = problem().scale
    unit = scale.usd if "cost" in quantity else scale.seconds
    counted = np.zeros(len(leases()))
    for p, (job, covering) in enumerate(
        zip(problem().jobs, problem().leases, strict=True)
    ):
        values = job.quantity(quantity) * unit
        begins = leases().first[covering] == p
        assert not values[~begins].any()
        counted[covering] += values
    true = getattr(leases(), column)
    assert (counted >= true - 1e-6 * unit).all()
    assert (counted <= true + 1.001 * unit).all()


def test_decisions_of_a_row_are_those_of_the_phase() -> None:
    """Tests that a lease over both has each phase's own layout in each job."""
    work, _ = found()
    for p, (job, covering) in enumerate(
        zip(problem().jobs, problem().leases, strict=True)
    ):
        layouts = work.pools()[p].table.take(leases().rows[covering, p]).layouts
        assert np.array_equal(job.quantity("tp"), layouts.tp)
        assert np.array_equal(job.quantity("gpus"), layouts.gpus)


def test_limits_are_shared_rows() -> None:
    """Tests deadline and budget as one row each, on what holds at the confidence."""
    rows = {bound.rule: bound for bound in problem().shared}
    assert set(rows) == {"deadline", "budget"}
    assert rows["deadline"].joint == "finish_at_confidence"
    assert (rows["budget"].quantity, rows["budget"].joint) == (
        "cost_at_confidence",
        "moves",
    )
    scale = problem().scale
    assert rows["budget"].upper * scale.usd == pytest.approx(20_000, rel=1e-9)
    assert rows["deadline"].upper * scale.seconds == pytest.approx(
        20 * 86_400, rel=1e-9
    )


def test_rules_of_a_phase_are_for_its_job() -> None:
    """Tests that each requirement names a job, and none of them a shared limit."""
    names = {requirement.job for requirement in problem().requirements}
    assert names == {"pre-train", "extend"}
    rules = {requirement.rule for requirement in problem().requirements}
    assert {"memory", "stock"} <= rules
    assert not rules & {"deadline", "budget"}


def test_moves_follow_the_labels_of_each_job() -> None:
    """Tests that the diagonal of equal regions is free, and that time is rounded up."""
    joint = problem().links.joint
    first, second = (job.category("region")[1] for job in problem().jobs)
    finish, moves = joint["finish"], joint["moves"]
    assert isinstance(finish, Finish)
    assert isinstance(moves, FlowSum)
    for i, origin in enumerate(first):
        for k, target in enumerate(second):
            same = origin == target
            assert (finish.moves[0][i, k] == 0) == same
            if same:
                assert moves.prices[0][i, k] == 0


def test_dominated_leases_are_no_better_in_anything() -> None:
    """Tests that each lease dropped has one left that is nowhere worse."""
    work, _ = found()
    worse = replace(
        leases(),
        cost_usd=leases().cost_usd * 1.01,
        cost_limit_usd=leases().cost_limit_usd * 1.01,
        time_s=leases().time_s + 60.0,
        time_limit_s=leases().time_limit_s + 60.0,
    )
    every = LeaseTable.concatenate([leases(), worse])
    kept = undominated_leases(every, problem().scale, work.goal)
    dropped = np.setdiff1d(np.arange(len(every)), kept)
    assert len(dropped) >= len(leases())
    left = every.take(kept)
    columns = ("cost_usd", "cost_limit_usd", "time_s", "time_limit_s", "wait_s")
    for k in dropped.tolist():
        good = (left.first == every.first[k]) & (left.last == every.last[k])
        good &= left.region == every.region[k]
        for name in columns:
            good &= getattr(left, name) <= getattr(every, name)[k] * (1 + 1e-8)
        assert good.any()


def test_units_are_small_beside_what_is_spent() -> None:
    """Tests units of at most a billionth of the floor, and room for the sums."""
    scale = problem().scale
    assert scale.usd <= 1e-9
    assert scale.seconds <= 1e-9
    for job in problem().jobs:
        assert int(job.quantity("time_at_confidence").max()) < 2**53
