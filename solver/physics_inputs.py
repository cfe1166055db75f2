"""From scenario and catalog entries to the plain inputs of the performance model."""

from __future__ import annotations

from dataclasses import fields
from itertools import product
from typing import TYPE_CHECKING, Any

from solver.optimizer_states import optimizer_from
from solver.performance.inputs import (
    BatchRamp,
    Framework,
    Offload,
    Optimizer,
    TrainingJob,
    TransformerShape,
)
from solver.units import GIB

if TYPE_CHECKING:
    from solver.catalog.load import Catalog
    from solver.catalog.schema import Architecture
    from solver.scenario.scenario import Scenario


EIGHT_BITS = ("fp8", "mxfp8")
"""Precisions in which weights can be kept in 8 bits."""


def shape_of(architecture: Architecture) -> TransformerShape:
    """The sizes of ``architecture`` as the performance model takes them."""
    return TransformerShape(
        **{f.name: getattr(architecture, f.name) for f in fields(TransformerShape)}
    )


def framework_of(catalog: Catalog, framework_id: str) -> Framework:
    """The traits of framework class ``framework_id``; base memory in bytes."""
    entry = catalog.frameworks[framework_id]
    values = {
        f.name: getattr(entry, f.name)
        for f in fields(Framework)
        if f.name not in ("name", "base_bytes") and f.name in type(entry).model_fields
    }
    return Framework(name=framework_id, base_bytes=entry.base_gib * GIB, **values)


def optimizer_of(
    catalog: Catalog,
    optimizer_id: str,
    shape: TransformerShape | None = None,
    adapter_rank: int = 0,
) -> Optimizer:
    """Bytes a parameter of an optimizer on a model, or on its adapters of a rank.

    Without a model they are those of the catalog, which for optimizers that see shapes
    are an estimate.
    """
    entry = catalog.optimizers[optimizer_id]
    if shape is not None:
        return optimizer_from(entry, shape, adapter_rank)
    return Optimizer(
        name=optimizer_id,
        state_bytes=entry.state_bytes,
        master_bytes=entry.master_bytes,
        paged=entry.paged,
    )


def jobs_of(scenario: Scenario, catalog: Catalog) -> tuple[TrainingJob, ...]:
    """All ways to train that ``scenario`` allows, the first named first.

    They share tokens, sequences and batch; `numerics_of` tells them apart.
    """
    work = scenario.workload
    offloads = [offload_of(*names) for names in work.offloads]
    choices = product(work.precisions, work.optimizers, offloads, work.losses)
    return tuple(
        _job(scenario, catalog, precision, optimizer, offload, loss)
        for precision, optimizer, offload, loss in choices
        if updates_on(catalog.optimizers[optimizer].on_host, offload)
    )


def offload_of(what: str, where: str = "host") -> Offload:
    """The offload that a scenario calls ``optimizer+activations`` and ``host``."""
    parts = what.split("+")
    return Offload(
        optimizer="optimizer" in parts,
        parameters="parameters" in parts,
        activations="activations" in parts,
        nvme=where == "nvme",
    )


def updates_on(on_host: bool, offload: Offload) -> bool:
    """Whether an optimizer runs where an offload puts its states."""
    return on_host or not offload.states


def job_of(scenario: Scenario, catalog: Catalog) -> TrainingJob:
    """The way to train that ``scenario`` names first."""
    return jobs_of(scenario, catalog)[0]


def numerics_of(job: TrainingJob) -> dict[str, Any]:
    """What a plan's layout says of a way to train; it tells a scenario's apart."""
    return {
        "precision": job.precision,
        "optimizer": job.optimizer.name,
        "offload": str(job.offload),
        "loss": job.loss,
    }


def _job(
    scenario: Scenario,
    catalog: Catalog,
    precision: str,
    optimizer: str,
    offload: Offload,
    loss: str,
) -> TrainingJob:
    work = scenario.workload
    shape = shape_of(scenario.architecture)
    rank = work.lora_rank if work.method != "full" else 0
    return TrainingJob(
        sequence_length=work.sequence_length,
        tokens=work.tokens,
        batch_min=work.batch_min,
        batch_target=work.batch_target,
        batch_max=work.batch_max,
        method=work.method,
        precision=precision,
        optimizer=optimizer_of(catalog, optimizer, shape, rank),
        lora_rank=rank,
        lora_targets=work.lora_targets,
        loss=loss,
        base=work.lora_base if work.method != "full" else "",
        attention_span=_attention_span(scenario),
        efficiency=work.efficiency,
        batch_ramp=None if work.batch_ramp is None else BatchRamp(*work.batch_ramp),
        offload=offload,
        gradient_precision=work.gradient_precision,
        fp8_weights=work.fp8_weights and precision in EIGHT_BITS,
    )


def _attention_span(scenario: Scenario) -> float:
    """Mean tokens that attention covers; 0: the sequence, with its padding."""
    if scenario.workload.packing == "padded":
        return 0.0
    return scenario.data.mean_document_tokens or 0.0
