"""Tests that each warning appears when it should and only then, and of sources."""

from __future__ import annotations

from typing import Any

import pytest

from solver.messages.en import MESSAGES
from solver.plan import Plan
from solver.planning.single_job import plan_job
from solver.provenance import is_estimate
from tests.planning.jobs import A100, H100, TOY, catalog, job

QUIET: dict[str, Any] = {**A100, "ram_gb": 2048}
"""A100 nodes with known stock, enough host memory and a stated price."""

UNKNOWN = {k: v for k, v in QUIET.items() if k != "max_nodes"}
FREE = {k: v for k, v in QUIET.items() if k != "usd_per_gpu_hour"}
ALONE = {k: v for k, v in UNKNOWN.items() if k != "network"}
ONE_NODE = {k: v for k, v in QUIET.items() if k != "network"} | {"max_nodes": 1}
SLICE = {k: v for k, v in ONE_NODE.items() if k != "gpus_per_node"}
"""One slice of an A100, or the card itself."""
FP16 = {"workload": {"precision": "fp16"}}
AWAY = {"framework": "deepspeed", "offload": "optimizer"}
WITH_PEERS = {"catalog": "include", "constraints": {"providers": ["a"]}}

FAR: dict[str, Any] = {
    "offers": [{**QUIET, "max_nodes": 400}],
    "constraints": {"gpus": {"min": 3200}, "parallelism": {"tp": 1}},
    "workload": {"global_batch_size": 3200},
}
OCI = {"constraints": {"providers": ["oci"]}}

LEAN = {**QUIET, "vcpus": 32}
"""The same with few cores for so many GPUs."""
AMPLE = {**QUIET, "vcpus": 4096}
DEAR = "aws-fsx-lustre-1000"
"""Fast storage that costs more than waiting for slow one, where there is much data."""

PHOTOS = {"data": {"kind": "image", "mean_document_tokens": 100}}
PHOTOS_OF_1_GB = {"data": {**PHOTOS["data"], "sample_bytes": "1 GB", "size": "1 TB"}}
MUCH_OF_1_MB = {
    "data": {**PHOTOS["data"], "sample_bytes": "1 MB", "size": "1000 TB"},
}
ON_GPU = {"data": {**PHOTOS["data"], "decode": "gpu", "decode_rate": 50}}
ONE_WORKER = {"data": {**PHOTOS["data"], "workers": 1}}
CLIPS = {"data": {**PHOTOS["data"], "kind": "video", "sample_bytes": "1 MB"}}
CLIPS["data"]["decode_rate"] = 10

IN_FOUR = {"constraints": {"parallelism": {"pp": 4}}}

GRPO: dict[str, Any] = {
    "method": "grpo",
    "tokens": None,
    "samples": 20_000,
    "sequence_length": 512,
    "alignment": {"placement": "together"},
}

LONG = {"workload": {"tokens": "500B"}}

TINY_SPOT: dict[str, Any] = {
    **QUIET,
    "max_nodes": 64,
    "spot_usd_per_gpu_hour": 1.0,
    "storage": ["local-nvme-gen4"],
    "min_nodes": 64,
}
"""Many spot nodes whose checkpoints are lost with them."""

Keys = dict[str, Any]


def plan_of(**keys: Any) -> Plan:
    """The plan of the toy job."""
    plan = plan_job(job(**keys), catalog(), alternatives=0).plan
    assert plan is not None
    return plan


def warned(**keys: Any) -> set[str]:
    """Ids of the plan's warnings, without notices of the scenario."""
    return {m.id for m in plan_of(**keys).warnings if m.id.startswith("warning.")}


def own(offer: dict[str, Any], **keys: Any) -> Keys:
    """Keys of a scenario with one offer."""
    return {"offers": [offer], **keys}


BOUGHT: dict[str, Any] = {
    "usd_per_gpu_hour": None,
    "buy_usd_per_node": 200_000,
    "years": 4,
}
"""Nodes that are bought, not rented."""


