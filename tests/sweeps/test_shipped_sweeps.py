"""Tests of the shipped sweeps: each is read, tried, and a point of it answered."""

from __future__ import annotations

import pytest

from solver.resources import shipped_sweeps
from solver.scenario.gallery import question_of, yaml_files
from solver.sweeps.prepare import prepare
from solver.sweeps.solving import solve_points
from tests.project.source import ROOT
from tests.sweeps.examples import TODAY

NAMES = sorted(file.name.removesuffix(".yaml") for file in yaml_files(shipped_sweeps()))


def test_the_promised_sweeps_are_there() -> None:
    """Tests the names by which documentation calls them."""
    assert set(NAMES) >= {
        "context-by-gpus",
        "deadline-by-gpu",
        "model-by-budget",
        "price-shock",
        "region-by-stock",
    }


def test_the_page_on_sweeps_lists_them() -> None:
    """Tests that each is documented by the question that it asks."""
    page = (ROOT / "docs" / "sweeps.md").read_text(encoding="utf-8")
    for name in NAMES:
        text = (shipped_sweeps() / f"{name}.yaml").read_text(encoding="utf-8")
        assert f"| `{name}` | {question_of(text)} |" in page


@pytest.mark.parametrize("name", NAMES)
def test_each_can_be_run(name: str) -> None:
    """Tests that its first line asks a question and that it has an answer."""
    text = (shipped_sweeps() / f"{name}.yaml").read_text(encoding="utf-8")
    assert question_of(text).endswith("?")
    ready = prepare(name, (), TODAY)
    assert 12 <= len(ready.points.points) <= 100
    (record,) = solve_points(ready.question, ready.points.points[-1:])
    assert record.status in ("optimal", "infeasible"), record.reason
