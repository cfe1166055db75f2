"""Sets of names: the best plan of each name that one more would allow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from solver.candidates import CandidateTable, objective_values
from solver.options import Option
from solver.performance.inputs import IntArray
from solver.planning.clock import Clock
from solver.search import limits_of, search
from solver.setting import Setting, narrowed

__all__ = ["SET_LABELS", "SHOWN_NAMES", "best_first", "best_of_each_name"]

SHOWN_NAMES = 3
"""Additions to one set that are told, best first."""

SET_LABELS: Mapping[str, Callable[[Option], str | None]] = {
    "regions": lambda option: option.offer.region,
    "countries": lambda option: option.country,
    "residency": lambda option: option.country,
    "providers": lambda option: option.offer.provider,
    "gpu_types": lambda option: option.gpu.id,
    "purchase": lambda option: option.parts[0].offer.purchase,  # a mix: by its base
}
"""Rule of a set of names to what an offer counts as."""


def best_first(setting: Setting, table: CandidateTable) -> IntArray:
    """Rows of candidates by objective, cost and duration, the best first, (n,)."""
    values = objective_values(setting, table)
    return np.lexsort((table.duration_s, table.cost_usd, values))


def best_of_each_name(
    rule_id: str, setting: Setting, freed: Setting, clock: Clock
) -> Iterator[tuple[CandidateTable, int, Setting]]:
    """The best candidate of each name that the set lacks, best first.

    Parameters
    ----------
    rule_id
        A rule of `SET_LABELS`.
    setting
        The scenario with the set.
    freed
        The scenario without it.
    clock
        Names that there is no time for are left out.

    Yields
    ------
    tuple
        A table, the candidate's row in it, and the setting of the table.
    """
    label = SET_LABELS[rule_id]
    known = {label(option) for option in setting.options}
    names = [label(option) for option in freed.options]
    for _ in range(SHOWN_NAMES):
        left = [i for i, name in enumerate(names) if name not in known]
        if not left:
            return
        part = narrowed(freed, left)
        answer = search(part, limits_of(part.scenario), time_s=clock.left_s)
        if answer.table is None or not answer.complete:
            return
        row = int(best_first(part, answer.table)[0])
        known.add(label(part.options[int(answer.table.option[row])]))
        yield answer.table, row, part
