"""The page of an answer: headline, proof, runners-up, and why there is no plan."""

from __future__ import annotations

from typing import Any

from solver.messages import has_text, sentence
from solver.plan import Alternative, Message, Plan, PlanResult
from solver.provenance import source_text
from solver.report.explanation_rows import explanation_parts
from solver.report.figures import (
    Grid,
    Page,
    Row,
    Section,
    duration_text,
    label,
    region_text,
    rented_text,
    where_text,
)
from solver.report.plan_rows import plan_sections
from solver.report.purchase_rows import cost_text, headline_id, purchase_text
from solver.units import format_duration_s, format_mwh, format_tonnes, format_usd
from solver.wording import day_text

__all__ = ["headline", "known_text", "message_section", "page", "proof_section"]


_RANGES = frozenset(("nodes", "batch"))
"""Axes of which the least and the most value are given."""

_SHOWN_IN_DAYS = 0.05
"""Least difference, days, that one decimal of a day shows."""

_MOST_VALUES = 4
"""Longest list of an axis's values that is printed in full."""


def page(result: PlanResult) -> Page:
    """Return the answer to one scenario as a page, whatever its status."""
    parts: list[Section | Grid] = []
    if result.plan is not None:
        parts.extend(plan_sections(result.plan))
    if result.explanation is not None:
        parts.extend(explanation_parts(result.explanation))
    parts.append(proof_section(result))
    if result.alternatives:
        parts.append(_alternatives(result))
    if result.plan is not None:
        if result.plan.warnings:
            parts.append(message_section("section.warnings", result.plan.warnings))
        parts.append(_provenance(result.plan, result.versions))
    return Page(headline(result), result.plan is not None, tuple(parts))


def headline(result: PlanResult) -> str:
    """Return the decision and how it is known, in one sentence."""
    plan = result.plan
    if plan is None:
        if result.explanation is None:
            return sentence(f"headline.{result.status}")
        decision = sentence("headline.infeasible")
        why = result.explanation.summary
        return sentence("headline.why", decision=decision, why=why)
    decision = sentence(
        headline_id(plan.purchase),
        what=rented_text(plan),
        where=where_text(plan.provider, plan.region),
        cost=cost_text(plan),
        duration=duration_text(plan.duration_days),
    )
    return sentence("headline.known", decision=decision, known=known_text(result))


def known_text(result: PlanResult) -> str:
    """Return how the answer is known: proved, or with which gap."""
    if result.status == "optimal":
        return _proved(result.objective)
    if result.proof.gap is None:
        return sentence("headline.feasible.no-bound")
    return sentence("headline.feasible", gap=_gap(result.proof.gap))


def _proved(objective: str) -> str:
    """Return what was proved, for the objective of the scenario."""
    message_id = f"headline.optimal.{objective}"
    if not has_text(message_id):
        message_id = "headline.optimal.weighted"
    return sentence(message_id)


