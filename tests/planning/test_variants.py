"""Several ways to train: the best one is taken, as if each were asked alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from solver.errors import InputError
from solver.plan import Plan
from solver.planning.estimate import EstimatePins, estimate
from solver.planning.single_job import plan_job
from solver.verify.certificate import verify
from tests.planning.jobs import A100, H100, catalog, job
from tests.settings import toy

WAYS: dict[str, Any] = {
    "precision": ["bf16", "fp8"],
    "optimizer": ["adamw", "adamw-8bit"],
    "framework": "pytorch-fsdp",
}
"""Four ways, of which an A100 computes two."""


def planned(work: dict[str, Any], **keys: Any) -> Plan:
    """The best plan of the toy job."""
    plan = plan_job(job(None, workload=work, **keys), catalog(), alternatives=0).plan
    assert plan is not None
    return plan


@pytest.mark.parametrize("objective", ["cost", "time"])
def test_a_list_is_as_good_as_its_best_member(objective: str) -> None:
    """Tests the plan of a list against those of each way alone."""
    alone = {
        (precision, optimizer): planned(
            {**WAYS, "precision": precision, "optimizer": optimizer},
            objective=objective,
        )
        for precision in WAYS["precision"]
        for optimizer in WAYS["optimizer"]
    }
    figure = "cost_usd" if objective == "cost" else "duration_days"
    way = min(alone, key=lambda w: getattr(alone[w], figure))
    chosen = planned(WAYS, objective=objective)
    assert (chosen.layout.precision, chosen.layout.optimizer) == way
    same = {"warnings": (), "provenance": {}}  # lines of the file are in these
    assert replace(chosen, **same) == replace(alone[way], **same)


def test_every_gpu_runs_what_it_computes_in() -> None:
    """Tests that a way is offered on those GPUs alone that have its precision."""
    setting = toy(A100, H100, workload=WAYS)
    ways = [(g.key[0], g.job.precision, g.job.optimizer.name) for g in setting.classes]
    assert len(ways) == len(set(ways)) == 6
    assert {p for gpu, p, _ in ways if gpu == "a100-sxm-80gb"} == {"bf16"}
    assert {p for gpu, p, _ in ways if gpu == "h100-sxm-80gb"} == {"bf16", "fp8"}


def test_checkpoints_are_those_of_the_way() -> None:
    """Tests that 8-bit moments make the smaller checkpoint, in bytes a parameter."""
    setting = toy(A100, workload={**WAYS, "precision": "bf16"})
    full, small = setting.checkpoint_bytes
    held = full / (4 + 8)
    assert small == pytest.approx(held * (4 + 2.03))
    assert (setting.least_checkpoint_bytes, setting.most_checkpoint_bytes) == (
        small,
        full,
    )


def test_a_plan_of_another_way_is_refused() -> None:
    """Tests that the verifier asks for one of the ways, whole."""
    scenario = job(None, workload=WAYS)
    plan = planned(WAYS)
    assert not verify(plan, scenario, catalog())
    for named in ({"optimizer": "sgd"}, {"precision": "fp16"}):
        other = replace(plan, layout=replace(plan.layout, **named))
        rules = [v.rule for v in verify(other, scenario, catalog())]
        assert "precision" in rules


def test_an_estimate_takes_the_best_way_that_fits() -> None:
    """Tests that 8-bit moments are taken where only they fit, else what is faster."""
    work = {**WAYS, "precision": "bf16", "start": "checkpoint"}
    large = job([A100], model="llama-2-70b", workload=work)
    pins = EstimatePins(nodes=2)
    found = estimate(large, catalog(), pins)
    assert (found.verdict, found.layout.optimizer) == ("fits", "adamw-8bit")
    work["precision"] = ["bf16", "fp8"]
    small = estimate(job([H100], workload=work), catalog(), pins)
    slow = estimate(
        job([H100], workload={**work, "precision": "bf16"}), catalog(), pins
    )
    assert small.training_days <= slow.training_days


def test_each_wrong_name_of_a_list_is_told_in_its_place() -> None:
    """Tests that faults point at the members of the lists."""
    work = {"optimizer": ["adamw", "lionn"], "precision": ["bf16", "bf61"]}
    with pytest.raises(InputError) as raised:
        job(None, workload=work)
    told = {(i.path, i.hint) for i in raised.value.issues}
    assert told == {
        ("workload.precision[1]", "bf16"),
        ("workload.optimizer[1]", "lion"),
    }


def test_an_estimate_skips_ways_without_the_layout() -> None:
    """Tests that a pin which one way cannot keep leaves the others to choose from."""
    work = {"start": "checkpoint", "framework": "deepspeed", "offload": "any"}
    scenario = job([A100], workload=work)
    for zero_stage in (1, 2, 3):
        pins = EstimatePins(nodes=1, zero_stage=zero_stage)
        found = estimate(scenario, catalog(), pins)
        assert found.layout.zero_stage == zero_stage
    found = estimate(scenario, catalog(), EstimatePins(nodes=1, recompute="none"))
    assert found.layout.recompute == "none"
    with pytest.raises(InputError, match="ZeRO-7"):
        estimate(scenario, catalog(), EstimatePins(nodes=1, zero_stage=7))


def test_an_estimate_names_whole_nodes() -> None:
    """Tests what is said of fewer GPUs than a node has, and of more."""
    for gpus, told in ((4, "of 8: 8 are"), (12, "of 8: 8 or 16 are")):
        with pytest.raises(InputError, match=told):
            estimate(job([A100]), catalog(), EstimatePins(offer="a", gpus=gpus))
