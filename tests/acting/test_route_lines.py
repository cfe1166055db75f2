"""Tests of what the steps of a route tell: figures by hand, and lines by case."""

import math
from dataclasses import replace
from typing import Any

import pytest

from solver.acting.basis import Acting, acting_on_result
from solver.acting.route import route_of
from solver.acting.route_lines import (
    all_reduce_gb_per_s,
    check_command,
    first_hour_lines,
    move_lines,
    order_lines,
    release_lines,
    run_lines,
    serve_lines,
    setup_lines,
    stage_lines,
)
from solver.plan import Message
from solver.planning.answering import answer
from tests.acting.test_route import SHARED, acting_on, chain, far, shared
from tests.planning.jobs import A100, H100, catalog, job


def ids(lines: tuple[Message, ...]) -> set[str]:
    """The ids of some lines."""
    return {line.id for line in lines}


def plain(**keys: Any) -> Acting:
    """A job on one offer whose data lies nowhere in particular."""
    return acting_on(job([A100], **keys))


def test_the_quota_counts_all_that_is_rented() -> None:
    """Tests nodes, GPUs and vCPUs of training, rollout and spare nodes by hand."""
    plan = shared().jobs[0].plan
    host = plan.host | {"vcpus": 96.0}
    more = replace(
        plan, spare_nodes=2, host=host, layout=replace(plan.layout, rollout_nodes=1)
    )
    facts, lines = order_lines(more)
    nodes = plan.nodes + 3
    assert facts["nodes"] == nodes
    assert facts["gpus"] == nodes * 8
    assert facts["vcpus"] == nodes * 96
    quota = next(line for line in lines if line.id == "route.quota")
    assert quota.values["nodes"] == nodes
    unknown, _ = order_lines(replace(more, host=plan.host | {"vcpus": None}))
    assert unknown["vcpus"] is None


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"purchase": "spot"}, "route.ask.spot"),
        ({"purchase": "reserved"}, "route.ask.reserved"),
        ({"purchase": "monthly"}, "route.ask.monthly"),
        ({"purchase": "bought"}, "route.order.buy"),
        ({"purchase": "owned"}, "route.ask.owned"),
        ({"lead_time_days": 9}, "route.lead-time"),
        ({"min_term_hours": 720.0}, "route.term"),
        ({"quota_nodes": 5}, "route.quota-stated"),
        ({"stock_known": False}, "route.stock.assumed"),
        ({"stock_known": True}, "route.stock.known"),
        ({"spare_nodes": 1}, "route.spares"),
        ({"network": "infiniband-hdr-200", "nodes": 2}, "route.ask.fabric"),
    ],
)
def test_what_the_order_says(changes: dict[str, Any], expected: str) -> None:
    """Tests that each term of an offer has its line, and none without it."""
    plan = replace(shared().jobs[0].plan, lead_time_days=0)
    _, lines = order_lines(replace(plan, **changes))
    assert expected in ids(lines)
    assert all(line.text.endswith(".") for line in lines)


def test_each_part_of_a_mix_is_ordered() -> None:
    """Tests base and rest of a mix, and that both purchases are asked about."""
    part = {"nodes": 2, "offer": "base", "purchase": "reserved"}
    rest = {"nodes": 1, "offer": "rest", "purchase": "on_demand"}
    plan = replace(shared().jobs[0].plan, mix=(part, rest), purchase="reserved")
    _, lines = order_lines(plan)
    told = [line.values for line in lines if line.id == "route.mix"]
    assert told == [part, rest]
    assert {"route.ask.reserved", "route.ask.on_demand"} <= ids(lines)


def test_where_the_data_comes_from() -> None:
    """Tests data that is moved, that is there, and whose place is not stated."""
    moved, lines = stage_lines(far().figures[0], 90.0)
    assert moved["bytes"] == 2e12
    assert moved["seconds"] == pytest.approx(2e12 / (10e9 / 8))
    assert moved["egress_usd"] == 90.0
    assert {"route.stage.moved", "route.stage.local", "route.stage.rate"} <= ids(lines)
    nowhere, lines = stage_lines(plain().figures[0], 0.0)
    assert nowhere["origin"] is None
    assert nowhere["seconds"] == 0.0
    assert {"route.stage.unstated", "route.stage.assumed"} <= ids(lines)
    home = H100 | {"provider": "aws", "region": "us-east-1"}
    there = acting_on(job([home], data={"location": "aws/us-east-1"}))
    facts, lines = stage_lines(there.figures[0], 0.0)
    assert facts["origin"] == facts["destination"] == "aws/us-east-1"
    assert "route.stage.there" in ids(lines)


