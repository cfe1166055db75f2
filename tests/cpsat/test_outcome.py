import pytest
from ortools.sat.python import cp_model

from solver.cpsat.outcome import STATUS, relative_gap, status_of
from solver.errors import InternalError


def test_every_status_of_cp_sat_is_mapped_or_raised() -> None:
    """Tests that a status new to CP-SAT would be noticed here."""
    names = set(cp_model.CpSolverStatus.__members__)
    assert names == {*STATUS, "MODEL_INVALID"}
    assert status_of("OPTIMAL") == "optimal"
    with pytest.raises(InternalError, match="domain too wide"):
        status_of("MODEL_INVALID", "domain too wide\n")


@pytest.mark.parametrize(
    ("value", "bound", "gap"), [(100, 100, 0.0), (100, 75, 0.25), (0, 0, 0.0)]
)
def test_relative_gap(value: int, bound: int, gap: float) -> None:
    """Tests the gap as CP-SAT counts it."""
    assert relative_gap(value, bound) == gap
