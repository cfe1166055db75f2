"""From floats to the integers that CP-SAT works on, and the direction of rounding.

What is spent (cost, time, memory, demand) is rounded up and what it is held against
(budget, deadline, capacity) down; what is delivered (tokens a second) is rounded down
and its floor up. A plan that keeps its limits in integers so keeps them in truth. The
price is that a plan within one unit of a limit can be refused.
"""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
from numpy.typing import ArrayLike

from solver.cpsat.table import MAX_SCALED, IntArray
from solver.errors import InternalError

UNIT_SHARE = 1e-9
"""Largest unit, as a share of the cheapest feasible candidate: fine enough that plans
of different cost or finish are never tied by rounding."""

FREE_UNIT = 1e-4
"""Unit of a column whose cheapest value is 0: a hundredth of a cent, 0.1 ms."""


def unit_for(cheapest: float, largest: float = 0.0) -> float:
    """Return the unit of a column: a power of ten, at most 1e-9 of ``cheapest``.

    Parameters
    ----------
    cheapest
        Least value that any feasible candidate of the job has. It must follow from
        catalog and job alone: a unit that moved with the user's limits would round
        differently under each and more freedom could look worse.
    largest
        Largest value in the column, or the largest sum that will be formed. The unit
        is widened by powers of ten until that fits `MAX_SCALED`; the caller sees it in
        the unit returned and says so where it passes 1e-9 of the cheapest.

    Raises
    ------
    InternalError
        For values that are negative or not finite.
    """
    for value in (cheapest, largest):
        if not (math.isfinite(value) and value >= 0):
            raise InternalError(f"cannot scale a column with the value {value}")
    wanted = cheapest * UNIT_SHARE if cheapest > 0 else FREE_UNIT
    exponent = Decimal(wanted).adjusted() if wanted > 0 else -300
    while largest / _power_of_ten(exponent) >= MAX_SCALED:
        exponent += 1
    return _power_of_ten(exponent)


def scale_up(values: ArrayLike, unit: float) -> IntArray:
    """Return ``ceil(values / unit)`` as int64, same shape.

    For costs, times, memory and demands, and for floors on what is delivered.
    """
    return _checked(np.ceil(_in_units(values, unit)), unit)


def scale_down(values: ArrayLike, unit: float) -> IntArray:
    """Return ``floor(values / unit)`` as int64, same shape.

    For budgets, deadlines and capacities, and for throughput that is delivered.
    """
    return _checked(np.floor(_in_units(values, unit)), unit)


def _power_of_ten(exponent: int) -> float:
    """The float nearest to ten to the ``exponent``."""
    return float(f"1e{exponent}")


def _in_units(values: ArrayLike, unit: float) -> np.ndarray:
    """Values divided by the unit with a single rounding of half an ulp.

    Notes
    -----
    0.01 is no float, so dividing by it would round twice: 1.1 / 0.1 is more than 11.
    Multiplying by 100, which is a float, rounds once and gives what the decimal
    figures say, up to 1e22.
    """
    if not (math.isfinite(unit) and unit > 0):
        raise InternalError(f"the unit {unit} is not a positive number")
    array = np.asarray(values, dtype=np.float64)
    exponent = Decimal(repr(unit)).adjusted()
    if -22 <= exponent < 0 and _power_of_ten(exponent) == unit:
        return np.asarray(array * _power_of_ten(-exponent))
    return np.asarray(array / unit)


def _checked(scaled: np.ndarray, unit: float) -> IntArray:
    """``scaled`` as int64; raises InternalError for negative, NaN or huge values."""
    inside = (scaled >= 0) & (scaled <= MAX_SCALED)
    if not inside.all():
        worst = scaled[~inside].flat[0]
        raise InternalError(
            f"{worst:g} units of {unit:g} are outside 0 to {MAX_SCALED}: "
            "widen the unit (unit_for with the largest value)"
        )
    return scaled.astype(np.int64)
