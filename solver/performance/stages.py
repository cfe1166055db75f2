"""How layers are divided over pipeline stages.

Stages are numbered 0 .. pp-1. With v virtual stages each stage holds v chunks of
layers. Layers are conserved whatever the division: nothing is rounded away.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from solver.performance.inputs import (
    BoolArray,
    Framework,
    IntArray,
    TransformerShape,
)


def divides_evenly(layers: int, pp: int, virtual_stages: int = 1) -> bool:
    """Whether every chunk of every stage gets the same number of layers."""
    return layers % (pp * virtual_stages) == 0


def divides_with_ends(layers: int, pp: int, virtual_stages: int = 1) -> bool:
    """Whether it divides with embedding and head counted as a layer each.

    The first and the last stage then hold one layer less than the others, as BLOOM's
    70 layers on 12 stages: 5 + 10 x 6 + 5 (bigscience tr11). With virtual stages it
    is the first chunk of the first and the last of the last stage, as Llama 3 405B's
    126 layers on 16 stages (arXiv 2407.21783, section 3.3.2); no chunk is left empty.
    """
    chunks = pp * virtual_stages
    return pp > 1 and (layers + 2) % chunks == 0 and (layers + 2) // chunks >= 2


def is_clean_split(layers: int, pp: int, virtual_stages: int = 1) -> bool:
    """Whether the lattice offers this division of layers."""
    if divides_evenly(layers, pp, virtual_stages):
        return True
    return divides_with_ends(layers, pp, virtual_stages)


def layers_per_stage(layers: int, pp: int, virtual_stages: int = 1) -> list[int]:
    """Layers of each stage, first to last; they add up to ``layers``.

    Even where it divides; else one less on both ends where that divides; else as
    even as possible with the larger stages in the middle, which only measured runs
    need: the lattice leaves it out.
    """
    if divides_evenly(layers, pp):
        return [layers // pp] * pp
    if divides_with_ends(layers, pp, virtual_stages):
        inner = (layers + 2) // pp
        return [inner - 1, *[inner] * (pp - 2), inner - 1]
    small, extra = divmod(layers, pp)
    first_large = (pp - extra + 1) // 2
    return [
        small + (1 if first_large <= stage < first_large + extra else 0)
        for stage in range(pp)
    ]


def layers_per_stage_by_cost(shape: TransformerShape, pp: int) -> list[int]:
    """Layers of each stage where blocks are placed by cumulative compute.

    nanotron counts the weights of each layer and of the head, and moves on to the
    next stage after the block whose running total passes that stage's share; so the
    first stage is the fullest and the head relieves the last (its pipeline builder).
    """
    attention = 4 * shape.heads * shape.head_dim * shape.hidden
    layer = attention + 3 * shape.ffn * shape.hidden
    total = shape.layers * layer + shape.vocab * shape.hidden
    split = [0] * pp
    stage = 0
    for done in range(1, shape.layers + 1):
        split[stage] += 1
        if done * layer * pp > total * (stage + 1) and stage < pp - 1:
            stage += 1
    return split


@dataclass(frozen=True)
class StageLayers:
    """Layers on the stages that can be the fullest or slowest, each (n,)."""

    first: IntArray
    second: IntArray
    """The second stage (the first where there is only one)."""
    largest: IntArray
    last: IntArray


def stage_layers(
    layers: int,
    pp: IntArray,
    virtual_stages: IntArray,
    split: Callable[[int, int, int], list[int]] = layers_per_stage,
) -> StageLayers:
    """Layers of the first, second, largest and last stage of each layout, (n,).

    ``split`` gives the layers of each stage from (layers, pp, v). It is asked once
    for each distinct (pp, v).
    """
    width = int(virtual_stages.max(initial=1)) + 1
    table = np.zeros((int(pp.max(initial=1)) * width + width, 4), dtype=np.int64)
    key = pp * width + virtual_stages
    for k in np.flatnonzero(np.bincount(key)):
        rows = split(layers, int(k) // width, int(k) % width)
        second = rows[1] if len(rows) > 1 else rows[0]
        table[k] = rows[0], second, max(rows), rows[-1]
    found = table[key]
    return StageLayers(found[:, 0], found[:, 1], found[:, 2], found[:, 3])


def framework_stage_layers(
    shape: TransformerShape,
    framework: Framework,
    pp: IntArray,
    virtual_stages: IntArray,
) -> StageLayers:
    """`stage_layers` as the framework divides them."""
    if not framework.stages_by_cost:
        return stage_layers(shape.layers, pp, virtual_stages)

    def split(_layers: int, stages: int, _virtual: int) -> list[int]:
        return layers_per_stage_by_cost(shape, stages)

    return stage_layers(shape.layers, pp, virtual_stages, split)


def clean_split_mask(layers: int, pp: IntArray, virtual_stages: IntArray) -> BoolArray:
    """`is_clean_split` of arrays, (n,)."""
    even = layers % (pp * virtual_stages) == 0
    chunks = pp * virtual_stages
    ends = (pp > 1) & ((layers + 2) % chunks == 0) & ((layers + 2) // chunks >= 2)
    return np.asarray(even | ends)
