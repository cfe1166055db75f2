"""Tests of a plan held against what was measured, and of what is left asked again."""

from dataclasses import replace
from datetime import date, timedelta
from functools import cache
from typing import Any

import pytest

from solver.acting.basis import Acting, acting_on_result
from solver.acting.checking import Asked, Check, check_plan
from solver.acting.measured import Measured, read_measured
from solver.acting.replan import Change, Left, change_of, left_scenario
from solver.acting.suspects import suspects_of
from solver.acting.verdict import Verdict, verdict_of
from solver.errors import InputError
from solver.planning.answering import answer
from tests.acting.test_route import acting_on, chain, far, shared
from tests.planning.jobs import A100, H100, catalog, job
from tests.planning.phased import phased

NOTHING = Asked()


def measured(acting: Acting, pace: float, place: int = 0) -> Measured:
    """A step so many times the predicted one."""
    step = acting.jobs[place].plan.step_time_s * pace
    return read_measured([f"step_time={step!r}s"])


def checked(acting: Acting, pace: float = 1.0, **asked: Any) -> Check:
    """A plan held against a step so many times the predicted one."""
    names = [one.phase for one in acting.jobs]
    place = names.index(asked.get("phase", names[0]))
    return check_plan(acting, measured(acting, pace, place), Asked(**asked))


def decided(acting: Acting, check: Check) -> Verdict:
    """What to do."""
    return verdict_of(acting, check, acting.scenario.document, check.pace)


@cache
def tight() -> Acting:
    """A job that A100 or H100 can do within a day."""
    return acting_on(job([A100, H100], {"deadline": "1 day", "budget": "$5000"}))


def codes(acting: Acting, found: Measured, asked: Asked) -> list[str]:
    """Codes of what cannot be checked."""
    with pytest.raises(InputError) as told:
        check_plan(acting, found, asked)
    return [issue.code for issue in told.value.issues]


def test_as_predicted_everything_is_as_planned() -> None:
    """Tests that the forecast equals the plan, with limits kept and no suspects."""
    for acting in (far(), shared(), tight()):
        check = checked(acting)
        plan = acting.jobs[0].plan
        assert check.forecast == check.planned
        assert check.forecast.duration_days == pytest.approx(plan.duration_days)
        assert check.forecast.cost_usd == pytest.approx(plan.cost_usd, abs=0.005)
        assert check.finish == plan.finish
        assert check.kept
        assert check.suspects == ()
        assert check.compared[0].inside is True


def test_all_of_a_chain_as_predicted_is_as_planned() -> None:
    """Tests the total of a chain, whichever phase is measured."""
    for phase in ("pre-train", "extend"):
        check = checked(chain(), phase=phase)
        assert check.forecast.duration_days == pytest.approx(
            check.planned.duration_days
        )
        assert check.forecast.cost_usd == pytest.approx(check.planned.cost_usd)


