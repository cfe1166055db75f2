"""The optimum of one job without a solver: successive minima over the same integers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from solver.cpsat.table import (
    IntArray,
    JobTable,
    Objective,
    Requirement,
    level_values,
    satisfied,
)


def feasible_rows(table: JobTable, requirements: Sequence[Requirement]) -> IntArray:
    """Rows that meet all requirements, ascending, (m,)."""
    good = np.ones(len(table), dtype=np.bool_)
    for requirement in requirements:
        good &= satisfied(table, requirement)
    return np.flatnonzero(good).astype(np.int64)


def best_row_by_reduction(
    table: JobTable, requirements: Sequence[Requirement], objective: Objective
) -> int | None:
    """The lexicographically best feasible row; None where there is none.

    Parameters
    ----------
    table
        Candidates of one job.
    requirements, objective
        As for `solver.cpsat.problem.PlacementProblem`.

    Notes
    -----
    For one job the model is a look-up, and this is the look-up itself in O(n) a level.
    A plan on which CP-SAT and this disagree is a bug of one of the two.
    """
    rows = feasible_rows(table, requirements)
    if not rows.size:
        return None
    for level in objective:
        values = level_values(table, level)[rows]
        rows = rows[values == values.min()]
    return int(rows[np.argmin(table.rank[rows])])
