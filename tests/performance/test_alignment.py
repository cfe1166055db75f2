"""Tests of the memory and the time of DPO, PPO and GRPO against their parts."""

from __future__ import annotations

from dataclasses import fields, replace
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from solver.catalog.load import load_catalog
from solver.performance.alignment_inputs import Alignment, Lengths
from solver.performance.alignment_memory import (
    frozen_bytes,
    idle_memory,
    known,
    moments_of,
    train_memory_of,
)
from solver.performance.alignment_time import (
    forward_s,
    job_rollout,
    scoring_by_model_s,
    weight_sync_s,
)
from solver.performance.checkpoints import checkpoint_bytes, host_bytes_needed
from solver.performance.inputs import Layouts, Offload, StepTime, TrainingJob
from solver.performance.memory import peak_memory
from solver.performance.offload import away_bytes
from solver.performance.parallelism import LatticeLimits, enumerate_layouts
from solver.performance.step_time import lower_bound, step_time
from solver.performance.transformer import (
    forward_flops,
    parameter_count,
)
from solver.physics_inputs import engine_of
from tests.performance.cases import ADAM, LLAMA3_8B, MIXTRAL, framework
from tests.performance.machines import A100, H100, ONE_NODE

SMALL = replace(LLAMA3_8B, layers=16, hidden=2048, ffn=8192, vocab=32000, head_dim=64)
"""About 1.2 billion parameters."""

LIMITS = LatticeLimits(max_nodes=4, gpus_per_node=8)


@cache
def engine() -> Any:
    """The engine as the catalog has it."""
    return engine_of(load_catalog())


def aligned(kind: Any, **changes: Any) -> Alignment:
    """An alignment with short sequences."""
    group = 8 if kind == "grpo" else 1
    lengths = Lengths(200, 312, 600, group)
    return Alignment(kind, lengths, engine(), **changes)


def job(how: Alignment | None, **changes: Any) -> TrainingJob:
    """A job on sequences of 512 tokens, or of pairs of them."""
    pair = how is not None and how.kind == "dpo"
    values: dict[str, Any] = {
        "sequence_length": 1024 if pair else 512,
        "tokens": 1e8,
        "batch_min": 64,
        "batch_target": 64,
        "batch_max": 64,
        "method": "full",
        "precision": "bf16",
        "optimizer": ADAM,
        "attention_span": 512.0 if pair else 0.0,
        "alignment": how,
        "batch_multiple": how.lengths.group if how else 1,
    }
    return TrainingJob(**{**values, **changes})


def layouts(one: TrainingJob, name: str = "megatron", shape: Any = SMALL) -> Layouts:
    """Every fifth layout of the lattice, at most two hundred."""
    found = enumerate_layouts(shape, one, framework(name), LIMITS)
    return found.take(np.arange(0, len(found), 5)[:200])


KINDS: dict[str, Alignment] = {
    "dpo": aligned("dpo"),
    "grpo": aligned("grpo"),
    "grpo with a reward model": aligned("grpo", reward=SMALL),
    "ppo": aligned("ppo", reward=SMALL, critic=SMALL),
    "ppo of other sizes": aligned("ppo", reward=MIXTRAL, critic=LLAMA3_8B),
    "ppo trained twice": aligned("ppo", critic=SMALL, update_epochs=2),
    "apart": aligned("grpo", rollout_nodes=2),
    "behind": aligned("grpo", rollout_nodes=2, one_step_behind=True),
    "slow loop": aligned("grpo", loop_rate=0.5),
    "no reference": aligned("grpo", has_reference=False),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["megatron", "pytorch-fsdp", "deepspeed"])
def test_no_step_undercuts_its_bound(kind: str, name: str) -> None:
    """Tests the bound that the search skips layouts by."""
    one = job(KINDS[kind])
    some = layouts(one, name)
    model = (SMALL, one, framework(name), A100)
    bound, true = lower_bound(*model, some), step_time(*model, some).total
    assert (bound <= true * (1 + 1e-12)).all()
    assert (bound > 0).all()