CASES: list[tuple[str, Keys, Keys]] = [
    ("stock-assumed", own(UNKNOWN), own(QUIET)),
    ("stock-no-fabric", own(ALONE), own(UNKNOWN)),
    ("stock-no-fabric", own(ALONE), own({**ALONE, "max_nodes": 1})),
    (
        "stock-marketplace",
        own({}, offers=[], constraints={"providers": ["vast"]}),
        own({}, offers=[], constraints={"providers": ["coreweave"]}),
    ),
    (
        "spot",
        own(
            {**QUIET, "spot_usd_per_gpu_hour": 1.0},
            constraints={"purchase": ["spot"]},
        ),
        own({**QUIET, "spot_usd_per_gpu_hour": 1.0}),
    ),
    (
        "spot-moment",
        own({}, offers=[], constraints={"providers": ["aws"], "purchase": ["spot"]}),
        own({}, offers=[], constraints={"providers": ["nebius"], "purchase": ["spot"]}),
    ),
    (
        "lost-spot",
        {"offers": [TINY_SPOT], **LONG, "constraints": {"purchase": ["spot"]}},
        {"offers": [TINY_SPOT], **LONG, "constraints": {"purchase": ["on_demand"]}},
    ),
    (
        "lost",
        {"offers": [TINY_SPOT], **LONG, "failures": {"gpu_mtbf": "20000 hours"}},
        {"offers": [TINY_SPOT], **LONG},
    ),
    (
        "node-power",
        own({**FREE, "usd_per_kwh": 0.1, "pue": 1.2}),
        own({**FREE, "usd_per_kwh": 0.1, "pue": 1.2, "node_power": "5 kW"}),
    ),
    (
        "pue",
        own({**FREE, "usd_per_kwh": 0.1, "node_power": "5 kW"}),
        own({**FREE, "node_power": "5 kW"}),
    ),
    (
        "price-estimate",
        own({}, offers=[], constraints={"providers": ["coreweave"]}),
        own({}, offers=[], constraints={"providers": ["nebius"]}),
    ),
    (
        "storage-price-unknown",
        own({**QUIET, "storage": ["lustre"]}),
        own({**QUIET, "storage": ["local-nvme-gen4"]}),
    ),
    (
        "low-mfu",
        own({**UNKNOWN, "max_nodes": 64}, objective="time"),
        own(QUIET),
    ),
    (
        "alignment.loop",
        own(QUIET, workload=GRPO),
        own(QUIET, workload={**GRPO, "method": "dpo", "alignment": {}}),
    ),
    (
        "alignment.engine-copy",
        own(QUIET, workload={**GRPO, "train": "qlora"}),
        own(QUIET, workload=GRPO),
    ),
    (
        "alignment.engine-copy",
        own(QUIET, workload={**GRPO, "train": "lora"}),
        own(
            QUIET,
            workload={**GRPO, "train": "lora", "alignment": {"placement": "apart"}},
        ),
    ),
    (
        "pcie-assumed",
        own(
            {**QUIET, "gpu": "a40", "gpus_per_node": 4, "intra_node": "nvlink3-bridge"}
        ),
        own({**QUIET, "gpu": "a40", "gpus_per_node": 4, "intra_node": "pcie4"}),
    ),
    ("gpu-estimate", own({**QUIET, "gpu": "mi300x", "ram_gb": 4096}), own(QUIET)),
    ("gpu-estimate", own({**QUIET, "gpu": "t4"}, **FP16), own(QUIET, **FP16)),
    ("efficiency", own(QUIET, workload={"efficiency": 0.8}), own(QUIET)),
    (
        "efficiency-held",
        own(QUIET, workload={"efficiency": 1.2}),
        own(QUIET, workload={"efficiency": 1.05}),
    ),
    ("gpu-unmeasured", own({**QUIET, "gpu": "a100-pcie-80gb"}), own(QUIET)),
    # a slice is predicted from its own card, which is measured or not
    (
        "gpu-unmeasured",
        own({**SLICE, "gpu": "a30", "slice": "4g.24gb"}),
        own({**SLICE, "slice": "3g.40gb"}),
    ),
    (
        "combination-unmeasured",
        own(QUIET, workload={"framework": "torchtitan"}),
        own(QUIET, workload={"framework": "pytorch-fsdp"}),
    ),
    (
        "combination-unmeasured",
        own({**QUIET, "gpu": "h100-sxm-80gb"}, **FP16),
        own({**QUIET, "gpu": "h100-sxm-80gb"}),
    ),
    # the largest run on A100 had 3,072 GPUs
    ("scale-unmeasured", FAR, own(QUIET)),
    (
        "no-ecc",
        own({**QUIET, "gpu": "rtx-5090"}),
        own({**QUIET, "gpu": "rtx-4090"}),
    ),
    ("no-ecc", own({**QUIET, "gpu": "rtx-3090"}), own({**QUIET, "gpu": "l40s"})),
    (
        "ecc-off",
        own({**QUIET, "gpu": "rtx-4090"}),
        own({**QUIET, "gpu": "l40s"}),
    ),
    (
        "no-peer",
        own({**QUIET, "gpu": "rtx-4090"}),
        own({**QUIET, "gpu": "rtx-6000-ada"}),
    ),
    ("input-storage", own(LEAN, **PHOTOS_OF_1_GB), own(LEAN, **PHOTOS)),
    (
        "input-cure-tier",
        own({**AMPLE, "storage": ["nfs-10gbe", DEAR]}, **MUCH_OF_1_MB),
        own({**AMPLE, "storage": ["nfs-10gbe"]}, **MUCH_OF_1_MB),
    ),
    ("input-decoding-cpu", own(LEAN, **PHOTOS), own(AMPLE, **PHOTOS)),
    ("input-decoding-gpu", own(LEAN, **ON_GPU), own(LEAN, **PHOTOS)),
    ("input-cure-gpu", own(LEAN, **PHOTOS), own(LEAN, **CLIPS)),
    ("input-cure-cores", own(LEAN, **CLIPS), own(LEAN, **ON_GPU)),
    ("input-cure-workers", own(LEAN, **ONE_WORKER), own(LEAN, **PHOTOS)),
    ("input-cores-unknown", own(QUIET, **PHOTOS), own(LEAN, **PHOTOS)),
    (
        "no-peer",
        own({**QUIET, "gpu": "rtx-5090"}),
        own({**ONE_NODE, "gpu": "rtx-5090", "gpus_per_node": 1}),
    ),
    (
        "pairs-only",
        own(
            {**QUIET, "gpu": "a40", "gpus_per_node": 4, "intra_node": "nvlink3-bridge"}
        ),
        own(
            {**QUIET, "gpu": "a40", "gpus_per_node": 2, "intra_node": "nvlink3-bridge"}
        ),
    ),
    ("pcie-only", own({**QUIET, "gpu": "l40s"}), own(QUIET)),
    (
        "pcie-only",
        own({**ONE_NODE, "gpu": "l40s", "gpus_per_node": 2}),
        own({**ONE_NODE, "gpu": "l40s", "gpus_per_node": 1}),
    ),
    (
        "geforce-licence",
        own({**QUIET, "gpu": "rtx-3090"}),
        own({**QUIET, "gpu": "rtx-a6000"}),
    ),
    (
        "slice",
        own({**SLICE, "slice": "3g.40gb"}),
        own({**SLICE, "gpus_per_node": 1}),
    ),
    (
        "slice-memory",
        own({**SLICE, "gpu": "h100-pcie-80gb", "slice": "3g.40gb"}),
        own({**SLICE, "slice": "3g.40gb"}),
    ),
    (
        "layers-uneven",
        own(QUIET, model={**TOY, "layers": 10}, **IN_FOUR),
        own(QUIET, **IN_FOUR),
    ),
    (
        "vocabulary-padded",
        own(QUIET, constraints={"parallelism": {"tp": 8}}),
        own(QUIET, constraints={"parallelism": {"tp": 1}}),
    ),
    (
        "kv-replicated",
        own(QUIET, constraints={"parallelism": {"tp": 8}}),
        own(QUIET, constraints={"parallelism": {"tp": 4}}),
    ),
    (
        "whole-units",
        own({**FREE, "usd_per_node_month": 7300}),
        own(QUIET),
    ),
    (
        "price-outlier",
        own({**QUIET, "usd_per_gpu_hour": 0.01}, **WITH_PEERS),
        own({**QUIET, "usd_per_gpu_hour": 1.5}, **WITH_PEERS),
    ),
    (
        "local-drives",
        own({**QUIET, "max_nodes": 4}, objective="time"),
        own(QUIET, constraints={"gpus": {"max": 8}}),
    ),
    (
        "few-steps",
        own(QUIET, workload={"tokens": "60M"}),
        own(QUIET, workload={"tokens": "70M"}),
    ),
    (
        "quota-unknown",
        own(QUIET, stock={"quota": [{"max_vcpus": 8}]}),
        own({**QUIET, "vcpus": 8}, stock={"quota": [{"max_vcpus": 8}]}),
    ),
    ("term", own({**QUIET, "min_term": "30 days"}), own(QUIET)),
    ("term-passed", own({**QUIET, "min_term": "1 hours"}), own(QUIET)),
    (
        "price-age",
        own({}, offers=[], **OCI, limits={"price_age": "1 day"}),
        own({}, offers=[], **OCI, limits={"price_age": "9000 days"}),
    ),
    (
        "transfer-assumed",
        own(QUIET, data={"location": "aws/us-east-1"}),
        own(QUIET, data={"location": "aws/us-east-1", "transfer": 9}),
    ),
    (
        "egress-unknown",
        own(QUIET, serving={"regions": ["aws/us-east-1"]}),
        own(QUIET, data={"location": "aws/us-east-1"}),
    ),
    (
        "outlay",
        own({**QUIET, **BOUGHT}, constraints={"budget": 100_000}),
        own({**QUIET, **BOUGHT}, constraints={"budget": 9_000_000}),
    ),
    ("host-unknown", own({**QUIET, "ram_gb": None}), own(QUIET)),
    # 8 cards of 80 GB: 1.5 times is 960 GB
    # 0.25 billion parameters of 16 bytes and 8 processes of 4 GB
    (
        "offload-host",
        own({**QUIET, "max_nodes": 1, "ram_gb": 36.5}, workload=AWAY),
        own({**QUIET, "max_nodes": 1, "ram_gb": 2048}, workload=AWAY),
    ),
    (
        "offload-slow",
        own({**QUIET, "vcpus": 2}, workload=AWAY),
        own({**QUIET, "vcpus": 256}, workload={**AWAY, "global_batch_size": 4096}),
    ),
    (
        "way-chosen",
        own(QUIET, workload={"optimizer": ["adamw", "sgd"]}),
        own(QUIET, workload={"offload": ["none", "optimizer"]}),
    ),
    ("host-ram", own({**QUIET, "ram_gb": 959}), own({**QUIET, "ram_gb": 960})),
]


