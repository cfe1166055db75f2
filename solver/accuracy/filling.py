"""From a row of a table to the case that the performance model predicts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from solver.accuracy.assumptions import Assumptions
from solver.accuracy.blanks import gpus_of, layout_from, sequence_length_of
from solver.accuracy.cases import Case, Measured
from solver.accuracy.machines import hardware_of_machine, machine_from
from solver.accuracy.shapes import prediction_layers, shape_from
from solver.accuracy.stacks import (
    framework_as_ran,
    framework_id_of,
    method_of,
    offload_of_row,
    optimizer_of_row,
    precision_of,
    traits_of,
    year_of,
)
from solver.accuracy.tables import SkippedRowError, TableRow
from solver.performance.inputs import TrainingJob, TransformerShape
from solver.performance.transformer import LORA_TARGETS
from solver.physics_inputs import optimizer_of

if TYPE_CHECKING:
    from solver.catalog.load import Catalog

__all__ = ["case_from", "job_from", "measured_in"]

USUAL_LORA_RANK = 16

BALANCED = 1.0
"""Load of the busiest expert in benchmarks, which force balanced routing."""


def measured_in(row: TableRow) -> Measured:
    """What the row measured.

    Raises
    ------
    SkippedRowError
        Nothing that can be held against a prediction.
    """
    step = row.number("step_time_s") if "step_time" in row.metrics else None
    memory = row.number("peak_memory_gib") if "memory" in row.metrics else None
    fits = row.flag("fits") if "memory" in row.metrics else None
    if fits is None and memory is not None:
        fits = True
    if step is None and memory is None and fits is None:
        message = "nothing was measured: no step time, peak memory or fits"
        raise SkippedRowError(row.unreadable() or message)
    reserved = row.words("memory_kind").startswith(("reserved", "nvidia"))
    return Measured(
        step_time_s=step, peak_memory_gib=memory, reserved=reserved, fits=fits
    )


def job_from(
    row: TableRow,
    catalog: Catalog,
    shape: TransformerShape,
    method: str,
    precision: str,
    framework_id: str,
    taken: Assumptions,
) -> TrainingJob:
    """The row's job; batch and tokens play no part in one step."""
    rank = 0
    targets: tuple[str, ...] = ()
    if method != "full":
        rank = row.whole("lora_rank") or 0
        if not rank:
            rank = USUAL_LORA_RANK
            taken.take("lora_rank", rank)
        targets = _lora_targets(row)
    optimizer = optimizer_of_row(row, catalog, method, framework_id, taken)
    return TrainingJob(
        sequence_length=sequence_length_of(row, taken),
        tokens=1.0,
        batch_min=1,
        batch_target=1,
        batch_max=1,
        method=method,
        precision=precision,
        optimizer=optimizer_of(catalog, optimizer, shape, rank),
        lora_rank=rank,
        lora_targets=targets,
        trains_ends=method != "full" and _trains_ends(row),
        moe_imbalance=BALANCED,
        offload=offload_of_row(row),
    )


def _trains_ends(row: TableRow) -> bool:
    """Whether a remark says that embedding and head train beside the adapters."""
    return bool(re.search(r"lora \(emb\)|modules_to_save", row.words("note")))


def _lora_targets(row: TableRow) -> tuple[str, ...]:
    """The linears with adapters that a remark names; all where none does."""
    text = row.words("note")
    if re.search(r"query\s*\+\s*value|q_?proj,? ?v_?proj|q\+v", text):
        return ("q", "v")
    found = tuple(t for t in LORA_TARGETS if re.search(rf"\b{t}_proj\b", text))
    return found if len(found) > 1 else ()


def case_from(row: TableRow, catalog: Catalog) -> Case:
    """The case of a row.

    Raises
    ------
    SkippedRowError
        The row can't be predicted.
    """
    measured = measured_in(row)
    taken = Assumptions()
    shape = shape_from(row, catalog, taken)
    machine = machine_from(row, catalog, gpus_of(row, Assumptions()), taken)
    method = method_of(row, taken)
    precision = precision_of(row, machine.gpu, taken)
    framework_id = framework_id_of(row, catalog, method, taken)
    year = year_of(row, taken)
    traits = traits_of(row)
    framework = framework_as_ran(catalog, framework_id, year, traits)
    job = job_from(row, catalog, shape, method, precision, framework_id, taken)
    if shape.is_moe:
        taken.take("routing", "balanced")
    server = machine.server
    layout = layout_from(
        row,
        framework,
        shape,
        method,
        job.sequence_length,
        year,
        server.gpus_per_node,
        taken,
    )
    return Case(
        id=row.id,
        source=row.source,
        quality=row.text("quality").casefold() or "good",
        metrics=row.metrics,
        model=row.text("model"),
        gpu=machine.gpu.id,
        precision=precision,
        framework_id=framework_id,
        stack="tuned" if framework.constants.get("tuned", 1.0) >= 1.0 else "plain",
        year=year,
        shape=shape,
        time_shape=prediction_layers(row, shape, taken),
        job=job,
        framework=framework,
        framework_key=(framework_id, year, traits),
        hardware=hardware_of_machine(catalog, machine, precision, year),
        machine=machine,
        hardware_key=(
            machine.gpu.id,
            machine.gpu.tdp_w,
            server.id,
            server.network,
            server.network_gbps,
            precision,
            year,
        ),
        capacity_gib=machine.capacity_gib,
        layout=layout.columns,
        batch_scale=layout.batch_scale,
        measured=measured,
        assumed=dict(taken.taken),
    )
