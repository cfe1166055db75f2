"""Tests that a 'no' names what stands in the way, and what opens it."""

from __future__ import annotations

from typing import Any

import pytest

from solver.messages import sentence
from solver.plan import Explanation
from solver.planning.clock import Clock
from solver.planning.infeasibility import _constraints
from solver.planning.single_job import plan_job
from solver.setting import setting_of
from tests.planning.jobs import A100, H100, catalog, job


def refused(**keys: Any) -> Explanation:
    """The explanation of a scenario that has no plan."""
    result = plan_job(job(**keys), catalog())
    assert result.status == "infeasible"
    assert result.plan is None
    assert result.explanation is not None
    return result.explanation


def relaxation(explanation: Explanation, rule: str) -> dict[str, Any]:
    """What the explanation says of one rule."""
    return next(r for r in explanation.relaxations if r["constraint"] == rule)


def feasible(**keys: Any) -> bool:
    """Whether there is a plan."""
    return plan_job(job(**keys), catalog(), alternatives=0).plan is not None


def test_a_deadline_too_soon_names_the_soonest() -> None:
    """Tests that the soonest finish opens a plan, and a tenth of a day less doesn't."""
    explanation = refused(constraints={"deadline": "4.1 hours"})
    assert explanation.kind == "constraints"
    assert "deadline" in explanation.conflict
    assert "With all else as it is, the soonest is" in explanation.summary
    told = relaxation(explanation, "deadline")
    needed = told["needed_value"]
    assert told["opens"]["duration_days"] <= needed
    assert feasible(constraints={"deadline": f"{needed} days"})
    assert not feasible(constraints={"deadline": f"{needed - 0.1:.1f} days"})


@pytest.mark.parametrize(
    "objective", ["carbon", {"cost": 1, "usd_per_tonne_co2": 50}], ids=str
)
def test_no_limit_is_blamed_where_carbon_is_not_known(objective: Any) -> None:
    """Tests an aim that leaves the offers out: no looser limit brings them back."""
    far = {**A100, "region": "moon base", "usd_per_gpu_hour": 0.0}
    limits = {
        "deadline": "3 days",
        "budget": 900,
        "max_energy": "20 MWh",
        "min_tokens_per_s": 1000,
    }
    keys = {"offers": [far], "constraints": limits, "objective": objective}
    explanation = refused(**keys)
    assert explanation.conflict == ("carbon",)
    (only,) = explanation.relaxations
    assert (only["constraint"], only["set"]) == ("carbon", "objective=cost")
    assert feasible(**keys, overrides=(only["set"],))


def test_what_is_free_needs_no_budget() -> None:
    """Tests that a budget of nothing is told as 0, not as a negative number."""
    free = {**A100, "usd_per_gpu_hour": 0.0}
    explanation = refused(
        offers=[{**free, "region": "eu"}, H100],
        constraints={"budget": 0, "regions": ["jp"]},
    )
    for relaxed in explanation.relaxations:
        assert "-0" not in str(relaxed)


def test_a_budget_too_small_names_the_cheapest() -> None:
    """Tests that the least budget opens a plan, and a dollar less doesn't."""
    explanation = refused(constraints={"budget": 10})
    needed = relaxation(explanation, "budget")["needed_value"]
    assert feasible(constraints={"budget": needed})
    assert not feasible(constraints={"budget": needed - 1})


def test_a_pace_too_high_names_what_is_reached() -> None:
    """Tests that the throughput named can be asked for."""
    explanation = refused(constraints={"min_tokens_per_s": "900M"})
    needed = relaxation(explanation, "throughput")["needed_value"]
    assert feasible(constraints={"min_tokens_per_s": needed})


def test_a_country_without_offers_names_one_that_has() -> None:
    """Tests that an empty catalog is told apart, with the country that opens it."""
    explanation = refused(constraints={"countries": ["KR"]})
    assert explanation.kind == "catalog"
    assert relaxation(explanation, "countries")["needed"] in ("SG", "JP")
    assert explanation.counts == {"countries": 2}


def test_a_gpu_excluded_is_named() -> None:
    """Tests that a GPU type is asked for where none is left."""
    explanation = refused(constraints={"gpus": {"types": ["h200-sxm-141gb"]}})
    assert explanation.conflict == ("gpu_types",)


def test_a_layout_that_cannot_be_names_the_reason() -> None:
    """Tests that a TP which does not divide the heads is said to."""
    explanation = refused(constraints={"parallelism": {"tp": 3}})
    assert explanation.kind == "layout"
    assert explanation.nearest_miss is not None
    assert explanation.nearest_miss["faults"][0]["axis"] == "tp"
    assert relaxation(explanation, "parallelism")


