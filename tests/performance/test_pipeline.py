"""Stages, bubble and sends against arithmetic by hand."""

from __future__ import annotations

import numpy as np
import pytest

from solver.performance.pipeline import bubble_s, sends_s, slowest_stage
from solver.performance.stages import stage_layers


def slowest(layers: int, pp: int, layer_s: float, head_s: float, v: int = 1):
    split = stage_layers(layers, np.array([pp]), np.array([v]))
    return slowest_stage(layers, split, np.array([layer_s]), np.array([head_s]))


def test_bubble_of_equal_stages() -> None:
    """Tests that the bubble is (p-1)/(v m) of the work (Narayanan et al. 2021)."""
    p, v, m = 8, 4, 32
    slow = slowest(96, p, 1.0, 0.0, v)
    bubble = bubble_s(slow.others_s, v)[0]
    assert bubble / (m * slow.seconds[0]) == pytest.approx((p - 1) / (v * m))


def test_head_makes_the_last_stage_the_slowest() -> None:
    """Tests that the head counts on the last stage and the others wait for it."""
    slow = slowest(32, 4, 1.0, 3.0)
    assert (slow.layers[0], slow.has_head[0], slow.seconds[0]) == (8, 1, 11)
    assert slow.others_s[0] == 24


def test_fuller_middle_stage_can_be_the_slowest() -> None:
    """Tests that BLOOM's 5 + 10 x 6 + 5 layers are paced by a stage of 6."""
    slow = slowest(70, 12, 1.0, 0.5)
    assert (slow.layers[0], slow.has_head[0]) == (6, 0)
    assert slow.others_s[0] == pytest.approx(64.5)


def test_one_stage_has_no_bubble() -> None:
    """Tests that without a pipeline nothing waits and nothing is sent."""
    slow = slowest(32, 1, 1.0, 2.0)
    assert slow.seconds[0] == 34
    assert bubble_s(slow.others_s, 1)[0] == 0
    assert sends_s(np.array([1]), 1, 8, 1.0, 1.0)[0] == 0


def test_sends_by_micro_batch_and_virtual_stage() -> None:
    """Tests that a half exposed send counts 2 (m v / 2 + p - 1) times."""
    assert sends_s(np.array([4]), 2, 8, 1.0, 0.5)[0] == 2 * (0.5 * 8 * 2 + 3)
