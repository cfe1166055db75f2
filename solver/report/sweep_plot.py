"""The results of a sweep, drawn (needs matplotlib, the extra ``plots``)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from io import StringIO
from pathlib import Path
from statistics import median_low
from typing import Any, Literal

from solver.errors import InputError, Issue, nearest, shown
from solver.messages import sentence
from solver.report.pictures import check_picture, new_figure, readable, save_picture
from solver.sweeps.record import Record
from solver.sweeps.results import Dimension, Results, short
from solver.sweeps.written import quantity

__all__ = ["KINDS", "Kind", "chosen_axes", "draw_results", "results_as_svg"]

Kind = Literal["heatmap", "lines", "tornado"]
KINDS: tuple[Kind, ...] = ("heatmap", "lines", "tornado")

_MOST_LINES = 12
_BOX = {"boxstyle": "round", "facecolor": "white", "linewidth": 0}
_NO_PLAN = "0.85"
"""Grey of cells without a plan."""


def chosen_axes(
    results: Results, kind: Kind, names: Iterable[str | None] = ()
) -> tuple[Dimension, ...]:
    """The axes to draw: those named, then the others in the order of the sweep.

    Parameters
    ----------
    results
        What is drawn.
    kind
        A heat map needs two axes, lines one.
    names
        Keys, or the last words of keys, for across and up; None where not named.

    Raises
    ------
    InputError
        There is no such axis, or there are too few.
    """
    found = [_axis(results, name) for name in names if name is not None]
    if len(set(found)) < len(found):
        message = f"expected two axes, not twice {found[0].name}"
        raise InputError([Issue("bad-usage", message, "--x, --y")])
    rest = [d for d in results.dimensions if d not in found]
    axes = (*found, *rest)
    needed = {"heatmap": 2, "lines": 1, "tornado": 1}[kind]
    if len(axes) < needed:
        message = f"a {kind} needs {needed} axes; the sweep has {len(axes)}"
        raise InputError([Issue("bad-usage", message, "--kind")])
    return axes


def _axis(results: Results, name: str) -> Dimension:
    """The axis of a name."""
    for dimension in results.dimensions:
        if name in (dimension.name, dimension.title, *dimension.keys):
            return dimension
    known = [dimension.name for dimension in results.dimensions]
    message = f"there is no axis {shown(name)}; there are {', '.join(known)}"
    raise InputError(
        [Issue("unknown-name", message, "--x, --y", None, nearest(name, known))]
    )


@readable
def draw_results(
    results: Results, path: Path, kind: Kind, axes: tuple[Dimension, ...]
) -> None:
    """Draw results into a file.

    Raises
    ------
    InputError
        Matplotlib is missing, or the file cannot be written.
    """
    check_picture(path)
    save_picture(_figure(results, kind, axes), path)


@readable
def results_as_svg(results: Results, kind: Kind, axes: tuple[Dimension, ...]) -> str:
    """A picture as SVG to stand in a page; matplotlib has to be there."""
    stream = StringIO()
    _figure(results, kind, axes).savefig(stream, format="svg", metadata={"Date": None})
    text = stream.getvalue()
    return text[text.index("<svg") :]


def _figure(results: Results, kind: Kind, axes: tuple[Dimension, ...]) -> Any:
    draw = {"heatmap": _heatmap, "lines": _lines, "tornado": _tornado}[kind]
    height = 1.5 + 0.5 * len(axes) if kind == "tornado" else 5.0
    figure = new_figure(8, height)
    canvas = figure.add_subplot()
    draw(results, canvas, figure, axes)
    name = str(results.facts.get("name", ""))
    canvas.set_title(name if kind != "tornado" else _tornado_title(results))
    return figure


def _best_of(
    results: Results, axes: tuple[Dimension, ...]
) -> Mapping[tuple[str, ...], Record]:
    """The best point at each combination of values of some axes, over all others."""
    groups: dict[tuple[str, ...], list[Record]] = {}
    for record in results.planned:
        groups.setdefault(tuple(d.of(record) for d in axes), []).append(record)
    return {key: min(group, key=results.objective_of) for key, group in groups.items()}


def _heatmap(
    results: Results, canvas: Any, figure: Any, axes: tuple[Dimension, ...]
) -> None:
    """Colour each pair of values by the best figure; grey where there is no plan."""
    import numpy as np

    across, up = axes[:2]
    best = _best_of(results, (across, up))
    cells = np.full((len(up.values), len(across.values)), np.nan)
    for (x, y), record in best.items():
        place = up.values.index(y), across.values.index(x)
        cells[place] = results.objective_of(record)
    canvas.set_facecolor(_NO_PLAN)
    drawn = canvas.imshow(cells, aspect="auto", origin="lower", cmap="viridis_r")
    figure.colorbar(drawn, label=_figure_text(results), format=_tick)
    canvas.set_xticks(
        range(len(across.values)), _ticks(across), rotation=45, ha="right"
    )
    canvas.set_yticks(range(len(up.values)), _ticks(up))
    canvas.set(xlabel=across.title, ylabel=up.title)
    if cells.size <= 150:
        for (row, column), value in np.ndenumerate(cells):
            text = sentence("plot.sweep.none") if math.isnan(value) else _short(value)
            canvas.text(column, row, text, bbox=_BOX, ha="center", va="center")


def _lines(
    results: Results, canvas: Any, figure: Any, axes: tuple[Dimension, ...]
) -> None:
    """Draw a line for each value of the second axis, over the values of the first."""
    across, other = axes[0], axes[1] if len(axes) > 1 else None
    best = _best_of(results, (across, other) if other else (across,))
    places = _places(across)
    for value in other.values[:_MOST_LINES] if other else (None,):
        keys = [(x,) if value is None else (x, value) for x in across.values]
        drawn = [
            (places[k[0]], results.objective_of(best[k])) for k in keys if k in best
        ]
        if drawn:
            x, y = zip(*sorted(drawn), strict=True)
            canvas.plot(
                x, y, "o-", markersize=4, label=None if value is None else short(value)
            )
    if quantity(across.values[0]) is None:
        canvas.set_xticks(
            range(len(across.values)), _ticks(across), rotation=45, ha="right"
        )
        canvas.set_xlabel(across.title)
    else:
        unit = _unit(across)
        told = sentence("plot.with-unit", title=across.title, unit=unit)
        canvas.set_xlabel(told if unit else across.title)
    canvas.set_ylabel(_figure_text(results))
    canvas.yaxis.set_major_formatter(_tick)
    canvas.grid(visible=True, color="0.92")
    if other is not None and canvas.get_legend_handles_labels()[0]:
        canvas.legend(title=other.title, fontsize="small")
    figure.align_labels()


def _places(axis: Dimension) -> dict[str, float]:
    """Where each value lies: its number, or its position where it is none."""
    found = {value: quantity(value) for value in axis.values}
    first = found[axis.values[0]] if axis.values else None
    if first is None or any(q is None or not q.like(first) for q in found.values()):
        return {value: float(place) for place, value in enumerate(axis.values)}
    return {v: float(q.number) for v, q in found.items() if q is not None}


def _unit(axis: Dimension) -> str:
    """The unit of an axis of numbers."""
    found = quantity(axis.values[0])
    return "" if found is None else f"{found.before}{found.after}".strip()


def _tornado(
    results: Results, canvas: Any, figure: Any, axes: tuple[Dimension, ...]
) -> None:
    """Draw how far each axis alone moves the figure, from a point in the middle."""
    middle = _middle(results)
    if middle is None:
        return
    bars = []
    for dimension in axes:
        others = [d for d in results.dimensions if d is not dimension]
        alike = [
            record
            for record in results.planned
            if record.draw == middle.draw
            and all(d.of(record) == d.of(middle) for d in others)
        ]
        ends = [results.objective_of(record) for record in alike]
        bars.append((max(ends) - min(ends), dimension, min(ends), max(ends)))
    bars.sort(key=lambda bar: bar[0])
    for place, (_, _, low, high) in enumerate(bars):
        canvas.barh(place, high - low, left=low, color="C0", height=0.6)
        text = f"{_short(low)} – {_short(high)}"
        canvas.annotate(
            text,
            (high, place),
            (4, 0),
            textcoords="offset points",
            va="center",
            fontsize="small",
        )
    canvas.set_yticks(range(len(bars)), [bar[1].title for bar in bars])
    canvas.axvline(results.objective_of(middle), color="0.3", linewidth=1)
    canvas.margins(x=0.25)
    canvas.set_xlabel(_figure_text(results))
    canvas.xaxis.set_major_formatter(_tick)
    figure.align_labels()


def _middle(results: Results) -> Record | None:
    """The point with the median figure; None: no point has a plan."""
    planned = results.planned
    if not planned:
        return None
    wanted = median_low([results.objective_of(record) for record in planned])
    return next(r for r in planned if results.objective_of(r) == wanted)


def _tornado_title(results: Results) -> str:
    """What the bars start from."""
    middle = _middle(results)
    if middle is None:
        return sentence("plot.sweep.none")
    at = " · ".join(short(d.of(middle)) for d in results.dimensions)
    return sentence("plot.sweep.tornado", name=results.facts.get("name", ""), at=at)


def _ticks(axis: Dimension) -> list[str]:
    return [short(value) for value in axis.values]


def _figure_text(results: Results) -> str:
    """What is drawn, with its unit."""
    return sentence(f"plot.sweep.{results.figure}")


def _tick(value: float, _: int) -> str:
    """A figure at a tick."""
    return _short(value)


def _short(value: float) -> str:
    """A figure in three digits: ``1.23M``."""
    for size, unit in ((1e9, "B"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.3g}{unit}"
    return f"{value:.3g}"
