"""Tests of the drawn layout: every GPU in its place, and what is not drawn is told."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from solver.plan import LayoutPlan, Plan
from solver.report.html_blocks import Drawing
from solver.report.html_layout import Band, drawing
from tests.report.examples import LAYOUT, PLAN


def plan_of(nodes: int, per_node: int, **layout: Any) -> Plan:
    """A plan with a layout; degrees that are not given are one."""
    usual = {"tp": 1, "pp": 1, "cp": 1, "ep": 1, "etp": 1, "virtual_stages": 1}
    rest = {k: v for k, v in layout.items() if k not in ("spare_nodes",)}
    degrees = {**usual, **rest}
    if "layers_per_stage" not in degrees:
        degrees["layers_per_stage"] = (4,) * degrees["pp"]
    gpus = nodes * per_node
    degrees["dp"] = gpus // (degrees["tp"] * degrees["cp"] * degrees["pp"])
    return replace(
        PLAN,
        nodes=nodes,
        gpus=gpus,
        gpus_per_node=per_node,
        spare_nodes=layout.get("spare_nodes", 0),
        layout=replace(LAYOUT, **degrees),
    )


def bands(drawn: Drawing) -> list[Band]:
    """The bands of a drawing."""
    return [band for band in drawn.bands if isinstance(band, Band)]


def cells(found: Iterable[Band]) -> list[str]:
    """What each GPU is called, with its group, in reading order."""
    return [
        f"{group.label} {cell}".strip()
        for band in found
        for node in band.nodes
        for group in node.groups
        for cell in group.cells
    ]


def test_data_parallel_ranks_count_up() -> None:
    """Tests the plainest layout: each GPU is a replica."""
    drawn = drawing(plan_of(2, 4))
    assert cells(bands(drawn)) == [f"D{rank}" for rank in range(8)]
    assert [band.title for band in bands(drawn)] == ["All 4 layers"]
    assert bands(drawn)[0].more == ""


def test_tensor_parallel_is_innermost() -> None:
    """Tests that GPUs of a tensor-parallel group lie side by side in one frame."""
    drawn = drawing(plan_of(1, 8, tp=4))
    (band,) = bands(drawn)
    labels = [group.label for group in band.nodes[0].groups]
    assert labels == ["D0", "D1"]
    assert cells([band])[:5] == ["D0 T0", "D0 T1", "D0 T2", "D0 T3", "D1 T0"]


def test_context_comes_before_data() -> None:
    """Tests that the parts of a sequence lie closer than replicas."""
    drawn = drawing(plan_of(1, 8, tp=2, cp=2))
    (band,) = bands(drawn)
    labels = [group.label for group in band.nodes[0].groups]
    assert labels == ["D0 C0", "D0 C1", "D1 C0", "D1 C1"]


def test_the_pipeline_is_outermost() -> None:
    """Tests that each stage has nodes of its own, in a colour of its own."""
    drawn = drawing(plan_of(4, 8, tp=8, pp=4, layers_per_stage=(7, 8, 8, 7)))
    titles = [band.title for band in bands(drawn)]
    assert titles == [
        "Stage 1 of 4 · 7 layers",
        "Stage 2 of 4 · 8 layers",
        "Stage 3 of 4 · 8 layers",
        "Stage 4 of 4 · 7 layers",
    ]
    tones = [band.nodes[0].groups[0].tone for band in bands(drawn)]
    assert tones == ["s0", "s1", "s2", "s3"]
    numbers = [band.nodes[0].label for band in bands(drawn)]
    assert numbers == ["Node 0", "Node 1", "Node 2", "Node 3"]


def test_stages_within_a_node_share_a_band() -> None:
    """Tests a node that holds two stages, each in its colour."""
    drawn = drawing(plan_of(1, 8, tp=4, pp=2))
    (band,) = bands(drawn)
    assert band.title == "Stages 1 to 2 of 2"
    assert [group.tone for group in band.nodes[0].groups] == ["s0", "s1"]
    assert [group.label for group in band.nodes[0].groups] == ["D0", "D0"]


def test_experts_are_marked() -> None:
    """Tests that the parts of the experts count through the replicas of a stage."""
    drawn = drawing(plan_of(2, 8, ep=8))
    assert cells(bands(drawn)) == [f"D{rank} E{rank % 8}" for rank in range(16)]
    assert any("EP 8" in line for line in drawn.legend)


def test_experts_within_a_tensor_group() -> None:
    """Tests that experts which divide the frame are told for each GPU."""
    drawn = drawing(plan_of(1, 8, tp=4, ep=4))
    first = [cell for cell in cells(bands(drawn)) if cell.startswith("D0 ")]
    assert first == ["D0 T0 E0", "D0 T1 E1", "D0 T2 E2", "D0 T3 E3"]


def test_expert_tensor_parallel_is_inside_the_expert_group() -> None:
    """Tests that with expert TP as wide as TP the frame has one part of the experts."""
    drawn = drawing(plan_of(1, 8, tp=4, ep=2, etp=4))
    (band,) = bands(drawn)
    assert [group.label for group in band.nodes[0].groups] == ["D0 E0", "D1 E1"]


@pytest.mark.parametrize(
    ("nodes", "drawn_nodes", "more"),
    [
        (1, 1, ""),
        (4, 4, ""),
        (5, 4, "1 more node alike"),
        (1024, 4, "1,020 more nodes alike"),
    ],
)
def test_what_is_not_drawn_is_told(nodes: int, drawn_nodes: int, more: str) -> None:
    """Tests that drawn nodes and those told add up to all."""
    (band,) = bands(drawing(plan_of(nodes, 8)))
    assert len(band.nodes) == drawn_nodes
    assert band.more == more


def test_of_many_stages_the_first_and_the_last_are_drawn() -> None:
    """Tests 16 stages of 8 nodes each: shown and told stages add up."""
    drawn = drawing(plan_of(128, 8, tp=8, pp=16, layers_per_stage=(8,) * 16))
    found = bands(drawn)
    assert len(found) == 4
    assert found[-1].title == "Stage 16 of 16 · 8 layers"
    assert [band.after for band in found] == ["", "", "12 more stages between them", ""]
    assert [band.more for band in found] == ["6 more nodes alike"] * 4
    assert found[-1].nodes[0].label == "Node 120"


def test_rollout_and_spare_nodes_are_drawn_apart() -> None:
    """Tests that nodes which train nothing have bands without ranks."""
    drawn = drawing(plan_of(2, 8, rollout_nodes=3, spare_nodes=1))
    training, rollout, spare = bands(drawn)
    assert not training.plain
    assert rollout.plain
    assert spare.plain
    assert rollout.title.startswith("Rollout nodes")
    assert rollout.more == "1 more node alike"
    assert spare.more == ""
    assert set(cells([rollout, spare])) == {"·"}


def test_the_text_tells_all_degrees() -> None:
    """Tests the sentence for those who do not see the drawing."""
    drawn = drawing(plan_of(4, 8, tp=8, pp=2, cp=1))
    assert drawn.text.startswith("32 GPUs on 4 nodes: TP 8 × CP 1 × DP 2 × PP 2.")


@pytest.mark.parametrize(
    ("layout", "word"),
    [
        ({"tp": 2}, "TP 2"),
        ({"cp": 2}, "CP 2"),
        ({"ep": 2}, "EP 2"),
        ({"pp": 2, "virtual_stages": 3}, "3 separate chunks"),
    ],
)
def test_the_legend_tells_what_is_there(layout: dict[str, int], word: str) -> None:
    """Tests that a letter is explained where it is used, and only there."""
    told = " ".join(drawing(plan_of(2, 8, **layout)).legend)
    assert word in told
    assert word not in " ".join(drawing(plan_of(2, 8)).legend)


def test_a_rack_of_72_is_drawn_whole() -> None:
    """Tests that large nodes have all their GPUs."""
    (band,) = bands(drawing(plan_of(1, 72)))
    assert len(cells([band])) == 72


def test_the_table_has_the_layout() -> None:
    """Tests that the drawing has the figures of the terminal behind it."""
    drawn = drawing(PLAN)
    rows = dict(row[:2] for row in drawn.table.rows)
    assert rows["parallel"].startswith("TP 8 · PP 8 · CP 1 · DP 4")
    layout: LayoutPlan = PLAN.layout
    assert sum(layout.layers_per_stage) == 80
    assert rows["layers a stage"] == "9 + 6×10 + 11"
