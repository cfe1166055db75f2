"""What a plan has to say of deliveries that it waits for or leaves, and of terms."""

from __future__ import annotations

from collections.abc import Iterable

from solver.candidates import CandidateTable
from solver.catalog.terms import term_text
from solver.messages import sentence
from solver.options import Option
from solver.plan import Message
from solver.planning.node_parts import NodePart
from solver.scenario.quotas import covers
from solver.setting import Setting
from solver.units import HOUR
from solver.wording import day_text, listed

SMALL_SHARE = 0.005
"""Less than this is told as below one per cent."""


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
            Message.of("note.waits", start=day_text(start), nodes=nodes, fewer=fewer)
        )
    available = [d for part in option.parts for d in part.offer.available]
    later = [d for d in available if d.start and d.start > start]
    if later:
        days = listed(
            sentence("value.later-nodes", nodes=d.nodes, day=day_text(d.start))
            for d in later
            if d.start
        )
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
    unknown = [p.offer for p in option.parts if p.server.vcpus is None]
    return [
        Message.of("warning.quota-unknown", limit=quota.limit)
        for quota in setting.scenario.quotas
        if quota.unit == "vcpus"
        and any(covers(quota, offer, option.gpu.id) for offer in unknown)
    ]


def term_notes(parts: Iterable[NodePart]) -> list[Message]:
    """Time that is committed to and not used, or used beyond the term."""
    return [note for part in parts for note in _term_note(part)]


def _term_note(part: NodePart) -> list[Message]:
    offer = part.option.offer
    if not offer.min_term_hours or offer.purchase == "bought":
        return []  # a bought node has its own notes
    term = term_text(offer.min_term_hours)
    if part.unused_usd:
        share = part.unused_usd / part.rent_usd
        values = {
            "term": term,
            "unused": round(part.unused_usd),
            "share": f"{share:.0%}" if share >= SMALL_SHARE else "<1%",
        }
        return [Message.of("warning.term", **values)]
    if part.billed_s > offer.min_term_hours * HOUR:
        return [Message.of("warning.term-passed", term=term)]
    return []
