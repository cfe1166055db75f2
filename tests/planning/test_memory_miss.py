"""Tests of the nearest miss of memory and of the levers that save some."""

from __future__ import annotations

from typing import Any

import pytest

from solver.layout_space import OutOfTimeError
from solver.planning.infeasibility import explain
from solver.planning.memory_miss import levers, nearest_memory_miss
from solver.planning.single_job import plan_job
from solver.setting import Setting, setting_of
from tests.planning.jobs import A100, H100, catalog, job
from tests.settings import toy

ONE = {**A100, "max_nodes": 1}
CARD = {**ONE, "name": "card", "gpu": "l40s", "gpus_per_node": 1}

FULL_70B = {"model": "llama-2-70b", "workload": {"start": "checkpoint"}}
LORA_33B = {
    "model": "llama-1-33b",
    "workload": {"start": "checkpoint", "method": "lora"},
}


def test_parts_add_up_to_the_need() -> None:
    """Tests the parts of the leanest layout, and the card that it misses."""
    setting = toy(ONE, **FULL_70B)
    miss = nearest_memory_miss(setting)
    parts = ("weights", "gradients", "optimizer", "activations", "other")
    assert sum(miss.memory_gib[p] for p in parts) == pytest.approx(miss.need_gib)
    assert miss.usable_gib == catalog().gpus["a100-sxm-80gb"].usable_memory_gib
    assert miss.allowed_gib == pytest.approx(0.9 * miss.usable_gib)
    assert miss.ratio == pytest.approx(miss.need_gib / miss.allowed_gib)
    assert miss.ratio > 1


def test_state_alone_is_more_than_eight_cards() -> None:
    """Tests 70B in full by hand: 69 G parameters of 16 bytes over 8 ranks."""
    miss = nearest_memory_miss(toy(ONE, **FULL_70B))
    least = 68.98e9 * 16 / 8 / 2**30
    state = sum(miss.memory_gib[p] for p in ("weights", "gradients", "optimizer"))
    assert state > 0.95 * least
    assert miss.need_gib > least


def test_no_layout_of_the_lattice_needs_less() -> None:
    """Tests that the miss is the least over all nodes of the scenario."""
    setting = toy({**A100, "max_nodes": 2}, {**H100, "max_nodes": 1}, **FULL_70B)
    miss = nearest_memory_miss(setting)
    for group in setting.classes:
        lattice = setting.space.lattice(group.node_kind)
        here = lattice.groups.nodes <= group.max_nodes
        ratios = lattice.group_memory_bytes[here] / group.capacity_bytes
        assert miss.ratio <= ratios.min() * (1 + 1e-9)


def test_more_nodes_come_nearer() -> None:
    """Tests that a second node halves most of the state."""
    one = nearest_memory_miss(toy(ONE, **FULL_70B))
    two = nearest_memory_miss(toy({**A100, "max_nodes": 2}, **FULL_70B))
    assert two.need_gib < 0.6 * one.need_gib
    assert (one.nodes, two.nodes) == (1, 2)


def test_json_is_rounded_and_names_recompute() -> None:
    """Tests what the contract shows of a miss."""
    miss = nearest_memory_miss(toy(ONE, **FULL_70B))
    data = miss.as_dict()
    assert data["need_gib"] == pytest.approx(miss.need_gib, abs=0.005)
    assert data["layout"]["recompute"] == "full"
    assert data["gpu"] == "a100-sxm-80gb"
    assert data["layout"]["tp"] * data["layout"]["dp"] * data["layout"]["pp"] == 8


def test_no_layout_is_no_miss() -> None:
    """Tests that a job that never divides has nothing to miss with."""
    setting = toy(ONE, constraints={"parallelism": {"dp": 3}})
    assert nearest_memory_miss(setting) is None


def _levers(setting: Setting) -> list[dict[str, Any]]:
    miss = nearest_memory_miss(setting)
    assert miss is not None
    return list(levers(setting, miss))


@pytest.mark.parametrize(("offer", "keys"), [(ONE, FULL_70B), (CARD, LORA_33B)])
def test_levers_save_what_they_say(offer: dict[str, Any], keys: dict[str, Any]) -> None:
    """Tests that need, saving and verdict of each lever agree."""
    setting = toy(offer, **keys)
    miss = nearest_memory_miss(setting)
    found = _levers(setting)
    assert found
    for lever in found:
        assert lever["need_gib"] + lever["saves_gib"] == pytest.approx(
            miss.need_gib, abs=0.02
        )
        assert lever["saves_gib"] > 0
        assert lever["fits"] == (lever["need_gib"] <= miss.allowed_gib)


