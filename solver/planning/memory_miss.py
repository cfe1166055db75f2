"""When nothing fits: the nearest miss by part, and what each lever would save."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from solver.layout_space import GROUPS_AT_ONCE, OutOfTimeError
from solver.performance.checkpoints import host_bytes_needed
from solver.performance.inputs import RECOMPUTE, FloatArray, Layouts
from solver.performance.memory import peak_memory
from solver.performance.parallelism import (
    LatticeLimits,
    expand_groups,
    layout_groups,
)
from solver.physics_inputs import (
    framework_of,
    offload_of,
    optimizer_of,
    updates_on,
)
from solver.planning.build_plan import memory_gib
from solver.scenario.offloads import OFFLOADS, framework_can
from solver.setting import HardwareClass, Setting
from solver.units import GIB

if TYPE_CHECKING:
    from solver.catalog.load import Catalog

LEAN_OPTIMIZERS = ("adamw-8bit", "paged-adamw-8bit")
"""What is offered in place of an optimizer whose states are too large."""


@dataclass(frozen=True)
class MemoryMiss:
    """The layout and card with the smallest ratio of need to what is allowed."""

    gpu: str
    nodes: int
    need_gib: float
    allowed_gib: float
    """Usable memory less the headroom."""
    usable_gib: float
    layout: dict[str, int]
    memory_gib: dict[str, float]
    group: HardwareClass

    @property
    def ratio(self) -> float:
        """Need over what is allowed; above 1 nothing fits."""
        return self.need_gib / self.allowed_gib

    def as_dict(self) -> dict[str, Any]:
        """The nearest miss as the JSON contract has it."""
        layout = {k: v for k, v in self.layout.items() if k != "recompute"}
        return {
            "gpu": self.gpu,
            "nodes": self.nodes,
            "need_gib": round(self.need_gib, 2),
            "allowed_gib": round(self.allowed_gib, 2),
            "usable_gib": round(self.usable_gib, 2),
            "ratio": round(self.ratio, 4),
            "layout": layout | {"recompute": RECOMPUTE[self.layout["recompute"]]},
            "memory_gib": self.memory_gib,
        }


def nearest_memory_miss(setting: Setting) -> MemoryMiss | None:
    """The nearest miss over all hardware within the user's limits and pins.

    None where no layout divides, fitting or not.
    """
    best: tuple[float, int, Layouts] | None = None
    for index, group in enumerate(setting.classes):
        lattice = setting.space.lattice(group.node_kind, group.job)
        bounds = lattice.group_memory_bytes
        if best is not None and (bounds / group.capacity_bytes >= best[0]).all():
            continue
        limits = setting.space.limits(group.node_kind, group.job)
        found = _leanest(setting, limits, group, lattice.groups, bounds)
        if found is None:
            continue
        one, need = found
        ratio = need / group.capacity_bytes
        if best is None or ratio < best[0]:
            best = (ratio, index, one)
    if best is None:
        return None
    _, index, one = best
    return _miss(setting, setting.classes[index], one)


def _leanest(
    setting: Setting,
    limits: LatticeLimits,
    group: HardwareClass,
    groups: Layouts,
    bounds: FloatArray,
) -> tuple[Layouts, float] | None:
    """The layout that needs least memory on the nodes of a class, and its bytes.

    ``bounds`` are those of the memory of each group's layouts from below: groups are
    taken in their order until one passes the least need found.
    """
    model = (setting.shape, group.job, setting.framework)
    fused = bool(group.hardware.fused_attention)
    order = np.argsort(bounds, kind="stable")
    order = order[groups.nodes[order] + group.job.rollout_nodes <= group.max_nodes]
    best: tuple[Layouts, float] | None = None
    start, count = 0, 1
    while start < len(order):
        setting.space.check_time()
        rows = order[start : start + count]
        if best is not None:
            rows = rows[bounds[rows] < best[1]]
        if not len(rows):
            break
        layouts = expand_groups(*model, limits, groups.take(rows))
        # many at once where the first ones have no layout at all
        start, count = start + count, min(2 * count, GROUPS_AT_ONCE)
        if not len(layouts):
            continue
        need = peak_memory(*model, layouts, fused_attention=fused).total
        least = int(np.argmin(need))
        if best is None or need[least] < best[1]:
            best = layouts.take(np.array([least])), float(need[least])
    return best


def _miss(setting: Setting, group: HardwareClass, one: Layouts) -> MemoryMiss:
    gpu = setting.options[int(group.options[0])].gpu
    parts = memory_gib(setting, group.job, one, gpu.usable_memory_gib, group.hardware)
    return MemoryMiss(
        gpu=gpu.id,
        nodes=int(one.nodes[0]),
        need_gib=parts["total"],
        allowed_gib=group.capacity_bytes / GIB,
        usable_gib=gpu.usable_memory_gib,
        layout=one.row(0),
        memory_gib=parts,
        group=group,
    )


def levers(setting: Setting, miss: MemoryMiss) -> Iterator[dict[str, Any]]:
    """What other choices would need on the same nodes, leanest layout each, GiB."""
    for name, now, needed, changed in _changes(setting):
        changed.space.end = setting.space.end
        limits = replace(changed.space.limits(miss.group.node_kind), pins={})
        limits = replace(limits, recompute=None)
        try:
            found = _least_need(changed, limits, miss.group)
        except OutOfTimeError:
            return
        if found is None or not _hosts_hold(changed, miss.group, found[0]):
            continue
        need = found[1] / GIB
        if need >= miss.need_gib:
            continue
        yield {
            "constraint": name,
            "now": now,
            "needed": needed,
            "unit": "choice",
            "saves_gib": round(miss.need_gib - need, 2),
            "need_gib": round(need, 2),
            "fits": need <= miss.allowed_gib,
        }


def least_need_gib(
    setting: Setting, limits: LatticeLimits, group: HardwareClass
) -> float | None:
    """What the leanest layout of the setting's job needs on nodes of a class, GiB."""
    found = _least_need(setting, limits, group)
    return None if found is None else found[1] / GIB


