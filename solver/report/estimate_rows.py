"""The page of an estimate: one pinned layout, its memory and its step by part."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solver.messages import sentence
from solver.report.alignment_rows import alignment_section, rollout_row
from solver.report.answer_rows import message_section
from solver.report.figures import (
    Grid,
    Page,
    Row,
    Section,
    duration_text,
    servers_text,
)
from solver.report.plan_rows import layout_section, memory_section, step_section
from solver.units import format_duration_s

if TYPE_CHECKING:
    from solver.planning.estimate import Estimate

__all__ = ["estimate_page"]


def estimate_page(estimate: Estimate) -> Page:
    """Return an estimate as a page."""
    parts: list[Section | Grid] = [
        _hardware(estimate),
        layout_section(estimate.layout, estimate.framework),
        memory_section(estimate.memory_gib),
        step_section(
            estimate.step_time_parts_s,
            estimate.step_time_s,
            estimate.mfu,
            estimate.tokens_per_s,
            (estimate.step_time_p10_s, estimate.step_time_p90_s),
            estimate.efficiency,
        ),
    ]
    parts += alignment_section(estimate.alignment)
    if estimate.notes:
        parts.append(message_section("section.notes", estimate.notes))
    fits = estimate.verdict != "impossible"
    return Page(_headline(estimate), fits, tuple(parts))


def _headline(estimate: Estimate) -> str:
    """Return whether it fits and how long a step takes, in one sentence."""
    what = servers_text(
        estimate.nodes,
        estimate.gpus // estimate.nodes,
        estimate.gpu,
        rollout_nodes=estimate.layout.rollout_nodes,
    )
    verdict = sentence(
        f"headline.estimate.{estimate.verdict}",
        step=format_duration_s(estimate.step_time_s),
        training=duration_text(estimate.training_days),
    )
    return sentence("headline.why", decision=what, why=verdict)


def _hardware(estimate: Estimate) -> Section:
    """Return what the layout runs on."""
    what = servers_text(estimate.nodes, estimate.gpus // estimate.nodes, estimate.gpu)
    rows = (
        Row(sentence("row.servers"), what, note=estimate.server),
        *rollout_row(estimate.layout.rollout_nodes, estimate.gpus // estimate.nodes),
        Row(
            sentence("row.network"),
            estimate.network or sentence("value.network.none"),
        ),
        Row(sentence("row.training"), duration_text(estimate.training_days)),
    )
    return Section("section.hardware", rows)
