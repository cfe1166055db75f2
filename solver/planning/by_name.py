"""Sets of names: the best plan of each name that one more would allow."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from solver.candidates import CandidateTable, objective_values
from solver.options import Option
from solver.performance.inputs import IntArray
from solver.setting import Setting

__all__ = ["SET_LABELS", "SHOWN_NAMES", "best_first", "best_of_each_name"]

SHOWN_NAMES = 3
"""Additions to one set that are told, best first."""

SET_LABELS: Mapping[str, Callable[[Option], str | None]] = {
    "regions": lambda option: option.offer.region,
    "countries": lambda option: option.country,
    "providers": lambda option: option.offer.provider,
    "gpu_types": lambda option: option.gpu.id,
    "purchase": lambda option: option.offer.purchase,
}
"""Rule of a set of names to what an offer counts as."""


def best_first(setting: Setting, table: CandidateTable) -> IntArray:
    """Rows of candidates by objective, cost and duration, the best first, (n,)."""
    values = objective_values(setting, table)
    return np.lexsort((table.duration_s, table.cost_usd, values))


def best_of_each_name(
    rule_id: str, setting: Setting, freed: Setting, table: CandidateTable
) -> list[int]:
    """The best candidate of each name that the set lacks, best first.

    Parameters
    ----------
    rule_id
        A rule of `SET_LABELS`.
    setting
        The scenario with the set.
    freed
        The scenario without it.
    table
        Candidates of ``freed``.
    """
    label = SET_LABELS[rule_id]
    known = {label(option) for option in setting.options}
    names = [label(option) for option in freed.options]
    rows: dict[str | None, int] = {}
    for row in best_first(freed, table).tolist():
        name = names[int(table.option[row])]
        if name not in known:
            rows.setdefault(name, row)
    return list(rows.values())[:SHOWN_NAMES]
