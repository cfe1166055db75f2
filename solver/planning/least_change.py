"""The least change of a requirement that opens a plan, not the one of the best plan.

The best plan without a requirement may ask for more than is needed: the cheapest may
use four nodes where three would do. So once it is known, all that asks no more than it
does is searched, and the candidate that asks least is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from solver.candidates import CandidateTable, objective_values
from solver.options import Option, network_gbps_per_gpu
from solver.performance.inputs import FloatArray
from solver.planning.opening import Opening
from solver.ranges import Range
from solver.scenario.scenario import Scenario
from solver.setting import Setting

KILO = 1000.0
"""Kilograms in a tonne, and kWh in a MWh."""

Keys: TypeAlias = tuple[FloatArray, ...]
"""How much each candidate asks, (n,) each, what counts most first."""


def pace(setting: Setting, table: CandidateTable) -> FloatArray:
    """Tokens a second at the confidence asked, (n,)."""
    return np.asarray(table.tokens_per_s / np.exp(setting.z * table.sigma))


def _gpus(opening: Opening, setting: Setting, table: CandidateTable) -> Keys:
    """Parts that are broken, and how far the number of GPUs is from the range."""
    gpus, wanted = table.layouts.gpus.astype(float), opening.asked.constraints.gpus
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
    gpus, asked = int(known.table.layouts.gpus[known.row]), known.asked.constraints.gpus
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


@dataclass(frozen=True)
class _Section:
    """A section of the constraints with a floor and a set of kinds."""

    floor: str
    kinds: str
    rate: Callable[[Setting, CandidateTable], FloatArray]
    kind: Callable[[Setting, CandidateTable], list[str | None]]

    def keys(self, opening: Opening, setting: Setting, table: CandidateTable) -> Keys:
        """Parts that are broken, and how far the rate is below the floor."""
        kinds = getattr(opening.asked.constraints, self.kinds)
        least = getattr(opening.asked.constraints, self.floor) or 0.0
        other = np.array(
            [bool(kinds) and k not in kinds for k in self.kind(setting, table)]
        )
        short = np.maximum(0.0, least - self.rate(setting, table))
        return (short > 0).astype(float) + other, short

    def within(self, scenario: Scenario, known: Opening) -> Scenario | None:
        """What is as fast as the opening; all, where it breaks floor and kinds."""
        one = known.table.take(np.array([known.row]))
        broken, short = self.keys(known, known.setting, one)
        if not short[0]:
            return None  # of kinds one is as good as another
        rate = float(self.rate(known.setting, one)[0]) if broken[0] < 2 else None
        return _limited(scenario, **{self.floor: rate})


def _of(figure: Callable[[Option], Any]) -> Callable[[Setting, CandidateTable], Any]:
    """A figure of each candidate's option."""

    def column(setting: Setting, table: CandidateTable) -> Any:
        return np.array([figure(option) for option in setting.options])[table.option]

    return column


_INTRA_NODE = _Section(
    "intra_node_min_gb_per_s",
    "intra_node_kinds",
    _of(lambda o: o.server.intra_node_gb_per_s),
    _of(lambda o: o.server.intra_node_kind),
)
_NETWORK = _Section(
    "network_min_gbps_per_gpu",
    "network_kinds",
    _of(lambda o: network_gbps_per_gpu(o.server)),
    _of(lambda o: o.network.kind if o.network else ""),
)
_STORAGE = _Section(
    "storage_min_read_bytes_per_s",
    "storage_kinds",
    lambda _, table: table.read_bytes_per_s,
    lambda setting, table: [setting.tiers[t].kind for t in table.tier],
)


def _limited(scenario: Scenario, **limits: Any) -> Scenario:
    return replace(scenario, constraints=replace(scenario.constraints, **limits))


def _figure(opening: Opening, column: str) -> float:
    return float(getattr(opening.table, column)[opening.row])


