"""What the optimisation model is fed: integer columns, limits and an objective."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from solver.errors import InternalError

IntArray: TypeAlias = NDArray[np.int64]
BoolArray: TypeAlias = NDArray[np.bool_]

MAX_SCALED = 2**53 - 1
"""Largest magnitude of a column's value and of a sum of chosen values.

Up to here a float64 holds every integer exactly, so that bounds which CP-SAT reports
as floats are exact too, and its sums stay far from the end of int64.
"""

DECISION_QUANTITIES = (
    "gpus",
    "nodes",
    "spares",
    "gpus_per_node",
    "tp",
    "pp",
    "cp",
    "ep",
    "dp",
    "micro_batch",
    "zero_stage",
    "step_time",
    "duration",
    "cost",
    "energy",
    "carbon",
    "memory",
)
"""Integer decisions that get a named variable of their own, in this order."""

DECISION_CATEGORIES = (
    "gpu_type",
    "intra_node_tier",
    "network_tier",
    "storage_tier",
    "region",
    "country",
    "provider",
    "purchase",
    "start",
    "recompute",
)
"""Decisions among labels: a code variable and one Boolean a value, in this order."""


@dataclass(frozen=True)
class JobTable:
    """The candidates of one job, of which exactly one is chosen; n rows.

    Parameters
    ----------
    name
        The job's name; prefixes variable names when there are several jobs.
    quantities
        Name to column, (n,) int64, each at least 0 and at most `MAX_SCALED`. What is
        spent is rounded up, what is delivered (``tokens_per_s``) down.
    units
        Quantity to the unit of its integers: ``"cost": "0.0001 USD"``.
    categories
        Name to (codes, labels): codes (n,) int64 index the distinct labels.
    rank
        Canonical order of the rows, a permutation of 0 to n - 1; breaks ties.
    choice
        Number of each row's Boolean, (n,); rows of several jobs with one number are
        one choice, such as a lease that runs several phases. None: each has its own.
    """

    name: str
    quantities: Mapping[str, IntArray]
    units: Mapping[str, str]
    categories: Mapping[str, tuple[IntArray, tuple[str, ...]]]
    rank: IntArray
    choice: IntArray | None = None

    def __post_init__(self) -> None:
        """Refuse columns that the model could misread."""
        n = len(self.rank)
        for name, column in self.quantities.items():
            self._check_column(name, column, MAX_SCALED)
        for name, (codes, labels) in self.categories.items():
            self._check_column(name, codes, len(labels) - 1)
            if len(set(labels)) != len(labels):
                raise InternalError(f"category '{name}' has the same label twice")
        self._check_column("rank", self.rank, n - 1)
        if len(np.unique(self.rank)) != n:
            raise InternalError("the canonical order is not a permutation")
        if self.choice is not None:
            self._check_column("choice", self.choice, MAX_SCALED)
            if len(np.unique(self.choice)) != n:
                raise InternalError("a job has two rows with the same Boolean")

    def __len__(self) -> int:
        """Number of candidates."""
        return len(self.rank)

    def _check_column(self, name: str, column: IntArray, upper: int) -> None:
        """Raise unless ``column`` is (n,) int64 with values in [0, upper]."""
        if column.dtype != np.int64 or column.shape != (len(self.rank),):
            raise InternalError(
                f"column '{name}' is {column.dtype}{column.shape}, "
                f"not int64({len(self.rank)},)"
            )
        if column.size and (column.min() < 0 or column.max() > upper):
            raise InternalError(
                f"column '{name}' spans {column.min()} to {column.max()}, "
                f"outside 0 to {upper}"
            )

    def quantity(self, name: str) -> IntArray:
        """The column of a quantity, (n,)."""
        try:
            return self.quantities[name]
        except KeyError:
            raise InternalError(f"the table has no quantity '{name}'") from None

    def category(self, name: str) -> tuple[IntArray, tuple[str, ...]]:
        """The codes (n,) and labels of a category."""
        try:
            return self.categories[name]
        except KeyError:
            raise InternalError(f"the table has no category '{name}'") from None

    def take(self, rows: IntArray) -> JobTable:
        """The candidates at ``rows``, in that order; ranks close up."""
        order = np.argsort(self.rank[rows], kind="stable")
        rank = np.empty(len(rows), dtype=np.int64)
        rank[order] = np.arange(len(rows), dtype=np.int64)
        return JobTable(
            name=self.name,
            quantities={k: v[rows] for k, v in self.quantities.items()},
            units=self.units,
            categories={
                k: (codes[rows], labels)
                for k, (codes, labels) in self.categories.items()
            },
            rank=rank,
            choice=None if self.choice is None else self.choice[rows],
        )


@dataclass(frozen=True, slots=True)
class Bound:
    """``lower <= quantity <= upper``; None is no limit.

    ``rule`` is the id in `solver.rules`, ``job`` the job's name (None: every job).
    """

    rule: str
    quantity: str
    lower: int | None = None
    upper: int | None = None
    job: str | None = None


@dataclass(frozen=True, slots=True)
class AllowedValues:
    """The quantity is one of ``values``; fields otherwise as in `Bound`."""

    rule: str
    quantity: str
    values: frozenset[int]
    job: str | None = None


@dataclass(frozen=True, slots=True)
class AllowedSet:
    """The category's label is one of ``labels``; fields otherwise as in `Bound`.

    Labels that the table does not know allow nothing.
    """

    rule: str
    category: str
    labels: frozenset[str]
    job: str | None = None


Requirement: TypeAlias = Bound | AllowedValues | AllowedSet


@dataclass(frozen=True, slots=True)
class SharedBound:
    """``sum over jobs of quantity + joint <= upper``: one limit of all jobs together.

    ``rule`` is the id in `solver.rules`; ``quantity`` a column of every job or None,
    ``joint`` the name of a variable of the chain or None.
    """

    rule: str
    quantity: str | None
    joint: str | None
    upper: int


@dataclass(frozen=True, slots=True)
class Term:
    """``weight x quantity`` of the chosen candidate; the weight is positive."""

    quantity: str
    weight: int = 1

    def __post_init__(self) -> None:
        """Refuse weights under which fewer of a quantity would not be better."""
        if self.weight <= 0:
            raise InternalError(
                f"weight {self.weight} of '{self.quantity}' not positive"
            )


Level: TypeAlias = tuple[Term, ...]

Objective: TypeAlias = Sequence[Level]
"""Levels minimised one after the other; canonical rank is always the last."""


def level_values(table: JobTable, level: Level) -> IntArray:
    """Value of one objective level for each candidate, (n,).

    Raises
    ------
    InternalError
        If a value passes `MAX_SCALED`.
    """
    values = np.zeros(len(table), dtype=np.int64)
    largest = 0
    for term in level:
        column = table.quantity(term.quantity)
        largest += term.weight * int(column.max(initial=0))
        if largest > MAX_SCALED:
            raise InternalError(f"the objective overflows: {largest} in {level}")
        values += term.weight * column
    return values


def satisfied(table: JobTable, requirement: Requirement) -> BoolArray:
    """Which candidates meet a requirement, (n,)."""
    if requirement.job is not None and requirement.job != table.name:
        return np.ones(len(table), dtype=np.bool_)
    if isinstance(requirement, AllowedSet):
        codes, labels = table.category(requirement.category)
        good = np.array([label in requirement.labels for label in labels], np.bool_)
        return good[codes]
    column = table.quantity(requirement.quantity)
    if isinstance(requirement, AllowedValues):
        return np.isin(column, sorted(requirement.values))
    ok = np.ones(len(table), dtype=np.bool_)
    if requirement.lower is not None:
        ok &= column >= requirement.lower
    if requirement.upper is not None:
        ok &= column <= requirement.upper
    return ok


@dataclass(frozen=True, slots=True)
class SolveLimits:
    """How long and how hard CP-SAT may search.

    Parameters
    ----------
    time_s
        Wall-clock seconds over all levels of the objective; None: no limit.
    gap
        Relative gap of the first level at which to stop: 0.01 is one per cent.
    workers
        Threads. One is deterministic and, for these models, as fast.
    seed
        Seed of the search.
    log
        Print CP-SAT's own log on standard output.
    parameters
        Further parameters of CP-SAT by name; they win over the ones above.
    """

    time_s: float | None = None
    gap: float = 0.0
    workers: int = 1
    seed: int = 0
    log: bool = False
    parameters: Mapping[str, Any] = field(default_factory=dict)
