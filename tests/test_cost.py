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


def test_a_term_is_paid_even_if_the_run_is_shorter() -> None:
    """Tests that 10 days of a 30-day term pay 30, and 40 days pay 40."""
    runs = np.array([10.0, 40.0]) * 24 * HOUR
    zero, term = np.zeros(2), 30 * 24 * HOUR
    billed = billed_seconds(runs, 0.0, zero, zero, term)
    assert billed / (24 * HOUR) == pytest.approx([30.0, 40.0])


def test_a_term_holds_beside_units() -> None:
    """Tests max(term, whole months): 3 months of term, runs of 1.5 and 3.2 months."""
    runs = np.array([1.5, 3.2]) * MONTH_S
    unit = np.full(2, MONTH_S)
    billed = billed_seconds(runs, 0.0, unit, np.zeros(2), 3 * MONTH_S)
    assert billed / MONTH_S == pytest.approx([3.0, 4.0])


def test_an_expected_bill_with_a_term_by_quadrature() -> None:
    """Tests E[max(term, T)] against a fine grid over the spread of the finish."""
    from statistics import NormalDist

    active, sigma, fixed = 100 * HOUR, 0.1, 4 * HOUR
    grid = [NormalDist().inv_cdf((i + 0.5) / 20_001) for i in range(20_001)]
    factors = np.exp(sigma * np.array(grid))
    factors /= factors.mean()
    for hours in (50.0, 95.0, 104.0, 110.0, 200.0):
        billed = billed_seconds(
            one(active), fixed, one(0.0), one(sigma), one(hours * HOUR)
        )
        exact = np.maximum(hours * HOUR, fixed + active * factors).mean()
        assert billed[0] == pytest.approx(exact, rel=2e-3)
    surely = billed_seconds(one(active), fixed, one(0.0), one(sigma), one(HOUR))
    assert surely[0] == pytest.approx(active + fixed), "a term that all runs pass"
    never = billed_seconds(one(active), fixed, one(0.0), one(sigma), one(500 * HOUR))
    assert never[0] == pytest.approx(500 * HOUR), "a term that no run passes"


@given(
    active=st.floats(1.0, 1e8),
    more=st.floats(0.0, 1e7),
    unit=st.sampled_from([0.0, HOUR, MONTH_S]),
    sigma=st.floats(0.0, 0.4),
    term=st.floats(0.0, 1e8),
    longer=st.floats(0.0, 1e7),
)
def test_bills_grow_with_run_and_term_and_keep_their_bound(
    active: float, more: float, unit: float, sigma: float, term: float, longer: float
) -> None:
    """Tests both directions, and the bound on which the search relies."""

    def billed(run: float, term_s: float) -> float:
        bill = billed_seconds(one(run), 60.0, one(unit), one(sigma), one(term_s))
        return float(bill[0])

    here = billed(active, term)
    assert billed(active + more, term) >= here * (1 - 1e-9)
    assert billed(active, term + longer) >= here * (1 - 1e-9)
    assert here >= max(term, active + 60.0) * (1 - 1e-9)
    assert billed(active, 0.0) <= here * (1 + 1e-9)
