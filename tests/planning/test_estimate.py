"""Tests of the estimate of one pinned layout."""

from __future__ import annotations

from typing import Any

import pytest

from solver.errors import InputError
from solver.planning.estimate import EstimatePins, estimate
from solver.planning.single_job import plan_job
from tests.planning.jobs import A100, catalog, job


def of(**pins: Any) -> Any:
    """The estimate of the toy job with pins."""
    return estimate(job([A100]), catalog(), EstimatePins(**pins))


def test_a_pinned_layout_is_kept() -> None:
    """Tests that every pin is in the answer."""
    found = of(gpu="H100-SXM", gpus=16, tp=2, micro_batch=2, recompute="full")
    assert (found.gpus, found.nodes) == (16, 2)
    assert (found.layout.tp, found.layout.micro_batch) == (2, 2)
    assert found.layout.recompute == "full"
    assert sum(found.step_time_parts_s.values()) == pytest.approx(found.step_time_s)


def test_a_family_name_takes_the_usual_form() -> None:
    """Tests that H100 is the SXM card, which is what most offers have."""
    assert of(gpu="H100", gpus=8).gpu == "h100-sxm-80gb"
    assert of(gpu="L40S", gpus=8).gpu == "l40s"


def test_it_agrees_with_the_plan() -> None:
    """Tests that the estimate of a plan's layout has the plan's figures."""
    plan = plan_job(job([A100]), catalog()).plan
    assert plan is not None
    layout = plan.layout
    names = ("tp", "pp", "cp", "dp", "micro_batch", "virtual_stages", "zero_stage")
    found = of(
        gpus=plan.gpus,
        recompute=layout.recompute,
        **{name: getattr(layout, name) for name in names},
    )
    assert found.step_time_s == pytest.approx(plan.step_time_s)
    assert found.memory_gib == pytest.approx(plan.memory_gib)
    assert found.mfu == pytest.approx(plan.mfu)
    assert found.step_time_p10_s == pytest.approx(plan.step_time_p10_s)
    assert found.step_time_p90_s == pytest.approx(plan.step_time_p90_s)


def test_an_own_efficiency_stretches_the_step() -> None:
    """Tests that an estimate at 80 % takes a quarter longer, and says so."""
    pins = EstimatePins(gpus=8)
    tuned = estimate(job([A100]), catalog(), pins)
    slow = estimate(job([A100], workload={"efficiency": "80%"}), catalog(), pins)
    assert slow.layout == tuned.layout
    assert slow.step_time_s == pytest.approx(tuned.step_time_s / 0.8)
    assert slow.tokens_per_s == pytest.approx(tuned.tokens_per_s * 0.8)
    assert (tuned.efficiency, slow.efficiency) == (1.0, 0.8)
    assert "warning.efficiency" in {n.id for n in slow.notes}
    assert "warning.efficiency" not in {n.id for n in tuned.notes}


def test_an_estimate_says_what_was_never_measured() -> None:
    """Tests the notes of a scale beyond all runs, and of a card without any."""
    ids = {n.id for n in of(gpu="H100-SXM", gpus=8).notes}
    assert not {i for i in ids if "unmeasured" in i}
    wide = estimate(
        job([A100], workload={"global_batch_size": 9216}),
        catalog(),
        EstimatePins(gpu="GB200", gpus=576, tp=1, pp=1, cp=1),
    )
    told = {n.id: n.text for n in wide.notes}
    assert "576 GPUs are more than the 512" in told["warning.scale-unmeasured"]
    ids = {n.id for n in of(gpu="H100-PCIe", gpus=8).notes}
    assert "warning.gpu-unmeasured" in ids


def test_what_does_not_fit_is_still_shown() -> None:
    """Tests that an impossible layout has figures and a verdict."""
    scenario = job([A100], model="llama-2-70b")
    found = estimate(scenario, catalog(), EstimatePins(gpus=8, tp=8))
    assert found.verdict == "impossible"
    assert found.memory_gib["total"] > found.memory_gib["capacity"]


@pytest.mark.parametrize(
    ("pins", "code"),
    [
        ({"gpu": "H1000", "gpus": 8}, "unknown-name"),
        ({"gpus": 12}, "not-divisible"),
        ({"gpus": 8, "nodes": 2}, "not-divisible"),
        ({}, "missing-key"),
        ({"gpu": "t4", "gpus": 1}, "precision-unsupported"),
        ({"server": "8x-h100-sxmm", "gpus": 8}, "unknown-name"),
        ({"gpus": 8, "recompute": "some"}, "wrong-value"),
        ({"gpus": 999_999}, "not-divisible"),
    ],
)
def test_pins_that_cannot_be_are_input_errors(pins: dict[str, Any], code: str) -> None:
    """Tests that wrong pins are refused by name."""
    with pytest.raises(InputError) as error:
        of(**pins)
    assert error.value.issues[0].code == code


def test_a_degree_that_does_not_divide_is_refused() -> None:
    """Tests that TP 3 of 16 heads names what would divide."""
    with pytest.raises(InputError) as error:
        of(gpus=24, tp=3)
    assert error.value.issues[0].where == "--tp"
