"""The page of ``gpuplan explain``: why this plan, or why there is none."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import Any

from solver.messages import sentence
from solver.plan import Message
from solver.planning.break_even import BreakEven
from solver.planning.insight import Insight
from solver.report.answer_rows import headline, message_section, page
from solver.report.explanation_rows import opened_text, plain_text
from solver.report.figures import (
    Grid,
    Page,
    Row,
    Section,
    duration_text,
    gpu_name,
    label,
    number,
    region_text,
)
from solver.units import format_usd
from solver.wording import listed

__all__ = ["insight_page"]

SHOWN_PRICES = 12
"""Losing offers in the printed table; all are in the JSON object."""

_SAVED_OF_AIM = {"energy": "saves_energy_mwh", "carbon": "saves_carbon_t"}
"""What is minimised to the figure that tells what a change saves of it."""

Parts = list[Section | Grid]


def insight_page(insight: Insight) -> Page:
    """Return the reasons for an answer as a page, whatever its status."""
    result = insight.result
    if result.plan is None:
        answer = page(result)
        cut = result.status == "infeasible" and not insight.complete
        left_out = (_said("explain.no-time"),) if cut else ()
        return replace(answer, parts=(*answer.parts, *left_out))
    if result.status != "optimal":
        parts: Parts = [_said("explain.no-proof")]
        return Page(headline(result), True, tuple(parts))
    binding = [r for r in insight.requirements if r["binds"]]
    parts = []
    if binding:
        parts.append(_changes("section.binding", binding, result.objective))
    else:
        parts.append(_said("explain.nothing-binds"))
    parts += _free(insight)
    if insight.steps:
        parts.append(_changes("section.steps", list(insight.steps), result.objective))
    parts += _to_type([*binding, *insight.steps])
    parts += _prices(insight.prices)
    if not insight.complete:
        parts.append(_said("explain.no-time"))
    return Page(headline(result), True, tuple(parts))


def _said(message_id: str) -> Section:
    return message_section("section.binding", (Message.of(message_id),))


def _changes(title: str, found: list[dict[str, Any]], aim: str) -> Grid:
    """Return changes with what each saves, as they come.

    Parameters
    ----------
    title
        Message id of the grid's title.
    found
        The changes.
    aim
        What the scenario minimises first; energy and carbon have a column of their own.
    """
    columns = ["constraint", "now", "needed", "saves", "saves_days", "becomes"]
    extra = _SAVED_OF_AIM.get(aim)
    if extra is not None:
        columns.insert(3, extra)
    rows = []
    for change in found:
        row = [
            label("rule", str(change["constraint"])),
            plain_text(change.get("now")),
            plain_text(change.get("needed")),
            _usd(float(change["saves_usd"])),
            f"{-float(change['saves_days']):+,.1f}",
            opened_text(change["opens"]),
        ]
        if extra is not None:
            row.insert(3, _signed(change[extra]))
        rows.append(tuple(row))
    heads = tuple(sentence(f"column.{column}") for column in columns)
    return Grid(title, heads, tuple(rows), right=tuple(range(3, len(heads) - 1)))


def _signed(saved: float | None) -> str:
    """Return a change with its sign to three digits; a saving is negative."""
    if saved is None:
        return plain_text(None)
    return f"{'-' if saved > 0 else '+'}{number(abs(saved))}"


def _usd(saved: float) -> str:
    """Return the change of the bill with its sign; a saving is negative."""
    sign = "-" if saved > 0 else "+"
    return f"{sign}{format_usd(abs(saved), 0 if abs(saved) >= 100 else None)}"


def _free(insight: Insight) -> Parts:
    names = [
        label("rule", str(requirement["constraint"]))
        for requirement in insight.requirements
        if not requirement["binds"]
    ]
    if not names:
        return []
    row = Row(sentence("row.free"), listed(names))
    return [Section("section.free", (row,))]


def _to_type(changes: list[dict[str, Any]]) -> Parts:
    options = [f"--set {shlex.quote(c['set'])}" for c in changes if c.get("set")]
    rows = tuple(Row("", option) for option in dict.fromkeys(options))
    return [Section("section.try", rows)] if rows else []


def _prices(prices: tuple[BreakEven, ...]) -> Parts:
    """Return the nearest break-even of each GPU, provider and purchase kind."""
    shown: dict[tuple[str, str, str], BreakEven] = {}
    for price in prices:
        if price.change is not None:
            shown.setdefault((price.gpu, price.provider, price.purchase), price)
    nearest = list(shown.values())[:SHOWN_PRICES]
    if not nearest:
        return []
    columns = ("offer", "price", "wins-below", "change", "becomes")
    heads = tuple(sentence(f"column.{column}") for column in columns)
    grid = Grid(
        "section.break-even",
        heads,
        tuple(_price(price) for price in nearest),
        right=(1, 2, 3),
    )
    more = len(prices) - len(nearest)
    if not more:
        return [grid]
    note = Row("", sentence("value.others-lose", count=more))
    return [grid, Section("section.more", (note,))]


def _price(price: BreakEven) -> tuple[str, ...]:
    """Return one losing offer as a row."""
    what = sentence(
        "value.alternative",
        what=gpu_name(price.gpu),
        place=f"{price.provider} {region_text(price.region)}",
        purchase=label("purchase", price.purchase),
    )
    return (
        what,
        f"{price.usd_per_gpu_hour:,.2f}",
        f"{price.break_even_usd_per_gpu_hour or 0.0:,.2f}",
        f"{price.change or 0.0:+.0%}",
        sentence(
            "value.size-and-time",
            gpus=price.gpus,
            duration=duration_text(price.duration_days or 0.0),
        ),
    )