@pytest.mark.parametrize("kind", KINDS)
def test_parts_add_up_and_none_is_negative(kind: str) -> None:
    """Tests that a step is the sum of its parts."""
    one = job(KINDS[kind])
    made = step_time(
        SMALL, one, framework("deepspeed"), A100, layouts(one, "deepspeed")
    )
    parts = made.parts()
    assert set(parts) >= {"generation", "scoring", "critic", "weight_sync"}
    assert all((part >= 0).all() for part in parts.values())
    assert made.total == pytest.approx(sum(parts.values()))


def test_training_is_as_without_alignment() -> None:
    """Tests that the policy's parts are those of the plain job, once an epoch."""
    one = job(aligned("ppo", critic=SMALL, update_epochs=3))
    some = layouts(one)
    model = (framework("megatron"), A100, some)
    plain = step_time(SMALL, replace(one, alignment=None), *model)
    made = step_time(SMALL, one, *model)
    for part in fields(StepTime):
        expected = 3 * getattr(plain, part.name)
        assert getattr(made, part.name) == pytest.approx(expected)


def test_the_rate_of_a_loop_divides_every_part() -> None:
    """Tests that half the rate doubles the step and leaves all shares alone."""
    full, half = job(aligned("grpo")), job(aligned("grpo", loop_rate=0.5))
    some = layouts(full)
    model = (framework("megatron"), A100, some)
    one, two = step_time(SMALL, full, *model), step_time(SMALL, half, *model)
    for name, seconds in one.parts().items():
        assert two.parts()[name] == pytest.approx(2 * seconds)


def test_a_pair_is_two_sequences() -> None:
    """Tests DPO's training against twice as many sequences of half the length."""
    pairs = job(aligned("dpo", has_reference=False))
    single = replace(
        job(None), batch_min=128, batch_target=128, batch_max=128, alignment=None
    )
    some = layouts(pairs, "pytorch-fsdp")
    some = some.take(some.cp == 1)
    twice = some.with_columns(micro_batch=2 * some.micro_batch)
    model = (framework("pytorch-fsdp"), A100)
    one = step_time(SMALL, pairs, *model, some).total
    assert one == pytest.approx(step_time(SMALL, single, *model, twice).total)


def test_the_reference_of_dpo_is_one_forward_pass() -> None:
    """Tests what a reference adds in time: between a fifth and half of training."""
    some = layouts(job(aligned("dpo")))
    with_it, without = (
        step_time(
            SMALL,
            job(aligned("dpo", has_reference=r)),
            framework("megatron"),
            A100,
            some,
        )
        for r in (True, False)
    )
    assert (without.parts()["scoring"] == 0).all()
    added = with_it.total / without.total - 1.0
    assert (added > 0.15).all()
    assert (added < 0.5).all()
    assert (with_it.parts()["generation"] == 0).all()


def test_a_forward_pass_keeps_the_peak() -> None:
    """Tests that no forward pass has more FLOP/s than the GPUs, and none is idle."""
    one = job(None)
    some = layouts(one)
    some = some.take((some.pp == 1) & (some.micro_batch >= 4) & (some.tp <= 2))
    seconds = forward_s(SMALL, one, framework("megatron"), A100, some, scalar=False)
    flops = forward_flops(SMALL, 512).total * 512 * some.global_batch / some.gpus
    share = flops / seconds / A100.peak_16bit
    assert (share < 0.8).all()
    assert share.max() > 0.3
    scalar = forward_s(SMALL, one, framework("megatron"), A100, some, scalar=True)
    assert (scalar < seconds).all()


def test_scoring_is_the_sum_of_its_models() -> None:
    """Tests who passes over the batch in PPO, GRPO and DPO."""
    some = layouts(job(KINDS["ppo"]))
    roles = {
        name: set(
            scoring_by_model_s(SMALL, job(how), framework("megatron"), A100, some)
        )
        for name, how in KINDS.items()
    }
    assert roles["dpo"] == {"reference"}
    assert roles["grpo"] == {"policy", "reference"}
    assert roles["no reference"] == {"policy"}
    assert roles["ppo"] == {"policy", "reference", "reward", "critic"}
    each = scoring_by_model_s(
        SMALL, job(KINDS["ppo"]), framework("megatron"), A100, some
    )
    made = step_time(SMALL, job(KINDS["ppo"]), framework("megatron"), A100, some)
    assert made.parts()["scoring"] == pytest.approx(sum(each.values()))