@pytest.mark.parametrize(("name", "with_it", "without_it"), CASES)
def test_a_warning_when_and_only_when(
    name: str, with_it: Keys, without_it: Keys
) -> None:
    """Tests a plan that has to warn and its neighbour that has not."""
    assert f"warning.{name}" in warned(**with_it)
    assert f"warning.{name}" not in warned(**without_it)


def test_every_warning_has_a_case() -> None:
    """Tests that a new warning can't be forgotten here."""
    known = {key.removeprefix("warning.") for key in MESSAGES if key[:8] == "warning."}
    assert known == {name for name, *_ in CASES}


def test_a_plain_plan_warns_of_nothing() -> None:
    """Tests that all known, measured and stated leaves nothing to say."""
    assert warned(**own(QUIET)) == set()


def test_old_prices_are_told_by_what_they_are_of() -> None:
    """Tests that servers, storage and egress each have the age of their own price."""
    keys = own(
        {},
        offers=[],
        **OCI,
        data={"location": "aws/us-east-1"},
        limits={"price_age": 1},
    )
    found = {
        message.values["what"]: message
        for message in plan_of(**keys).warnings
        if message.id == "warning.price-age"
    }
    assert {"the servers", "moving the data"} <= found.keys()
    for message in found.values():
        assert message.values["days"] > 1
        assert f"{message.values['days']:,} days old" in message.text


