"""Tests of the arithmetic from hours to money."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solver.cost import (
    MONTH_S,
    billed_seconds,
    rent_usd,
    storage_usd,
    weighted_usd,
)

HOUR = 3600.0


def one(value: float) -> np.ndarray:
    """Return an array of one element."""
    return np.array([value])


def test_seconds_are_billed_as_they_are() -> None:
    """Tests that billing to the second rounds nothing."""
    billed = billed_seconds(one(5000.5), 100.0, one(0.0), one(0.1))
    assert billed[0] == 5100.5


def test_whole_months_are_paid() -> None:
    """Tests that 1.01 months of certain length are paid as two."""
    billed = billed_seconds(one(1.01 * MONTH_S), 0.0, one(MONTH_S), one(0.0))
    assert billed[0] == pytest.approx(2 * MONTH_S)


def test_a_whole_unit_does_not_pay_one_more() -> None:
    """Tests that a finish on the unit's end is not rounded up by a float's error."""
    billed = billed_seconds(one(0.1 * 3 * HOUR), 0.7 * HOUR, one(HOUR), one(0.0))
    assert billed[0] == pytest.approx(HOUR)


def test_expected_units_not_units_of_the_expectation() -> None:
    """Tests the published example: 0.97 month with 8 % spread costs 1.35 months."""
    billed = billed_seconds(one(0.97 * MONTH_S), 0.0, one(MONTH_S), one(0.08))
    assert billed[0] / MONTH_S == pytest.approx(1.35, abs=0.02)


def test_units_are_mixed_by_row() -> None:
    """Tests that each row is billed by its own unit."""
    billed = billed_seconds(
        np.array([1800.0, 1800.0]), 0.0, np.array([0.0, HOUR]), np.array([0.0, 0.0])
    )
    assert billed.tolist() == [1800.0, HOUR]


@given(
    active=st.floats(1.0, 1e8),
    more=st.floats(0.0, 1e7),
    unit=st.sampled_from([0.0, HOUR, MONTH_S]),
    sigma=st.floats(0.0, 0.4),
)
def test_a_longer_run_never_costs_less(
    active: float, more: float, unit: float, sigma: float
) -> None:
    """Tests that the bill grows with the run, whatever the unit and the spread."""
    short = billed_seconds(one(active), 60.0, one(unit), one(sigma))
    longer = billed_seconds(one(active + more), 60.0, one(unit), one(sigma))
    assert longer[0] >= short[0] - 1e-6


def test_rent_is_nodes_times_price_times_hours() -> None:
    """Tests a bill that can be done by hand."""
    assert rent_usd(4, 20.0, one(10 * HOUR))[0] == pytest.approx(800.0)


def test_storage_pays_at_least_the_smallest_size() -> None:
    """Tests that 1 TB on a tier sold from 2 TB is paid as 2 TB for a month."""
    cost = storage_usd(0.1, 1e12, 2e12, one(MONTH_S))
    assert cost[0] == pytest.approx(200.0)


def test_weighted_objective_is_in_dollars() -> None:
    """Tests cost weight and dollars a day."""
    assert weighted_usd(100.0, 2 * 86_400.0, 1.0, 500.0) == pytest.approx(1100.0)
