"""Requirements that together allow nothing, and the smallest sets that open a plan.

Both by solving again with requirements left out; physics is never among them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from solver.candidates import objective_values
from solver.planning.by_name import best_first
from solver.planning.clock import Clock
from solver.planning.opening import Opening
from solver.planning.relaxation_text import describe
from solver.planning.relaxing import rejoined, without
from solver.scenario.scenario import Scenario
from solver.search import limits_of, search
from solver.setting import Setting

__all__ = ["joint_relaxations", "minimal_conflict"]

MOST_TOGETHER = 3
"""Requirements that are changed at once, at most."""

SHOWN_SETS = 5
"""Sets that are told, the best plan first."""


def minimal_conflict(
    setting: Setting, rules: Sequence[str], needed: Collection[str], clock: Clock
) -> tuple[str, ...]:
    """Requirements of which none can be spared without leaving a plan, by deletion.

    Parameters
    ----------
    setting
        A scenario without a plan.
    rules
        Its requirements, in the order in which they are told.
    needed
        Those that open a plan when left out alone: they belong to every such set and
        need no test.
    clock
        What there is no time to try stays in.

    Notes
    -----
    Of several sets the one found keeps what the user wrote: defaults are left out
    first.
    """
    scenario = setting.scenario
    stated = scenario.constraints.stated
    kept = sorted(rules, key=lambda rule_id: rule_id in stated)
    for rule_id in tuple(kept):
        if rule_id in needed or clock.is_over:
            continue
        fewer = without(scenario, rule_id)
        freed = rejoined(setting, fewer)
        answer = search(freed, limits_of(fewer), time_s=clock.left_s)
        if answer.table is None and answer.complete:
            scenario = fewer
            kept.remove(rule_id)
    return tuple(rule_id for rule_id in rules if rule_id in kept)


def joint_relaxations(
    setting: Setting, rules: Sequence[str], conflict: Sequence[str], clock: Clock
) -> tuple[dict[str, Any], ...]:
    """Smallest sets of requirements that open a plan when all of each are changed.

    Parameters
    ----------
    setting
        A scenario without a plan, which no single requirement opens.
    rules
        Its requirements.
    conflict
        Some of them that together allow nothing: each set has one of them.
    clock
        Sets that there is no time for are not tried.

    Returns
    -------
    tuple of dict
        ``constraints``, ``changes`` (as the relaxations of one alone), ``set`` (what to
        type for all of them, None where a key does not say one) and ``opens``.

    Notes
    -----
    Breadth first over the tree of conflicts (R. Reiter, A theory of diagnosis from
    first principles, 1987): what opens a plan has a member of every conflict, so each
    set that opens none is continued by the members of a conflict that it leaves. All
    sets of the smallest size are found.
    """
    open_sets = [frozenset((rule_id,)) for rule_id in conflict]
    for _ in range(1, MOST_TOGETHER):
        if clock.is_over:
            break
        open_sets = _continued(setting, rules, open_sets, clock)
        found = [
            told
            for together in open_sets
            if (told := _opened(setting, _ordered(rules, together), clock)) is not None
        ]
        if found:
            found.sort(key=lambda one: one[0])
            return tuple(told for _, told in found[:SHOWN_SETS])
    return ()


def _ordered(rules: Sequence[str], together: Collection[str]) -> tuple[str, ...]:
    return tuple(rule_id for rule_id in rules if rule_id in together)


def _continued(
    setting: Setting,
    rules: Sequence[str],
    open_sets: Collection[frozenset[str]],
    clock: Clock,
) -> list[frozenset[str]]:
    """Each set with one more member of a conflict that it leaves."""
    longer: dict[frozenset[str], None] = {}
    for together in open_sets:
        freed = rejoined(setting, _without_all(setting.scenario, together))
        others = [rule_id for rule_id in rules if rule_id not in together]
        for rule_id in minimal_conflict(freed, others, (), clock):
            longer[together | {rule_id}] = None
    return list(longer)


def _without_all(scenario: Scenario, rules: Collection[str]) -> Scenario:
    for rule_id in sorted(rules):
        scenario = without(scenario, rule_id)
    return scenario


def _opened(
    setting: Setting, together: Sequence[str], clock: Clock
) -> tuple[float, dict[str, Any]] | None:
    """Objective and description of what a set opens; None where it opens nothing."""
    freed = rejoined(setting, _without_all(setting.scenario, together))
    answer = search(freed, limits_of(freed.scenario), time_s=clock.left_s)
    if answer.table is None or not answer.complete:
        return None
    row = int(best_first(freed, answer.table)[0])
    one = [
        Opening(rule_id, freed, answer.table, row, stated=setting.scenario)
        for rule_id in together
    ]
    changes = [describe(opening, setting.scenario) for opening in one]
    typed = [change.get("set") for change in changes]
    told = {
        "constraints": list(together),
        "opens": changes[0]["opens"],
        "set": typed if all(typed) else None,
        "changes": [
            {name: value for name, value in change.items() if name != "opens"}
            for change in changes
        ],
    }
    value = float(objective_values(freed, answer.table)[row])
    return value, told