def test_residency_is_told() -> None:
    """Tests that every copy is to be checked where the data may not leave."""
    acting = plain(data={"residency": ["SG"]})
    facts, lines = stage_lines(acting.figures[0], 0.0)
    assert facts["residency"] == ["SG"]
    assert "route.stage.residency" in ids(lines)


def test_all_reduce_is_counted_on_within_the_line_rate() -> None:
    """Tests the bus bandwidth of one and of several nodes, and of a single GPU."""
    eight = {"gpus": {"min": 8, "max": 8}}
    inside = acting_on(job([A100], eight)).figures[0]
    rate = all_reduce_gb_per_s(inside)
    assert rate == pytest.approx(
        float(inside.evidence.hardware.intra_bytes_per_s) / 1e9
    )
    across = acting_on(job([A100], {"gpus": {"min": 32, "max": 32}})).figures[0]
    many = all_reduce_gb_per_s(across)
    nics = float(across.evidence.hardware.inter_bytes_per_s) * 8 / 1e9
    assert rate is not None
    assert many == pytest.approx(min(rate, nics))
    single = H100 | {"gpus_per_node": 1, "network": None}
    alone = acting_on(job([single], {"gpus": {"max": 1}})).figures[0]
    assert all_reduce_gb_per_s(alone) is None
    assert "route.setup.nccl" not in ids(setup_lines(alone)[1])


def test_set_up_tells_what_hosts_need() -> None:
    """Tests memory that is known and unknown, drives and cores."""
    known = acting_on(job([A100 | {"ram_gb": 1024}])).figures[0]
    facts, lines = setup_lines(known)
    assert facts["ram_gb"] == 1024
    assert facts["ram_needed_gb"] == known.evidence.plan.host["ram_needed_gb"]
    assert "route.setup.ram" in ids(lines)
    plan = known.evidence.plan
    told = replace(
        plan,
        host=plan.host | {"ram_gb": None, "nvme_needed_gb": 500.0},
        input=plan.input | {"loader_cores_needed": 12.5},
    )
    changed = type(known)(replace(known.evidence, plan=told))
    _, lines = setup_lines(changed)
    wanted = {"route.setup.ram-unknown", "route.setup.drives", "route.setup.cores"}
    assert wanted <= ids(lines)


def test_the_first_hour_repeats_the_prediction() -> None:
    """Tests step, interval, rate, memory and its limit with the headroom kept."""
    acting = plain()
    plan = acting.jobs[0].plan
    facts, lines = first_hour_lines(acting.figures[0], "", "")
    assert facts["step_time_s"] == plan.step_time_s
    assert facts["step_time_p10_s"] < plan.step_time_s < facts["step_time_p90_s"]
    limit = plan.memory_gib["capacity"] * 0.9
    assert facts["memory_limit_gib"] == pytest.approx(limit)
    assert facts["checkpoint_s"] == pytest.approx(plan.input["checkpoint_s"])
    rate = next(line for line in lines if line.id == "route.measure.tokens")
    assert set(rate.values) == {"rate", "low", "high"}
    assert "PLAN.json" in facts["command"]


def test_the_command_stays_within_the_run() -> None:
    """Tests that no more steps are said to be done than there are, and quoting."""
    plan = replace(plain().jobs[0].plan, steps=7)
    assert check_command(plan, "", "").endswith("--done-steps 7")
    slow = replace(plan, step_time_s=7200.0, steps=100)
    assert check_command(slow, "", "").endswith("--done-steps 1")
    assert "'a b.json'" in check_command(plan, "a b.json", "")
    assert "--phase 'extend to 32k'" in check_command(plan, "", "extend to 32k")


def test_a_run_without_a_place_to_save_is_told() -> None:
    """Tests checkpoints on drives that go with their node, spares and evaluation."""
    facts, lines = run_lines(far().figures[0], alone=True)
    assert facts["checkpoint_interval_s"] is None
    assert facts["checkpoints"] == 1
    assert {"route.run.checkpoint-end", "route.run.no-spares"} <= ids(lines)
    assert "route.run.evaluation" in ids(lines)
    kept, lines = run_lines(shared().figures[0], alone=False)
    assert kept["checkpoint_interval_s"] == 1800.0
    assert kept["goodput"] is None
    assert "route.run.goodput" not in ids(lines)
    assert "route.run.checkpoints" in ids(lines)
    assert "route.run.no-evaluation" in ids(
        run_lines(plain().figures[0], alone=True)[1]
    )


