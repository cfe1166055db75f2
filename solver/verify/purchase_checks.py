"""The checks of how nodes are had: kinds, mixes of two offers, and what is bought."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from solver.catalog.schema import Server
from solver.units import MONTH_HOURS
from solver.verify.evidence import Evidence
from solver.verify.figures import Figures
from solver.verify.violation import Violation, facts, figures

SAME = 1e-6
"""Relative difference up to which what a purchase means is the same."""

YEAR_HOURS = 8_760

BASE_KINDS = {"reserved", "monthly", "owned", "bought"}

POOL_FIELDS = (
    "gpu",
    "gpus_per_node",
    "intra_node",
    "intra_node_kind",
    "intra_node_gb_per_s",
    "nvlink_pair_only",
    "nvlink_domain_gpus",
    "network",
    "network_gbps",
)
"""What nodes that work on one job have in common."""


def check_purchase(evidence: Evidence, _: Figures) -> Iterator[Violation]:
    """The purchase kinds are the offers' and allowed, and a mix is of one pool.

    Who lists own offers and says nothing of purchase means to use them, but for spot.
    """
    scenario = evidence.scenario
    kinds = [part.offer.purchase for part in evidence.parts]
    yield from facts("purchase", {"purchase": "+".join(kinds)}, evidence.plan)
    allowed = list(scenario.constraints.purchase)
    if "purchase" not in scenario.constraints.stated:
        own = (offer.purchase for offer in scenario.supply.offers)
        allowed += [kind for kind in own if kind != "spot"]
    for kind in kinds:
        if kind not in allowed:
            message = "purchase is not allowed"
            yield Violation("purchase", message, tuple(allowed), kind)
    if evidence.plan.mix is not None:
        yield from _one_pool(evidence)


def _one_pool(evidence: Evidence) -> Iterator[Violation]:
    """A base of known stock and a rest on demand, on one fabric."""
    base, rest = evidence.parts
    if base.offer.purchase not in BASE_KINDS or rest.offer.purchase != "on_demand":
        message = "no base with a rest on demand"
        got = (base.offer.purchase, rest.offer.purchase)
        yield Violation("purchase", message, (sorted(BASE_KINDS), "on_demand"), got)
    if rest.offer.id != evidence.plan.offer:
        message = "offer is not the rest of the mix"
        yield Violation("purchase", message, rest.offer.id, evidence.plan.offer)
    if base.offer.max_nodes is None and not base.offer.available:
        message = "the stock of the base is not known"
        yield Violation("purchase", message, None, base.offer.id)
    if base.offer.marketplace or rest.offer.marketplace:
        yield Violation("purchase", "a marketplace has no pool", False, True)
    places = [(p.offer.provider, p.offer.region) for p in evidence.parts]
    nodes = [_node(part.server) for part in evidence.parts]
    if places[0] != places[1] or nodes[0] != nodes[1]:
        message = "the parts are not of one pool"
        yield Violation("purchase", message, (places[0], nodes[0]), (places[1], nodes))
    if evidence.network is None:
        message = "no network joins the parts"
        yield Violation("purchase", message, "a network", None)


def _node(server: Server) -> tuple[Any, ...]:
    return tuple(getattr(server, name) for name in POOL_FIELDS)


def mix_figures(evidence: Evidence, known: Figures) -> Iterator[Violation]:
    """What a mix states of its parts is that of their offers and follows."""
    for stated, bill in zip(evidence.plan.mix or (), known.bills, strict=False):
        offer = bill.part.offer
        wanted = {
            "offer": offer.id,
            "purchase": offer.purchase,
            "nodes": bill.part.nodes,
            "billing_unit": offer.billing_unit,
        }
        for name, value in wanted.items():
            if stated.get(name) != value:
                message = f"{name} of a mix is not what was chosen"
                yield Violation("purchase", message, value, stated.get(name))
        expected = {
            "usd_per_node_hour": bill.usd_per_node_hour,
            "min_term_hours": offer.min_term_hours,
            "compute_usd": bill.usd_per_hour * bill.expected_hours,
        }
        got = {k: v for k, v in stated.items() if k not in wanted}
        yield from figures("budget", expected, got)


def purchase_figures(evidence: Evidence, known: Figures) -> Iterator[Violation]:
    """What buying means follows from the price of a node, and where it breaks even."""
    bought = [b for b in known.bills if b.part.offer.purchase == "bought"]
    stated = evidence.plan.purchase_plan
    if len(bought) != (stated is not None):
        yield Violation("purchase", "purchase_plan is out of place", bought, stated)
        return
    if stated is None:
        return
    (bill,) = bought
    offer, nodes = bill.part.offer, bill.part.nodes
    price, years = offer.buy_usd_per_node or 0.0, offer.years or 0.0
    price *= bill.usd_per_node_hour / offer.usd_per_node_hour
    hours = bill.used_hours()
    running = (bill.energy_usd() + bill.hosting_usd()) / hours
    yearly = nodes * price * (1.0 - offer.resale) / years + running * YEAR_HOURS
    expected = {
        "nodes": nodes,
        "outlay_usd": nodes * price,
        "years": years,
        "resale_usd": nodes * price * offer.resale,
        "usd_per_year": yearly,
        "usd_per_gpu_hour": yearly / (YEAR_HOURS * nodes * evidence.plan.gpus_per_node),
        "charged_usd": bill.usd_per_hour * bill.expected_hours,
        "used_hours": hours,
    }
    got = {name: value for name, value in stated.items() if name != "break_even"}
    yield from _near(expected, got)
    if "break_even" not in stated:
        yield Violation("purchase", "break_even is missing", None, dict(stated))
    elif stated["break_even"] is not None:
        own = known.cost_usd - expected["charged_usd"]
        yield from _break_even(evidence, stated["break_even"], expected, own)


def _break_even(
    evidence: Evidence, even: Mapping[str, Any], bought: Mapping[str, float], own: float
) -> Iterator[Violation]:
    """So many jobs cost as much on bought nodes as on the rented offer that is named.

    ``own`` is what one job costs on bought nodes beside their depreciation.
    """
    offer = evidence.catalog.offers.get(even["offer"])
    gpu = evidence.catalog.servers[offer.server].gpu if offer else None
    *_, kind = even["purchase"].split("+")
    if offer is None or (offer.purchase, gpu) != (kind, even["gpu"]):
        message = "nothing like that is rented out"
        yield Violation("purchase", message, offer, dict(even))
    if even["months"] is None:
        if not own >= even["cost_usd"]:
            message = "renting costs more than running what is bought"
            yield Violation("purchase", message, own, even["cost_usd"])
        return
    jobs = even["months"] * MONTH_HOURS / bought["used_hours"]
    paid = bought["outlay_usd"] - bought["resale_usd"] + jobs * own
    rent = jobs * even["cost_usd"] if math.isfinite(jobs) else math.nan
    yield from _near({"break_even": paid}, {"break_even": rent})


def _near(expected: Mapping[str, float], got: Mapping[str, Any]) -> Iterator[Violation]:
    """Violations where what a purchase means differs by more than rounding."""
    for name in sorted({*expected, *got}):
        value, found = expected.get(name), got.get(name)
        if value is None or not isinstance(found, int | float):
            yield Violation("purchase", f"{name} of buying is missing", value, found)
        elif not math.isclose(value, found, rel_tol=SAME):
            yield Violation("purchase", f"{name} of buying is wrong", value, found)
