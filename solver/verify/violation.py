"""A promise that a plan does not keep, and how figures are compared."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

TOLERANCE = 1e-9
"""Relative difference that rounding can explain: the same formulas in another order."""


@dataclass(frozen=True, slots=True)
class Violation:
    """One disagreement between a plan and what its decisions come to.

    ``rule`` is the id in `solver.rules` under which it falls.
    """

    rule: str
    message: str
    expected: Any
    got: Any


def close(expected: float | None, got: Any) -> bool:
    """Whether two figures are the same but for rounding; None only equals None.

    What is no number, as in a plan that was edited, equals nothing.
    """
    if expected is None or got is None:
        return expected is got
    if not isinstance(got, int | float):
        return False
    if not (math.isfinite(expected) and math.isfinite(got)):
        return False
    return math.isclose(expected, got, rel_tol=TOLERANCE, abs_tol=1e-12)


def at_most(value: float, limit: float) -> bool:
    """Whether a value keeps its upper limit, rounding aside; NaN keeps none."""
    return value <= limit + TOLERANCE * abs(limit)


def facts(rule: str, expected: Mapping[str, Any], got: object) -> Iterator[Violation]:
    """Violations where attributes of ``got`` are not the ``expected`` values."""
    for name, value in expected.items():
        found = getattr(got, name)
        if found != value or isinstance(found, bool) != isinstance(value, bool):
            yield Violation(rule, f"{name} is not what was chosen", value, found)


def figures(
    rule: str, expected: Mapping[str, float | None], got: Mapping[str, float | None]
) -> Iterator[Violation]:
    """Violations where figures differ by more than rounding, or are missing."""
    for name in sorted({*expected, *got}):
        value, found = expected.get(name), got.get(name)
        if name not in expected or name not in got or not close(value, found):
            yield Violation(rule, f"{name} does not follow", value, found)


def parts_of(
    rule: str, whole: str, total: float, parts: Mapping[str, float]
) -> Iterator[Violation]:
    """Violations where parts are negative, no numbers, or do not add up."""
    for name, value in parts.items():
        if not (math.isfinite(value) and value >= -TOLERANCE * abs(total)):
            yield Violation(rule, f"{whole}: the part {name} is impossible", 0, value)
    found = math.fsum(parts.values())
    if not close(total, found):
        yield Violation(rule, f"the parts of {whole} do not add up", total, found)
