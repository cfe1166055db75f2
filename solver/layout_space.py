"""The lattice of layouts that a scenario may use, with memory, by kind of node.

Layouts and their memory depend on the shape of a node (GPUs, NVLink domain), not on
the GPU, price or region: they are enumerated once a kind of node and only when a
bound can't rule that kind out.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from solver.performance.checkpoints import checkpoint_writer_nodes, host_bytes_needed
from solver.performance.inputs import (
    FloatArray,
    Framework,
    IntArray,
    Layouts,
    TrainingJob,
    TransformerShape,
)
from solver.performance.memory import peak_memory
from solver.performance.parallelism import (
    LatticeLimits,
    describe_lattice,
    expand_groups,
    layout_groups,
)
from solver.physics_inputs import steps_of

if TYPE_CHECKING:
    from solver.scenario.scenario import Constraints

GROUPS_AT_ONCE = 4_096
"""Groups expanded together: keeps what does not fit from piling up."""

NodeKind = tuple[int, int, bool]
"""(GPUs a node, GPUs of its NVLink domain, whether attention is fused): a GPU without
a flash-attention kernel keeps the scores in memory."""


class OutOfTimeError(Exception):
    """The time limit came while layouts were made; the caller keeps what it has."""


@dataclass(frozen=True)
class Lattice:
    """The layouts of one kind of node that fit its largest card, each (n,)."""

    layouts: Layouts
    memory_bytes: FloatArray
    steps: IntArray
    writer_nodes: IntArray
    """Nodes that hold a distinct shard of a checkpoint."""
    host_bytes: FloatArray
    """Host memory that a node needs."""
    groups: Layouts
    """Every way to divide the ranks as its leanest layout, fitting or not."""
    group_memory_bytes: FloatArray
    """Memory of those leanest layouts: no layout of the lattice needs less."""
    out_of_memory: int
    """Groups of which not even the leanest layout fits, and layouts of the others."""

    def __len__(self) -> int:
        """Number of layouts."""
        return len(self.layouts)


@dataclass(frozen=True, slots=True)
class NodeLimits:
    """What the offers of one kind of node have at most."""

    max_nodes: int
    capacity_bytes: float
    """Allowed memory of the largest card."""


@dataclass
class LayoutSpace:
    """Lattices by kind of node, enumerated when first asked for."""

    shape: TransformerShape
    job: TrainingJob
    framework: Framework
    constraints: Constraints
    kinds: Mapping[NodeKind, NodeLimits]
    lattices: dict[NodeKind, Lattice] = field(default_factory=dict)
    end: float | None = None
    """Clock (time.monotonic) after which no more layouts are made."""

    def check_time(self) -> None:
        """Raise `OutOfTimeError` once the time limit is over."""
        if self.end is not None and time.monotonic() > self.end:
            raise OutOfTimeError

    def limits(self, kind: NodeKind) -> LatticeLimits:
        """The axes and limits of the lattice of ``kind``."""
        user = self.constraints
        gpus_per_node, domain, _ = kind
        return LatticeLimits(
            max_nodes=self.kinds[kind].max_nodes,
            gpus_per_node=gpus_per_node,
            nvlink_domain_gpus=domain,
            gpus=user.gpus,
            pins=user.parallelism,
            recompute=user.recompute,
        )

    def lattice(self, kind: NodeKind) -> Lattice:
        """The lattice of ``kind``."""
        if kind not in self.lattices:
            self.lattices[kind] = self._enumerate(kind)
        return self.lattices[kind]

    def _enumerate(self, kind: NodeKind) -> Lattice:
        limits = self.limits(kind)
        model = (self.shape, self.job, self.framework)
        groups = layout_groups(*model, limits)
        fused = kind[2]
        least = peak_memory(*model, groups, fused_attention=fused).total
        fits = least <= self.kinds[kind].capacity_bytes
        layouts, memory, dropped = self._expand(kind, groups.take(fits))
        return Lattice(
            layouts=layouts,
            memory_bytes=memory,
            steps=steps_of(
                self.job.tokens, self.job.sequence_length, layouts.global_batch
            ),
            writer_nodes=checkpoint_writer_nodes(layouts),
            host_bytes=host_bytes_needed(*model, layouts),
            groups=groups,
            group_memory_bytes=least,
            out_of_memory=int(len(groups) - fits.sum()) + dropped,
        )

    def _expand(
        self, kind: NodeKind, groups: Layouts
    ) -> tuple[Layouts, FloatArray, int]:
        """Layouts of the groups that fit, their memory, and how many do not fit."""
        limits, capacity = self.limits(kind), self.kinds[kind].capacity_bytes
        model = (self.shape, self.job, self.framework)
        parts: list[Layouts] = []
        memories: list[FloatArray] = []
        dropped = 0
        for start in range(0, max(len(groups), 1), GROUPS_AT_ONCE):
            self.check_time()
            some = groups.take(slice(start, start + GROUPS_AT_ONCE))
            layouts = expand_groups(*model, limits, some)
            memory = peak_memory(*model, layouts, fused_attention=kind[2]).total
            fits = memory <= capacity
            dropped += len(layouts) - int(fits.sum())
            parts.append(layouts.take(fits))
            memories.append(memory[fits])
        return Layouts.concatenate(parts), np.concatenate(memories), dropped

    def describe(self, kind: NodeKind | None = None) -> dict[str, Any]:
        """Axes and limits of the lattice of a kind, else of that with most GPUs."""
        if not self.kinds:
            return {}
        if kind is None:
            kind = max(self.kinds, key=lambda k: (self.kinds[k].max_nodes * k[0], k))
        return describe_lattice(self.shape, self.job, self.framework, self.limits(kind))