def test_memory_names_the_nearest_miss_and_levers() -> None:
    """Tests that 70B in full on one node is refused by memory, in GiB and by part."""
    result = plan_job(
        job(
            [{**A100, "max_nodes": 1}],
            workload={"start": "checkpoint", "optimizer": "adamw"},
            model="llama-2-70b",
        ),
        catalog(),
    )
    explanation = result.explanation
    assert explanation is not None
    assert explanation.kind == "memory"
    miss = explanation.nearest_miss
    assert miss is not None
    assert miss["ratio"] > 1
    assert miss["memory_gib"]["total"] == pytest.approx(miss["need_gib"], abs=0.01)
    levers = {r["constraint"]: r for r in explanation.relaxations}
    qlora = [r for r in explanation.relaxations if r["needed"] == "qlora"]
    assert qlora
    assert qlora[0]["fits"]
    assert "stock" in levers


def test_two_limits_in_conflict_are_both_named() -> None:
    """Tests that each of two clashing limits is named with what it alone needs."""
    free = plan_job(job(), catalog()).plan
    fast = plan_job(job(objective="time"), catalog()).plan
    assert free is not None
    assert fast is not None
    middle = (free.duration_days + fast.duration_days) / 2 * 24
    explanation = refused(
        constraints={"deadline": f"{middle:.1f} hours", "budget": free.cost_usd + 1}
    )
    assert {"deadline", "budget"} <= set(explanation.conflict)


def test_limits_that_only_open_together_tell_what_is_reachable() -> None:
    """Tests that with deadline and budget both hopeless the reachable is told."""
    explanation = refused(constraints={"deadline": "4.1 hours", "budget": 10})
    assert explanation.relaxations == ()
    assert set(explanation.conflict) <= {"deadline", "budget"}
    miss = explanation.nearest_miss
    assert miss is not None
    assert feasible(
        constraints={
            "deadline": f"{miss['soonest_days']} days",
            "budget": miss["soonest_usd"],
        }
    )
    assert feasible(
        constraints={
            "deadline": f"{miss['cheapest_days']} days",
            "budget": miss["cheapest_usd"],
        }
    )
    assert not feasible(constraints={"budget": miss["cheapest_usd"] - 1})


@pytest.mark.parametrize("axis", ["micro_batch", "virtual_stages", "cp", "dp"])
def test_a_pin_beyond_everything_is_a_layout_that_cannot_be(axis: str) -> None:
    """Tests that a pin which leaves no layout at all is told as one."""
    explanation = refused(constraints={"parallelism": {axis: 999_983}})
    assert explanation.kind == "layout"
    assert "parallelism" in explanation.conflict


def test_storage_too_slow_is_refused() -> None:
    """Tests that a floor on reading rates is a constraint like any other."""
    explanation = refused(
        offers=[H100], constraints={"storage": {"min_read": "900 TB/s"}}
    )
    assert explanation.conflict


def test_without_time_no_reason_is_guessed() -> None:
    """Tests that an explanation cut short says so and claims nothing."""
    setting = setting_of(job(constraints={"budget": 10}), catalog())
    told = _constraints(setting, Clock(0.0))
    assert sentence("why.no-time") in told.summary
    assert sentence("why.sets") not in told.summary
    assert told.relaxations == ()


def test_spares_nearest_to_the_allowed_ones_are_named() -> None:
    """Tests that of all numbers that would do the least change is told."""
    keys: dict[str, Any] = {
        "offers": [{**A100, "max_nodes": 20}],
        "constraints": {"deadline": "2 days", "gpus": {"min": 32}, "budget": 4700},
        "workload": {"tokens": "200B"},
    }
    slow = {"gpu_mtbf": 200, "replacement": "1 day"}
    explanation = refused(failures={**slow, "spares": [0, 12]}, **keys)
    assert relaxation(explanation, "spares")["set"] == "failures.spares=3"
    assert relaxation(explanation, "spares")["now"] == "0, 12"
    few = refused(failures={**slow, "spares": {"max": 2}}, **keys)
    assert relaxation(few, "spares")["now"] == "0 to 2"
    assert relaxation(few, "spares")["needed"] == "3 spare nodes"


def test_nodes_that_are_larger_than_what_is_asked() -> None:
    """Tests that a single GPU of nodes of eight is told as what it is."""
    result = plan_job(job([A100], {"gpus": {"max": 1}}), catalog())
    assert result.explanation is not None
    assert "nodes of 8 GPUs do not add up" in result.explanation.summary
    assert result.explanation.relaxations
