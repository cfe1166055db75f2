"""The page of an answer: headline, proof, runners-up, and why there is no plan."""

from __future__ import annotations

from typing import Any

from solver.messages import has_text, sentence
from solver.plan import Alternative, Explanation, Message, Plan, PlanResult
from solver.report.figures import Grid, Page, Row, Section, label, number, servers_text
from solver.report.plan_rows import duration_text, memory_section, plan_sections
from solver.rules import RULES
from solver.units import format_duration_s, format_usd

__all__ = ["headline", "message_section", "page"]


def page(result: PlanResult) -> Page:
    """Return the answer to one scenario as a page, whatever its status."""
    parts: list[Section | Grid] = []
    if result.plan is not None:
        parts.extend(plan_sections(result.plan))
    if result.explanation is not None:
        parts.extend(_explanation(result.explanation))
    parts.append(_proof(result))
    if result.alternatives:
        parts.append(_alternatives(result))
    if result.plan is not None:
        if result.plan.warnings:
            parts.append(message_section("section.warnings", result.plan.warnings))
        parts.append(_provenance(result.plan, result.versions))
    return Page(headline(result), result.plan is not None, tuple(parts))


def headline(result: PlanResult) -> str:
    """Return the decision and how it is known, in one sentence."""
    plan, proof = result.plan, result.proof
    if plan is None:
        if result.explanation is None:
            return sentence(f"headline.{result.status}")
        return f"{sentence('headline.infeasible')}: {result.explanation.summary}"
    decision = sentence(
        "headline.use" if plan.purchase == "owned" else "headline.rent",
        what=servers_text(plan.nodes, plan.gpus_per_node, plan.gpu),
        provider=plan.provider,
        region=plan.region,
        cost=format_usd(plan.cost_usd),
        duration=duration_text(plan.duration_days),
    )
    if result.status == "optimal":
        known = _proved(result.objective)
    elif proof.gap is None:
        known = sentence("headline.feasible.no-bound")
    else:
        known = sentence("headline.feasible", gap=_gap(proof.gap))
    return f"{decision} – {known}"


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


def _proof(result: PlanResult) -> Section:
    """Return how the answer is known, and over what."""
    proof = result.proof
    rows = [Row(sentence("row.status"), sentence(f"status.{result.status}"))]
    if proof.bound is not None:
        bound = _bound(proof.bound, result.objective)
        if proof.gap is not None:
            bound = sentence("value.bound", bound=bound, gap=_gap(proof.gap))
        rows.append(Row(sentence("row.bound"), bound))
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


def _bound(bound: float, objective: str) -> str:
    """Return the proved bound in the unit of the objective."""
    if objective == "time":
        return duration_text(bound)
    return format_usd(bound)


def _lattice(lattice: dict[str, Any]) -> str:
    """Return the axes and limits that were searched: ``tp 1–8 · pp 1, 2, 4``."""
    return " · ".join(
        f"{label('axis', axis)} {_axis(values)}" for axis, values in lattice.items()
    )


def _axis(values: Any) -> str:
    """Return the values of one axis, shortened where there are many."""
    if not isinstance(values, list | tuple):
        return f"{values:,}" if isinstance(values, int) else str(values)
    if len(values) > 6:
        return f"{values[0]}–{values[-1]}"
    return ", ".join(str(value) for value in values)


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
        what=servers_text(plan.nodes, plan.gpus_per_node, plan.gpu),
        provider=plan.provider,
        region=plan.region,
        purchase=label("purchase", plan.purchase),
    )
    if alternative.kind == "batch":
        batch = plan.layout.global_batch_size
        text = sentence("value.alternative.batch", plan=text, batch=batch)
    usd = alternative.cost_change_usd
    return (
        label("alternative", alternative.kind),
        text,
        f"{'+' if usd >= 0 else ''}{format_usd(usd)}",
        f"{alternative.duration_change_days:+,.1f}",
    )


def message_section(section_id: str, messages: tuple[Message, ...]) -> Section:
    """Return messages as a section, one a row."""
    return Section(section_id, tuple(Row("", message.text) for message in messages))


def _provenance(plan: Plan, versions: dict[str, str]) -> Section:
    """Return where the figures come from, and what computed them."""
    rows = [Row(label("provenance", k), v) for k, v in plan.provenance.items()]
    if versions:
        text = ", ".join(f"{name} {version}" for name, version in versions.items())
        rows.append(Row(sentence("row.versions"), text))
    return Section("section.provenance", tuple(rows))


def rule_title(rule_id: str) -> str:
    """Return what a requirement is called; an unknown id stands for itself."""
    if has_text(f"rule.{rule_id}"):
        return sentence(f"rule.{rule_id}")
    titles = {rule.id: rule.title for rule in RULES}
    return titles.get(rule_id, rule_id)


def _explanation(explanation: Explanation) -> list[Section | Grid]:
    """Return why there is no plan, and what would open one."""
    rows = [
        Row(sentence("row.kind"), sentence(f"explanation.{explanation.kind}")),
    ]
    if explanation.conflict:
        conflict = ", ".join(rule_title(rule_id) for rule_id in explanation.conflict)
        rows.append(Row(sentence("row.conflict"), conflict))
    parts: list[Section | Grid] = [Section("section.explanation", tuple(rows))]
    if explanation.relaxations:
        parts.append(_relaxations(explanation.relaxations))
    if explanation.nearest_miss:
        parts.extend(_nearest_miss(explanation.nearest_miss))
    if explanation.counts:
        parts.append(_counts(explanation.counts))
    return parts


def _relaxations(relaxations: tuple[dict[str, Any], ...]) -> Grid:
    """Return the least changes that open a plan."""
    rows = tuple(
        (
            rule_title(str(relaxation["constraint"])),
            _text(relaxation.get("now")),
            _text(relaxation.get("needed")),
        )
        for relaxation in relaxations
    )
    columns = ("column.constraint", "column.now", "column.needed")
    return Grid("section.relaxations", tuple(sentence(c) for c in columns), rows)


def _nearest_miss(miss: dict[str, Any]) -> list[Section | Grid]:
    """Return what came nearest: its facts, and its memory by part where given."""
    memory = miss.get("memory_gib")
    rows = tuple(
        Row(label("miss", key), _text(value))
        for key, value in miss.items()
        if key != "memory_gib" and value is not None
    )
    parts: list[Section | Grid] = [Section("section.nearest", rows)]
    if isinstance(memory, dict):
        parts.append(memory_section(memory))
    return parts


def _counts(counts: dict[str, int]) -> Grid:
    """Return how many offers or layouts each requirement removed, most first."""
    ordered = sorted(counts.items(), key=lambda item: -item[1])
    return Grid(
        "section.counts",
        (sentence("column.requirement"), sentence("column.removed")),
        tuple((rule_title(name), f"{count:,}") for name, count in ordered),
        right=(1,),
    )


def _text(value: Any) -> str:
    """Return any JSON value as short text."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return sentence("value.yes" if value else "value.no")
    if isinstance(value, float):
        return number(value)
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, dict):
        return ", ".join(f"{k.replace('_', ' ')} {_text(v)}" for k, v in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(_text(item) for item in value)
    return str(value)
