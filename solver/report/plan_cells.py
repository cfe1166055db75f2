"""A plan as the cells of a table: the same columns for every list of plans."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from solver.plan import LayoutPlan, Plan
from solver.report.as_csv import rows_as_csv

__all__ = ["PLAN_COLUMNS", "layout_text", "plan_cells", "plans_as_csv"]

_DEGREES = ("tp", "pp", "cp", "ep", "dp")

_OF_PLAN = (
    "provider",
    "region",
    "country",
    "offer",
    "purchase",
    "start",
    "gpu",
    "nodes",
    "spare_nodes",
    "gpus",
    "gpus_per_node",
    "network",
    "storage",
    "gpu_hours",
    "usd_per_gpu_hour",
    "stock_nodes",
    "stock_known",
)
_OF_LAYOUT = (
    *_DEGREES,
    "virtual_stages",
    "micro_batch",
    "accumulation",
    "global_batch_size",
    "zero_stage",
    "recompute",
)

PLAN_COLUMNS = (
    "cost_usd",
    "duration_days",
    "finish",
    "memory_headroom",
    "energy_mwh",
    "carbon_t",
    *_OF_PLAN,
    *_OF_LAYOUT,
)
"""Columns that a plan fills in a CSV table."""


def plan_cells(plan: Plan | None) -> dict[str, Any]:
    """A plan as cells by column; all are empty where there is none."""
    if plan is None:
        return dict.fromkeys(PLAN_COLUMNS)
    return {
        "cost_usd": plan.cost_usd,
        "duration_days": plan.duration_days,
        "finish": plan.finish,
        "memory_headroom": plan.memory_headroom,
        "energy_mwh": plan.energy_mwh,
        "carbon_t": plan.carbon_t,
        **{name: getattr(plan, name) for name in _OF_PLAN},
        **{name: getattr(plan.layout, name) for name in _OF_LAYOUT},
    }


def layout_text(layout: LayoutPlan) -> str:
    """A layout in short: the degrees above one, and DP."""
    shown = [name for name in _DEGREES if name == "dp" or getattr(layout, name) > 1]
    return " ".join(f"{name.upper()} {getattr(layout, name):,}" for name in shown)


def plans_as_csv(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """Rows for a spreadsheet: no text in it can be taken for a formula.

    Names of offers, providers and regions are the user's, or whoever wrote the price
    list's.
    """
    safe = ({name: _safe(row.get(name)) for name in columns} for row in rows)
    return rows_as_csv(columns, safe)


def _safe(value: Any) -> Any:
    """The value, with a quote before what a spreadsheet would compute (CWE-1236)."""
    if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")):
        return f"'{value}"
    return value