def test_halfway_at_half_the_speed() -> None:
    """Tests day and finish that follow from steps alone, by hand."""
    acting = shared()
    plan, figures = acting.jobs[0].plan, acting.figures[0]
    check = checked(acting, 2.0, done_steps=plan.steps // 2)
    share = (plan.steps // 2) / plan.steps
    start = (figures.fixed_s - figures.moving.serving_s) / 86_400
    twice = checked(acting, 2.0).forecast
    active = twice.duration_days - figures.fixed_s / 86_400
    assert check.done.time_share == pytest.approx(share)
    assert check.elapsed_days == pytest.approx(start + share * active)
    assert check.forecast.duration_days == pytest.approx(twice.duration_days)
    assert [line.id for line in check.lines] == ["check.note.as-of"]


def test_a_stated_day_counts() -> None:
    """Tests that lost days are added, as a date and as a time, and what is left."""
    acting = shared()
    steps = acting.jobs[0].plan.steps // 4
    soon = checked(acting, done_steps=steps, as_of=date(2026, 12, 6))
    late = checked(acting, done_steps=steps, as_of=7 * 86_400.0)
    assert soon.elapsed_days == 5.0
    assert late.elapsed_days == 7.0
    more = late.forecast.duration_days - soon.forecast.duration_days
    assert more == pytest.approx(2.0)
    assert late.forecast.cost_usd > soon.forecast.cost_usd
    assert soon.day == date(2026, 12, 6)


def test_what_is_done_follows_from_the_day() -> None:
    """Tests that steps are counted at the measured speed where none are stated."""
    acting = shared()
    check = checked(acting, 1.5, as_of=acting.duration_days * 86_400 * 0.99)
    assert 0 < check.done.steps < acting.jobs[0].plan.steps
    assert check.forecast.duration_days == pytest.approx(
        checked(acting, 1.5).forecast.duration_days, abs=0.01
    )
    assert "check.note.done" in {line.id for line in check.lines}


def test_what_was_spent_takes_the_place_of_the_bill_so_far() -> None:
    """Tests that a dearer past is added to the forecast, and the rest stays."""
    acting = shared()
    steps = acting.jobs[0].plan.steps // 2
    plain = checked(acting, done_steps=steps)
    dear = checked(acting, done_steps=steps, spent_usd=plain.spent_usd + 100.0)
    assert dear.rest_usd == pytest.approx(plain.rest_usd)
    assert dear.forecast.cost_usd == pytest.approx(plain.forecast.cost_usd + 100.0)
    assert plain.spent_usd + plain.rest_usd == pytest.approx(plain.forecast.cost_usd)


def test_limits_are_held_against_the_forecast() -> None:
    """Tests deadline and budget at a pace that breaks each, and the exit."""
    acting = tight()
    late = checked(acting, 24.0)
    assert late.deadline_kept is False
    assert checked(acting).deadline_kept is True
    dear = checked(acting, spent_usd=6000.0, done_steps=10)
    assert dear.budget_kept is False
    assert dear.deadline_kept is True
    assert not dear.kept


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        (Asked(done_steps=10**9), "out-of-range"),
        (Asked(done_tokens=5e9), "out-of-range"),
        (Asked(as_of=date(2026, 11, 30)), "out-of-range"),
        (Asked(done_steps=1, done_tokens=1e6), "conflicting-keys"),
        (Asked(phase="pretrain"), "unknown-name"),
        (Asked(done_steps=5, as_of=date(2026, 12, 1)), "out-of-range"),
    ],
)
def test_what_cannot_be_is_refused(asked: Asked, code: str) -> None:
    """Tests more than all, a day before the plan's, and phases that are none."""
    assert codes(shared(), measured(shared(), 1.0), asked) == [code]


def test_faults_of_figures_are_told_together() -> None:
    """Tests an absurd figure, a part that the step lacks and too many steps."""
    found = read_measured(["step_time=9000s", "generation=3s", "mfu=0.0001%"])
    told = codes(shared(), found, Asked(done_steps=10**9))
    assert sorted(told) == [*["out-of-range"] * 3, "unknown-name"]


def test_a_phase_has_to_be_named() -> None:
    """Tests a chain without a phase, and with one that is spelled wrong."""
    found = measured(chain(), 1.0)
    assert codes(chain(), found, NOTHING) == ["bad-usage"]
    with pytest.raises(InputError) as told:
        check_plan(chain(), found, Asked(phase="extnd"))
    assert told.value.issues[0].hint == "extend"


def test_rates_are_other_words_for_the_step() -> None:
    """Tests that tokens a second and MFU give the same forecast as the step time."""
    acting = shared()
    plan = acting.jobs[0].plan
    by_step = checked(acting, 1.25).forecast
    for word in (
        f"tokens_per_s={plan.tokens_per_s / 1.25!r}",
        f"mfu={plan.mfu / 1.25!r}",
    ):
        found = check_plan(acting, read_measured([word]), NOTHING).forecast
        assert found.duration_days == pytest.approx(by_step.duration_days)
        assert found.cost_usd == pytest.approx(by_step.cost_usd)
    both = read_measured([f"mfu={plan.mfu!r}", f"step_time={plan.step_time_s * 2!r}s"])
    ids = {line.id for line in check_plan(acting, both, NOTHING).lines}
    assert "check.note.paces" in ids


