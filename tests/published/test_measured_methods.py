"""One published run of each method, written as a scenario and estimated as one.

Rows of catalog/measurements/memory.csv by their ids; measured is the peak of what the
framework allocated or reserved, which an estimate's total must meet within the model's
known error.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from solver.planning.estimate import EstimatePins, estimate
from tests.planning.jobs import catalog, job


@dataclass(frozen=True)
class Run:
    """A measured run as a user would state it."""

    model: str
    gpu: str
    work: dict[str, Any]
    gib: float
    gpus: int = 1
    pins: dict[str, Any] = field(default_factory=dict)
    within: float = 0.10


RUNS: dict[str, Run] = {
    "fmsaccel-0009, all weights in pure bf16": Run(
        "mistral-7b-v0.1",
        "a100-sxm-80gb",
        {
            "start": "checkpoint",
            "framework": "hf-trainer",
            "optimizer": "adamw-bf16",
            "sequence_length": 4096,
            "global_batch_size": 4,
        },
        67.46,
        pins={"micro_batch": 4, "recompute": "full"},
    ),
    "fmsaccel-0010, the same sharded": Run(
        "mistral-7b-v0.1",
        "a100-sxm-80gb",
        {
            "start": "checkpoint",
            "framework": "hf-trainer",
            "optimizer": "adamw-bf16",
            "sequence_length": 4096,
            "global_batch_size": 4,
        },
        33.74,
        gpus=2,
        pins={"micro_batch": 2, "recompute": "full", "zero_stage": 3},
    ),
    "fmsaccel-0185, fp32 weights sharded, a fused loss": Run(
        "llama-3-8b",
        "a100-sxm-80gb",
        {
            "start": "checkpoint",
            "framework": "hf-trainer",
            "sequence_length": 4096,
            "global_batch_size": 8,
            "loss": "chunked",
        },
        74.80,
        gpus=2,
        pins={"micro_batch": 4, "recompute": "full", "zero_stage": 3},
    ),
    "fsdpq-0012, QLoRA with weights on the host": Run(
        "yi-34b",
        "rtx-3090",
        {
            "method": "qlora",
            "framework": "pytorch-fsdp",
            "sequence_length": 2048,
            "global_batch_size": 8,
            "lora": {"rank": 64},
            "offload": "parameters",
        },
        22.98,
        gpus=2,
        pins={"micro_batch": 4, "recompute": "full", "zero_stage": 3},
    ),
    "litgpt-0017, LoRA": Run(
        "llama-2-7b",
        "a10g",
        {
            "method": "lora",
            "framework": "pytorch-fsdp",
            "sequence_length": 512,
            "global_batch_size": 8,
            "lora": {"rank": 32, "targets": ["q", "v"]},
        },
        18.41,
        pins={"micro_batch": 2, "recompute": "none"},
    ),
    "litgpt-0019, QLoRA": Run(
        "llama-2-7b",
        "a10g",
        {
            "method": "qlora",
            "framework": "pytorch-fsdp",
            "sequence_length": 512,
            "global_batch_size": 8,
            "lora": {"rank": 32, "targets": ["q", "v"]},
        },
        12.74,
        pins={"micro_batch": 2, "recompute": "none"},
    ),
    "fsdpq-0006, QLoRA sharded": Run(
        "llama-2-7b",
        "rtx-3090",
        {
            "method": "qlora",
            "framework": "pytorch-fsdp",
            "sequence_length": 2048,
            "global_batch_size": 20,
            "lora": {"rank": 64},
        },
        20.97,
        gpus=2,
        pins={"micro_batch": 10, "recompute": "full", "zero_stage": 3},
    ),
}


@pytest.mark.parametrize("name", RUNS)
def test_a_measured_run(name: str) -> None:
    """Tests the peak of a run against what was measured."""
    run = RUNS[name]
    offer = {"name": "own", "gpu": run.gpu, "gpus_per_node": run.gpus, "region": "us"}
    scenario = job([offer], workload=run.work, model=run.model)
    found = estimate(scenario, catalog(), EstimatePins(nodes=1, **run.pins))
    assert found.memory_gib["total"] == pytest.approx(run.gib, rel=run.within)
