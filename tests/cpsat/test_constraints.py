"""Each rule on the same three offers: what it allows, forbids and adds."""

import pytest

from solver.cpsat.constraints import ADD_RULE, BY_CONSTRUCTION
from solver.cpsat.problem import PlacementProblem
from solver.cpsat.table import AllowedSet, AllowedValues, Bound, Requirement
from solver.errors import InternalError
from solver.rules import RULE_IDS
from tests.cpsat.tables import three_offers


def _labels(rule: str, category: str, *labels: str) -> AllowedSet:
    return AllowedSet(rule, category, frozenset(labels))


def _values(rule: str, quantity: str, *values: int) -> AllowedValues:
    return AllowedValues(rule, quantity, frozenset(values))


def _name(parameter: Requirement | set[int]) -> str:
    """A test id that does not depend on the order of a set."""
    if isinstance(parameter, set):
        return "rows-" + "-".join(map(str, sorted(parameter)))
    subject = getattr(parameter, "quantity", "") or getattr(parameter, "category", "")
    return f"{parameter.rule}-{subject}"


EXAMPLES: list[tuple[Requirement, set[int]]] = [
    (Bound("memory", "memory_excess", None, 0), {1, 2}),
    (Bound("memory", "memory", None, 49), {2}),
    (Bound("parallelism", "tp", 2, None), {1, 2}),
    (Bound("parallelism", "pp", None, 2), {0, 1}),
    (Bound("parallelism", "dp", 2, 7), {1}),
    (Bound("parallelism", "virtual_stages", None, 1), {0}),
    (Bound("parallelism", "micro_batch", 3, None), {2}),
    (_values("parallelism", "cp", 1, 4), {0, 2}),
    (_values("parallelism", "ep", 2), {1}),
    (_values("parallelism", "etp", 1, 2, 8), {0, 1}),
    (_values("parallelism", "zero_stage", 0, 3), {0, 2}),
    (_labels("parallelism", "recompute", "none", "selective"), {1, 2}),
    (_labels("regions", "region", "mine/sg", "aws/us-east-1"), {0, 2}),
    (_labels("countries", "country", "SG"), {1, 2}),
    (_labels("residency", "country", "SG"), {1, 2}),
    (_labels("providers", "provider", "gcp"), {1}),
    (_labels("gpu_types", "gpu_type", "a100-80gb"), {0, 1}),
    (Bound("gpus", "gpus", 9, 63), {1}),
    (_values("gpus", "gpus", 8, 64), {0, 2}),
    (Bound("gpus", "nodes", None, 2), {0, 1}),
    (_values("gpus", "gpus_per_node", 8), {1, 2}),
    (_labels("intra_node", "intra_node_tier", "nvlink3"), {1}),
    (_labels("intra_node", "intra_node_kind", "nvlink", "nvswitch"), {1, 2}),
    (Bound("intra_node", "intra_node_bandwidth", 300, None), {1, 2}),
    (_labels("network", "network_tier", "ndr-400"), {2}),
    (_labels("network", "network_kind", "ethernet", "roce"), {0, 1}),
    (Bound("network", "network_bandwidth", 26, None), {2}),
    (_labels("storage", "storage_tier", "lustre"), {1}),
    (_labels("storage", "storage_kind", "local_nvme"), {0}),
    (Bound("storage", "storage_read", 20, None), {1, 2}),
    (Bound("storage_capacity", "storage_excess", None, 0), {0, 2}),
    (_labels("purchase", "purchase", "on_demand", "owned"), {1, 2}),
    (Bound("stock", "stock_excess", None, 0), {0, 1}),
    (Bound("stock", "nodes", None, 2), {0, 1}),
    (Bound("cluster", "cluster_excess", None, 0), {0, 1}),
    (Bound("quota", "quota_0", None, 16), {0, 1}),
    (_values("spares", "spares", 0, 2), {0, 2}),
    (Bound("throughput", "tokens_per_s", 2000, None), {1, 2}),
    (Bound("deadline", "duration", None, 20), {1, 2}),
    (Bound("deadline", "duration_at_confidence", None, 20), {2}),
    (Bound("budget", "cost", None, 200), {0, 1}),
    (Bound("budget", "cost_at_confidence", None, 200), {0}),
    (Bound("energy", "energy", None, 200), {0, 1}),
    (Bound("energy", "energy_at_confidence", None, 200), {0}),
    (Bound("carbon", "carbon", None, 20), {1, 2}),
    (Bound("carbon", "carbon_at_confidence", None, 20), {2}),
]


