"""What a plan has to say of deliveries that it waits for or leaves, and of terms."""

from __future__ import annotations

import numpy as np

from solver.candidates import CandidateTable
from solver.catalog.terms import term_text
from solver.cost import rent_usd
from solver.geography import around
from solver.options import Option
from solver.plan import Message
from solver.scenario.quotas import covers
from solver.setting import Setting
from solver.units import HOUR


def unused_usd(setting: Setting, one: CandidateTable) -> float:
    """Rent of what is paid beyond the expected run: rest of a term or of a unit."""
    waiting = around(setting, one.option, one.tier).unpaid_s
    unused = one.billed_s - (one.duration_s - waiting)
    # what is billed by the second leaves nothing but float noise
    if unused[0] <= 1e-9 * one.billed_s[0]:
        return 0.0
    price = setting.arrays.usd_per_node_hour[one.option]
    return float(rent_usd(one.rented_nodes, price, unused)[0])


def calendar_notes(
    setting: Setting, option: Option, one: CandidateTable
) -> list[Message]:
    """That a job keeps its size, where earlier or later nodes make one think of it."""
    nodes = int(one.rented_nodes[0])
    start = option.start or setting.scenario.start_date
    found = []
    if option.fewer_nodes:
        fewer = option.fewer_nodes
        found.append(
            Message.of("note.waits", start=start.isoformat(), nodes=nodes, fewer=fewer)
        )
    later = [d for d in option.offer.available if d.start and d.start > start]
    if later:
        days = ", ".join(f"{d.nodes:,} on {d.start}" for d in later)
        found.append(Message.of("note.keeps-size", nodes=nodes, later=days))
    return found


def spare_notes(setting: Setting, one: CandidateTable) -> list[Message]:
    """That more spares than were tried could do still better."""
    failures, spares = setting.scenario.failures, int(one.spares[0])
    if failures.spares is not None or not spares:
        return []
    if spares < max(setting.scenario.spare_choices):
        return []
    return [Message.of("note.more-spares", spares=spares, more=2 * spares)]


def quota_notes(setting: Setting, option: Option) -> list[Message]:
    """Quotas of vCPUs that could not be held against a server of unknown vCPUs."""
    if option.server.vcpus is not None:
        return []
    return [
        Message.of("warning.quota-unknown", limit=quota.limit)
        for quota in setting.scenario.quotas
        if quota.unit == "vcpus" and covers(quota, option.offer, option.gpu.id)
    ]


def term_notes(setting: Setting, option: Option, one: CandidateTable) -> list[Message]:
    """Time that is committed to and not used, or used beyond the term."""
    hours = option.offer.min_term_hours
    if not hours:
        return []
    term, unused = term_text(hours), unused_usd(setting, one)
    if unused:
        part = unused / float(one.compute_usd[0])
        share = f"{part:.0%}" if part >= 0.005 else "<1%"
        values = {"term": term, "unused": round(unused), "share": share}
        return [Message.of("warning.term", **values)]
    if np.all(one.billed_s > hours * HOUR):
        return [Message.of("warning.term-passed", term=term)]
    return []
