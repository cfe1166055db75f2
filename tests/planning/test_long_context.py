"""Tests of long sequences through estimate and solve, and of what a 'no' tells."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from solver.plan import Explanation, Plan, PlanResult
from solver.planning.estimate import EstimatePins, estimate
from solver.planning.single_job import plan_job
from solver.scenario.load import load_scenario
from solver.verify import verify
from tests.scenario.reading import TODAY, read, shipped_catalog


@cache
def answered(work: str, constraints: str, model: str = "llama-3.1-8b") -> PlanResult:
    """The answer of a scenario, without runners-up."""
    text = (
        f"model: {model}\nworkload: {{start: checkpoint, tokens: 1B, {work}}}\n"
        f"constraints: {{{constraints}}}\n"
    )
    return plan_job(read(text), shipped_catalog(), alternatives=0)


def planned(work: str, constraints: str) -> Plan:
    """The plan, which must be there."""
    plan = answered(work, constraints).plan
    assert plan is not None
    return plan


def explained(work: str, constraints: str) -> Explanation:
    """The explanation of a 'no' for memory."""
    explanation = answered(work, constraints).explanation
    assert explanation is not None
    assert explanation.kind == "memory"
    return explanation


HALF_MILLION = "sequence_length: 524288, global_batch_size: 8"
ONE_NODE = "gpus: {types: [H100 SXM], max: 8}"


def test_a_framework_that_divides_sequences() -> None:
    """Tests that more GPUs are named with the degrees by which they help."""
    found = explained(f"{HALF_MILLION}, framework: megatron", ONE_NODE)
    assert "The limit is per sequence" in found.summary
    assert "CP, TP, PP; more GPUs help only so" in found.summary
    assert "On 16 GPUs it fits, divided by TP 8 CP 2" in found.summary
    more = next(r for r in found.relaxations if r["constraint"] == "gpus")
    assert more["opens"]["gpus"] == 16


@pytest.mark.parametrize("framework", ["hf-trainer", "pytorch-fsdp"])
def test_a_framework_that_divides_them_on_request(framework: str) -> None:
    """Tests that data-parallel GPUs are not advised, and that naming degrees helps."""
    work = f"{HALF_MILLION}, framework: {framework}"
    found = explained(work, ONE_NODE)
    assert "constraints.parallelism.cp=[1, 2, 4, 8]" in found.summary
    assert "gpus" not in {r["constraint"] for r in found.relaxations}
    asked = f"{ONE_NODE[:-2]}64}}, parallelism: {{cp: [8, 16, 32, 64]}}"
    plan = planned(f"{work}, loss: chunked", asked)
    assert plan.layout.cp > 1
    assert plan.layout.zero_stage == 3


def test_nanotron_divides_by_tensor_parallelism_only() -> None:
    """Tests that axes which a framework lacks are not named."""
    work = f"{HALF_MILLION}, framework: nanotron, loss: whole"
    found = explained(work, "gpus: {types: [H100 SXM], max: 2, per_node: 2}")
    assert "by TP, PP; more GPUs help only so" in found.summary


@pytest.mark.parametrize(
    ("framework", "loss"),
    [("megatron", "whole"), ("torchtitan", "chunked"), ("deepspeed", "chunked")],
)
def test_a_million_tokens(framework: str, loss: str) -> None:
    """Tests that an 8B model is taught 1M tokens on up to 64 H100, and verified."""
    work = (
        f"sequence_length: 1048576, global_batch_size: 4, framework: {framework}, "
        f"loss: {loss}"
    )
    plan = planned(work, "gpus: {types: [H100 SXM], max: 64}")
    assert plan.layout.cp > 1
    assert plan.layout.loss == loss
    text = f"model: llama-3.1-8b\nworkload: {{start: checkpoint, tokens: 1B, {work}}}\n"
    scenario = read(text + "constraints: {gpus: {types: [H100 SXM], max: 64}}\n")
    assert verify(plan, scenario, shipped_catalog()) == []


def test_the_solver_takes_the_loss_that_needs_fewer_gpus() -> None:
    """Tests a list: the chunked loss wins where logits decide, and is told."""
    work = "sequence_length: 131072, global_batch_size: 8, framework: torchtitan"
    limits = "gpus: {types: [H100 SXM], max: 64}"
    both = planned(f"{work}, loss: [whole, chunked]", limits)
    whole = planned(f"{work}, loss: whole", limits)
    assert both.cost_usd <= whole.cost_usd
    assert both.layout.loss == "chunked"
    assert whole.layout.loss == "whole"


def test_a_chunked_loss_is_a_lever() -> None:
    """Tests that a 'no' tells what chunks would need."""
    work = "sequence_length: 131072, global_batch_size: 8, framework: pytorch-fsdp"
    found = explained(work, ONE_NODE)
    lever = next(r for r in found.relaxations if r["constraint"] == "loss")
    assert (lever["now"], lever["needed"]) == ("whole", "chunked")
    assert found.nearest_miss is not None
    assert lever["need_gib"] < 0.8 * found.nearest_miss["need_gib"]


def test_a_plan_with_another_loss_is_not_verified() -> None:
    """Tests that the loss is among what a plan has to keep."""
    scenario = load_scenario("long-context-8b", shipped_catalog(), (), TODAY)
    plan = plan_job(scenario, shipped_catalog(), alternatives=0).plan
    assert plan is not None
    assert verify(plan, scenario, shipped_catalog()) == []
    wrong = replace(plan, layout=replace(plan.layout, loss="chunked"))
    assert verify(wrong, scenario, shipped_catalog())


# --- published: NeMo 24.03, Llama-2 7B in FP8 on H100 (performance_long_sequence.md)

NEMO = [
    # thousand tokens, GPUs, TP, CP, TFLOP/s a GPU (scores counted whole)
    (4, 4, 1, 1, 768),
    (32, 32, 2, 2, 610),
    (128, 128, 4, 4, 555),
    (1024, 1024, 8, 32, 536),
]


@pytest.mark.parametrize(("thousand", "gpus", "tp", "cp", "published"), NEMO)
def test_nemo_long_sequences(
    thousand: int, gpus: int, tp: int, cp: int, published: int
) -> None:
    """Tests speed from 4k to 1M tokens: within 30 %, today's software no slower."""
    tokens = thousand * 1024
    batch = max(gpus // (tp * cp), 4096 // thousand)
    work = (
        f"tokens: 10T, framework: megatron, precision: fp8, sequence_length: {tokens}, "
        f"global_batch_size: {batch}"
    )
    scenario = read(f"model: llama-2-7b\nworkload: {{{work}}}\n")
    pins = EstimatePins(
        gpu="h100-sxm-80gb",
        gpus=gpus,
        tp=tp,
        cp=cp,
        pp=1,
        micro_batch=1,
        recompute="none",
    )
    found = estimate(scenario, shipped_catalog(), pins)
    linear = 2 * (32 * (4 * 4096**2 + 3 * 4096 * 11008) + 4096 * 32000)
    flops = 3 * (linear + 4 * tokens * 4096 * 32)
    rate = flops * found.tokens_per_s / gpus / 1e12
    assert 0.98 < rate / published < 1.30
    assert found.verdict != "impossible"


def test_chunks_and_offload_add_up() -> None:
    """Tests 50,000 tokens of LoRA on one 48 GB card, which neither brings alone."""
    work = (
        "method: lora, sequence_length: 50000, global_batch_size: 8, "
        "framework: pytorch-fsdp"
    )
    limits = "gpus: {types: [A40], max: 1}"
    alone = (f"{work}, loss: chunked", f"{work}, offload: activations")
    assert all(answered(each, limits).plan is None for each in alone)
    plan = planned(f"{work}, loss: chunked, offload: activations", limits)
    assert plan.layout.loss == "chunked"
    assert plan.layout.offload == "activations to host"
