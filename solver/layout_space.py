"""The lattice of layouts that a scenario may use, with memory, by kind of node.

Layouts and their memory depend on the shape of a node (GPUs, NVLink domain), not on
the GPU, price or region: they are enumerated once a kind of node and only when a
bound can't rule that kind out.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from solver.interruption import is_asked
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
from solver.performance.offload import away_on_drives
from solver.performance.parallelism import (
    LatticeLimits,
    describe_lattice,
    expand_groups,
    layout_groups,
)
from solver.performance.ramp import ramp_s, run_steps

if TYPE_CHECKING:
    from solver.scenario.scenario import Constraints

GROUPS_AT_ONCE = 4_096
"""Groups expanded together: keeps what does not fit from piling up."""

NodeKind = tuple[int, int, bool]
"""(GPUs a node, GPUs of its NVLink domain, whether attention is fused): a GPU without
a flash-attention kernel keeps the scores in memory."""


class OutOfTimeError(Exception):
    """The time limit came while layouts were made; the caller keeps what it has."""


@dataclass(frozen=True, slots=True)
class NodeLimits:
    """What the offers of one kind of node have at most."""

    max_nodes: int
    capacity_bytes: float
    """Allowed memory of the largest card."""


@dataclass(frozen=True)
class Lattice:
    """The layouts of one kind of node that fit its largest card, each (n,)."""

    layouts: Layouts
    memory_bytes: FloatArray
    job: TrainingJob
    """The variant that the layouts train."""
    steps: IntArray
    ramp_steps: IntArray
    """Those of the steps whose batch is still growing."""
    work: FloatArray
    """Steps that the same work takes in whole batches."""
    writer_nodes: IntArray
    """Nodes that hold a distinct shard of a checkpoint."""
    host_bytes: FloatArray
    """Host memory that a node needs."""
    drive_bytes: FloatArray
    """Of a node's own drives, for what is offloaded to them."""
    groups: Layouts
    """Every way to divide the ranks as its leanest layout, fitting or not."""
    group_memory_bytes: FloatArray
    """Memory of those leanest layouts: no layout of the lattice needs less."""
    out_of_memory: int
    """Groups of which not even the leanest layout fits, and layouts of the others."""
    _times: dict[Hashable, FloatArray] = field(default_factory=dict)

    def __len__(self) -> int:
        """Number of layouts."""
        return len(self.layouts)

    def take(self, rows: IntArray) -> Lattice:
        """The layouts at ``rows``, of the same groups."""
        return replace(
            self,
            layouts=self.layouts.take(rows),
            memory_bytes=self.memory_bytes[rows],
            steps=self.steps[rows],
            ramp_steps=self.ramp_steps[rows],
            work=self.work[rows],
            writer_nodes=self.writer_nodes[rows],
            host_bytes=self.host_bytes[rows],
            drive_bytes=self.drive_bytes[rows],
            _times={},
        )

    def times(
        self,
        key: Hashable,
        rows: IntArray | slice,
        evaluate: Callable[[Layouts], FloatArray],
    ) -> FloatArray:
        """Seconds of the layouts at ``rows``, each evaluated once for a ``key``.

        Parameters
        ----------
        key
            What is evaluated on which hardware.
        rows
            Rows of the lattice.
        evaluate
            Seconds of some layouts, which follow from each layout alone.
        """
        known = self._times.setdefault(key, np.full(len(self), np.nan))
        new = np.flatnonzero(np.isnan(known[rows]))
        if len(new):
            places = np.arange(len(self))[rows][new]
            known[places] = evaluate(self.layouts.take(places))
        return known[rows]

    def training_s(
        self,
        key: Hashable,
        rows: IntArray | slice,
        step_s: Callable[[Layouts], FloatArray],
    ) -> tuple[FloatArray, FloatArray]:
        """Seconds of one whole step, and of all steps, of the layouts at ``rows``."""
        seconds = self.times(("step", key), rows, step_s)
        total = seconds * (self.steps - self.ramp_steps)[rows]
        if self.job.batch_ramp is not None:
            climb = partial(ramp_s, self.job, step_s=step_s)
            total = total + self.times(("ramp", key), rows, climb)
        return seconds, total


@dataclass(frozen=True)
class _Enumerated:
    """A lattice, and all that it was made from."""

    made_from: tuple[Any, ...]
    kind: NodeKind
    limits: NodeLimits
    lattice: Lattice


