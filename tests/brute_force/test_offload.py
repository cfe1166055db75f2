"""Tests that the planner's choice among offloads is the best of all candidates."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solver.planning.single_job import plan_job
from solver.verify.certificate import verify
from tests.brute_force.test_search import FABRIC, best_by_brute_force
from tests.planning.jobs import catalog, job

OFFERS = st.lists(
    st.fixed_dictionaries(
        {
            "gpu": st.sampled_from(["a100-sxm-40gb", "l40s", "rtx-4090"]),
            "gpus_per_node": st.sampled_from([1, 2]),
            "max_nodes": st.integers(1, 2),
            "usd_per_gpu_hour": st.floats(0.5, 9).map(lambda p: round(p, 2)),
            "ram_gb": st.sampled_from([16, 64, 512]),
            "vcpus": st.sampled_from([8, 64]),
            "network": st.just(FABRIC),
        },
        optional={"local_nvme_tb": st.sampled_from([0.01, 2])},
    ),
    min_size=1,
    max_size=2,
)


@settings(max_examples=20)
@given(
    offers=OFFERS,
    offload=st.sampled_from(
        ["any", "optimizer", ["parameters", "none"], "parameters+activations"]
    ),
    place=st.sampled_from(["host", ["nvme", "host"]]),
    headroom=st.sampled_from([0.1, 0.85, 0.92]),
)
def test_the_plan_is_the_best_of_every_offload(
    offers: list[dict[str, Any]], offload: Any, place: Any, headroom: float
) -> None:
    """Tests cost against all candidates of all ways, on cards made small."""
    named = [{"name": f"o{i}", **o} for i, o in enumerate(offers)]
    work = {
        "framework": "deepspeed",
        "tokens": "100M",
        "global_batch_size": 8,
        "sequence_length": 1024,
        "offload": offload,
        "offload_to": place,
    }
    scenario = job(named, {"memory_headroom": headroom}, work)
    wanted = best_by_brute_force(scenario)
    result = plan_job(scenario, catalog(), alternatives=0)
    if wanted is None:
        assert result.status == "infeasible"
        return
    assert result.plan is not None
    assert result.plan.cost_usd == pytest.approx(wanted[0], rel=3e-5)
    assert verify(result.plan, scenario, catalog()) == []
