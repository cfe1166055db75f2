"""Tests of adapters: bytes of the base, what adapters add, and who may shard it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver.performance import compute
from solver.performance.adapters import adapted_attention, adapted_mlp
from solver.performance.data_parallel import parameters as held
from solver.performance.inputs import TrainingJob
from solver.performance.lattice_axes import LatticeLimits, zero_stage_values
from solver.performance.memory import peak_memory
from solver.performance.stack import Stack
from solver.performance.transformer import adapter_parameters, parameters
from tests.performance.cases import (
    DEEPSEEK_V3,
    GIB,
    LLAMA1_65B,
    LLAMA2_7B,
    LLAMA2_70B,
    LLAMA3_8B,
    MIXTRAL,
    framework,
    job,
    layout,
    layouts,
)
from tests.performance.machines import A100

IDEAL = replace(A100, tile_fill_s=0.0, wave_tail=0.0, attention_ramp_tokens=0.0)
BARE = Stack(gaps_s=0.0)
BITS = {"int8": 8.0, "nf4": 4.127, "nf4_plain": 4.5}
"""Bits a weight: LLM.int8(), and NF4 with and without double quantisation of the fp32
scale of each 64 weights (QLoRA, section 3)."""


def adapters(method: str = "qlora", rank: int = 16, **more: object) -> TrainingJob:
    """A job that trains adapters."""
    return job(512, method, rank=rank, **more)


def weights_gib(work: TrainingJob, name: str = "deepspeed", **axes: int) -> float:
    """Weights a GPU of Llama-2 70B."""
    row = layouts(layout(8, "full", **axes))
    memory = peak_memory(LLAMA2_70B, work, framework(name), row)
    return float(memory.weights[0]) / GIB


@pytest.mark.parametrize(("base", "bits"), BITS.items())
def test_bytes_of_a_quantised_base(base: str, bits: float) -> None:
    """Tests linears in the base's bits, embedding and head in 16."""
    count = parameters(LLAMA2_70B)
    linears = 80 * (count.attention + count.mlp)
    ends = count.outside_layers + 80 * count.norms
    wanted = (linears * bits / 8 + 2 * ends) / GIB
    adapted = 2 * adapter_parameters(LLAMA2_70B, 16) / GIB
    assert weights_gib(adapters(base=base)) == pytest.approx(wanted + adapted, rel=1e-3)


def test_bases_in_order_of_size() -> None:
    """Tests that fewer bits are fewer bytes, and that lora keeps 16."""
    found = [weights_gib(adapters(base=base)) for base in ("nf4", "nf4_plain", "int8")]
    found.append(weights_gib(adapters("lora")))
    assert found == sorted(found)
    assert found[3] > 1.9 * found[2] > 3.4 * found[0]


def test_an_unnamed_base_is_the_usual_one() -> None:
    """Tests that qlora means NF4 with double quantisation."""
    assert weights_gib(adapters()) == weights_gib(adapters(base="nf4"))


@pytest.mark.parametrize("name", ["hf-trainer", "deepspeed", "pytorch-fsdp"])
@pytest.mark.parametrize(
    ("work", "sharded"),
    [
        (adapters("lora"), True),
        (adapters(), True),
        (adapters(base="nf4_plain"), True),
        (adapters(base="int8"), False),
    ],
)
def test_who_shards_a_base(name: str, work: TrainingJob, sharded: bool) -> None:
    """Tests that int8 bases stay whole on every rank, and others need not."""
    limits = LatticeLimits(max_nodes=2, gpus_per_node=8)
    stages = zero_stage_values(work, framework(name), limits, pipelined=False)
    assert (3 in stages) == sharded
    assert 0 in stages


def test_a_sharded_base_keeps_its_ends_in_16_bits() -> None:
    """Tests that FSDP's one type of tensor leaves no fp32 embedding (hf-trainer)."""
    whole = weights_gib(adapters(), "hf-trainer", zero_stage=0)
    sharded = weights_gib(adapters(), "hf-trainer", zero_stage=3)
    count = parameters(LLAMA2_70B)
    fewer = 2 * (count.outside_layers + 80 * count.norms) / GIB
    assert sharded == pytest.approx((whole - fewer) / 8, rel=0.01)


def layer_s(work: TrainingJob) -> float:
    """Forward seconds of a layer of Llama-2 70B with ideal matmuls."""
    cells = layouts(layout(1))
    return float(compute.dense_layer(LLAMA2_70B, work, BARE, IDEAL, cells).forward[0])


def test_dequantising_costs_by_the_bytes_moved() -> None:
    """Tests the traffic of each format: what is read, and 16 bits written."""
    plain = layer_s(adapters("lora"))
    count = parameters(LLAMA2_70B)
    for base, bits in BITS.items():
        moved = 1.5 * (bits / 8 + 2) * (count.attention + count.mlp)
        extra = layer_s(adapters(base=base)) - plain
        assert extra == pytest.approx(moved / (0.85 * 2.039e12), rel=1e-6), base


def test_adapters_cost_where_they_are() -> None:
    """Tests that time grows with the linears that carry adapters, and only so."""
    none = layer_s(replace(adapters("lora"), lora_targets=("nowhere",)))
    some = layer_s(adapters("lora", lora_targets=("q", "v")))
    mlp = layer_s(adapters("lora", lora_targets=("gate", "up", "down")))
    everything = layer_s(adapters("lora"))
    assert none < some < mlp < everything
    h, kv = 8192, 1024
    traffic = 2 * 512 * (h + 2 * (h + kv) + 2 * 16)  # one input, outputs of q and v
    assert some - none == pytest.approx(traffic / (0.85 * 2.039e12), rel=1e-6)


def test_linears_of_one_input_are_adapted_together() -> None:
    """Tests the joined shapes of Llama-3 8B on two ranks."""
    work = adapters("lora", lora_targets=("q", "k", "gate"))
    assert adapted_attention(LLAMA3_8B, work, 2, 4) == [(2048 + 512, 4096)]
    assert adapted_mlp(LLAMA3_8B, work, 14336, 2) == [(7168, 4096)]
    assert adapted_attention(LLAMA3_8B, job(512), 2, 4) == []


def test_latent_attention_has_adapters_on_its_ups() -> None:
    """Tests that of MLA's linears q, k, v and o carry them, each from its own input."""
    found = adapted_attention(DEEPSEEK_V3, adapters("lora"), 1, 0)
    ranks = DEEPSEEK_V3.q_lora_rank, DEEPSEEK_V3.kv_lora_rank
    assert [inner for _, inner in found] == [*ranks, 128 * 128]


@pytest.mark.parametrize("shape", [LLAMA2_7B, LLAMA1_65B, MIXTRAL])
def test_gradients_of_adapters_are_all_that_is_reduced(shape) -> None:
    """Tests the elements that ranks synchronise against the count of the model."""
    work = adapters("lora", lora_targets=("q", "v", "up"))
    cells = layouts(layout(8, ep=1, etp=1))
    found = held(shape, work, cells)
    trained = shape.layers * float((found.dense_trained + found.expert_trained)[0])
    assert trained == pytest.approx(adapter_parameters(shape, 16, ("q", "v", "up")))
    assert np.all(found.dense_trained < 0.01 * found.dense)
