import re
from pathlib import Path

from ortools.sat.python import cp_model

from solver.cpsat.problem import PlacementProblem
from solver.cpsat.table import AllowedSet, Bound
from tests.cpsat.tables import COST, TIME, three_offers

REQUIREMENTS = [
    Bound("deadline", "duration", None, 20),
    AllowedSet("countries", "country", frozenset({"SG"})),
]


def _problem() -> PlacementProblem:
    return PlacementProblem([three_offers()], REQUIREMENTS, [COST, TIME])


def test_export_loads_and_gives_the_same_optimum(tmp_path: Path) -> None:
    """Tests that the text is CP-SAT's own format, comments and short lists included."""
    problem = _problem()
    path = tmp_path / "model.txtpb"
    problem.export(path, ["who asked"])
    loaded = cp_model.CpModel()
    assert loaded.proto.parse_text_format(path.read_text(encoding="utf-8"))
    assert str(loaded.proto) == str(problem.model.proto)
    solver = cp_model.CpSolver()
    assert solver.solve(loaded) == cp_model.OPTIMAL
    assert solver.objective_value == 200


def test_header_says_what_the_model_is(tmp_path: Path) -> None:
    """Tests that the file opens with the given lines, units and codes."""
    path = tmp_path / "model.txtpb"
    _problem().export(path, ["Candidates: 3, not pruned.", ""])
    lines = path.read_text(encoding="utf-8").splitlines()
    header = [line for line in lines if line.startswith("#")]
    assert lines[: len(header)] == header
    assert header[0] == "# Candidates: 3, not pruned."
    text = "\n".join(header)
    assert "cost is in units of 0.01 USD" in text
    assert "country is a code: 0 SG, 1 US" in text
    assert "2. minimise objective_2 = 1 x duration" in text


def test_rows_are_named_and_lists_are_short(tmp_path: Path) -> None:
    """Tests that a person finds the deadline, and each row's numbers on one line."""
    path = tmp_path / "model.txtpb"
    _problem().export(path)
    text = path.read_text(encoding="utf-8")
    assert re.search(r'name: "deadline"\n  linear \{\n    vars: \d+\n', text)
    assert 'name: "cost of the chosen candidate"' in text
    assert "coeffs: [100, 200, 300, -1]" in text
    assert 'name: "country=SG"' in text


def test_export_is_the_same_before_and_after_a_solve(tmp_path: Path) -> None:
    """Tests that a solve leaves no trace in the file."""
    problem = _problem()
    problem.export(tmp_path / "before")
    problem.solve()
    problem.export(tmp_path / "after")
    assert (tmp_path / "before").read_bytes() == (tmp_path / "after").read_bytes()
