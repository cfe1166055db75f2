"""What each step of a route comes to, in figures, and what to do and check in it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from solver.candidates import CHECKPOINTS_KEPT
from solver.catalog.egress import unpriced
from solver.performance.communication import domain_gpus, link
from solver.plan import Message, Move, Plan
from solver.units import (
    DAY,
    GB,
    HOUR,
    MONTH_HOURS,
    format_bytes,
    format_count,
    format_duration_s,
    format_usd,
)
from solver.verify.bills import Bill
from solver.verify.figures import Figures

__all__ = [
    "check_command",
    "first_hour_lines",
    "move_lines",
    "order_lines",
    "release_lines",
    "run_lines",
    "serve_lines",
    "setup_lines",
    "stage_lines",
]

Told = tuple[dict[str, Any], tuple[Message, ...]]
"""The figures of a step, and its lines."""

note = Message.of


def order_lines(plan: Plan) -> Told:
    """What to order, the quota to ask for, and what to ask the provider."""
    nodes, vcpus = plan.rented_nodes, plan.host.get("vcpus")
    gpus = nodes * plan.gpus_per_node
    facts = {
        "provider": plan.provider,
        "region": plan.region,
        "purchase": plan.purchase,
        "nodes": nodes,
        "gpus": gpus,
        "vcpus": None if vcpus is None else nodes * vcpus,
        "stock_nodes": plan.stock_nodes,
        "stock_known": plan.stock_known,
        "quota_nodes": plan.quota_nodes,
        "lead_time_days": plan.lead_time_days,
        "min_term_hours": plan.min_term_hours,
    }
    lines = [_what(plan, nodes, gpus)]
    if plan.spare_nodes:
        lines.append(note("route.spares", spares=plan.spare_nodes))
    if plan.mix:
        shown = ("nodes", "offer", "purchase")
        lines += [note("route.mix", **{k: part[k] for k in shown}) for part in plan.mix]
    count = "unknown" if vcpus is None else format_count(nodes * vcpus)
    words = {"nodes": nodes, "gpus": gpus, "vcpus": count}
    if plan.purchase not in ("owned", "bought"):
        lines.append(note("route.quota", **words))
    if plan.quota_nodes is not None:
        lines.append(note("route.quota-stated", nodes=plan.quota_nodes))
    known = "known" if plan.stock_known else "assumed"
    lines.append(note(f"route.stock.{known}", nodes=plan.stock_nodes))
    if plan.lead_time_days:
        lines.append(note("route.lead-time", days=plan.lead_time_days))
    if plan.min_term_hours:
        lines.append(note("route.term", days=plan.min_term_hours * HOUR / DAY))
    kinds = {part["purchase"] for part in plan.mix} if plan.mix else {plan.purchase}
    lines += [note(f"route.ask.{kind}") for kind in sorted(kinds)]
    if plan.network and nodes > 1:
        lines.append(note("route.ask.fabric", network=plan.network, nodes=nodes))
    return facts, tuple(lines)


def _what(plan: Plan, nodes: int, gpus: int) -> Message:
    """What is ordered, from whom."""
    verb = {"owned": "use", "bought": "buy"}.get(plan.purchase, "rent")
    return note(
        f"route.order.{verb}",
        nodes=nodes,
        per_node=plan.gpus_per_node,
        gpu=plan.gpu,
        gpus=gpus,
        provider=plan.provider,
        region=plan.region,
        price=format_usd(plan.usd_per_gpu_hour),
    )


def stage_lines(figures: Figures, data_usd: float) -> Told:
    """Bring the data to the storage that the nodes read, and what that takes."""
    evidence = figures.evidence
    data, region = evidence.scenario.data, evidence.offer.region
    moved = data.location not in (None, region)
    known = data.location is None or not unpriced(
        evidence.catalog, data.location, region
    )
    facts = {
        "bytes": data.size_bytes,
        "origin": data.location,
        "destination": region,
        "storage": evidence.tier.id,
        "seconds": figures.moving.transfer_s,
        "egress_usd": data_usd,
        "price_known": known,
        "residency": list(data.residency) if data.residency else None,
    }
    words = {
        "size": format_bytes(data.size_bytes),
        "storage": evidence.tier.id,
        "origin": data.location or "",
        "region": region,
        "time": format_duration_s(figures.moving.transfer_s),
        "rate": format_bytes(data.transfer_bytes_per_s),
        "price": format_usd(data_usd),
    }
    kind = "moved" if moved else "unstated" if data.location is None else "there"
    lines = [note(f"route.stage.{kind}", **words)]
    if data.size_is_assumed:
        each = data.bytes_per_token
        lines.append(note("route.stage.assumed", bytes=each))
    if moved and data.transfer_is_assumed:
        lines.append(note("route.stage.rate", rate=f"{words['rate']}/s"))
    if moved and not known:
        lines.append(note("route.stage.unpriced"))
    if data.residency:
        lines.append(note("route.stage.residency", codes=", ".join(data.residency)))
    if figures.local:
        lines.append(note("route.stage.local"))
    return facts, tuple(lines)


def setup_lines(figures: Figures) -> Told:
    """What nodes, fabric, host and storage have to show before the first step."""
    evidence, plan = figures.evidence, figures.evidence.plan
    host, rates = plan.host, plan.input
    bus = all_reduce_gb_per_s(figures)
    facts: dict[str, Any] = {
        "hours": evidence.scenario.overheads.setup_s / HOUR,
        "all_reduce_gb_per_s": bus,
        "nic_gbps": host.get("nic_gbps"),
        "ram_gb": host.get("ram_gb"),
        "ram_needed_gb": host.get("ram_needed_gb"),
        "nvme_needed_gb": host.get("nvme_needed_gb"),
        "read_gb_per_s": figures.read_rate / GB,
        "read_gb_per_s_needed": rates.get("read_gb_per_s_needed"),
        "write_gb_per_s": figures.write_rate / GB,
    }
    lines = []
    if bus is not None:
        lines.append(note("route.setup.nccl", gpus=plan.gpus, rate=bus))
    if plan.network and plan.nodes > 1 and host.get("nic_gbps"):
        lines.append(note("route.setup.nic", gbps=host["nic_gbps"]))
    if (needed := host.get("ram_needed_gb")) is not None:
        have = host.get("ram_gb")
        kind = "ram" if have is not None else "ram-unknown"
        words = {"needed": needed, "have": have or 0.0}
        lines.append(note(f"route.setup.{kind}", **words))
    if drives := host.get("nvme_needed_gb"):
        lines.append(note("route.setup.drives", needed=drives))
    if cores := rates.get("loader_cores_needed"):
        lines.append(note("route.setup.cores", cores=cores))
    read = {"have": format_bytes(figures.read_rate), "tier": evidence.tier.id}
    need = format_bytes((rates.get("read_gb_per_s_needed") or 0.0) * GB)
    lines.append(note("route.setup.read", needed=need, **read))
    lines.append(note("route.setup.dry-run", framework=plan.framework))
    return facts, tuple(lines)


def all_reduce_gb_per_s(figures: Figures) -> float | None:
    """Bus bandwidth of a large all-reduce over all GPUs that the plan counts on.

    GB/s as nccl-tests print it; None for a single GPU.
    """
    evidence = figures.evidence
    if evidence.plan.gpus < 2:
        return None
    domain = domain_gpus(evidence.hardware, evidence.layouts)
    ring = link(evidence.hardware, domain, evidence.layouts.gpus, 1)
    return float(np.atleast_1d(ring.rate)[0]) / GB


def first_hour_lines(figures: Figures, file: str, phase: str) -> Told:
    """What to measure after an hour, what is predicted, and when to re-plan."""
    plan = figures.evidence.plan
    memory, rates = plan.memory_gib, plan.input
    headroom = figures.evidence.scenario.constraints.memory_headroom
    command = check_command(plan, file, phase)
    facts = {
        "step_time_s": plan.step_time_s,
        "step_time_p10_s": plan.step_time_p10_s,
        "step_time_p90_s": plan.step_time_p90_s,
        "tokens_per_s": plan.tokens_per_s,
        "mfu": plan.mfu,
        "peak_memory_gib": memory["total"],
        "memory_limit_gib": memory["capacity"] * (1.0 - headroom),
        "checkpoint_s": figures.checkpoint_s,
        "read_gb_per_s_needed": rates.get("read_gb_per_s_needed"),
        "command": command,
    }
    low, high = plan.step_time_p10_s or 0.0, plan.step_time_p90_s or 0.0
    step = [format_duration_s(s) for s in (plan.step_time_s, low, high)]
    rate = [format_count(plan.tokens_per_s * r) for r in _band(plan)]
    lines = (
        note("route.measure.step", step=step[0], low=step[1], high=step[2]),
        note("route.measure.tokens", rate=rate[0], low=rate[1], high=rate[2]),
        note("route.measure.mfu", mfu=plan.mfu),
        note(
            "route.measure.memory",
            total=memory["total"],
            limit=facts["memory_limit_gib"],
            capacity=memory["capacity"],
        ),
        note("route.measure.checkpoint", time=format_duration_s(figures.checkpoint_s)),
        note("route.measure.data"),
        note("route.measure.stop", low=step[1], high=step[2]),
        note("route.measure.command", command=command),
    )
    return facts, lines


def _band(plan: Plan) -> tuple[float, float, float]:
    """The rate expected, and those of the slowest and the fastest usual step."""
    slow, fast = plan.step_time_p90_s, plan.step_time_p10_s
    one = plan.step_time_s
    return 1.0, one / slow if slow else 1.0, one / fast if fast else 1.0


def check_command(plan: Plan, file: str, phase: str) -> str:
    """The command that holds the plan against what is measured, ready to be typed.

    Its figures are those predicted, to be replaced.
    """
    name = file or "PLAN.json"
    name = f"'{name}'" if set(name) & set(" '\"$&|;<>()*?") else name
    words = [f"gpuplan plan check {name}"]
    if phase:
        words.append(f"--phase '{phase}'")
    words.append(f"--measured step_time={plan.step_time_s:.4g}s")
    words.append(f"--measured peak_memory={plan.memory_gib['total']:.4g}GiB")
    if plan.input.get("checkpoint_s"):
        words.append(f"--measured checkpoint={plan.input['checkpoint_s']:.4g}s")
    done = max(1, math.floor(HOUR / plan.step_time_s))
    words.append(f"--done-steps {min(done, plan.steps)}")
    return " ".join(words)


def run_lines(figures: Figures, *, alone: bool) -> Told:
    """How often checkpoints are written, what fails, and what else takes time.

    ``alone``: the nodes are rented for this run, so that the plan's goodput is theirs.
    """
    plan, evidence = figures.evidence.plan, figures.evidence
    interval = plan.checkpoint_interval_s
    written = 1 if interval is None else math.ceil(figures.work_s / interval - 1e-9)
    running_s = figures.active_s - float(figures.run.replacement_s[0])
    share = evidence.scenario.overheads.evaluation_fraction
    failures = figures.failures_per_s * running_s
    facts = {
        "days": figures.active_s / DAY,
        "steps": figures.steps,
        "checkpoint_interval_s": interval,
        "checkpoint_interval_steps": _steps_between(interval, figures.step_time_s),
        "checkpoints": written,
        "checkpoint_bytes": figures.checkpoint_bytes,
        "checkpoints_kept": CHECKPOINTS_KEPT,
        "failures": failures,
        "spare_nodes": plan.spare_nodes,
        "goodput": plan.goodput if alone else None,
        "lost_share": plan.lost_share,
        "evaluation_days": figures.evaluation_s / DAY,
    }
    words = {
        "size": format_bytes(figures.checkpoint_bytes),
        "kept": CHECKPOINTS_KEPT,
        "count": written,
    }
    if interval is None:
        lines = [note("route.run.checkpoint-end", **words)]
    else:
        words |= {
            "interval": format_duration_s(interval),
            "steps": facts["checkpoint_interval_steps"],
            "tier": evidence.tier.id,
        }
        lines = [note("route.run.checkpoints", **words)]
    lost = {"failures": _some(failures), "lost": plan.lost_share}
    lines.append(note("route.run.failures", **lost))
    kind = "spares" if plan.spare_nodes else "no-spares"
    lines.append(note(f"route.run.{kind}", spares=plan.spare_nodes))
    if alone and plan.goodput is not None:
        lines.append(note("route.run.goodput", goodput=plan.goodput))
    if share:
        time = format_duration_s(figures.evaluation_s)
        lines.append(note("route.run.evaluation", share=share, time=time))
    else:
        lines.append(note("route.run.no-evaluation"))
    return facts, tuple(lines)


def _some(number: float) -> str:
    """A number of events to two digits, or whole."""
    return f"{number:.2g}" if number < 10 else f"{number:,.0f}"


def _steps_between(interval_s: float | None, step_s: float) -> int | None:
    """Whole steps nearest to an interval, one at least."""
    return None if interval_s is None else max(1, round(interval_s / step_s))


def serve_lines(figures: Figures) -> Told:
    """Copy the finished weights to the regions that serve them."""
    moving, evidence = figures.moving, figures.evidence
    here, targets = evidence.offer.region, evidence.scenario.serving
    prices = moving.serving_usd_by_region
    rate = evidence.scenario.data.transfer_bytes_per_s
    copies: list[dict[str, Any]] = [
        {
            "region": region,
            "bytes": moving.weight_bytes,
            "seconds": moving.weight_bytes / rate,
            "usd": usd,
            "price_known": not unpriced(evidence.catalog, here, region),
        }
        for region, usd in prices.items()
    ]
    facts = {
        "bytes": moving.weight_bytes,
        "regions": copies,
        "serving_usd": moving.serving_usd,
    }
    size = format_bytes(moving.weight_bytes)
    if not targets:
        return facts, (note("route.serve.none", size=size),)
    lines = [
        note(
            "route.serve.copy" if one["price_known"] else "route.serve.unpriced",
            size=size,
            region=one["region"],
            time=format_duration_s(one["seconds"]),
            price=format_usd(one["usd"]),
        )
        for one in copies
    ]
    if here in targets:
        lines.append(note("route.serve.here", region=here))
    return facts, tuple(lines)


def move_lines(move: Move) -> Told:
    """Move the checkpoint, and a shared data set, to the region of the next phase."""
    facts = {
        "origin": move.origin,
        "destination": move.destination,
        "bytes": move.checkpoint_gb * GB,
        "checkpoint_usd": move.checkpoint_usd,
        "price_known": move.price_known,
    }
    line = note(
        "route.move" if move.price_known else "route.move.unpriced",
        after=move.after,
        size=format_bytes(move.checkpoint_gb * GB),
        origin=move.origin,
        region=move.destination,
        time=format_duration_s(move.days * DAY),
        price=format_usd(move.checkpoint_usd),
    )
    return facts, (line,)


def release_lines(figures: Figures, plan: Plan) -> Told:
    """Give the nodes back: what stays in storage and costs, what of a term is left."""
    month_s = MONTH_HOURS * HOUR
    per_gb = figures.evidence.tier.usd_per_gb_month or 0.0
    last = per_gb * figures.checkpoint_bytes / GB
    stays = not figures.local
    facts = {
        "nodes": plan.rented_nodes,
        "kept_usd_per_month": figures.rent_per_s * month_s if stays else 0.0,
        "checkpoint_usd_per_month": last if stays else 0.0,
        "unused_term_usd": plan.unused_term_usd,
        "term_hours_left": max((_hours_left(b) for b in figures.bills), default=0.0),
    }
    words = {
        "nodes": plan.rented_nodes,
        "month": format_usd(facts["kept_usd_per_month"]),
        "checkpoint": format_usd(last),
        "size": format_bytes(figures.checkpoint_bytes),
        "tier": figures.evidence.tier.id,
    }
    kind = "bought" if plan.purchase == "bought" else "give-back"
    lines = [note(f"route.release.{kind}", **words)]
    lines.append(note(f"route.release.{'kept' if stays else 'local'}", **words))
    if plan.unused_term_usd:
        unused = format_usd(plan.unused_term_usd)
        lines.append(note("route.release.unused", usd=unused))
    return facts, tuple(lines)


def _hours_left(bill: Bill) -> float:
    """Hours of a term that are left at the expected finish."""
    return max(0.0, bill.part.offer.min_term_hours - bill.used_hours())
