"""All decision variables of a placement, channelled linearly to the candidates."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from ortools.sat.python import cp_model

from solver.cpsat.table import (
    DECISION_CATEGORIES,
    DECISION_QUANTITIES,
    IntArray,
    JobTable,
)
from solver.errors import InternalError

ALL_CHANNELS_UP_TO = 2_000
"""Most candidates, over all jobs, for which every named decision gets a variable.

A Boolean costs about 12 microseconds with a few rows and ten times that with some
twenty channels, so above this only those are built that a constraint, the objective
or the caller asks for.
"""

_SMALL_DOMAIN = 64
"""Most distinct values that a variable's domain lists one by one."""


@dataclass(frozen=True)
class CategoryVariable:
    """A decision among labels.

    ``code`` is the index into the table's labels, ``values`` the Boolean
    ``name=label`` of every label that some candidate has. With ``choose`` of the job,
    ``code == sum(code_k x choose[k])`` and
    ``values[label] == sum(choose[k] for k with that label)``.
    """

    code: cp_model.IntVar
    values: Mapping[str, cp_model.IntVar]

    def any_of(self, labels: Collection[str]) -> list[cp_model.IntVar]:
        """The Booleans of those ``labels`` that some candidate has, in table order."""
        return [boolean for label, boolean in self.values.items() if label in labels]


