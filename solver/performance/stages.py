"""How layers are divided over pipeline stages.

Stages are numbered 0 .. pp-1. With v virtual stages each stage holds v chunks of
layers. Layers are conserved whatever the division: nothing is rounded away.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solver.performance.inputs import BoolArray, IntArray


def divides_evenly(layers: int, pp: int, virtual_stages: int = 1) -> bool:
    """Whether every chunk of every stage gets the same number of layers."""
    return layers % (pp * virtual_stages) == 0


def divides_with_ends(layers: int, pp: int) -> bool:
    """Whether it divides with embedding and head counted as a layer each.

    The first and the last stage then hold one layer less than the others, as BLOOM's
    70 layers on 12 stages: 5 + 10 x 6 + 5 (bigscience tr11).
    """
    return pp > 1 and (layers + 2) % pp == 0 and (layers + 2) // pp >= 2


def is_clean_split(layers: int, pp: int, virtual_stages: int = 1) -> bool:
    """Whether the lattice offers this division of layers."""
    if divides_evenly(layers, pp, virtual_stages):
        return True
    return virtual_stages == 1 and divides_with_ends(layers, pp)


def layers_per_stage(layers: int, pp: int, virtual_stages: int = 1) -> list[int]:
    """Layers of each stage, first to last; they add up to ``layers``.

    Even where it divides; else one less on both ends where that divides; else as
    even as possible with the larger stages in the middle, which only measured runs
    need: the lattice leaves it out.
    """
    if divides_evenly(layers, pp):
        return [layers // pp] * pp
    if virtual_stages == 1 and divides_with_ends(layers, pp):
        inner = (layers + 2) // pp
        return [inner - 1, *[inner] * (pp - 2), inner - 1]
    small, extra = divmod(layers, pp)
    first_large = (pp - extra + 1) // 2
    return [
        small + (1 if first_large <= stage < first_large + extra else 0)
        for stage in range(pp)
    ]


@dataclass(frozen=True)
class StageLayers:
    """Layers on the stages that can be the fullest or slowest, each (n,)."""

    first: IntArray
    second: IntArray
    """The second stage (the first where there is only one)."""
    largest: IntArray
    last: IntArray


def stage_layers(layers: int, pp: IntArray, virtual_stages: IntArray) -> StageLayers:
    """Layers of the first, second, largest and last stage of each layout, (n,).

    Found once for each distinct (pp, v) and gathered.
    """
    key = pp * (int(virtual_stages.max(initial=1)) + 1) + virtual_stages
    _, index, inverse = np.unique(key, return_index=True, return_inverse=True)
    rows = []
    for i in index:
        split = layers_per_stage(layers, int(pp[i]), int(virtual_stages[i]))
        second = split[1] if len(split) > 1 else split[0]
        rows.append((split[0], second, max(split), split[-1]))
    table = np.array(rows, dtype=np.int64).reshape(-1, 4)[inverse]
    return StageLayers(table[:, 0], table[:, 1], table[:, 2], table[:, 3])


def clean_split_mask(layers: int, pp: IntArray, virtual_stages: IntArray) -> BoolArray:
    """`is_clean_split` of arrays, (n,)."""
    even = layers % (pp * virtual_stages) == 0
    ends = (pp > 1) & ((layers + 2) % pp == 0) & ((layers + 2) // pp >= 2)
    return np.asarray(even | (ends & (virtual_stages == 1)))


def nearest_stage_counts(layers: int, pp: int, virtual_stages: int = 1) -> list[int]:
    """Legal numbers of stages next below and above ``pp``."""
    legal = [
        p for p in range(1, layers + 1) if is_clean_split(layers, p, virtual_stages)
    ]
    below = [p for p in legal if p < pp][-1:]
    return below + [p for p in legal if p > pp][:1]
