"""Spare nodes: how long a run waits for a replacement after a failure.

Each failure takes one node out for repair. With a spare that is ready the run goes on
at once; with none it waits for the node that is back first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from solver.performance.inputs import FloatArray


@dataclass(frozen=True)
class Wait:
    """Time that the run stands still after a failure until a node is there, (n,).

    Both are means over all failures, those that find a spare ready included.
    """

    mean_s: FloatArray
    square_s2: FloatArray
    """Mean of its square, s^2."""


NO_WAIT = Wait(np.zeros(1), np.zeros(1))
"""A failed node is replaced at once."""


def all_in_repair(load: Any, spares: Any) -> FloatArray:
    """Probability that a failure finds all spares in repair, (n,).

    Parameters
    ----------
    load
        Nodes in repair on average if the run never waited: failures a second times
        seconds of a replacement, (n,).
    spares
        Spare nodes, (n,).

    Notes
    -----
    Erlang's loss formula ``B(S, a)``, by its recursion ``B(0) = 1``,
    ``B(k) = a B(k-1) / (k + a B(k-1))``. It is 1 without spares and falls with each.
    """
    load, spares = np.broadcast_arrays(
        np.asarray(load, dtype=np.float64), np.asarray(spares)
    )
    busy = np.ones(load.shape)
    for k in range(1, int(spares.max(initial=0)) + 1):
        offered = load * busy
        busy = np.where(spares >= k, offered / (k + offered), busy)
    return busy


def replacement_wait(
    failure_rate_per_s: Any, replacement_s: float, spares: Any
) -> Wait:
    """Wait for a node after a failure, by spares, (n,).

    Parameters
    ----------
    failure_rate_per_s
        Failures a second of the whole job while it runs, (n,).
    replacement_s
        Seconds from a failure until the failed node is back as a spare.
    spares
        Spare nodes, (n,).

    Notes
    -----
    Failures come at random while the job runs and none comes while it waits, which is
    when all S spares and the node that failed last are in repair. That is Erlang's loss
    system of S + 1 lines with load a = rate x replacement (A. K. Erlang, 1917): a
    failure finds all spares in repair with probability ``B(S, a)``. Repairs under way
    have a uniform part of their time left, so that the first of S + 1 is back after
    ``replacement / (S + 1)`` on average; the mean square is
    ``2 replacement^2 / ((S + 1)(S + 2))``. The means hold for repairs of any
    distribution with that mean (B. A. Sevastyanov, 1957), the square for repairs of
    equal length. It is the steady state: a run that starts with all spares ready waits
    less, the more so the shorter it is; without spares it is exact for any run. Idle
    spares do not fail.
    """
    rate = np.asarray(failure_rate_per_s, dtype=np.float64)
    load = np.where(np.isfinite(rate), rate, 0.0) * replacement_s
    share, lines = all_in_repair(load, spares), np.asarray(spares) + 1.0
    square = 2.0 * replacement_s**2 / (lines * (lines + 1.0))
    return Wait(share * replacement_s / lines, share * square)
