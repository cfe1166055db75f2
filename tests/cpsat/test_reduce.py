import pytest

from solver.cpsat.reduce import best_row_by_reduction, feasible_rows
from solver.cpsat.table import Bound
from tests.cpsat.tables import COST, TIME, table, three_offers


def test_best_row_by_reduction() -> None:
    """Tests the look-up on three offers that can be solved in one's head."""
    offers = three_offers()
    deadline = Bound("deadline", "duration", None, 20)
    assert best_row_by_reduction(offers, [], [COST]) == 0
    assert best_row_by_reduction(offers, [deadline], [COST]) == 1
    assert best_row_by_reduction(offers, [], [TIME]) == 2
    assert feasible_rows(offers, [deadline]).tolist() == [1, 2]


def test_nothing_feasible_is_none() -> None:
    """Tests that no plan is None, not a number."""
    deadline = Bound("deadline", "duration", None, 5)
    assert best_row_by_reduction(three_offers(), [deadline], [COST]) is None


@pytest.mark.parametrize(
    ("objective", "best"),
    [([COST], 3), ([COST, TIME], 1), ([TIME, COST], 1), ([TIME], 2), ([], 3)],
)
def test_ties_go_to_the_next_level_and_then_to_rank(
    objective: list[tuple], best: int
) -> None:
    """Tests that each level only chooses among the best of the one before."""
    tied = table(
        {"cost": [5, 5, 6, 5], "duration": [9, 7, 7, 8]},
        rank=[3, 2, 1, 0],
    )
    assert best_row_by_reduction(tied, [], objective) == best
