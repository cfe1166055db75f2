import numpy as np
import pytest

from solver.cpsat.table import (
    MAX_SCALED,
    AllowedSet,
    AllowedValues,
    Bound,
    JobTable,
    Term,
    level_values,
    satisfied,
)
from solver.errors import InternalError
from tests.cpsat.tables import table, three_offers


def _table_of(column: np.ndarray, rank: np.ndarray) -> JobTable:
    return JobTable("job", {"cost": column}, {}, {}, rank)


@pytest.mark.parametrize(
    ("column", "rank", "match"),
    [
        (np.array([1.0, 2.0]), np.arange(2), "float64"),
        (np.array([1, 2, 3]), np.arange(2), r"int64\(2,\)"),
        (np.array([1, -2]), np.arange(2), "outside 0"),
        (np.array([1, MAX_SCALED + 1]), np.arange(2), "outside 0"),
        (np.array([1, 2]), np.array([0, 0]), "permutation"),
        (np.array([1, 2]), np.array([1, 2]), "outside 0 to 1"),
    ],
)
def test_bad_columns_are_refused(
    column: np.ndarray, rank: np.ndarray, match: str
) -> None:
    """Tests that a column which CP-SAT could misread never reaches it."""
    with pytest.raises(InternalError, match=match):
        _table_of(column, rank)


def test_labels_are_distinct_and_codes_within_them() -> None:
    """Tests that a category's codes index its labels, each of which stands once."""
    codes = np.array([0, 1])
    for labels in (("a", "a"), ("a",)):
        with pytest.raises(InternalError):
            JobTable("job", {}, {}, {"region": (codes, labels)}, np.arange(2))


def test_unknown_names_are_told() -> None:
    """Tests that asking for a column that is not there says which."""
    with pytest.raises(InternalError, match="speed"):
        three_offers().quantity("speed")
    with pytest.raises(InternalError, match="planet"):
        three_offers().category("planet")


def test_take_keeps_rows_and_their_order_of_rank() -> None:
    """Tests that a part of a table has the values asked for and a closed-up rank."""
    part = table({"cost": [10, 20, 30, 40]}, rank=[3, 0, 2, 1]).take(np.array([3, 0]))
    assert part.quantity("cost").tolist() == [40, 10]
    assert part.rank.tolist() == [0, 1]


def test_satisfied_by_kind_of_requirement() -> None:
    """Tests the rows that each kind of requirement lets through."""
    offers = three_offers()
    cases = [
        (Bound("budget", "cost", None, 200), [True, True, False]),
        (Bound("budget", "cost", 200, None), [False, True, True]),
        (Bound("budget", "cost", 101, 299), [False, True, False]),
        (AllowedValues("gpus", "gpus", frozenset({8, 64})), [True, False, True]),
        (AllowedSet("countries", "country", frozenset({"SG"})), [False, True, True]),
        (AllowedSet("countries", "country", frozenset({"FR"})), [False] * 3),
        (Bound("budget", "cost", None, 0, job="another"), [True] * 3),
    ]
    for requirement, expected in cases:
        assert satisfied(offers, requirement).tolist() == expected, requirement


def test_level_values_add_weighted_terms_and_refuse_overflow() -> None:
    """Tests the value of a level, and that a sum past 2^53 is our error."""
    offers = three_offers()
    level = (Term("cost", 2), Term("duration", 5))
    assert level_values(offers, level).tolist() == [350, 500, 650]
    with pytest.raises(InternalError, match="overflows"):
        level_values(offers, (Term("cost", 2**50),))


@pytest.mark.parametrize("weight", [0, -1])
def test_weights_are_positive(weight: int) -> None:
    """Tests that no objective can reward spending."""
    with pytest.raises(InternalError):
        Term("cost", weight)
