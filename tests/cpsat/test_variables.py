import numpy as np
import pytest

from solver.cpsat import variables as variables_module
from solver.cpsat.problem import PlacementProblem
from solver.cpsat.table import DECISION_CATEGORIES, DECISION_QUANTITIES, JobTable
from solver.errors import InternalError
from tests.cpsat.tables import COST, table, three_offers


def _names(problem: PlacementProblem) -> list[str]:
    return [variable.name for variable in problem.model.proto.variables]


def test_every_named_decision_has_a_variable() -> None:
    """Tests that the model names each decision of formulation.md."""
    names = _names(PlacementProblem([three_offers()], [], [COST]))
    for name in (*DECISION_QUANTITIES, *DECISION_CATEGORIES):
        assert name in names
    assert {"choose[0]", "region=mine/sg", "purchase=spot"} <= set(names)
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("row", range(3))
def test_variables_equal_the_chosen_candidate(row: int) -> None:
    """Tests that with a candidate fixed every variable takes that row's value."""
    offers = three_offers()
    problem = PlacementProblem([offers], [], [])
    problem.model.add(problem.variables.choose[0][row] == 1)
    for name in DECISION_QUANTITIES:
        value = int(offers.quantity(name)[row])
        problem.model.add(problem.variables.quantity(0, name) == value)
    for name in DECISION_CATEGORIES:
        codes, labels = offers.category(name)
        category = problem.variables.category(0, name)
        problem.model.add(category.code == int(codes[row]))
        for label, boolean in category.values.items():
            problem.model.add(boolean == (label == labels[int(codes[row])]))
    assert problem.solve().rows == (row,)


@pytest.mark.parametrize("name", DECISION_QUANTITIES)
def test_a_wrong_value_contradicts_the_candidate(name: str) -> None:
    """Tests that no variable can differ from the chosen candidate's value."""
    offers = three_offers()
    problem = PlacementProblem([offers], [], [])
    problem.model.add(problem.variables.choose[0][0] == 1)
    variable = problem.variables.quantity(0, name)
    problem.model.add(variable != int(offers.quantity(name)[0]))
    assert problem.solve().status == "infeasible"


def test_a_bound_on_any_variable_is_one_row() -> None:
    """Tests that a what-if is a linear row on a name, added after the fact."""
    problem = PlacementProblem([three_offers()], [], [COST])
    assert problem.solve().rows == (0,)
    problem.model.add(problem.variables.quantity(0, "pp") >= 2)
    assert problem.solve().rows == (1,)
    region = problem.variables.category(0, "region")
    problem.model.add(region.values["mine/sg"] == 1)
    assert problem.solve().rows == (2,)


def test_only_asked_channels_where_candidates_are_many() -> None:
    """Tests that a large model has variables only for what is asked."""
    n = variables_module.ALL_CHANNELS_UP_TO + 1
    large = table({"cost": range(n), "gpus": [8] * n}, {"region": ["a"] * n})
    names = _names(PlacementProblem([large], [], [COST]))
    assert "cost" in names
    assert "gpus" not in names
    assert "region" not in names
    asked = PlacementProblem([large], [], [COST], channels=["region", "gpus"])
    assert {"gpus", "region", "region=a"} <= set(_names(asked))


def test_jobs_are_told_apart_by_name() -> None:
    """Tests that with several jobs each has variables under its own name."""
    first = table({"cost": [1, 2]}, name="pretrain")
    second = table({"cost": [3]}, name="tune")
    names = _names(PlacementProblem([first, second], [], [COST]))
    assert {"pretrain.cost", "tune.cost", "choose[pretrain,1]"} <= set(names)


def test_domains_list_few_values_and_span_many() -> None:
    """Tests that a degree's domain is its values, a cost's the span."""
    n = 100
    powers = [2 ** (k % 4) for k in range(n)]
    problem = PlacementProblem([table({"tp": powers, "cost": range(n)})], [], [COST])
    domains = {v.name: list(v.domain) for v in problem.model.proto.variables}
    assert domains["tp"] == [1, 2, 4, 4, 8, 8]
    assert domains["cost"] == [0, 99]


@pytest.mark.parametrize("hint", [(), (0, 1), (3,), (-1,)])
def test_hints_have_to_fit(hint: tuple[int, ...]) -> None:
    """Tests that a hint for a row that is not there is our error."""
    with pytest.raises(InternalError, match="hint"):
        PlacementProblem([three_offers()], [], [COST], hint=hint)


def test_hint_is_complete_and_right() -> None:
    """Tests that a hint gives every variable its value, so that it can be followed."""
    problem = PlacementProblem([three_offers()], [], [COST], hint=[2])
    hint = problem.model.proto.solution_hint
    values = dict(zip(hint.vars, hint.values, strict=True))
    for name in ("gpus", "cost"):
        index = problem.variables.quantity(0, name).index
        assert values[index] == three_offers().quantity(name)[2]
    assert problem.solve().rows == (0,)


def test_no_candidates() -> None:
    """Tests that a job without candidates is infeasible, not an invalid model."""
    empty = JobTable(
        "job",
        {"cost": np.array([], dtype=np.int64)},
        {},
        {"region": (np.array([], dtype=np.int64), ("a",))},
        np.array([], dtype=np.int64),
    )
    assert PlacementProblem([empty], [], [COST]).solve().status == "infeasible"
