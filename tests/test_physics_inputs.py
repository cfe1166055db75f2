"""Tests of the way from catalog and scenario to the performance model's inputs."""

from __future__ import annotations

import math
from dataclasses import fields, replace

import numpy as np
import pytest

from solver.performance.inputs import Framework, TransformerShape
from solver.performance.ramp import run_steps
from solver.performance.transformer import parameter_count
from solver.physics_inputs import (
    framework_of,
    job_of,
    optimizer_of,
    shape_of,
)
from tests.planning.jobs import TOY, catalog, job


def test_a_shape_has_every_size_of_its_architecture() -> None:
    """Tests that no field of any shipped model is lost or renamed."""
    for name in ("llama-2-7b", "deepseek-v3", "mixtral-8x7b-v0.1", "gpt2"):
        entry = catalog().architecture(name)
        shape = shape_of(entry)
        for f in fields(TransformerShape):
            assert getattr(shape, f.name) == getattr(entry, f.name), (name, f.name)


@pytest.mark.parametrize(
    ("name", "billions"),
    [
        ("llama-2-7b", 6.738),
        ("llama-2-70b", 68.977),
        ("llama-3-8b", 8.030),
        ("mixtral-8x7b-v0.1", 46.703),
        ("gpt2", 0.12444),
        ("qwen2.5-32b", 32.764),
        ("deepseek-v3", 671.026),
    ],
)
def test_known_models_have_their_published_size(name: str, billions: float) -> None:
    """Tests the parameters that come out against the models' published counts."""
    count = parameter_count(shape_of(catalog().architecture(name))) / 1e9
    assert count == pytest.approx(billions, rel=0.002)


def test_an_inline_model_is_taken_as_written() -> None:
    """Tests that the toy's sizes arrive, heads of 64 and all."""
    shape = shape_of(job().architecture)
    assert {k: getattr(shape, k) for k in TOY} == TOY
    assert shape.head_dim == 64


def test_a_framework_has_its_name_and_base_in_bytes() -> None:
    """Tests that every trait is the entry's, and GiB become bytes."""
    for name, entry in catalog().frameworks.items():
        made = framework_of(catalog(), name)
        assert made.name == name
        assert made.base_bytes == entry.base_gib * 2**30 > 0
        for f in fields(Framework):
            if f.name not in ("name", "base_bytes"):
                assert getattr(made, f.name) == getattr(entry, f.name), (name, f.name)


def test_adam_keeps_8_bytes_and_8_bit_adam_2() -> None:
    """Tests the moments of the optimizers, and which page them to the host."""
    found = {name: optimizer_of(catalog(), name) for name in catalog().optimizers}
    assert found["adamw"].state_bytes == 8
    assert found["adamw-8bit"].state_bytes == pytest.approx(2, abs=0.1)
    assert found["paged-adamw"].paged
    assert not found["adamw"].paged
    assert all(o.name == name for name, o in found.items())


def test_a_job_is_the_scenarios_workload() -> None:
    """Tests tokens, batch, precision and span of a job."""
    made = job_of(job(data={"mean_document_tokens": 700}), catalog())
    assert (made.tokens, made.sequence_length) == (5e9, 2048)
    assert (made.batch_min, made.batch_target, made.batch_max) == (64, 64, 64)
    assert (made.method, made.precision) == ("full", "bf16")
    assert made.optimizer.name == "adamw"
    assert made.attention_span == 700
    assert job_of(job(), catalog()).attention_span == 0


def test_rank_counts_only_where_there_are_adapters() -> None:
    """Tests that full training has no rank, LoRA 16 or what is stated."""
    assert job_of(job(), catalog()).lora_rank == 0
    assert job_of(job(workload={"method": "lora"}), catalog()).lora_rank == 16
    stated = job(
        workload={"method": "qlora", "lora": {"rank": 64, "targets": ["q", "v"]}}
    )
    made = job_of(stated, catalog())
    assert (made.lora_rank, made.lora_targets) == (64, ("q", "v"))


def test_a_tolerance_is_a_range_of_batches() -> None:
    """Tests that 64 within 10 % are 58 to 70 sequences."""
    written = {"sequences": 64, "tolerance": "10%"}
    made = job_of(job(workload={"global_batch_size": written}), catalog())
    assert made.batch_target == 64
    assert (made.batch_min, made.batch_max) == (
        math.ceil(64 * 0.9),
        math.floor(64 * 1.1),
    )


@pytest.mark.parametrize(
    ("tokens", "sequence", "batch", "steps"),
    [
        (4096 * 1024, 4096, 1024, 1),
        (4096 * 1024 + 1, 4096, 1024, 2),
        (1, 4096, 1024, 1),
        (2e12, 4096, 1024, 476_838),
        (5e9, 2048, 64, 38_147),
    ],
)
def test_a_part_of_a_step_is_a_step(
    tokens: float, sequence: int, batch: int, steps: int
) -> None:
    """Tests that the last, partial step counts whole."""
    made = replace(job_of(job(), catalog()), tokens=tokens, sequence_length=sequence)
    assert run_steps(made, np.array([batch]))[0] == steps
