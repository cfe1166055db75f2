"""The objective: levels minimised one after the other, canonical rank at the end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from ortools.sat.python import cp_model

from solver.cpsat.chain import Chain, Joint
from solver.cpsat.table import (
    MAX_SCALED,
    IntArray,
    Level,
    Objective,
    Term,
    level_values,
)
from solver.cpsat.variables import Variables
from solver.errors import InternalError

_MAX_RANK_SUM = 2**40
"""Largest value of one level of ranks; more jobs than fit make further levels."""


class LexicographicObjective:
    """Levels to minimise in turn, each held at its value while the next is solved.

    Parameters
    ----------
    variables
        Variables of the model; a total variable a level is added to it.
    objective
        The levels. A level's value is the sum over jobs of ``weight x quantity``.
    chain
        Jobs run one after the other: terms may then name a joint variable of theirs,
        which counts once.

    Notes
    -----
    After the levels come the ranks: with ``rank[j, k]`` the canonical place of a
    candidate among the ``n_j`` of its job, jobs are joined in mixed radix,
    ``(rank_1 x n_2 + rank_2) x n_3 + ...``, so that the last minimum is unique.
    """

    def __init__(
        self, variables: Variables, objective: Objective, chain: Chain | None = None
    ) -> None:
        self._variables = variables
        self._joint = {} if chain is None else chain.joint
        self.levels = tuple(objective)
        self._dropped: set[tuple[int, int]] = set()
        self._check(objective)
        self._totals = [
            self._level_total(number, level)
            for number, level in enumerate(objective, start=1)
        ]
        self._totals += list(self._rank_totals())
        self.minimize(0)

    def __len__(self) -> int:
        """Number of levels, those of ranks included."""
        return len(self._totals)

    @property
    def stated_levels(self) -> int:
        """Number of levels that the caller asked for."""
        return len(self.levels)

    def minimize(self, level: int) -> None:
        """Make ``level`` (from 0) what the model minimises."""
        self._variables.model.minimize(self._totals[level])

    def hold(self, level: int, value: int, *, proved: bool) -> None:
        """Keep the level's total at its minimum ``value`` from now on.

        Where that is not ``proved`` the total may still fall below it.
        """
        variable = self._totals[level]
        lower = value if proved else 0
        held = variable.domain.intersection_with(cp_model.Domain(lower, value))
        variable.with_domain(held)
        self._drop_candidates(level, lower, value)

    def _drop_candidates(self, level: int, lower: int, upper: int) -> None:
        """Fix to 0 what cannot be chosen while the level's total is in its limits.

        That is each candidate whose own value passes ``upper`` even if all other jobs
        take their least, or stays below ``lower`` even if they take their most. The
        total's row implies it; said outright it spares CP-SAT's presolve the work.
        """
        columns = self._columns[level]
        least = sum(int(column.min(initial=MAX_SCALED)) for column in columns)
        most = sum(int(column.max(initial=0)) for column in columns)
        most += self._most_joint(level)
        for job, column in enumerate(columns):
            others_least = least - int(column.min(initial=MAX_SCALED))
            others_most = most - int(column.max(initial=0))
            out = (column + others_least > upper) | (column + others_most < lower)
            for row in np.flatnonzero(out).tolist():
                if (job, row) not in self._dropped:
                    self._dropped.add((job, row))
                    self._variables.choose[job][row].with_domain(cp_model.Domain(0, 0))

    def value(self, level: int, rows: tuple[int, ...]) -> int:
        """The level's total when ``rows``, one a job, are chosen."""
        total = sum(int(c[r]) for c, r in zip(self._columns[level], rows, strict=True))
        return total + sum(
            term.weight * joint.value(rows) for term, joint in self._joint_terms(level)
        )

    def _joint_terms(self, level: int) -> list[tuple[Term, Joint]]:
        """The terms of a level that are joint variables; ranks have none."""
        terms = self.levels[level] if level < len(self.levels) else ()
        joint = self._joint
        return [(t, joint[t.quantity]) for t in terms if t.quantity in joint]

    def _most_joint(self, level: int) -> int:
        """The most that the joint terms of a level come to."""
        return sum(t.weight * joint.most for t, joint in self._joint_terms(level))

    def _of_jobs(self, level: Level) -> Level:
        """The terms of a level that are quantities of each job."""
        return tuple(term for term in level if term.quantity not in self._joint)

    @contextmanager
    def restored(self) -> Iterator[None]:
        """Let all levels go, and minimise the first level, on leaving."""
        domains = [total.domain for total in self._totals]
        try:
            yield
        finally:
            for total, domain in zip(self._totals, domains, strict=True):
                total.with_domain(domain)
            for job, row in self._dropped:
                self._variables.choose[job][row].with_domain(cp_model.Domain(0, 1))
            self._dropped.clear()
            self.minimize(0)

    def _check(self, objective: Objective) -> None:
        """Compute the columns of all levels; refuse sums that are too large."""
        jobs = self._variables.jobs
        self._columns: list[tuple[IntArray, ...]] = [
            tuple(level_values(table, self._of_jobs(level)) for table in jobs)
            for level in objective
        ]
        numbered = enumerate(zip(objective, self._columns, strict=True))
        for number, (level, columns) in numbered:
            largest = sum(int(column.max(initial=0)) for column in columns)
            largest += self._most_joint(number)
            if not level or largest > MAX_SCALED:
                raise InternalError(f"objective level {level} is empty or overflows")
        self._columns += _rank_columns([table.rank for table in jobs])

    def _level_total(self, number: int, level: Level) -> cp_model.IntVar:
        """A variable ``objective_<number>`` equal to the level's sum over jobs."""
        terms = [
            (self._variables.quantity(job, term.quantity), term.weight)
            for job in range(len(self._variables.jobs))
            for term in self._of_jobs(level)
        ]
        terms += [(j.variable, t.weight) for t, j in self._joint_terms(number - 1)]
        return self._total(f"objective_{number}", terms, number - 1)

    def _rank_totals(self) -> Iterator[cp_model.IntVar]:
        """One variable a level of ranks."""
        first = len(self._totals)
        for level in range(first, len(self._columns)):
            terms = [
                (boolean, int(value))
                for booleans, column in zip(
                    self._variables.choose, self._columns[level], strict=True
                )
                for boolean, value in zip(booleans, column.tolist(), strict=True)
                if value
            ]
            suffix = f"_{level - first + 1}" if len(self._columns) > first + 1 else ""
            yield self._total(f"canonical_rank{suffix}", terms, level)

    def _total(
        self, name: str, terms: list[tuple[cp_model.IntVar, int]], level: int
    ) -> cp_model.IntVar:
        """A new variable equal to a weighted sum."""
        model = self._variables.model
        largest = sum(int(c.max(initial=0)) for c in self._columns[level])
        largest += self._most_joint(level)
        total = model.new_int_var(0, largest, name)
        row = cp_model.LinearExpr.weighted_sum(
            [*(variable for variable, _ in terms), total],
            [*(weight for _, weight in terms), -1],
        )
        model.add(row == 0).with_name(name)
        return total


def _rank_columns(ranks: list[IntArray]) -> list[tuple[IntArray, ...]]:
    """Columns of the rank levels: for each level one (n_j,) column a job.

    Jobs are packed into a level, the first the most significant, as long as its value
    stays below `_MAX_RANK_SUM`; the other jobs' columns are zero there.
    """
    groups: list[list[int]] = []
    size = 0
    for job, rank in enumerate(ranks):
        n = max(1, len(rank))
        if not groups or size * n > _MAX_RANK_SUM:
            groups.append([])
            size = 1
        groups[-1].append(job)
        size *= n
    levels = []
    for group in groups:
        columns = [np.zeros(len(rank), dtype=np.int64) for rank in ranks]
        radix = 1
        for job in reversed(group):
            columns[job] = ranks[job] * radix
            radix *= max(1, len(ranks[job]))
        levels.append(tuple(columns))
    return levels