@pytest.mark.parametrize(("requirement", "allowed"), EXAMPLES, ids=_name)
def test_rule_allows_and_forbids(requirement: Requirement, allowed: set[int]) -> None:
    """Tests that fixing an allowed candidate is feasible and any other infeasible."""
    assert 0 < len(allowed) < 3
    for row in range(3):
        problem = PlacementProblem([three_offers()], [requirement], [])
        problem.model.add(problem.variables.choose[0][row] == 1)
        expected = "optimal" if row in allowed else "infeasible"
        assert problem.solve().status == expected, row


@pytest.mark.parametrize(("requirement", "allowed"), EXAMPLES, ids=_name)
def test_rule_returns_its_rows(requirement: Requirement, allowed: set[int]) -> None:
    """Tests that a rule returns the rows it added, named after it and unguarded."""
    problem = PlacementProblem([three_offers()], [requirement], [])
    rows = problem.constraints[requirement.rule]
    assert rows
    assert {row.name for row in rows} == {requirement.rule}
    assert not any(c.enforcement_literal for c in problem.model.proto.constraints)


def test_every_rule_has_a_constraint_or_a_reason() -> None:
    """Tests that ADD_RULE follows the order of RULES and leaves out only what holds by
    construction."""
    covered = [rule for rule in RULE_IDS if rule in ADD_RULE]
    assert list(ADD_RULE) == covered
    assert set(BY_CONSTRUCTION) == set(RULE_IDS) - set(ADD_RULE)
    assert all(BY_CONSTRUCTION.values())


def test_every_constraint_has_examples() -> None:
    """Tests that no rule was added without an example above."""
    assert {requirement.rule for requirement, _ in EXAMPLES} == set(ADD_RULE)


@pytest.mark.parametrize(
    "requirement",
    [
        _labels("regions", "region", "mars"),
        _labels("regions", "region"),
        _values("gpus", "gpus"),
        _values("gpus", "gpus", 7),
        Bound("deadline", "duration", 11, 9),
    ],
    ids=_name,
)
def test_a_rule_that_nothing_meets_is_infeasible(requirement: Requirement) -> None:
    """Tests that empty sets and crossed bounds are a 'no', not an invalid model."""
    assert PlacementProblem([three_offers()], [requirement], []).solve().status == (
        "infeasible"
    )


@pytest.mark.parametrize(
    "requirement",
    [
        Bound("deadline", "cost", None, 5),
        _labels("regions", "country", "SG"),
        Bound("goodput", "duration", None, 5),
        Bound("no-such-rule", "cost", None, 5),
    ],
    ids=_name,
)
def test_a_rule_limits_only_what_it_is_about(requirement: Requirement) -> None:
    """Tests that a requirement filed under the wrong rule is our error."""
    with pytest.raises(InternalError):
        PlacementProblem([three_offers()], [requirement], [])


def test_exactly_one_candidate() -> None:
    """Tests that no job runs two candidates, or none."""
    for chosen in ([1, 1, 0], [0, 0, 0]):
        problem = PlacementProblem([three_offers()], [], [])
        for boolean, value in zip(problem.variables.choose[0], chosen, strict=True):
            problem.model.add(boolean == value)
        assert problem.solve().status == "infeasible"
