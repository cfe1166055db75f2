import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solver.cpsat.scaling import scale_down, scale_up, unit_for
from solver.cpsat.table import MAX_SCALED
from solver.errors import InternalError

UNITS = st.sampled_from([10.0**e for e in range(-6, 4)])
VALUES = st.floats(0, 1e9, allow_nan=False)


@pytest.mark.parametrize(
    ("cheapest", "unit"),
    [(1e9, 1.0), (9.9e8, 0.1), (250.0, 1e-7), (1e-3, 1e-12), (0.0, 1e-4)],
)
def test_unit_is_a_power_of_ten_below_the_share(cheapest: float, unit: float) -> None:
    """Tests units known by heart."""
    assert unit_for(cheapest) == pytest.approx(unit, rel=1e-12)


@given(st.floats(1e-9, 1e15))
def test_unit_is_at_most_a_billionth(cheapest: float) -> None:
    """Tests that rounding up costs the cheapest candidate next to nothing."""
    unit = unit_for(cheapest)
    assert unit <= cheapest * 1.001e-9
    assert unit > cheapest * 0.999e-10


@given(st.floats(1e-9, 1e9), st.floats(0, 1e30))
def test_unit_is_widened_until_the_largest_fits(cheapest: float, top: float) -> None:
    """Tests that the unit that comes back holds the largest value, and no wider one."""
    unit = unit_for(cheapest, top)
    assert int(scale_up(top, unit)) <= MAX_SCALED
    if unit > cheapest * 1.001e-9:
        assert top / unit > MAX_SCALED / 10.01


@pytest.mark.parametrize("bad", [-1.0, math.nan, math.inf])
def test_unit_refuses_nonsense(bad: float) -> None:
    """Tests that a cost that is no number is our error and not a plan."""
    with pytest.raises(InternalError):
        unit_for(bad)
    with pytest.raises(InternalError):
        unit_for(1.0, bad)


@given(VALUES, UNITS)
def test_up_is_never_below_and_down_never_above(value: float, unit: float) -> None:
    """Tests the directions of rounding, to half an ulp, and that one unit is enough."""
    up, down = int(scale_up(value, unit)), int(scale_down(value, unit))
    exact = Fraction(value) / Fraction(str(unit))
    ulp = Fraction(np.spacing(float(exact)))
    assert up >= exact - ulp
    assert down <= exact + ulp
    assert up - exact < 1 + ulp
    assert exact - down < 1 + ulp


@given(st.lists(VALUES, min_size=2, max_size=20), UNITS)
def test_order_is_kept(values: list[float], unit: float) -> None:
    """Tests that a smaller value never gets a larger integer, nor the other way."""
    for scaled in (scale_up(values, unit), scale_down(values, unit)):
        order = np.argsort(values, kind="stable")
        assert np.all(np.diff(scaled[order]) >= 0)


@given(VALUES, VALUES, UNITS)
def test_integer_comparison_keeps_the_limit(
    cost: float, budget: float, unit: float
) -> None:
    """Tests that what fits in integers fits in floats, and what fits by more than a
    unit in floats fits in integers."""
    fits = int(scale_up(cost, unit)) <= int(scale_down(budget, unit))
    slack = 1e-15 * max(cost, budget)
    if fits:
        assert cost <= budget + slack
    if cost + 2 * unit <= budget - slack:
        assert fits


@pytest.mark.parametrize(("value", "unit"), [(1.1, 0.1), (0.3, 0.01), (412.35, 0.01)])
def test_decimal_figures_are_whole_units(value: float, unit: float) -> None:
    """Tests that 1.1 is eleven tenths, whichever way it is rounded."""
    assert int(scale_up(value, unit)) == int(scale_down(value, unit))


@pytest.mark.parametrize("bad", [-1.0, math.nan, math.inf, 2.0**53])
def test_values_outside_the_range_are_refused(bad: float) -> None:
    """Tests that no value is wrapped, clipped or turned into an arbitrary integer."""
    with pytest.raises(InternalError, match="outside 0"):
        scale_up([1.0, bad], 1.0)


@pytest.mark.parametrize("unit", [0.0, -1.0, math.nan])
def test_units_are_positive(unit: float) -> None:
    """Tests that a unit has to be a positive number."""
    with pytest.raises(InternalError, match="unit"):
        scale_down(1.0, unit)
