"""Tests of the frontier's bookkeeping against plain comparisons."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from solver.frontier import Front, _in_turn, fastest_at_memory
from tests.planning.jobs import A100, H100
from tests.settings import rows_of, toy

FIGURES = st.tuples(*[st.integers(0, 6)] * 3)
POINTS = st.lists(FIGURES, min_size=1, max_size=30)


def bettered(points: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Which of ``wanted`` a point equals or betters, by comparing all."""
    return np.array([bool(np.all(points <= w, axis=1).any()) for w in wanted])


@given(st.lists(POINTS, min_size=1, max_size=4), POINTS)
def test_a_point_is_never_bettered_by_none(
    parts: list[list[tuple[int, ...]]], wanted: list[tuple[int, ...]]
) -> None:
    """Tests that what is called bettered is, whatever came in which order."""
    front = Front()
    for part in parts:
        front.add(np.array(part, dtype=float))
    points = np.array([p for part in parts for p in part], dtype=float)
    asked = np.array(wanted, dtype=float)
    assert (front.betters(asked) <= bettered(points, asked)).all()


@given(st.lists(POINTS, min_size=1, max_size=4), POINTS)
def test_cost_and_time_are_told_exactly(
    parts: list[list[tuple[int, ...]]], wanted: list[tuple[int, ...]]
) -> None:
    """Tests that with two figures nothing that is bettered is missed."""
    front = Front()
    for part in parts:
        front.add(np.array(part, dtype=float) * (1, 1, 0))
    points = np.array([p for part in parts for p in part], dtype=float) * (1, 1, 0)
    asked = np.array(wanted, dtype=float) * (1, 1, 0)
    assert (front.betters(asked) == bettered(points, asked)).all()


def test_an_empty_front_betters_nothing() -> None:
    """Tests the start of a search."""
    assert not Front().betters(np.zeros((3, 3))).any()


def test_in_turn() -> None:
    """Tests that the fastest of each number of nodes comes first."""
    nodes = np.array([1, 1, 1, 2, 2, 4])
    time = np.array([3.0, 1.0, 2.0, 9.0, 8.0, 5.0])
    assert _in_turn(nodes, time).tolist() == [1, 4, 5, 2, 3, 0]
    assert _in_turn(nodes[:0], time[:0]).tolist() == []


def test_fastest_at_memory_keeps_what_none_betters() -> None:
    """Tests the reduction against comparing each row with all of its kind."""
    rows = rows_of(toy(A100, H100))
    kept = fastest_at_memory(rows)
    kinds = [rows.layouts.nodes, rows.writer_nodes, rows.host_bytes, rows.sigma]
    same = np.all([k[:, None] == k[None, :] for k in kinds], axis=0)
    time, memory = rows.training_s, rows.memory_bytes
    no_worse = (time[None, :] <= time[:, None]) & (memory[None, :] <= memory[:, None])
    better = (time[None, :] < time[:, None]) | (memory[None, :] < memory[:, None])
    free = ~(same & no_worse & better).any(axis=1)
    wanted = {(t, m) for t, m in zip(time[free], memory[free], strict=True)}
    found = list(zip(kept.training_s, kept.memory_bytes, strict=True))
    assert set(found) == wanted
    assert len(kept.steps) > len(set(kept.layouts.nodes))


def test_fastest_at_memory_of_nothing() -> None:
    """Tests that no row stays no row."""
    rows = rows_of(toy(A100)).take(np.array([], dtype=np.int64))
    assert len(fastest_at_memory(rows).steps) == 0