def test_failures_within_chance_change_nothing() -> None:
    """Tests a count inside the Poisson band, and one outside of it."""
    acting = acting_on(job([A100], failures={"gpu_mtbf": "5000 hours"}))
    per_day = acting.figures[0].failures_per_s * 86_400
    usual = read_measured([f"failures={round(per_day * 100)}/100 days"])
    check = check_plan(acting, usual, NOTHING)
    assert check.compared[0].inside
    assert check.forecast == check.planned
    many = read_measured([f"failures={round(per_day * 1000)}/100 days"])
    more = check_plan(acting, many, NOTHING)
    assert not more.compared[0].inside
    assert more.forecast.duration_days > check.forecast.duration_days


def test_the_part_that_was_measured_slow_is_suspect() -> None:
    """Tests excess and share of measured parts, by hand."""
    acting = shared()
    plan = acting.jobs[0].plan
    compute = plan.step_time_parts_s["compute"]
    words = [
        f"step_time={plan.step_time_s + 1.0!r}s",
        f"compute={compute + 0.25!r}s",
        "data_parallel=0s",
    ]
    (one,) = check_plan(acting, read_measured(words), NOTHING).suspects
    assert one.part == "compute"
    assert one.excess_s == pytest.approx(0.25)
    assert one.share == pytest.approx(0.25)


def test_without_parts_no_part_is_accused() -> None:
    """Tests that each part that could explain the gap is told, the least off first."""
    acting = shared()
    plan = acting.jobs[0].plan
    found = checked(acting, 1.5).suspects
    assert found
    assert all(one.measured_s is None and one.share == 1.0 for one in found)
    factors = [one.factor or 0.0 for one in found]
    assert factors == sorted(factors)
    gap = 0.5 * plan.step_time_s
    first = found[0]
    assert first.factor == pytest.approx((first.predicted_s + gap) / first.predicted_s)
    assert suspects_of(plan, (), 0.8) == ()
    assert checked(acting, 1.01).suspects == ()


@pytest.mark.parametrize(
    ("share", "line"),
    [(0.0, "fine"), (0.5, "above"), (0.95, "tight"), (1.2, "beyond")],
)
def test_memory_is_told_by_what_is_left(share: float, line: str) -> None:
    """Tests memory as predicted, above, without headroom, and beyond the card."""
    acting = shared()
    memory = acting.jobs[0].plan.memory_gib
    gib = memory["capacity"] * share or memory["total"]
    assert memory["total"] < 0.5 * memory["capacity"]
    found = read_measured([f"peak_memory={gib!r}GiB"])
    ids = {one.id for one in check_plan(acting, found, NOTHING).lines}
    assert f"check.memory.{line}" in ids


def test_nothing_done_at_the_predicted_speed_is_the_plan_again() -> None:
    """Tests that the new plan equals the old one, and that staying is the verdict."""
    for acting in (far(), shared(), tight()):
        left = Left(0, 1.0, 0.0, acting.day, None, None, 1.0)
        scenario = left_scenario(acting, acting.scenario.document, left)
        found = change_of(acting, scenario, left)
        assert isinstance(found, Change)
        asked = acting.jobs[0].plan
        assert found.result.plan is not None
        again = replace(found.result.plan, provenance=asked.provenance)
        assert again == asked
        assert found.same
        verdict = decided(acting, checked(acting))
        assert verdict.kind == "stay"
        assert verdict.stay_usd == pytest.approx(acting.jobs[0].plan.cost_usd)


def test_what_is_left_is_asked() -> None:
    """Tests tokens, deadline, budget, start, speed and day of the new scenario."""
    acting = tight()
    left = Left(0, 0.25, 0.5, date(2026, 12, 1), 43_200.0, 1234.5, 1.25)
    scenario = left_scenario(acting, acting.scenario.document, left)
    assert scenario.workload.tokens == pytest.approx(1.25e9)
    assert scenario.workload.start == "checkpoint"
    assert scenario.workload.framework == acting.jobs[0].plan.framework
    assert scenario.workload.efficiency == pytest.approx(0.8)
    assert scenario.constraints.deadline_s == pytest.approx(43_200.0)
    assert scenario.constraints.budget_usd == 1234.5
    assert scenario.start_date == date(2026, 12, 1)


def test_samples_are_left_as_samples() -> None:
    """Tests DPO, whose work is stated in samples and not in tokens."""
    acting = acting_on(
        job([A100], workload={"method": "dpo", "tokens": None, "samples": "50k"})
    )
    left = Left(0, 0.5, 0.1, acting.day, None, None, 1.0)
    scenario = left_scenario(acting, acting.scenario.document, left)
    whole = acting.scenario.workload.tokens
    assert scenario.workload.tokens == pytest.approx(whole / 2)


