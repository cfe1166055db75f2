"""Axes written as a range: ``{from: 20 days, to: 90 days, count: 8}``."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from solver.errors import shown
from solver.sweeps.written import Quantity, quantity
from solver.units import QuantityError

__all__ = ["MAX_VALUES", "RANGE_KEYS", "expanded"]

RANGE_KEYS = ("from", "to", "count", "step", "spacing")
SPACINGS = ("linear", "geometric")
MAX_VALUES = 100_000
"""Values of one axis; more are a slip."""


def expanded(spec: Mapping[str, Any]) -> tuple[Any, ...]:
    """The values of a range, written as its ends are.

    Parameters
    ----------
    spec
        ``from``, ``to`` and either ``count`` (with ``spacing``: linear or geometric)
        or ``step``.

    Raises
    ------
    QuantityError
        What is wrong with it.
    """
    first, last = _end(spec, "from"), _end(spec, "to")
    if not first.like(last):
        raise QuantityError(
            f"expected both ends in one unit, not {shown(spec['from'])} and "
            f"{shown(spec['to'])}",
            "wrong-value",
        )
    if ("count" in spec) == ("step" in spec):
        raise QuantityError("a range needs either count or step", "missing-key")
    numbers = _counted(spec, first, last) if "count" in spec else _stepped(spec, first)
    return tuple(dict.fromkeys(first.at(number) for number in numbers))


def _end(spec: Mapping[str, Any], key: str) -> Quantity:
    """One end of a range."""
    if spec.get(key) is None:
        raise QuantityError(f"a range needs {key!r}", "missing-key")
    found = quantity(spec[key])
    if found is None:
        raise QuantityError(
            f"expected a number with or without a unit, not {shown(spec[key])}",
            "wrong-type",
        )
    return found


def _counted(
    spec: Mapping[str, Any], first: Quantity, last: Quantity
) -> list[float | Fraction]:
    """So many numbers from end to end, evenly or by an equal factor."""
    count = spec["count"]
    if isinstance(count, bool) or not isinstance(count, int):
        message = f"expected a whole number of values, not {shown(count)}"
        raise QuantityError(message, "wrong-type")
    if not 2 <= count <= MAX_VALUES:
        message = f"expected 2 to {MAX_VALUES:,} values, not {shown(count)}"
        raise QuantityError(message, "out-of-range")
    spacing = spec.get("spacing") or "linear"
    if spacing not in SPACINGS:
        message = f"expected linear or geometric, not {shown(spacing)}"
        raise QuantityError(message, "wrong-value")
    low, high = first.number, last.number
    shares = [Fraction(i, count - 1) for i in range(count)]
    if spacing == "linear":
        return [low + (high - low) * share for share in shares]
    if low <= 0 or high <= 0:
        message = "a geometric range needs ends above zero"
        raise QuantityError(message, "out-of-range")
    ratio = float(high / low)
    inner = [float(low) * ratio ** float(share) for share in shares[1:-1]]
    return [low, *inner, high]


def _stepped(spec: Mapping[str, Any], first: Quantity) -> list[float | Fraction]:
    """Numbers a step apart, up to the end or as near as steps come."""
    if spec.get("spacing") not in (None, "linear"):
        raise QuantityError("a step is linear; use count instead", "conflicting-keys")
    step, last = _end(spec, "step"), _end(spec, "to")
    alike = step.like(first) or (step.before, step.after) == ("", "")
    if not alike:
        message = (
            f"expected the step in the unit of the ends, not {shown(spec['step'])}"
        )
        raise QuantityError(message, "wrong-value")
    if step.number <= 0:
        raise QuantityError("expected a step above zero", "out-of-range")
    span = last.number - first.number
    steps = abs(span) // step.number
    if steps >= MAX_VALUES:
        message = f"the range has more than {MAX_VALUES:,} values"
        raise QuantityError(message, "out-of-range")
    signed = step.number if span >= 0 else -step.number
    return [first.number + i * signed for i in range(int(steps) + 1)]
