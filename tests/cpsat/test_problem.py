import os
import signal
import sys
import threading

import numpy as np
import pytest

from solver.cpsat import search
from solver.cpsat.outcome import Progress
from solver.cpsat.problem import PlacementProblem
from solver.cpsat.table import MAX_SCALED, Bound, JobTable, SolveLimits, Term
from solver.errors import InputError, InternalError
from tests.cpsat.tables import COST, TIME, table, three_offers


def _hard_problem(count: int = 60) -> PlacementProblem:
    """Many jobs that share four scarce goods: plans soon, a proof late."""
    rng = np.random.default_rng(3)
    jobs = [
        table(
            {
                "cost": rng.integers(10**6, 10**7, 12).tolist(),
                "nodes": rng.integers(10**5, 10**6, 12).tolist(),
                "gpus": rng.integers(10**5, 10**6, 12).tolist(),
                "memory": rng.integers(10**5, 10**6, 12).tolist(),
                "tokens_per_s": rng.integers(10**5, 10**6, 12).tolist(),
            },
            name=f"job-{j}",
        )
        for j in range(count)
    ]
    problem = PlacementProblem(jobs, [], [COST])
    for quantity in ("nodes", "gpus", "memory", "tokens_per_s"):
        total = sum(problem.variables.quantity(j, quantity) for j in range(count))
        problem.model.add(total <= 400_000 * count)
    return problem


def test_optimum_and_its_proof() -> None:
    """Tests rows, values, bound and gap of a plan that is proved."""
    deadline = Bound("deadline", "duration", None, 20)
    outcome = PlacementProblem([three_offers()], [deadline], [COST, TIME]).solve()
    assert outcome.status == "optimal"
    assert outcome.rows == (1,)
    assert outcome.values == (200, 20)
    assert outcome.bound == 200
    assert outcome.gap == 0.0
    assert outcome.ties_proved
    assert not outcome.interrupted
    assert outcome.wall_time_s > 0


def test_infeasible_has_no_rows_and_no_numbers() -> None:
    """Tests that a 'no' carries None, never infinity or 0."""
    deadline = Bound("deadline", "duration", None, 5)
    outcome = PlacementProblem([three_offers()], [deadline], [COST]).solve()
    assert outcome.status == "infeasible"
    assert outcome.rows is None
    assert outcome.values == ()
    assert outcome.bound is None
    assert outcome.gap is None


def test_no_time_is_unknown() -> None:
    """Tests that a limit which ends before any plan claims nothing."""
    outcome = PlacementProblem([three_offers()], [], [COST]).solve(SolveLimits(0.0))
    assert outcome.status == "unknown"
    assert outcome.rows is None
    assert not outcome.ties_proved


def test_a_gap_is_reported_and_not_called_optimal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Tests that a plan whose bound lies below its cost is 'feasible' with its gap."""
    solve = search.run

    def stopped_early(*args, **kwargs) -> search.Search:  # type: ignore[no-untyped-def]
        found = solve(*args, **kwargs)
        if args[3] > 0:
            return found
        return search.Search("optimal", found.values, 90, found.wall_time_s)

    monkeypatch.setattr(search, "run", stopped_early)
    outcome = PlacementProblem([three_offers()], [], [COST, TIME]).solve()
    assert outcome.status == "feasible"
    assert outcome.rows == (0,)
    assert outcome.bound == 90
    assert outcome.gap == pytest.approx(0.1)
    assert not outcome.ties_proved


def test_levels_are_lexicographic() -> None:
    """Tests that the second level never gives away any of the first."""
    tied = table({"cost": [5, 5, 6], "duration": [9, 7, 1]})
    assert PlacementProblem([tied], [], [COST, TIME]).solve().rows == (1,)
    assert PlacementProblem([tied], [], [TIME, COST]).solve().rows == (2,)


def test_weighted_objective() -> None:
    """Tests a weighted sum: 100 + 3 x 30 < 200 + 3 x 20, but not at weight 30."""
    for weight, best in ((3, 0), (30, 2)):
        level = (Term("cost"), Term("duration", weight))
        problem = PlacementProblem([three_offers()], [], [level])
        outcome = problem.solve()
        assert outcome.rows == (best,)
        expected = three_offers().quantity("cost") + weight * three_offers().quantity(
            "duration"
        )
        assert outcome.values == (int(expected.min()),)


def test_ties_go_to_the_canonical_rank() -> None:
    """Tests that of equal candidates the one of lowest rank is chosen."""
    equal = table({"cost": [5, 5, 5, 5]}, rank=[2, 3, 0, 1])
    assert PlacementProblem([equal], [], [COST]).solve().rows == (2,)


def test_several_jobs_share_one_model() -> None:
    """Tests that every job is decided, and that a shared row couples them."""
    first = table({"cost": [1, 5], "nodes": [9, 2]}, name="a")
    second = table({"cost": [2, 7], "nodes": [9, 3]}, name="b")
    problem = PlacementProblem([first, second], [], [COST])
    outcome = problem.solve()
    assert outcome.rows == (0, 0)
    assert outcome.values == (3,)
    nodes = [problem.variables.quantity(job, "nodes") for job in range(2)]
    problem.model.add(nodes[0] + nodes[1] <= 11)
    outcome = problem.solve()
    assert outcome.rows == (1, 0)
    assert outcome.values == (7,)


def test_ties_of_several_jobs_are_unique() -> None:
    """Tests that ranks of jobs in mixed radix leave one best choice."""
    jobs = [
        table({"cost": [5, 5, 5], "nodes": [1, 2, 3]}, rank=[2, 0, 1], name=name)
        for name in ("a", "b", "c")
    ]
    problem = PlacementProblem(jobs, [], [COST])
    assert problem.solve().rows == (1, 1, 1)
    nodes = [problem.variables.quantity(job, "nodes") for job in range(3)]
    problem.model.add(sum(nodes) == 7)
    # the first job's rank counts most: 2, then 2, which leaves 3
    assert problem.solve().rows == (1, 1, 2)


def test_many_jobs_need_several_levels_of_rank() -> None:
    """Tests that ranks which don't fit one number are minimised one after the other."""
    jobs = [
        table({"cost": [5] * 10}, rank=range(9, -1, -1), name=f"job-{j}")
        for j in range(14)
    ]
    problem = PlacementProblem(jobs, [], [COST])
    assert len(problem.objective) == 3
    outcome = problem.solve()
    assert outcome.rows == (9,) * 14
    assert outcome.ties_proved