def _gap(gap: float) -> str:
    """Return a gap in per cent, rounded up so that it is never understated."""
    tenths = -(-gap * 1000 // 1)
    return f"{tenths / 10:g}%"


def proof_section(result: PlanResult) -> Section:
    """Return how the answer is known, and over what."""
    proof = result.proof
    rows = [Row(sentence("row.status"), sentence(f"status.{result.status}"))]
    if proof.bound is not None:
        bound = _bound(proof.bound, proof.unit)
        if proof.gap is not None:
            bound = sentence("value.bound", bound=bound, gap=_gap(proof.gap))
        rows.append(Row(sentence("row.bound"), bound))
    if proof.candidates:
        searched = sentence(
            "value.searched", candidates=proof.candidates, pruned=proof.pruned
        )
        rows.append(Row(sentence("row.searched"), searched))
    if proof.layouts:
        layouts = sentence(
            "value.layouts",
            layouts=proof.layouts,
            memory=proof.layouts_out_of_memory,
            bounded=proof.layouts_bounded,
        )
        rows.append(Row(sentence("row.layouts"), layouts))
    if proof.lattice:
        rows.append(Row(sentence("row.lattice"), _lattice(proof.lattice)))
    if proof.within_error and result.plan is not None:
        ties = sentence("value.ties", count=proof.within_error)
        rows.append(Row(sentence("row.ties"), ties))
    wall_time = format_duration_s(proof.wall_time_s)
    rows.append(Row(sentence("row.wall_time"), wall_time))
    return Section("section.proof", tuple(rows))


def _bound(bound: float, unit: str) -> str:
    """Return the proved bound in its unit."""
    if unit == "MWh":
        return format_mwh(bound)
    if unit == "t CO2":
        return sentence("value.carbon", carbon=format_tonnes(bound))
    return duration_text(bound) if unit == "days" else format_usd(bound)


def _lattice(lattice: dict[str, Any]) -> str:
    """Return the axes and limits that were searched: ``TP 1, 2, 4 · nodes 1–64``.

    Conditions in words are left to the JSON object.
    """
    return " · ".join(
        f"{label('axis', axis)} {_axis(axis, values)}"
        for axis, values in lattice.items()
        if not isinstance(values, str | bool | None) and values not in ([], ())
    )


def _axis(axis: str, values: Any) -> str:
    """Return the values of one axis, or its limits where there are many."""
    if not isinstance(values, list | tuple):
        return f"{values:,}"
    shown = list(dict.fromkeys(str(value) for value in values))
    if len(shown) > 1 and (axis in _RANGES or len(shown) > _MOST_VALUES):
        return f"{shown[0]}–{shown[-1]}"
    return ", ".join(shown)


def _alternatives(result: PlanResult) -> Grid:
    """Return the runners-up with what each would change."""
    return Grid(
        "section.alternatives",
        (
            sentence("column.kind"),
            sentence("column.plan"),
            sentence("column.cost_change"),
            sentence("column.duration_change"),
        ),
        tuple(_alternative(a) for a in result.alternatives),
        right=(2, 3),
    )


def _alternative(alternative: Alternative) -> tuple[str, ...]:
    """Return one runner-up as a row."""
    plan = alternative.plan
    text = sentence(
        "value.alternative",
        what=rented_text(plan),
        place=_place(plan),
        purchase=purchase_text(plan.purchase),
    )
    if alternative.kind == "batch":
        batch = plan.layout.global_batch_size
        text = sentence("value.alternative.batch", plan=text, batch=batch)
    if alternative.kind == "start":
        text = _with_start(text, plan.start)
    usd = alternative.cost_change_usd
    return (
        label("alternative", alternative.kind),
        text,
        f"{'+' if usd >= 0 else ''}{format_usd(usd, 0 if abs(usd) >= 100 else None)}",
        _change(alternative.duration_change_days),
    )


def _with_start(text: str, start: str | None) -> str:
    """Return a plan in words with the day on which its nodes are there."""
    if start is None:
        return sentence("value.alternative.now", plan=text)
    return sentence("value.alternative.start", plan=text, start=day_text(start))


def _change(days: float) -> str:
    """Return a difference of durations with its sign; days have no unit."""
    if abs(days) >= _SHOWN_IN_DAYS or not days:
        return f"{days:+,.1f}"
    return f"{'+' if days > 0 else '-'}{duration_text(abs(days))}"


def _place(plan: Plan) -> str:
    """Return provider and region in short."""
    region = region_text(plan.region)
    if region != plan.region:  # not stated
        return plan.provider
    return sentence("value.alternative.place", provider=plan.provider, region=region)


def message_section(section_id: str, messages: tuple[Message, ...]) -> Section:
    """Return messages as a section, one a row."""
    return Section(section_id, tuple(Row("", message.text) for message in messages))


def _provenance(plan: Plan, versions: dict[str, str]) -> Section:
    """Return where the figures come from, and what computed them."""
    rows = [
        Row(label("provenance", name), source_text(source))
        for name, source in plan.provenance.items()
    ]
    if versions:
        text = ", ".join(f"{name} {version}" for name, version in versions.items())
        rows.append(Row(sentence("row.versions"), text))
    return Section("section.provenance", tuple(rows))
