"""Answers built by hand, with invented figures that add up, for the reports' tests."""

from dataclasses import replace

from solver.plan import (
    Alternative,
    Explanation,
    LayoutPlan,
    Message,
    Plan,
    PlanResult,
    Proof,
)

LAYOUT = LayoutPlan(
    tp=8,
    pp=8,
    cp=1,
    ep=1,
    etp=1,
    dp=4,
    virtual_stages=2,
    layers_per_stage=(9, 10, 10, 10, 10, 10, 10, 11),
    micro_batch=1,
    accumulation=256,
    global_batch_size=1024,
    zero_stage=1,
    shard_degree=4,
    sequence_parallel=True,
    recompute="selective",
    precision="bf16",
    optimizer="adamw",
)

PLAN = Plan(
    provider="nebius",
    region="eu-north1",
    country="FI",
    offer="nebius/eu-north1/8x-h100-sxm/on_demand",
    purchase="on_demand",
    gpu="h100-sxm-80gb",
    server="nebius-8x-h100-sxm",
    start=None,
    nodes=32,
    gpus=256,
    gpus_per_node=8,
    intra_node="nvswitch-nvlink4",
    network="infiniband-ndr-400",
    storage="local-nvme",
    framework="megatron",
    layout=LAYOUT,
    step_time_s=21.5,
    step_time_parts_s={
        "compute": 16.0,
        "recompute": 0.8,
        "tensor_parallel": 2.5,
        "context_parallel": 0.0,
        "expert_parallel": 0.0,
        "pipeline": 1.2,
        "data_parallel": 0.4,
        "optimizer": 0.005,
        "overhead": 0.595,
    },
    steps=119_210,
    mfu=0.412,
    tokens_per_s=195_000.0,
    memory_gib={
        "weights": 16.4,
        "gradients": 32.8,
        "optimizer": 4.1,
        "activations": 8.2,
        "other": 2.5,
        "total": 64.0,
        "capacity": 79.1,
    },
    training_days=29.66,
    duration_days=30.4,
    duration_p90_days=None,
    gpu_hours=186_777.6,
    cost_usd=412_346.0,
    cost_parts_usd={"compute": 411_000.0, "storage": 1_346.0, "egress": 0.0},
    checkpoint_gb=980.0,
    usd_per_gpu_hour=2.2,
    duration_parts_days={
        "training": 29.66,
        "data_stall": 0.0,
        "evaluation": 0.0,
        "checkpoints": 0.1,
        "failures": 0.473,
        "setup": 0.167,
        "queue": 0.0,
    },
    checkpoint_interval_s=4_100.0,
    stock_nodes=64,
    stock_known=False,
    host={
        "vcpus": 128.0,
        "ram_gb": 1600.0,
        "local_nvme_tb": None,
        "nic_gbps": 3200.0,
        "ram_needed_gb": 245.0,
    },
    provenance={"price": "price list of 2026-08", "step time": "fitted, 9% error"},
    warnings=(Message("an-example", {}, "Stock of this offer is assumed."),),
)

PROOF = Proof(
    bound=412_346.0,
    gap=0.0,
    candidates=41_280,
    pruned=40_312,
    wall_time_s=0.42,
    lattice={"tp": [1, 2, 4, 8], "gpus": "8 to 512", "micro_batch": [1, 2, 4, 8]},
    layouts=52_000,
    layouts_out_of_memory=31_000,
    layouts_bounded=12_000,
    within_error=14,
)

OPTIMAL = PlanResult(
    status="optimal",
    objective="cost",
    plan=PLAN,
    alternatives=(
        Alternative(replace(PLAN, gpu="h200-sxm"), "gpu", 20_100.0, -4.2),
        Alternative(
            replace(PLAN, layout=replace(LAYOUT, global_batch_size=1152)),
            "batch",
            -3_000.0,
            0.0,
        ),
    ),
    proof=PROOF,
    explanation=None,
    versions={"gpuplan": "0.1.0", "ortools": "9.15"},
    scenario="An example",
)

FEASIBLE = replace(
    OPTIMAL, status="feasible", proof=replace(PROOF, bound=400_000.0, gap=0.02994)
)

INFEASIBLE = replace(
    OPTIMAL,
    status="infeasible",
    plan=None,
    alternatives=(),
    proof=replace(PROOF, bound=None, gap=None),
    explanation=Explanation(
        kind="constraints",
        summary="no candidate keeps the deadline within the stock",
        conflict=("deadline", "stock"),
        relaxations=(
            {
                "constraint": "deadline",
                "now": "30 days",
                "needed": "34.2 days",
                "now_value": 30,
                "needed_value": 34.2,
                "unit": "days",
            },
        ),
        nearest_miss={
            "gpu": "h100-sxm-80gb",
            "ratio": 1.07,
            "memory_gib": {**PLAN.memory_gib, "total": 84.6, "activations": 28.8},
        },
        counts={"memory": 31_000, "deadline": 9_004},
    ),
)

UNKNOWN = replace(
    OPTIMAL,
    status="unknown",
    plan=None,
    alternatives=(),
    proof=replace(PROOF, bound=None, gap=None),
)
