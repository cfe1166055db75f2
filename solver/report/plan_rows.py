"""The sections of one plan: hardware, layout, memory, time, money, host."""

from __future__ import annotations

from solver.catalog.terms import term_text
from solver.messages import sentence
from solver.plan import LayoutPlan, Plan
from solver.report.alignment_rows import alignment_section, rollout_row
from solver.report.figures import (
    Row,
    Section,
    label,
    layers_text,
    number,
    of_whole,
    part_rows,
    percent,
    region_text,
    servers_text,
    time_of_whole,
    time_rows,
)
from solver.report.host_rows import host_section, input_section
from solver.report.purchase_rows import (
    buying_section,
    lost_rows,
    mix_rows,
    price_text,
    purchase_text,
)
from solver.units import (
    GB,
    format_bytes,
    format_count,
    format_duration_s,
    format_mwh,
    format_tonnes,
    format_usd,
    unit_word,
)
from solver.wording import day_text

EXPECTED = 0.5
"""The confidence at which limits are held against expected values."""

__all__ = [
    "layout_section",
    "memory_section",
    "plan_sections",
    "step_section",
]


def plan_sections(plan: Plan) -> tuple[Section, ...]:
    """Return every section that describes the plan itself, in printing order."""
    return (
        _hardware(plan),
        layout_section(plan.layout, plan.framework),
        memory_section(plan.memory_gib),
        _step(plan),
        *alignment_section(plan.alignment),
        _duration(plan),
        _cost(plan),
        *buying_section(plan),
        *_energy(plan),
        *input_section(plan),
        host_section(plan),
    )


def _slice(plan: Plan) -> tuple[Row, ...]:
    """Return what a slice is of its card."""
    if plan.slice is None:
        return ()
    return (Row(sentence("row.slice"), sentence("value.slice", **plan.slice)),)


def _hardware(plan: Plan) -> Section:
    """Return what is rented, where and how it is wired."""
    servers = sentence(
        "value.servers.one" if plan.nodes == 1 else "value.servers",
        what=servers_text(plan.nodes, plan.gpus_per_node, plan.gpu),
        gpus=plan.gpus,
        purchase=purchase_text(plan.purchase),
    )
    rows = [
        Row(sentence("row.servers"), servers, note=plan.server),
        *_slice(plan),
        *rollout_row(plan.layout.rollout_nodes, plan.gpus_per_node),
        *_spares(plan),
        *mix_rows(plan),
        Row(sentence("row.place"), _place(plan)),
        Row(sentence("row.price"), price_text(plan)),
        Row(sentence("row.intra_node"), plan.intra_node),
        Row(
            sentence("row.network"),
            plan.network or sentence("value.network.none"),
        ),
        Row(sentence("row.storage"), plan.storage or sentence("value.storage.none")),
        Row(sentence("row.stock"), _stock(plan)),
    ]
    if plan.cluster_nodes is not None:
        most = sentence("value.cluster", nodes=plan.cluster_nodes)
        rows.append(Row(sentence("row.cluster"), most))
    if plan.quota_nodes is not None:
        most = sentence("value.quota", nodes=plan.quota_nodes)
        rows.append(Row(sentence("row.quota"), most))
    if plan.start is not None:
        start = day_text(plan.start)
        rows.append(Row(sentence("row.start"), start, note=_waited(plan)))
    if plan.min_term_hours and plan.purchase_plan is None:
        rows.append(Row(sentence("row.term"), term_text(plan.min_term_hours)))
    return Section("section.hardware", tuple(rows))


def _spares(plan: Plan) -> list[Row]:
    """Return the spare nodes, where there are any."""
    if not plan.spare_nodes:
        return []
    text = sentence("value.spares", spares=plan.spare_nodes, nodes=plan.nodes)
    return [Row(sentence("row.spares"), text)]


def _place(plan: Plan) -> str:
    """Return provider, region and country."""
    region = region_text(plan.region)
    if plan.country is None:
        return sentence("value.place", provider=plan.provider, region=region)
    return sentence(
        "value.place.country",
        provider=plan.provider,
        region=region,
        country=plan.country,
    )


def _stock(plan: Plan) -> str:
    """Return how many nodes there are and whether that is known."""
    known = "value.stock.known" if plan.stock_known else "value.stock.assumed"
    return sentence(known, nodes=plan.stock_nodes)


