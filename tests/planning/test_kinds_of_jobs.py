"""Tests of whole plans by kind of job: adapters, experts, numerics, purchase."""

from __future__ import annotations

from typing import Any

import pytest

from solver.plan import Plan, PlanResult
from solver.planning.single_job import plan_job
from tests.planning.jobs import A100, H100, catalog, job

V100 = {
    **A100,
    "name": "v",
    "gpu": "v100-sxm-32gb",
    "network": {"gbps_per_node": 100, "kind": "ethernet"},
    "usd_per_gpu_hour": 0.5,
}

MOE = {
    "layers": 12,
    "hidden": 1024,
    "ffn": 4096,
    "heads": 16,
    "kv_heads": 4,
    "vocab": 32000,
    "gated": True,
    "n_experts": 64,
    "experts_topk": 2,
    "moe_ffn": 2048,
}
"""About 5 billion parameters, of which 0.3 are active."""


def answer(*offers: dict[str, Any], **keys: Any) -> PlanResult:
    """The answer without runners-up."""
    return plan_job(job(list(offers) or None, **keys), catalog(), alternatives=0)


def planned(*offers: dict[str, Any], **keys: Any) -> Plan:
    """The plan, which must be proved."""
    result = answer(*offers, **keys)
    assert result.status == "optimal"
    assert result.plan is not None
    return result.plan


def adapters(method: str, **work: Any) -> dict[str, Any]:
    """Keys of a fine-tuning of Llama-2 70B."""
    return {
        "model": "llama-2-70b",
        "workload": {
            "method": method,
            "tokens": "100M",
            "global_batch_size": 64,
            **work,
        },
    }


def test_lora_over_several_gpus() -> None:
    """Tests that 138 GB of frozen weights are spread or sharded over cards of 80 GB."""
    plan = planned(A100, **adapters("lora"))
    weights = 68.98e9 * 2 / 2**30
    layout = plan.layout
    ranks = (
        layout.tp * layout.pp * (layout.shard_degree if layout.zero_stage == 3 else 1)
    )
    assert ranks > 1
    assert plan.memory_gib["weights"] >= 0.9 * weights / ranks
    assert plan.memory_gib["optimizer"] < 1, "only adapters have moments"
    assert plan.checkpoint_gb < 5
    assert plan.framework == "hf-trainer"


def test_qlora_needs_a_quarter_of_the_weights() -> None:
    """Tests that 70B in 4 bits lies on one 80 GB card, and 16 bits would not."""
    card = {**A100, "gpus_per_node": 1, "max_nodes": 1}
    weights = planned(card, **adapters("qlora")).memory_gib["weights"]
    least = 68.98e9 / 2 / 2**30
    assert least < weights < 1.25 * least
    refused = answer(card, **adapters("lora")).explanation
    assert refused is not None
    assert refused.kind == "memory"


def test_adapters_train_faster_than_all_weights() -> None:
    """Tests that without gradients of frozen weights a step takes two thirds or so."""
    base = {"model": "llama-2-7b", "offers": None}
    keys = {"tokens": "100M", "framework": "hf-trainer", "start": "checkpoint"}
    full = planned(A100, model=base["model"], workload=keys)
    lora = planned(A100, model=base["model"], workload={**keys, "method": "lora"})
    assert lora.gpus == full.gpus
    assert 0.5 < lora.step_time_s / full.step_time_s < 1.0


def test_a_higher_rank_makes_larger_checkpoints() -> None:
    """Tests that adapters of rank 64 weigh four times those of rank 16."""
    sizes = [
        planned(A100, **adapters("lora", lora={"rank": rank})).checkpoint_gb
        for rank in (16, 64)
    ]
    assert sizes[1] == pytest.approx(4 * sizes[0])


