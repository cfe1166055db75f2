import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solver.cpsat.prune import undominated
from solver.cpsat.reduce import best_row_by_reduction
from solver.cpsat.table import AllowedSet, AllowedValues, Bound, JobTable, Requirement
from tests.cpsat.tables import (
    COST,
    TIME,
    random_requirements,
    random_tables,
    table,
)

BUDGET = Bound("budget", "cost", None, 0)
DEADLINE = Bound("deadline", "duration", None, 0)
FLOOR = Bound("throughput", "tokens_per_s", 0, None)


def test_one_quantity_keeps_the_best() -> None:
    """Tests that with cost alone one of the cheapest stays: the canonical first."""
    rows = undominated(table({"cost": [7, 5, 5]}, rank=[0, 2, 1]), [], ["cost"])
    assert rows.tolist() == [2]


def test_two_quantities_keep_the_front() -> None:
    """Tests the cost-time front by hand: 3 is dropped by 1, 4 is equal to 0."""
    front = table({"cost": [1, 2, 4, 3, 1], "duration": [9, 5, 1, 5, 9]})
    assert undominated(front, [], ["cost", "duration"]).tolist() == [0, 1, 2]


def test_a_floor_turns_the_direction() -> None:
    """Tests that more tokens a second save a dear candidate under a floor."""
    rows = table({"cost": [1, 2, 3], "tokens_per_s": [5, 9, 9]})
    assert undominated(rows, [], ["cost"]).tolist() == [0]
    assert undominated(rows, [FLOOR], ["cost"]).tolist() == [0, 1]


def test_a_range_has_to_be_equal() -> None:
    """Tests that a quantity bounded from both sides keeps one best a value."""
    rows = table({"cost": [1, 2, 3, 4], "gpus": [8, 8, 16, 4]})
    both = [Bound("gpus", "gpus", 4, 16)]
    apart = [Bound("gpus", "gpus", 4, None), Bound("gpus", "gpus", None, 16)]
    values = [AllowedValues("gpus", "gpus", frozenset({8, 16}))]
    for requirements in (both, apart, values):
        assert undominated(rows, requirements, ["cost"]).tolist() == [0, 2, 3]


def test_a_goal_with_a_floor_has_to_be_equal() -> None:
    """Tests that a quantity both minimised and bounded from below keeps every value."""
    rows = table({"cost": [1, 2, 2]})
    assert undominated(rows, [Bound("budget", "cost", 2)], ["cost"]).tolist() == [0, 1]


def test_named_categories_have_to_be_equal() -> None:
    """Tests that each region keeps its own best where regions will be compared."""
    rows = table({"cost": [1, 2, 3]}, {"region": ["a", "b", "b"]})
    assert undominated(rows, [], ["cost"], ["region"]).tolist() == [0, 1]
    allowed = AllowedSet("regions", "region", frozenset("b"))
    assert undominated(rows, [allowed], ["cost"]).tolist() == [0, 1]


def test_nothing_to_prune() -> None:
    """Tests tables of no row and of no named quantity."""
    empty = JobTable("job", {}, {}, {}, np.array([], dtype=np.int64))
    assert undominated(empty, [], []).tolist() == []
    assert undominated(table({"cost": [3, 1]}, rank=[1, 0]), [], []).tolist() == [1]


def _slow_front(
    of: JobTable, small: list[str], large: list[str], equal: list[str]
) -> list[int]:
    """Undominated rows by comparing all pairs in plain Python, goals being cost and
    duration."""

    def drops(a: int, b: int) -> bool:
        def q(name: str, row: int) -> int:
            if name in of.categories:
                return int(of.categories[name][0][row])
            return int(of.quantities[name][row])

        same = all(q(n, a) == q(n, b) for n in equal)
        good = all(q(n, a) <= q(n, b) for n in small)
        good &= all(q(n, a) >= q(n, b) for n in large)
        goals_a = (q("cost", a), q("duration", a), int(of.rank[a]))
        goals_b = (q("cost", b), q("duration", b), int(of.rank[b]))
        return same and good and goals_a < goals_b

    n = len(of.rank)
    return [b for b in range(n) if not any(drops(a, b) for a in range(n))]


@given(random_tables(max_rows=30))
def test_fast_front_equals_slow_front(of: JobTable) -> None:
    """Tests every path of the code against all pairs."""
    goals = ["cost", "duration"]
    gpus = Bound("gpus", "gpus", None, 3)
    cases: list[tuple[list[Requirement], list[str], list[str], list[str]]] = [
        ([], goals, [], []),
        ([], goals, [], ["region"]),
        ([], goals, [], ["region", "purchase"]),
        ([FLOOR], goals, ["tokens_per_s"], []),
        ([FLOOR], goals, ["tokens_per_s"], ["region"]),
        ([FLOOR, gpus], [*goals, "gpus"], ["tokens_per_s"], []),
        ([BUDGET, DEADLINE], goals, [], []),
    ]
    for requirements, small, large, equal in cases:
        fast = undominated(of, requirements, goals, equal).tolist()
        assert fast == _slow_front(of, small, large, equal), (requirements, equal)


@given(st.data())
def test_pruning_keeps_the_very_optimum(data: st.DataObject) -> None:
    """Tests that for any limits of the announced kinds the best row stays."""
    of = data.draw(random_tables(max_rows=30))
    requirements = data.draw(random_requirements(of))
    for objective in ([COST, TIME], [TIME, COST], [COST], []):
        goals = [term.quantity for level in objective for term in level]
        rows = undominated(of, requirements, goals)
        whole = best_row_by_reduction(of, requirements, objective)
        part = best_row_by_reduction(of.take(rows), requirements, objective)
        assert (whole is None) == (part is None)
        if part is not None:
            assert rows[part] == whole


@pytest.mark.parametrize("n", [3_000])
def test_large_fronts_pass_chunk_by_chunk(n: int) -> None:
    """Tests more rows than are compared at once, all of them undominated."""
    rng = np.random.default_rng(0)
    cost = rng.permutation(n)
    rows = table(
        {
            "cost": cost.tolist(),
            "duration": (2 * n - cost).tolist(),
            "gpus": rng.integers(0, 50, n).tolist(),
        }
    )
    kept = undominated(rows, [Bound("gpus", "gpus", None, 9)], ["cost", "duration"])
    assert kept.tolist() == list(range(n))
