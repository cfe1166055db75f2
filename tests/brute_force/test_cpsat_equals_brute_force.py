"""CP-SAT, the reduction and plain Python agree on random candidate tables."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from solver.cpsat.problem import PlacementProblem
from solver.cpsat.prune import undominated
from solver.cpsat.reduce import best_row_by_reduction
from solver.cpsat.table import AllowedSet, Bound, JobTable
from tests.cpsat.tables import (
    COST,
    TIME,
    brute_force,
    random_objectives,
    random_requirements,
    random_tables,
)


@settings(max_examples=150)
@given(st.data())
def test_three_ways_to_the_same_row(data: st.DataObject) -> None:
    """Tests that all three choose the same row, with the value proved, or none."""
    of = data.draw(random_tables())
    requirements = data.draw(random_requirements(of))
    objective = data.draw(random_objectives())
    expected = brute_force(of, requirements, objective)
    assert best_row_by_reduction(of, requirements, objective) == expected
    outcome = PlacementProblem([of], requirements, objective).solve()
    if expected is None:
        assert outcome.status == "infeasible"
        return
    assert outcome.rows == (expected,)
    assert outcome.status == "optimal"
    assert outcome.ties_proved
    assert outcome.gap == 0.0


@settings(max_examples=60)
@given(st.data())
def test_pruned_model_equals_brute_force_over_all(data: st.DataObject) -> None:
    """Tests that CP-SAT on the pruned table finds the optimum of the whole one."""
    of = data.draw(random_tables(max_rows=25))
    requirements = data.draw(random_requirements(of))
    objective = [COST, TIME]
    rows = undominated(of, requirements, ["cost", "duration"])
    outcome = PlacementProblem([of.take(rows)], requirements, objective).solve()
    expected = brute_force(of, requirements, objective)
    found = None if outcome.rows is None else int(rows[outcome.rows[0]])
    assert found == expected


@settings(max_examples=60)
@given(st.data())
def test_order_of_rows_never_changes_the_optimum(data: st.DataObject) -> None:
    """Tests that a shuffled table gives the same candidate, told by its rank."""
    of = data.draw(random_tables())
    requirements = data.draw(random_requirements(of))
    order = np.array(data.draw(st.permutations(range(len(of)))), dtype=np.int64)
    shuffled = of.take(order)
    outcomes = [
        PlacementProblem([t], requirements, [COST, TIME]).solve()
        for t in (of, shuffled)
    ]
    assert outcomes[0].status == outcomes[1].status
    assert outcomes[0].values == outcomes[1].values
    if outcomes[0].rows is not None and outcomes[1].rows is not None:
        assert order[outcomes[1].rows[0]] == outcomes[0].rows[0]


@settings(max_examples=60)
@given(st.data())
def test_more_freedom_never_worsens_the_optimum(data: st.DataObject) -> None:
    """Tests that a higher limit, a larger set and more candidates never hurt."""
    of = data.draw(random_tables())
    limit = data.draw(st.integers(0, 10))
    more = limit + data.draw(st.integers(0, 5))
    few = data.draw(st.sets(st.sampled_from("abc")))
    many = few | data.draw(st.sets(st.sampled_from("abc")))
    half = of.take(np.arange((len(of) + 1) // 2))

    def best(t: JobTable, deadline: int, regions: set[str]) -> float:
        outcome = PlacementProblem(
            [t],
            [
                Bound("deadline", "duration", None, deadline),
                AllowedSet("regions", "region", frozenset(regions)),
            ],
            [COST],
        ).solve()
        return outcome.values[0] if outcome.values else float("inf")

    narrow = best(half, limit, few)
    assert best(half, more, few) <= narrow
    assert best(half, limit, many) <= narrow
    assert best(of, limit, few) <= narrow


@settings(max_examples=40)
@given(st.data())
def test_coupled_jobs_equal_brute_force(data: st.DataObject) -> None:
    """Tests two jobs that share nodes against all pairs of their candidates."""
    first = data.draw(random_tables(max_rows=5, name="a"))
    second = data.draw(random_tables(max_rows=5, name="b"))
    limit = data.draw(st.integers(0, 2 * 10**6))
    problem = PlacementProblem([first, second], [], [COST, TIME])
    gpus = [problem.variables.quantity(job, "gpus") for job in range(2)]
    problem.model.add(gpus[0] + gpus[1] <= limit)
    outcome = problem.solve()

    def total(name: str, i: int, k: int) -> int:
        return int(first.quantities[name][i]) + int(second.quantities[name][k])

    pairs = [
        (total("cost", i, k), total("duration", i, k), first.rank[i], second.rank[k])
        for i in range(len(first))
        for k in range(len(second))
        if total("gpus", i, k) <= limit
    ]
    if not pairs:
        assert outcome.status == "infeasible"
        return
    best = min(pairs)
    assert outcome.status == "optimal"
    assert outcome.values == best[:2]
    assert outcome.rows is not None
    ranks = (first.rank[outcome.rows[0]], second.rank[outcome.rows[1]])
    assert ranks == best[2:]
