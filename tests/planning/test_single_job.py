"""Tests of the pipeline from a scenario to a proved plan."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solver.plan import Plan, PlanResult
from solver.planning.single_job import plan_job
from solver.scenario.scenario import Scenario
from tests.planning.jobs import A100, H100, catalog, job


def solve(scenario: Scenario) -> PlanResult:
    """The answer without runners-up."""
    return plan_job(scenario, catalog(), alternatives=0)


def planned(scenario: Scenario) -> Plan:
    """The plan, which must exist and be proved."""
    result = solve(scenario)
    assert result.status == "optimal"
    assert result.plan is not None
    return result.plan


def figures(plan: Plan) -> Plan:
    """The plan without the lines of the file that its sources name."""
    return replace(plan, provenance={}, warnings=())


def value(result: PlanResult) -> float:
    """The objective of an answer; infinite where there is none."""
    if result.plan is None:
        return float("inf")
    plan = result.plan
    return plan.duration_days if result.objective == "time" else plan.cost_usd


def test_the_bill_is_gpu_hours_times_price() -> None:
    """Tests that an offer of one's own costs its price to the cent."""
    plan = planned(job([A100]))
    assert plan.cost_usd == pytest.approx(plan.gpu_hours * 2.0, abs=0.005)
    assert plan.gpu_hours == pytest.approx(plan.gpus * plan.duration_days * 24)


def test_parts_add_up() -> None:
    """Tests that every whole of a plan is the sum of its parts."""
    plan = planned(job())
    assert sum(plan.step_time_parts_s.values()) == pytest.approx(plan.step_time_s)
    assert sum(plan.duration_parts_days.values()) == pytest.approx(plan.duration_days)
    assert sum(plan.cost_parts_usd.values()) == pytest.approx(plan.cost_usd)
    memory = plan.memory_gib
    parts = ("weights", "gradients", "optimizer", "activations", "other")
    assert sum(memory[p] for p in parts) == pytest.approx(memory["total"])
    assert plan.training_days == pytest.approx(plan.steps * plan.step_time_s / 86_400)


def test_decisions_multiply() -> None:
    """Tests that ranks, batch and layers are conserved."""
    plan = planned(job())
    layout = plan.layout
    assert layout.tp * layout.pp * layout.cp * layout.dp == plan.gpus
    assert plan.gpus == plan.nodes * plan.gpus_per_node
    batch = layout.dp * layout.micro_batch * layout.accumulation
    assert batch == layout.global_batch_size == 64
    assert sum(layout.layers_per_stage) == 12


def test_time_and_cost_pull_apart() -> None:
    """Tests that the fastest plan is not slower, nor cheaper, than the cheapest."""
    cheap, fast = planned(job()), planned(job(objective="time"))
    assert fast.duration_days < cheap.duration_days
    assert fast.cost_usd > cheap.cost_usd


def test_a_weighted_objective_lies_between() -> None:
    """Tests that a dear day buys the fastest plan and a cheap one the cheapest."""
    cheap, fast = planned(job()), planned(job(objective="time"))
    rich = planned(job(objective={"cost": 1, "usd_per_day": 10_000_000}))
    poor = planned(job(objective={"cost": 1, "usd_per_day": 0.001}))
    assert rich.duration_days == pytest.approx(fast.duration_days)
    assert poor.cost_usd == pytest.approx(cheap.cost_usd)


def test_the_deadline_decides_the_size() -> None:
    """Tests that a tighter deadline is kept, at a price."""
    free = planned(job())
    tight = planned(
        job(constraints={"deadline": f"{free.duration_days * 24 - 1} hours"})
    )
    assert tight.duration_days <= free.duration_days - 1 / 24
    assert tight.cost_usd >= free.cost_usd


def test_countries_are_kept() -> None:
    """Tests that only the allowed country is used."""
    assert planned(job(constraints={"countries": ["JP"]})).country == "JP"
    assert planned(job(constraints={"countries": ["SG"]})).country == "SG"


def test_confidence_asks_for_more() -> None:
    """Tests that a plan for the 90th percentile finishes sooner in expectation."""
    free = planned(job())
    hours = f"{free.duration_days * 24 + 0.01} hours"
    sure = planned(job(constraints={"deadline": hours, "confidence": 0.9}))
    assert sure.duration_days < free.duration_days
    assert sure.duration_p90_days is not None
    assert sure.duration_p90_days * 24 <= free.duration_days * 24 + 0.011


