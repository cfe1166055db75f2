"""How nodes are had: purchase kinds, mixes, prices, and what buying means."""

from __future__ import annotations

from typing import Any

from solver.messages import sentence
from solver.plan import Plan
from solver.report.figures import Row, Section, gpu_name, label, percent
from solver.units import MONTH_HOURS, format_usd

__all__ = [
    "buying_section",
    "cost_text",
    "headline_id",
    "lost_rows",
    "mix_rows",
    "price_text",
    "purchase_text",
]

SHOWN_LOSS = 0.01
"""Least part of a run, lost to failures, that has a row of its own."""

MONTHS_A_YEAR = 12


def purchase_text(purchase: str) -> str:
    """Return a purchase kind in words, or those of a mix."""
    base, plus, rest = purchase.partition("+")
    first = label("purchase", base)
    if not plus:
        return first
    return sentence("purchase.and", base=first, rest=label("purchase", rest))


def headline_id(purchase: str) -> str:
    """Return the id of the decision: to rent, to use what one owns, or to buy."""
    return {"owned": "headline.use", "bought": "headline.buy"}.get(
        purchase, "headline.rent"
    )


def cost_text(plan: Plan) -> str:
    """Return what a plan is charged, and what is paid up front if it buys nodes."""
    cost = format_usd(plan.cost_usd)
    if plan.purchase_plan is None:
        return cost
    outlay = format_usd(plan.purchase_plan["outlay_usd"])
    return sentence("headline.up-front", cost=cost, outlay=outlay)


def price_text(plan: Plan) -> str:
    """Return what a GPU and a node cost, by the unit in which they are billed."""
    if plan.purchase == "owned" and not plan.usd_per_gpu_hour:
        return sentence("value.price.free")
    usd_per_node_hour = plan.usd_per_gpu_hour * plan.gpus_per_node
    gpu_hour = format_usd(plan.usd_per_gpu_hour)
    node_hour = format_usd(usd_per_node_hour)
    if plan.mix is None and plan.billing_unit == "month":
        month = format_usd(usd_per_node_hour * MONTH_HOURS)
        return sentence("value.price.month", node_month=month, gpu_hour=gpu_hour)
    kind = "value.price.hour" if plan.billing_unit == "hour" else "value.price"
    if plan.mix is not None:
        kind = "value.price.mean"
    elif plan.purchase == "bought":
        kind = "value.price.bought"
    return sentence(kind, gpu_hour=gpu_hour, node_hour=node_hour)


def mix_rows(plan: Plan) -> list[Row]:
    """Return base and rest of a mix, a row each."""
    return [
        Row(
            sentence(f"row.mix.{name}"),
            sentence(
                "value.mix",
                nodes=part["nodes"],
                offer=part["offer"],
                purchase=label("purchase", part["purchase"]),
                node_hour=format_usd(part["usd_per_node_hour"]),
            ),
        )
        for name, part in zip(("base", "rest"), plan.mix or (), strict=False)
    ]


def lost_rows(plan: Plan) -> list[Row]:
    """Return the part of the run that failures take, where it is worth a row."""
    if plan.lost_share < SHOWN_LOSS:
        return []
    return [Row(sentence("row.lost"), percent(plan.lost_share))]


def buying_section(plan: Plan) -> list[Section]:
    """Return what buying the nodes means, where they are bought."""
    bought = plan.purchase_plan
    if bought is None:
        return []
    resale = sentence(
        "value.resale", usd=format_usd(bought["resale_usd"]), years=bought["years"]
    )
    yearly = sentence("value.yearly", usd=format_usd(bought["usd_per_year"]))
    full_use = sentence("value.full_use", usd=format_usd(bought["usd_per_gpu_hour"]))
    rows = (
        Row(sentence("row.outlay"), format_usd(bought["outlay_usd"])),
        Row(sentence("row.resale"), resale),
        Row(sentence("row.yearly"), yearly),
        Row(sentence("row.full_use"), full_use),
        Row(sentence("row.break_even"), _break_even(bought)),
    )
    return [Section("section.purchase", rows)]


def _break_even(bought: dict[str, Any]) -> str:
    """Return from how much use on buying is cheaper than renting."""
    even = bought["break_even"]
    if even is None:
        return sentence("value.break_even.none")
    values = {
        "cost": format_usd(even["cost_usd"]),
        "gpu": gpu_name(even["gpu"]),
        "offer": even["offer"],
        "purchase": purchase_text(even["purchase"]),
    }
    months = even["months"]
    if months is None:
        return sentence("value.break_even.never", **values)
    late = months > bought["years"] * MONTHS_A_YEAR
    kind = "value.break_even.late" if late else "value.break_even"
    return sentence(kind, months=months, **values)
