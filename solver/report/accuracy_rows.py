"""The page and the table of ``gpuplan accuracy``."""

from __future__ import annotations

import csv
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from io import StringIO
from typing import TYPE_CHECKING

from solver.messages import has_text, sentence
from solver.report.figures import Grid, Page, label, number
from solver.units import unit_word

if TYPE_CHECKING:
    from solver.accuracy.report import AccuracyReport
    from solver.accuracy.scoring import GroupScore, Outcome
    from solver.accuracy.tables import Skipped

__all__ = ["accuracy_page", "outcomes_as_csv", "skipped_lines"]

_OURS = ("all", "quality", "class")
"""What divides measurements into groups with names of ours."""

_LARGEST_PARTS = 3
_SHOWN_REASONS = 12
_SHOWN_EXAMPLES = 2

CSV_COLUMNS = (
    "id",
    "source",
    "metric",
    "unit",
    "measured",
    "predicted",
    "predicted_p90",
    "error_pct",
    "quality",
    "gpu",
    "precision",
    "kind",
    "framework",
    "class",
    "mfu",
    "fits",
    "needed",
    "verdict",
    "capacity",
    "parts",
    "assumed",
)


def accuracy_page(
    report: AccuracyReport, worst: int = 0, *, with_assumed: bool = False
) -> Page:
    """Return the scores as a page.

    Parameters
    ----------
    report
        What was predicted.
    worst
        How many of the largest misses to list.
    with_assumed
        Whether to list what was taken where the tables do not say.
    """
    parts = [
        _scores("section.accuracy.step_time", report, "step_time"),
        _scores("section.accuracy.memory", report, "memory"),
        _fits(report),
        _scores("section.accuracy.run", report, "run"),
        _coverage(report),
        _reached(report),
        _regret(report),
        _worst(report.worst(worst)),
        _assumed(report.outcomes if with_assumed else ()),
        _skipped(report),
        _unread(report),
    ]
    return Page(_headline(report), True, tuple(p for p in parts if p.rows))


def _headline(report: AccuracyReport) -> str:
    """Return how much was predicted, and how well step time was."""
    counts = {"rows": len(report.outcomes), "skipped": len(report.skipped)}
    for group in report.groups:
        if group.metric == "step_time" and group.by == "all":
            median, mean = _percent(group.median_ape), _percent(group.mape)
            return sentence("headline.accuracy", **counts, median=median, mean=mean)
    return sentence("headline.accuracy.no-times", **counts)


def _percent(value: float) -> str:
    return f"{value:.1f}%"  # without a space, at which a line could break


def _scores(title: str, report: AccuracyReport, metric: str) -> Grid:
    """Return the groups of one metric."""
    heads = ("by", "group", "n", "mape", "median", "bias", "p90")
    columns = tuple(sentence(f"column.{head}") for head in heads)
    rows = tuple(_score(g) for g in report.groups if g.metric == metric)
    return Grid(title, columns, rows, right=(2, 3, 4, 5, 6))


def _score(group: GroupScore) -> tuple[str, ...]:
    figures = (group.mape, group.median_ape, group.bias, group.p90)
    count = f"{group.n:,}"
    by = label("accuracy.by", group.by)
    named = _named(group.by, group.value)
    return (by, named, count, *(f"{value:.1f}" for value in figures))


def _named(by: str, value: str) -> str:
    """Return the name of a group; ids of frameworks, cards and so on as they are."""
    words = re.sub(r"[^a-z0-9]+", "-", value.casefold())
    message_id = f"accuracy.group.{words}"
    return sentence(message_id) if by in _OURS and has_text(message_id) else value


def _fits(report: AccuracyReport) -> Grid:
    """Return the confusion table, empty without measurements of memory."""
    heads = ("rows", "happened", "fits", "tight", "impossible")
    columns = tuple(sentence(f"column.{head}") for head in heads)
    rows = tuple(
        (
            label("accuracy.group", line.rows),
            label("happened", line.measured),
            *(f"{n:,}" for n in (line.fits, line.tight, line.impossible)),
        )
        for line in report.fits
        if line.n
    )
    return Grid("section.accuracy.fits", columns, rows, right=(2, 3, 4))


def _regret(report: AccuracyReport) -> Grid:
    """Return the regret of each kind of run."""
    heads = ("rows", "groups", "mape", "median", "worst", "best-picked")
    columns = tuple(sentence(f"column.{head}") for head in heads)
    rows = tuple(
        (
            label("regret", line.rows),
            f"{line.groups:,}",
            *(f"{value:.1f}" for value in (line.mean, line.median, line.worst)),
            f"{line.best_picked:,}",
        )
        for line in report.regret
    )
    return Grid("section.accuracy.regret", columns, rows, right=(1, 2, 3, 4, 5))


def _coverage(report: AccuracyReport) -> Grid:
    """Return how many step times end before the predicted 90th percentile."""
    heads = ("by", "group", "n", "below", "above")
    columns = tuple(sentence(f"column.{head}") for head in heads)
    rows = tuple(
        (
            label("accuracy.by", line.by),
            _named(line.by, line.value),
            f"{line.n:,}",
            f"{100 * line.below:.0f} %",
            f"{line.above:.2f} x",
        )
        for line in report.coverage
    )
    return Grid("section.accuracy.coverage", columns, rows, right=(2, 3, 4))


