"""Tests of laws that hold for any sweep: ranges, ids, points, effects."""

from __future__ import annotations

import json
from itertools import pairwise, permutations, product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from solver.sweeps.draws import distribution
from solver.sweeps.points import digest, points_of
from solver.sweeps.ranges import expanded
from solver.sweeps.record import Record
from solver.sweeps.summary import best_by_value, effects, status_counts
from solver.sweeps.written import Quantity, quantity, written
from tests.sweeps.examples import read
from tests.sweeps.test_summary import answer, results

UNITS = st.sampled_from(["", " days", " hours", " GB", "%", " GB/s"])
NUMBERS = st.integers(1, 10**6)


@given(NUMBERS, NUMBERS, st.integers(2, 40), UNITS, st.booleans())
def test_a_range_has_its_ends_and_its_count(
    low: int, high: int, count: int, unit: str, geometric: bool
) -> None:
    """Tests ends, order and number of values, whatever the unit."""
    spec: dict[str, Any] = {
        "from": f"{low}{unit}" if unit else low,
        "to": f"{high}{unit}" if unit else high,
        "count": count,
        "spacing": "geometric" if geometric else "linear",
    }
    values = expanded(spec)
    numbers = [found.number for v in values if (found := quantity(v)) is not None]
    assert len(numbers) == len(values)
    assert len(values) == (1 if low == high else count)
    assert (values[0], values[-1]) == (spec["from"], spec["to"])
    assert numbers == sorted(numbers, reverse=high < low)
    if not geometric and count > 2 and low != high:
        steps = [float(b - a) for a, b in pairwise(numbers)]
        assert steps == pytest.approx([steps[0]] * len(steps), rel=1e-5)


@given(st.floats(1e-6, 1e12), UNITS)
def test_a_quantity_is_read_as_it_is_written(number: float, unit: str) -> None:
    """Tests that a number taken out of its text goes back into it unchanged."""
    plain = written(number)
    assert plain == pytest.approx(number, rel=1e-11)
    text = f"{plain}{unit}" if unit else plain
    found = quantity(text)
    if found is None:  # an exponent in front of a unit is no way to write one
        assert "e" in str(plain)
        return
    assert found.at(found.number) == text
    assert found.like(Quantity(found.number, "", unit))


@given(st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5)))
def test_a_digest_knows_no_order(data: dict[str, Any]) -> None:
    """Tests that the order in which keys were written plays no part."""
    turned = dict(reversed(data.items()))
    assert digest(data) == digest(turned)
    assert digest(data) != digest({**data, "one more key": 1})


@given(st.integers(0, 2**31 - 1), st.integers(0, 10**5))
def test_a_draw_lies_where_it_may(seed: int, number: int) -> None:
    """Tests the bounds of each distribution that has some."""
    for kind, values in (
        ("uniform", [2, 3]),
        ("loguniform", [2, 3]),
        ("triangular", [2, 2.5, 3]),
    ):
        assert 2 <= distribution("x", {kind: values}).draw(seed, number) <= 3
    assert distribution("x", {"normal": [1, 5]}).draw(seed, number) > 0
    assert distribution("x", {"choice": ["a", "b"]}).draw(seed, number) in ("a", "b")


AXES = {
    "constraints.deadline": ["10 days", "20 days"],
    "constraints.budget": [1000, 2000, 3000],
    "limits.seed": [1, 2],
}


def test_the_order_of_axes_changes_no_question() -> None:
    """Tests that points are the same set however the axes are ordered."""
    found = []
    with TemporaryDirectory() as name:
        for keys in permutations(AXES):
            axes = {key: AXES[key] for key in keys}
            text = f"base: base.yaml\naxes: {json.dumps(axes)}\n"
            points = points_of(read(Path(name), text)).points
            assert len(points) == 12
            found.append({point.id for point in points})
    assert all(ids == found[0] for ids in found)


@given(st.lists(st.sampled_from([None, 1.0, 2.0, 5.0]), min_size=6, max_size=6))
def test_what_is_counted_adds_up(costs: list[float | None]) -> None:
    """Tests counts, bests and effects of any results against their definition."""
    places = list(product(("a", "b"), (1, 2, 3)))
    records = [
        answer(i, cost, x=x, y=y)
        for i, (cost, (x, y)) in enumerate(zip(costs, places, strict=True))
    ]
    found = results(records, ["x", "y"])
    counts = status_counts(found)
    assert sum(counts.values()) == found.total
    for row in best_by_value(found):
        having = [r for r in records if str(r.inputs[row.dimension]) == row.value]
        able = [c for r in having if (c := _cost(r)) is not None]
        assert (row.points, row.planned) == (len(having), len(able))
        assert (row.best and _cost(row.best)) == min(able, default=None)
    for effect in effects(found):
        assert effect.opened <= effect.all_groups
        assert (effect.cost_median is None) == (effect.groups == 0)
        if effect.cost_median is not None and effect.cost_most is not None:
            assert 0 <= effect.cost_median <= effect.cost_most


def _cost(record: Record) -> float | None:
    """Return the cost of a point, if it has a plan."""
    return None if record.plan is None else float(record.plan["cost_usd"])
