"""From scenario and catalog entries to the plain inputs of the performance model."""

from __future__ import annotations

from dataclasses import fields
from itertools import product
from typing import TYPE_CHECKING, Any

from solver.optimizer_states import optimizer_from, without_copy
from solver.performance.adapters import base_of
from solver.performance.alignment_inputs import Alignment, GenerationEngine, Lengths
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
    alignments = alignments_of(scenario, catalog)
    choices = product(
        work.precisions,
        work.optimizers,
        work.master_weights,
        offloads,
        work.losses,
        alignments,
    )
    return tuple(
        _job(scenario, catalog, precision, optimizer, master, offload, loss, alignment)
        for precision, optimizer, master, offload, loss, alignment in choices
        if updates_on(catalog.optimizers[optimizer].on_host, offload)
    )


def alignments_of(scenario: Scenario, catalog: Catalog) -> tuple[Alignment | None, ...]:
    """What alignment adds, one for each number of rollout nodes; else None alone."""
    work = scenario.workload.alignment
    if work is None:
        return (None,)
    engine = engine_of(catalog)
    loop_rate = float(catalog.calibration["inference"]["loop_rate"])
    lengths = Lengths(
        work.prompt_tokens, work.response_tokens, work.longest_response, work.group
    )
    return tuple(
        Alignment(
            kind=work.kind,
            lengths=lengths,
            engine=engine,
            update_epochs=work.update_epochs,
            has_reference=work.reference != "none",
            reference_shared=work.reference == "shared",
            reward=shape_of(work.reward) if work.reward else None,
            critic=shape_of(work.critic) if work.critic else None,
            rollout_nodes=nodes,
            one_step_behind=work.one_step_behind and nodes > 0,
            memory_share=1.0 - scenario.constraints.memory_headroom,
            loop_rate=1.0 if work.kind == "dpo" else loop_rate,
        )
        for nodes in work.rollout_nodes
    )


def engine_of(catalog: Catalog) -> GenerationEngine:
    """What an inference engine reaches, of the catalog's calibration."""
    values = catalog.calibration["inference"]
    return GenerationEngine(
        weights_rate=values["weights_rate"],
        cache_rate=values["cache_rate"],
        matmul_rate=values["matmul_rate"],
        layer_s=values["layer_s"],
        step_s=values["step_s"],
        all_reduce_s=values["all_reduce_s"],
        workspace_bytes=values["workspace_gib"] * GIB,
        most_sequences=int(values["most_sequences"]),
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
        "master_weights": job.master_weights,
        "offload": str(job.offload),
        "loss": job.loss,
        "rollout_nodes": job.rollout_nodes,
        "base": base_of(job) if job.method != "full" else "none",
    }


def _job(
    scenario: Scenario,
    catalog: Catalog,
    precision: str,
    optimizer: str,
    master_weights: str,
    offload: Offload,
    loss: str,
    alignment: Alignment | None,
) -> TrainingJob:
    work = scenario.workload
    shape = shape_of(scenario.architecture)
    rank = work.lora_rank if work.method != "full" else 0
    group = work.alignment.group if work.alignment else 1
    states = optimizer_of(catalog, optimizer, shape, rank)
    return TrainingJob(
        sequence_length=work.sequence_length,
        tokens=work.tokens,
        batch_min=work.batch_min,
        batch_target=work.batch_target,
        batch_max=work.batch_max,
        method=work.method,
        precision=precision,
        optimizer=without_copy(states) if master_weights == "none" else states,
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
        batch_multiple=group,
        alignment=alignment,
    )


def _attention_span(scenario: Scenario) -> float:
    """Mean tokens that attention covers; 0: the sequence, with its padding."""
    work = scenario.workload
    if work.alignment is not None and work.alignment.kind == "dpo":
        return float(work.alignment.response_tokens)
    if work.packing == "padded":
        return 0.0
    return scenario.data.mean_document_tokens or 0.0
