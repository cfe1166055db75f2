"""The frontier of cost and time, drawn (needs matplotlib, the extra ``plots``)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from solver.errors import InputError, Issue
from solver.frontier import Third
from solver.messages import sentence
from solver.plan import Plan
from solver.planning.pareto import Frontier, Point
from solver.report.figures import duration_text, gpu_name
from solver.report.pictures import check_picture, new_figure, readable, save_picture
from solver.units import format_usd

__all__ = ["draw_frontier", "scaled"]

_LOG_FROM = 8.0
"""Ratio of the largest to the least figure from which an axis is by decade."""


@readable
def draw_frontier(frontier: Frontier, path: Path) -> None:
    """Draw the points, a colour a GPU, days across and dollars up, the knee ringed.

    Raises
    ------
    InputError
        There is no point, matplotlib is missing, or the file cannot be written.
    """
    check_picture(path)
    if not frontier.points:
        message = "there is no point to draw"
        raise InputError([Issue("missing-key", message, "--plot")])
    figure = new_figure(8, 5.5)
    axes = figure.add_subplot()
    _steps(axes, frontier)
    _points(axes, frontier, figure)
    _limits(axes, frontier)
    _knee(axes, frontier.points)
    days = [point.plan.duration_days for point in frontier.points]
    dollars = [point.plan.cost_usd for point in frontier.points]
    axes.set(
        xlabel=sentence("plot.days"),
        ylabel=sentence("plot.dollars"),
        title=sentence("plot.pareto", scenario=frontier.scenario),
    )
    scaled(axes.set_xscale, axes.xaxis, days)
    scaled(axes.set_yscale, axes.yaxis, dollars)
    axes.grid(visible=True, color="0.92")
    axes.set_axisbelow(True)
    axes.legend(fontsize="small")
    save_picture(figure, path)


def _steps(axes: Any, frontier: Frontier) -> None:
    """Draw the staircase: for each deadline the least cost."""
    if frontier.third is not None:
        return
    plans = sorted((p.plan for p in frontier.points), key=lambda p: p.duration_days)
    days = [plan.duration_days for plan in plans]
    dollars = [plan.cost_usd for plan in plans]
    axes.step(days, dollars, where="post", color="0.7", linewidth=0.8, zorder=1)


def _points(axes: Any, frontier: Frontier, figure: Any) -> None:
    """Draw the points: a colour a GPU, or shaded by the third figure."""
    plans = [point.plan for point in frontier.points]
    if frontier.third is not None:
        drawn = axes.scatter(
            [plan.duration_days for plan in plans],
            [plan.cost_usd for plan in plans],
            c=[_third(plan, frontier.third) for plan in plans],
            s=16,
            zorder=2,
        )
        figure.colorbar(drawn, label=sentence(f"plot.{frontier.third}"))
        return
    for number, gpu in enumerate(sorted({plan.gpu for plan in plans})):
        own = [plan for plan in plans if plan.gpu == gpu]
        axes.plot(
            [plan.duration_days for plan in own],
            [plan.cost_usd for plan in own],
            "o",
            markersize=5,
            color=f"C{number % 10}",
            label=f"{gpu_name(gpu)} ({len(own):,})",
            zorder=2,
        )


def _third(plan: Plan, third: Third) -> float:
    """Return the third figure as the colour bar has it: per cent, or tonnes."""
    if third == "memory_headroom":
        return plan.memory_headroom * 100
    return plan.carbon_t or 0.0


def _limits(axes: Any, frontier: Frontier) -> None:
    """Draw deadline and budget where they are near."""
    days = max(point.plan.duration_days for point in frontier.points)
    dollars = max(point.plan.cost_usd for point in frontier.points)
    near = 2.0
    deadline, budget = frontier.deadline_days, frontier.budget_usd
    style = {"color": "0.4", "linestyle": ":", "linewidth": 1.0}
    if deadline is not None and deadline <= near * days:
        axes.axvline(deadline, label=sentence("plot.deadline"), **style)
    if budget is not None and budget <= near * dollars:
        style["linestyle"] = "--"
        axes.axhline(budget, label=sentence("plot.budget"), **style)


def _knee(axes: Any, points: tuple[Point, ...]) -> None:
    """Ring the knee and tell its figures."""
    plan = next((point.plan for point in points if point.knee), None)
    if plan is None:
        return
    where = (plan.duration_days, plan.cost_usd)
    text = sentence(
        "plot.knee",
        cost=format_usd(plan.cost_usd),
        duration=duration_text(plan.duration_days),
    )
    axes.plot(*where, "o", markersize=12, fillstyle="none", color="0.2", label=text)


def scaled(set_scale: Any, axis: Any, values: list[float]) -> None:
    """Scale an axis, by decade where its figures span much, with plain numbers."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    if min(values) > 0 and max(values) / min(values) >= _LOG_FROM:
        set_scale("log")
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.set_minor_formatter(NullFormatter())
    axis.set_major_formatter(FuncFormatter(_plain))


def _plain(value: float, _: int) -> str:
    """Return a figure at a tick, without an exponent."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.6g}"
