"""A parallel layout as nodes with GPUs in them, for a page to draw.

Ranks are placed as `solver.performance.parallelism` takes them: from the inside out TP,
CP, DP, PP; of experts, expert TP and then EP.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from solver.messages import sentence
from solver.plan import LayoutPlan, Plan
from solver.report.figures import gpu_name
from solver.report.html_blocks import Drawing, table_of
from solver.report.palette import STAGES
from solver.report.plan_rows import layout_section

__all__ = ["Band", "drawing"]

_MOST_STAGES = 4
"""Stages that are drawn; of more the first ones and the last."""

_NODES_OF_ONE = 4
"""Nodes that are drawn of the only stage."""

_NODES_OF_MANY = 2
"""Nodes that are drawn of each of several stages."""

_MOST_CELLS = 72
"""GPUs of a node that are drawn."""


@dataclass(frozen=True, slots=True)
class Group:
    """GPUs of a node that share each layer, and the colour of their stage."""

    label: str
    cells: tuple[str, ...]
    tone: str


@dataclass(frozen=True, slots=True)
class Node:
    """A node with its GPUs."""

    label: str
    groups: tuple[Group, ...]


@dataclass(frozen=True, slots=True)
class Band:
    """Nodes of one stage, or of one purpose; ``more`` tells what is not drawn."""

    title: str
    nodes: tuple[Node, ...]
    more: str = ""
    after: str = ""
    """What is left out after it."""
    plain: bool = False
    """Whether the nodes train nothing."""


def drawing(plan: Plan) -> Drawing:
    """Return the layout of a plan, drawn; rollout and spare nodes are part of it."""
    layout = plan.layout
    text = sentence(
        "html.drawn.text",
        gpus=plan.gpus,
        nodes=plan.nodes,
        tp=layout.tp,
        cp=layout.cp,
        dp=layout.dp,
        pp=layout.pp,
    )
    bands = (*_training(plan), *_others(plan))
    table = table_of(layout_section(layout, plan.framework))
    title = sentence("html.drawn")
    return Drawing("layout-drawn", title, text, bands, _legend(layout), table)


def _legend(layout: LayoutPlan) -> tuple[str, ...]:
    """Return what colours, frames and letters mean."""
    many = layout.pp > 1
    found = [sentence("html.legend.stage" if many else "html.legend.one-stage")]
    if layout.tp > 1:
        found.append(sentence("html.legend.tp", tp=layout.tp))
    if layout.cp > 1:
        found.append(sentence("html.legend.cp", cp=layout.cp))
    if layout.ep > 1:
        found.append(sentence("html.legend.ep", ep=layout.ep))
    if layout.virtual_stages > 1:
        chunks = layout.virtual_stages
        found.append(sentence("html.legend.virtual", chunks=chunks))
    return tuple(found)


def _training(plan: Plan) -> Iterator[Band]:
    """Yield the nodes that train, a band a stage; some stand for those alike."""
    a_stage = plan.layout.tp * plan.layout.cp * plan.layout.dp
    firsts = [number * plan.gpus_per_node // a_stage for number in range(plan.nodes)]
    stages = [
        (s, list(nodes)) for s, nodes in groupby(range(plan.nodes), firsts.__getitem__)
    ]
    shown, left_out = stages, 0
    if len(stages) > _MOST_STAGES:
        shown = [*stages[: _MOST_STAGES - 1], stages[-1]]
        left_out = len(stages) - len(shown)
    most = _NODES_OF_ONE if len(shown) == 1 else _NODES_OF_MANY
    for place, (_, nodes) in enumerate(shown):
        drawn = tuple(_node(plan, number) for number in nodes[:most])
        gap = left_out and place == len(shown) - 2
        yield Band(
            _band_title(plan, nodes[0], a_stage),
            drawn,
            _more_nodes(len(nodes) - len(drawn)),
            sentence("html.more-stages", count=left_out) if gap else "",
        )


def _band_title(plan: Plan, node: int, a_stage: int) -> str:
    """Return which stages a node has, and how many layers."""
    layers, stages = plan.layout.layers_per_stage, plan.layout.pp
    if stages == 1:
        return sentence("html.whole-model", layers=sum(layers))
    first = node * plan.gpus_per_node // a_stage
    last = ((node + 1) * plan.gpus_per_node - 1) // a_stage
    if first != last:
        return sentence("html.stages", first=first + 1, last=last + 1, stages=stages)
    return sentence("html.stage", stage=first + 1, stages=stages, layers=layers[first])


def _more_nodes(count: int) -> str:
    """Return how many nodes are not drawn; nothing for none."""
    return sentence("html.more-nodes", count=count) if count else ""


def _node(plan: Plan, number: int) -> Node:
    """Return a node that trains."""
    first = number * plan.gpus_per_node
    ranks = range(first, first + min(plan.gpus_per_node, _MOST_CELLS))
    tp = plan.layout.tp
    groups = tuple(
        _group(plan.layout, list(group))
        for _, group in groupby(ranks, lambda rank: rank // tp)
    )
    return Node(sentence("html.node", number=number), groups)


def _group(layout: LayoutPlan, ranks: list[int]) -> Group:
    """Return the GPUs of one tensor-parallel group on a node."""
    tp, cp, dp = layout.tp, layout.cp, layout.dp
    rank = ranks[0]
    stage = rank // (tp * cp * dp)
    names = [f"D{rank // (tp * cp) % dp}"]
    if cp > 1:
        names.append(f"C{rank // tp % cp}")
    experts = [f"E{each // layout.etp % layout.ep}" for each in ranks]
    if layout.ep > 1 and len(set(experts)) == 1:
        names.append(experts[0])
    label = " ".join(names)
    tone = f"s{stage % STAGES}"
    if tp == 1:
        return Group("", (label,), tone)
    cells = [f"T{each % tp}" for each in ranks]
    if layout.ep > 1 and len(set(experts)) > 1:
        cells = [f"{cell} {e}" for cell, e in zip(cells, experts, strict=True)]
    return Group(label, tuple(cells), tone)


def _others(plan: Plan) -> Iterator[Band]:
    """Yield the nodes that only generate, and those that wait for a failure."""
    kinds = (
        ("html.rollout", plan.layout.rollout_nodes),
        ("html.spare", plan.spare_nodes),
    )
    cells = min(plan.gpus_per_node, _MOST_CELLS)
    for message_id, count in kinds:
        drawn = min(count, _NODES_OF_MANY)
        if not drawn:
            continue
        group = Group("", tuple("·" for _ in range(cells)), "free")
        nodes = tuple(Node(gpu_name(plan.gpu), (group,)) for _ in range(drawn))
        rest = _more_nodes(count - drawn)
        yield Band(sentence(message_id), nodes, rest, plain=True)