def test_requirements_can_name_their_job() -> None:
    """Tests that a deadline of one job is not one of the others."""
    jobs = [table({"cost": [1, 2], "duration": [9, 3]}, name=n) for n in ("a", "b")]
    deadline = Bound("deadline", "duration", None, 5, job="b")
    assert PlacementProblem(jobs, [deadline], [COST]).solve().rows == (0, 1)
    stray = Bound("deadline", "duration", None, 5, job="c")
    with pytest.raises(InternalError, match="none of the jobs"):
        PlacementProblem(jobs, [stray], [COST])


def test_jobs_have_distinct_names() -> None:
    """Tests that variables of two jobs can't be mixed up."""
    with pytest.raises(InternalError, match="distinct"):
        PlacementProblem([three_offers(), three_offers()], [], [COST])
    with pytest.raises(InternalError, match="distinct"):
        PlacementProblem([], [], [COST])


def test_solving_leaves_the_model_as_it_was() -> None:
    """Tests that levels held during a solve are let go: same text, same answer."""
    tied = table({"cost": [5, 5, 6], "duration": [9, 7, 1]})
    problem = PlacementProblem([tied], [], [COST, TIME], hint=[0])
    before = str(problem.model.proto)
    assert problem.solve().rows == (1,)
    assert str(problem.model.proto) == before
    assert problem.solve().rows == (1,)
    problem.model.add(problem.variables.quantity(0, "duration") <= 3)
    assert problem.solve().rows == (2,)


def test_model_and_answer_are_deterministic() -> None:
    """Tests that the same input gives the same model text and the same rows."""
    rng = np.random.default_rng(0)
    values = rng.integers(0, 5, (2, 60)).tolist()
    texts, rows = set(), set()
    for seed in (0, 1):
        tied = table({"cost": values[0], "duration": values[1]})
        problem = PlacementProblem([tied], [], [COST, TIME])
        texts.add(str(problem.model.proto))
        rows.add(problem.solve(SolveLimits(seed=seed)).rows)
    assert len(texts) == 1
    assert len(rows) == 1


def test_two_workers_find_the_same_plan() -> None:
    """Tests that ties are broken by the model, not by which thread is first."""
    equal = table({"cost": [5] * 30, "duration": [3] * 30}, rank=range(29, -1, -1))
    problem = PlacementProblem([equal], [], [COST, TIME])
    assert problem.solve(SolveLimits(workers=2)).rows == (29,)


def test_progress_is_reported() -> None:
    """Tests that each better solution is told with its bound and gap."""
    seen: list[Progress] = []
    PlacementProblem([three_offers()], [], [COST, TIME]).solve(on_progress=seen.append)
    assert {progress.level for progress in seen} == {0, 1, 2}
    assert all(p.bound <= p.best and p.gap >= 0 for p in seen)
    assert [p.best for p in seen if p.level == 0][-1] == 100


