"""Rental terms, as ids and people have them."""

from __future__ import annotations

from solver.messages import sentence
from solver.units import DAY, HOUR, MONTH_HOURS

__all__ = ["term_code", "term_text"]

TERM_UNITS = (
    (12 * MONTH_HOURS, "years"),
    (MONTH_HOURS, "months"),
    (DAY // HOUR, "days"),
    (1, "hours"),
)
"""Hours of each unit in which a term is told, if it is a whole number of them."""


def term_code(hours: float) -> str:
    """Return a rental term as an id has it: ``1y``, ``3m``, ``30d``, ``36h``."""
    count, unit = _whole_units(hours)
    return f"{count:g}{unit[0]}"


def term_text(hours: float) -> str:
    """Return a rental term in words: ``1 year``, ``3 months``, ``30 days``."""
    count, unit = _whole_units(hours)
    return sentence(f"term.{unit}", count=count)


def _whole_units(hours: float) -> tuple[float, str]:
    """Return a term in the largest unit of which it is a whole number."""
    size, unit = next((u for u in TERM_UNITS if hours % u[0] == 0), TERM_UNITS[-1])
    return hours / size, unit
