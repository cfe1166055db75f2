"""What does not divide, from public threads: refused or repaired, and always told.

Each test is one row of published cases in which a framework dropped layers, padded, or
refused to start.
"""

from __future__ import annotations

from typing import Any

import pytest

from solver.errors import InputError
from solver.planning.estimate import Estimate, EstimatePins, estimate
from solver.planning.single_job import plan_job
from tests.planning.jobs import A100, TOY, catalog, job

BIG = {**A100, "max_nodes": 64}


def found(model: Any, pins: dict[str, Any], **work: Any) -> Estimate:
    """The estimate of a layout."""
    scenario = job([BIG], model=model, workload=work)
    return estimate(scenario, catalog(), EstimatePins(**pins))


def refusal(model: Any, pins: dict[str, Any], **work: Any) -> str:
    """Why a layout is refused."""
    with pytest.raises(InputError) as caught:
        found(model, pins, **work)
    return "\n".join(str(issue) for issue in caught.value.issues)


def notes(answer: Estimate) -> str:
    """What an estimate says of its layout."""
    return "\n".join(note.text for note in answer.notes)


def test_30_layers_on_4_stages_stay_30() -> None:
    """Tests NVIDIA/Megatron-LM#1304: nothing is dropped, and the split is told."""
    answer = found({**TOY, "layers": 30}, {"gpus": 8, "pp": 4})
    assert answer.layout.layers_per_stage == (7, 8, 8, 7)
    assert "30 layers do not divide over 4 stages: they run as 7 + 8 + 8 + 7" in notes(
        answer
    )


def test_31_layers_on_4_stages_are_refused() -> None:
    """Tests layers that divide in neither way."""
    told = refusal({**TOY, "layers": 31}, {"gpus": 8, "pp": 4})
    assert "31 layers do not divide over 4 stages" in told


def test_80_layers_on_16_stages_with_2_virtual_ones_are_refused() -> None:
    """Tests NVIDIA/Megatron-LM#468, where 64 of 80 layers were trained."""
    pins = {"gpus": 16, "pp": 16, "virtual_stages": 2}
    told = refusal({**TOY, "layers": 80}, pins)
    assert "80 layers do not divide over 16 stages x 2 virtual stages" in told
    assert "PP 10 or 20" in told


def test_bloom_counts_embedding_and_head_as_layers() -> None:
    """Tests bigscience's tr11: 70 layers on 12 stages are 5 + 6 x 10 + 5."""
    pins = {"gpus": 384, "pp": 12, "tp": 4, "dp": 8}
    answer = found("bloom-176b", pins, global_batch_size=2048)
    assert answer.layout.layers_per_stage == (5, *[6] * 10, 5)
    assert sum(answer.layout.layers_per_stage) == 70
    assert "70 layers do not divide over 12 stages" in notes(answer)


def test_52_heads_refuse_tp_8() -> None:
    """Tests deepspeedai/DeepSpeed#3634: TP in 1, 2, 4, 13, 26, 52."""
    sizes = {"hidden": 52 * 64, "heads": 52, "kv_heads": 52, "ffn": 52 * 256}
    told = refusal({**TOY, **sizes}, {"gpus": 8, "tp": 8})
    assert "TP 8 does not divide 52 heads" in told
    assert "TP 1, 2, 4, 13, 26, 52 only" in told


def test_12_heads_refuse_8_gpus_of_tp() -> None:
    """Tests MIV-XJTU/FSDrive#21, through `solve` as well."""
    model = {**TOY, "hidden": 768, "heads": 12, "kv_heads": 12, "ffn": 3072}
    assert "TP 8 does not divide 12 heads" in refusal(model, {"gpus": 8, "tp": 8})
    scenario = job([BIG], model=model, constraints={"parallelism": {"tp": 8}})
    answer = plan_job(scenario, catalog())
    assert answer.status == "infeasible"
    assert answer.explanation is not None
    assert "TP 8 does not divide 12 heads" in answer.explanation.summary


def test_fewer_kv_heads_than_tp_are_copied() -> None:
    """Tests vllm-project/vllm#1399: replicated, counted and said."""
    pins = {"gpus": 8, "micro_batch": 1, "recompute": "none"}
    answer = found(TOY, {**pins, "tp": 8})
    assert "TP 8 is more than the 4 KV heads, which are replicated" in notes(answer)
    whole = found({**TOY, "kv_heads": 8}, {**pins, "tp": 8})
    assert answer.memory_gib["weights"] == pytest.approx(whole.memory_gib["weights"])
    assert "KV" not in notes(found(TOY, {**pins, "tp": 4}))


def test_a_vocabulary_is_padded_for_tp_and_counted() -> None:
    """Tests vllm-project/vllm#578 and #31474: the padded rows take memory."""
    pins = {"gpus": 8, "tp": 8, "micro_batch": 1, "recompute": "none"}
    answer, padded = (found({**TOY, "vocab": v}, pins) for v in (31_750, 32_768))
    assert "The vocabulary of 31,750 is padded to 32,768 rows" in notes(answer)
    assert "vocabulary" not in notes(padded)
    assert answer.memory_gib == padded.memory_gib


def test_a_ramp_from_16_allows_dp_16_at_most() -> None:
    """Tests bigscience's tr1: from 16 in steps of 16."""
    ramp = {"from": 16, "step": 16, "samples": 100_000}
    work = {"global_batch_size": 256, "batch_ramp": ramp}
    told = refusal(TOY, {"gpus": 32, "dp": 32}, **work)
    assert "a batch ramp from 16 in steps of 16 does not divide over DP 32" in told
    assert "'16'" in told
    assert found(TOY, {"gpus": 32, "dp": 16}, **work).layout.dp == 16
    assert found(TOY, {"gpus": 32, "dp": 32}, global_batch_size=256).layout.dp == 32


@pytest.mark.parametrize("dp", [None, 2])
def test_ep_beyond_the_data_parallel_world_is_refused(dp: int | None) -> None:
    """Tests deepspeedai/DeepSpeed#1838: 8 experts over a world of 2 replicas."""
    pins = {"gpus": 8, "ep": 8, "tp": 4, "dp": dp}
    told = refusal("mixtral-8x7b", pins, framework="deepspeed")
    assert "EP 8 does not divide DP 2, as deepspeed asks" in told
    # Megatron's experts have their own rank order over all GPUs of a stage
    assert found("mixtral-8x7b", pins, framework="megatron").layout.ep == 8


def test_experts_that_do_not_divide_are_refused() -> None:
    """Tests 8 experts over 3 ranks, and that `solve` says so too."""
    told = refusal("mixtral-8x7b", {"gpus": 8, "ep": 3})
    assert "8 experts do not divide over EP 3" in told
    limits = {"parallelism": {"ep": 3}}
    answer = plan_job(job([BIG], model="mixtral-8x7b", constraints=limits), catalog())
    assert answer.explanation is not None
    assert "8 experts do not divide over EP 3" in answer.explanation.summary


@pytest.mark.parametrize("method", ["lora", "qlora"])
def test_zero_3_is_barred_by_the_base_and_not_by_the_method(method: str) -> None:
    """Tests huggingface/peft#2833: int8 is not sharded, though QLoRA's NF4 is."""
    pins = {"gpus": 8, "zero_stage": 3}
    work = {"method": method, "framework": "hf-trainer", "lora": {"base": "int8"}}
    told = "no ZeRO-3 for an int8 base, only 0; nf4 and nf4_plain bases have it"
    assert told in refusal(TOY, pins, **work)
    work["lora"] = {"base": "nf4"}
    assert found(TOY, pins, **work).layout.zero_stage == 3
