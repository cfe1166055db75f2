"""A candidate becomes a plan: decisions, figures, sources and warnings.

Figures are those of the chosen row of the candidate table and of the physics on a
one-row array; none is read from the solver.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from solver.candidates import CandidateTable, at_quantile
from solver.catalog.slices import slice_facts
from solver.energy import grid_of, offer_power_kw, offer_pue
from solver.geography import around
from solver.performance.efficiency import attained
from solver.performance.inputs import RECOMPUTE, Hardware, Layouts, TrainingJob
from solver.performance.memory import peak_memory
from solver.performance.stages import layers_per_stage, layers_per_stage_by_cost
from solver.performance.step_time import mfu, step_time
from solver.physics_inputs import numerics_of
from solver.plan import LayoutPlan, Plan
from solver.planning.alignment_plan import alignment_plan
from solver.planning.node_parts import (
    cost_parts,
    mean_usd_per_node_hour,
    mix_of,
    node_parts,
    purchase_plan,
)
from solver.planning.plan_notes import plan_warnings, provenance_of
from solver.planning.purchase_notes import lost_share
from solver.planning.ramp_figures import batch_ramp
from solver.setting import Setting
from solver.spread import P90_Z
from solver.units import DAY, GB, GIB, HOUR


def build_plan(setting: Setting, table: CandidateTable, row: int) -> Plan:
    """The plan of candidate ``row``."""
    one = table.take(np.array([row]))
    option = setting.options[int(one.option[0])]
    tier = setting.tiers[int(one.tier[0])]
    group = setting.classes[int(one.group[0])]
    job = group.job
    model = (setting.shape, job, setting.framework)
    made = (setting.shape, job, group.hardware)
    parts = step_time(*model, group.hardware, one.layouts)
    server, bill = option.server, node_parts(setting, one)
    powered = option.parts[0].offer  # a mix draws what its base is stated to
    late_s, late_usd = at_quantile(setting, one, P90_Z)
    step_s, error = float(one.step_time_s[0]), math.exp(P90_Z * float(one.sigma[0]))
    return Plan(
        provider=option.offer.provider,
        region=_bare_region(option.offer.region),
        country=option.country,
        offer=option.offer.id,
        purchase=option.purchase,
        gpu=option.gpu.id,
        server=server.id,
        start=option.start.isoformat() if option.start else None,
        nodes=int(one.layouts.nodes[0]),
        gpus=int(one.layouts.gpus[0]),
        gpus_per_node=server.gpus_per_node,
        intra_node=server.intra_node,
        network=server.network,
        storage=tier.id,
        framework=setting.framework.name,
        layout=layout_plan(setting, job, one.layouts),
        step_time_s=step_s,
        step_time_parts_s={k: float(v[0]) for k, v in parts.parts().items()},
        steps=int(one.steps[0]),
        mfu=float(mfu(*made, one.layouts, one.step_time_s)[0]),
        tokens_per_s=float(one.tokens_per_s[0]),
        memory_gib=memory_gib(
            setting, job, one.layouts, option.gpu.usable_memory_gib, group.hardware
        ),
        training_days=float(one.training_s[0] / DAY),
        duration_days=float(one.duration_s[0] / DAY),
        duration_p90_days=float(late_s[0] / DAY),
        gpu_hours=float(
            one.rented_nodes[0] * server.gpus_per_node * one.billed_s[0] / HOUR
        ),
        cost_usd=float(one.cost_usd[0]),
        cost_parts_usd=cost_parts(bill, one),
        checkpoint_gb=group.checkpoint_bytes / GB,
        usd_per_gpu_hour=mean_usd_per_node_hour(bill) / server.gpus_per_node,
        duration_parts_days=_duration_parts(setting, one),
        checkpoint_interval_s=_interval_s(one),
        stock_nodes=option.stock_nodes,
        stock_known=option.stock_known,
        host=_host(setting, job, option, one.layouts),
        provenance=provenance_of(setting, option, tier),
        warnings=plan_warnings(setting, option, tier, one),
        billing_unit=option.offer.billing_unit,
        confidence=setting.scenario.constraints.confidence,
        duration_at_confidence_days=float(one.duration_limit_s[0] / DAY),
        cost_at_confidence_usd=float(one.cost_limit_usd[0]),
        order_date=setting.scenario.start_date.isoformat(),
        lead_time_days=max(p.offer.lead_time_days for p in option.parts),
        min_term_hours=max(p.offer.min_term_hours for p in option.parts),
        unused_term_usd=sum(part.unused_usd for part in bill),
        cluster_nodes=option.cluster_nodes,
        cost_p90_usd=float(late_usd[0]),
        step_time_p10_s=step_s / error,
        step_time_p90_s=step_s * error,
        efficiency=float(attained(job, group.hardware)),
        quota_nodes=option.quota_nodes,
        spare_nodes=int(one.spares[0]),
        goodput=_goodput(setting, one),
        energy_mwh=float(one.energy_kwh[0]) / 1000.0,
        carbon_t=_carbon_t(one),
        node_power_kw=offer_power_kw(powered, server, option.gpu),
        pue=offer_pue(setting.catalog, powered),
        grid_gco2_per_kwh=grid_of(setting.catalog, option.offer.region)[0],
        mix=mix_of(bill),
        lost_share=lost_share(one),
        purchase_plan=purchase_plan(bill),
        batch_ramp=batch_ramp(job, one),
        useful_token_share=setting.scenario.data.useful_share,
        slice=slice_facts(option.gpu),
        alignment=alignment_plan(setting, group, one.layouts, parts, one.steps),
    )


def _carbon_t(one: CandidateTable) -> float | None:
    """Tonnes of CO2; None where the grid is not known."""
    carbon_kg = float(one.carbon_kg[0])
    return carbon_kg / 1000.0 if math.isfinite(carbon_kg) else None


def _bare_region(region_id: str) -> str:
    return region_id.partition("/")[2] or region_id


def _goodput(setting: Setting, one: CandidateTable) -> float:
    """Training over the time from the first node's hour to the finish."""
    held_s = one.duration_s - around(setting, one.option, one.tier).unpaid_s
    return float(one.training_s[0] / held_s[0])