def _hosts_hold(setting: Setting, group: HardwareClass, one: Layouts) -> bool:
    """Whether some host of the class holds what leaves the GPUs."""
    if not setting.job.offload:
        return True
    need = host_bytes_needed(setting.shape, setting.job, setting.framework, one)
    return bool(need[0] <= setting.arrays.host_bytes[group.options].max())


def _least_need(
    setting: Setting, limits: LatticeLimits, group: HardwareClass
) -> tuple[Layouts, float] | None:
    """The leanest layout of the setting's job on nodes of a class, and its bytes."""
    group = replace(group, job=setting.job)
    model = (setting.shape, group.job, setting.framework)
    groups = layout_groups(*model, limits)
    fused = bool(group.hardware.fused_attention)
    bounds = peak_memory(*model, groups, fused_attention=fused).total
    return _leanest(setting, limits, group, groups, bounds)


def runs(catalog: Catalog, framework: str, optimizer: str) -> bool:
    """Whether a framework can run an optimizer of the catalog."""
    entry = catalog.optimizers.get(optimizer)
    return entry is not None and framework in (entry.frameworks or (framework,))


def _changes(setting: Setting) -> Iterator[tuple[str, str, str, Setting]]:
    """Each lever: name, what it is now, what it would be, the setting with it."""
    work, catalog = setting.scenario.workload, setting.catalog
    for optimizer in LEAN_OPTIMIZERS:
        able = runs(catalog, work.framework, optimizer)
        able = able and updates_on(
            catalog.optimizers[optimizer].on_host, setting.job.offload
        )
        if optimizer not in work.optimizers and able:
            job = replace(
                setting.job,
                optimizer=optimizer_of(
                    catalog, optimizer, setting.shape, setting.job.lora_rank
                ),
            )
            other = replace(setting, job=job, others=())
            yield "optimizer", work.optimizer, optimizer, other
    for loss in setting.framework.losses:
        if loss not in work.losses:
            job = replace(setting.job, loss=loss)
            yield "loss", work.losses[0], loss, replace(setting, job=job, others=())
    for name in OFFLOADS:
        offload = offload_of(name)
        able = framework_can(catalog.frameworks[work.framework], name) and updates_on(
            catalog.optimizers[work.optimizer].on_host, offload
        )
        if able and offload and (name, "host") not in work.offloads:
            job = replace(setting.job, offload=offload)
            now = setting.job.offload.what
            yield "offload", now, name, replace(setting, job=job, others=())
    for framework, entry in sorted(catalog.frameworks.items()):
        able = work.method in entry.methods and runs(catalog, framework, work.optimizer)
        if framework != work.framework and able:
            traits = framework_of(catalog, framework)
            other = replace(setting, framework=traits, others=())
            yield "framework", work.framework, framework, other
    adapters = framework_of(catalog, "hf-trainer")
    for method in ("lora", "qlora"):
        if work.method == "full" or (work.method, method) == ("lora", "qlora"):
            job = replace(setting.job, method=method, lora_rank=work.lora_rank or 16)
            other = replace(setting, job=job, others=(), framework=adapters)
            yield "method", work.method, method, other
    generates = setting.job.alignment is not None and setting.job.alignment.generates
    if work.sequence_length > 1024 and not generates:
        shorter = work.sequence_length // 2
        job = replace(setting.job, sequence_length=shorter)
        yield (
            "sequence_length",
            str(work.sequence_length),
            str(shorter),
            replace(setting, job=job, others=()),
        )