@dataclass(frozen=True)
class Ordered:
    """A requirement of which one change can be less than another."""

    keys: Callable[[Opening, Setting, CandidateTable], Keys]
    """How much each candidate asks."""
    within: Callable[[Scenario, Opening], Scenario | None]
    """The relaxed scenario, held to what asks no more than a known opening.

    None where nothing can ask less.
    """


ORDERED: Mapping[str, Ordered] = {
    "deadline": Ordered(
        lambda _, __, table: (table.duration_limit_s,),
        lambda scenario, known: _limited(
            scenario, deadline_s=_figure(known, "duration_limit_s")
        ),
    ),
    "budget": Ordered(
        lambda _, __, table: (table.cost_limit_usd,),
        lambda scenario, known: _limited(
            scenario, budget_usd=_figure(known, "cost_limit_usd")
        ),
    ),
    "throughput": Ordered(
        lambda _, setting, table: (-pace(setting, table),),
        lambda scenario, known: _limited(
            scenario,
            min_tokens_per_s=float(pace(known.setting, known.table)[known.row]),
        ),
    ),
    "stock": Ordered(
        lambda _, __, table: (table.rented_nodes.astype(float),),
        lambda scenario, known: replace(
            scenario, stock_at_least=int(_figure(known, "rented_nodes"))
        ),
    ),
    "energy": Ordered(
        lambda _, __, table: (table.energy_limit_kwh,),
        lambda scenario, known: _limited(
            scenario, max_energy_mwh=_figure(known, "energy_limit_kwh") / KILO
        ),
    ),
    "carbon": Ordered(lambda _, __, table: (table.carbon_limit_kg,), _within_carbon),
    "gpus": Ordered(_gpus, _within_gpus),
    "intra_node": Ordered(_INTRA_NODE.keys, _INTRA_NODE.within),
    "network": Ordered(_NETWORK.keys, _NETWORK.within),
    "storage": Ordered(_STORAGE.keys, _STORAGE.within),
}
"""Rule to how its changes compare; of other rules one change is as large as any."""


Solve: TypeAlias = Callable[[Scenario, float], "tuple[Setting, CandidateTable] | None"]
"""A scenario and a slack to its candidates; None where there are none, or no time."""

HEADROOM_STEPS = 1000
"""Headroom is told in tenths of a per cent."""


def least_change(known: Opening, solve: Solve) -> Opening:
    """The opening that asks least of all; the known one where no time is left."""
    if known.rule == "memory":
        return _most_headroom(known, solve)
    if known.rule not in ORDERED:
        return known
    scenario = ORDERED[known.rule].within(known.setting.scenario, known)
    answer = None if scenario is None else solve(scenario, np.inf)
    return known if answer is None else _asks_least(known, *answer)


def _most_headroom(known: Opening, solve: Solve) -> Opening:
    """The best plan with as much headroom as any has, by halving the interval.

    A table holds the fastest layouts, not the leanest: each headroom is tried anew.
    """
    scenario, best = known.setting.scenario, known
    low = 0
    high = int(known.asked.constraints.memory_headroom * HEADROOM_STEPS + 1e-9)
    while low < high:
        middle = (low + high + 1) // 2
        share = middle / HEADROOM_STEPS
        answer = solve(_limited(scenario, memory_headroom=share), 0.0)
        if answer is None:
            high = middle - 1
            continue
        low, (setting, table) = middle, answer
        best = replace(known, setting=setting, table=table, row=_best(setting, table))
    return best


def _best(setting: Setting, table: CandidateTable) -> int:
    """The best candidate by the objective, the cheapest, then soonest, of equals."""
    values = objective_values(setting, table)
    return int(np.lexsort((table.duration_s, table.cost_usd, values))[0])


def _asks_least(known: Opening, setting: Setting, table: CandidateTable) -> Opening:
    """The opening of the candidate that asks least, the cheapest of equals."""
    keys = ORDERED[known.rule].keys(known, setting, table)
    order = (table.duration_s, table.cost_usd, *reversed(keys))
    row = int(np.lexsort(order)[0])
    return replace(known, setting=setting, table=table, row=row)
