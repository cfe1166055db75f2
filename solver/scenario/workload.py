"""What is trained: method, tokens, batch and software, with their defaults."""

from __future__ import annotations

from importlib.resources.abc import Traversable
from pathlib import Path

from solver.catalog.schema import Architecture
from solver.scenario import lookup
from solver.scenario.alignment import (
    aligned_batch,
    aligned_tokens,
    check_groups,
    check_start,
    kind_of,
    resolve_alignment,
    train_of,
)
from solver.scenario.batch import resolve_batch
from solver.scenario.datasets import resolve_tokens, useful_share
from solver.scenario.loading import resolve_loading
from solver.scenario.offloads import resolve_offloads
from solver.scenario.places import resolve_places
from solver.scenario.quantities import DATA_BYTES
from solver.scenario.ramp import resolve_ramp
from solver.scenario.reading import Reading
from solver.scenario.scenario import DataSpec, Workload
from solver.scenario.schema import ScenarioFile, Train, WorkloadSpec
from solver.yaml_source import DataPath

WORKLOAD: DataPath = ("workload",)

DEFAULT_SEQUENCE_LENGTH = 4096
STAND_IN_TOKENS = 1e12
"""Takes the place of tokens that are missing or wrong, which is a logged fault."""

DEFAULT_FRAMEWORK = {
    ("full", "scratch"): "megatron",
    ("full", "checkpoint"): "pytorch-fsdp",
}
ADAPTER_FRAMEWORK = "hf-trainer"


def resolve_workload(
    file: ScenarioFile,
    architecture: Architecture | None,
    reading: Reading,
    base: Traversable | Path | None = None,
) -> Workload:
    """Return the workload in canonical units, its names resolved.

    Parameters
    ----------
    file
        The scenario as written.
    architecture
        What is trained; None if the scenario's model is wrong.
    reading
        Takes faults and notices.
    base
        Folder that a path to another model is relative to.
    """
    spec, method = file.workload, train_of(file, reading)
    start = spec.start or ("scratch" if spec.method == "full" else "checkpoint")
    aligned = resolve_alignment(file, architecture, base, reading)
    written = spec.global_batch_size
    if aligned is None:
        length = _sequence_length(spec, architecture, reading)
        tokens = resolve_tokens(file, length, architecture, reading)
    else:
        length = aligned.sequence_length
        tokens = aligned_tokens(file, aligned, reading)
        written = aligned_batch(file, aligned, tokens, reading)
    batch = resolve_batch(
        written,
        length,
        tokens,
        from_scratch=start == "scratch",
        reading=reading,
    )
    ramp = resolve_ramp(spec.batch_ramp, batch, length, tokens, reading)
    check_start(file, reading)
    if aligned is not None and not isinstance(written, int):
        check_groups(aligned.work, batch.min, batch.max, reading)
    framework = _framework(spec, method, start, reading)
    optimizers = _optimizers(spec, framework, reading)
    return Workload(
        method=_quantised(method, spec, reading),
        start=start,
        tokens=STAND_IN_TOKENS if tokens is None else float(tokens),
        sequence_length=length,
        batch_min=batch.min,
        batch_target=batch.target,
        batch_max=batch.max,
        precisions=tuple(dict.fromkeys(spec.precision)) or ("bf16",),
        optimizers=optimizers,
        gradient_precision=spec.gradient_precision or "",
        fp8_weights=spec.fp8_weights,
        master_weights=tuple(dict.fromkeys(spec.master_weights)) or ("",),
        offloads=resolve_offloads(spec, framework, optimizers, reading),
        framework=framework or "",
        losses=_losses(spec, framework, reading),
        lora_rank=spec.lora.rank if spec.lora else 16,
        lora_targets=tuple(dict.fromkeys(spec.lora.targets)) if spec.lora else (),
        lora_base=_quantised_base(spec),
        efficiency=spec.efficiency,
        packing=spec.packing or "packed",
        batch_ramp=ramp,
        kind=kind_of(file),
        alignment=aligned.work if aligned else None,
    )


def resolve_data(file: ScenarioFile, workload: Workload, reading: Reading) -> DataSpec:
    """Return the training data; without a size it is tokens x bytes a token."""
    spec, size = file.data, file.data.size
    assumed = size is None
    useful = useful_share(file, workload.sequence_length)
    each, loading = resolve_loading(file, workload, useful, reading)
    if size is None:
        epochs = file.workload.epochs or 1.0
        size = workload.tokens / max(epochs, 1.0) * each
        if size > DATA_BYTES.high:
            message = f"tokens x bytes a token: expected {DATA_BYTES}"
            reading.fault("out-of-range", message, ("data", "bytes_per_token"))
    place = resolve_places(spec, reading)
    return DataSpec(
        size_bytes=size,
        size_is_assumed=assumed,
        bytes_per_token=each,
        useful_share=useful,
        mean_document_tokens=spec.mean_document_tokens,
        loading=loading,
        **place,
    )


def _losses(
    spec: WorkloadSpec, framework: str | None, reading: Reading
) -> tuple[str, ...]:
    """Return how the loss may be taken; by default as the framework does it."""
    if spec.loss:
        return tuple(dict.fromkeys(spec.loss))
    entry = reading.catalog.frameworks.get(framework or "")
    return (entry.losses[0] if entry is not None else "whole",)


def _quantised_base(spec: WorkloadSpec) -> str:
    """Return the quantised format of the frozen base, where one is stated."""
    base = spec.lora.base if spec.lora else None
    return base if base not in (None, "bf16") else ""


def _quantised(method: Train, spec: WorkloadSpec, reading: Reading) -> Train:
    """Return how weights train; adapters on a quantised base are qlora."""
    base = _quantised_base(spec)
    if method != "lora" or not base:
        return method
    if not reading.is_broken((*WORKLOAD, "lora", "base")):
        reading.notice("notice.lora.quantised", base=base)
    return "qlora"


def _sequence_length(
    spec: WorkloadSpec, architecture: Architecture | None, reading: Reading
) -> int:
    """Return the tokens of a sequence; tell when they exceed the model's positions."""
    longest = architecture.max_seq if architecture is not None else None
    if spec.sequence_length is None:
        length = min(DEFAULT_SEQUENCE_LENGTH, longest or DEFAULT_SEQUENCE_LENGTH)
        if not reading.is_broken((*WORKLOAD, "sequence_length")):
            reading.notice("notice.sequence.default", sequence_length=length)
        return length
    if longest is not None and spec.sequence_length > longest:
        reading.notice(
            "notice.sequence.too-long",
            sequence_length=spec.sequence_length,
            max_seq=longest,
        )
    return spec.sequence_length


def _framework(
    spec: WorkloadSpec, method: str, start: str, reading: Reading
) -> str | None:
    """Return the id of the framework; None after logging that it is unknown."""
    if spec.framework is None:
        return DEFAULT_FRAMEWORK.get((method, start), ADAPTER_FRAMEWORK)
    return lookup.framework(reading, spec.framework, (*WORKLOAD, "framework"))


def _optimizers(
    spec: WorkloadSpec, framework: str | None, reading: Reading
) -> tuple[str, ...]:
    """Return the ids of the optimizers allowed; by default the framework's."""
    path = (*WORKLOAD, "optimizer")
    found = tuple(
        lookup.optimizer(reading, name, place) or ""
        for place, name in reading.items(path, spec.optimizer)
    )
    if found:
        return tuple(dict.fromkeys(found))
    entry = reading.catalog.frameworks.get(framework or "")
    return (entry.default_optimizer if entry is not None else "adamw",)
