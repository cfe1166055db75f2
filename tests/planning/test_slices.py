"""Tests of plans on MIG slices and on fractions of a node, from end to end."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from solver.errors import InputError
from solver.plan import Plan
from solver.planning.comparing import compare
from solver.planning.estimate import EstimatePins, estimate
from solver.planning.single_job import plan_job
from solver.verify import verify
from tests.planning.jobs import A100, catalog, job

SLICE: dict[str, Any] = {
    "name": "part",
    "gpu": "a100-sxm-80gb",
    "slice": "3g.40gb",
    "usd_per_gpu_hour": 0.9,
    "max_nodes": 14,
    "ram_gb": 96,
    "region": "sg",
}
CARD = {k: v for k, v in SLICE.items() if k != "slice"} | {
    "name": "card",
    "gpus_per_node": 1,
    "usd_per_gpu_hour": 2.0,
}


def plan_of(offers: list[dict[str, Any]], **keys: Any) -> Plan:
    """The plan of the toy job, which must exist."""
    plan = plan_job(job(offers, **keys), catalog(), alternatives=0).plan
    assert plan is not None
    return plan


def test_a_plan_on_a_slice() -> None:
    """Tests what is rented, what is said of the slice, and that it verifies."""
    scenario = job([SLICE])
    plan = plan_of([SLICE])
    assert (plan.gpu, plan.nodes, plan.gpus) == ("a100-sxm-80gb/3g.40gb", 1, 1)
    assert (plan.network, plan.intra_node) == (None, "none")
    assert plan.memory_gib["capacity"] == 39.25
    assert plan.as_dict()["slice"] == {
        "card": "a100-sxm-80gb",
        "profile": "3g.40gb",
        "slices_per_card": 2,
        "compute_slices": 3,
        "memory_slices": 4,
        "sm_count": 42,
    }
    assert Plan.from_dict(plan.as_dict()) == plan
    assert verify(plan, scenario, catalog()) == []
    assert plan.usd_per_gpu_hour == 0.9


def test_whole_cards_say_nothing_of_slices() -> None:
    """Tests that the key of JSON is there and null."""
    assert plan_of([CARD]).as_dict()["slice"] is None


WIDE = {"layers": 2, "hidden": 8192, "ffn": 28672, "heads": 64, "kv_heads": 8}
"""Layers whose kernels are large enough to fill any card."""

FILLED: dict[str, Any] = {
    "model": {**WIDE, "vocab": 32000, "gated": True},
    "workload": {"method": "lora", "sequence_length": 4096, "global_batch_size": 1},
    "constraints": {"parallelism": {"recompute": "none"}},
}


@pytest.mark.parametrize("profile", ["1g.20gb", "2g.20gb", "3g.40gb", "7g.80gb"])
def test_a_slice_takes_its_share_longer(profile: str) -> None:
    """Tests large kernels, one sequence at a time, on a slice and on its card.

    What multiprocessors do takes longer by their share, what memory does by its share;
    so all takes longer by the wider of the two at least.
    """
    part = plan_of([{**SLICE, "slice": profile}], **FILLED)
    whole = plan_of([CARD], **FILLED)
    assert part.slice is not None
    assert part.layout == whole.layout
    share = max(part.slice["sm_count"] / 108, part.slice["memory_slices"] / 8)
    mine, cards = (p.step_time_parts_s["compute"] for p in (part, whole))
    assert mine * share >= cards * (1 - 1e-9)


@pytest.mark.parametrize("profile", ["1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb"])
def test_no_slice_is_faster_than_its_card(profile: str) -> None:
    """Tests small kernels, which fill a slice better than a card: still slower."""
    asked: dict[str, Any] = {
        "workload": {"global_batch_size": 1, "sequence_length": 512},
        "constraints": {"parallelism": {"micro_batch": 1, "recompute": "none"}},
    }
    part, whole = (
        plan_of([{**SLICE, "slice": profile}], **asked),
        plan_of([CARD], **asked),
    )
    assert part.step_time_s > whole.step_time_s
    assert whole.mfu <= part.mfu < 0.6


CHANGES: list[dict[str, Any]] = [
    {"slice": None},
    {"nodes": 2, "gpus": 2},
    {"gpu": "a100-sxm-80gb"},
    {"network": "infiniband-hdr-200"},
    *(
        {"slice": {name: value}}
        for name, value in {
            "card": "a100-pcie-80gb",
            "profile": "2g.20gb",
            "slices_per_card": 3,
            "compute_slices": 4,
            "memory_slices": 3,
            "sm_count": 60,
        }.items()
    ),
]


@pytest.mark.parametrize("change", CHANGES)
def test_false_promises_of_a_slice_are_found(change: dict[str, Any]) -> None:
    """Tests that no fact of a slice can be changed without the check telling."""
    plan = plan_of([SLICE])
    if isinstance(change.get("slice"), dict):
        assert plan.slice is not None
        change = {"slice": {**plan.slice, **change["slice"]}}
    assert verify(replace(plan, **change), job([SLICE]), catalog())


def test_a_card_that_claims_to_be_a_slice_is_found() -> None:
    """Tests that whole cards have no slice."""
    made_up = plan_of([SLICE]).slice
    assert verify(replace(plan_of([CARD]), slice=made_up), job([CARD]), catalog())


@pytest.mark.parametrize(
    ("types", "found"),
    [
        (["A100"], "a100-sxm-80gb/3g.40gb"),
        (["MIG"], "a100-sxm-80gb/3g.40gb"),
        (["H100"], None),
    ],
)
def test_types(types: list[str], found: str | None) -> None:
    """Tests that a slice belongs to its family in a plan, too."""
    asked = job([SLICE], {"gpus": {"types": types}})
    plan = plan_job(asked, catalog(), alternatives=0).plan
    assert (plan and plan.gpu) == found


def test_slices_can_be_excluded() -> None:
    """Tests that without MIG only the whole card is left, and the reverse."""
    offers = [SLICE, CARD]
    assert plan_of(offers, constraints={"gpus": {"exclude": ["MIG"]}}).slice is None
    answer = plan_job(job(offers, {"gpus": {"exclude": ["A100"]}}), catalog())
    assert answer.plan is None


def test_slices_side_by_side() -> None:
    """Tests that each slice is a row of its own beside its card, cheapest first."""
    offers = [SLICE, {**SLICE, "name": "two", "slice": "2g.20gb"}, CARD]
    table = compare(job(offers), catalog(), "gpu")
    assert {row.value for row in table.rows} == {
        "a100-sxm-80gb/2g.20gb",
        "a100-sxm-80gb/3g.40gb",
        "a100-sxm-80gb",
    }
    for row in table.rows:
        assert row.plan is not None
        assert row.plan.gpu == row.value
    costs = [row.plan.cost_usd for row in table.rows if row.plan]
    assert costs == sorted(costs)


def test_estimates_of_slices() -> None:
    """Tests an estimate by a vendor's name, and that one slice is what is meant."""
    pins = EstimatePins(gpu="NVIDIA A100-SXM4-80GB MIG 3g.40gb")
    found = estimate(job([]), catalog(), pins)
    assert (found.gpu, found.gpus) == ("a100-sxm-80gb/3g.40gb", 1)
    assert found.memory_gib["capacity"] == 39.25
    assert "warning.slice" in {message.id for message in found.notes}