def test_prices_of_today_are_not_old() -> None:
    """Tests that offers of one's own are as new as the scenario."""
    assert warned(**own(QUIET, limits={"price_age": "1 hour"})) == set()


def test_owned_nodes_are_not_asked_for() -> None:
    """Tests that nobody asks a provider for nodes of one's own."""
    offer = {k: v for k, v in UNKNOWN.items() if k != "usd_per_gpu_hour"}
    assert not {name for name in warned(**own(offer)) if "stock" in name}


def test_one_assumed_node_with_a_fabric_is_assumed() -> None:
    """Tests that `unknown_nodes: 1` is not told as a missing network."""
    assert warned(**own(UNKNOWN, stock={"unknown_nodes": 1})) == {
        "warning.stock-assumed"
    }


def test_figures_are_in_the_sentence() -> None:
    """Tests nodes, stock and host memory as the reader sees them."""
    plan = plan_of(**own({**UNKNOWN, "ram_gb": 640}, stock={"unknown_nodes": 9}))
    texts = {m.id: m.text for m in plan.warnings}
    assert "takes 1 node, and 9 are" in texts["warning.stock-assumed"]
    assert "640 GB is only 1.0 times" in texts["warning.host-ram"]


def test_stock_comes_first_and_notices_last() -> None:
    """Tests the order: stock, purchase, prices, physics, host, notices."""
    offer = {**UNKNOWN, "gpu": "rtx-4090", "ram_gb": 64, "storage": ["lustre"]}
    ids = [m.id for m in plan_of(**own(offer)).warnings]
    wanted = [
        "warning.stock-assumed",
        "warning.storage-price-unknown",
        "warning.gpu-estimate",
        "warning.no-peer",
        "warning.ecc-off",
        "warning.geforce-licence",
        "warning.host-ram",
        "notice.offer.network",
    ]
    assert ids == wanted


