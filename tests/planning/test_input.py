"""Tests of the input pipeline of plans: rates, waits, cures and their verification."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solver.plan import Message, Plan
from solver.planning.single_job import plan_job
from solver.report.plan_rows import plan_sections
from solver.verify import verify
from tests.planning.jobs import A100, catalog, job

LEAN: dict[str, Any] = {**A100, "ram_gb": 2048, "vcpus": 32}
PHOTOS: dict[str, Any] = {
    "kind": "image",
    "mean_document_tokens": 100,
    "sample_bytes": "10 kB",
}


def planned(offer: dict[str, Any], data: dict[str, Any], **keys: Any) -> Plan:
    """The plan of the toy job on that data, which is verified."""
    found = job([offer], data=data, **keys)
    plan = plan_job(found, catalog(), alternatives=0).plan
    assert plan is not None
    assert verify(plan, found, catalog()) == []
    return plan


def pinned(plan: Plan) -> dict[str, Any]:
    """Constraints that allow the plan's layout alone."""
    axes = ("tp", "pp", "cp", "dp", "micro_batch", "virtual_stages", "zero_stage")
    degrees = {axis: getattr(plan.layout, axis) for axis in axes}
    gpus = {"min": plan.gpus, "max": plan.gpus}
    recompute = [plan.layout.recompute]
    return {"gpus": gpus, "parallelism": {**degrees, "recompute": recompute}}


def cures(plan: Plan) -> dict[str, Message]:
    """What the plan says would help."""
    prefix = "warning.input-cure-"
    found = [m for m in plan.warnings if m.id.startswith(prefix)]
    return {message.id.removeprefix(prefix): message for message in found}


def test_decoding_by_hand() -> None:
    """Tests the wait of 16 cores at 219 images/s for 50 million images."""
    plan = planned(LEAN, PHOTOS)
    rate = plan.nodes * 16 * 219
    assert plan.input["samples_per_s"] == rate
    assert plan.input["loader_cores"] == 16
    assert plan.input["bottleneck"] == "decoding"
    needed_s = 5e9 / 100 / rate
    stall = needed_s / 86_400 - plan.training_days
    assert stall > 0
    assert plan.duration_parts_days["data_stall"] == pytest.approx(stall)
    assert plan.input["stall_s_a_step"] * plan.steps / 86_400 == pytest.approx(stall)
    cores = plan.input["loader_cores_needed"]
    assert cores / 16 == pytest.approx(needed_s / 86_400 / plan.training_days)


def test_a_wait_makes_gpus_dearer_not_slower() -> None:
    """Tests that step, MFU and tokens/s stay those of the GPUs."""
    ample = planned({**LEAN, "vcpus": 4096}, PHOTOS)
    lean = planned(LEAN, PHOTOS, constraints=pinned(ample))
    assert lean.step_time_s == ample.step_time_s
    assert lean.training_days == ample.training_days
    assert ample.duration_parts_days["data_stall"] == 0
    assert lean.cost_usd > ample.cost_usd
    assert cures(ample) == {}


@pytest.mark.parametrize(
    ("cure", "offer", "data"),
    [
        ("gpu", {}, {"decode": "gpu"}),
        ("cores", {"vcpus": None}, {}),
        ("workers", {}, {"workers": None}),
    ],
)
def test_a_cure_leaves_what_it_says(
    cure: str, offer: dict[str, Any], data: dict[str, Any]
) -> None:
    """Tests each cure by planning the changed scenario on the same layout."""
    photos = {**PHOTOS, "workers": 1} if cure == "workers" else PHOTOS
    plan = planned(LEAN, photos)
    told = cures(plan)[cure]
    for change in (offer, data):
        for key, value in change.items():
            if value is None:
                names = {"vcpus": "vcpus", "workers": "workers"}
                change[key] = told.values[names[key]]
    changed = planned({**LEAN, **offer}, {**photos, **data}, constraints=pinned(plan))
    left = changed.duration_parts_days["data_stall"]
    assert left < plan.duration_parts_days["data_stall"]
    assert left == pytest.approx(told.values["days"], abs=1e-9)


def test_more_cores_do_not_help_a_few_workers() -> None:
    """Tests that nothing is named that would change nothing."""
    plan = planned(LEAN, {**PHOTOS, "workers": 1})
    assert "cores" not in cures(plan)
    assert set(cures(plan)) == {"gpu", "workers"}


