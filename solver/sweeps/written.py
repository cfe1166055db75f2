"""Quantities as they are written: a number and what stands around it.

A sweep sets values of a scenario as a user would write them. A range or a distribution
takes the number out of ``20 days`` or ``$250k``, and puts others in its place.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite
from typing import Any

from solver import units
from solver.errors import shown
from solver.units import QuantityError

__all__ = ["Quantity", "as_factor", "as_number", "quantity", "written"]

_PARTS = re.compile(
    r"\s*([^0-9.+-]*?)([-+]?(?:[0-9][0-9,_]*\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)"
    r"(\s*[^0-9]*)"
)
_DIGITS = 12
"""Significant digits of a computed value: float noise is left out, nothing else."""

_MOST_FACTOR = 1000.0

_KINDS: tuple[Callable[[Any], Any], ...] = (
    units.parse_count,
    units.parse_usd,
    units.parse_fraction,
    units.parse_duration_s,
    units.parse_bytes,
    units.parse_bandwidth_bytes_per_s,
    units.parse_mwh,
    units.parse_tonnes,
)
"""Ways to read a quantity, so that two in different units can be compared."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number, and what is written before and after it."""

    number: Fraction
    before: str = ""
    after: str = ""

    def like(self, other: Quantity) -> bool:
        """Whether both have the same unit, letter by letter."""
        return (self.before, self.after.strip()) == (other.before, other.after.strip())

    def at(self, number: float | Fraction) -> Any:
        """Another number, written the same way."""
        plain = written(number)
        if not self.before and not self.after:
            return plain
        return f"{self.before}{plain}{self.after}"


def quantity(value: Any) -> Quantity | None:
    """The number in a value and what stands around it; None: there is no number."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    if not isinstance(value, str):
        endless = isinstance(value, float) and not isfinite(value)
        return None if endless else Quantity(Fraction(repr(value)))
    match = _PARTS.fullmatch(value)
    if match is None:
        return None
    before, number, after = match.groups()
    plain = re.sub("[,_]", "", number)
    if not isfinite(float(plain)):  # as a fraction it could fill the memory
        return None
    if float(plain) == 0.0:
        return Quantity(Fraction(0), before, after.rstrip())
    return Quantity(Fraction(plain), before, after.rstrip())


def written(number: float | Fraction) -> int | float:
    """A number as YAML has it: whole where it is whole, without float noise."""
    plain = float(f"{float(number):.{_DIGITS}g}")
    return int(plain) if plain == int(plain) else plain


def as_factor(value: Any) -> float:
    """A factor on prices: a number, or per cent of the price.

    ``+20%`` is none: it would be read as a fifth of the price.

    Raises
    ------
    QuantityError
        It is none, or out of bounds.
    """
    signed = isinstance(value, str) and value.strip().startswith("+")
    try:
        factor = -1.0 if signed else units.parse_fraction(value, upper=_MOST_FACTOR)
    except QuantityError:
        factor = -1.0
    if factor > 0:
        return factor
    message = (
        f"expected a factor above zero, up to {_MOST_FACTOR:,.0f}, such as 1.2 or "
        f"'120%', not {shown(value)}"
    )
    raise QuantityError(message, "out-of-range" if factor == 0 else "wrong-value")


def as_number(value: Any, like: Any) -> tuple[float, float] | None:
    """Two values in one unit, to be compared; None where they cannot be.

    Raises
    ------
    QuantityError
        One of them is no quantity at all.
    """
    for parse in _KINDS:
        try:
            return float(parse(value)), float(parse(like))
        except (QuantityError, TypeError, ValueError):
            continue
    for each in (value, like):
        if quantity(each) is None:
            message = f"expected a number and its unit, not {shown(each)}"
            raise QuantityError(message, "wrong-type")
    return None
