"""Tests of the dates of figures."""

from datetime import date

import pytest

from solver.dates import age_days, first_day, last_day, today
from solver.errors import InputError


@pytest.mark.parametrize(
    ("as_of", "first", "last"),
    [
        ("2026", date(2026, 1, 1), date(2026, 12, 31)),
        ("2024-02", date(2024, 2, 1), date(2024, 2, 29)),
        ("2026-08-19", date(2026, 8, 19), date(2026, 8, 19)),
        ("2025/2026", date(2025, 1, 1), date(2026, 12, 31)),
        ("2025-11/2026-02", date(2025, 11, 1), date(2026, 2, 28)),
    ],
)
def test_span(as_of: str, first: date, last: date) -> None:
    """Tests that a date stands for all the days that it may mean."""
    assert (first_day(as_of), last_day(as_of)) == (first, last)


@pytest.mark.parametrize(
    "text", ["", "lately", "2026-13", "2026-02-30", "26", "2026/", "2024/2025/2026"]
)
def test_no_date(text: str) -> None:
    """Tests that what is no date, or none of the calendar, has no days and no age."""
    assert first_day(text) is None
    assert last_day(text) is None
    assert age_days(text, date(2026, 11, 30)) is None


@pytest.mark.parametrize(
    ("as_of", "days"),
    [("2026", 0), ("2025", 334), ("2026-08", 91), ("2026-11-29", 1), ("2027-01", 0)],
)
def test_age_is_the_least_possible(as_of: str, days: int) -> None:
    """Tests that age counts from the end of the stated span, and is never negative."""
    assert age_days(as_of, date(2026, 11, 30)) == days


def test_today() -> None:
    """Tests that today is the calendar's unless a day is stated."""
    before = date.today()
    assert before <= today({}) <= date.today()
    assert today({"GPUPLAN_TODAY": " 2027-03-31 "}) == date(2027, 3, 31)


@pytest.mark.parametrize("stated", ["tomorrow", "2027", "2027-02-30"])
def test_today_has_to_be_a_day(stated: str) -> None:
    """Tests that a wrong date is told under the variable's name, never ignored."""
    with pytest.raises(InputError) as caught:
        today({"GPUPLAN_TODAY": stated})
    assert caught.value.issues[0].where == "GPUPLAN_TODAY"


def test_today_is_within_the_calendar() -> None:
    """Tests that a day is refused from which lead times lead out of the calendar."""
    assert today({"GPUPLAN_TODAY": "9900-12-31"}) == date(9900, 12, 31)
    with pytest.raises(InputError) as caught:
        today({"GPUPLAN_TODAY": "9999-12-31"})
    assert caught.value.issues[0].code == "out-of-range"
