"""Tests of an answer that is about to be acted on."""

import json
from datetime import date
from pathlib import Path

import pytest

from solver.acting.basis import acting_on_file, acting_on_result, figures_of
from solver.acting.plan_file import read_plan
from solver.acting.route import route_of
from solver.errors import InputError
from solver.plan import PlanResult
from solver.planning.answering import answer
from solver.report.as_json import result_as_json
from tests.acting.test_plan_file import faults, written
from tests.acting.test_route import chain, far
from tests.planning.jobs import A100, catalog, job
from tests.planning.phased import apart


def chained() -> PlanResult:
    """A chain of two phases, with what was asked."""
    return answer(apart()[0], catalog())


def test_figures_are_those_of_the_plan() -> None:
    """Tests that finish, bill and steps are recomputed as the plan has them."""
    plan, figures = far().jobs[0].plan, far().figures[0]
    assert figures.duration_s / 86_400 == pytest.approx(plan.duration_days)
    assert figures.cost_usd == pytest.approx(plan.cost_usd)
    assert figures.steps == plan.steps
    assert figures.step_time_s == pytest.approx(plan.step_time_s)
    assert far().duration_days == plan.duration_days
    assert far().chain is None


def test_a_chain_ends_with_its_last_lease() -> None:
    """Tests length, finish and bill of all phases together."""
    _, result = apart()
    acting = chain()
    assert result.total is not None
    assert acting.chain is not None
    assert acting.duration_days == pytest.approx(result.total.duration_days)
    assert acting.chain.cost_usd(0.5) == pytest.approx(result.total.cost_usd)
    assert acting.chain.sizes == (1, 1)


def test_a_file_and_an_answer_are_acted_on_alike(tmp_path: Path) -> None:
    """Tests that the route of a chain is the same from its file."""
    result = chained()
    scenario = apart()[0]
    made = acting_on_result(result, scenario, catalog())
    assert made is not None
    file = acting_on_file(read_plan(written(tmp_path, result)))
    assert file.leases == made.leases
    assert file.moves == made.moves
    here, there = route_of(made), route_of(file)
    assert [s.kind for s in here.steps] == [s.kind for s in there.steps]
    assert here.milestones == there.milestones
    for one, other in zip(here.steps, there.steps, strict=True):
        mine = {k: v for k, v in one.facts.items() if k != "command"}
        theirs = {k: v for k, v in other.facts.items() if k != "command"}
        assert mine == theirs
    assert file.file.endswith("plan.json")


def test_days_become_dates() -> None:
    """Tests that a part of a day belongs to the day that it is in."""
    assert far().date_of(0.0) == date(2026, 12, 1)
    assert far().date_of(0.99) == date(2026, 12, 1)
    assert far().date_of(31.0) == date(2027, 1, 1)


def test_an_answer_without_a_plan_is_not_acted_on() -> None:
    """Tests that there is nothing to do where nothing was found."""
    scenario = job([A100], {"deadline": "1 hour"})
    result = answer(scenario, catalog())
    assert acting_on_result(result, scenario, catalog()) is None


def test_a_plan_of_an_offer_that_is_gone_has_no_figures() -> None:
    """Tests that the fault names what is gone and what to do."""
    with pytest.raises(InputError) as told:
        figures_of(far().jobs[0].plan, job([A100 | {"name": "z"}]), catalog())
    (issue,) = told.value.issues
    assert issue.code == "plan-outdated"
    assert "solve again" in issue.message


def test_leases_that_do_not_cover_the_phases_are_refused(tmp_path: Path) -> None:
    """Tests files whose leases lack a phase, or a figure, or moves."""
    result = chained()
    data = json.loads(result_as_json(result))
    short = written(tmp_path, result, leases=data["leases"][:1])
    assert ("not-a-plan", str(short), "leases") in faults(short)
    del data["leases"][1]["start_day"]
    lacking = written(tmp_path, result, leases=data["leases"])
    assert [path for _, _, path in faults(lacking)] == ["leases[1].start_day"]
    none = written(tmp_path, result, moves=None)
    assert [path for _, _, path in faults(none)] == ["moves"]
