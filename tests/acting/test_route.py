"""Tests of the way from a plan to a finished run: its parts are those of the plan."""

import math
import shlex
from datetime import date
from functools import cache
from typing import Any

import pytest

from solver.acting.basis import Acting, acting_on_result
from solver.acting.progress import Progress
from solver.acting.route import Route, RouteStep, route_of
from solver.errors import InputError
from solver.plan import PlanResult
from solver.planning.answering import answer
from solver.scenario.scenario import Scenario
from solver.units import DAY
from tests.planning.jobs import A100, H100, catalog, job
from tests.planning.phased import apart

ON_THE_WAY = ("order", "queue", "setup", "run", "serve", "move")
"""Steps that follow one another; the first hour is part of a run."""

SHARED: dict[str, Any] = {
    "name": "shared",
    "kind": "parallel_fs",
    "read": "10 GB/s",
    "write": "5 GB/s",
    "usd_per_gb_month": 0.1,
}


def acting_on(scenario: Scenario) -> Acting:
    """The answer to a scenario, about to be acted on."""
    found = acting_on_result(
        answer(scenario, catalog(), alternatives=0), scenario, catalog()
    )
    assert found is not None
    return found


@cache
def far() -> Acting:
    """Data and weights move; nodes are there after two days, a queue and a set-up."""
    return acting_on(
        job(
            [A100 | {"lead_time": "2 days"}],
            {"deadline": "30 days"},
            data={"size": "2 TB", "location": "aws/us-east-1"},
            serving={"regions": ["aws/us-east-1", "aws/eu-west-1"]},
            overheads={"setup": "4 hours", "queue": "3 hours", "evaluation": "5%"},
        )
    )


@cache
def shared() -> Acting:
    """Data and checkpoints on storage that all nodes share, and outlives them."""
    return acting_on(
        job(
            [A100 | {"lead_time": "2 days", "storage": [SHARED]}],
            data={"size": "2 TB", "location": "aws/us-east-1"},
            serving={"regions": ["aws/us-east-1"]},
            overheads={"evaluation": "5%"},
            failures={"checkpoint_interval": "30 min"},
        )
    )


@cache
def chain() -> Acting:
    """Two phases in two regions."""
    scenario, result = apart()
    found = acting_on_result(result, scenario, catalog())
    assert found is not None
    return found


def one(route: Route, kind: str, phase: str | None = None) -> RouteStep:
    """The only step of a kind, or that of a phase."""
    found = [
        s for s in route.steps if s.kind == kind and (not phase or phase in s.phases)
    ]
    assert len(found) == 1, (kind, len(found))
    return found[0]


def test_the_days_of_a_single_job_add_up_to_its_duration() -> None:
    """Tests that steps follow one another, part by part as the plan has them."""
    acting, route = far(), route_of(far())
    parts = acting.jobs[0].plan.duration_parts_days
    days = {s.kind: s.end_day - s.start_day for s in route.steps}
    copies = days["stage"]  # onto the nodes' own drives, after the set-up
    assert copies == pytest.approx(parts["transfer"])
    assert days["order"] == pytest.approx(parts["delivery"])
    assert days["queue"] == pytest.approx(parts["queue"]) == pytest.approx(3 / 24)
    assert days["setup"] == pytest.approx(parts["setup"])
    assert days["serve"] == pytest.approx(parts["serving"])
    running = ("training", "failures", "replacement", "checkpoints", "data_stall")
    work = math.fsum(parts[name] for name in (*running, "evaluation"))
    assert days["run"] == pytest.approx(work)
    on_the_way = math.fsum(days.get(kind, 0.0) for kind in ON_THE_WAY) + copies
    assert on_the_way == pytest.approx(acting.jobs[0].plan.duration_days)
    ends = max(step.end_day for step in route.steps)
    assert ends == pytest.approx(acting.jobs[0].plan.duration_days)


def test_data_onto_shared_storage_comes_while_nodes_are_waited_for() -> None:
    """Tests the other order: the copy starts on day 0, the nodes leave before the
    weights.
    """
    route, plan = route_of(shared()), shared().jobs[0].plan
    stage, order = one(route, "stage"), one(route, "order")
    assert stage.start_day == 0.0
    assert stage.end_day < order.end_day == 2.0
    serve, release = one(route, "serve"), one(route, "release")
    assert release.end_day == pytest.approx(serve.start_day)
    assert serve.end_day == pytest.approx(plan.duration_days)
    assert release.facts["kept_usd_per_month"] > 0