def test_phases_that_are_over_are_not_asked_again() -> None:
    """Tests that the second phase alone is left, from a checkpoint."""
    scenario = phased()
    result = answer(scenario, catalog(), alternatives=0)
    acting = acting_on_result(result, scenario, catalog())
    assert acting is not None
    left = Left(1, 0.5, 1.0, date(2026, 12, 2), None, None, 1.25)
    found = left_scenario(acting, scenario.document, left)
    (phase,) = found.phases
    assert phase.name == "extend"
    assert phase.scenario.workload.tokens == pytest.approx(0.5e9)
    assert phase.scenario.workload.start == "checkpoint"
    assert phase.scenario.workload.efficiency == pytest.approx(0.8)


def test_a_run_that_gets_too_late_changes() -> None:
    """Tests that more or faster nodes are found where staying misses the deadline."""
    acting = acting_on(job([A100, H100], {"deadline": "6 hours"}))
    plan = acting.jobs[0].plan
    assert plan.nodes < 4
    check = checked(acting, 2.5, done_steps=100)
    assert not check.kept
    verdict = decided(acting, check)
    assert verdict.kind in ("change", "cannot")
    assert not verdict.stay_kept
    if verdict.change is not None:
        assert verdict.change.days * 24 <= 6
    assert verdict.efficiency == pytest.approx(0.4)


def test_when_nothing_helps_the_least_change_is_told() -> None:
    """Tests a deadline that no nodes keep any more: what would have to give."""
    acting = acting_on(job([A100], {"deadline": "6 hours", "gpus": {"max": 8}}))
    check = checked(acting, 20.0, done_steps=100)
    verdict = decided(acting, check)
    assert verdict.kind in ("cannot", "cannot_tell")
    ids = {line.id for line in verdict.lines}
    assert "check.none.everywhere" in ids
    one_way = acting_on(job([A100], {"deadline": "6 hours", "gpus": {"max": 8}}))
    passed = checked(one_way, done_steps=10, as_of=7 * 3600.0)
    gone = decided(one_way, passed)
    assert gone.kind == "cannot"
    told = {line.id for line in gone.lines}
    assert {"check.over.deadline", "check.open.deadline"} <= told
    spent = acting_on(job([A100], {"budget": "$5000"}))
    dear = decided(spent, checked(spent, done_steps=10, spent_usd=5001.0))
    assert dear.kind == "cannot"
    assert {"check.over.budget", "check.open.budget"} <= {x.id for x in dear.lines}


def test_the_move_of_a_checkpoint_is_paid() -> None:
    """Tests bytes over rate, and a price that the catalog does not know."""
    acting = tight()
    plan = acting.jobs[0].plan
    other = {"A100": "H100", "H100": "A100"}
    away = other["A100" if plan.gpu.startswith("a100") else "H100"]
    document = acting.scenario.document
    limits = document["constraints"] | {"gpus": {"types": [away]}}
    left = Left(0, 0.5, 0.1, acting.day, 86_400.0, 5000.0, 1.0)
    scenario = left_scenario(acting, document | {"constraints": limits}, left)
    found = change_of(acting, scenario, left)
    assert isinstance(found, Change)
    copied = acting.figures[0].checkpoint_bytes / (10e9 / 8) / 86_400
    assert found.move_days == pytest.approx(copied)
    assert found.move_known is False
    assert found.result.plan is not None
    assert found.days == pytest.approx(found.result.plan.duration_days + copied)


def test_a_check_is_told_in_json() -> None:
    """Tests the keys of the contract, with and without a new plan."""
    acting = shared()
    check = checked(acting, 1.02, done_steps=50)
    assert check.as_dict()["replan"] is None
    whole = replace(check, verdict=decided(acting, check)).as_dict()
    assert whole["replan"]["verdict"] == "stay"
    assert whole["forecast"]["finish"] == check.finish.isoformat()
    assert whole["done"]["steps"] == 50
    last = acting.day + timedelta(days=check.forecast.duration_days)
    assert check.finish == last
