"""Whether intervals hold what they promise, on the shipped measurements."""

from __future__ import annotations

from functools import cache

import pytest

from solver.accuracy.coverage import Coverage, coverage
from solver.accuracy.report import accuracy_report
from solver.accuracy.scoring import Interval
from solver.catalog.load import load_catalog
from tests.accuracy.test_scoring import outcome

ENOUGH = 30
"""Runs below which a share says little."""


@cache
def shipped() -> tuple[Coverage, ...]:
    """Coverage of the shipped measurements."""
    return accuracy_report(None, load_catalog(())).coverage


def test_nine_of_ten_end_in_time() -> None:
    """Tests that the predicted 90th percentile covers about 90 % of all good rows."""
    (whole,) = [line for line in shipped() if line.by == "all"]
    assert whole.n > 3000
    assert 0.88 <= whole.below <= 0.97


@pytest.mark.parametrize("by", ["software", "generation"])
def test_nine_of_ten_of_every_family(by: str) -> None:
    """Tests each family with enough runs; a share of 30 runs is known to 0.05 or so."""
    lines = [line for line in shipped() if line.by == by and line.n >= ENOUGH]
    assert len(lines) >= 4
    for line in lines:
        assert 0.80 <= line.below <= 0.99, line


def test_tuned_stacks_are_not_covered_by_width_alone() -> None:
    """Tests that the interval of the best-known stack is narrow enough to be of use."""
    by_name = {line.value: line for line in shipped() if line.by == "software"}
    assert by_name["megatron dense"].above < 1.25
    assert by_name["pytorch-fsdp dense"].above < 1.35


def test_shares_by_hand() -> None:
    """Tests three runs of which two end below, and that suspect ones do not count."""
    ends = Interval(1.2, "megatron dense", "hopper")
    rows = [outcome(1.0, measured, interval=ends) for measured in (0.9, 1.2, 1.3)]
    rows.append(outcome(1.0, 9.0, interval=ends, quality="suspect"))
    rows.append(outcome(1.0, 9.0))
    found = coverage(rows)
    assert [(line.by, line.value, line.n) for line in found] == [
        ("all", "all", 3),
        ("software", "megatron dense", 3),
        ("generation", "hopper", 3),
    ]
    assert found[0].below == pytest.approx(2 / 3)
    assert found[0].above == pytest.approx(1.2)
