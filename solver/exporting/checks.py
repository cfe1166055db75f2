"""What no format can say, or only those that are made for it."""

from __future__ import annotations

from solver.exporting.pipeline import chunks
from solver.exporting.refusals import Refusals
from solver.exporting.run import Run

__all__ = ["refuse_broken", "refuse_other_jobs"]


def refuse_broken(run: Run, refusals: Refusals) -> None:
    """Refuse a layout that loses layers, GPUs or sequences, as an edited plan may."""
    layout = run.layout
    refusals.add(
        f"would run on {run.gpus} GPUs (tp x pp x cp x dp), and the plan rents "
        f"{run.nodes} x {run.gpus_per_node} to train",
        where=run.gpus != run.nodes * run.gpus_per_node,
    )
    batch = layout.micro_batch * layout.accumulation * layout.dp
    refusals.add(
        f"would take batches of {batch} (micro-batch x accumulation x dp), and the "
        f"plan has {layout.global_batch_size}",
        where=batch != layout.global_batch_size,
    )
    layers = sum(layout.layers_per_stage)
    stages = len(layout.layers_per_stage)
    refusals.add(
        f"would have {layers} layers on {stages} stages, and the model has "
        f"{run.architecture.layers}, the layout {layout.pp} stages",
        where=layers != run.architecture.layers or stages != layout.pp,
    )
    if stages == layout.pp:
        refusals.add(
            "would have a pipeline chunk without layers", where=min(chunks(layout)) < 1
        )


def refuse_other_jobs(run: Run, refusals: Refusals) -> None:
    """Refuse what is not training on sequences of text: alignment, other data."""
    kind = run.workload.kind
    refusals.add(
        f"trains on sequences of a data set here, and the plan runs {kind.upper()}",
        where=run.workload.alignment is not None,
    )
    refusals.add(
        f"trains on text here, and the plan's samples are {run.data_kind}",
        where=run.data_kind != "text",
    )