def test_weights_are_two_bytes_a_parameter() -> None:
    """Tests bytes and seconds of each copy, and serving where the nodes are."""
    acting = far()
    facts, _ = serve_lines(acting.figures[0])
    parameters = facts["bytes"] / 2
    assert parameters == pytest.approx(0.22e9, rel=0.2)
    for copy in facts["regions"]:
        assert copy["bytes"] == facts["bytes"]
        assert copy["seconds"] == pytest.approx(facts["bytes"] / (10e9 / 8))
    home = H100 | {"provider": "aws", "region": "us-east-1"}
    here = acting_on(job([home], serving={"regions": ["aws/us-east-1"]}))
    facts, lines = serve_lines(here.figures[0])
    assert facts["regions"] == []
    assert "route.serve.here" in ids(lines)
    assert "route.serve.none" in ids(serve_lines(plain().figures[0])[1])


def test_a_move_says_whether_its_price_is_known() -> None:
    """Tests both sentences of a checkpoint that changes region."""
    move = chain().moves[0]
    facts, lines = move_lines(replace(move, price_known=True))
    assert facts["bytes"] == move.checkpoint_gb * 1e9
    assert ids(lines) == {"route.move"}
    assert ids(move_lines(replace(move, price_known=False))[1]) == {
        "route.move.unpriced"
    }


def test_what_stays_in_storage_costs_by_the_month() -> None:
    """Tests the rent of data and checkpoints by hand: $0.10 a GB and month."""
    figures, plan = shared().figures[0], shared().jobs[0].plan
    facts, lines = release_lines(figures, plan)
    size_gb = 2000.0 + 2 * plan.checkpoint_gb
    rent = float(SHARED["usd_per_gb_month"])
    assert facts["kept_usd_per_month"] == pytest.approx(size_gb * rent)
    assert facts["checkpoint_usd_per_month"] == pytest.approx(plan.checkpoint_gb * rent)
    assert {"route.release.give-back", "route.release.kept"} <= ids(lines)
    local, lines = release_lines(far().figures[0], far().jobs[0].plan)
    assert local["kept_usd_per_month"] == 0.0
    assert "route.release.local" in ids(lines)


def test_the_rest_of_a_term_is_told() -> None:
    """Tests hours and dollars of a term that outlasts the run."""
    acting = acting_on(job([A100 | {"min_term": "30 days"}]))
    plan, figures = acting.jobs[0].plan, acting.figures[0]
    facts, lines = release_lines(figures, plan)
    used = plan.duration_days * 24
    assert facts["term_hours_left"] == pytest.approx(720 - used)
    assert facts["unused_term_usd"] == plan.unused_term_usd > 0
    assert "route.release.unused" in ids(lines)
    rate = plan.usd_per_gpu_hour * 8 * plan.rented_nodes
    assert facts["unused_term_usd"] == pytest.approx((720 - used) * rate, rel=0.05)


def test_failures_are_counted_by_the_mean_time_between_them() -> None:
    """Tests the expected failures by hand: GPU-hours over the mean time."""
    acting = plain(failures={"gpu_mtbf": "500 hours"})
    plan = acting.jobs[0].plan
    facts, _ = run_lines(acting.figures[0], alone=True)
    hours = facts["days"] * 24
    assert facts["failures"] == pytest.approx(plan.gpus * hours / 500)
    assert math.isclose(facts["days"], acting.figures[0].active_s / 86_400)


def test_every_shipped_kind_of_job_has_a_route() -> None:
    """Tests that the lines have all their values for DPO, adapters and a purchase."""
    bought = {"buy_usd_per_node": 290_000, "years": 4, "resale": "15%"}
    offer = {k: v for k, v in H100.items() if k != "usd_per_gpu_hour"} | bought
    scenarios = [
        job([A100], workload={"method": "lora"}),
        job([A100], workload={"method": "dpo", "tokens": None, "samples": "50k"}),
        job([offer], {"purchase": ["bought"]}),
    ]
    for scenario in scenarios:
        result = answer(scenario, catalog(), alternatives=0)
        acting = acting_on_result(result, scenario, catalog())
        assert acting is not None, scenario.workload.method
        for step in route_of(acting).steps:
            assert all(line.text and "{" not in line.text for line in step.lines)
