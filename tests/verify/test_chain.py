"""Tests that the certificate of phases rejects whatever does not follow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from solver.plan import PlanResult
from solver.setting import setting_of
from solver.verify.chain import verify_chain
from solver.verify.violation import Violation
from tests.planning.jobs import catalog
from tests.planning.phased import apart

Change = Callable[[PlanResult], PlanResult]


def broken(change: Change) -> list[Violation]:
    """What is found in a changed answer."""
    scenario, result = apart()
    got = change(result)
    assert got.total is not None
    supply = setting_of(scenario.phases[0].scenario, catalog()).catalog
    return verify_chain(got.phases, got.leases, got.moves, got.total, scenario, supply)


def test_the_answer_is_right() -> None:
    """Tests that nothing is found in what the planner answers."""
    assert broken(lambda result: result) == []


def _lease(**changes: object) -> Change:
    def change(result: PlanResult) -> PlanResult:
        first = replace(result.leases[0], **changes)  # type: ignore[arg-type]
        return replace(result, leases=(first, *result.leases[1:]))

    return change


def _move(**changes: object) -> Change:
    def change(result: PlanResult) -> PlanResult:
        return replace(result, moves=(replace(result.moves[0], **changes),))  # type: ignore[arg-type]

    return change


def _phase(**changes: object) -> Change:
    def change(result: PlanResult) -> PlanResult:
        last = replace(result.phases[-1], **changes)  # type: ignore[arg-type]
        return replace(result, phases=(*result.phases[:-1], last))

    return change


def _total(name: str, factor: float) -> Change:
    def change(result: PlanResult) -> PlanResult:
        assert result.total is not None
        value = getattr(result.total, name) * factor
        return replace(result, total=replace(result.total, **{name: value}))

    return change


def _part(name: str, part: str) -> Change:
    def change(result: PlanResult) -> PlanResult:
        assert result.total is not None
        parts = dict(getattr(result.total, name))
        parts[part] += 1.0
        return replace(result, total=replace(result.total, **{name: parts}))

    return change


def _fewer_nodes(result: PlanResult) -> PlanResult:
    plan = result.phases[0].plan
    changed = replace(result.phases[0], plan=replace(plan, nodes=plan.nodes + 1))
    return replace(result, phases=(changed, *result.phases[1:]))


CHANGES: dict[str, Change] = {
    "phases in another order": lambda r: replace(r, phases=r.phases[::-1]),
    "a lease left out": lambda r: replace(r, leases=r.leases[:1]),
    "other nodes": _fewer_nodes,
    "another offer": _lease(offer="sg/other"),
    "a lease of other size": _lease(nodes=99),
    "fewer paid hours": _lease(billed_hours=1.0),
    "a cheaper lease": _lease(compute_usd=1.0),
    "free storage": _lease(storage_usd=-1.0),
    "free data": _lease(data_usd=0.0),
    "a cheaper bill at the confidence": _lease(cost_at_confidence_usd=1.0),
    "an earlier end": _lease(end_day=0.1),
    "another start": _lease(start_day=1.0),
    "a wait": _lease(wait_days=1.0),
    "no move": lambda r: replace(r, moves=()),
    "a free move": _move(data_usd=0.0),
    "a small checkpoint": _move(checkpoint_gb=0.1),
    "a fast move": _move(days=0.0),
    "a move elsewhere": _move(destination="aws/us-east-1"),
    "a price that is known": _move(price_known=True),
    "an earlier phase": _phase(start_day=0.0),
    "an earlier finish": _phase(end_day=0.5),
    "a phase of another lease": _phase(lease=0),
    "less in all": _total("cost_usd", 0.5),
    "sooner in all": _total("duration_days", 0.5),
    "surer and cheaper": _total("cost_at_confidence_usd", 0.9),
    "surer and sooner": _total("duration_at_confidence_days", 0.9),
    "a cheaper P90": _total("cost_p90_usd", 0.9),
    "a sooner P90": _total("duration_p90_days", 0.9),
    "fewer GPU-hours": _total("gpu_hours", 0.9),
    "another confidence": _total("confidence", 0.9),
    "a part of the cost": _part("cost_parts_usd", "moves"),
    "a part of the time": _part("duration_parts_days", "setup"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_mutations_are_rejected(name: str) -> None:
    """Tests that each change of one figure or decision is found."""
    assert broken(CHANGES[name])


@pytest.mark.parametrize(
    ("limit", "rule"),
    [({"deadline_s": 1.0}, "deadline"), ({"budget_usd": 1.0}, "budget")],
)
def test_limits_are_checked(limit: dict[str, float], rule: str) -> None:
    """Tests that a chain beyond a shared limit is found."""
    scenario, result = apart()
    user = replace(scenario.constraints, **limit)  # type: ignore[arg-type]
    assert result.total is not None
    found = verify_chain(
        result.phases,
        result.leases,
        result.moves,
        result.total,
        replace(scenario, constraints=user),
        setting_of(scenario.phases[0].scenario, catalog()).catalog,
    )
    assert [violation.rule for violation in found] == [rule]