def _interval_s(one: CandidateTable) -> float | None:
    """Work between checkpoints; None where only the end of the run is saved."""
    work = one.training_s[0] + one.stall_s[0] + one.evaluation_s[0]
    interval = float(one.interval_s[0])
    return interval if interval < work else None


def layout_plan(setting: Setting, job: TrainingJob, layouts: Layouts) -> LayoutPlan:
    """The first of ``layouts`` as a plan shows it, run as ``job`` says."""
    row = layouts.row(0)
    if setting.framework.stages_by_cost:
        stages = layers_per_stage_by_cost(setting.shape, row["pp"])
    else:
        layers = setting.shape.layers
        stages = layers_per_stage(layers, row["pp"], row["virtual_stages"])
    return LayoutPlan(
        tp=row["tp"],
        pp=row["pp"],
        cp=row["cp"],
        ep=row["ep"],
        etp=row["etp"],
        dp=row["dp"],
        virtual_stages=row["virtual_stages"],
        layers_per_stage=tuple(int(n) for n in stages),
        micro_batch=row["micro_batch"],
        accumulation=row["accumulation"],
        global_batch_size=int(layouts.global_batch[0]),
        zero_stage=row["zero_stage"],
        shard_degree=row["shard_degree"],
        sequence_parallel=bool(row["sequence_parallel"]),
        recompute=RECOMPUTE[row["recompute"]],
        **numerics_of(job),
    )


def memory_gib(
    setting: Setting,
    job: TrainingJob,
    layouts: Layouts,
    capacity: float,
    hardware: Hardware,
) -> dict[str, float]:
    """Peak memory by part of the first of ``layouts``, GiB."""
    memory = peak_memory(
        setting.shape,
        job,
        setting.framework,
        layouts,
        fused_attention=bool(hardware.fused_attention),
    )
    names = ("weights", "gradients", "optimizer", "activations", "other", "total")
    parts = {name: float(getattr(memory, name)[0] / GIB) for name in names}
    return parts | {"capacity": capacity}


def _duration_parts(setting: Setting, one: CandidateTable) -> dict[str, float]:
    option = int(one.option[0])
    wait_s = float(setting.arrays.wait_s[option])
    transfer_s = float(setting.arrays.transfer_s[option])
    local = setting.storage.local[one.tier[0]] > 0
    seconds = {
        "training": one.training_s[0],
        "data_stall": one.stall_s[0],
        "evaluation": one.evaluation_s[0],
        "checkpoints": one.checkpoints_s[0],
        "failures": one.failures_s[0],
        "replacement": one.replacement_s[0],
        "setup": setting.scenario.overheads.setup_s,
        "queue": setting.scenario.overheads.queue_s,
        "delivery": wait_s,
        "transfer": transfer_s if local else max(0.0, transfer_s - wait_s),
        "serving": float(setting.arrays.serving_s[option]),
    }
    return {name: float(value / DAY) for name, value in seconds.items()}


def _host(
    setting: Setting, job: TrainingJob, option: Any, layouts: Layouts
) -> dict[str, float | None]:
    from solver.performance.checkpoints import host_bytes_needed
    from solver.performance.offload import away_on_drives

    server, model = option.server, (setting.shape, job, setting.framework)
    need = host_bytes_needed(*model, layouts)
    return {
        "vcpus": server.vcpus,
        "ram_gb": server.ram_gb,
        "local_nvme_tb": server.local_nvme_tb,
        "nic_gbps": server.network_gbps if server.network else None,
        "ram_needed_gb": float(need[0] / GB),
        "nvme_needed_gb": float(away_on_drives(*model, layouts)[0] / GB),
    }
