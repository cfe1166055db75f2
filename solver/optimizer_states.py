"""What an optimizer of the catalog keeps of one model, by the shapes of its matrices.

Most keep as many bytes of every parameter. Adafactor keeps sums over the rows and over
the columns of a matrix (arXiv 1804.04235), Muon one momentum of each matrix of the
layers and leaves the rest to AdamW (kellerjordan.github.io/posts/muon; arXiv
2502.16982).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from solver.performance.numerics import Optimizer
from solver.performance.transformer import (
    Matrix,
    attention_matrices,
    expert_width,
    mlp_matrices,
    parameters,
)

if TYPE_CHECKING:
    from solver.catalog.schema import OptimizerEntry
    from solver.performance.inputs import TransformerShape

FP32 = 4.0
"""Bytes of a sum of squares."""

NEWTON_SCHULZ_STEPS = 5
"""Iterations with which Muon orthogonalises a momentum (its usual number)."""


def optimizer_from(
    entry: OptimizerEntry, shape: TransformerShape, adapter_rank: int = 0
) -> Optimizer:
    """The optimizer on a model, or on its adapters of a rank.

    Parameters
    ----------
    adapter_rank
        Rank of the adapters that train in place of the weights; 0: the weights do.
    """
    matrices = [m for m, _ in layer_matrices(shape)]
    states, other = entry.state_bytes, entry.other_state_bytes
    if entry.factored:
        states = factored_bytes(layer_matrices(shape))
        other = _factored_outside(shape)
        if adapter_rank:  # two matrices of the rank's width for each one of the model
            states = FP32 / adapter_rank + FP32 / shape.hidden
    flops = 0.0
    if entry.orthogonalised:
        flops = newton_schulz_flops(layer_matrices(shape))
        if adapter_rank:
            flops = newton_schulz_flops(
                (Matrix(m.name, m.inputs, adapter_rank), 1.0) for m in matrices
            )
    return Optimizer(
        name=entry.id,
        state_bytes=states,
        master_bytes=entry.master_bytes,
        paged=entry.paged,
        other_state_bytes=None if adapter_rank else other,
        matrix_flops=flops,
    )


def without_copy(optimizer: Optimizer) -> Optimizer:
    """The optimizer on 16-bit weights alone, without an fp32 copy of them."""
    return replace(optimizer, master_bytes=0.0)


def layer_matrices(shape: TransformerShape) -> list[tuple[Matrix, float]]:
    """Matrices of the layers, and how often the whole model has each."""
    dense, moe = shape.layers - shape.moe_layers, shape.moe_layers
    width = expert_width(shape)
    found = [(m, float(shape.layers)) for m in attention_matrices(shape)]
    found += [(m, float(dense)) for m in mlp_matrices(shape, shape.ffn)]
    if moe:
        experts = shape.n_experts + shape.shared_experts
        found += [(m, float(moe * experts)) for m in mlp_matrices(shape, width)]
    return [(m, count) for m, count in found if count]


def factored_bytes(matrices: Iterable[tuple[Matrix, float]]) -> float:
    """Bytes a parameter of row and column sums of matrices."""
    listed = list(matrices)
    sums = sum(count * FP32 * (m.inputs + m.outputs) for m, count in listed)
    return sums / sum(count * m.size for m, count in listed)


def _factored_outside(shape: TransformerShape) -> float:
    """Bytes a parameter outside: vocabulary matrices factored, vectors in full."""
    count = parameters(shape)
    tables = count.embedding + count.positions + count.head
    rows = tables / shape.hidden
    ends = FP32 * (rows + shape.hidden * (2 if count.head else 1))
    vectors = count.final_norm + shape.layers * count.norms
    routers = shape.moe_layers * count.router
    return (ends + FP32 * (vectors + routers)) / (tables + vectors + routers)


def newton_schulz_flops(matrices: Iterable[tuple[Matrix, float]]) -> float:
    """FLOPs a parameter to orthogonalise matrices.

    An iteration on m x n, m <= n, multiplies X X', squares it and applies it to X:
    2 m^2 n + 2 m^3 + 2 m^2 n.
    """
    total = size = 0.0
    for matrix, count in matrices:
        low, high = sorted((matrix.inputs, matrix.outputs))
        total += count * NEWTON_SCHULZ_STEPS * (4 * low**2 * high + 2 * low**3)
        size += count * matrix.size
    return total / size
