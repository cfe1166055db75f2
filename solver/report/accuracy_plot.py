"""Predicted against measured, drawn (needs matplotlib, the extra ``plots``)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from solver.errors import InputError, Issue
from solver.messages import sentence
from solver.report.pictures import check_picture, new_figure, readable, save_picture

if TYPE_CHECKING:
    from solver.accuracy.report import AccuracyReport
    from solver.accuracy.scoring import Outcome

__all__ = ["draw_accuracy"]

_METRICS = ("step_time", "memory", "run")
_BAND = 1.25
"""Edges of the shaded band: predictions within a quarter."""


@readable
def draw_accuracy(report: AccuracyReport, path: Path) -> None:
    """Draw good rows of each metric, measured across and predicted up, both by decade.

    Raises
    ------
    InputError
        Matplotlib is missing, nothing was measured, or the file cannot be written.
    """
    check_picture(path)
    panels = [
        (metric, rows)
        for metric in _METRICS
        if (rows := [o for o in report.outcomes if _is_drawn(o, metric)])
    ]
    if not panels:
        message = "no good row has a measurement to draw"
        raise InputError([Issue("missing-key", message, "--plot")])
    figure = new_figure(6 * len(panels), 5.5)
    drawn = sorted({o.labels["framework"] for _, rows in panels for o in rows})
    colours = {name: f"C{number % 10}" for number, name in enumerate(drawn)}
    for number, (metric, rows) in enumerate(panels, start=1):
        axes = figure.add_subplot(1, len(panels), number)
        _draw(axes, rows, colours)
        axes.set_title(sentence(f"metric.{metric}"))
    save_picture(figure, path)


def _is_drawn(outcome: Outcome, metric: str) -> bool:
    """Return whether a row belongs to a panel."""
    return (
        outcome.metric == metric
        and outcome.quality == "good"
        and outcome.measured is not None
    )


def _draw(axes: Any, rows: list[Outcome], colours: Mapping[str, str]) -> None:
    """Draw one panel: a point a row, a colour a framework, the line of truth."""
    sizes = [o.measured or 0.0 for o in rows] + [o.predicted for o in rows]
    low, high = min(sizes) / 1.5, max(sizes) * 1.5
    line = [low, high]
    axes.fill_between(
        line,
        [x / _BAND for x in line],
        [x * _BAND for x in line],
        color="0.9",
        label=sentence("plot.band", share=_BAND - 1),
    )
    axes.plot(line, line, color="0.5", linewidth=0.8)
    for name in sorted({o.labels["framework"] for o in rows}):
        own = [o for o in rows if o.labels["framework"] == name]
        axes.plot(
            [o.measured for o in own],
            [o.predicted for o in own],
            ".",
            markersize=3,
            color=colours[name],
            label=f"{name} ({len(own):,})",
        )
    unit = rows[0].unit
    axes.set(
        xscale="log",
        yscale="log",
        xlim=line,
        ylim=line,
        xlabel=sentence("plot.with-unit", title=sentence("column.measured"), unit=unit),
        ylabel=sentence(
            "plot.with-unit", title=sentence("column.predicted"), unit=unit
        ),
    )
    axes.legend(fontsize="small")