def test_prices_of_copies_are_those_of_the_bill() -> None:
    """Tests that egress and serving of the steps are the plan's parts of the cost."""
    route, parts = route_of(far()), far().jobs[0].plan.cost_parts_usd
    assert parts["egress"] > 0
    assert one(route, "stage").facts["egress_usd"] == pytest.approx(parts["egress"])
    regions = one(route, "serve").facts["regions"]
    assert [copy["region"] for copy in regions] == ["aws/us-east-1", "aws/eu-west-1"]
    total = math.fsum(copy["usd"] for copy in regions)
    assert total == pytest.approx(parts["serving"], abs=1e-9)


def test_a_chain_ends_when_its_plan_does() -> None:
    """Tests leases, moves and phases against the answer's own days and prices."""
    _, result = apart()
    route = route_of(chain())
    assert result.total is not None
    assert route.duration_days == pytest.approx(result.total.duration_days)
    assert max(s.end_day for s in route.steps) == pytest.approx(route.duration_days)
    for phase in result.phases:
        run = one(route, "run", phase.name)
        assert run.end_day == pytest.approx(phase.end_day)
        setup = 4 / 24  # both phases begin a lease
        assert run.start_day == pytest.approx(phase.start_day + setup)
    move = one(route, "move")
    first, second = result.leases
    assert move.start_day == pytest.approx(first.end_day)
    assert move.end_day - move.start_day == pytest.approx(result.moves[0].days)
    assert move.end_day + second.wait_days == pytest.approx(second.start_day)
    parts = result.total.cost_parts_usd
    egress = [s.facts["egress_usd"] for s in route.steps if s.kind == "stage"]
    assert math.fsum(egress) == pytest.approx(parts["data"])
    assert move.facts["checkpoint_usd"] == pytest.approx(parts["moves"])


def test_milestones_are_at_a_quarter_a_half_and_three_quarters() -> None:
    """Tests tokens, steps and days of the milestones, by hand without a ramp."""
    route, plan = route_of(far()), far().jobs[0].plan
    run = one(route, "run")
    found = {m.facts["share"]: m for m in route.milestones if m.kind == "progress"}
    for share, milestone in found.items():
        step = math.ceil(share * 5e9 / (64 * 2048))
        assert milestone.facts["step"] == step
        assert milestone.facts["tokens"] == step * 64 * 2048
        length = run.end_day - run.start_day
        day = run.start_day + step / plan.steps * length
        assert milestone.day == pytest.approx(day)
    assert sorted(found) == [0.25, 0.5, 0.75]
    kinds = {m.kind: m for m in route.milestones}
    assert kinds["finish"].day == pytest.approx(plan.duration_days)
    assert kinds["finish_p90"].day == pytest.approx(plan.duration_p90_days)
    assert kinds["deadline"].date == date(2026, 12, 31)
    assert kinds["deadline"].day == 30.0


def test_the_end_of_a_ramp_is_a_milestone() -> None:
    """Tests steps and time of a growing batch, against the plan's own figures."""
    ramp = {"from": 16, "step": 16, "samples": "1M"}
    acting = acting_on(job([A100], workload={"batch_ramp": ramp}))
    plan = acting.jobs[0].plan
    shown = plan.batch_ramp
    assert shown is not None
    climbed = next(m for m in route_of(acting).milestones if m.kind == "ramp_end")
    assert climbed.facts["step"] == shown["steps"]
    assert climbed.facts["tokens"] == shown["sequences"] * 2048
    done = Progress(acting.figures[0]).of_steps(shown["steps"])
    assert done.time_share == pytest.approx(shown["days"] / plan.training_days)


