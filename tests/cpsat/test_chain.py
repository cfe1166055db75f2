"""Tests of jobs that run one after the other: flows, finish and shared limits."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solver.cpsat.chain import Finish, FlowSum, Links
from solver.cpsat.problem import PlacementProblem
from solver.cpsat.table import JobTable, SharedBound, Term
from solver.errors import InternalError

LEVELS = (
    (Term("cost"), Term("moves")),
    (Term("finish"),),
)


def column(values: list[int]) -> np.ndarray:
    """An int64 column."""
    return np.array(values, dtype=np.int64)


def table(name: str, rows: list[dict[str, int]], choice: list[int]) -> JobTable:
    """A job with costs, times and waits in regions 0 and 1."""
    return JobTable(
        name=name,
        quantities={
            key: column([row[key] for row in rows]) for key in ("cost", "time", "wait")
        },
        units={},
        categories={"region": (column([row["region"] for row in rows]), ("a", "b"))},
        rank=np.arange(len(rows), dtype=np.int64),
        choice=column(choice),
    )


def row(region: int, cost: int, time: int, wait: int = 0) -> dict[str, int]:
    """One candidate."""
    return {"region": region, "cost": cost, "time": time, "wait": wait}


def links(price: int, delay: int) -> Links:
    """Moves that cost and take the same between the two regions."""
    away = column([[0, 1], [1, 0]])  # type: ignore[list-item]
    return Links(
        "region",
        {
            "moves": FlowSum((price * away,)),
            "finish": Finish("time", "wait", (delay * away,)),
        },
    )


def test_a_move_is_paid_where_regions_differ() -> None:
    """Tests that a cheaper second job elsewhere is not worth the move."""
    first = table("one", [row(0, 5, 5)], [0])
    second = table("two", [row(0, 5, 5), row(1, 2, 5)], [1, 2])
    for price, rows, value in ((4, (0, 0), 10), (2, (0, 1), 9)):
        problem = PlacementProblem([first, second], [], LEVELS, links=links(price, 0))
        outcome = problem.solve()
        assert (outcome.rows, outcome.values[0]) == (rows, value)


def test_a_shared_boolean_is_one_choice() -> None:
    """Tests that a lease over both jobs is chosen in both or in neither."""
    first = table("one", [row(0, 6, 5), row(0, 4, 5)], [0, 1])
    second = table("two", [row(0, 0, 4), row(0, 4, 4)], [0, 2])
    outcome = PlacementProblem([first, second], [], LEVELS, links=links(0, 0)).solve()
    assert outcome.rows == (0, 0)
    assert outcome.values == (6, 9)


def test_a_wait_counts_only_as_far_as_time_has_not_passed() -> None:
    """Tests the finish with a wait for the second job that the first one covers."""
    for wait, finish in ((4, 9), (7, 11)):
        first = table("one", [row(0, 1, 5)], [0])
        second = table("two", [row(0, 1, 4, wait)], [1])
        problem = PlacementProblem([first, second], [], LEVELS, links=links(0, 0))
        assert problem.solve().values == (2, finish)


def test_a_limit_of_both_is_one_row() -> None:
    """Tests a deadline that is met at one and missed a unit below."""
    first = table("one", [row(0, 1, 5)], [0])
    second = table("two", [row(1, 1, 4)], [1])
    for upper, status in ((11, "optimal"), (10, "infeasible")):
        bound = SharedBound("deadline", None, "finish", upper)
        problem = PlacementProblem(
            [first, second], [], LEVELS, links=links(1, 2), shared=[bound]
        )
        assert problem.solve().status == status
        assert [r.name for r in problem.constraints["deadline"]] == ["deadline"]


def test_a_joint_that_is_not_there_is_refused() -> None:
    """Tests a shared limit on a variable that the jobs do not have."""
    first = table("one", [row(0, 1, 5)], [0])
    with pytest.raises(InternalError, match="no joint 'finish'"):
        PlacementProblem(
            [first],
            [],
            [(Term("cost"),)],
            shared=[SharedBound("deadline", None, "finish", 3)],
        )


def test_two_rows_with_one_boolean_are_refused() -> None:
    """Tests that a job cannot have a choice twice."""
    with pytest.raises(InternalError, match="same Boolean"):
        table("one", [row(0, 1, 1), row(0, 2, 2)], [3, 3])


ROWS = st.lists(
    st.builds(
        row, st.integers(0, 1), st.integers(0, 9), st.integers(1, 9), st.integers(0, 12)
    ),
    min_size=1,
    max_size=5,
)


@settings(max_examples=60)
@given(ROWS, ROWS, st.integers(0, 5), st.integers(0, 5), st.integers(5, 40))
def test_two_jobs_equal_brute_force(
    first: list[dict[str, int]],
    second: list[dict[str, int]],
    price: int,
    delay: int,
    upper: int,
) -> None:
    """Tests cost and finish of the best pair against all pairs."""
    jobs = [
        table("one", first, list(range(len(first)))),
        table("two", second, [9 + k for k in range(len(second))]),
    ]
    bound = SharedBound("deadline", None, "finish", upper)
    outcome = PlacementProblem(
        jobs, [], LEVELS, links=links(price, delay), shared=[bound]
    ).solve()
    pairs = []
    for (i, a), (k, b) in product(enumerate(first), enumerate(second)):
        moved = a["region"] != b["region"]
        ready = a["wait"] + a["time"] + delay * moved
        finish = max(ready, b["wait"]) + b["time"]
        if finish <= upper:
            pairs.append((a["cost"] + b["cost"] + price * moved, finish, i, k))
    if not pairs:
        assert outcome.status == "infeasible"
        return
    assert outcome.status == "optimal"
    assert outcome.ties_proved
    assert (*outcome.values, *(outcome.rows or ())) == min(pairs)
