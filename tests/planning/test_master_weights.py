"""Training without an fp32 copy of the weights: bytes, choice, faults."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from solver.errors import InputError
from solver.planning.estimate import EstimatePins, estimate
from solver.planning.single_job import plan_job
from solver.units import GIB
from solver.verify.certificate import verify
from tests.planning.jobs import A100, catalog, job
from tests.settings import toy

WORK: dict[str, Any] = {"start": "checkpoint", "framework": "pytorch-fsdp"}


def test_a_copy_less_halves_weights_and_gradients() -> None:
    """Tests bytes of a checkpoint: 2 + 8 a parameter instead of 4 + 8."""
    setting = toy(A100, workload={**WORK, "master_weights": ["fp32", "none"]})
    whole, pure = setting.checkpoint_bytes
    assert pure == pytest.approx(whole * 10 / 12)
    assert [job.master_weights for job in setting.jobs] == ["fp32", "none"]


def test_70b_with_paged_8bit_moments_on_eight_cards() -> None:
    """Tests the 51 GB a GPU of meta-pytorch/torchtune#987, which trains in bf16."""
    work = {
        **WORK,
        "optimizer": "paged-adamw-8bit",
        "sequence_length": 4096,
        "global_batch_size": 8,
        "master_weights": "none",
    }
    offer = {**A100, "max_nodes": 1}
    scenario = job([offer], workload=work, model="llama-3-70b")
    pins = EstimatePins(nodes=1, micro_batch=1, zero_stage=3, recompute="full")
    found = estimate(scenario, catalog(), pins)
    assert found.verdict == "fits"
    assert found.memory_gib["total"] == pytest.approx(51e9 / GIB, rel=0.15)
    kept = job(
        [offer], workload={**work, "master_weights": "fp32"}, model="llama-3-70b"
    )
    assert estimate(kept, catalog(), pins).verdict != "fits"


def test_a_list_is_as_good_as_its_best_and_verified() -> None:
    """Tests that the choice is made, told and checked."""
    costs = {}
    for wanted in ("fp32", "none"):
        scenario = job([A100], workload={**WORK, "master_weights": wanted})
        plan = plan_job(scenario, catalog(), alternatives=0).plan
        assert plan is not None
        assert plan.layout.master_weights == wanted
        costs[wanted] = plan.cost_usd
    both = job([A100], workload={**WORK, "master_weights": ["fp32", "none"]})
    plan = plan_job(both, catalog(), alternatives=0).plan
    assert plan is not None
    assert plan.cost_usd == min(costs.values())
    alone = job([A100], workload={**WORK, "master_weights": "fp32"})
    changed = replace(plan, layout=replace(plan.layout, master_weights="none"))
    rules = [v.rule for v in verify(changed, alone, catalog())]
    assert "precision" in rules


def test_an_optimizer_may_say_so_itself() -> None:
    """Tests that adamw-bf16 is told as what it is."""
    setting = toy(A100, workload={**WORK, "optimizer": "adamw-bf16"})
    assert setting.job.master_weights == "none"
    adapters = toy(A100, workload={"method": "lora"})
    assert adapters.job.master_weights == "none"
    single = toy(A100, workload={**WORK, "precision": "fp32"})
    assert single.job.master_weights == "fp32"


@pytest.mark.parametrize(
    ("work", "path", "text"),
    [
        (
            {"framework": "megatron", "master_weights": ["fp32", "none"]},
            "workload.master_weights[1]",
            "megatron keeps an fp32 copy of 16-bit weights; hf-trainer, pytorch-fsdp",
        ),
        ({"master_weights": "non"}, "workload.master_weights", "none"),
        (
            {"method": "lora", "master_weights": "none"},
            "workload.master_weights",
            "adapters train",
        ),
        (
            {**WORK, "precision": "fp32", "master_weights": "none"},
            "workload.master_weights",
            "their own copy",
        ),
        (
            {**WORK, "optimizer": "adamw-bf16", "master_weights": "fp32"},
            "workload.master_weights",
            "keeps no copy",
        ),
    ],
)
def test_what_cannot_be_is_told(work: dict[str, Any], path: str, text: str) -> None:
    """Tests one fault at its place, with what would do."""
    with pytest.raises(InputError) as raised:
        job(workload=work)
    (issue,) = raised.value.issues
    assert issue.path == path
    assert text in f"{issue.message} {issue.hint}"
