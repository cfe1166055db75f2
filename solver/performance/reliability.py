"""Failures, restarts and checkpoints: from seconds of work to an expected finish.

A job of N GPUs is interrupted at a rate proportional to N; what was done since the
last checkpoint is lost. Daly's exact form is used, as the first-order rule fails
where the mean time between failures comes near the interval (16k GPUs: about 3 h).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from solver.performance.inputs import FloatArray
from solver.performance.spares import NO_WAIT, Wait

HOPELESS = 10.0
"""A run that failures stretch beyond this multiple of its work is no plan."""

_NEWTON_STEPS = 12
_LARGEST_EXPONENT = 100.0
"""e^100 times anything is beyond HOPELESS; keeps the exponentials finite."""


@dataclass(frozen=True)
class Goodput:
    """What failures and checkpoints make of a run, each (n,)."""

    expected_s: FloatArray
    """Expected seconds from start to finish; inf where failures leave no way."""
    interval_s: FloatArray
    """Seconds of work between two checkpoints: the best, or as given."""
    checkpoints_s: FloatArray
    """Seconds of ``expected_s`` spent writing checkpoints that were needed once."""
    failures_s: FloatArray
    """Seconds of ``expected_s`` lost to failures: repeated work and restarts."""
    replacement_s: FloatArray
    """Seconds of ``expected_s`` in which the run waits for a node."""
    variance_s2: FloatArray
    """Variance of the finish by failures alone, s^2."""


def failure_rate_per_s(
    gpus: Any, nodes: Any, per_gpu_hour: float, per_node_hour: float = 0.0
) -> FloatArray:
    """Interruptions a second of the whole job, (n,).

    Failures come by the GPU, spot interruptions by the node.
    """
    return np.asarray((gpus * per_gpu_hour + nodes * per_node_hour) / 3600.0)


def best_interval_s(rate: Any, checkpoint_s: Any) -> FloatArray:
    """Work between checkpoints that ends a run soonest, seconds, (n,).

    Notes
    -----
    Daly's T is least where ``(1 - x) e^(x + c) = 1``, with x = tau/M, c = d/M. Its
    logarithm is concave and falls, so that Newton's method started right of the
    root, at min(sqrt(2c), 1 - e^-(1+c)), comes down to it and never oversteps.
    """
    rate = np.asarray(rate, dtype=np.float64)
    cost = np.clip(np.asarray(checkpoint_s) * rate, 1e-30, 30.0)
    x = np.minimum(np.sqrt(2.0 * cost), -np.expm1(-(1.0 + cost)))
    for _ in range(_NEWTON_STEPS):
        x = np.clip(x + (np.log1p(-x) + x + cost) * (1.0 - x) / x, 1e-300, 1.0)
        x = np.minimum(x, 1.0 - 1e-15)
    interval = x / np.where(rate > 0, rate, 1.0)
    return np.asarray(np.where(rate > 0, interval, np.inf))


def expected_run(
    work_s: Any,
    failure_rate_per_s: Any,
    checkpoint_s: Any,
    restart_s: Any,
    saved: Any = True,
    *,
    given_interval_s: float | None = None,
    wait: Wait = NO_WAIT,
) -> Goodput:
    """Expected finish of ``work_s`` seconds of work, (n,).

    Parameters
    ----------
    work_s
        Seconds of work without failures and checkpoints, (n,).
    failure_rate_per_s
        Interruptions a second, one over the mean time between failures M, (n,).
    checkpoint_s, restart_s
        Seconds d that training stands still for a checkpoint, and seconds R from a
        failure until work goes on, (n,).
    saved
        Whether a checkpoint outlives the failure, (n,); if not, the run starts anew
        and its end is all that is saved.
    given_interval_s
        Seconds of work between checkpoints; None: the best.
    wait
        How long a failure leaves the run without a node.

    Notes
    -----
    ``T = M e^(R/M) (e^((tau+d)/M) - 1) W/tau`` (J. T. Daly, A higher order estimate
    of the optimum checkpoint interval, 2006). The interval is at most the whole run:
    the result is always saved once. Over that time T/M failures are expected, each of
    which is followed by a wait; nothing fails meanwhile, so that waits are added and
    change no interval. The variance is that of a Poisson number of failures, each
    costing a wait, a restart and a uniform part of an interval.
    """
    work, rate, cost, restart, wait_s, wait_s2 = np.broadcast_arrays(
        *(
            np.atleast_1d(np.asarray(v, dtype=np.float64))
            for v in (work_s, failure_rate_per_s, checkpoint_s, restart_s)
        ),
        wait.mean_s,
        wait.square_s2,
    )
    possible = np.isfinite(work) & np.isfinite(rate) & np.isfinite(cost)
    possible &= np.isfinite(restart)
    work, cost = np.where(possible, work, 1.0), np.where(possible, cost, 0.0)
    rate, restart = np.where(possible, rate, 0.0), np.where(possible, restart, 0.0)
    # without a cost of checkpoints the best interval is 0: a microsecond will do
    cost_or_some = np.maximum(cost, 1e-6)
    whole = np.maximum(work, 1e-9)
    wanted: Any = given_interval_s
    if wanted is None:
        wanted = best_interval_s(rate, cost_or_some)
    interval = np.where(saved, np.minimum(wanted, whole), whole)
    span = interval + cost
    exponent = np.minimum(rate * span, _LARGEST_EXPONENT)
    tiny = exponent < 1e-12
    growth = np.where(tiny, 1.0, np.expm1(exponent) / np.where(tiny, 1.0, exponent))
    growth = growth * np.exp(np.minimum(rate * restart, _LARGEST_EXPONENT))
    segments = work / interval
    running = segments * span * growth
    waiting = rate * running * wait_s
    expected = running + waiting
    possible &= expected <= HOPELESS * np.maximum(work, span)
    writing = segments * cost
    lost = np.maximum(running - work - writing, 0.0)
    squares = span * span / 3.0 + span * restart + restart * restart
    squares = squares + wait_s * (span + 2.0 * restart) + wait_s2
    variance = rate * running * squares
    out = [
        np.where(possible, value, np.inf)
        for value in (expected, interval, writing, lost, waiting, variance)
    ]
    return Goodput(*out)
