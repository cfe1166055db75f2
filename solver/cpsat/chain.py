"""Jobs that run one after the other: moves between them, and the finish of all.

Where two consecutive jobs choose labels of a category (regions), what the change costs
is a flow: one Boolean for each pair of labels, whose row and column sums are the jobs'
choices, so that each move's cost stays linear and exact. No row is guarded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from ortools.sat.python import cp_model

from solver.cpsat.table import IntArray, JobTable, SharedBound
from solver.cpsat.variables import Variables
from solver.errors import InternalError

Rows = list[cp_model.Constraint]


@dataclass(frozen=True)
class FlowSum:
    """A joint quantity of the moves alone: ``sum of flow x price``.

    ``prices`` holds a matrix for each pair of consecutive jobs, (labels of the one,
    labels of the next), int64, at least 0.
    """

    prices: tuple[IntArray, ...]


@dataclass(frozen=True)
class Finish:
    """When the last job ends: the latest, over jobs j, of what may hold it up.

    ``wait_j + sum of time and moves from j on``, for the nodes of job j are waited for
    only as far as time has not passed already. ``time`` and ``wait`` name columns of
    every job; ``moves`` as ``prices`` of `FlowSum`.
    """

    time: str
    wait: str
    moves: tuple[IntArray, ...]


@dataclass(frozen=True)
class Links:
    """What joins the jobs of a chain."""

    category: str
    """The category whose labels a move is between."""
    joint: Mapping[str, FlowSum | Finish] = field(default_factory=dict)
    """Name of each joint variable to what it is."""


@dataclass(frozen=True)
class Joint:
    """A variable of the whole chain."""

    variable: cp_model.IntVar
    most: int
    definition: FlowSum | Finish
    jobs: tuple[JobTable, ...]
    category: str

    def value(self, rows: Sequence[int]) -> int:
        """Its value when ``rows``, one a job, are chosen."""
        codes = [
            int(table.category(self.category)[0][row])
            for table, row in zip(self.jobs, rows, strict=True)
        ]
        if isinstance(self.definition, FlowSum):
            return sum(
                int(price[codes[j], codes[j + 1]])
                for j, price in enumerate(self.definition.prices)
            )
        finish = rest = 0
        for j in range(len(rows) - 1, -1, -1):
            if j + 1 < len(rows):
                rest += int(self.definition.moves[j][codes[j], codes[j + 1]])
            rest += int(self.jobs[j].quantity(self.definition.time)[rows[j]])
            wait = int(self.jobs[j].quantity(self.definition.wait)[rows[j]])
            finish = max(finish, wait + rest)
        return finish


class Chain:
    """Flows between consecutive jobs, and the joint variables over them.

    Parameters
    ----------
    variables
        The variables of the model, whose jobs run in their order.
    links
        What joins them.
    """

    def __init__(self, variables: Variables, links: Links) -> None:
        self.variables = variables
        self.category = links.category
        self.flows = [
            add_flow(variables, links.category, job)
            for job in range(len(variables.jobs) - 1)
        ]
        self.joint: dict[str, Joint] = {}
        for name, definition in links.joint.items():
            if isinstance(definition, FlowSum):
                variable, most = add_flow_sum(self, name, definition)
            else:
                variable, most = add_finish(self, name, definition)
            self.joint[name] = Joint(
                variable, most, definition, variables.jobs, links.category
            )

    def flow_terms(
        self, prices: Sequence[IntArray], first: int = 0
    ) -> list[tuple[cp_model.IntVar, int]]:
        """Flows of the moves after jobs ``first`` and later, with what each costs."""
        return [
            (variable, int(price[pair]))
            for flow, price in zip(self.flows[first:], prices[first:], strict=True)
            for pair, variable in flow.items()
            if price[pair]
        ]


def add_flow(
    variables: Variables, category: str, job: int
) -> dict[tuple[int, int], cp_model.IntVar]:
    """``sum over b of flow[a,b] == (job in a)``, ``sum over a == (next job in b)``.

    With one label chosen on each side exactly one flow is 1. Returned by the codes of
    both labels.
    """
    model = variables.model
    tables = variables.jobs[job], variables.jobs[job + 1]
    ends = [variables.category(job + side, category).values for side in (0, 1)]
    codes = [
        {label: code for code, label in enumerate(t.category(category)[1])}
        for t in tables
    ]
    flow = {}
    for a in ends[0]:
        for b in ends[1]:
            name = f"move[{tables[0].name}: {a} -> {tables[1].name}: {b}]"
            flow[codes[0][a], codes[1][b]] = model.new_bool_var(name)
    for side in (0, 1):
        for label, boolean in ends[side].items():
            code = codes[side][label]
            through = [v for pair, v in flow.items() if pair[side] == code]
            row = model.add(cp_model.LinearExpr.sum(through) - boolean == 0)
            row.with_name(f"moves {'into' if side else 'out of'} {label}")
    return flow


def add_flow_sum(
    chain: Chain, name: str, definition: FlowSum
) -> tuple[cp_model.IntVar, int]:
    """``name == sum of price x flow`` over all moves; the variable and its most."""
    most = sum(int(price.max(initial=0)) for price in definition.prices)
    terms = chain.flow_terms(definition.prices)
    variable = chain.variables.model.new_int_var(0, most, name)
    _add_sum(chain.variables.model, terms, variable, equal=True).with_name(name)
    return variable, most


def add_finish(
    chain: Chain, name: str, definition: Finish
) -> tuple[cp_model.IntVar, int]:
    """``name >= wait_j + sum of time and moves from j on``, one row a job j.

    Minimised or bounded from above it is the latest of these. Returned with the most
    that it can be.
    """
    variables, jobs = chain.variables, chain.variables.jobs
    most = sum(int(price.max(initial=0)) for price in definition.moves)
    most += sum(int(t.quantity(definition.time).max(initial=0)) for t in jobs)
    most += max(int(t.quantity(definition.wait).max(initial=0)) for t in jobs)
    variable = variables.model.new_int_var(0, most, name)
    times = [variables.quantity(j, definition.time) for j in range(len(jobs))]
    for j in range(len(jobs)):
        terms = [(time, 1) for time in times[j:]]
        terms.append((variables.quantity(j, definition.wait), 1))
        terms += chain.flow_terms(definition.moves, j)
        row = _add_sum(variables.model, terms, variable, equal=False)
        row.with_name(f"{name} from {jobs[j].name} on")
    return variable, most


def add_shared_bound(
    variables: Variables, chain: Chain | None, bound: SharedBound
) -> Rows:
    """``sum over jobs of quantity + joint <= upper``, named after its rule.

    Raises
    ------
    InternalError
        If it names a joint variable that the jobs do not have.
    """
    terms: list[tuple[cp_model.IntVar, int]] = []
    if bound.quantity is not None:
        jobs = range(len(variables.jobs))
        terms += [(variables.quantity(job, bound.quantity), 1) for job in jobs]
    if bound.joint is not None:
        if chain is None or bound.joint not in chain.joint:
            raise InternalError(f"the jobs have no joint '{bound.joint}'")
        terms.append((chain.joint[bound.joint].variable, 1))
    total = cp_model.LinearExpr.weighted_sum(
        [variable for variable, _ in terms], [weight for _, weight in terms]
    )
    row = variables.model.add(total <= bound.upper)
    row.with_name(bound.rule)
    return [row]


def _add_sum(
    model: cp_model.CpModel,
    terms: Sequence[tuple[cp_model.IntVar, int]],
    variable: cp_model.IntVar,
    *,
    equal: bool,
) -> cp_model.Constraint:
    """``sum of terms == variable``, or ``<=``."""
    total = cp_model.LinearExpr.weighted_sum(
        [*(v for v, _ in terms), variable], [*(w for _, w in terms), -1]
    )
    return model.add(total == 0) if equal else model.add(total <= 0)


def aligned(matrix: np.ndarray, of: IntArray, to: IntArray) -> IntArray:
    """The rows and columns of a matrix that the labels of two jobs stand for."""
    return np.asarray(matrix[np.ix_(of, to)], dtype=np.int64)