def test_experts_over_gpus_and_nodes() -> None:
    """Tests that 64 experts are divided evenly over ranks that are there."""
    plan = planned(A100, model=MOE)
    layout = plan.layout
    assert 64 % layout.ep == 0
    assert (layout.tp * layout.cp * layout.dp) % (layout.ep * layout.etp) == 0
    assert layout.tp * layout.pp * layout.cp * layout.dp == plan.gpus, "ep is no factor"


@pytest.mark.parametrize("ep", [1, 2, 8])
def test_pinned_experts_are_pinned(ep: int) -> None:
    """Tests a pinned degree, and that more of it leaves fewer weights a GPU."""
    found = {
        degree: planned(
            A100,
            {**A100, "name": "b"},
            model=MOE,
            constraints={"parallelism": {"ep": degree, "tp": 1, "pp": 1, "cp": 1}},
        )
        for degree in {1, ep}
    }
    assert found[ep].layout.ep == ep
    if ep > 1:
        assert found[ep].memory_gib["weights"] < found[1].memory_gib["weights"]


def test_dense_models_have_no_experts_to_spread() -> None:
    """Tests that EP 2 of a dense model is refused as a layout."""
    result = answer(A100, constraints={"parallelism": {"ep": 2}})
    assert result.status == "infeasible"
    assert result.explanation is not None
    assert result.explanation.kind == "layout"


def test_fp8_goes_to_hopper() -> None:
    """Tests that of an A100 and an H100 fp8 leaves one, and says why not the other."""
    plan = planned(A100, H100, workload={"precision": "fp8"})
    assert plan.gpu == "h100-sxm-80gb"
    assert plan.layout.precision == "fp8"
    refused = answer(A100, workload={"precision": "fp8"})
    assert refused.explanation is not None
    assert refused.explanation.kind == "catalog"
    assert refused.explanation.counts == {"precision": 1}


def test_fp8_computes_faster_than_bf16() -> None:
    """Tests matmuls of a large model on the same nodes and layout."""
    pins = {"tp": 1, "pp": 1, "cp": 1, "micro_batch": 1, "recompute": ["full"]}
    times = {
        precision: planned(
            H100,
            model="llama-2-7b",
            workload={"precision": precision, "tokens": "1B"},
            constraints={"parallelism": pins},
        ).step_time_parts_s["compute"]
        for precision in ("bf16", "fp8")
    }
    assert 0.45 < times["fp8"] / times["bf16"] < 0.95


def test_fp16_on_volta() -> None:
    """Tests that a V100 trains in fp16 only."""
    plan = planned(V100, workload={"precision": "fp16"})
    assert plan.gpu == "v100-sxm-32gb"
    assert plan.layout.precision == "fp16"
    refused = answer(V100)
    assert refused.explanation is not None
    assert refused.explanation.counts == {"precision": 1}


def test_spot_is_cheaper_and_later() -> None:
    """Tests a run at half the price that is interrupted: dollars less, hours more."""
    offer = {**A100, "max_nodes": 1, "spot_usd_per_gpu_hour": 1.0}
    work = {"tokens": "100B"}
    steady = planned(offer, workload=work)
    spot = planned(
        offer, workload=work, constraints={"purchase": ["spot", "on_demand"]}
    )
    assert (steady.purchase, spot.purchase) == ("on_demand", "spot")
    assert spot.duration_days > steady.duration_days
    assert 0.5 < spot.cost_usd / steady.cost_usd < 0.6
    assert spot.duration_parts_days["failures"] > steady.duration_parts_days["failures"]


def test_spot_that_is_hardly_cheaper_is_not_taken() -> None:
    """Tests that interruptions outweigh a discount of a cent."""
    offer = {**A100, "max_nodes": 1, "spot_usd_per_gpu_hour": 1.999}
    both = {"purchase": ["spot", "on_demand"]}
    assert (
        planned(offer, workload={"tokens": "100B"}, constraints=both).purchase
        == "on_demand"
    )


