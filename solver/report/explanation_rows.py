"""Why there is no plan: the conflict, what would open one, and the nearest miss."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from solver.messages import sentence
from solver.plan import Explanation
from solver.report.figures import Grid, Row, Section, duration_text, label, number
from solver.report.plan_rows import memory_section
from solver.units import format_usd
from solver.wording import listed

__all__ = ["explanation_parts", "opened_text", "plain_text"]

Parts = list[Section | Grid]

_DEGREES = ("tp", "pp", "cp", "dp", "zero_stage", "recompute")
"""Columns of a layout that are always shown."""

_IMPLIED = ("nodes", "gpus_per_node", "etp", "shard_degree", "sequence_parallel")
"""Columns of a layout that are shown elsewhere or follow from others."""


def explanation_parts(explanation: Explanation) -> Parts:
    """Return an explanation as sections and grids, in printing order."""
    kind = sentence(f"explanation.{explanation.kind}")
    rows = [Row(sentence("row.kind"), kind)]
    if explanation.conflict:
        conflict = listed(label("rule", rule) for rule in explanation.conflict)
        rows.append(Row(sentence("row.conflict"), conflict))
    parts: Parts = [Section("section.explanation", tuple(rows))]
    levers = [r for r in explanation.relaxations if "saves_gib" in r]
    limits = [r for r in explanation.relaxations if "saves_gib" not in r]
    if limits:
        parts.append(_relaxations(limits))
        parts += _typed(limits)
    if explanation.joint:
        parts += _together(explanation.joint)
    if explanation.nearest_miss:
        parts += _nearest_miss(explanation.nearest_miss)
    if levers:
        parts.append(_levers(levers))
    if explanation.counts:
        parts.append(_counts(explanation.counts))
    return parts


def _relaxations(relaxations: list[dict[str, Any]]) -> Grid:
    """Return the least changes that open a plan, and the plan that each opens."""
    names = ["column.constraint", "column.now", "column.needed"]
    opens = any("opens" in relaxation for relaxation in relaxations)
    if opens:
        names.append("column.opens")
    rows = []
    for relaxation in relaxations:
        row = [
            label(
                "lever" if relaxation.get("unit") == "choice" else "rule",
                str(relaxation["constraint"]),
            ),
            *_now_and_needed(relaxation),
        ]
        if opens:
            row.append(opened_text(relaxation.get("opens")))
        rows.append(tuple(row))
    heads = tuple(sentence(name) for name in names)
    return Grid("section.relaxations", heads, tuple(rows))


def _typed(relaxations: list[dict[str, Any]]) -> Parts:
    """Return the options that try each relaxation, where there are any."""
    options = [f"--set {shlex.quote(r['set'])}" for r in relaxations if r.get("set")]
    rows = tuple(Row("", option) for option in options)
    return [Section("section.try", rows)] if rows else []


def _together(joint: Sequence[Mapping[str, Any]]) -> Parts:
    """Return the sets of changes that open a plan together, and what to type."""
    columns = ("constraint", "now", "needed", "opens")
    heads = tuple(sentence(f"column.{column}") for column in columns)
    rows = []
    for together in joint:
        opened = opened_text(together["opens"])
        for place, change in enumerate(together["changes"]):
            name = label("rule", str(change["constraint"]))
            first = place == 0
            name = name if first else sentence("value.and", what=name)
            rows.append((name, *_now_and_needed(change), opened if first else ""))
    parts: Parts = [Grid("section.joint", heads, tuple(rows))]
    typed = [
        " ".join(f"--set {shlex.quote(option)}" for option in together["set"])
        for together in joint
        if together["set"]
    ]
    if typed:
        parts.append(Section("section.try", tuple(Row("", line) for line in typed)))
    return parts


def _now_and_needed(relaxation: Mapping[str, Any]) -> tuple[str, str]:
    """Return what a requirement asks now, and what it would have to ask."""
    return plain_text(relaxation.get("now")), plain_text(relaxation.get("needed"))


def opened_text(plan: Mapping[str, Any] | None) -> str:
    """Return the plan that a relaxation opens, in short."""
    if not plan:
        return plain_text(None)
    return sentence(
        "value.opens",
        cost=format_usd(plan["cost_usd"]),
        duration=duration_text(plan["duration_days"]),
        gpus=plan["gpus"],
    )


def _levers(levers: list[dict[str, Any]]) -> Grid:
    """Return the choices that need less memory, the leanest first."""
    columns = ("change", "now", "needed", "need", "fits")
    rows = tuple(
        (
            label("lever", str(lever["constraint"])),
            *_now_and_needed(lever),
            number(lever["need_gib"]),
            plain_text(lever["fits"]),
        )
        for lever in sorted(levers, key=lambda lever: float(lever["need_gib"]))
    )
    heads = tuple(sentence(f"column.{column}") for column in columns)
    return Grid("section.levers", heads, rows, right=(3,))


def _nearest_miss(miss: Mapping[str, Any]) -> Parts:
    """Return what came nearest: its facts, and its memory by part where given."""
    special = ("faults", "layout", "memory_gib")
    rows = [
        Row(label("miss", key), plain_text(value))
        for key, value in miss.items()
        if key not in special and value is not None
    ]
    if miss.get("layout"):
        rows.append(Row(label("miss", "layout"), _layout(miss["layout"])))
    rows += [_fault(fault) for fault in miss.get("faults", ())]
    parts: Parts = [Section("section.nearest", tuple(rows))] if rows else []
    memory = miss.get("memory_gib")
    if isinstance(memory, dict):
        parts.append(memory_section(memory))
    return parts


def _layout(layout: Mapping[str, Any]) -> str:
    """Return a layout in short: its degrees, and what else is not usual."""
    return " · ".join(
        f"{label('axis', axis)} {value}"
        for axis, value in layout.items()
        if axis in _DEGREES or (axis not in _IMPLIED and value not in (0, 1))
    )


def _fault(fault: Mapping[str, Any]) -> Row:
    """Return why an axis of the layout does not divide, and what would."""
    why, nearest = str(fault["why"]), fault.get("nearest")
    if nearest is not None:
        why = sentence("value.divides", why=why, nearest=plain_text(nearest))
    return Row(label("axis", str(fault["axis"])), why)


def _counts(counts: Mapping[str, int]) -> Grid:
    """Return how many offers each requirement removed, most first."""
    ordered = sorted(counts.items(), key=lambda item: -item[1])
    return Grid(
        "section.counts",
        (sentence("column.requirement"), sentence("column.removed")),
        tuple((label("rule", name), f"{count:,}") for name, count in ordered),
        right=(1,),
    )


def plain_text(value: Any) -> str:
    """Return any JSON value as short text."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return sentence("value.yes" if value else "value.no")
    if isinstance(value, float):
        return number(value)
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, list | tuple):
        return ", ".join(plain_text(item) for item in value)
    return str(value)