def _waited(plan: Plan) -> str:
    """Return how long the nodes are waited for."""
    days = plan.duration_parts_days.get("delivery", 0.0)
    return sentence("value.waited", days=days, ordered=day_text(plan.order_date))


def layout_section(layout: LayoutPlan, framework: str) -> Section:
    """Return how the job is cut up and run."""
    batch = sentence(
        "value.batch",
        global_batch=layout.global_batch_size,
        dp=f"{layout.dp:,}",
        micro_batch=layout.micro_batch,
        accumulation=layout.accumulation,
    )
    numerics = sentence(
        "value.numerics", precision=layout.precision, optimizer=layout.optimizer
    )
    if layout.master_weights == "none" and layout.base == "none":
        numerics += ", " + sentence("value.pure")
    if layout.offload != "none":
        numerics += ", " + sentence("value.offload", offload=layout.offload)
    if layout.base not in ("none", "bf16"):
        numerics += ", " + sentence("value.base", base=layout.base)
    if layout.loss != "whole":
        numerics += ", " + sentence("value.loss", loss=layout.loss)
    rows = (
        Row(sentence("row.parallel"), _parallel(layout)),
        Row(sentence("row.layers"), layers_text(layout.layers_per_stage)),
        Row(sentence("row.batch"), batch),
        Row(sentence("row.sharding"), _sharding(layout)),
        Row(sentence("row.recompute"), layout.recompute),
        Row(sentence("row.numerics"), numerics),
        Row(sentence("row.framework"), framework),
    )
    return Section("section.layout", rows)


def _parallel(layout: LayoutPlan) -> str:
    """Return the degrees that multiply to the GPUs, and the others above one."""
    parts = [
        f"TP {layout.tp}",
        f"PP {layout.pp}",
        f"CP {layout.cp}",
        f"DP {layout.dp:,}",
    ]
    if layout.ep > 1:
        parts += [f"EP {layout.ep}", f"ETP {layout.etp}"]
    if layout.virtual_stages > 1:
        parts.append(sentence("value.virtual", virtual_stages=layout.virtual_stages))
    if layout.sequence_parallel:
        parts.append(sentence("value.sequence_parallel"))
    return " · ".join(parts)


def _sharding(layout: LayoutPlan) -> str:
    """Return the ZeRO stage and the group that it divides over."""
    if layout.zero_stage == 0:
        return sentence("value.zero.none")
    return sentence("value.zero", stage=layout.zero_stage, degree=layout.shard_degree)


def memory_section(memory_gib: dict[str, float]) -> Section:
    """Return the peak memory of a GPU by part, against what the card has."""
    capacity, total = memory_gib["capacity"], memory_gib["total"]
    parts = {k: v for k, v in memory_gib.items() if k not in ("capacity", "total")}
    used = total / capacity if capacity else 0.0
    rows = (
        *part_rows(parts, "GiB", capacity),
        Row(sentence("row.total"), of_whole(total, capacity, "GiB"), share=used),
        Row(sentence("row.usable"), of_whole(capacity, capacity, "GiB")),
    )
    return Section("section.memory", rows, numeric=True)


def step_section(
    parts_s: dict[str, float],
    total_s: float,
    mfu: float,
    tokens_per_s: float,
    interval_s: tuple[float | None, float | None] = (None, None),
    efficiency: float = 1.0,
) -> Section:
    """Return the time of a step by exposed part, and the rate that it means.

    ``interval_s`` are the 10th and the 90th percentile of the step, seconds.
    """
    scale, unit = (1000.0, "ms") if total_s < 1 else (1.0, "s")
    parts = {name: seconds * scale for name, seconds in parts_s.items()}
    rows = [
        *part_rows(parts, unit),
        Row(sentence("row.total"), of_whole(total_s * scale, total_s * scale, unit)),
    ]
    low, high = interval_s
    if low is not None and high is not None:
        ends = [f"{number(end * scale)}" for end in (low, high)]
        text = sentence(
            "value.interval", low=ends[0], high=ends[1], unit=unit_word(unit)
        )
        rows.append(Row(sentence("row.interval"), text))
    rows += [
        Row(sentence("row.mfu"), percent(mfu)),
        Row(sentence("row.throughput"), f"{format_count(tokens_per_s)} tok/s"),
    ]
    if efficiency != 1.0:
        rows.append(Row(sentence("row.efficiency"), percent(efficiency)))
    return Section("section.step", tuple(rows), numeric=True)