def test_owned_first_rented_if_it_has_to_be() -> None:
    """Tests that nodes of one's own do the job unless the deadline asks for more."""
    own = {k: v for k, v in A100.items() if k != "usd_per_gpu_hour"}
    own = {**own, "name": "own", "max_nodes": 1}
    slow = planned(own, H100, workload={"tokens": "40B"})
    assert (slow.offer, slow.cost_usd) == ("own", 0)
    hours = slow.duration_days * 24 - 3
    fast = planned(
        own,
        H100,
        workload={"tokens": "40B"},
        constraints={"deadline": f"{hours:.1f} hours"},
    )
    assert fast.offer == "h"
    assert fast.cost_usd > 0


def test_months_against_hours() -> None:
    """Tests that a month's rent is taken when it is cheaper than the hours."""
    bare = {k: v for k, v in A100.items() if k != "usd_per_gpu_hour"}
    monthly = {**bare, "name": "m", "usd_per_node_month": 3000, "max_nodes": 1}
    short = planned({**A100, "max_nodes": 1}, monthly, workload={"tokens": "5B"})
    long = planned({**A100, "max_nodes": 1}, monthly, workload={"tokens": "1T"})
    assert short.purchase == "on_demand"
    assert long.purchase == "monthly"
    assert long.duration_days < 31
    assert 3000 <= long.cost_usd < 6000


def test_of_several_offers_the_cheapest_that_will_do() -> None:
    """Tests four offers of the same node at four prices, one too small."""
    offers = [
        {**A100, "name": f"o{i}", "usd_per_gpu_hour": price, "max_nodes": nodes}
        for i, (price, nodes) in enumerate([(2.0, 4), (1.5, 4), (1.2, 1), (3.0, 4)])
    ]
    assert planned(*offers).offer == "o2"
    two = {"gpus": {"min": 16}}
    assert planned(*offers, constraints=two).offer == "o1"


def test_batch_within_a_tolerance_is_used() -> None:
    """Tests that a free choice of the batch is never dearer than the wanted one."""
    fixed = planned(A100, workload={"global_batch_size": 60})
    written = {"sequences": 60, "tolerance": "10%"}
    free = planned(A100, workload={"global_batch_size": written})
    assert 54 <= free.layout.global_batch_size <= 66
    assert free.cost_usd <= fixed.cost_usd


def test_context_parallel_divides_long_sequences() -> None:
    """Tests that a pinned CP of 4 leaves a quarter of the activations, or less."""
    work = {"sequence_length": 16384, "global_batch_size": 8, "tokens": "1B"}
    pins = {"tp": 1, "pp": 1, "micro_batch": 1, "recompute": ["none"]}
    found = {
        cp: planned(
            A100, workload=work, constraints={"parallelism": {**pins, "cp": cp}}
        )
        for cp in (1, 4)
    }
    assert found[4].layout.cp == 4
    ratio = found[4].memory_gib["activations"] / found[1].memory_gib["activations"]
    assert ratio == pytest.approx(0.25, abs=0.05)


@pytest.mark.parametrize(
    "framework", ["megatron", "pytorch-fsdp", "deepspeed", "torchtitan", "nanotron"]
)
def test_every_framework_plans_a_run(framework: str) -> None:
    """Tests that each class has a plan with layouts that it can run."""
    plan = planned(A100, workload={"framework": framework})
    entry = catalog().frameworks[framework]
    assert plan.framework == framework
    assert entry.tensor_parallel or plan.layout.tp == 1
    assert entry.pipeline_parallel or plan.layout.pp == 1
    assert plan.layout.zero_stage in entry.zero_stages
    assert plan.layout.recompute in entry.recompute


def test_an_epoch_more_costs_as_much_more() -> None:
    """Tests that twice the tokens take twice the training, set-up apart."""
    one, two = (planned(A100, workload={"tokens": t}) for t in ("50B", "100B"))
    assert one.nodes == two.nodes
    assert two.training_days == pytest.approx(2 * one.training_days, rel=1e-4)
    assert two.duration_parts_days["setup"] == one.duration_parts_days["setup"]
