"""Tests of the lattices of layouts by kind of node."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from solver.performance.inputs import Layouts
from solver.performance.memory import peak_memory
from solver.setting import narrowed
from tests.planning.jobs import A100, H100
from tests.settings import toy


def test_layouts_multiply_and_fit_the_largest_card() -> None:
    """Tests ranks, batch, nodes and memory of every layout of the lattice."""
    setting = toy(A100, H100)
    (kind,) = setting.space.kinds
    lattice = setting.space.lattice(kind)
    layouts = lattice.layouts
    assert len(lattice) == len(layouts) > 1000
    ranks = layouts.tp * layouts.pp * layouts.cp * layouts.dp
    assert (ranks == layouts.nodes * layouts.gpus_per_node).all()
    batch = layouts.dp * layouts.micro_batch * layouts.accumulation
    assert (batch == 64).all()
    assert layouts.nodes.max() == setting.space.kinds[kind].max_nodes == 4
    assert (lattice.steps == math.ceil(5e9 / (64 * 2048))).all()


def test_memory_is_that_of_the_model() -> None:
    """Tests a sample of memory figures one layout at a time."""
    setting = toy(A100)
    (kind,) = setting.space.kinds
    lattice = setting.space.lattice(kind)
    for row in range(0, len(lattice), len(lattice) // 7):
        one = lattice.layouts.take(np.array([row]))
        need = peak_memory(
            setting.shape, setting.job, setting.framework, one, fused_attention=True
        )
        assert lattice.memory_bytes[row] == pytest.approx(float(need.total[0]))


def test_the_leanest_of_a_group_bounds_all() -> None:
    """Tests that no layout needs less than the leanest of any group."""
    setting = toy(A100, model="llama-2-13b")
    (kind,) = setting.space.kinds
    lattice = setting.space.lattice(kind)
    assert lattice.memory_bytes.min() >= lattice.group_memory_bytes.min()
    capacity = setting.space.kinds[kind].capacity_bytes
    assert (lattice.group_memory_bytes > capacity).any(), "what does not fit is kept"
    assert (lattice.group_memory_bytes <= capacity).any()


def test_lattices_are_made_once_and_only_if_asked_for() -> None:
    """Tests that enumeration is lazy and remembered."""
    space = toy(A100, {**A100, "name": "b", "gpus_per_node": 4}).space
    assert space.lattices == {}
    kind = (8, 8, True)
    assert space.lattice(kind) is space.lattice(kind)
    assert [made for made, _ in space.lattices] == [kind]


def test_writers_and_host_memory_go_together() -> None:
    """Tests that a layout of more writers stages less of a checkpoint a node."""
    setting = toy(A100)
    (kind,) = setting.space.kinds
    lattice = setting.space.lattice(kind)
    need = 8 * 4e9 + setting.most_checkpoint_bytes / lattice.writer_nodes
    assert lattice.host_bytes == pytest.approx(need)
    assert (lattice.writer_nodes <= lattice.layouts.nodes).all()


@pytest.mark.parametrize(
    ("pins", "axis", "allowed"),
    [
        ({"tp": 2}, "tp", {2}),
        ({"pp": [1, 2]}, "pp", {1, 2}),
        ({"cp": 1}, "cp", {1}),
        ({"micro_batch": {"min": 2, "max": 4}}, "micro_batch", {2, 4}),
        ({"zero_stage": [1]}, "zero_stage", {1}),
        ({"recompute": ["full"]}, "recompute", {2}),
        ({"virtual_stages": 1}, "virtual_stages", {1}),
        ({"dp": 8}, "dp", {8}),
    ],
)
def test_pins_hold_in_the_lattice(
    pins: dict[str, Any], axis: str, allowed: set[int]
) -> None:
    """Tests that a pinned axis takes only its values, and all of a set's."""
    setting = toy(A100, constraints={"parallelism": pins})
    (kind,) = setting.space.kinds
    found = getattr(setting.space.lattice(kind).layouts, axis)
    assert set(found.tolist()) == allowed


@pytest.mark.parametrize(
    ("gpus", "nodes"),
    [
        ({"max": 16}, {1, 2}),
        ({"min": 16}, {2, 4}),
        ({"min": 8, "max": 8}, {1}),
        ({"max": 7}, set()),
    ],
)
def test_the_number_of_gpus_holds(gpus: dict[str, int], nodes: set[int]) -> None:
    """Tests that a range of GPUs is one of nodes; 3 do not divide 64 sequences."""
    setting = toy(A100, constraints={"gpus": gpus, "parallelism": {"tp": 1, "pp": 1}})
    (kind,) = setting.space.kinds
    lattice = setting.space.lattice(kind)
    assert set(lattice.layouts.nodes.tolist()) == nodes


def test_description_names_axes_and_limits() -> None:
    """Tests that the proof line says what was searched, for the kind asked for."""
    space = toy(A100, {**A100, "name": "b", "gpus_per_node": 4}).space
    default = space.describe()
    assert default == space.describe((8, 8, True)), "that with most GPUs"
    assert default != space.describe((4, 4, True))
    assert default


def test_a_lattice_serves_a_setting_of_fewer_options() -> None:
    """Tests that a narrowed setting enumerates nothing anew and sees the same rows."""
    setting = toy(A100, H100)
    (kind,) = setting.space.kinds
    lattice = setting.space.lattice(kind)
    fewer = narrowed(setting, [0])
    assert fewer.space is not setting.space
    assert fewer.space.lattice(kind) is lattice


def test_a_lattice_is_not_shared_beyond_its_limits() -> None:
    """Tests that more nodes, larger cards, other pins or jobs make one of their own."""
    small, large = toy(A100), toy({**A100, "max_nodes": 8})
    (kind,) = small.space.kinds
    store = small.store
    of_small = small.space.lattice(kind)
    assert replace(large, store=store).space.lattice(kind) is not of_small
    pinned = replace(small.scenario.constraints, recompute=("full",))
    scenario = replace(small.scenario, constraints=pinned)
    assert replace(small, scenario=scenario).space.lattice(kind) is not of_small
    job = replace(small.job, sequence_length=1024)
    assert replace(small, job=job).space.lattice(kind) is not of_small


def test_each_layout_is_timed_once() -> None:
    """Tests that times are kept by key and only new rows are evaluated."""
    setting = toy(A100)
    (kind,) = setting.space.kinds
    lattice = setting.space.lattice(kind)
    asked: list[int] = []

    def evaluate(layouts: Layouts) -> np.ndarray:
        asked.append(len(layouts))
        return layouts.nodes + layouts.tp / 100

    first = lattice.times("a", np.array([5, 3, 9]), evaluate)
    second = lattice.times("a", np.array([3, 4]), evaluate)
    assert asked == [3, 1]
    expected = lattice.layouts.nodes + lattice.layouts.tp / 100
    assert first.tolist() == expected[[5, 3, 9]].tolist()
    assert second.tolist() == expected[[3, 4]].tolist()
    assert lattice.times("a", slice(None), evaluate).tolist() == expected.tolist()
    assert len(lattice.times("b", np.array([3]), evaluate)) == 1
    assert asked == [3, 1, len(lattice) - 4, 1]
