"""Whole training runs: GPU-hours of the best layout at the stated number of GPUs.

What a run does not say: the batch is 4M tokens in pretraining and 128 sequences
otherwise; the GPUs 512, or fewer where the batch is smaller. The layout is the
planner's fastest that fits, with the software of the run's year.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from solver.accuracy.assumptions import Assumptions
from solver.accuracy.filling import job_from
from solver.accuracy.machines import Machine, hardware_of_machine, machine_from
from solver.accuracy.scoring import Outcome
from solver.accuracy.shapes import shape_from
from solver.accuracy.stacks import (
    framework_as_ran,
    framework_id_of,
    method_of,
    precision_of,
    traits_of,
    year_of,
)
from solver.accuracy.tables import SkippedRowError, TableRow
from solver.performance.inputs import Framework, Layouts, TrainingJob, TransformerShape
from solver.performance.lattice_axes import LatticeLimits
from solver.performance.memory import peak_memory
from solver.performance.parallelism import expand_groups, layout_groups
from solver.performance.step_time import mfu, step_time
from solver.ranges import Range
from solver.units import DAY, GIB, HOUR

if TYPE_CHECKING:
    from solver.catalog.load import Catalog

__all__ = ["run_outcome"]

PRETRAIN_BATCH_TOKENS = 4.0e6
TUNING_BATCH_SEQUENCES = 128
USUAL_GPUS = 512
LATTICE = {"cp": Range(1, 1), "virtual_stages": Range(1, 8)}
"""Axes of the search that are cut for speed."""


def run_outcome(row: TableRow, catalog: Catalog) -> Outcome:
    """The run's measured and predicted GPU-hours.

    Raises
    ------
    SkippedRowError
        The run can't be predicted.
    """
    taken = Assumptions()
    kind = row.text("kind").casefold()
    if kind == "rlhf":
        raise SkippedRowError("generation, not training, takes the time of this run")
    tokens = row.number("tokens_b")
    if tokens is None:
        raise SkippedRowError("the tokens of the run are not given")
    stated = row.whole("n_gpus")
    hours = _gpu_hours(row, stated)
    shape = shape_from(row, catalog, taken)
    method = method_of(row, taken)
    machine = machine_from(row, catalog, stated, taken)
    precision = precision_of(row, machine.gpu, taken)
    framework_id = framework_id_of(row, catalog, method, taken)
    year = year_of(row, taken)
    framework = framework_as_ran(catalog, framework_id, year, traits_of(row))
    job = job_from(row, catalog, shape, method, precision, framework_id, taken)
    batch = _batch(row, job.sequence_length, method, taken)
    gpus = stated or _usual_gpus(batch, taken)
    layouts, seconds, used = _fastest(
        shape, job, framework, machine, catalog, precision, year, gpus, batch
    )
    steps = tokens * 1e9 / (batch * job.sequence_length)
    predicted = float(steps * seconds * gpus / HOUR)
    return Outcome(
        id=row.id,
        source=row.source,
        metric="run",
        unit="GPU-h",
        measured=hours,
        predicted=predicted,
        quality=_quality(row),
        labels={
            "gpu": machine.gpu.id,
            "precision": precision,
            "kind": "moe" if shape.is_moe else "dense",
            "framework": framework_id,
            "class": "pretraining" if method == "full" else "adapters",
        },
        assumed=dict(taken.taken),
        parts={},
        layout=layouts.row(0),
        mfu=used * predicted / hours,
    )


def _gpu_hours(row: TableRow, gpus: int | None) -> float:
    """GPU-hours of the run as stated, else days times GPUs."""
    hours, days = row.number("gpu_hours"), row.number("days")
    if hours is None and days is not None and gpus is not None:
        hours = days * DAY / HOUR * gpus
    if hours is None:
        raise SkippedRowError("neither GPU-hours nor days and GPUs are given")
    return hours


def _quality(row: TableRow) -> str:
    """Quality of a row; what its remarks call a trap is not good."""
    stated = row.text("quality").casefold()
    return stated or ("suspect" if "trap" in row.words("notes") else "good")


def _batch(row: TableRow, length: int, method: str, taken: Assumptions) -> int:
    """Sequences of a step."""
    tokens = row.number("gbs_tokens")
    if tokens is None and method == "full" and row.text("kind") == "pretrain":
        tokens = PRETRAIN_BATCH_TOKENS
        taken.take("gbs_tokens", int(tokens))
    if tokens is None:
        taken.take("gbs", TUNING_BATCH_SEQUENCES)
        return TUNING_BATCH_SEQUENCES
    return max(1, round(tokens / length))


def _usual_gpus(batch: int, taken: Assumptions) -> int:
    """GPUs of a run that states none."""
    gpus = USUAL_GPUS
    while gpus > 8 and gpus > batch:
        gpus //= 2
    taken.take("n_gpus", gpus)
    return gpus


def _fastest(
    shape: TransformerShape,
    job: TrainingJob,
    framework: Framework,
    machine: Machine,
    catalog: Catalog,
    precision: str,
    year: float | None,
    gpus: int,
    batch: int,
) -> tuple[Layouts, float, float]:
    """The fastest layout that fits, the seconds of its step, and its MFU."""
    server = machine.server
    nodes, left = divmod(gpus, server.gpus_per_node)
    if left:
        raise SkippedRowError(
            f"{gpus} GPUs are no whole nodes of {server.gpus_per_node}"
        )
    job = _with_batch(job, batch)
    hardware = hardware_of_machine(catalog, machine, precision, year)
    limits = LatticeLimits(
        max_nodes=nodes,
        min_nodes=nodes,
        gpus_per_node=server.gpus_per_node,
        nvlink_domain_gpus=server.nvlink_domain_gpus,
        pins=LATTICE,
    )
    model = (shape, job, framework)
    fused = bool(hardware.fused_attention)
    groups = layout_groups(*model, limits)
    room = machine.capacity_gib * GIB
    fits = peak_memory(*model, groups, fused_attention=fused).total <= room
    layouts = expand_groups(*model, limits, groups.take(fits))
    if not len(layouts):
        raise SkippedRowError("no layout of the framework fits on these GPUs")
    fits = peak_memory(*model, layouts, fused_attention=fused).total <= room
    layouts = layouts.take(fits)
    if not len(layouts):
        raise SkippedRowError("no layout of the framework fits on these GPUs")
    seconds = step_time(*model, hardware, layouts).total
    rate = seconds / layouts.global_batch
    best = int(np.argmin(rate))
    layouts = layouts.take(np.array([best]))
    used = mfu(shape, job, hardware, layouts, seconds[best : best + 1])
    return layouts, float(rate[best] * batch), float(used[0])


def _with_batch(job: TrainingJob, batch: int) -> TrainingJob:
    """The job with a batch that many GPUs can divide: within 5 % of the stated one."""
    slack = max(0, int(0.05 * batch))
    return replace(
        job, batch_min=batch - slack, batch_target=batch, batch_max=batch + slack
    )