class Variables:
    """Booleans that choose candidates, and named variables for what that decides.

    Parameters
    ----------
    model
        The model to which the variables are added.
    jobs
        One table a job; with several, names are prefixed: ``pretrain.gpus``.
    channels
        Quantities and categories to channel at once; None: all of
        `DECISION_QUANTITIES` and `DECISION_CATEGORIES` that the tables have, unless
        there are more than `ALL_CHANNELS_UP_TO` candidates. Others are channelled when
        a constraint or the objective first asks for them.

    Notes
    -----
    There is no product, quotient, element or guarded row in the model: what is not
    linear in the decisions was computed for each candidate beforehand.
    """

    def __init__(
        self,
        model: cp_model.CpModel,
        jobs: Sequence[JobTable],
        channels: Collection[str] | None = None,
    ) -> None:
        self.model = model
        self.jobs = tuple(jobs)
        self._shared: dict[int, cp_model.IntVar] = {}
        self.choose: tuple[list[cp_model.IntVar], ...] = tuple(
            self._choose_booleans(job) for job in range(len(self.jobs))
        )
        self._quantities: dict[tuple[int, str], cp_model.IntVar] = {}
        self._categories: dict[tuple[int, str], CategoryVariable] = {}
        for job, table in enumerate(self.jobs):
            for name in self._wanted(table, channels):
                if name in table.categories:
                    self.category(job, name)
                else:
                    self.quantity(job, name)

    def quantity(self, job: int, name: str) -> cp_model.IntVar:
        """The integer variable ``name == sum(value_k x choose[k])`` of a job."""
        key = (job, name)
        if key not in self._quantities:
            column = self.jobs[job].quantity(name)
            full_name = self._name(job, name)
            self._quantities[key] = self._channel(job, column, full_name)
        return self._quantities[key]

    def category(self, job: int, name: str) -> CategoryVariable:
        """The code and the Booleans of a category of a job."""
        key = (job, name)
        if key not in self._categories:
            self._categories[key] = self._channel_category(job, name)
        return self._categories[key]

    def channelled(self, job: int) -> tuple[str, ...]:
        """Names of the quantities and categories of ``job`` that have variables."""
        names = [name for j, name in self._quantities if j == job]
        return (*names, *(name for j, name in self._categories if j == job))

    def rows_of(self, solution: Sequence[int]) -> tuple[int, ...]:
        """The chosen row of each job in CP-SAT's list of values.

        Raises
        ------
        InternalError
            If a job does not have exactly one.
        """
        rows = []
        for table, booleans in zip(self.jobs, self.choose, strict=True):
            chosen = [k for k, b in enumerate(booleans) if solution[b.index]]
            if len(chosen) != 1:
                raise InternalError(f"CP-SAT chose {chosen} for job '{table.name}'")
            rows.append(chosen[0])
        return tuple(rows)

    def hint(self, rows: Sequence[int]) -> None:
        """Make the choice of ``rows``, one a job, the model's only hint.

        Raises
        ------
        InternalError
            If there is not one row a job, within its table.
        """
        sizes = [len(table) for table in self.jobs]
        in_range = all(0 <= row < n for row, n in zip(rows, sizes, strict=False))
        if len(rows) != len(sizes) or not in_range:
            raise InternalError(f"the hint {tuple(rows)} does not fit {sizes} rows")
        self.model.clear_hints()
        proto = self.model.proto.solution_hint
        hinted: dict[int, int] = {}  # jobs may share Booleans
        for variable, value in self._complete_assignment(rows):
            hinted[variable.index] = value
        proto.vars.extend(list(hinted))
        proto.values.extend(list(hinted.values()))

    def _complete_assignment(
        self, rows: Sequence[int]
    ) -> Iterator[tuple[cp_model.IntVar, int]]:
        """Every variable built so far with its value when ``rows`` are chosen."""
        for row, booleans in zip(rows, self.choose, strict=True):
            yield from ((b, int(k == row)) for k, b in enumerate(booleans))
        for (job, name), variable in self._quantities.items():
            yield variable, int(self.jobs[job].quantity(name)[rows[job]])
        for (job, name), category in self._categories.items():
            codes, labels = self.jobs[job].category(name)
            code = int(codes[rows[job]])
            yield category.code, code
            for label, boolean in category.values.items():
                yield boolean, int(label == labels[code])

    def _choose_booleans(self, job: int) -> list[cp_model.IntVar]:
        """One Boolean a candidate: ``choose[k]``, or ``choose[job,k]``.

        Rows that share one with another job have it by number: ``choose[lease 7]``.
        """
        choice = self.jobs[job].choice
        if choice is not None:
            return [self._shared_boolean(int(number)) for number in choice]
        several = len(self.jobs) > 1
        prefix = f"choose[{self.jobs[job].name}," if several else "choose["
        new_bool = self.model.new_bool_var
        return [new_bool(f"{prefix}{k}]") for k in range(len(self.jobs[job]))]

    def _shared_boolean(self, number: int) -> cp_model.IntVar:
        """The Boolean of that number, made when first asked for."""
        if number not in self._shared:
            name = f"choose[lease {number}]"
            self._shared[number] = self.model.new_bool_var(name)
        return self._shared[number]

    def _wanted(
        self, table: JobTable, channels: Collection[str] | None
    ) -> Iterator[str]:
        """The names to channel at once, in a fixed order."""
        if channels is None:
            few = sum(len(job) for job in self.jobs) <= ALL_CHANNELS_UP_TO
            channels = (*DECISION_QUANTITIES, *DECISION_CATEGORIES) if few else ()
            yield from (c for c in channels if c in table.quantities)
            yield from (c for c in channels if c in table.categories)
        else:
            yield from dict.fromkeys(channels)

    def _name(self, job: int, name: str) -> str:
        """``name`` as it is called in the model."""
        return f"{self.jobs[job].name}.{name}" if len(self.jobs) > 1 else name

    def _channel(self, job: int, column: IntArray, name: str) -> cp_model.IntVar:
        """A new variable equal to the chosen candidate's value in ``column``."""
        variable = self.model.new_int_var_from_domain(_domain(column), name)
        row = cp_model.LinearExpr.weighted_sum(
            [*self.choose[job], variable], [*column.tolist(), -1]
        )
        constraint = self.model.add(row == 0)
        constraint.with_name(f"{name} of the chosen candidate")
        return variable

    def _channel_category(self, job: int, category: str) -> CategoryVariable:
        """The code variable and a Boolean for each label that occurs."""
        codes, labels = self.jobs[job].category(category)
        name = self._name(job, category)
        code = self._channel(job, codes, name)
        values = {}
        for present in np.unique(codes).tolist():
            label = labels[present]
            boolean = self.model.new_bool_var(f"{name}={label}")
            members = np.flatnonzero(codes == present).tolist()
            row = cp_model.LinearExpr.weighted_sum(
                [*(self.choose[job][k] for k in members), boolean],
                [*[1] * len(members), -1],
            )
            self.model.add(row == 0).with_name(f"{name} is {label}")
            values[label] = boolean
        return CategoryVariable(code, values)


def _domain(column: IntArray) -> cp_model.Domain:
    """The values of a column, listed if they are few, else the span."""
    if not column.size:
        return cp_model.Domain(0, 0)
    lower, upper = int(column.min()), int(column.max())
    if column.size > 4096:  # sorting long columns costs more than it tells
        return cp_model.Domain(lower, upper)
    values = np.unique(column)
    if len(values) > _SMALL_DOMAIN:
        return cp_model.Domain(lower, upper)
    return cp_model.Domain.from_values(values.tolist())