def test_owned_nodes_cost_nothing() -> None:
    """Tests that an offer without a price is used and free."""
    own = {k: v for k, v in A100.items() if k != "usd_per_gpu_hour"}
    plan = planned(job([own, H100]))
    assert plan.cost_usd == 0
    assert plan.purchase == "owned"


def test_months_are_paid_whole() -> None:
    """Tests that a monthly server is paid by the month."""
    monthly = {k: v for k, v in A100.items() if k != "usd_per_gpu_hour"}
    plan = planned(job([{**monthly, "usd_per_node_month": 7300}]))
    assert plan.cost_usd == pytest.approx(7300 * plan.nodes, rel=0.01)


def test_discounts_apply() -> None:
    """Tests that a negotiated discount is in the price."""
    plain = planned(job([A100]))
    cheaper = planned(job([A100], prices=[{"provider": "a", "discount": "25%"}]))
    assert cheaper.cost_usd == pytest.approx(0.75 * plain.cost_usd)


def test_the_same_input_gives_the_same_plan() -> None:
    """Tests that nothing depends on chance or on the order of offers."""
    first = planned(job([A100, H100]))
    again = planned(job([A100, H100]))
    turned = planned(job([H100, A100]))
    assert first == again
    assert figures(first) == figures(turned)


def test_no_physical_bound_is_passed() -> None:
    """Tests that the plan's FLOP/s, memory and pace are possible."""
    for objective in ("cost", "time"):
        plan = planned(job(objective=objective))
        assert 0 < plan.mfu < 1
        assert plan.memory_gib["total"] <= 0.9 * plan.memory_gib["capacity"]
        assert min(plan.memory_gib.values()) >= 0
        assert min(plan.step_time_parts_s.values()) >= 0
        assert plan.duration_days >= plan.training_days


def test_the_model_is_exported(tmp_path: Path) -> None:
    """Tests that the exported model names the decisions and says what to ask of it."""
    file = tmp_path / "model.txt"
    plan_job(job(constraints={"deadline": "9 days"}), catalog(), export_model=file)
    text = file.read_text()
    for name in ("gpus", "tp", "duration", "cost", "gpu_type", "region"):
        assert f'name: "{name}"' in text
    assert "tighter" in text
    assert "deadline" in text


OFFERS = st.lists(
    st.fixed_dictionaries(
        {
            "gpu": st.sampled_from(["a100-sxm-80gb", "h100-sxm-80gb", "l40s"]),
            "gpus_per_node": st.sampled_from([2, 4, 8]),
            "max_nodes": st.integers(1, 4),
            "usd_per_gpu_hour": st.floats(0.5, 9).map(lambda p: round(p, 2)),
            "region": st.sampled_from(["sg", "jp", "us"]),
        }
    ),
    min_size=1,
    max_size=3,
)
FABRIC = {"gbps_per_node": 800, "kind": "roce"}


