"""What is trained: method, tokens, batch and software, with their defaults."""

from __future__ import annotations

from solver.catalog.schema import Architecture
from solver.scenario import lookup
from solver.scenario.batch import resolve_batch
from solver.scenario.parameters import active_parameters
from solver.scenario.places import resolve_places
from solver.scenario.quantities import DATA_BYTES, TOKENS
from solver.scenario.reading import Reading
from solver.scenario.scenario import DataSpec, Workload
from solver.scenario.schema import DataFileSpec, ScenarioFile, WorkloadSpec
from solver.yaml_source import DataPath

WORKLOAD: DataPath = ("workload",)

DEFAULT_SEQUENCE_LENGTH = 4096
TOKENS_PER_PARAMETER = 20
"""Compute-optimal training (Hoffmann et al. 2022, arXiv 2203.15556)."""
STAND_IN_TOKENS = 1e12
"""Takes the place of tokens that are missing or wrong, which is a logged fault."""

DEFAULT_FRAMEWORK = {
    ("full", "scratch"): "megatron",
    ("full", "checkpoint"): "pytorch-fsdp",
}
ADAPTER_FRAMEWORK = "hf-trainer"


def resolve_workload(
    file: ScenarioFile, architecture: Architecture | None, reading: Reading
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
    """
    spec = file.workload
    start = spec.start or ("scratch" if spec.method == "full" else "checkpoint")
    length = _sequence_length(spec, architecture, reading)
    tokens = _tokens(spec, file.data, length, architecture, reading)
    batch = resolve_batch(
        spec.global_batch_size,
        length,
        tokens,
        from_scratch=start == "scratch",
        reading=reading,
    )
    framework = _framework(spec, start, reading)
    return Workload(
        method=spec.method,
        start=start,
        tokens=STAND_IN_TOKENS if tokens is None else float(tokens),
        sequence_length=length,
        batch_min=batch.min,
        batch_target=batch.target,
        batch_max=batch.max,
        precision=spec.precision,
        optimizer=_optimizer(spec, framework, reading),
        framework=framework or "",
        lora_rank=spec.lora.rank if spec.lora else 16,
        lora_targets=tuple(dict.fromkeys(spec.lora.targets)) if spec.lora else (),
        efficiency=spec.efficiency,
    )


def resolve_data(file: ScenarioFile, workload: Workload, reading: Reading) -> DataSpec:
    """Return the training data; without a size it is tokens x bytes a token."""
    spec, size = file.data, file.data.size
    assumed = size is None
    if size is None:
        epochs = file.workload.epochs or 1.0
        size = workload.tokens / max(epochs, 1.0) * spec.bytes_per_token
        if size > DATA_BYTES.high:
            message = f"tokens x bytes a token: expected {DATA_BYTES}"
            reading.fault("out-of-range", message, ("data", "bytes_per_token"))
    place = resolve_places(spec, reading)
    return DataSpec(
        size_bytes=size,
        size_is_assumed=assumed,
        bytes_per_token=spec.bytes_per_token,
        mean_document_tokens=spec.mean_document_tokens,
        **place,
    )


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


def _tokens(
    spec: WorkloadSpec,
    data: DataFileSpec,
    sequence_length: int,
    architecture: Architecture | None,
    reading: Reading,
) -> float | None:
    """Return the tokens to train on, or None after logging why there are none."""
    if spec.tokens is not None:
        for key in ("samples", "epochs"):
            if getattr(spec, key) is not None:
                message = f"say tokens or samples and epochs, not tokens and {key}"
                reading.fault("conflicting-keys", message, (*WORKLOAD, key), key=True)
        if spec.tokens != "compute-optimal":
            return float(spec.tokens)
        return _compute_optimal(architecture, reading)
    if spec.samples is None:
        message = "'tokens' is needed, or 'samples' of a data set"
        path = (*WORKLOAD, "tokens")
        reading.fault("missing-key", message, path, depends_on=[(*WORKLOAD, "samples")])
        return None
    return _sampled(spec, data, sequence_length, reading)


def _compute_optimal(
    architecture: Architecture | None, reading: Reading
) -> float | None:
    """Return the tokens of compute-optimal training."""
    if architecture is None:
        return None
    tokens = TOKENS_PER_PARAMETER * active_parameters(architecture)
    reading.notice(
        "notice.tokens.compute-optimal",
        tokens=tokens,
        parameters=active_parameters(architecture),
        tokens_per_parameter=TOKENS_PER_PARAMETER,
    )
    return tokens


def _sampled(
    spec: WorkloadSpec, data: DataFileSpec, sequence_length: int, reading: Reading
) -> float:
    """Return the tokens of a data set's samples and epochs."""
    mean = data.mean_document_tokens
    length = sequence_length if mean is None else min(mean, sequence_length)
    samples, epochs = spec.samples or 0.0, spec.epochs or 1.0
    tokens = samples * epochs * length
    if tokens > TOKENS.high:
        message = f"samples x epochs x tokens a sample: expected {TOKENS}"
        path = (*WORKLOAD, "samples")
        depends = [(*WORKLOAD, "epochs"), (*WORKLOAD, "sequence_length")]
        reading.fault("out-of-range", message, path, depends_on=depends)
    kind = "full" if mean is None else "packed"
    reading.notice(
        f"notice.tokens.samples.{kind}",
        samples=samples,
        epochs=epochs,
        length=length,
        tokens=tokens,
    )
    return tokens


def _framework(spec: WorkloadSpec, start: str, reading: Reading) -> str | None:
    """Return the id of the framework; None after logging that it is unknown."""
    if spec.framework is None:
        return DEFAULT_FRAMEWORK.get((spec.method, start), ADAPTER_FRAMEWORK)
    return lookup.framework(reading, spec.framework, (*WORKLOAD, "framework"))


def _optimizer(spec: WorkloadSpec, framework: str | None, reading: Reading) -> str:
    """Return the id of the optimizer; by default the framework's."""
    path = (*WORKLOAD, "optimizer")
    if spec.optimizer is not None:
        return lookup.optimizer(reading, spec.optimizer, path) or ""
    entry = reading.catalog.frameworks.get(framework or "")
    return entry.default_optimizer if entry is not None else "adamw"
