"""Tests of the choice between staying, changing and neither."""

from dataclasses import replace
from typing import Any

import pytest

from solver.acting.checking import Check
from solver.acting.replan import Change
from solver.acting.verdict import WORTHWHILE, Verdict
from solver.acting.verdict import _choice as choice
from solver.acting.verdict import _kept as kept_with_move
from solver.acting.verdict import _left as left_of
from solver.scenario.scenario import Objective
from tests.acting.test_checking import checked, decided, tight
from tests.acting.test_route import acting_on, shared
from tests.planning.jobs import A100, H100, job

STAY = (1000.0, 10.0)


def change(cost_usd: float, days: float, **fields: Any) -> Change:
    """A change that costs and takes so much."""
    verdict = decided(tight(), checked(tight()))
    assert verdict.change is not None
    values = {"cost_usd": cost_usd, "days": days, "same": False, **fields}
    return replace(verdict.change, **values)


@pytest.mark.parametrize(
    ("kept", "other", "expected"),
    [
        (True, None, "stay"),
        (False, None, "cannot"),
        (True, (1000.0, 10.0), "stay"),
        (True, (951.0, 10.0), "stay"),
        (True, (949.0, 30.0), "change"),
        (False, (2000.0, 5.0), "change"),
    ],
)
def test_a_change_has_to_be_worth_it(
    kept: bool, other: tuple[float, float] | None, expected: str
) -> None:
    """Tests the 5% that a change of the least cost has to save."""
    assert WORTHWHILE == 0.05
    one = None if other is None else change(*other)
    assert choice(tight(), STAY, kept, one) == expected


def test_the_nodes_that_run_are_no_change() -> None:
    """Tests that the same nodes again mean to stay, whatever their figures."""
    assert choice(tight(), STAY, True, change(1.0, 1.0, same=True)) == "stay"


@pytest.mark.parametrize(
    ("objective", "other", "expected"),
    [
        (Objective("time"), (9000.0, 9.0), "change"),
        (Objective("time"), (1.0, 9.9), "stay"),
        (Objective("weighted", 1.0, 1000.0), (3000.0, 5.0), "change"),
        (Objective("weighted", 1.0, 1000.0), (7000.0, 5.0), "stay"),
        (Objective("carbon"), (900.0, 99.0), "change"),
    ],
)
def test_the_objective_decides(
    objective: Objective, other: tuple[float, float], expected: str
) -> None:
    """Tests time, and the weighted sum of cost and days, by hand."""
    acting = tight()
    asked = replace(acting, scenario=replace(acting.scenario, objective=objective))
    assert choice(asked, STAY, True, change(*other)) == expected


def test_a_move_that_breaks_a_limit_is_no_change() -> None:
    """Tests that deadline and budget are held against the move too."""
    check = checked(tight(), done_steps=1000)
    left = left_of(tight(), check, 1.0)
    assert left.deadline_s is not None
    assert left.budget_usd is not None
    days = left.deadline_s / 86_400
    fine = change(left.budget_usd - 1, days - 0.01, move_usd=1.0, move_days=0.1)
    assert kept_with_move(fine, left) is fine
    late = change(1.0, days + 0.01, move_usd=1.0, move_days=0.1)
    assert kept_with_move(late, left) is None
    dear = change(left.budget_usd + 1, 0.1, move_usd=1.0, move_days=0.1)
    assert kept_with_move(dear, left) is None


def test_what_is_left_of_limits() -> None:
    """Tests deadline and budget of the rest, by hand."""
    acting = tight()
    check = checked(acting, done_steps=1000, as_of=6 * 3600.0, spent_usd=100.0)
    left = left_of(acting, check, 1.0)
    assert left.deadline_s == pytest.approx(18 * 3600.0)
    assert left.budget_usd == pytest.approx(4900.0)
    done = 1000 * 64 * 2048
    assert left.token_share == pytest.approx(1 - done / 5e9)
    nothing = left_of(acting, checked(acting), 1.0)
    assert nothing.deadline_s is None
    assert nothing.budget_usd is None
    assert nothing.begun is False


def views(check: Check, verdict: Verdict) -> tuple[bool, bool]:
    """Whether the speed is usual, and whether other nodes were asked about."""
    return check.usual, verdict.elsewhere is not None


def test_other_nodes_are_asked_about_where_the_speed_is_unusual() -> None:
    """Tests that a speed within the interval is no matter of these nodes."""
    acting = shared()
    near = checked(acting, 1.01, done_steps=100)
    assert views(near, decided(acting, near)) == (True, False)
    far = checked(acting, 2.0, done_steps=100)
    verdict = decided(acting, far)
    assert views(far, verdict) == (False, True)
    assert verdict.elsewhere is not None
    assert verdict.elsewhere.same is False
    ids = [line.id for line in verdict.lines]
    assert ids[0] == "check.stay"
    assert "check.change.elsewhere" in ids


def test_where_both_views_differ_the_cause_is_asked_for() -> None:
    """Tests that nodes that are slow by themselves are worth an exchange, and that
    software that is slow everywhere is not.
    """
    acting = acting_on(job([A100], overheads={"setup": "1 min"}))
    check = checked(acting, 3.0, done_steps=100)
    verdict = decided(acting, check)
    assert verdict.kind == "cannot_tell"
    assert verdict.change is not None
    assert verdict.elsewhere is not None
    assert verdict.elsewhere.cost_usd < 0.95 * verdict.stay_usd


def test_savings_are_those_of_the_change() -> None:
    """Tests dollars and days against the figures of both, and none of the same."""
    acting = acting_on(job([A100, H100], {"deadline": "8 hours"}))
    check = checked(acting, 2.0, done_steps=500)
    verdict = decided(acting, check)
    if verdict.change is not None and not verdict.change.same:
        saved = verdict.stay_usd - verdict.change.cost_usd
        assert verdict.saves_usd == pytest.approx(saved)
        assert verdict.saves_days == pytest.approx(
            verdict.stay_days - verdict.change.days
        )
    plain = decided(acting, checked(acting))
    assert plain.change is not None
    assert plain.change.same
    assert plain.saves_usd is None
    assert plain.saves_days is None


def test_the_speed_stays_within_what_a_scenario_may_say() -> None:
    """Tests that a run far faster or slower than any stack is planned at the bound."""
    acting = shared()
    fast = decided(acting, checked(acting, 0.3, done_steps=10))
    assert fast.efficiency == 1.2
    slow = decided(acting, checked(acting, 99.0, done_steps=10))
    assert slow.efficiency == pytest.approx(1 / 99)
