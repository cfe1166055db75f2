"""Exact pruning: drop only candidates that no optimum can need.

A drops B if both are equal in every category that is named, A is at least as good in
every quantity that a remaining requirement or the objective names, and A comes before
B in the lexicographic order of objective and canonical rank. So the optimum stays the
same row, for any values of the requirements' limits.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from solver.cpsat.table import AllowedSet, Bound, IntArray, JobTable, Requirement

_CHUNK = 256
"""Rows compared at once where more than two quantities count."""


def undominated(
    table: JobTable,
    requirements: Sequence[Requirement],
    objective_quantities: Sequence[str],
    keep_categories: Iterable[str] = (),
) -> IntArray:
    """Rows that no other row drops, ascending, (m,).

    Parameters
    ----------
    table
        Candidates of one job.
    requirements
        The requirements that will still be asked of the rows. Rows are not filtered
        by them. A quantity bounded from above counts as better when smaller, from
        below when larger; bounded from both sides, or to a set of values, or bounded
        from below and minimised, it has to be equal. The category of an allowed set
        has to be equal.
    objective_quantities
        Quantities that are minimised, whatever their positive weights.
    keep_categories
        Categories, or quantities, in which a row has to be equal to drop another: all
        that a question may fix later (``compare --by region``).

    Notes
    -----
    O(n log n) with up to two quantities; beyond that each row is compared with the
    rows kept of its group, best first.
    """
    lowered, raised, equal = _directions(
        requirements, objective_quantities, keep_categories
    )
    smaller = [table.quantity(name) for name in lowered]
    smaller += [-table.quantity(name) for name in raised]
    group = _groups(table, equal)
    goals = [table.quantity(name) for name in dict.fromkeys(objective_quantities)]
    order = np.lexsort((table.rank, *reversed(goals), group))
    columns = _distinct(smaller, order)
    if len(columns) <= 1:
        keep = _first_or_lower(group[order], columns)
    elif len(columns) == 2 and goals and np.array_equal(columns[0], goals[0][order]):
        keep = _first_or_lower(group[order], columns[1:])
    else:
        keep = _keep_by_comparison(group[order], np.stack(columns, axis=1))
    return np.sort(order[keep]).astype(np.int64)


def _directions(
    requirements: Sequence[Requirement],
    objective_quantities: Sequence[str],
    keep: Iterable[str],
) -> tuple[list[str], list[str], list[str]]:
    """Names of which smaller is better, larger is better, and that must be equal."""
    small = dict.fromkeys(objective_quantities)
    large: dict[str, None] = {}
    equal = dict.fromkeys(keep)
    for requirement in requirements:
        if isinstance(requirement, Bound):
            if requirement.upper is not None:
                small[requirement.quantity] = None
            if requirement.lower is not None:
                large[requirement.quantity] = None
        elif isinstance(requirement, AllowedSet):
            equal[requirement.category] = None
        else:
            equal[requirement.quantity] = None
    equal |= dict.fromkeys(name for name in small if name in large)
    return (
        [name for name in small if name not in equal],
        [name for name in large if name not in equal],
        list(equal),
    )


def _groups(table: JobTable, equal: Sequence[str]) -> IntArray:
    """Number of the group of each row, (n,): rows equal in all of ``equal``."""
    group = np.zeros(len(table), dtype=np.int64)
    for name in equal:
        is_category = name in table.categories
        values = table.category(name)[0] if is_category else table.quantity(name)
        codes = np.unique(values, return_inverse=True)[1].reshape(-1)
        joined = group * (int(codes.max(initial=0)) + 1) + codes
        group = np.unique(joined, return_inverse=True)[1].reshape(-1).astype(np.int64)
    return group


def _distinct(columns: Sequence[IntArray], order: IntArray) -> list[IntArray]:
    """The columns in ``order``, each different one once."""
    kept: list[IntArray] = []
    for column in columns:
        ordered = column[order]
        if not any(np.array_equal(ordered, other) for other in kept):
            kept.append(ordered)
    return kept


def _first_or_lower(group: IntArray, columns: Sequence[IntArray]) -> np.ndarray:
    """Mask of rows below all earlier rows of their group in at most one column.

    Parameters
    ----------
    group
        Group numbers, ascending, (n,).
    columns
        None or one column, (n,). With none only the first row of a group is kept.
    """
    n = len(group)
    level = np.zeros(n, dtype=np.int64)
    if columns:
        level = np.unique(columns[0], return_inverse=True)[1].reshape(-1)
    # groups come in ascending order, so lower each by more than any level spans:
    # the running minimum then starts anew in every group
    level = level - group * (n + 1)
    running = np.minimum.accumulate(level)
    keep = np.ones(n, dtype=np.bool_)
    keep[1:] = level[1:] < running[:-1]
    return keep


def _keep_by_comparison(group: IntArray, values: IntArray) -> np.ndarray:
    """Mask of rows that no earlier row of their group equals or betters throughout.

    Parameters
    ----------
    group
        Group numbers, ascending, (n,).
    values
        Smaller is better, (n, d).

    Notes
    -----
    Rows are taken in order of the sum of their places in each column: a row that
    drops another then comes first, and the first ones drop the most.
    """
    places = [np.unique(c, return_inverse=True)[1].reshape(-1) for c in values.T]
    places_sum = np.asarray(np.sum(places, axis=0, dtype=np.int64))
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    ends = np.append(starts[1:], len(group))
    keep = np.zeros(len(group), dtype=np.bool_)
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        rows = np.arange(start, end)
        rest = rows[np.argsort(places_sum[start:end], kind="stable")]
        while rest.size:
            chunk, rest = rest[:_CHUNK], rest[_CHUNK:]
            chunk = chunk[~_dropped(values, chunk, chunk)]
            keep[chunk] = True
            rest = rest[~_dropped(values, rest, chunk)]
    return keep


def _dropped(values: IntArray, rows: IntArray, by: IntArray) -> np.ndarray:
    """Mask of those ``rows`` that one of ``by`` drops: earlier, nowhere worse."""
    dropped = np.zeros(len(rows), dtype=np.bool_)
    for start in range(0, len(rows), 4096):
        part = rows[start : start + 4096]
        worse = by[None, :] < part[:, None]
        for column in values.T:
            worse &= column[by][None, :] <= column[part][:, None]
        dropped[start : start + 4096] = worse.any(axis=1)
    return dropped