def test_rollout_nodes_behind_hide_what_is_shorter() -> None:
    """Tests that a step is then the longer of generation and the rest."""
    turn, behind = job(KINDS["apart"]), job(KINDS["behind"])
    some = layouts(turn)
    model = (framework("megatron"), A100, some)
    one, two = step_time(SMALL, turn, *model), step_time(SMALL, behind, *model)
    made = job_rollout(SMALL, behind, *model).total_s
    sync = weight_sync_s(SMALL, behind, A100, some)
    rest = one.total - one.parts()["generation"] - sync
    assert two.total == pytest.approx(np.maximum(made, rest) + sync)
    assert (two.total <= one.total).all()


def test_more_rollout_nodes_are_never_slower() -> None:
    """Tests the generation of one batch over the nodes that share it."""
    seconds = [
        job_rollout(
            SMALL,
            job(aligned("grpo", rollout_nodes=n)),
            framework("megatron"),
            A100,
            layouts(job(KINDS["apart"])),
        ).total_s
        for n in (1, 2, 4, 8)
    ]
    assert all((a >= b).all() for a, b in pairwise(seconds))


def test_weights_reach_rollout_nodes_over_the_network_alone() -> None:
    """Tests the rate of a broadcast, and that nodes without a network stay alone."""
    apart = job(KINDS["apart"])
    some = layouts(apart)
    seconds = weight_sync_s(SMALL, apart, A100, some)
    size = 2.0 * parameter_count(SMALL)
    assert seconds == pytest.approx(np.full(len(some), size / A100.inter_bytes_per_s))
    alone = some.take(some.nodes == 1)
    assert np.isinf(weight_sync_s(SMALL, apart, ONE_NODE, alone)).all()
    together = weight_sync_s(SMALL, job(KINDS["grpo"]), ONE_NODE, alone)
    assert (together < 1.0).all()


@pytest.mark.parametrize("name", ["megatron", "pytorch-fsdp", "deepspeed"])
def test_memory_of_dpo_is_training_and_a_frozen_copy(name: str) -> None:
    """Tests two bytes a parameter, divided as the weights are, and none if shared."""
    one = job(aligned("dpo"))
    some = layouts(one, name)
    plain = peak_memory(SMALL, replace(one, alignment=None), framework(name), some)
    made = peak_memory(SMALL, one, framework(name), some)
    copy = frozen_bytes(SMALL, some)
    assert made.total == pytest.approx(plain.total + copy)
    whole = 2.0 * parameter_count(SMALL) / (some.tp * some.pp)
    shards = np.where(some.zero_stage == 3, some.shard_degree, 1)
    assert copy == pytest.approx(whole / shards)
    shared = job(aligned("dpo", reference_shared=True))
    assert peak_memory(SMALL, shared, framework(name), some).total == pytest.approx(
        plain.total
    )


def test_experts_of_a_frozen_model_are_divided_over_their_ranks() -> None:
    """Tests that all copies of a mixture together hold each parameter once or more."""
    one = job(None)
    some = layouts(one, "megatron", MIXTRAL)
    held = frozen_bytes(MIXTRAL, some) * some.gpus / 2.0
    assert (held >= parameter_count(MIXTRAL) * (1 - 1e-9)).all()
    spread = some.take((some.ep > 1) & (some.zero_stage < 3))
    whole = frozen_bytes(MIXTRAL, spread.with_columns(ep=np.ones_like(spread.ep)))
    assert (frozen_bytes(MIXTRAL, spread) < whole).all()


@pytest.mark.parametrize("name", ["megatron", "pytorch-fsdp"])
def test_memory_of_ppo_counts_all_four(name: str) -> None:
    """Tests the peak against the states of policy, critic and two frozen models."""
    one = job(KINDS["ppo"])
    some = layouts(one, name)
    train = train_memory_of(peak_memory, framework(name), fused=True)
    moments = moments_of(train, SMALL, one, framework(name), some)
    assert set(moments) == {"policy", "critic", "generation"}
    peak = peak_memory(SMALL, one, framework(name), some).total
    each = np.stack([m.total for m in moments.values()])
    assert peak == pytest.approx(each.max(axis=0))
    without = replace(one, alignment=replace(KINDS["ppo"], critic=None))
    assert (peak > peak_memory(SMALL, without, framework(name), some).total).all()
    kept = idle_memory(train, SMALL, one, framework(name), some).total
    assert (kept < peak).all()
    assert (kept > 2 * frozen_bytes(SMALL, some)).all()


