"""Tests that each rule of divisibility is named when a layout breaks it."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from solver.plan import Plan
from solver.planning.single_job import plan_job
from solver.scenario.scenario import Scenario
from solver.setting import setting_of
from solver.verify.evidence import Evidence, gather
from solver.verify.layout_checks import check_divisibility
from tests.planning.jobs import A100, TOY, catalog, job

MOE = {**TOY, "n_experts": 8, "experts_topk": 2, "moe_ffn": 2048}
FOUR = {**A100, "max_nodes": 4}

DENSE_PINS = {"tp": 2, "pp": 2, "cp": 1, "micro_batch": 1, "zero_stage": 1}
"""On two nodes: DP 4, accumulation 16."""


@cache
def planned(kind: str, framework: str = "megatron") -> tuple[Plan, Scenario]:
    """A plan on two nodes of 8 with pinned degrees, and its scenario."""
    pins: dict[str, Any] = dict(DENSE_PINS)
    if framework == "pytorch-fsdp":
        pins = {"tp": 1, "pp": 1, "cp": 1, "micro_batch": 1, "zero_stage": 3}
    if kind == "moe":
        pins |= {"ep": 4}
    scenario = job(
        [FOUR],
        {"gpus": {"min": 16, "max": 16}, "parallelism": pins},
        {"framework": framework},
        model=MOE if kind == "moe" else TOY,
    )
    plan = plan_job(scenario, catalog(), alternatives=0).plan
    assert plan is not None
    return plan, scenario


def messages(
    changes: dict[str, Any],
    kind: str = "dense",
    framework: str = "megatron",
    **plan_changes: Any,
) -> set[str]:
    """What the check says of a plan whose layout was changed."""
    plan, scenario = planned(kind, framework)
    changed = replace(plan, layout=replace(plan.layout, **changes), **plan_changes)
    supply = setting_of(scenario, catalog()).catalog
    evidence = gather(changed, scenario, supply)
    assert isinstance(evidence, Evidence)
    return {v.message for v in check_divisibility(evidence)}


@pytest.mark.parametrize(
    ("kind", "framework"),
    [("dense", "megatron"), ("moe", "megatron"), ("dense", "pytorch-fsdp")],
)
def test_a_plan_of_the_planner_breaks_none(kind: str, framework: str) -> None:
    """Tests that what the planner makes is clean."""
    assert messages({}, kind, framework) == set()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tp": 0}, "tp is no degree"),
        ({"dp": -4}, "dp is no degree"),
        ({"micro_batch": 1.0}, "micro_batch is no degree"),
        ({"accumulation": True}, "accumulation is no degree"),
        ({"dp": 8}, "GPUs, ranks and nodes are not the same number"),
        ({"cp": 2}, "GPUs, ranks and nodes are not the same number"),
        ({"accumulation": 8}, "the batch is not conserved"),
        ({"accumulation": 8}, "the batch is not the one asked for"),
        ({"global_batch_size": 65}, "the batch is not conserved"),
        ({"layers_per_stage": (6, 5)}, "layers are not conserved"),
        ({"layers_per_stage": (12,)}, "layers are not conserved"),
        ({"layers_per_stage": (12, 0)}, "layers are not conserved"),
        ({"layers_per_stage": (7, 5)}, "layers are not divided evenly"),
        ({"layers_per_stage": (5, 7)}, "layers are not divided evenly"),
        ({"virtual_stages": 5}, "layers do not divide over virtual stages"),
        ({"tp": 3}, "TP over heads does not divide"),
        ({"tp": 3}, "TP over the MLP does not divide"),
        ({"tp": 3}, "TP over KV heads"),
        ({"tp": 16}, "TP in the NVLink domain does not divide"),
        ({"cp": 3}, "2 x CP over the sequence does not divide"),
        ({"ep": 2}, "a dense model has no expert parallelism"),
        ({"etp": 1}, "a dense model has no expert parallelism"),
        ({"zero_stage": 3}, "megatron does not run this ZeRO stage"),
        ({"zero_stage": 2.0}, "megatron does not run this ZeRO stage"),
        ({"zero_stage": 0}, "ZeRO-0 shards nothing"),
        ({"shard_degree": 2}, "the shard group is neither all nor a node"),
        ({"shard_degree": 3}, "the shard group does not divide"),
        ({"sequence_parallel": False}, "sequence parallelism goes with TP"),
        ({"offload": "optimizer to host"}, "nobody asked to offload this"),
    ],
)
def test_a_broken_layout_is_named(changes: dict[str, Any], message: str) -> None:
    """Tests one change of TP 2 x PP 2 x DP 4 with accumulation 16 at a time."""
    assert message in messages(changes)


def test_an_odd_accumulation_breaks_virtual_stages() -> None:
    """Tests that the interleaved schedule needs whole rounds of the pipeline."""
    found = messages({"virtual_stages": 3, "accumulation": 15})
    assert "PP, under virtual stages, does not divide" in found
    assert "PP, under virtual stages, does not divide" not in messages(
        {"virtual_stages": 3}
    )


def test_virtual_stages_need_a_pipeline() -> None:
    """Tests that one stage cannot be interleaved."""
    found = messages({"pp": 1, "dp": 8, "virtual_stages": 2, "layers_per_stage": (12,)})
    assert "virtual stages need a pipeline" in found


def test_ends_may_hold_a_layer_less() -> None:
    """Tests that embedding and head may count as layers: 2, 3, 3, 2 of 10."""
    from solver.verify import layout_checks

    plan, scenario = planned("dense")
    supply = setting_of(scenario, catalog()).catalog

    def split(layers: tuple[int, ...]) -> set[str]:
        layout = replace(
            plan.layout, pp=len(layers), layers_per_stage=layers, virtual_stages=1
        )
        evidence = gather(replace(plan, layout=layout), scenario, supply)
        assert isinstance(evidence, Evidence)
        evidence.__dict__["shape"] = replace(evidence.shape, layers=sum(layers))
        return {v.message for v in layout_checks._layers(evidence, layout)}

    assert split((2, 3, 3, 2)) == set()
    assert split((3, 3, 3, 3)) == set()
    for uneven in ((3, 2, 3, 2), (2, 3, 2, 3), (2, 2, 3, 3), (1, 4, 4, 1)):
        assert split(uneven) == {"layers are not divided evenly"}, uneven


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"ep": 3}, "EP over experts does not divide"),
        ({"ep": 16}, "EP over experts does not divide"),
        ({"etp": 3}, "expert TP over the experts' MLP does not divide"),
        ({"etp": 4}, "expert TP is neither 1 nor TP"),
        ({"ep": 8, "etp": 2}, "expert TP x EP over ranks does not divide"),
        ({"ep": 8, "etp": 2}, "EP groups in the NVLink domain does not divide"),
    ],
)
def test_broken_experts_are_named(changes: dict[str, Any], message: str) -> None:
    """Tests changes of EP 4 over TP 2 x DP 4 with eight experts."""
    assert message in messages(changes, "moe")


def test_experts_elsewhere_than_in_megatron_divide_dp() -> None:
    """Tests that a framework whose EP does not span TP wants DP divided."""
    plan, scenario = planned("moe")
    supply = setting_of(scenario, catalog()).catalog
    evidence = gather(plan, scenario, supply)
    assert isinstance(evidence, Evidence)
    evidence.__dict__["framework"] = replace(
        evidence.framework, expert_parallel_spans_tp=False
    )
    layout = replace(plan.layout, ep=8, etp=1)
    found = {v.message for v in check_divisibility(_with_layout(evidence, layout))}
    assert "EP over DP does not divide" in found
    fine = {v.message for v in check_divisibility(_with_layout(evidence, plan.layout))}
    assert "EP over DP does not divide" not in fine


def _with_layout(evidence: Evidence, layout: Any) -> Evidence:
    evidence.__dict__["plan"] = replace(evidence.plan, layout=layout)
    return evidence


def test_sharding_within_a_node() -> None:
    """Tests that FSDP may shard over all 16 ranks or the 8 of a node, not over 4."""
    fsdp = {"kind": "dense", "framework": "pytorch-fsdp"}
    for degree in (8, 16):
        assert messages({"shard_degree": degree}, **fsdp) == set()
    wrong = messages({"shard_degree": 4}, **fsdp)
    assert wrong == {"the shard group is neither all nor a node"}


def test_a_recomputation_that_the_framework_lacks() -> None:
    """Tests that FSDP has no selective recomputation."""
    assert "selective" not in catalog().frameworks["pytorch-fsdp"].recompute
    found = messages({"recompute": "selective"}, "dense", "pytorch-fsdp")
    assert found == {"pytorch-fsdp does not recompute so"}


def test_an_axis_that_the_framework_lacks() -> None:
    """Tests a framework without TP that has to fill its pipeline."""
    plan, scenario = planned("dense")
    supply = setting_of(scenario, catalog()).catalog
    evidence = gather(plan, scenario, supply)
    assert isinstance(evidence, Evidence)
    evidence.__dict__["framework"] = replace(
        evidence.framework, tensor_parallel=False, pipeline_fill=True
    )
    layout = replace(plan.layout, accumulation=1, pp=4)
    found = {v.message for v in check_divisibility(_with_layout(evidence, layout))}
    assert "megatron has no such axis: tp" in found
    assert "megatron has to fill the pipeline" in found