def _step(plan: Plan) -> Section:
    """Return the time of a step of a plan."""
    return step_section(
        plan.step_time_parts_s,
        plan.step_time_s,
        plan.mfu,
        plan.tokens_per_s,
        (plan.step_time_p10_s, plan.step_time_p90_s),
        plan.efficiency,
    )


def _duration(plan: Plan) -> Section:
    """Return how long everything takes, by part."""
    whole = plan.duration_days
    rows = [
        *time_rows(plan.duration_parts_days, whole),
        Row(sentence("row.total"), time_of_whole(whole, whole)),
    ]
    if plan.duration_p90_days is not None:
        p90 = time_of_whole(plan.duration_p90_days, whole)
        rows.append(Row(sentence("row.p90"), p90))
    if plan.confidence != EXPECTED and plan.duration_at_confidence_days is not None:
        late = time_of_whole(plan.duration_at_confidence_days, whole)
        rows.append(Row(_at_confidence(plan), late))
    if plan.goodput is not None:
        rows.append(Row(sentence("row.goodput"), percent(plan.goodput)))
    rows += lost_rows(plan)
    rows.append(Row(sentence("row.steps"), f"{plan.steps:,}"))
    rows += _ramp(plan)
    size = format_bytes(plan.checkpoint_gb * GB)
    rows.append(Row(sentence("row.checkpoint"), size))
    if plan.checkpoint_interval_s is not None:
        interval = format_duration_s(plan.checkpoint_interval_s)
        rows.append(Row(sentence("row.checkpoint_interval"), interval))
    return Section("section.duration", tuple(rows), numeric=True)


def _ramp(plan: Plan) -> list[Row]:
    """Return the steps and days that the batch takes to grow; nothing without."""
    ramp = plan.batch_ramp
    if ramp is None:
        return []
    return [
        Row(sentence("row.ramp.steps"), f"{ramp['steps']:,}"),
        Row(sentence("row.ramp"), time_of_whole(ramp["days"], plan.duration_days)),
    ]


def _at_confidence(plan: Plan) -> str:
    """Return the label of what limits are held against."""
    return sentence("row.confidence", confidence=plan.confidence)


def _cost(plan: Plan) -> Section:
    """Return what everything costs, by part."""
    whole = plan.cost_usd
    rows = [
        Row(
            label("part", name),
            format_usd(usd),
            share=usd / whole if whole > 0 else 0.0,
        )
        for name, usd in plan.cost_parts_usd.items()
        if usd
    ]
    rows.append(Row(sentence("row.total"), format_usd(whole)))
    if plan.cost_p90_usd is not None:
        rows.append(Row(sentence("row.p90"), format_usd(plan.cost_p90_usd)))
    if plan.confidence != EXPECTED and plan.cost_at_confidence_usd is not None:
        bill = format_usd(plan.cost_at_confidence_usd)
        rows.append(Row(_at_confidence(plan), bill))
    if plan.unused_term_usd and whole > 0:
        unused, share = plan.unused_term_usd, plan.unused_term_usd / whole
        rows.append(Row(sentence("row.unused"), format_usd(unused), share=share))
    rows.append(Row(sentence("row.gpu_hours"), f"{plan.gpu_hours:,.0f}"))
    return Section("section.cost", tuple(rows), numeric=True)


def _energy(plan: Plan) -> tuple[Section, ...]:
    """Return what the run draws and emits; nothing for plans made without."""
    if plan.energy_mwh is None:
        return ()
    power = sentence("value.power", power=plan.node_power_kw, pue=plan.pue)
    carbon = Row(sentence("row.carbon"), sentence("value.carbon.unknown"))
    if plan.carbon_t is not None:
        emitted = sentence("value.carbon", carbon=format_tonnes(plan.carbon_t))
        grid = sentence("value.grid", grams=plan.grid_gco2_per_kwh)
        carbon = Row(sentence("row.carbon"), emitted, note=grid)
    energy = Row(sentence("row.energy"), format_mwh(plan.energy_mwh), note=power)
    return (Section("section.energy", (energy, carbon)),)