@dataclass
class LatticeStore:
    """Lattices that several solves share: prices and limits play no part in them.

    A lattice of more nodes and larger cards than are asked for serves as well: who
    reads one leaves out what is beyond the nodes and the card in hand.
    """

    _made: list[_Enumerated] = field(default_factory=list)

    def find(
        self, made_from: tuple[Any, ...], kind: NodeKind, limits: NodeLimits
    ) -> Lattice | None:
        """A lattice that holds all layouts within ``limits``; None: there is none."""
        for made in self._made:
            if made.kind != kind or made.made_from != made_from:
                continue
            nodes, capacity = made.limits.max_nodes, made.limits.capacity_bytes
            if nodes >= limits.max_nodes and capacity >= limits.capacity_bytes:
                return made.lattice
        return None

    def keep(
        self,
        made_from: tuple[Any, ...],
        kind: NodeKind,
        limits: NodeLimits,
        lattice: Lattice,
    ) -> None:
        """Keep a lattice for later solves."""
        self._made.append(_Enumerated(made_from, kind, limits, lattice))


@dataclass
class LayoutSpace:
    """Lattices by kind of node and way to train, enumerated when first asked for."""

    shape: TransformerShape
    job: TrainingJob
    """The first variant: degrees and batches are the same for all."""
    framework: Framework
    constraints: Constraints
    kinds: Mapping[NodeKind, NodeLimits]
    store: LatticeStore = field(default_factory=LatticeStore)
    lattices: dict[tuple[NodeKind, TrainingJob], Lattice] = field(default_factory=dict)
    end: float | None = None
    """Clock (time.monotonic) after which no more layouts are made."""

    def check_time(self) -> None:
        """Raise `OutOfTimeError` once time is over, or the user wants to end."""
        late = self.end is not None and time.monotonic() > self.end
        if late or is_asked():
            raise OutOfTimeError

    def limits(self, kind: NodeKind, job: TrainingJob | None = None) -> LatticeLimits:
        """The axes and limits of the lattice of ``kind`` for a variant of the job.

        Nodes that only generate are taken off the nodes and GPUs that are allowed.
        """
        user = self.constraints
        gpus_per_node, domain, _ = kind
        beside = (self.job if job is None else job).rollout_nodes
        return LatticeLimits(
            max_nodes=max(self.kinds[kind].max_nodes - beside, 0),
            gpus_per_node=gpus_per_node,
            nvlink_domain_gpus=domain,
            gpus=user.gpus.less(beside * gpus_per_node),
            pins=user.parallelism,
            recompute=user.recompute,
        )

    def lattice(self, kind: NodeKind, job: TrainingJob | None = None) -> Lattice:
        """The lattice of ``kind`` for a variant of the job, by default the first."""
        key = (kind, self.job if job is None else job)
        if key not in self.lattices:
            self.lattices[key] = self._shared(*key)
        return self.lattices[key]

    def _shared(self, kind: NodeKind, job: TrainingJob) -> Lattice:
        """A lattice from another solve, or made and kept for others."""
        user, limits = self.constraints, self.kinds[kind]
        pins = (user.gpus, user.parallelism, user.recompute)
        made_from = (self.shape, job, self.framework, *pins)
        lattice = self.store.find(made_from, kind, limits)
        if lattice is None:
            lattice = self._enumerate(kind, job)
            self.store.keep(made_from, kind, limits, lattice)
        return lattice

    def _enumerate(self, kind: NodeKind, job: TrainingJob) -> Lattice:
        limits = self.limits(kind, job)
        model = (self.shape, job, self.framework)
        groups = layout_groups(*model, limits)
        fused = kind[2]
        least = peak_memory(*model, groups, fused_attention=fused).total
        fits = least <= self.kinds[kind].capacity_bytes
        layouts, memory, dropped = self._expand(kind, job, groups.take(fits))
        steps, ramp_steps, work = run_steps(job, layouts.global_batch)
        return Lattice(
            layouts=layouts,
            memory_bytes=memory,
            job=job,
            steps=steps,
            ramp_steps=ramp_steps,
            work=work,
            writer_nodes=checkpoint_writer_nodes(layouts),
            host_bytes=host_bytes_needed(*model, layouts),
            drive_bytes=away_on_drives(*model, layouts),
            groups=groups,
            group_memory_bytes=least,
            out_of_memory=int(len(groups) - fits.sum()) + dropped,
        )

    def _expand(
        self, kind: NodeKind, job: TrainingJob, groups: Layouts
    ) -> tuple[Layouts, FloatArray, int]:
        """Layouts of the groups that fit, their memory, and how many do not fit."""
        limits, capacity = self.limits(kind, job), self.kinds[kind].capacity_bytes
        model = (self.shape, job, self.framework)
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