@pytest.mark.parametrize(("offer", "keys"), [(ONE, FULL_70B), (CARD, LORA_33B)])
def test_levers_that_fit_open_a_plan(
    offer: dict[str, Any], keys: dict[str, Any]
) -> None:
    """Tests that the same job with the lever pulled fits, and without does not."""
    assert plan_job(job([offer], **keys), catalog(), alternatives=0).plan is None
    pulled = 0
    for lever in _levers(toy(offer, **keys)):
        work = {**keys["workload"], lever["constraint"]: lever["needed"]}
        changed = job([offer], **{**keys, "workload": work})
        result = plan_job(changed, catalog(), alternatives=0)
        if lever["fits"]:
            pulled += 1
            assert result.plan is not None, lever
            assert result.plan.memory_gib["total"] >= lever["need_gib"] - 0.01
        elif lever["constraint"] != "framework":
            assert result.status == "infeasible", lever
    assert pulled


def test_qlora_offers_no_further_method() -> None:
    """Tests that LoRA can become QLoRA, and QLoRA nothing."""
    methods = [
        x["needed"]
        for x in _levers(toy(CARD, **LORA_33B))
        if x["constraint"] == "method"
    ]
    assert methods == ["qlora"]
    work = {"start": "checkpoint", "method": "qlora"}
    seventy = toy({**CARD, "gpu": "l4"}, model="llama-2-70b", workload=work)
    assert not [x for x in _levers(seventy) if x["constraint"] == "method"]


def test_short_sequences_are_not_cut_further() -> None:
    """Tests that a sequence of 1,024 tokens has no lever of half of it."""
    work = {**LORA_33B["workload"], "sequence_length": 1024}
    short = _levers(toy(CARD, model="llama-1-33b", workload=work))
    assert "sequence_length" not in {x["constraint"] for x in short}
    long = _levers(toy(CARD, **LORA_33B))
    assert "sequence_length" in {x["constraint"] for x in long}


def test_the_explanation_carries_miss_and_levers() -> None:
    """Tests that a 'no' of memory names the card, the need and what would need less."""
    setting = toy(ONE, **FULL_70B)
    explanation = explain(setting)
    assert explanation.kind == "memory"
    assert explanation.nearest_miss == nearest_memory_miss(setting).as_dict()
    known = [r for r in explanation.relaxations if r["unit"] == "choice"]
    assert known == _levers(setting)
    assert "a100-sxm-80gb" in explanation.summary


@pytest.mark.parametrize("optimizer", ["paged-adamw-8bit", "adamw", "adamw-8bit"])
def test_a_miss_by_little_is_still_one(optimizer: str) -> None:
    """Tests that 73.0 GiB in 71.3 is told as memory: the leanest layout in full.

    Its group's lower bound, without accumulated gradients, is 69.9 GiB and would fit.
    """
    work = {"start": "checkpoint", "optimizer": optimizer}
    setting = toy(ONE, model="llama-2-70b", workload=work)
    lattice = setting.space.lattice(setting.classes[0].node_kind)
    assert not len(lattice)
    assert nearest_memory_miss(setting).ratio > 1
    assert explain(setting).kind == "memory"


def test_levers_are_what_the_framework_can_run() -> None:
    """Tests that no optimizer is advised that the scenario would refuse."""
    work = {"start": "checkpoint", "framework": "megatron"}
    megatron = _levers(toy(ONE, model="llama-2-70b", workload=work))
    assert "optimizer" not in {x["constraint"] for x in megatron}
    work = {"start": "checkpoint", "framework": "pytorch-fsdp"}
    fsdp = _levers(toy(ONE, model="llama-2-70b", workload=work))
    assert "optimizer" in {x["constraint"] for x in fsdp}
    work |= {"optimizer": "adamw-8bit"}
    paged = _levers(toy(ONE, model="llama-2-70b", workload=work))
    others = {x["needed"] for x in paged if x["constraint"] == "framework"}
    assert others <= {"deepspeed", "hf-trainer"}


def test_the_time_limit_ends_the_search_for_a_miss() -> None:
    """Tests that no explanation takes much longer than it may."""
    setting = setting_of(job(offers=[A100]), catalog())
    assert nearest_memory_miss(setting) is not None
    miss = nearest_memory_miss(setting)
    setting.space.end = 0.0
    with pytest.raises(OutOfTimeError):
        nearest_memory_miss(setting)
    assert miss is not None
    assert list(levers(setting, miss)) == []
