"""Tests of the page of an estimate."""

from dataclasses import replace
from typing import Any

import pytest

from solver.plan import Message
from solver.planning.estimate import Estimate
from solver.report.as_table import render
from solver.report.estimate_rows import estimate_page
from tests.report.examples import PLAN

ESTIMATE = Estimate(
    gpu=PLAN.gpu,
    server=PLAN.server,
    nodes=PLAN.nodes,
    gpus=PLAN.gpus,
    network=PLAN.network,
    framework=PLAN.framework,
    layout=PLAN.layout,
    memory_gib=PLAN.memory_gib,
    verdict="fits",
    step_time_s=PLAN.step_time_s,
    step_time_parts_s=PLAN.step_time_parts_s,
    mfu=PLAN.mfu,
    tokens_per_s=PLAN.tokens_per_s,
    training_days=PLAN.training_days,
    step_time_p10_s=19.0,
    step_time_p90_s=24.0,
    efficiency=1.0,
    notes=(Message("an-example", {}, "Two layouts would do."),),
)


@pytest.mark.parametrize(
    ("verdict", "says", "good"),
    [
        ("fits", "fits in memory; 21.5 s a step, 29.7 days of training", True),
        ("tight", "fits only within the headroom; 21.5 s a step", True),
        ("impossible", "does not fit in memory", False),
    ],
)
def test_first_line(verdict: Any, says: str, good: bool) -> None:
    """Tests that the first line tells whether it fits, and how long it takes."""
    answer = estimate_page(replace(ESTIMATE, verdict=verdict))
    assert answer.headline.startswith("32 × 8 H100 SXM 80GB: ")
    assert says in answer.headline
    assert answer.good is good


def test_sections() -> None:
    """Tests that an estimate shows hardware, layout, memory, step and notes."""
    ids = [part.id.removeprefix("section.") for part in estimate_page(ESTIMATE).parts]
    assert ids == ["hardware", "layout", "memory", "step", "notes"]


def test_notes_are_no_warnings() -> None:
    """Tests that a note has a point, not an exclamation mark."""
    text = render(estimate_page(ESTIMATE), width=80)
    assert "  · Two layouts would do." in text
    without = estimate_page(replace(ESTIMATE, notes=()))
    assert without.parts[-1].id == "section.step"


def test_one_node_has_no_network() -> None:
    """Tests that a single node says why nothing joins it to others."""
    one = replace(ESTIMATE, nodes=1, gpus=8, network=None)
    assert "none: one node" in render(estimate_page(one), width=80)
