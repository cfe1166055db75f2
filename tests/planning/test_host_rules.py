"""Tests of a host's rules of thumb and of one-node builds that are sold.

The builds and rules are those of a GPU host's articles: each is held against what the
model needs, and a build that the rule of its own seller would fail is none of them.
"""

from __future__ import annotations

from typing import Any

import pytest

from solver.plan import Plan
from solver.planning.single_job import plan_job
from tests.planning.jobs import A100, catalog, job

BUILDS: list[tuple[str, str, int, int, int, float, str, str]] = [
    ("7B fine-tune", "l40s", 2, 256, 24, 2, "llama-2-7b", "lora"),
    ("7B or 13B", "l40s", 4, 512, 48, 2, "llama-2-13b", "lora"),
    ("7B or 13B", "rtx-6000-ada", 4, 512, 48, 2, "llama-2-13b", "lora"),
    ("PCIe flagship", "h100-pcie-80gb", 4, 640, 48, 2, "llama-2-7b", "full"),
    ("33B", "a100-sxm-80gb", 8, 1000, 64, 8, "codellama-34b", "lora"),
    ("70B", "h200-sxm-141gb", 8, 2000, 64, 8, "llama-2-70b", "lora"),
]
"""Use, GPU, GPUs, RAM in GB, cores, NVMe in TB, and a job of that use."""


def build(
    gpu: str, gpus: int, ram: float, cores: int, nvme: float, **more: Any
) -> dict[str, Any]:
    """An offer of one such node."""
    return {
        "name": "build",
        "gpu": gpu,
        "gpus_per_node": gpus,
        "max_nodes": 1,
        "usd_per_gpu_hour": 1.0,
        "ram_gb": ram,
        "vcpus": 2 * cores,
        "local_nvme_tb": nvme,
        **more,
    }


def planned(offer: dict[str, Any], model: str, method: str, **data: Any) -> Plan:
    """The plan of a fine-tuning on one node."""
    work = {
        "method": method,
        "start": "checkpoint",
        "tokens": "10M",
        "sequence_length": 2048,
        "global_batch_size": 16,
    }
    if method == "full":
        work["optimizer"] = "adamw-8bit"
    found = job([offer], model=model, workload=work, data=data)
    plan = plan_job(found, catalog(), alternatives=0).plan
    assert plan is not None
    return plan


def warned(plan: Plan) -> set[str]:
    """Ids of its warnings."""
    return {message.id for message in plan.warnings}


@pytest.mark.parametrize("row", BUILDS, ids=lambda row: f"{row[0]}-{row[1]}")
def test_each_build_has_the_memory_drives_and_cores_of_its_use(
    row: tuple[str, str, int, int, int, float, str, str],
) -> None:
    """Tests the hosts sold: 1.5 times the GPU memory, and all that the job needs."""
    _, gpu, gpus, ram, cores, nvme, model, method = row
    plan = planned(build(gpu, gpus, ram, cores, nvme), model, method)
    host = plan.host
    assert host["ram_usual_low_gb"] is not None
    assert host["ram_needed_gb"] is not None
    assert host["ram_usual_low_gb"] <= ram
    assert host["ram_needed_gb"] <= ram
    assert not {"warning.host-ram", "warning.host-unknown"} & warned(plan)
    assert 2 * plan.checkpoint_gb / 1000 <= nvme
    assert plan.duration_parts_days["data_stall"] == 0


@pytest.mark.parametrize(
    ("ram", "warns"), [(959, True), (960, False), (1280, False), (None, True)]
)
def test_host_memory_is_1_5_to_2_times_that_of_the_gpus(
    ram: float | None, warns: bool
) -> None:
    """Tests the rule at its edge, and that a host of unknown memory is told."""
    offer = {**A100, "max_nodes": 1, "ram_gb": ram}
    plan = planned(offer, "llama-2-7b", "lora")
    assert (plan.host["ram_usual_low_gb"], plan.host["ram_usual_high_gb"]) == (
        960,
        1280,
    )
    wanted = "warning.host-unknown" if ram is None else "warning.host-ram"
    assert (wanted in warned(plan)) == warns


def test_gpu_decoding_helps_where_the_cpu_is_the_bottleneck() -> None:
    """Tests the rule of DALI: few cores starve many GPUs, which can decode."""
    offer = build("a100-sxm-80gb", 8, 1000, 16, 8)
    photos = {"kind": "image", "mean_document_tokens": 20}
    lean = planned(offer, "llama-3.2-1b", "lora", **photos)
    assert lean.input["bottleneck"] == "decoding"
    assert "warning.input-cure-gpu" in warned(lean)
    on_gpu = planned(offer, "llama-3.2-1b", "lora", **photos, decode="gpu")
    assert on_gpu.duration_parts_days["data_stall"] == 0


def test_gpudirect_spares_the_bounce_buffer() -> None:
    """Tests that drives in the GPUs' PCIe domain reach them faster than by the host."""
    photos = {"kind": "image", "mean_document_tokens": 20, "sample_bytes": "100 MB"}
    photos["decode_rate"] = 1e6
    rates = {}
    for tier in ("weka", "weka-gpudirect"):
        offer = build("l40s", 1, 256, 24, 2, storage=[tier])
        plan = planned(offer, "llama-3.2-1b", "lora", **photos)
        rates[tier] = plan.input["read_gb_per_s"]
    assert rates["weka-gpudirect"] > rates["weka"]


def test_a_100_gbps_link_a_gpu_is_usual_on_clusters() -> None:
    """Tests the reference servers of A100 and H100 with a fabric."""
    for server in catalog().servers.values():
        names = ("a100-sxm-80gb", "h100-sxm-80gb", "h200-sxm-141gb")
        if server.standard and server.network and server.gpu in names:
            assert server.network_gbps / server.gpus_per_node >= 100, server.id
