"""Values drawn from distributions, the same for the same seed, draw by draw.

Each quantity of each draw has a generator of its own, seeded by the sweep's seed, the
number of the draw and the quantity's key: drawing more, or other quantities as well,
changes none of those drawn before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np

from solver.errors import nearest, shown
from solver.sweeps.written import Quantity, quantity, written
from solver.units import QuantityError, parse_fraction

__all__ = ["DISTRIBUTIONS", "Distribution", "distribution"]

DISTRIBUTIONS: Mapping[str, tuple[str, ...]] = {
    "uniform": ("low", "high"),
    "loguniform": ("low", "high"),
    "triangular": ("low", "mode", "high"),
    "normal": ("mean", "deviation"),
    "lognormal": ("median", "relative deviation"),
    "choice": (),
}
"""Name to what its list holds; of ``choice`` any values, all equally likely."""

_ORDERED = ("uniform", "loguniform", "triangular")
_MOST_TRIES = 1_000


@dataclass(frozen=True, slots=True)
class Distribution:
    """A distribution of one quantity."""

    key: str
    """What is drawn: a key of the scenario, or ``price_factor``."""
    kind: str
    numbers: tuple[float, ...]
    like: Quantity
    """How the drawn number is written."""
    choices: tuple[Any, ...] = ()

    def draw(self, seed: int, number: int) -> Any:
        """The value of draw ``number``, written as the parameters are."""
        rng = np.random.default_rng([seed, number, crc32(self.key.encode())])
        if self.kind == "choice":
            return self.choices[int(rng.integers(len(self.choices)))]
        return self.like.at(written(self._number(rng)))

    def _number(self, rng: np.random.Generator) -> float:
        """One number; a normal one that is not above zero is drawn again."""
        a, middle, b = self.numbers[0], self.numbers[1], self.numbers[-1]
        if self.kind == "uniform":
            return float(rng.uniform(a, b))
        if self.kind == "loguniform":
            return float(np.exp(rng.uniform(np.log(a), np.log(b))))
        if self.kind == "triangular":
            return float(rng.triangular(a, middle, b))
        if self.kind == "lognormal":
            return float(a * np.exp(rng.normal(0.0, b)))
        drawn = (float(rng.normal(a, b)) for _ in range(_MOST_TRIES))
        return next((x for x in drawn if x > 0), a)


def distribution(key: str, written_as: Any) -> Distribution:
    """A distribution as a sweep file states it: ``{uniform: [1, 2]}``.

    Raises
    ------
    QuantityError
        What is wrong with it.
    """
    names = ", ".join(DISTRIBUTIONS)
    if not isinstance(written_as, dict) or len(written_as) != 1:
        raise QuantityError(
            f"expected one distribution such as {{uniform: [0.9, 1.1]}}: {names}",
            "wrong-type",
        )
    ((kind, values),) = written_as.items()
    if kind not in DISTRIBUTIONS:
        message = f"unknown distribution {shown(kind)}; expected one of {names}"
        hint = nearest(str(kind), DISTRIBUTIONS)
        raise QuantityError(message, "unknown-key", hint)
    if kind == "choice":
        return _choice(key, values)
    return _numeric(key, kind, values)


def _choice(key: str, values: Any) -> Distribution:
    """A distribution over listed values."""
    plain = isinstance(values, list) and values
    if not plain or any(isinstance(v, dict | list) for v in values):
        raise QuantityError("expected a list of values to choose from", "wrong-type")
    return Distribution(key, "choice", (), Quantity(0), tuple(values))  # type: ignore[arg-type]


def _numeric(key: str, kind: str, values: Any) -> Distribution:
    """A distribution of a number."""
    names = DISTRIBUTIONS[kind]
    if not isinstance(values, list) or len(values) != len(names):
        raise QuantityError(f"expected [{', '.join(names)}]", "wrong-type")
    found = [quantity(value) for value in values]
    first = found[0]
    if first is None or None in found:
        message = f"expected numbers: [{', '.join(names)}]"
        raise QuantityError(message, "wrong-type")
    if kind == "lognormal":
        numbers = [float(first.number), parse_fraction(values[1], upper=10.0)]
    elif all(q is not None and q.like(first) for q in found):
        numbers = [float(q.number) for q in found if q is not None]
    else:
        message = f"expected all in one unit: [{', '.join(names)}]"
        raise QuantityError(message, "wrong-value")
    _check(kind, numbers)
    return Distribution(key, kind, tuple(numbers), first)


def _check(kind: str, numbers: list[float]) -> None:
    """Refuse parameters of which nothing can be drawn."""
    if kind in _ORDERED and (numbers != sorted(numbers) or numbers[0] == numbers[-1]):
        raise QuantityError("expected the numbers in rising order", "contradiction")
    if kind in ("loguniform", "lognormal", "normal") and numbers[0] <= 0:
        raise QuantityError("expected a first number above zero", "out-of-range")
    if kind in ("normal", "lognormal") and numbers[1] <= 0:
        raise QuantityError("expected a deviation above zero", "out-of-range")