def _reached(report: AccuracyReport) -> Grid:
    """Return what whole runs reached of the predicted speed."""
    heads = ("kind", "gpu", "n", "low", "median", "high")
    columns = tuple(sentence(f"column.{head}") for head in heads)
    rows = tuple(
        (
            _named("class", line.kind),
            _named("all", line.gpu),
            f"{line.runs:,}",
            *(f"{value:.2f}" for value in (line.low, line.median, line.high)),
        )
        for line in report.reached
    )
    return Grid("section.accuracy.reached", columns, rows, right=(2, 3, 4, 5))


def _worst(outcomes: Iterable[Outcome]) -> Grid:
    """Return the largest misses with the parts of their step."""
    heads = ("id", "metric", "measured", "predicted", "error", "parts")
    columns = tuple(sentence(f"column.{head}") for head in heads)
    rows = tuple(
        (
            outcome.id,
            label("metric", outcome.metric),
            f"{number(outcome.measured or 0.0)} {unit_word(outcome.unit)}",
            f"{number(outcome.predicted)} {unit_word(outcome.unit)}",
            f"{outcome.error_pct or 0.0:+.0f} %",
            _parts(outcome),
        )
        for outcome in outcomes
    )
    return Grid("section.accuracy.worst", columns, rows, right=(2, 3, 4))


def _parts(outcome: Outcome) -> str:
    """Return the largest parts of a prediction."""
    largest = sorted(outcome.parts.items(), key=lambda kv: -kv[1])[:_LARGEST_PARTS]
    return ", ".join(
        f"{label('part', name)} {number(size)}" for name, size in largest if size > 0
    )


def _assumed(outcomes: Iterable[Outcome]) -> Grid:
    """Return what was taken where rows do not say, by field."""
    columns = tuple(sentence(f"column.{c}") for c in ("field", "count", "taken"))
    taken: dict[str, Counter[str]] = defaultdict(Counter)
    for outcome in outcomes:
        for field, value in outcome.assumed.items():
            taken[field][value] += 1
    rows = tuple(
        (field, f"{values.total():,}", _most_often(values))
        for field, values in sorted(taken.items())
    )
    return Grid("section.accuracy.assumed", columns, rows, right=(1,))


def _most_often(values: Counter[str]) -> str:
    """Return the values taken, the most frequent first."""
    shown = [value for value, _ in values.most_common(_SHOWN_EXAMPLES)]
    return "; ".join([*shown, *(["..."] if len(values) > len(shown) else [])])


def _skipped(report: AccuracyReport) -> Grid:
    """Return why rows were skipped, the most frequent reasons first."""
    columns = tuple(sentence(f"column.{c}") for c in ("count", "reason", "examples"))
    reasons: dict[str, list[Skipped]] = defaultdict(list)
    for skipped in report.skipped:
        reasons[skipped.reason].append(skipped)
    frequent = sorted(reasons.items(), key=lambda item: -len(item[1]))
    rows = tuple(
        (f"{len(lines):,}", reason, "; ".join(map(_example, lines[:_SHOWN_EXAMPLES])))
        for reason, lines in frequent[:_SHOWN_REASONS]
    )
    return Grid("section.accuracy.skipped", columns, rows, right=(0,))


def _example(skipped: Skipped) -> str:
    """Return a row that was skipped, and what of it that is about."""
    return f"{skipped.id}: {skipped.what}" if skipped.what else skipped.id


def _unread(report: AccuracyReport) -> Grid:
    """Return the columns that nothing reads, empty without any."""
    columns = tuple(sentence(f"column.{c}") for c in ("column", "meant", "file"))
    rows = tuple((line.column, line.hint or "", line.file) for line in report.unread)
    return Grid("section.accuracy.unread", columns, rows)


def skipped_lines(report: AccuracyReport) -> list[str]:
    """Return a line for every row that was skipped, beside a CSV table."""
    return [
        sentence("line.accuracy.skipped", row=_example(skipped), reason=skipped.reason)
        for skipped in report.skipped
    ]


def outcomes_as_csv(report: AccuracyReport) -> str:
    """Return every prediction as a row of a CSV table."""
    stream = StringIO()
    writer = csv.DictWriter(stream, CSV_COLUMNS, lineterminator="\n")
    writer.writeheader()
    for outcome in report.outcomes:
        row = outcome.as_dict()
        row["parts"] = "; ".join(f"{k}={v:.6g}" for k, v in outcome.parts.items())
        row["assumed"] = "; ".join(f"{k}={v}" for k, v in outcome.assumed.items())
        writer.writerow({name: _cell(row.get(name)) for name in CSV_COLUMNS})
    return stream.getvalue()


def _cell(value: object) -> object:
    """Return a value as a cell; empty where there is none."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return int(value)
    return f"{value:.6g}" if isinstance(value, float) else value
