"""``gpuplan plan``: what is done with a plan that was written to a file."""

from __future__ import annotations

import typer

from solver.cli.plan_check import check
from solver.cli.plan_export import export
from solver.cli.plan_route import route
from solver.cli.usage import PlainUsage

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Act on a plan: 'gpuplan solve SCENARIO --json > plan.json' writes one.",
)
app.command("export", cls=PlainUsage)(export)
app.command("check", cls=PlainUsage)(check)
app.command("route", cls=PlainUsage)(route)


@app.callback()
def plan() -> None:
    """Act on a plan: 'gpuplan solve SCENARIO --json > plan.json' writes one."""
