"""From hours to money: rent in billing units, storage and egress.

Pure functions over numpy arrays; money in US dollars, time in seconds, data in bytes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from solver.units import DAY, GB, HOUR, MONTH_HOURS

FloatArray = NDArray[np.float64]

MONTH_S = MONTH_HOURS * HOUR

UNIT_S = {"second": 0.0, "hour": float(HOUR), "month": float(MONTH_S)}
"""Seconds of one billing unit; 0: billed to the second, no rounding."""

# Midpoints of 33 equal slices of a standard normal distribution: enough to price
# whole units under a spread of finish times to a small fraction of a unit.
_SLICES = 33


def _normal_quantiles(count: int) -> FloatArray:
    from statistics import NormalDist

    normal = NormalDist()
    return np.array([normal.inv_cdf((i + 0.5) / count) for i in range(count)])


def billed_seconds(
    active_s: FloatArray,
    fixed_s: FloatArray | float,
    unit_s: FloatArray,
    sigma: FloatArray,
    term_s: FloatArray | float = 0.0,
) -> FloatArray:
    """Expected seconds that are paid for, (n,).

    Parameters
    ----------
    active_s
        Expected seconds of work (training, failures, checkpoints), (n,).
    fixed_s
        Seconds that carry no uncertainty (set-up, copies), (n,).
    unit_s
        Length of a billing unit, (n,); 0 for billing to the second.
    sigma
        Relative spread of ``active_s`` (standard deviation of its logarithm), (n,).
    term_s
        Seconds that are paid for at least, (n,).

    Returns
    -------
    ndarray
        ``E[max(term, ceil(T / unit) * unit)]`` with ``T = fixed + active e^(sigma z)``:
        the expectation of the bill, not the bill of the expectation: 0.97 month with
        8 % spread costs 1.35 months.

    Notes
    -----
    Without units ``T`` is scaled to the mean ``fixed + active``, so that a term that
    every finish passes changes nothing. The bill grows with ``active``, with ``term``
    and is never below ``max(term, fixed + active)``, as Jensen's inequality has it.
    """
    parts, spreads = np.asarray(active_s)[None], np.asarray(sigma)[None]
    return billed_parts(parts, fixed_s, unit_s, spreads, term_s)


def billed_parts(
    active_s: FloatArray,
    fixed_s: FloatArray | float,
    unit_s: FloatArray,
    sigma: FloatArray,
    term_s: FloatArray | float = 0.0,
) -> FloatArray:
    """Expected seconds that are paid for work of several parts in one go, (n,).

    As `billed_seconds`, where ``active_s`` and ``sigma`` are (parts, n): one error of
    the model stretches all parts at once, each by its own spread.
    """
    exact = np.asarray(np.sum(active_s, axis=0) + fixed_s, dtype=np.float64)
    fixed = np.broadcast_to(np.asarray(fixed_s, dtype=np.float64), exact.shape)
    terms = np.broadcast_to(np.asarray(term_s, dtype=np.float64), exact.shape)
    uneven = np.flatnonzero((unit_s > 0) | (terms > 0))
    if not len(uneven):
        return exact
    quantiles = _normal_quantiles(_SLICES if sigma.any() else 1)
    active, unit, spread = active_s[:, uneven], unit_s[uneven], sigma[:, uneven]
    by_unit = unit > 0
    whole = np.where(by_unit, unit, 1.0)
    mean = sum(np.exp(spread * z) for z in quantiles) / len(quantiles)
    active = np.where(by_unit, active, active / mean)
    total = np.zeros(len(uneven))
    for z in quantiles:
        run = fixed[uneven] + np.sum(active * np.exp(spread * z), axis=0)
        # 1e-9: a finish that is a whole number of units must not pay one more.
        units = np.maximum(np.ceil(run / whole - 1e-9), 1.0)
        total += np.maximum(np.where(by_unit, units * whole, run), terms[uneven])
    exact[uneven] = total / len(quantiles)
    return exact


def rent_usd(nodes: Any, usd_per_node_hour: Any, billed_s: Any) -> FloatArray:
    """``nodes x price x billed hours``, (n,)."""
    return np.asarray(nodes * usd_per_node_hour * (billed_s / HOUR), dtype=np.float64)


def storage_usd(
    usd_per_gb_month: Any, bytes_needed: Any, min_bytes: Any, duration_s: Any
) -> FloatArray:
    """Rent of storage for the length of the plan, (n,).

    ``price x max(needed, smallest size sold) x months``; storage is billed by the
    part of a month.
    """
    size_gb = np.maximum(bytes_needed, min_bytes) / GB
    return np.asarray(usd_per_gb_month * size_gb * (duration_s / MONTH_S))


def weighted_usd(
    cost_usd: Any, duration_s: Any, cost_weight: float, usd_per_day: float
) -> FloatArray:
    """``cost_weight x cost + usd_per_day x days``, dollars, (n,)."""
    return np.asarray(cost_weight * cost_usd + usd_per_day * (duration_s / DAY))
