"""Today's date, and the dates of figures, which are as precise as their source.

A figure's date, ``as_of``, is a year, a month, a day, or a span of two of these:
``2026``, ``2026-08``, ``2026-08-19``, ``2025/2026``. Its age counts from the last day
that it may be of, so that a figure is never told to be older than it is.
"""

from __future__ import annotations

import os
import re
from calendar import monthrange
from collections.abc import Mapping
from datetime import date, timedelta

from solver.errors import InputError, Issue, shown

__all__ = [
    "TODAY_VARIABLE",
    "age_days",
    "first_day",
    "last_day",
    "last_today",
    "today",
]

TODAY_VARIABLE = "GPUPLAN_TODAY"
"""Environment variable with the date to take for today's, for a plan as of that day."""

_LATEST = date(9900, 12, 31)
_DATE = re.compile(r"([0-9]{4})(?:-([0-9]{2})(?:-([0-9]{2}))?)?")


def today(environment: Mapping[str, str] | None = None) -> date:
    """Return today's date, or that of ``GPUPLAN_TODAY``.

    Parameters
    ----------
    environment
        The environment variables; the process's by default.

    Raises
    ------
    InputError
        The variable holds no date.
    """
    variables = os.environ if environment is None else environment
    stated = variables.get(TODAY_VARIABLE, "").strip()
    if not stated:
        return date.today()
    day = first_day(stated)
    if day is None or day != last_day(stated):
        message = f"expected a date such as 2027-03-31, not {shown(stated)}"
        raise InputError([Issue("wrong-value", message, TODAY_VARIABLE)])
    if day > _LATEST:  # lead times are added to it, and no calendar goes on for ever
        message = f"expected a date until {_LATEST}, not {shown(stated)}"
        raise InputError([Issue("out-of-range", message, TODAY_VARIABLE)])
    return day


def last_today(day: date) -> date:
    """Return the day after today, which it is already elsewhere."""
    return day + timedelta(days=1)


def first_day(as_of: str) -> date | None:
    """Return the first day that a figure may be of; None where that is no date."""
    return _end(as_of.partition("/")[0], last=False) if last_day(as_of) else None


def last_day(as_of: str) -> date | None:
    """Return the last day that a figure may be of; None where that is no date."""
    parts = as_of.split("/")
    days = [_end(part, last=True) for part in parts]
    return days[-1] if None not in days and len(days) <= 2 else None


def age_days(as_of: str, day: date) -> int | None:
    """Return how many days old a figure is at least; None where that is not known.

    Parameters
    ----------
    as_of
        Date of the figure. What is of this year may be of today: 0.
    day
        Day on which it is looked at.
    """
    last = last_day(as_of)
    return None if last is None else max(0, (day - last).days)


def _end(text: str, *, last: bool) -> date | None:
    """Return the first or last day of a year, month or day."""
    match = _DATE.fullmatch(text)
    if match is None:
        return None
    year, month, day = (int(part) if part else None for part in match.groups())
    try:
        month = month or (12 if last else 1)
        whole = monthrange(year or 0, month)[1] if last else 1
        return date(year or 0, month, day or whole)
    except ValueError:
        return None
