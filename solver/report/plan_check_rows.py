"""The page of a plan held against what was measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solver.messages import sentence
from solver.report.figures import Grid, Page, Row, Section, label, number
from solver.units import format_duration_s, format_usd
from solver.wording import day_text

if TYPE_CHECKING:
    from solver.acting.checking import Check, Compared
    from solver.acting.suspects import Suspect

__all__ = ["plan_check_page"]


def plan_check_page(check: Check) -> Page:
    """Return what was measured, what it does to the plan, and what to do."""
    parts: list[Section | Grid] = []
    if check.compared:
        parts.append(_compared(check.compared))
    parts.append(_forecast(check))
    parts.append(_suspects(check))
    if check.verdict is not None:
        needed = check.verdict.kind == "change" and not check.verdict.stay_kept
        kind = "needed" if needed else check.verdict.kind
        first = Row("", sentence(f"check.verdict.{kind}"))
        reasons = (Row("", line.text) for line in check.verdict.lines)
        parts.append(Section("section.check.verdict", (first, *reasons)))
    notes = [Row("", line.text) for line in check.lines]
    if check.verdict is not None:
        share = check.verdict.efficiency
        notes.append(Row("", sentence("check.note.efficiency", share=share)))
        notes.append(Row("", sentence("check.note.change")))
    if notes:
        parts.append(Section("section.check.notes", tuple(notes)))
    return Page(_headline(check), check.kept, tuple(parts))


def _headline(check: Check) -> str:
    """Return the finish and the bill, and what they do to the limits."""
    words = {
        "finish": day_text(check.finish),
        "cost": format_usd(check.forecast.cost_usd),
    }
    if check.kept:
        return sentence("headline.check.kept", **words)
    late, dear = check.deadline_kept is False, check.budget_kept is False
    kind = "both" if late and dear else "deadline" if late else "budget"
    what = sentence(f"headline.check.{kind}")
    return sentence("headline.check.missed", what=what, **words)


def _compared(compared: tuple[Compared, ...]) -> Grid:
    """Return each figure beside its prediction."""
    names = ("figure", "measured", "predicted", "ratio", "band", "inside")
    heads = tuple(sentence(f"column.check.{name}") for name in names)
    return Grid(
        "section.check.measured",
        heads,
        tuple(_row(one) for one in compared),
        right=(1, 2, 3),
    )


def _row(one: Compared) -> tuple[str, ...]:
    """Return one figure as a row."""
    band, inside = "", ""
    if one.low is not None and one.high is not None:
        band = f"{_value(one, one.low)} – {_value(one, one.high)}"
        inside = sentence(f"value.check.{'yes' if one.inside else 'no'}")
    return (
        _name(one.name),
        _value(one, one.measured),
        _value(one, one.predicted),
        "" if one.ratio is None else number(one.ratio),
        band,
        inside,
    )


def _name(name: str) -> str:
    """Return a figure, or a part of a step, as it is called."""
    shown = label("measured", name)
    return shown if shown != name.replace("_", " ") else label("part", name)


def _value(one: Compared, value: float) -> str:
    """Return a value with its unit."""
    if one.unit == "s":
        return format_duration_s(value)
    if one.unit == "1":
        return f"{value:.1%}"
    return f"{number(value)} {one.unit}"


def _forecast(check: Check) -> Section:
    """Return finish and bill beside those planned, and the limits."""
    now, planned = check.forecast, check.planned
    done = sentence(
        "value.check.done",
        steps=check.done.steps,
        share=check.done.time_share,
        day=check.elapsed_days,
    )
    rows = [
        Row(sentence("row.check.done"), done),
        Row(
            sentence("row.check.duration"),
            _days(now.duration_days, planned.duration_days),
        ),
        Row(
            sentence("row.check.p90"),
            _days(now.duration_p90_days, planned.duration_p90_days),
        ),
        Row(
            sentence("row.check.cost"),
            sentence(
                "value.check.usd",
                now=format_usd(now.cost_usd),
                planned=format_usd(planned.cost_usd),
            ),
        ),
        Row(sentence("row.check.rest"), format_usd(check.rest_usd)),
    ]
    if check.deadline_days is not None:
        shown = format_duration_s(check.deadline_days * 86_400)
        text = _limit(shown, kept=bool(check.deadline_kept))
        rows.append(Row(sentence("row.check.deadline"), text))
    if check.budget_usd is not None:
        text = _limit(format_usd(check.budget_usd), kept=bool(check.budget_kept))
        rows.append(Row(sentence("row.check.budget"), text))
    return Section("section.check.forecast", tuple(rows))


def _days(now: float, planned: float) -> str:
    """Return a duration beside the planned one."""
    return sentence("value.check.days", now=now, planned=planned)


def _limit(limit: str, *, kept: bool) -> str:
    """Return a limit and whether it is kept."""
    state = sentence(f"value.check.{'kept' if kept else 'missed'}")
    return sentence("value.check.limit", limit=limit, state=state)


def _suspects(check: Check) -> Section:
    """Return which parts may be slow, with their known causes."""
    rows = []
    for one in check.suspects[:3]:
        rows += [Row("", _suspect(one)), Row("", sentence(f"check.cause.{one.part}"))]
    if not rows:
        rows.append(Row("", sentence("check.suspect.none")))
    elif check.suspects[0].measured_s is None:
        rows.append(Row("", sentence("check.suspect.unsure")))
    return Section("section.check.suspects", tuple(rows))


def _suspect(one: Suspect) -> str:
    """Return what makes a part suspect."""
    part = label("part", one.part)
    if one.measured_s is None:
        return sentence("check.suspect.needed", part=part, factor=one.factor or 0.0)
    return sentence(
        "check.suspect.measured",
        part=part,
        excess=format_duration_s(one.excess_s),
        share=one.share,
    )
