"""The frontier of cost and time as a chart of a page (needs matplotlib)."""

from __future__ import annotations

from typing import Any

from solver.messages import sentence
from solver.plan import Plan
from solver.planning.pareto import Frontier
from solver.report.charts import WIDTH, drawn, ink
from solver.report.figures import gpu_name
from solver.report.pareto_plot import scaled
from solver.units import format_count

__all__ = ["frontier_chart"]

_HEIGHT = 270

_MARKS = ("o", "s", "^", "D", "v", "P", "X")
"""A shape for each GPU, so that colour is not all that tells them apart."""

_COLOURS = 7
"""Colours for GPUs; more begin again."""


def frontier_chart(
    key: str,
    title: str,
    text: str,
    frontier: Frontier,
    plan: Plan | None,
    called: str,
) -> str:
    """Return the points of a frontier, a shape a GPU.

    ``plan`` is ringed and explained as what it is ``called``.
    """
    plans = [point.plan for point in frontier.points]

    def draw(figure: Any) -> None:
        axes = figure.add_axes((0.155, 0.17, 0.825, 0.62))
        if frontier.third is None:
            _steps(axes, plans)
        _points(axes, plans)
        if plan is not None:
            axes.plot(
                plan.duration_days,
                plan.cost_usd,
                "o",
                markersize=13,
                fillstyle="none",
                markeredgewidth=2,
                color=ink("ink"),
                label=called,
            )
        shown = [*plans, plan] if plan is not None else plans
        scaled(axes.set_xscale, axes.xaxis, [p.duration_days for p in shown])
        scaled(axes.set_yscale, axes.yaxis, [p.cost_usd for p in shown])
        _styled(axes)
        # short, as the margin is narrow: 1.2M
        axes.yaxis.set_major_formatter(lambda value, _: format_count(value))

    return drawn(key, title, text, (WIDTH, _HEIGHT), draw)


def _steps(axes: Any, plans: list[Plan]) -> None:
    """Draw the least cost for each deadline."""
    ordered = sorted(plans, key=lambda plan: plan.duration_days)
    axes.step(
        [plan.duration_days for plan in ordered],
        [plan.cost_usd for plan in ordered],
        where="post",
        color=ink("muted"),
        linewidth=0.8,
    )


def _points(axes: Any, plans: list[Plan]) -> None:
    """Draw the points, a shape and a colour a GPU."""
    for number, gpu in enumerate(sorted({plan.gpu for plan in plans})):
        own = [plan for plan in plans if plan.gpu == gpu]
        axes.plot(
            [plan.duration_days for plan in own],
            [plan.cost_usd for plan in own],
            _MARKS[number % len(_MARKS)],
            markersize=5,
            color=ink(f"c{number % _COLOURS}"),
            label=gpu_name(gpu),
        )


def _styled(axes: Any) -> None:
    """Give axes the page's colours, and a legend above them."""
    axes.set_xlabel(sentence("plot.days"), color=ink("muted"))
    axes.set_title(
        sentence("plot.dollars"), color=ink("muted"), fontsize=12, loc="left", pad=4
    )
    axes.grid(visible=True, color=ink("line"), linewidth=0.8)
    axes.set_axisbelow(True)
    axes.set_facecolor("none")
    axes.tick_params(which="both", color=ink("line"), labelcolor=ink("muted"))
    axes.tick_params(labelsize=11)
    for side, spine in axes.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(ink("line"))
    axes.legend(
        loc="lower left",
        bbox_to_anchor=(-0.19, 1.1),
        ncols=2,
        fontsize=11,
        frameon=False,
        labelcolor=ink("ink"),
        handletextpad=0.3,
        columnspacing=1.0,
        borderpad=0,
    )
