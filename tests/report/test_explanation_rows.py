"""Tests of what is said where there is no plan."""

import re
from dataclasses import replace

from solver.plan import Explanation
from solver.report.answer_rows import page
from solver.report.as_table import render
from tests.report.examples import INFEASIBLE, PLAN

OPENS = {
    "offer": "nebius/eu-north1/8x-h100-sxm/on_demand",
    "gpus": 64,
    "cost_usd": 81_234.0,
    "duration_days": 34.2,
}
DEADLINE = {"constraint": "deadline", "now": "30 days", "needed": "34.2 days"}
COUNTRIES = {"constraint": "countries", "now": "SG, JP", "needed": "FI"}


def shown(explanation: Explanation) -> str:
    """Return the page of an explanation at 120 columns, blanks joined."""
    text = render(page(replace(INFEASIBLE, explanation=explanation)), width=120)
    return re.sub(r" {2,}", "  ", text)


def explanation(**changes: object) -> Explanation:
    """Return an explanation that says no more than it has to."""
    empty = Explanation("constraints", "it cannot be", (), (), None, {})
    return replace(empty, **changes)  # type: ignore[arg-type]


def test_relaxations_say_what_they_open() -> None:
    """Tests that each least change stands with the plan that it opens."""
    text = shown(
        explanation(
            relaxations=(DEADLINE | {"opens": OPENS}, COUNTRIES | {"opens": {}})
        )
    )
    assert "deadline  30 days  34.2 days  $81,234, 34.2 days, 64 GPUs\n" in text
    assert "allowed countries  SG, JP  FI  –" in text


def test_relaxations_without_plans() -> None:
    """Tests that there is no empty column where nothing is known to open."""
    text = shown(explanation(relaxations=(DEADLINE,)))
    assert "constraint  now  needed\n" in text


def test_levers_come_leanest_first() -> None:
    """Tests that what would save memory is ordered by what it needs."""
    levers = (
        {"constraint": "optimizer", "now": "adamw", "needed": "adamw-8bit"}
        | {"saves_gib": 40.0, "need_gib": 100.0, "fits": False},
        {"constraint": "method", "now": "full", "needed": "qlora"}
        | {"saves_gib": 120.0, "need_gib": 20.0, "fits": True},
    )
    text = shown(explanation(kind="memory", relaxations=levers))
    lines = text.split("What would need less memory")[1].splitlines()
    assert lines[2].strip() == "method  full  qlora  20.0  yes"
    assert lines[3].strip() == "optimizer  adamw  adamw-8bit  100  no"
    assert "What would open a plan" not in text


def test_a_miss_by_memory() -> None:
    """Tests that the nearest miss shows card, layout and every part."""
    miss = {
        "gpu": "h100-sxm-80gb",
        "nodes": 1,
        "need_gib": 84.6,
        "ratio": 1.19,
        "layout": {"tp": 8, "pp": 1, "ep": 1, "micro_batch": 2, "recompute": "full"},
        "memory_gib": PLAN.memory_gib | {"total": 84.6},
    }
    text = shown(explanation(kind="memory", nearest_miss=miss))
    assert "GPU  h100-sxm-80gb" in text
    assert "GiB needed  84.6" in text
    assert "TP 8 · PP 1 · micro-batch 2 · recompute full" in text
    assert "total  84.60 GiB  107%" in text


def test_a_miss_by_divisibility() -> None:
    """Tests that each axis that does not divide stands with the nearest that does."""
    faults = [
        {"axis": "tp", "wanted": 6, "why": "32 heads over 6", "nearest": (4, 8)},
        {"axis": "pp", "wanted": 7, "why": "32 layers in 7 stages", "nearest": None},
    ]
    text = shown(explanation(kind="layout", nearest_miss={"faults": faults}))
    assert "TP  32 heads over 6; nearest: 4, 8" in text
    assert "PP  32 layers in 7 stages\n" in text


def test_counts_come_largest_first() -> None:
    """Tests that what removed most offers is named first."""
    text = shown(explanation(counts={"deadline": 3, "regions": 1_200}))
    after = text.split("requirement  removed\n")[1].splitlines()
    assert after[0].strip() == "allowed regions  1,200"
    assert after[1].strip() == "deadline  3"


def test_an_unknown_requirement_stands_for_itself() -> None:
    """Tests that a requirement without a title is shown by its id, in words."""
    assert "in conflict  some_thing".replace("_", " ") in shown(
        explanation(conflict=("some_thing",))
    )