@pytest.mark.parametrize(
    ("pins", "told"),
    [
        ({"gpus": 2}, "no network joins MIG slices"),
        ({"nodes": 2}, "no network joins MIG slices"),
        ({"network_gbps": 100.0}, "no network joins MIG slices"),
        ({"gpus_per_node": 7}, "one GPU of its own"),
        ({"tp": 2}, "no layout divides|TP"),
    ],
)
def test_estimates_of_several_slices_are_refused(
    pins: dict[str, Any], told: str
) -> None:
    """Tests that several slices are no job, however they are asked for."""
    with pytest.raises(InputError, match=told):
        estimate(job([]), catalog(), EstimatePins(gpu="a30/1g.6gb", **pins))


def test_an_estimate_of_a_wrong_slice_names_the_right_ones() -> None:
    """Tests the one error of a profile that the card lacks."""
    with pytest.raises(InputError) as caught:
        estimate(job([]), catalog(), EstimatePins(gpu="a30/3g.18gb"))
    (issue,) = caught.value.issues
    assert issue.where == "--gpu"
    assert "it has 1g.6gb (4 a card), 2g.12gb (2 a card)" in issue.message


NODE = {**A100, "ram_gb": 2048, "fractions": [1, 2, 4]}


def test_a_small_job_takes_a_fraction() -> None:
    """Tests that one GPU of a node is rented where one is enough."""
    plan = plan_of([NODE], constraints={"gpus": {"max": 1}})
    assert (plan.offer, plan.gpus, plan.gpus_per_node) == ("a/1-of-8", 1, 1)
    assert plan.host["ram_gb"] == 256
    assert plan.usd_per_gpu_hour == 2.0
    told = {m.id: m.values for m in plan.warnings}
    assert told["notice.offer.fraction"]["offer"] == "a/1-of-8"
    assert not {"warning.pcie-only", "warning.pcie-assumed"} & told.keys()