def named(offers: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Offers with names and a fabric."""
    return [{"name": f"o{i}", "network": FABRIC, **o} for i, o in enumerate(offers)]


@settings(max_examples=12)
@given(offers=OFFERS, days=st.floats(0.3, 6), more=st.floats(0.1, 6))
def test_a_later_deadline_is_never_worse(
    offers: list[dict[str, Any]], days: float, more: float
) -> None:
    """Tests that the cheapest plan does not get dearer with more time."""
    tight = solve(job(named(offers), {"deadline": f"{days:.3f} days"}))
    loose = solve(job(named(offers), {"deadline": f"{days + more:.3f} days"}))
    assert value(loose) <= value(tight)


@settings(max_examples=12)
@given(offers=OFFERS, budget=st.floats(50, 3000), more=st.floats(10, 3000))
def test_a_larger_budget_is_never_worse(
    offers: list[dict[str, Any]], budget: float, more: float
) -> None:
    """Tests that the fastest plan does not get slower with more money."""
    tight = solve(job(named(offers), {"budget": round(budget)}, objective="time"))
    loose = solve(
        job(named(offers), {"budget": round(budget + more)}, objective="time")
    )
    assert value(loose) <= value(tight)


@settings(max_examples=12)
@given(offers=OFFERS, extra=OFFERS, objective=st.sampled_from(["cost", "time"]))
def test_another_offer_is_never_worse(
    offers: list[dict[str, Any]], extra: list[dict[str, Any]], objective: str
) -> None:
    """Tests that more choice does not worsen the objective."""
    few = solve(job(named(offers), objective=objective))
    many = solve(job(named(offers + extra), objective=objective))
    assert value(many) <= value(few)


@settings(max_examples=12)
@given(offers=OFFERS, objective=st.sampled_from(["cost", "time"]))
def test_more_stock_is_never_worse(
    offers: list[dict[str, Any]], objective: str
) -> None:
    """Tests that doubling the stock does not worsen the objective."""
    more = [{**o, "max_nodes": 2 * o["max_nodes"]} for o in offers]
    few = solve(job(named(offers), objective=objective))
    many = solve(job(named(more), objective=objective))
    assert value(many) <= value(few)


def test_catalog_order_does_not_matter() -> None:
    """Tests that shuffling three offers gives the same answer."""
    offers = [A100, H100, {**H100, "name": "x", "region": "us"}]
    rng = np.random.default_rng(0)
    wanted = planned(job(offers))
    for _ in range(3):
        shuffled = [offers[i] for i in rng.permutation(3)]
        assert figures(planned(job(shuffled))) == figures(wanted)


def test_no_time_means_no_answer() -> None:
    """Tests that a limit that comes before any candidate proves nothing."""
    result = solve(job(limits={"time": "0.000001 s"}))
    assert result.status == "unknown"
    assert result.plan is None
    assert result.explanation is None


def test_an_interrupted_search_keeps_its_plan_and_says_how_far_it_is() -> None:
    """Tests that Ctrl-C after one kind of hardware leaves a plan with a bound."""

    def interrupt(_label: str, _share: float) -> None:
        raise KeyboardInterrupt

    dear = {**H100, "name": "x", "usd_per_gpu_hour": 4.6, "gpus_per_node": 4}
    result = plan_job(job([A100, H100, dear]), catalog(), progress=interrupt)
    assert result.status == "feasible"
    assert result.plan is not None
    assert result.proof.bound is not None
    assert result.proof.gap is not None
    assert result.proof.bound <= planned(job([A100, H100, dear])).cost_usd
    assert 0 < result.proof.gap < 1


def test_the_bound_is_the_optimum_in_its_own_unit() -> None:
    """Tests that a proved plan's bound is its cost, or its days."""
    for objective, figure in (("cost", "cost_usd"), ("time", "duration_days")):
        result = solve(job(objective=objective))
        assert result.proof.bound == pytest.approx(
            getattr(result.plan, figure), rel=3e-5
        )
        assert result.proof.gap == 0


def test_a_plan_round_trips_through_json() -> None:
    """Tests that a plan read back from its JSON is the same plan."""
    plan = planned(job())
    assert Plan.from_dict(json.loads(json.dumps(plan.as_dict()))) == plan


@pytest.mark.parametrize("price", [7777, 9000, 12000, 12345.67])
def test_a_limit_equal_to_the_plans_own_figure_is_kept(price: float) -> None:
    """Tests budgets and deadlines that a plan meets to the last digit."""
    monthly = {k: v for k, v in A100.items() if k != "usd_per_gpu_hour"}
    offers = [{**monthly, "usd_per_node_month": price, "max_nodes": 1}]
    free = planned(job(offers))
    for limit in (
        {"budget": free.cost_usd},
        {"deadline": f"{free.duration_days!r} days"},
    ):
        held = planned(job(offers, limit))
        # The price is stated in another line of a file that has a limit.
        assert dataclasses.replace(held, provenance=free.provenance) == free


def test_limits_at_a_confidence_are_told() -> None:
    """Tests that what deadline and budget are held against is in the plan."""
    sure = planned(job(constraints={"confidence": 0.9}))
    assert sure.duration_at_confidence_days == sure.duration_p90_days
    assert sure.cost_at_confidence_usd is not None
    assert sure.cost_at_confidence_usd > sure.cost_usd
    limits = {
        "confidence": 0.9,
        "budget": sure.cost_at_confidence_usd,
        "deadline": f"{sure.duration_at_confidence_days!r} days",
    }
    assert planned(job(constraints=limits)).cost_usd == sure.cost_usd
    even = planned(job())
    assert even.duration_at_confidence_days == even.duration_days
    assert even.cost_at_confidence_usd == even.cost_usd
