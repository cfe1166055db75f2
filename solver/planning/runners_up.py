"""Runners-up: the best plans that differ in kind from the chosen one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from solver.candidates import CandidateTable, objective_values
from solver.options import OptionSet
from solver.performance.inputs import BoolArray, IntArray
from solver.plan import Alternative, Plan
from solver.planning.build_plan import build_plan
from solver.planning.dimensions import DIMENSIONS
from solver.ranges import Range
from solver.search import limits_of, search
from solver.setting import Setting

BATCH_RANGE = 0.125
"""A different batch is looked for within this share of the wanted one."""

WELL_DIVIDED = 32
"""A batch that this divides can be spread over most numbers of GPUs."""

WORTH_SAYING = 0.002
"""Least relative saving for which another batch is worth a line."""

KINDS = ("gpu", "provider", "region", "purchase")
"""Dimensions in which a runner-up may differ."""


def runners_up(
    setting: Setting, table: CandidateTable, best: int, plan: Plan, most: int
) -> tuple[Alternative, ...]:
    """At most ``most`` plans that differ in kind, best objective first."""
    if most <= 0:
        return ()
    values = objective_values(setting, table)
    found: dict[int, str] = {}
    for kind, differs in differences(setting, table, best, KINDS):
        rows = best_first(setting, table, differs)
        if len(rows):
            found.setdefault(int(rows[0]), kind)
    chosen = sorted(found, key=lambda row: (values[row], row))[:most]
    others = [
        _alternative(found[row], build_plan(setting, table, row), plan)
        for row in chosen
    ]
    others += _other_batch(setting, table, best, plan)
    return tuple(others[: most + 1])


def _alternative(kind: str, other: Plan, plan: Plan) -> Alternative:
    return Alternative(
        plan=other,
        kind=kind,
        cost_change_usd=other.cost_usd - plan.cost_usd,
        duration_change_days=other.duration_days - plan.duration_days,
    )


def best_first(setting: Setting, table: CandidateTable, wanted: BoolArray) -> IntArray:
    """Rows of the candidates ``wanted``, (n,), best objective first, (m,)."""
    rows = np.flatnonzero(wanted)
    values = objective_values(setting, table)[rows]
    order = np.lexsort((table.duration_s[rows], table.cost_usd[rows], values))
    return np.asarray(rows[order], dtype=np.int64)


def differences(
    setting: Setting, table: CandidateTable, best: int, dimensions: Iterable[str]
) -> Iterator[tuple[str, BoolArray]]:
    """Each kind of difference to row ``best`` with the candidates that have it, (n,).

    Another value of each of ``dimensions``; and the same offer in another size, with
    other spares or from another day on.
    """
    chosen = setting.options[int(table.option[best])]
    for kind in dimensions:
        label = DIMENSIONS[kind].label
        other = np.array([label(o) != label(chosen) for o in setting.options])
        yield kind, other[table.option]
    yield "size", _other_size(setting, table, best)
    yield "spares", _other_spares(setting, table, best)
    yield "start", _other_start(setting, table, best)


def _gains(setting: Setting, table: CandidateTable, best: int) -> BoolArray:
    """Candidates that gain what the objective gives up: time, or money, (n,)."""
    gain = table.duration_s
    if setting.scenario.objective.kind == "time":
        gain = table.cost_usd
    return np.asarray(gain < gain[best] * (1.0 - WORTH_SAYING))


def _other_size(setting: Setting, table: CandidateTable, best: int) -> BoolArray:
    """The same offer in another size that gains what the objective gives up, (n,)."""
    busy = table.layouts.nodes + table.rollout_nodes
    other = busy != busy[best]
    same = table.option == table.option[best]
    return np.asarray(same & other & _gains(setting, table, best))


def _other_spares(setting: Setting, table: CandidateTable, best: int) -> BoolArray:
    """The same nodes with more or fewer spares, gaining what is given up, (n,)."""
    other = table.spares != table.spares[best]
    same = table.option == table.option[best]
    same &= table.layouts.nodes == table.layouts.nodes[best]
    same &= table.rollout_nodes == table.rollout_nodes[best]
    return np.asarray(same & other & _gains(setting, table, best))


def _other_start(setting: Setting, table: CandidateTable, best: int) -> BoolArray:
    """The same offer from another day on: small now, or more after a delivery, (n,).

    One that gains what the objective gives up, if there is any.
    """
    chosen = setting.options[int(table.option[best])]
    others = [
        o.name == chosen.name and o.start != chosen.start for o in setting.options
    ]
    other = np.array(others)[table.option]
    gaining = np.asarray(other & _gains(setting, table, best))
    return gaining if gaining.any() else other


def _other_batch(
    setting: Setting, table: CandidateTable, best: int, plan: Plan
) -> list[Alternative]:
    """A nearby global batch on the same offer that does better, if any."""
    job = setting.classes[int(table.group[best])].job
    if job.batch_min != job.batch_max:
        return []
    option = setting.options[int(table.option[best])]
    near = replace(
        job,
        batch_min=max(1, int(np.ceil(job.batch_target * (1 - BATCH_RANGE)))),
        batch_max=int(job.batch_target * (1 + BATCH_RANGE)),
    )
    # a batch that divides well has a good layout already; another is laid out anew
    axes = ("tp", "pp", "cp", "ep") if job.batch_target % WELL_DIVIDED == 0 else ()
    pins = {a: Range(values=(getattr(plan.layout, a),)) for a in axes}
    user = setting.scenario.constraints
    scenario = replace(
        setting.scenario,
        constraints=replace(user, parallelism={**user.parallelism, **pins}),
    )
    narrow = replace(
        setting,
        scenario=scenario,
        job=near,
        others=(),
        option_set=OptionSet((option,), setting.option_set.total),
    )
    nearby = search(narrow, limits_of(scenario)).table
    if nearby is None:
        return []
    values = objective_values(narrow, nearby)
    row = int(np.lexsort((nearby.cost_usd, values))[0])
    if values[row] >= objective_values(setting, table)[best] * (1 - WORTH_SAYING):
        return []
    return [_alternative("batch", build_plan(narrow, nearby, row), plan)]