@pytest.mark.parametrize("gpus", [1, 2, 4, 8])
def test_fractions_are_planned_like_small_nodes(gpus: int) -> None:
    """Tests by hand: half a node costs and runs as a node of half the size."""
    limits = {"gpus": {"min": gpus, "max": gpus, "per_node": [gpus]}}
    part = plan_of([NODE], constraints=limits)
    small = {
        **A100,
        "gpus_per_node": gpus,
        "ram_gb": 256 * gpus,
        "network": {"gbps_per_node": 200 * gpus, "kind": "infiniband"},
    }
    alone = plan_of([small], constraints=limits)
    assert part.layout == alone.layout
    assert part.cost_usd == pytest.approx(alone.cost_usd)
    assert part.step_time_s == pytest.approx(alone.step_time_s)
    assert part.intra_node == alone.intra_node


def test_more_freedom_is_never_worse() -> None:
    """Tests that fractions on top of whole nodes cost no more."""
    whole = {k: v for k, v in NODE.items() if k != "fractions"}
    assert plan_of([NODE]).cost_usd <= plan_of([whole]).cost_usd * (1 + 1e-9)


@pytest.mark.parametrize(
    ("workload", "cured"),
    [
        ({"method": "lora", "sequence_length": 512}, True),  # the base is whole
        ({"method": "lora", "sequence_length": 262_144}, True),  # one sequence
        ({"method": "qlora", "sequence_length": 512}, False),
    ],
)
def test_a_no_on_a_slice_advises_no_more_gpus(
    workload: dict[str, Any], cured: bool
) -> None:
    """Tests that neither sharding nor context parallelism is a way out of a slice."""
    small = {**SLICE, "gpu": "a30", "slice": "1g.6gb"}
    asked = job([small], workload=workload, model="llama-3.1-8b")
    explained = plan_job(asked, catalog()).explanation
    assert explained is not None
    assert explained.kind == "memory"
    for wrong in ("zero_stage", "more GPUs help", "divides a sequence"):
        assert wrong not in explained.summary
    assert ("A larger slice or the whole card" in explained.summary) == cured


def test_the_best_of_many_is_the_best_of_each() -> None:
    """Tests by brute force: of slices, a fraction and nodes the cheapest alone wins."""
    offers = [
        SLICE,
        {**SLICE, "name": "two", "slice": "2g.20gb", "usd_per_gpu_hour": 0.5},
        {**SLICE, "name": "one", "slice": "1g.20gb", "usd_per_gpu_hour": 0.2},
        {**SLICE, "name": "h", "gpu": "h100-sxm-80gb", "usd_per_gpu_hour": 1.1},
        CARD,
        {**NODE, "name": "node"},
    ]
    each = {offer["name"]: plan_of([offer]).cost_usd for offer in offers}
    best = plan_of(offers)
    assert best.cost_usd == pytest.approx(min(each.values()))
    assert best.offer.partition("/")[0] == min(each, key=lambda name: each[name])
