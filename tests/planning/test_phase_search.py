"""Tests of the search for what phases could need: bounds, caps, and giving up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from solver.planning.phase_paths import Bounds, Limits, Weights, joined
from solver.planning.phase_search import PhaseSearch, goal_of, shared_limits
from solver.planning.phase_solve import searched, solve_chain
from solver.planning.phases import plan_phases
from solver.planning.stopwatch import Stopwatch
from solver.scenario.scenario import Objective, Scenario
from solver.search import SearchLimits, search
from tests.planning.jobs import A100, H100, catalog
from tests.planning.phased import APART, phased

WEIGHTED = Objective("weighted", cost_weight=2.0, usd_per_day=86_400.0)


def ran(scenario: Scenario, **options: Any) -> tuple[PhaseSearch, Bounds | None]:
    """A search that is done, and its bounds."""
    found = searched(scenario, catalog(), **options)
    return found, found.run()


@pytest.mark.parametrize(
    ("objective", "weights"),
    [
        (Objective("cost"), Weights(1.0, 0.0)),
        (Objective("time"), Weights(0.0, 1.0)),
        (WEIGHTED, Weights(2.0, 1.0)),
    ],
)
def test_the_goal_is_the_objective(objective: Objective, weights: Weights) -> None:
    """Tests dollars, seconds, and their weighted sum."""
    assert goal_of(replace(phased(), objective=objective)) == weights


def test_a_held_goal_is_what_limits_are_held_against() -> None:
    """Tests the goals of the least deadline and the least budget."""
    by_time = goal_of(replace(phased(), objective=Objective("time")), held=True)
    assert (by_time.time_limit, by_time.cost_limit) == (1.0, 0.0)
    by_cost = goal_of(phased(), held=True)
    assert (by_cost.time_limit, by_cost.cost_limit) == (0.0, 1.0)


def test_shared_limits_are_those_of_the_top() -> None:
    """Tests deadline and budget, and that none is no limit."""
    assert shared_limits(phased()) == Limits()
    both = phased(constraints={"deadline": "2 days", "budget": 500})
    assert shared_limits(both) == Limits(2 * 86_400.0, 500.0)


def test_shares_of_the_set_up_add_up_to_one() -> None:
    """Tests that no lease is given more than one set-up by its phases."""
    found = searched(phased(), catalog())
    assert sum(found.shares) == pytest.approx(1.0)
    assert found.shares[0] > found.shares[1] > 0


@pytest.mark.parametrize("confidence", [0.2, 0.5, 0.9])
def test_a_lean_phase_is_a_bound_at_any_confidence(confidence: float) -> None:
    """Tests late time and bill of single leases against the lean objective's."""
    scenario = phased(constraints={"confidence": confidence})
    found, bounds = ran(scenario)
    assert bounds is not None
    leases = bounds.leases
    pools = found.pools()
    for weights in (Weights(0, 0, time_limit=1.0), Weights(0, 0, cost_limit=1.0)):
        for p, pool in enumerate(pools):
            single = np.flatnonzero((leases.first == p) & (leases.last == p))
            objective = found.lean(p, weights).scenario.objective
            table = pool.take(leases.rows[single, p]).table
            lean_value = objective.cost_weight * table.cost_usd
            lean_value = lean_value + objective.usd_per_day * table.duration_s / 86_400
            held = leases.time_limit_s if weights.time_limit else leases.cost_limit_usd
            assert (lean_value <= held[single] * (1 + 1e-9)).all()


@pytest.mark.parametrize("kind", ["cost", "time"])
@pytest.mark.parametrize("limits", [{}, {"deadline": "1 day"}, {"budget": 1_000}])
def test_caps_leave_out_no_optimum(kind: str, limits: dict[str, Any]) -> None:
    """Tests the chain found against that over all candidates of both phases."""
    goal = Objective(kind)  # type: ignore[arg-type]
    scenario = replace(phased(constraints=limits), objective=goal)
    found, bounds = ran(scenario)
    everything = searched(scenario, catalog())
    everything.run()
    everything.tables = [
        [table]
        for p in range(2)
        if (table := search(everything.lean(p), SearchLimits(), np.inf).table)
    ]
    whole = everything._priced()
    if bounds is None:
        assert not np.isfinite(whole.best)
        return
    values = []
    for work, at in ((found, bounds), (everything, whole)):
        chosen = solve_chain(work, at, Stopwatch()).chosen
        assert chosen is not None
        total = joined(chosen.leases, chosen.chain, work.moves)
        values.append(total.value(work.goal))
    assert values[0] == pytest.approx(values[1], rel=1e-9)
    fewer = sum(len(t) for tables in found.tables for t in tables)
    assert fewer < sum(len(t) for tables in everything.tables for t in tables)


