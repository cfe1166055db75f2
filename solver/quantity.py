"""Reading a number and its unit: exact, and never guessed where it is unclear.

`solver.units` has the kinds of quantities and their units.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from solver.errors import nearest

__all__ = ["Dimension", "Quantity", "QuantityError", "canonical", "shown_quantity"]

Quantity = str | int | float
"""What a YAML file may hold for a quantity."""


class QuantityError(ValueError):
    """A quantity that cannot be read.

    Parameters
    ----------
    message
        What is wrong and what was expected.
    code
        Code of the `solver.errors.Issue` to make of it.
    hint
        The nearest right spelling.
    """

    def __init__(self, message: str, code: str, hint: str | None = None) -> None:
        super().__init__(message, code, hint)
        self.message = message
        self.code = code
        self.hint = hint

    def __str__(self) -> str:
        """Return the message with its hint."""
        hint = "" if self.hint is None else f" (did you mean '{self.hint}'?)"
        return self.message + hint


@dataclass(frozen=True, slots=True)
class Dimension:
    """A kind of quantity: what to call it and the units it may be given in.

    Parameters
    ----------
    noun
        What to call it in messages.
    examples
        How to write it, as shown in messages.
    units
        Spelling to size in the canonical unit.
    any_case
        The case of a unit does not matter.
    """

    noun: str
    examples: str
    units: Mapping[str, int | Fraction]
    any_case: bool = True

    def size(self, unit: str, shown: object) -> int | Fraction:
        """Return the size of a unit in the canonical one.

        Parameters
        ----------
        unit
            The unit as the user spelled it.
        shown
            The whole quantity, for messages.
        """
        size = self.units.get(unit.casefold() if self.any_case else unit)
        if size is None:
            raise self._unknown_unit(unit, shown)
        return size

    def _unknown_unit(self, unit: str, shown: object) -> QuantityError:
        """Return the error for a unit that is none, or not clearly one."""
        expected = f"expected {self.noun} such as {self.examples}, not '{shown}'"
        doubt = self._doubt(unit)
        if doubt is not None:
            return QuantityError(f"{doubt}; {expected}", "ambiguous-unit")
        hint = nearest(unit, [known for known in self.units if known], cutoff=0.75)
        return QuantityError(f"unknown unit '{unit}'; {expected}", "unknown-unit", hint)

    def _doubt(self, unit: str) -> str | None:
        """Return the question that an ambiguous unit raises, or None."""
        if self.any_case:
            return "'m': min or months?" if unit in ("m", "M") else None
        bits_or_bytes = re.fullmatch(
            r"(?i)([kmgtpe]?)(i?)(?:b|bits?|bytes?)(?:/s|/sec|ps)?", unit
        )
        if bits_or_bytes is None:
            return None
        prefix = bits_or_bytes[1].upper().replace("K", "k") + bits_or_bytes[2].lower()
        rate = "/s" if f"{prefix}B/s" in self.units else ""
        return f"'{unit}': {prefix}B{rate} (bytes) or {prefix}b{rate} (bits)?"


_NUMBER = re.compile(
    r"([-+]?)([0-9]{1,3}(?:[,_][0-9]{3})+(?:\.[0-9]*)?|[0-9]+\.?[0-9]*|\.[0-9]+)"
    r"((?:[eE][-+]?[0-9]+)?)(?![0-9,_.])\s*(.*)",
    re.DOTALL,
)
_MAX_LENGTH = 100
_MAX_SHOWN = 60
_MAX_EXPONENT = 30


def canonical(
    value: object,
    dimension: Dimension,
    default_unit: str | None,
    written: object = None,
) -> Fraction:
    """Return a quantity in its canonical unit, exactly.

    Parameters
    ----------
    value
        Text or a number.
    dimension
        The kind of quantity.
    default_unit
        Unit of a bare number; if None a bare number is refused.
    written
        What the user wrote, if that is not the value.
    """
    shown = shown_quantity(value if written is None else written)
    expected = f"expected {dimension.noun} such as {dimension.examples}, not '{shown}'"
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise QuantityError(expected, "wrong-type")
    if isinstance(value, str):
        number, unit = _split(value, expected)
    else:
        # a float is the decimal that it is written as
        decimal = Decimal(value if isinstance(value, int) else repr(float(value)))
        number, unit = _bounded(decimal, expected), ""
    if not unit:
        if default_unit is None:
            raise QuantityError(f"the unit is missing; {expected}", "missing-unit")
        unit = default_unit
    if number < 0:
        raise QuantityError(
            f"{dimension.noun} cannot be negative: '{shown}'", "out-of-range"
        )
    return number * dimension.size(unit, shown)


def _split(text: str, expected: str) -> tuple[Fraction, str]:
    """Return the number and the unit of a quantity, which may be empty."""
    match = _NUMBER.fullmatch(text.strip()) if len(text) <= _MAX_LENGTH else None
    if match is None:
        raise QuantityError(expected, "wrong-type")
    sign, digits, exponent, unit = match.groups()
    number = Decimal(sign + re.sub("[,_]", "", digits) + exponent)
    return _bounded(number, expected), unit


def _bounded(number: Decimal, expected: str) -> Fraction:
    """Return a number exactly, unless it is absurdly large, small or no number."""
    if not number.is_finite() or (number and abs(number.adjusted()) > _MAX_EXPONENT):
        raise QuantityError(f"the number is out of range; {expected}", "out-of-range")
    return Fraction(number)


def shown_quantity(value: object) -> str:
    """Return a value as text for messages, not too long."""
    if isinstance(value, int) and abs(value) > 10**_MAX_LENGTH:
        return "a huge number"  # Python refuses to write out the hugest
    text = str(value)
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}..."