def test_training_has_to_hold_the_longest_sequence() -> None:
    """Tests that memory follows the longest response and time the mean."""
    short = job(aligned("grpo", rollout_nodes=1))
    how = known(short)
    longer = replace(how, lengths=replace(how.lengths, longest=2400))
    long = replace(short, alignment=longer)
    some = layouts(short)
    some = some.take(some.cp == 1)
    model = (framework("megatron"), some)
    assert (
        peak_memory(SMALL, long, *model).total > peak_memory(SMALL, short, *model).total
    ).all()
    plain = replace(short, alignment=None, sequence_length=2600)
    copy = frozen_bytes(SMALL, some)
    assert peak_memory(SMALL, long, *model).total == pytest.approx(
        peak_memory(SMALL, plain, *model).total + copy
    )
    both = [
        step_time(SMALL, j, framework("megatron"), A100, some).compute
        for j in (short, long)
    ]
    assert both[0] == pytest.approx(both[1])


def test_rollout_nodes_take_the_engine_off_the_others() -> None:
    """Tests that placed apart no node that trains holds the engine."""
    some = layouts(job(KINDS["grpo"]))
    train = train_memory_of(peak_memory, framework("megatron"), fused=True)
    here = moments_of(train, SMALL, job(KINDS["grpo"]), framework("megatron"), some)
    there = moments_of(train, SMALL, job(KINDS["apart"]), framework("megatron"), some)
    assert "generation" in here
    assert "generation" not in there


def test_the_cache_fills_what_training_leaves() -> None:
    """Tests that states, engine and cache stay within the share of the card."""
    one = job(replace(KINDS["ppo"], memory_share=0.8))
    some = layouts(one)
    made = job_rollout(SMALL, one, framework("megatron"), H100, some)
    train = train_memory_of(peak_memory, framework("megatron"), fused=True)
    kept = idle_memory(train, SMALL, one, framework("megatron"), some).total
    used = kept + made.weights_bytes + made.cache_bytes + engine().workspace_bytes
    fits = np.isfinite(made.total_s)
    assert fits.any()
    assert (used[fits] <= 0.8 * H100.memory_bytes).all()
    free = job_rollout(SMALL, one, framework("megatron"), H100, some, resident=False)
    assert (free.total_s <= made.total_s).all()


def test_the_critic_is_saved_and_offloaded_too() -> None:
    """Tests that checkpoints, host memory and drives count both models that train."""
    alone, both = job(KINDS["grpo"]), job(KINDS["ppo"])
    name = framework("deepspeed")
    single, double = (checkpoint_bytes(SMALL, j, name) for j in (alone, both))
    assert double == pytest.approx(2 * single)
    some = layouts(both, "deepspeed")
    offload = Offload(optimizer=True)
    away = [
        away_bytes(SMALL, replace(j, offload=offload), name, some)
        for j in (alone, both)
    ]
    assert away[1] == pytest.approx(2 * away[0])
    hosts = [host_bytes_needed(SMALL, j, name, some) for j in (alone, both)]
    assert (hosts[1] > hosts[0]).all()


def test_only_a_job_that_aligns_has_an_alignment() -> None:
    """Tests that the plain job is told apart."""
    with pytest.raises(ValueError, match="aligns nothing"):
        known(job(None))


@pytest.mark.parametrize("group", [1, 3, 8, 24])
def test_batches_are_whole_groups(group: int) -> None:
    """Tests that a range of batches is searched at multiples of the group only."""
    one = job(None, batch_min=40, batch_target=96, batch_max=120, batch_multiple=group)
    found = enumerate_layouts(SMALL, one, framework("megatron"), LIMITS)
    assert len(found)
    assert (found.global_batch % group == 0).all()
    assert found.global_batch.min() >= 40
    assert found.global_batch.max() <= 120
    free = replace(one, batch_multiple=1)
    everything = enumerate_layouts(SMALL, free, framework("megatron"), LIMITS)
    assert set(everything.global_batch) >= {96}