def test_what_is_impossible_is_known_by_bounds() -> None:
    """Tests that half the least time and money is refused without CP-SAT."""
    free = plan_phases(phased(), catalog()).total
    assert free is not None
    tight = {"budget": free.cost_usd / 2, "deadline": "2 hours"}
    found, bounds = ran(phased(constraints=tight))
    assert bounds is None
    assert found.impossible or found.lost is not None
    assert found.complete


def test_a_phase_without_offers_is_lost_at_once() -> None:
    """Tests that nothing is searched where a phase has nothing to run on."""
    none = [APART[0], APART[1] | {"constraints": {"gpus": {"types": ["B200"]}}}]
    assert searched(phased(none), catalog()).lost == 1


def test_progress_names_the_phase() -> None:
    """Tests that the bar says which phase's layouts are looked at, and how far."""
    heard: list[tuple[str, float]] = []
    ran(phased(), progress=lambda name, share: heard.append((name, share)))
    assert {name for name, _ in heard} == {"layouts of pre-train", "layouts of extend"}
    assert all(0.0 <= share <= 1.0 for _, share in heard)


def interrupting(after: int) -> Callable[[str, float], None]:
    """A progress bar during which Ctrl-C is pressed."""
    left = [after]

    def progress(_: str, __: float) -> None:
        left[0] -= 1
        if left[0] == 0:
            raise KeyboardInterrupt

    return progress


@pytest.mark.parametrize("after", [1, 5, 9])
def test_ctrl_c_keeps_what_was_found(after: int) -> None:
    """Tests that an interrupted search claims no proof, and its gap is no lie."""
    best = plan_phases(phased(), catalog()).total
    assert best is not None
    result = plan_phases(phased(), catalog(), progress=interrupting(after))
    assert result.status in ("feasible", "unknown")
    if result.total is not None:
        assert result.proof.bound is not None
        assert result.proof.bound <= best.cost_usd * (1 + 1e-9)
        assert result.total.cost_usd >= best.cost_usd * (1 - 1e-9)
        assert result.proof.gap is not None
        assert 0.0 <= result.proof.gap <= 1.0


def test_one_offer_more_is_never_worse() -> None:
    """Tests cost and time with one offer against two."""
    for kind in ("cost", "time"):
        goal = Objective(kind)  # type: ignore[arg-type]
        values = []
        for offers in ([A100], [A100, H100]):
            total = plan_phases(
                replace(phased(offers=offers), objective=goal), catalog()
            ).total
            assert total is not None
            values.append(total.cost_usd if kind == "cost" else total.duration_days)
        assert values[1] <= values[0] * (1 + 1e-9)


def test_a_later_deadline_is_never_dearer() -> None:
    """Tests the cost under deadlines from tight to loose."""
    soonest = plan_phases(replace(phased(), objective=Objective("time")), catalog())
    assert soonest.total is not None
    costs = []
    for factor in (1.001, 1.2, 1.6, 2.5, 5.0):
        days = soonest.total.duration_days * factor
        total = plan_phases(
            phased(constraints={"deadline": f"{days} days"}), catalog()
        ).total
        assert total is not None
        assert total.duration_days <= days * (1 + 1e-9)
        costs.append(total.cost_usd)
    assert costs == sorted(costs, reverse=True)
    assert costs[0] > costs[-1]


def test_one_phase_more_is_never_cheaper() -> None:
    """Tests a chain against its beginning."""
    short = plan_phases(phased([APART[0]]), catalog()).total
    longer = plan_phases(phased(APART), catalog()).total
    assert short is not None
    assert longer is not None
    assert longer.cost_usd > short.cost_usd
    assert longer.duration_days > short.duration_days
