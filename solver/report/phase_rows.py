"""The page of phases run one after the other: one row a phase, and the totals."""

from __future__ import annotations

from dataclasses import replace

from solver.messages import sentence
from solver.plan import Lease, Message, Move, PhasePlan, PlanResult, Total
from solver.provenance import source_text
from solver.report.answer_rows import known_text, message_section, page, proof_section
from solver.report.figures import (
    Grid,
    Page,
    Row,
    Section,
    duration_text,
    label,
    servers_text,
    time_of_whole,
    time_rows,
    where_text,
)
from solver.units import GB, format_bytes, format_duration_s, format_usd

__all__ = ["answer_page"]

EXPECTED = 0.5
"""The confidence at which limits are held against expected values."""

ALONE = ("warning.whole-units", "warning.term", "warning.term-passed")
"""Warnings that are about the bill of a phase that runs alone."""


def answer_page(result: PlanResult) -> Page:
    """Return the answer to a scenario, be it of one job or of several phases."""
    nested = any(isinstance(axis, dict) for axis in result.proof.lattice.values())
    if nested:  # one lattice a phase: they stand in the JSON object
        result = replace(result, proof=replace(result.proof, lattice={}))
    if result.total is None:
        return page(result)
    total = result.total
    parts: list[Section | Grid] = [_phases(result.phases), _leases(result)]
    if result.moves:
        parts.append(_moves(result.moves))
    parts += [_duration(total), _cost(total), proof_section(result)]
    warnings = _warnings(result)
    if warnings:
        parts.append(message_section("section.warnings", warnings))
    parts.append(_provenance(result))
    return Page(_headline(result, total), True, tuple(parts))


def _headline(result: PlanResult, total: Total) -> str:
    """Return the decision and how it is known, in one sentence."""
    decision = sentence(
        "headline.phases",
        phases=len(result.phases),
        leases=len(result.leases),
        cost=format_usd(total.cost_usd),
        duration=duration_text(total.duration_days),
    )
    return sentence("headline.known", decision=decision, known=known_text(result))


def _phases(phases: tuple[PhasePlan, ...]) -> Grid:
    """Return what each phase runs on, when and how."""
    names = ("phase", "servers", "place", "days", "parallel", "step")
    rows = tuple(
        (
            phase.name,
            servers_text(phase.plan.nodes, phase.plan.gpus_per_node, phase.plan.gpu),
            where_text(phase.plan.provider, phase.plan.region),
            sentence("value.days", start=phase.start_day, end=phase.end_day),
            _parallel(phase),
            format_duration_s(phase.plan.step_time_s),
        )
        for phase in phases
    )
    heads = tuple(sentence(f"column.{name}") for name in names)
    return Grid("section.phases", heads, rows, right=(3, 5))


def _parallel(phase: PhasePlan) -> str:
    """Return the degrees above one: ``TP 2 DP 8``."""
    layout = phase.plan.layout
    degrees = {
        name.upper(): getattr(layout, name) for name in ("tp", "pp", "cp", "ep", "dp")
    }
    some = [f"{name} {n}" for name, n in degrees.items() if n > 1 or name == "DP"]
    return " ".join(some)


def _leases(result: PlanResult) -> Grid:
    """Return what is rented and paid, a row a lease."""
    names = ("lease", "storage", "waited", "paid", "cost")
    rows = tuple(
        (
            ", ".join(lease.phases),
            lease.storage or sentence("value.storage.none"),
            duration_text(lease.wait_days) if lease.wait_days > 0 else "–",
            f"{lease.nodes:,} × {lease.billed_hours:,.1f}",
            format_usd(_usd(lease)),
        )
        for lease in result.leases
    )
    heads = tuple(sentence(f"column.{name}") for name in names)
    return Grid("section.leases", heads, rows, right=(2, 3, 4))


def _usd(lease: Lease) -> float:
    """Return the expected bill of a lease."""
    return lease.compute_usd + lease.storage_usd + lease.data_usd


def _moves(moves: tuple[Move, ...]) -> Grid:
    """Return what moves, from where to where, at what price."""
    names = ("after", "from", "to", "checkpoint", "price", "time")
    rows = tuple(
        (
            move.after,
            move.origin,
            move.destination,
            format_bytes(move.checkpoint_gb * GB),
            format_usd(move.checkpoint_usd + move.data_usd)
            if move.price_known
            else sentence("value.unknown"),
            duration_text(move.days),
        )
        for move in moves
    )
    heads = tuple(sentence(f"column.{name}") for name in names)
    return Grid("section.moves", heads, rows, right=(3, 4, 5))


def _duration(total: Total) -> Section:
    """Return how long everything takes, by part."""
    whole = total.duration_days
    rows = [
        *time_rows(total.duration_parts_days, whole),
        Row(sentence("row.total"), time_of_whole(whole, whole)),
        Row(sentence("row.p90"), time_of_whole(total.duration_p90_days, whole)),
    ]
    if total.confidence != EXPECTED:
        late = time_of_whole(total.duration_at_confidence_days, whole)
        rows.append(Row(_at_confidence(total), late))
    return Section("section.duration", tuple(rows), numeric=True)


def _at_confidence(total: Total) -> str:
    """Return the label of what limits are held against."""
    return sentence("row.confidence", confidence=total.confidence)


def _cost(total: Total) -> Section:
    """Return what everything costs, by part."""
    whole = total.cost_usd
    rows = [
        Row(label("part", name), format_usd(usd), share=usd / whole if whole > 0 else 0)
        for name, usd in total.cost_parts_usd.items()
        if usd
    ]
    rows.append(Row(sentence("row.total"), format_usd(whole)))
    rows.append(Row(sentence("row.p90"), format_usd(total.cost_p90_usd)))
    if total.confidence != EXPECTED:
        bill = format_usd(total.cost_at_confidence_usd)
        rows.append(Row(_at_confidence(total), bill))
    rows.append(Row(sentence("row.gpu_hours"), f"{total.gpu_hours:,.0f}"))
    return Section("section.cost", tuple(rows), numeric=True)


def _warnings(result: PlanResult) -> tuple[Message, ...]:
    """Return what is to be known of the chain and of its plans, each once."""
    found = {message.text: message for message in result.warnings}
    for phase in result.phases:
        for message in phase.plan.warnings:
            if message.id not in ALONE:
                found.setdefault(message.text, message)
    return tuple(found.values())


def _provenance(result: PlanResult) -> Section:
    """Return where the figures come from, each source once."""
    rows: dict[tuple[str, str], Row] = {}
    for phase in result.phases:
        for name, source in phase.plan.provenance.items():
            text = source_text(source)
            rows.setdefault((name, text), Row(label("provenance", name), text))
    versions = ", ".join(f"{name} {v}" for name, v in result.versions.items())
    ordered = [rows[key] for key in sorted(rows)]
    ordered.append(Row(sentence("row.versions"), versions))
    return Section("section.provenance", tuple(ordered))
