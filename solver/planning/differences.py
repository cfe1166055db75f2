"""What makes one plan dearer or slower than another, in figures that add up."""

from __future__ import annotations

from collections.abc import Mapping

from solver.plan import Plan

EXCHANGES = (
    "tensor_parallel",
    "context_parallel",
    "expert_parallel",
    "data_parallel",
    "pipeline",
)
"""Parts of a step in which GPUs talk to, or wait for, each other."""

Parts = dict[str, float]


def cost_difference(plan: Plan, other: Plan) -> Parts:
    """Dollars by which ``plan`` costs more than ``other``, by cause; they add up.

    Notes
    -----
    The rent is ``r H + u``: the average price of a used GPU-hour times those hours, and
    what is paid and not used. From the other's ``r0 H0 + u0`` it differs by the price,
    ``(r - r0) H``, for each part of the run by ``r0 (h - h0)``, and by ``u - u0``. All
    else of the bill is compared part by part. What costs both, as serving takes
    nodes' time and has a price of its own, is told as one.
    """
    ours, theirs = _gpu_hours(plan), _gpu_hours(other)
    rate = _rate(other, theirs)
    price = (_rate(plan, ours) - rate) * sum(ours.values())
    hours = {name: rate * value for name, value in _minus(ours, theirs).items()}
    unused = plan.unused_term_usd - other.unused_term_usd
    rest = _minus(_but_rent(plan), _but_rent(other))
    names = dict.fromkeys((*hours, "unused", *rest))
    parts = (hours, {"unused": unused}, rest)
    both = {name: sum(part.get(name, 0.0) for part in parts) for name in names}
    return {"price": price, **both}


def time_difference(plan: Plan, other: Plan) -> Parts:
    """Days by which ``plan`` takes longer than ``other``, by cause; they add up."""
    return _minus(_days(plan), _days(other))


def _minus(ours: Mapping[str, float], theirs: Mapping[str, float]) -> Parts:
    names = dict.fromkeys((*ours, *theirs))
    return {name: ours.get(name, 0.0) - theirs.get(name, 0.0) for name in names}


def _rate(plan: Plan, gpu_hours: Parts) -> float:
    """What a used GPU-hour costs on average."""
    used = plan.cost_parts_usd["compute"] - plan.unused_term_usd
    return used / sum(gpu_hours.values())


def _but_rent(plan: Plan) -> Parts:
    """All of the bill but the rent of the nodes."""
    return {k: v for k, v in plan.cost_parts_usd.items() if k != "compute"}


def _days(plan: Plan) -> Parts:
    """The duration by cause: training is cut into computing and communication."""
    parts = plan.step_time_parts_s
    exchanged = sum(parts.get(name, 0.0) for name in EXCHANGES)
    share = exchanged / sum(parts.values())
    training = plan.duration_parts_days["training"]
    rest = {k: v for k, v in plan.duration_parts_days.items() if k != "training"}
    communication = share * training
    return {
        "computing": training - communication,
        "communication": communication,
        **rest,
    }


UNPAID = ("queue", "delivery")
"""Parts of the duration in which no node is rented."""

COPIES = ("transfer", "serving")
"""Parts in which data is copied: on rented nodes only if their drives hold it."""


def _gpu_hours(plan: Plan) -> Parts:
    """GPU-hours that are used, by what they are spent on."""
    paid = {k: v for k, v in _days(plan).items() if k not in (*UNPAID, *COPIES)}
    copies = {k: plan.duration_parts_days.get(k, 0.0) for k in COPIES}
    if plan.goodput:
        held = plan.duration_parts_days["training"] / plan.goodput
        copied = sum(copies.values())
        if copied > 0 and held - sum(paid.values()) > copied / 2:  # not float noise
            paid |= copies
    busy = plan.nodes + plan.layout.rollout_nodes
    gpus = busy * plan.gpus_per_node
    hours = {name: days * 24.0 * gpus for name, days in paid.items()}
    hours["spares"] = plan.spare_nodes / busy * sum(hours.values())
    return hours
