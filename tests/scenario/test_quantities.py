"""Tests of the types of scenario fields."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from solver.scenario import quantities
from solver.units import QuantityError


def value_of(kind: Any, written: object) -> Any:
    """Return what a field of a type reads."""
    return TypeAdapter(kind).validate_python(written)


def refusal(kind: Any, written: object) -> QuantityError:
    """Return why a field of a type refuses a value."""
    with pytest.raises(ValidationError) as caught:
        value_of(kind, written)
    (detail,) = caught.value.errors()
    reason = detail["ctx"]["error"]
    assert isinstance(reason, QuantityError)
    return reason


@pytest.mark.parametrize(
    ("kind", "written", "value"),
    [
        (quantities.Count, "52k", 52_000),
        (quantities.Count, 0.5, 0.5),
        (quantities.TokenCount, "2T", 2e12),
        (quantities.TokenCount, "Compute optimal", "compute-optimal"),
        (quantities.Whole, 0, 0),
        (quantities.Whole, "4k", 4000),
        (quantities.PositiveWhole, 8.0, 8),
        (quantities.Rate, "1.2M tokens/s", 1.2e6),
        (quantities.Hours, 2, 7200),
        (quantities.Hours, "30 min", 1800),
        (quantities.PositiveSeconds, 5, 5),
        (quantities.When, 3, 3 * 86_400),
        (quantities.When, "2 weeks", 14 * 86_400),
        (quantities.When, "2027-03-31", date(2027, 3, 31)),
        (quantities.Day, "2027-03-31", date(2027, 3, 31)),
        (quantities.Day, date(2027, 3, 31), date(2027, 3, 31)),
        (quantities.Bytes, "8 TB", 8e12),
        (quantities.Bytes, 8, 8e9),
        (quantities.Bandwidth, "80 Gb/s", 10e9),
        (quantities.Bandwidth, 10, 10e9),
        (quantities.GigabytesPerSecond, 300, 300),
        (quantities.GigabytesPerSecond, "300 GB/s", 300),
        (quantities.GigabytesPerSecond, "2.4 Tb/s", 300),
        (quantities.Gbps, 400, 400),
        (quantities.PositiveGbps, "3.2 Tb/s", 3200),
        (quantities.Usd, "$250k", 250_000),
        (quantities.Usd, 2.5, 2.5),
        (quantities.Fraction, "100%", 1.0),
        (quantities.Efficiency, "80%", 0.8),
        (quantities.Efficiency, 1.2, 1.2),
        (quantities.Efficiency, "1%", 0.01),
        (quantities.Share, "5%", 0.05),
        (quantities.Confidence, "90%", 0.9),
        (quantities.NumberOrZero, 0, 0),
        (quantities.Text, " mine ", "mine"),
        (quantities.Text, 7, "7"),
    ],
)
def test_values(kind: Any, written: object, value: object) -> None:
    """Tests what each type makes of what people write."""
    assert value_of(kind, written) == value


@pytest.mark.parametrize(
    ("kind", "written", "code"),
    [
        (quantities.Count, 0, "out-of-range"),
        (quantities.Count, "1e31", "out-of-range"),
        (quantities.TokenCount, "optimal", "wrong-type"),
        (quantities.Whole, 1.5, "wrong-type"),
        (quantities.Whole, 10**16, "out-of-range"),
        (quantities.Whole, True, "wrong-type"),
        (quantities.PositiveWhole, 0, "out-of-range"),
        (quantities.PositiveSeconds, 0, "out-of-range"),
        (quantities.When, 0, "out-of-range"),
        (quantities.When, "9999999 years", "out-of-range"),
        (quantities.When, "2027-02-30", "out-of-range"),
        (quantities.When, "31.3.2027", "wrong-type"),
        (quantities.Day, "tomorrow", "wrong-type"),
        (quantities.Day, "3 days", "wrong-type"),
        (quantities.Day, 20270331, "wrong-type"),
        (quantities.Day, "2027-02-30", "out-of-range"),
        (quantities.Bytes, "8 TBs", "unknown-unit"),
        (quantities.Bytes, 0, "out-of-range"),
        (quantities.PositiveGbps, 0, "out-of-range"),
        (quantities.Usd, "-3", "out-of-range"),
        (quantities.Usd, "3 EUR", "unknown-unit"),
        (quantities.Fraction, 1.1, "out-of-range"),
        (quantities.Share, 1, "out-of-range"),
        (quantities.Efficiency, 0, "out-of-range"),
        (quantities.Efficiency, "121%", "out-of-range"),
        (quantities.Efficiency, "fast", "wrong-type"),
        (quantities.Confidence, 0, "out-of-range"),
        (quantities.Confidence, "100%", "out-of-range"),
        (quantities.Text, "", "wrong-type"),
        (quantities.Text, True, "wrong-type"),
        (quantities.Text, None, "wrong-type"),
        (quantities.Text, 10**1000, "wrong-type"),
        (quantities.Text, "a\x00b", "wrong-type"),
        (quantities.Text, "x" * 501, "out-of-range"),
    ],
)
def test_refusals(kind: Any, written: object, code: str) -> None:
    """Tests that each type refuses what it cannot be, with a code."""
    reason = refusal(kind, written)
    assert reason.code == code
    assert reason.message


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("On-Demand", "on_demand"),
        (" parallel fs ", "parallel_fs"),
        ("BF16", "bf16"),
        (3, 3),
        (None, None),
    ],
)
def test_words_of_a_list(written: object, expected: object) -> None:
    """Tests that words are compared without case, hyphens and spaces."""
    assert quantities.word(written) == expected


def test_a_single_value_is_a_list_of_one() -> None:
    """Tests that only single values are wrapped."""
    assert quantities.any_of("a") == ["a"]
    assert quantities.any_of(8) == [8]
    assert quantities.any_of(["a"]) == ["a"]
    assert quantities.any_of({"a": 1}) == {"a": 1}


def test_editors_are_told_the_forms() -> None:
    """Tests the JSON Schema of a quantity: numbers and text, with examples."""
    schema = TypeAdapter(quantities.Bytes).json_schema()
    assert schema == {"type": ["number", "string"], "examples": ["8 TB"]}
    assert TypeAdapter(quantities.Text).json_schema() == {"type": ["string", "number"]}


def test_examples_are_true() -> None:
    """Tests that every example that editors show can be read."""
    kinds = [getattr(quantities, name) for name in dir(quantities)]
    annotations = [
        (kind, mark)
        for kind in kinds
        for mark in getattr(kind, "__metadata__", ())
        if isinstance(mark, quantities.Written)
    ]
    assert len(annotations) > 20
    for kind, mark in annotations:
        for example in mark.examples:
            value_of(kind, example)
