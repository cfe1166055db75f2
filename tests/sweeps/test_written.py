"""Tests of quantities taken apart, ranges and distributions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from solver.sweeps.draws import DISTRIBUTIONS, distribution
from solver.sweeps.ranges import expanded
from solver.sweeps.written import as_factor, as_number, quantity
from solver.units import QuantityError


@pytest.mark.parametrize(
    ("spec", "values"),
    [
        (
            {"from": "20 days", "to": "90 days", "count": 3},
            ("20 days", "55 days", "90 days"),
        ),
        (
            {"from": "$10k", "to": "$25k", "step": "$5k"},
            ("$10k", "$15k", "$20k", "$25k"),
        ),
        ({"from": 64, "to": 8, "step": 28}, (64, 36, 8)),
        (
            {"from": 1024, "to": 8192, "count": 4, "spacing": "geometric"},
            (1024, 2048, 4096, 8192),
        ),
        ({"from": 0.1, "to": 0.3, "count": 3}, (0.1, 0.2, 0.3)),
        (
            {"from": "1 h", "to": "2 h", "count": 4},
            ("1 h", "1.33333333333 h", "1.66666666667 h", "2 h"),
        ),
    ],
)
def test_ranges(spec: dict[str, Any], values: tuple[Any, ...]) -> None:
    """Tests that a range is written as its ends are, without float noise."""
    assert expanded(spec) == values


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ({"from": "20 days", "to": "9 weeks", "count": 3}, "one unit"),
        ({"from": 1, "to": 2}, "either count or step"),
        ({"from": 1, "to": 2, "count": 3, "step": 1}, "either count or step"),
        ({"from": 1, "to": 2, "count": 1}, "2 to 100,000"),
        ({"from": 1, "to": 2, "count": 2.5}, "whole number"),
        ({"from": 0, "to": 2, "count": 3, "spacing": "geometric"}, "above zero"),
        ({"from": 1, "to": 2, "count": 3, "spacing": "log"}, "linear or geometric"),
        ({"from": 1, "to": 2, "step": 0}, "above zero"),
        ({"from": 1, "to": 1e9, "step": 1}, "more than 100,000"),
        ({"from": "soon", "to": 2, "count": 3}, "expected a number"),
        ({"to": 2, "count": 3}, "needs 'from'"),
        ({"from": "1 h", "to": "2 h", "step": "9 min"}, "unit of the ends"),
    ],
)
def test_wrong_ranges(spec: dict[str, Any], told: str) -> None:
    """Tests that a range that cannot be meant is refused."""
    with pytest.raises(QuantityError, match=told):
        expanded(spec)


def test_quantities_are_compared_across_units() -> None:
    """Tests that conditions know that 10 days are less than two weeks."""
    assert as_number("10 days", "2 weeks") == (864_000.0, 1_209_600.0)
    assert as_number("$250k", 250_000) == (250_000.0, 250_000.0)
    assert as_number("10 days", "5 GB") is None
    with pytest.raises(QuantityError, match="a number and its unit"):
        as_number("soon", "10 days")


def test_what_is_no_quantity() -> None:
    """Tests that dates, words and truth are no numbers with a unit."""
    assert quantity("2027-03-31") is None
    assert quantity("on_demand") is None
    assert quantity(True) is None


def test_draws_do_not_depend_on_how_many_there_are() -> None:
    """Tests that each draw of each key is its own, by seed, number and key."""
    one = distribution("price_factor", {"uniform": [0.5, 1.5]})
    other = distribution("failures.gpu_mtbf", {"uniform": ["1000 hours", "9000 hours"]})
    assert one.draw(1, 7) == one.draw(1, 7)
    assert len({one.draw(1, n) for n in range(50)}) == 50
    assert one.draw(1, 7) != one.draw(2, 7)
    assert str(other.draw(1, 7)).endswith(" hours")
    share = (float(str(other.draw(1, 7)).removesuffix(" hours")) - 1000) / 8000
    assert share != pytest.approx(one.draw(1, 7) - 0.5)


@pytest.mark.parametrize(
    ("kind", "values", "mean"),
    [
        ("uniform", [1, 3], 2.0),
        ("loguniform", [1, np.e**2], (np.e**2 - 1) / 2),
        ("triangular", [0, 1, 5], 2.0),
        ("normal", [4, 0.5], 4.0),
        ("lognormal", [2, "10%"], 2 * np.exp(0.005)),
        ("choice", [1, 2, 6], 3.0),
    ],
)
def test_distributions_have_their_mean(
    kind: str, values: list[Any], mean: float
) -> None:
    """Tests each distribution against the mean that its formula gives."""
    drawn = distribution("x", {kind: values})
    numbers = [float(drawn.draw(3, n)) for n in range(2_000)]
    error = 4 * float(np.std(numbers)) / np.sqrt(len(numbers))
    assert np.mean(numbers) == pytest.approx(mean, abs=error)
    assert kind in DISTRIBUTIONS


@pytest.mark.parametrize(
    ("value", "factor"), [(1.2, 1.2), (2, 2.0), ("120%", 1.2), ("0.5", 0.5)]
)
def test_price_factors(value: Any, factor: float) -> None:
    """Tests that a factor is the same wherever a sweep states one."""
    assert as_factor(value) == pytest.approx(factor)


@pytest.mark.parametrize("value", ["+20%", 0, -1, 1e308, True, None, float("nan"), "x"])
def test_what_is_no_price_factor(value: Any) -> None:
    """Tests that a change of the price is not taken for a factor, nor nonsense."""
    with pytest.raises(QuantityError, match="expected a factor above zero"):
        as_factor(value)


@pytest.mark.parametrize("value", ["1e999999999", float("inf"), float("nan"), "-1e400"])
def test_numbers_that_are_endless(value: Any) -> None:
    """Tests that they are none: as a fraction they would fill the memory."""
    assert quantity(value) is None
    assert quantity("1e-999999999 days") == quantity("0 days")


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ({"unifrom": [1, 2]}, "did you mean 'uniform'"),
        ({"uniform": [2, 1]}, "rising order"),
        ({"uniform": [1]}, r"\[low, high\]"),
        ({"uniform": ["1 h", "2 days"]}, "one unit"),
        ({"lognormal": [0, 0.1]}, "above zero"),
        ({"normal": [1, 0]}, "deviation above zero"),
        ({"choice": []}, "list of values"),
        ({"uniform": [1, 2], "normal": [1, 2]}, "one distribution"),
        (1.2, "one distribution"),
    ],
)
def test_wrong_distributions(written: Any, told: str) -> None:
    """Tests that a distribution of which nothing can be drawn is refused."""
    with pytest.raises(QuantityError) as caught:
        distribution("x", written)
    assert caught.match(told)
