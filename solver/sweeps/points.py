"""The points of a sweep: every combination of its axes, overlays and draws."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from solver.errors import InputError, Issue, nearest, shown
from solver.sweeps.definition import (
    OVERLAY,
    PRICE_FACTOR,
    Axis,
    Condition,
    Overlay,
    Sweep,
)
from solver.sweeps.written import as_factor, as_number
from solver.units import QuantityError
from solver.yaml_source import DataPath, dotted

__all__ = ["MAX_POINTS", "Point", "Points", "digest", "points_of"]

MAX_POINTS = 1_000_000
_ID_LENGTH = 24


@dataclass(frozen=True, slots=True)
class Point:
    """One question of a sweep.

    Parameters
    ----------
    id
        Of all that makes it what it is: equal questions have equal ids.
    number
        Its place in the sweep, from 0.
    values
        Key to value of what varies, drawn quantities included.
    overlay
        The change of the offers.
    draw
        Number of the draw; None: nothing is drawn.
    places
        Where each value stands in the sweep file.
    """

    id: str
    number: int
    values: Mapping[str, Any]
    overlay: Overlay
    draw: int | None
    places: Mapping[str, DataPath] = field(compare=False)

    @property
    def price_factor(self) -> float:
        """Factor on all rents, beside those of the overlay."""
        return as_factor(self.values.get(PRICE_FACTOR, 1.0))

    @property
    def overrides(self) -> tuple[tuple[str, Any], ...]:
        """What is set in the scenario for this point alone."""
        return tuple((k, v) for k, v in self.values.items() if k != PRICE_FACTOR)


@dataclass(frozen=True, slots=True)
class Points:
    """The points of a sweep, and how many combinations are none.

    Parameters
    ----------
    points
        In canonical order, each question once.
    skipped
        Combinations left out by a condition.
    duplicates
        Combinations that ask what another asks.
    """

    points: tuple[Point, ...]
    skipped: int
    duplicates: int


def points_of(sweep: Sweep) -> Points:
    """The points of a sweep.

    Raises
    ------
    InputError
        A condition compares what cannot be compared, or there are too many points, or
        none.
    """
    count = _combinations(sweep)
    if count > MAX_POINTS:
        message = f"the sweep has {count:,} points; expected at most {MAX_POINTS:,}"
        raise InputError([Issue("out-of-range", message, sweep.source.name)])
    _check_values(sweep)
    found: dict[str, Point] = {}
    skipped = duplicates = 0
    fixed = {key: value for key, value, _ in sweep.set_values}
    for values, places, overlay, draw in _all(sweep):
        if any(_meets(values, overlay, each, sweep) for each in sweep.skips):
            skipped += 1
            continue
        key = digest({"set": {**fixed, **values}, "overlay": overlay.as_key()})
        if key in found:
            duplicates += 1
            continue
        found[key] = Point(key, len(found), values, overlay, draw, places)
    if not found:
        message = "the conditions at skip leave no point"
        raise InputError(
            [Issue("contradiction", message, sweep.source.where(("skip",)))]
        )
    return Points(tuple(found.values()), skipped, duplicates)


def digest(data: Any) -> str:
    """A short digest of data, whatever the order of its keys."""
    text = json.dumps(data, sort_keys=True, default=str, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:_ID_LENGTH]


def _combinations(sweep: Sweep) -> int:
    count = len(sweep.overlays) * (sweep.draws.count if sweep.draws else 1)
    for axis in sweep.axes:
        count *= len(axis.rows)
    return count


def _all(
    sweep: Sweep,
) -> Iterator[tuple[dict[str, Any], dict[str, DataPath], Overlay, int | None]]:
    """Every combination in canonical order: axes, then overlays, then draws."""
    draws = list(_drawn(sweep))
    steps = [list(_steps(axis)) for axis in sweep.axes]
    combinations = product(product(*steps), sweep.overlays, draws)
    for chosen, overlay, (number, drawn) in combinations:
        values: dict[str, Any] = {}
        places: dict[str, DataPath] = {}
        for step, where in chosen:
            values |= step
            places |= where
        places |= {key: ("draws", key) for key in drawn}
        yield values | drawn, places, overlay, number


def _steps(axis: Axis) -> Iterator[tuple[dict[str, Any], dict[str, DataPath]]]:
    for row, places in zip(axis.rows, axis.places, strict=True):
        yield (
            dict(zip(axis.keys, row, strict=True)),
            dict(zip(axis.keys, places, strict=True)),
        )


def _drawn(sweep: Sweep) -> Iterator[tuple[int | None, dict[str, Any]]]:
    """The quantities of each draw; a single empty one where nothing is drawn."""
    if sweep.draws is None:
        yield None, {}
        return
    for number in range(sweep.draws.count):
        yield (
            number,
            {
                d.key: d.draw(sweep.draws.seed, number)
                for d in sweep.draws.distributions
            },
        )


def _meets(
    values: Mapping[str, Any],
    overlay: Overlay,
    conditions: tuple[Condition, ...],
    sweep: Sweep,
) -> bool:
    """Whether a combination meets all of some conditions."""
    return all(
        _met(overlay.name if c.key == OVERLAY else values[c.key], c, sweep)
        for c in conditions
    )


def _met(value: Any, condition: Condition, sweep: Sweep) -> bool:
    """Whether one value is as a condition wants it."""
    if condition.values:
        return any(_same(value, wanted) for wanted in condition.values)
    for bound, limit in condition.bounds.items():
        numbers = None
        try:
            numbers = as_number(value, limit)
        except QuantityError as error:
            raise _incomparable(condition, error.message, sweep) from None
        if numbers is None:
            message = f"{shown(value)} and {shown(limit)} have no unit in common"
            raise _incomparable(condition, message, sweep)
        one, other = numbers
        kept = {
            "below": one < other,
            "above": one > other,
            "at_least": one >= other,
            "at_most": one <= other,
        }
        if not kept[bound]:
            return False
    return True


def _same(value: Any, wanted: Any) -> bool:
    """Whether two values are written alike, or are the same quantity."""
    if isinstance(value, str) and isinstance(wanted, str):
        if value.strip().casefold() == wanted.strip().casefold():
            return True
    elif value == wanted:
        return True
    try:
        numbers = as_number(value, wanted)
    except QuantityError:
        return False
    return numbers is not None and numbers[0] == numbers[1]


def _incomparable(condition: Condition, message: str, sweep: Sweep) -> InputError:
    """The error of a condition on what is no quantity."""
    return InputError([_fault(condition, "wrong-value", message, sweep)])


def _fault(
    condition: Condition, code: str, message: str, sweep: Sweep, hint: str | None = None
) -> Issue:
    """A fault at the place of a condition."""
    place = condition.place
    return Issue(code, message, sweep.source.where(place), dotted(place), hint)


def _check_values(sweep: Sweep) -> None:
    """Refuse conditions on values that no point has: they would leave out nothing.

    Raises
    ------
    InputError
        All such conditions.
    """
    listed: dict[str, list[Any]] = {OVERLAY: [each.name for each in sweep.overlays]}
    for axis in sweep.axes:
        for key, values in zip(axis.keys, zip(*axis.rows, strict=True), strict=True):
            listed[key] = list(values)
    faults = []
    for each in (condition for line in sweep.skips for condition in line):
        known = listed.get(each.key, each.values)  # what is drawn may be anything
        for wanted in each.values:
            if not any(_same(value, wanted) for value in known):
                message = f"no point has the value {shown(wanted)}"
                hint = nearest(str(wanted), [v for v in known if isinstance(v, str)])
                faults.append(_fault(each, "unknown-name", message, sweep, hint))
    if faults:
        raise InputError(faults)
