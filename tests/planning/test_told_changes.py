"""Changes that a 'no' tells to type: at the right place, and accepted."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from solver.cpsat.problem import _reached
from solver.planning.single_job import plan_job
from tests.planning.jobs import A100, catalog, job

FRACTIONS: list[dict[str, Any]] = [
    {
        "name": "A",
        "gpu": "h100-sxm-80gb",
        "gpus_per_node": 8,
        "fractions": [1],
        "max_nodes": 1,
        "usd_per_gpu_hour": 1,
        "min_term": "7 days",
    },
    {
        "name": "B",
        "gpu": "l40s",
        "gpus_per_node": 8,
        "max_nodes": 1,
        "usd_per_gpu_hour": 9,
        "min_term": "30 days",
    },
]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_positions_are_those_of_the_file(order: tuple[int, int]) -> None:
    """Tests that an offer with fractions counts as the one that is written."""
    offers = [FRACTIONS[i] for i in order]
    work = {"tokens": "1B", "sequence_length": 512}
    told = plan_job(job(offers, {"budget": 20}, work), catalog()).explanation
    assert told is not None
    sets = {r["constraint"]: r["set"] for r in told.relaxations}
    assert sets["term"].startswith(f"offers[{order.index(0)}].min_term=")
    opened = job(offers, {"budget": 20}, work, overrides=(sets["term"],))
    assert plan_job(opened, catalog(), alternatives=0).plan is not None


def test_nodes_of_a_fraction_are_told_in_whole_ones() -> None:
    """Tests that what is missing of fractions is told as nodes of the offer."""
    offers = [{**FRACTIONS[0], "min_term": None, "max_nodes": 1}]
    limits = {"gpus": {"per_node": [1], "min": 16}}
    networked = {"gbps_per_node": 1600, "kind": "infiniband"}
    offers[0]["network"] = networked
    told = plan_job(job(offers, limits), catalog()).explanation
    assert told is not None
    sets = {r["constraint"]: r.get("set") for r in told.relaxations}
    assert sets["stock"] == "offers[0].max_nodes=2"
    opened = job(offers, limits, overrides=(sets["stock"],))
    assert plan_job(opened, catalog(), alternatives=0).plan is not None


def test_weights_in_8_bits_keep_their_precision() -> None:
    """Tests that the precision told beside fp8 weights is accepted, and opens."""
    work = {"precision": "fp8", "fp8_weights": True}
    told = plan_job(job([A100], workload=work), catalog()).explanation
    assert told is not None
    (change,) = (r["set"] for r in told.relaxations if r["constraint"] == "precision")
    opened = job([A100], workload=work, overrides=(change,))
    assert plan_job(opened, catalog(), alternatives=0).plan is not None


def test_a_bound_past_the_value_proves_it() -> None:
    """Tests CP-SAT's float bound of a large integer, which may be a unit above."""
    assert _reached(44_444_824_902, 44_444_824_901)
    assert _reached(5, 5)
    assert not _reached(4, 5)
    assert not _reached(None, 5)


def test_steps_without_end_are_no_numbers_gone_wrong() -> None:
    """Tests that bounds of what cannot generate are told to nobody."""
    work = {
        "method": "grpo",
        "train": "lora",
        "samples": "10k",
        "tokens": None,
        "sequence_length": None,
        "global_batch_size": 64,
        "alignment": {"prompt_tokens": 256, "response_tokens": 256, "group": 8},
    }
    network = {"gbps_per_node": 1600, "kind": "infiniband"}
    card = {"name": "c", "gpu": "rtx-3090", "gpus_per_node": 2, "network": network}
    limits = {"memory_headroom": 0.93}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plan_job(job([{**card, "max_nodes": 3}], limits, work), catalog())
