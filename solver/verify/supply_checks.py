"""The checks of what an offer has, from when on, and what of it is paid for."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import timedelta

from solver.scenario.scenario import Quota
from solver.verify.evidence import Evidence, Part
from solver.verify.figures import Figures
from solver.verify.violation import Violation, at_most, facts, figures


def check_stock(evidence: Evidence, known: Figures) -> Iterator[Violation]:
    """Each offer has the nodes, sells as few, and the plan says what is known of it."""
    nodes, is_known = known.stock
    plan = evidence.plan
    wanted = {"stock_nodes": nodes, "stock_known": is_known}
    yield from facts("stock", wanted, plan)
    if type(plan.nodes) is not int:
        yield Violation("stock", "not so many nodes", nodes, plan.nodes)
    for bill in known.bills:
        most, _ = bill.stock(known.start)
        least = max(1, bill.part.offer.min_nodes)
        if not least <= bill.part.nodes <= most:
            got = bill.part.nodes
            yield Violation("stock", "not so many nodes", (least, most), got)


def check_cluster(evidence: Evidence, known: Figures) -> Iterator[Violation]:
    """One fabric of each offer holds all nodes of the job, spares included."""
    limits = [part.offer.max_nodes_per_cluster for part in evidence.parts]
    most = min((limit for limit in limits if limit is not None), default=None)
    plan = evidence.plan
    yield from facts("cluster", {"cluster_nodes": most}, plan)
    if most is not None and not known.rented_nodes <= most:
        message = "more nodes than one fabric has"
        yield Violation("cluster", message, most, known.rented_nodes)


def check_lead_time(evidence: Evidence, known: Figures) -> Iterator[Violation]:
    """The plan starts when nodes that are ordered on its day 0 can be used."""
    days = max(part.offer.lead_time_days for part in evidence.parts)
    order = evidence.scenario.start_date
    wanted = {"lead_time_days": days, "order_date": order.isoformat()}
    yield from facts("lead_time", wanted, evidence.plan)
    earliest = order + timedelta(days=days)
    if known.start < earliest:
        yield Violation("lead_time", "it starts too early", earliest, known.start)


def check_term(evidence: Evidence, known: Figures) -> Iterator[Violation]:
    """Each term is the offer's and paid in full, and the plan says what is unused."""
    plan, parts = evidence.plan, evidence.parts
    hours = max(part.offer.min_term_hours for part in parts)
    yield from facts("term", {"min_term_hours": hours}, plan)
    unused = math.fsum(bill.unused_usd for bill in known.bills)
    stated = {"unused_term_usd": plan.unused_term_usd}
    yield from figures("term", {"unused_term_usd": unused}, stated)
    committed = sum(part.nodes * part.offer.min_term_hours for part in parts)
    if not at_most(committed, plan.gpu_hours / plan.gpus_per_node):
        message = "less is paid than the term"
        yield Violation("term", message, committed, plan.gpu_hours)


def check_quota(evidence: Evidence, _: Figures) -> Iterator[Violation]:
    """No quota that an offer falls under is passed, and the plan says what is left."""
    plan, most = evidence.plan, None
    for quota in evidence.scenario.quotas:
        sizes = [_counted(quota, evidence, part) for part in evidence.parts]
        if all(size is not None for size in sizes):
            nodes = quota.limit // max(size or 0 for size in sizes)
            most = nodes if most is None else min(most, nodes)
        pairs = zip(sizes, evidence.parts, strict=True)
        count = sum((size or 0) * part.nodes for size, part in pairs)
        if not count <= quota.limit:
            message = f"more {quota.unit} than the quota"
            yield Violation("quota", message, quota.limit, count)
    yield from facts("quota", {"quota_nodes": most}, plan)


def check_spares(evidence: Evidence, _: Figures) -> Iterator[Violation]:
    """The number of spare nodes is one that the user allows."""
    failures, got = evidence.scenario.failures, evidence.plan.spare_nodes
    allowed = failures.spares
    if allowed is None and not failures.replacement_s:
        allowed = (0,)  # no failure is waited for
    if type(got) is not int or got < 0 or (allowed is not None and got not in allowed):
        yield Violation("spares", "spare_nodes is not allowed", allowed, got)


def _counted(quota: Quota, evidence: Evidence, part: Part) -> int | None:
    """What a node counts towards a quota; None if it does not fall under it."""
    offer, server = part.offer, part.server
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
