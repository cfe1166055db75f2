"""The checks of what an offer has, from when on, and what of it is paid for."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import timedelta

from solver.scenario.scenario import Quota
from solver.verify.evidence import Evidence
from solver.verify.figures import Figures
from solver.verify.violation import Violation, at_most, facts, figures


def check_stock(evidence: Evidence, known: Figures) -> Iterator[Violation]:
    """The offer has the nodes, sells as few, and the plan says what is known of it."""
    nodes, is_known = known.stock
    plan = evidence.plan
    wanted = {"stock_nodes": nodes, "stock_known": is_known}
    yield from facts("stock", wanted, plan)
    least, rented = max(1, evidence.offer.min_nodes), known.rented_nodes
    if type(plan.nodes) is not int or not least <= rented <= nodes:
        yield Violation("stock", "not so many nodes", (least, nodes), rented)


def check_cluster(evidence: Evidence, known: Figures) -> Iterator[Violation]:
    """One fabric of the offer holds all nodes of the job, spares included."""
    plan, most = evidence.plan, evidence.offer.max_nodes_per_cluster
    yield from facts("cluster", {"cluster_nodes": most}, plan)
    if most is not None and not known.rented_nodes <= most:
        message = "more nodes than one fabric has"
        yield Violation("cluster", message, most, known.rented_nodes)


def check_lead_time(evidence: Evidence, known: Figures) -> Iterator[Violation]:
    """The plan starts when nodes that are ordered on its day 0 can be used."""
    days, order = evidence.offer.lead_time_days, evidence.scenario.start_date
    wanted = {"lead_time_days": days, "order_date": order.isoformat()}
    yield from facts("lead_time", wanted, evidence.plan)
    earliest = order + timedelta(days=days)
    if known.start < earliest:
        yield Violation("lead_time", "it starts too early", earliest, known.start)


def check_term(evidence: Evidence, known: Figures) -> Iterator[Violation]:
    """The term is the offer's and paid in full, and the plan says what is not used."""
    plan, hours = evidence.plan, evidence.offer.min_term_hours
    yield from facts("term", {"min_term_hours": hours}, plan)
    paid = known.expected_hours
    unused = max(0.0, paid - known.used_hours)
    rent = known.rented_nodes * known.usd_per_node_hour
    expected = {"unused_term_usd": rent * unused if unused > 1e-9 * paid else 0.0}
    yield from figures("term", expected, {"unused_term_usd": plan.unused_term_usd})
    if not at_most(hours, plan.gpu_hours / (known.rented_nodes * plan.gpus_per_node)):
        yield Violation("term", "less is paid than the term", hours, plan.gpu_hours)


def check_quota(evidence: Evidence, known: Figures) -> Iterator[Violation]:
    """No quota that the offer falls under is passed, and the plan says what is left."""
    plan, most = evidence.plan, None
    for quota in evidence.scenario.quotas:
        size = _counted(quota, evidence)
        if size is None:
            continue
        nodes = quota.limit // size
        most = nodes if most is None else min(most, nodes)
        if not known.rented_nodes * size <= quota.limit:
            message = f"more {quota.unit} than the quota"
            yield Violation("quota", message, quota.limit, known.rented_nodes * size)
    yield from facts("quota", {"quota_nodes": most}, plan)


def check_spares(evidence: Evidence, _: Figures) -> Iterator[Violation]:
    """The number of spare nodes is one that the user allows."""
    failures, got = evidence.scenario.failures, evidence.plan.spare_nodes
    allowed = failures.spares
    if allowed is None and not failures.replacement_s:
        allowed = (0,)  # no failure is waited for
    if type(got) is not int or got < 0 or (allowed is not None and got not in allowed):
        yield Violation("spares", "spare_nodes is not allowed", allowed, got)


def _counted(quota: Quota, evidence: Evidence) -> int | None:
    """What a node counts towards a quota; None if it does not fall under it."""
    offer, server = evidence.offer, evidence.server
    named = (
        (quota.providers, offer.provider),
        (quota.regions, offer.region),
        (quota.gpus, evidence.gpu.id),
        (None if quota.purchase is None else (quota.purchase,), offer.purchase),
    )
    if any(wanted is not None and got not in wanted for wanted, got in named):
        return None
    sizes = {"nodes": 1.0, "gpus": server.gpus_per_node, "vcpus": server.vcpus}
    size = sizes[quota.unit]
    return None if size is None else math.ceil(size)
