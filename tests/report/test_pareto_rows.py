"""Tests of how a long frontier is thinned."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from solver.planning.pareto import Point, pareto
from solver.report.pareto_rows import thinned
from tests.planning.jobs import catalog, job

PLAN = pareto(job(), catalog()).points[0].plan


def frontier(count: int, knee: int | None) -> tuple[Point, ...]:
    """So many points, told apart by their cost."""
    return tuple(
        Point(replace(PLAN, cost_usd=float(i)), knee=i == knee) for i in range(count)
    )


@given(st.integers(1, 60), st.integers(3, 25), st.data())
def test_ends_and_knee_are_kept(count: int, most: int, data: st.DataObject) -> None:
    """Tests number, order, both ends and the knee."""
    knee = data.draw(st.none() | st.integers(0, count - 1))
    points = frontier(count, knee)
    shown = thinned(points, most)
    assert len(shown) == min(count, most)
    assert (shown[0], shown[-1]) == (points[0], points[-1])
    assert knee is None or points[knee] in shown
    costs = [point.plan.cost_usd for point in shown]
    assert costs == sorted(set(costs))


@pytest.mark.parametrize("most", [3, 7, 30])
def test_points_are_spread(most: int) -> None:
    """Tests that no gap is more than twice as wide as need be."""
    costs = [p.plan.cost_usd for p in thinned(frontier(61, None), most)]
    gaps = [b - a for a, b in pairwise(costs)]
    assert max(gaps) <= 2 * 60 / (most - 1)


@pytest.mark.parametrize("third", ["carbon", "memory_headroom"])
@given(st.integers(4, 60), st.integers(3, 25), st.data())
def test_all_three_ends_are_kept(
    third: Any, count: int, most: int, data: st.DataObject
) -> None:
    """Tests that the best in cost, in time and in the third figure are all shown."""
    numbers = st.permutations(range(1, count + 1))
    days, thirds = data.draw(numbers), data.draw(numbers)
    knee = data.draw(st.integers(0, count - 1))
    points = tuple(
        replace(
            point,
            plan=replace(
                point.plan,
                duration_days=float(days[i]),
                carbon_t=float(thirds[i]),
                memory_gib={**PLAN.memory_gib, "total": float(thirds[i])},
            ),
        )
        for i, point in enumerate(frontier(count, knee))
    )
    shown = thinned(points, most, third)
    assert len(shown) == min(count, most)
    best = {0, days.index(1), thirds.index(1)}
    assert all(points[i] in shown for i in best)
    assert most < 4 or points[knee] in shown
    costs = [point.plan.cost_usd for point in shown]
    assert costs == sorted(set(costs))