def test_nothing_but_storage_is_blamed_for_storage() -> None:
    """Tests that decoders are no cure where the storage is too slow."""
    slow = {**LEAN, "vcpus": 4096, "storage": ["nfs-10gbe"]}
    plan = planned(slow, {**PHOTOS, "sample_bytes": "10 MB", "size": "1 TB"})
    assert plan.input["bottleneck"] == "storage"
    assert cures(plan) == {}
    assert plan.input["read_gb_per_s"] < plan.input["read_gb_per_s_needed"]


def test_a_host_that_is_not_known_gains_nothing_by_it() -> None:
    """Tests that unknown cores count as the fewest of any server of the GPU."""
    unknown = {k: v for k, v in LEAN.items() if k != "vcpus"}
    plan = planned(unknown, PHOTOS)
    known = [
        server.vcpus / server.gpus_per_node
        for server in catalog().servers.values()
        if server.gpu == plan.gpu and server.vcpus is not None
    ]
    assert plan.input["loader_cores"] == pytest.approx(8 * min(known) / 2)
    assert "warning.input-cores-unknown" in {m.id for m in plan.warnings}


def test_the_path_and_the_checkpoint_are_told() -> None:
    """Tests GPUDirect Storage against a bounce buffer, and the time of a checkpoint."""
    paths = {
        tier: planned({**LEAN, "storage": [tier]}, {}).input
        for tier in ("lustre", "lustre-gpudirect")
    }
    assert [p["path"] for p in paths.values()] == ["bounce", "gpudirect"]
    plan = planned({**LEAN, "storage": ["lustre"]}, {})
    fixed = catalog().calibration["reliability"]["checkpoint_s"]
    moved = plan.checkpoint_gb / plan.input["write_gb_per_s"]
    assert plan.input["checkpoint_s"] == pytest.approx(fixed + moved)
    assert plan.input["samples_per_s"] is None


@pytest.mark.parametrize(
    "change",
    [
        {"bottleneck": "storage"},
        {"path": "gpudirect"},
        {"samples_per_s": 1.0},
        {"loader_cores": 99.0},
        {"stall_s_a_step": 0.0},
        {"checkpoint_s": 0.0},
        {"read_gb_per_s": 1e6},
    ],
)
def test_a_changed_input_is_rejected(change: dict[str, Any]) -> None:
    """Tests that every figure of the input is recomputed."""
    offer = {**LEAN, "storage": ["lustre"]}
    plan = planned(offer, PHOTOS)
    changed = replace(plan, input={**plan.input, **change})
    found = job([offer], data=PHOTOS)
    assert {v.rule for v in verify(changed, found, catalog())} == {"storage"}


def test_a_plan_round_trips_and_shows_its_input() -> None:
    """Tests JSON, and the rows of the page."""
    plan = planned(LEAN, PHOTOS)
    assert Plan.from_dict(plan.as_dict()) == plan
    rows = {
        row.label: row.value
        for section in plan_sections(plan)
        if section.id == "section.input"
        for row in section.rows
    }
    assert "loader workers" in rows["decoding"]
    assert rows["loader cores"].startswith("16 a node")
    assert "not in it" in rows["data stall"]


@settings(max_examples=8, deadline=None)
@given(
    vcpus=st.sampled_from((8, 32, 96, 192)),
    rate=st.sampled_from((5, 60, 219, 2_000)),
    workers=st.sampled_from((None, 1, 4, 32)),
)
def test_more_of_anything_never_makes_it_worse(
    vcpus: int, rate: int, workers: int | None
) -> None:
    """Tests that more cores, faster ones and more workers never cost more."""
    data = {**PHOTOS, "decode_rate": rate, "workers": workers}
    base = planned({**LEAN, "vcpus": vcpus}, data).cost_usd
    assert planned({**LEAN, "vcpus": 2 * vcpus}, data).cost_usd <= base * (1 + 1e-9)
    faster = {**data, "decode_rate": 2 * rate}
    assert planned({**LEAN, "vcpus": vcpus}, faster).cost_usd <= base * (1 + 1e-9)
    more = {**data, "workers": None}
    assert planned({**LEAN, "vcpus": vcpus}, more).cost_usd <= base * (1 + 1e-9)