def test_progress_by_steps_tokens_and_time_agree() -> None:
    """Tests that the three ways to say how far a run is are inverse to each other."""
    ramp = {"from": 16, "step": 16, "samples": "1M"}
    progress = Progress(
        acting_on(job([A100], workload={"batch_ramp": ramp})).figures[0]
    )
    for steps in (0, 1, 100, progress.steps // 2, progress.steps):
        done = progress.of_steps(steps)
        assert progress.of_tokens(done.tokens).steps == steps
        assert progress.of_time(done.time_share).steps == steps
    assert progress.of_steps(progress.steps).tokens == progress.tokens
    assert progress.of_steps(progress.steps).time_share == pytest.approx(1.0)


def test_checkpoints_fill_the_run() -> None:
    """Tests that the number of checkpoints times their interval is the work."""
    run, figures = one(route_of(shared()), "run").facts, shared().figures[0]
    interval = run["checkpoint_interval_s"]
    assert interval == shared().jobs[0].plan.checkpoint_interval_s
    work = figures.training_s + figures.evaluation_s + figures.stall_s
    assert (run["checkpoints"] - 1) * interval < work <= run["checkpoints"] * interval
    steps = run["checkpoint_interval_steps"]
    assert abs(steps * figures.step_time_s - interval) <= figures.step_time_s
    hours = run["days"] * 24
    per_hour = figures.failures_per_s * 3600
    assert run["failures"] == pytest.approx(hours * per_hour, rel=0.01)


def test_the_command_to_type_has_the_predicted_figures() -> None:
    """Tests that the command names file and phase and can be split by a shell."""
    acting = chain()
    named = Acting(
        acting.scenario,
        acting.catalog,
        acting.jobs,
        acting.leases,
        acting.moves,
        "my plan.json",
    )
    told = one(route_of(named), "first_hour", "extend").facts["command"]
    words = shlex.split(told)
    assert words[:4] == ["gpuplan", "plan", "check", "my plan.json"]
    assert words[words.index("--phase") + 1] == "extend"
    step = acting.jobs[1].plan.step_time_s
    assert f"step_time={step:.4g}s" in words


def test_what_is_asked_for_depends_on_the_purchase() -> None:
    """Tests the order of owned nodes, of spares, and of unknown and known stock."""
    owned = A100 | {"name": "own"}
    del owned["usd_per_gpu_hour"]
    ids = [line.id for line in one(route_of(acting_on(job([owned]))), "order").lines]
    assert "route.order.use" in ids
    assert "route.quota" not in ids
    assert "route.stock.known" in ids
    no_stock = {k: v for k, v in H100.items() if k != "max_nodes"}
    failures = {"replacement": "1 day", "gpu_mtbf": "2000 hours", "spares": 1}
    acting = acting_on(job([no_stock], stock={"unknown_nodes": 4}, failures=failures))
    order = one(route_of(acting), "order")
    ids = [line.id for line in order.lines]
    assert {"route.spares", "route.stock.assumed", "route.quota"} <= set(ids)
    assert order.facts["nodes"] == acting.jobs[0].plan.nodes + 1


def test_an_answer_has_its_route() -> None:
    """Tests the key of the JSON contract, with and without a plan."""
    result: PlanResult = answer(job([A100]), catalog(), alternatives=0)
    assert result.plan is not None
    assert result.route is not None
    finish = [m for m in result.route["milestones"] if m["kind"] == "finish"]
    assert finish[0]["day"] == result.plan.duration_days
    none = answer(job([A100], {"deadline": "1 hour"}), catalog())
    assert none.plan is None
    assert none.route is None


def test_a_plan_whose_offer_is_gone_is_refused() -> None:
    """Tests that a plan of an offer that no longer exists asks for another solve."""
    acting, other = far(), job([H100])
    changed = Acting(other, catalog(), acting.jobs, (), ())
    alone = acting.jobs[0]
    swapped = type(alone)("", alone.plan, other, 0.0, 1.0)
    changed = Acting(other, catalog(), (swapped,), (), ())
    with pytest.raises(InputError) as told:
        route_of(changed)
    assert [issue.code for issue in told.value.issues] == ["plan-outdated"]


def test_days_are_dates_from_day_zero() -> None:
    """Tests the dates of steps by hand."""
    route = route_of(far())
    assert route.day == date(2026, 12, 1)
    assert one(route, "order").end == date(2026, 12, 3)
    run = one(route, "run")
    assert run.start == date(2026, 12, 3 + int(run.start_day - 2))
    hour = one(route, "first_hour")
    assert (hour.end_day - hour.start_day) * DAY == pytest.approx(3600)
