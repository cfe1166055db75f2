"""The least change of a requirement that opens a plan, not the one of the best plan.

The best plan without a requirement may ask for more than is needed: the cheapest may
use four nodes where three would do. Limits whose values can be listed are found by
halving the list; for others all that asks no more than the known plan is searched.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from solver.candidates import CandidateTable
from solver.options import Option, network_gbps_per_gpu
from solver.performance.inputs import FloatArray
from solver.planning.by_name import best_first
from solver.planning.opening import Opening
from solver.ranges import Range
from solver.scenario.scenario import Scenario
from solver.setting import Setting

KILO = 1000.0
"""Kilograms in a tonne, and kWh in a MWh."""

Keys: TypeAlias = tuple[FloatArray, ...]
"""How much each candidate asks, (n,) each, what counts most first."""

Solve: TypeAlias = Callable[[Scenario, float], "tuple[Setting, CandidateTable] | None"]
"""A scenario and a slack to its candidates; None where there are none, or no time."""

HEADROOM_STEPS = 1000
"""Headroom is told in tenths of a per cent."""


def least_change(known: Opening, solve: Solve) -> Opening:
    """The opening that asks least of all; the known one where no time is left."""
    if known.rule in HALVED:
        return HALVED[known.rule](known, solve)
    if known.rule not in ORDERED:
        return known
    scenario = ORDERED[known.rule].within(known.setting.scenario, known)
    answer = None if scenario is None else solve(scenario, np.inf)
    return known if answer is None else _asks_least(known, *answer)


def pace(setting: Setting, table: CandidateTable) -> FloatArray:
    """Tokens a second at the confidence asked, (n,)."""
    return np.asarray(table.tokens_per_s / np.exp(setting.z * table.sigma))


def _limited(scenario: Scenario, **limits: Any) -> Scenario:
    return replace(scenario, constraints=replace(scenario.constraints, **limits))


def _figure(opening: Opening, column: str) -> float:
    return float(getattr(opening.table, column)[opening.row])


def _moved(known: Opening, setting: Setting, table: CandidateTable) -> Opening:
    """The opening with the best plan of another table."""
    row = int(best_first(setting, table)[0])
    return replace(known, setting=setting, table=table, row=row)


def _halved(
    known: Opening, solve: Solve, values: Sequence[Any], at: Callable[[Any], Scenario]
) -> Opening:
    """The opening at the first of ``values`` that has a plan.

    They are in the order of what they ask, so that every one after the first has a
    plan as well; the known opening has one beyond the last. Often it is the least
    itself: the last is tried first.
    """
    low, high, best = 0, len(values), known
    while low < high:
        middle = high - 1 if high == len(values) else (low + high) // 2
        answer = solve(at(values[middle]), 0.0)
        if answer is None:
            low = middle + 1
        else:
            high, best = middle, _moved(known, *answer)
    return best


def _memory(known: Opening, solve: Solve) -> Opening:
    """The most headroom: a table holds the fastest layouts, not the leanest."""
    scenario = known.setting.scenario
    most = int(known.asked.constraints.memory_headroom * HEADROOM_STEPS + 1e-9)
    return _halved(
        known,
        solve,
        range(most, 0, -1),
        lambda n: _limited(scenario, memory_headroom=n / HEADROOM_STEPS),
    )


def _stock(known: Opening, solve: Solve) -> Opening:
    """The fewest nodes."""
    scenario, nodes = known.setting.scenario, int(_figure(known, "rented_nodes"))
    fewer = range(1, nodes)
    return _halved(known, solve, fewer, lambda n: replace(scenario, stock_at_least=n))


def _floor_of(
    floor: str, kinds: str, rate: Callable[[Option], float]
) -> Callable[[Opening, Solve], Opening]:
    """The fastest rate of offers, in a section with a floor and a set of kinds.

    To break one of the two is less than to break both.
    """

    def least(known: Opening, solve: Solve) -> Opening:
        asked, scenario = known.asked.constraints, known.setting.scenario
        least_rate, allowed = getattr(asked, floor), getattr(asked, kinds)
        if not least_rate:
            return known  # of kinds one is as good as another
        if allowed:
            answer = solve(_limited(scenario, **{kinds: allowed}), 0.0)
            if answer is not None:
                known = _moved(known, *answer)
                scenario = _limited(scenario, **{kinds: allowed})
            elif (
                other := solve(_limited(scenario, **{floor: least_rate}), 0.0)
            ) is not None:
                return _moved(known, *other)
        every = {rate(option) for option in known.setting.options}
        faster = [r for r in every if rate(known.option) < r < least_rate]
        return _halved(
            known,
            solve,
            sorted(faster, reverse=True),
            lambda r: _limited(scenario, **{floor: r}),
        )

    return least


HALVED: Mapping[str, Callable[[Opening, Solve], Opening]] = {
    "memory": _memory,
    "stock": _stock,
    "intra_node": _floor_of(
        "intra_node_min_gb_per_s",
        "intra_node_kinds",
        lambda option: option.server.intra_node_gb_per_s,
    ),
    "network": _floor_of(
        "network_min_gbps_per_gpu",
        "network_kinds",
        lambda option: network_gbps_per_gpu(option.server),
    ),
}
"""Rule to its least change, where the values that it can take are known."""


def _gpus(opening: Opening, setting: Setting, table: CandidateTable) -> Keys:
    """Parts that are broken, and how far the number of GPUs is from the range."""
    gpus, wanted = table.busy_gpus.astype(float), opening.asked.constraints.gpus
    sizes = [o.server.gpus_per_node for o in setting.options]
    allowed = np.array(
        [opening.asked.constraints.gpus_per_node.allows(n) for n in sizes]
    )
    low = 0.0 if wanted.min is None else wanted.min
    high = np.inf if wanted.max is None else wanted.max
    away = np.maximum(0.0, np.maximum(low - gpus, gpus - high))
    return (away > 0).astype(float) + ~allowed[table.option], away


def _within_gpus(scenario: Scenario, known: Opening) -> Scenario | None:
    """As many GPUs as the opening has, or nearer to what was asked."""
    gpus, asked = int(known.table.busy_gpus[known.row]), known.asked.constraints.gpus
    if asked.allows(gpus):
        return None
    near = Range(
        min=None if asked.min is None else min(asked.min, gpus),
        max=None if asked.max is None else max(asked.max, gpus),
    )
    return _limited(scenario, gpus=near)


def _within_carbon(scenario: Scenario, known: Opening) -> Scenario | None:
    """As little carbon as the opening has; None where it is not known."""
    kilograms = _figure(known, "carbon_limit_kg")
    if not np.isfinite(kilograms):
        return None
    return _limited(scenario, max_carbon_t=kilograms / KILO)


def _storage(opening: Opening, setting: Setting, table: CandidateTable) -> Keys:
    """Parts that are broken, and how far reading is below the floor."""
    user = opening.asked.constraints
    known = user.storage_kinds or tuple(tier.kind for tier in setting.tiers)
    other = np.array([tier.kind not in known for tier in setting.tiers])
    least = user.storage_min_read_bytes_per_s or 0.0
    short = np.maximum(0.0, least - table.read_bytes_per_s)
    return (short > 0).astype(float) + other[table.tier], short


def _within_storage(scenario: Scenario, known: Opening) -> Scenario | None:
    """What reads as fast as the opening; all, where it breaks floor and kinds."""
    one = known.table.take(np.array([known.row]))
    broken, short = _storage(known, known.setting, one)
    if not short[0]:
        return None  # of kinds one is as good as another
    rate = _figure(known, "read_bytes_per_s") if broken[0] < 2 else None
    return _limited(scenario, storage_min_read_bytes_per_s=rate)


@dataclass(frozen=True)
class Ordered:
    """A requirement of which one change can be less than another."""

    keys: Callable[[Opening, Setting, CandidateTable], Keys]
    """How much each candidate asks."""
    within: Callable[[Scenario, Opening], Scenario | None]
    """The relaxed scenario, held to what asks no more than a known opening.

    None where nothing can ask less.
    """


def _most(limit: str, column: str, unit: float = 1.0) -> Ordered:
    """An upper limit on a figure that was minimised; in expectation, not at ``z``."""

    def within(scenario: Scenario, known: Opening) -> Scenario | None:
        if known.setting.z == 0.0:
            return None  # the figure is the one that was minimised
        return _limited(scenario, **{limit: _figure(known, column) / unit})

    return Ordered(lambda _, __, table: (getattr(table, column),), within)


ORDERED: Mapping[str, Ordered] = {
    "deadline": _most("deadline_s", "duration_limit_s"),
    "budget": _most("budget_usd", "cost_limit_usd"),
    "throughput": Ordered(
        lambda _, setting, table: (-pace(setting, table),),
        lambda scenario, known: _limited(
            scenario,
            min_tokens_per_s=float(pace(known.setting, known.table)[known.row]),
        ),
    ),
    "energy": _most("max_energy_mwh", "energy_limit_kwh", KILO),
    "carbon": Ordered(lambda _, __, table: (table.carbon_limit_kg,), _within_carbon),
    "gpus": Ordered(_gpus, _within_gpus),
    "storage": Ordered(_storage, _within_storage),
}
"""Rule to how its changes compare; of other rules one change is as large as any."""


def _asks_least(known: Opening, setting: Setting, table: CandidateTable) -> Opening:
    """The opening of the candidate that asks least, the cheapest of equals."""
    keys = ORDERED[known.rule].keys(known, setting, table)
    order = (table.duration_s, table.cost_usd, *reversed(keys))
    row = int(np.lexsort(order)[0])
    return replace(known, setting=setting, table=table, row=row)