def test_an_error_in_the_callback_is_raised() -> None:
    """Tests that a fault of the caller's callback is not swallowed."""

    def broken(_: Progress) -> None:
        raise ZeroDivisionError

    problem = PlacementProblem([three_offers()], [], [COST])
    with pytest.raises(ZeroDivisionError):
        problem.solve(on_progress=broken)


@pytest.mark.parametrize(
    ("parameters", "codes"),
    [
        ({"num_wrkers": 1}, ["unknown-parameter"]),
        ({"num_workers": "two"}, ["wrong-type"]),
        ({"search_branching": 99, "x": 1}, ["wrong-type", "unknown-parameter"]),
    ],
)
def test_parameters_are_checked(parameters: dict, codes: list[str]) -> None:
    """Tests that CP-SAT parameters are refused by name or type, all at once."""
    problem = PlacementProblem([three_offers()], [], [COST])
    with pytest.raises(InputError) as caught:
        problem.solve(SolveLimits(parameters=parameters))
    assert [issue.code for issue in caught.value.issues] == codes


def test_the_nearest_parameter_is_named() -> None:
    """Tests the hint for a misspelt parameter."""
    problem = PlacementProblem([three_offers()], [], [COST])
    with pytest.raises(InputError, match="num_workers"):
        problem.solve(SolveLimits(parameters={"num_wrkers": 1}))


def test_parameters_pass_through() -> None:
    """Tests that a known parameter of the right type is used."""
    problem = PlacementProblem([three_offers()], [], [COST])
    limits = SolveLimits(parameters={"cp_model_presolve": False})
    assert problem.solve(limits).rows == (0,)


def test_an_invalid_model_is_our_error_and_says_why() -> None:
    """Tests that MODEL_INVALID is raised with CP-SAT's reason, never called unknown."""
    problem = PlacementProblem([three_offers()], [], [COST])
    problem.model.new_int_var(0, 2**62, "too wide")
    with pytest.raises(InternalError, match="too wide"):
        problem.solve()


def test_the_largest_values_are_exact() -> None:
    """Tests that values next to 2^53 are compared and bounded to the unit."""
    large = table({"cost": [MAX_SCALED, MAX_SCALED - 1, MAX_SCALED]})
    outcome = PlacementProblem([large], [], [COST]).solve()
    assert outcome.rows == (1,)
    assert outcome.status == "optimal"
    assert outcome.bound == MAX_SCALED - 1


def test_sums_that_overflow_are_refused() -> None:
    """Tests that the sum over jobs is checked before CP-SAT sees it."""
    jobs: list[JobTable] = [
        table({"cost": [MAX_SCALED]}, name=name) for name in ("a", "b")
    ]
    with pytest.raises(InternalError, match="overflows"):
        PlacementProblem(jobs, [], [COST])


def test_the_time_limit_holds() -> None:
    """Tests that a search which can't end in time returns its best plan and gap."""
    problem = _hard_problem(200)
    first = problem.solve(SolveLimits(gap=1.0))  # late on a busy machine
    limit_s = max(3.0, 3 * first.wall_time_s)
    outcome = problem.solve(SolveLimits(time_s=limit_s))
    assert outcome.status == "feasible"
    assert outcome.rows is not None
    assert outcome.bound is not None
    assert 0 < outcome.bound < outcome.values[0]
    assert outcome.gap == pytest.approx(1 - outcome.bound / outcome.values[0])
    assert not outcome.ties_proved
    assert not outcome.interrupted
    assert outcome.wall_time_s < limit_s + 7


def test_a_gap_ends_the_search() -> None:
    """Tests that with a gap allowed the proof stops there and says so."""
    outcome = _hard_problem().solve(SolveLimits(time_s=60, gap=0.2))
    assert outcome.status == "feasible"
    assert outcome.gap is not None
    assert 0 < outcome.gap <= 0.2
    assert outcome.wall_time_s < 60


@pytest.mark.skipif(sys.platform == "win32", reason="signals to oneself")
def test_ctrl_c_keeps_the_best_plan() -> None:
    """Tests that an interrupt ends all levels, keeps the rows and raises nothing."""
    problem = _hard_problem()
    started: list[Progress] = []

    def interrupt_soon(progress: Progress) -> None:
        if not started:
            threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        started.append(progress)

    outcome = problem.solve(on_progress=interrupt_soon)
    assert outcome.interrupted
    assert outcome.status == "feasible"
    assert outcome.rows is not None
    assert outcome.bound is not None
    assert outcome.bound < outcome.values[0]