def test_notices_of_other_offers_are_left_out() -> None:
    """Tests that a plan tells how its own fabric was taken, not that of another."""
    plan = plan_of(offers=[QUIET, {**H100, "ram_gb": 4096}])
    told = [m.values["offer"] for m in plan.warnings if m.id == "notice.offer.network"]
    assert told == ["a"]


def test_a_spot_plan_tells_how_its_fabric_was_taken() -> None:
    """Tests that the spot price of an offer shares the notices of the offer."""
    offer = {**QUIET, "spot_usd_per_gpu_hour": 1.0}
    plan = plan_of(**own(offer, constraints={"purchase": ["spot"]}))
    assert plan.offer == "a/spot"
    assert "notice.offer.network" in {m.id for m in plan.warnings}


def test_notices_of_the_workload_are_told() -> None:
    """Tests that a batch that was assumed is in the plan."""
    plan = plan_of(**own(QUIET, workload={"global_batch_size": None}))
    assert "notice.batch.default" in {m.id for m in plan.warnings}


@pytest.mark.parametrize(
    ("source", "estimate"),
    [
        ("memory", True),
        ("memory: about", True),
        ("Memory of a quote", True),
        ("an estimate between two", True),
        ("skypilot-catalog v9/nebius", False),
        ("gpu_memory_gib of published runs", False),
        ("stated in toy.yaml:16:3", False),
    ],
)
def test_what_an_estimate_is(source: str, estimate: bool) -> None:
    """Tests the words by which a source says that nobody read the figure."""
    assert is_estimate(source) is estimate


def test_every_kind_of_figure_has_a_source() -> None:
    """Tests that a plan says where each of its figures comes from, with dates."""
    plan = plan_of(**own(QUIET))
    kinds = "price gpu usable_memory server storage step_time memory model network"
    kinds += " power pue grid"
    assert set(plan.provenance) == set(kinds.split())
    assert all(plan.provenance.values())
    assert plan.provenance["price"].startswith("stated in toy.yaml:")
    assert plan.provenance["price"].endswith("(2026-12-01)")
    assert "ampere" in plan.provenance["step_time"]
    assert "network" not in plan_of(**own(ALONE)).provenance


def test_the_host_of_the_plan_is_the_servers() -> None:
    """Tests vCPUs, memory, drives and NICs, and what of it is needed."""
    offer = {**QUIET, "vcpus": 128, "local_nvme_tb": 30}
    host = plan_of(**own(offer)).host
    assert host["vcpus"] == 128
    assert host["ram_gb"] == 2048
    assert host["local_nvme_tb"] == 30
    assert host["nic_gbps"] == 1600
    # eight processes of 4 GB and a checkpoint of 3.47 GB
    assert host["ram_needed_gb"] == pytest.approx(35.472, abs=0.001)
    assert plan_of(**own(ALONE)).host["nic_gbps"] is None
