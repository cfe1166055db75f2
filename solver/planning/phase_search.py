"""Which ways to run each phase an optimum could need, without evaluating all others.

Rounds of: leases from what is known, limits priced by shortest paths, and each phase's
best under these prices added (column generation). At the end each phase is searched
once for all that can be in a chain no worse than the best one met: what a phase adds
beyond its least, with limits priced, is at most the gap of that chain.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from solver.candidates import CandidateTable
from solver.layout_space import OutOfTimeError
from solver.leases import (
    LeanSetting,
    LeaseTable,
    PhaseRows,
    Places,
    Terms,
    lean,
    leases_of,
    moved_bytes,
    phase_rows,
)
from solver.performance.transformer import model_flops_per_token
from solver.planning.model_table import canonical_order
from solver.planning.phase_paths import (
    ROUNDING,
    Bounds,
    Limits,
    Moves,
    Weights,
    hardest,
    moves_of,
    priced_off,
    tuned,
)
from solver.scenario.scenario import Objective, Scenario
from solver.search import SearchLimits, SearchResult, SearchStats, limits_of, search
from solver.setting import Setting
from solver.units import DAY

if TYPE_CHECKING:
    from solver.catalog.load import Catalog

Progress = Callable[[str, float], None]

MOST_ROUNDS = 6
"""Rounds of pricing; more only sharpen the bound."""

FIRST_SLACK = 0.02
"""Relative distance from the best within which the first round keeps candidates."""


def goal_of(scenario: Scenario, *, held: bool = False) -> Weights:
    """What is minimised: dollars, seconds, or weighted dollars.

    ``held``: not the expectation but what limits are held against.
    """
    objective = scenario.objective
    if held:
        by_time = objective.kind == "time"
        return Weights(0.0, 0.0, time_limit=by_time, cost_limit=not by_time)
    if objective.kind == "cost":
        return Weights(1.0, 0.0)
    if objective.kind == "time":
        return Weights(0.0, 1.0)
    return Weights(objective.cost_weight, objective.usd_per_day / DAY)


def shared_limits(scenario: Scenario) -> Limits:
    """Deadline and budget of all phases."""
    user = scenario.constraints
    return Limits(
        np.inf if user.deadline_s is None else user.deadline_s,
        np.inf if user.budget_usd is None else user.budget_usd,
    )


@dataclass
class PhaseSearch:
    """The candidates of all phases of a scenario, found round by round."""

    scenario: Scenario
    catalog: Catalog
    settings: tuple[Setting, ...]
    goal: Weights
    limits: Limits
    progress: Progress | None = None
    held: bool = False
    """Whether what limits are held against is minimised, not the expectation."""
    end: float = np.inf
    """Clock (time.monotonic) at which the search stops."""
    tables: list[list[CandidateTable]] = field(default_factory=list)
    stats: list[SearchStats] = field(default_factory=list)
    complete: bool = True
    bound: float = -np.inf
    """No chain is better than this."""
    lost: int | None = None
    """A phase that no layout can run within the limits."""
    impossible: bool = False
    """Whether bounds alone show that no chain keeps both limits."""
    _bound_weights: Weights | None = None
    _spent: tuple[Weights, tuple[float, ...]] | None = None
    """Prices of both limits, and the least that each phase takes of them."""
    _least: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        """Number what all phases may use, and how a set-up is shared out."""
        self.places = Places.of(self.settings)
        self.shared_data = not self.settings[0].scenario.data.size_is_assumed
        self.terms = Terms.of(self.settings, self.places, shared=self.shared_data)
        self.moves = _moves(self.settings, self.places, self.terms)
        flops = [
            float(model_flops_per_token(s.shape, s.job)) * s.job.tokens
            for s in self.settings
        ]
        self.shares = [f / sum(flops) for f in flops]
        factors = [g.spread_factor for s in self.settings for g in s.classes]
        self.stretch = min(factors, default=1.0)
        self.tables = [[] for _ in self.settings]
        self.stats = [SearchStats() for _ in self.settings]

    @property
    def phases(self) -> int:
        """Number of phases."""
        return len(self.settings)

    def run(self) -> Bounds | None:
        """Find all candidates that an optimum could need; None: there is no chain.

        Where the time is over, what was found is kept and ``complete`` is false.
        """
        self._first_round()
        if self.lost is not None or not all(self.tables):
            return None
        bounds = self._priced()
        if not np.isfinite(bounds.best):
            bounds = self._rounds(bounds, hardest, spending=True)
            if self.impossible:
                return None
        if np.isfinite(bounds.best):
            bounds = self._rounds(bounds, lambda at: at.weights)
        if self.complete:
            self._fill(bounds)
            bounds = self._priced()
        return bounds

    def _rounds(
        self,
        bounds: Bounds,
        next_weights: Callable[[Bounds], Weights | None],
        *,
        spending: bool = False,
    ) -> Bounds:
        """Look again at ever better weights until nothing changes.

        ``spending``: the weights are prices of the limits, until a chain keeps them.
        """
        for _ in range(MOST_ROUNDS):
            weights = next_weights(bounds)
            if not self.complete or self.impossible or weights is None:
                break
            if spending and np.isfinite(bounds.best):
                break
            before = (bounds.best, bounds.bound, self.bound, self._spent)
            self._look(weights, spending=spending)
            bounds = self._priced()
            if (bounds.best, bounds.bound, self.bound, self._spent) == before:
                break
        return bounds

    def pools(self) -> list[PhaseRows]:
        """The rows of each phase, each once, in canonical order."""
        found = []
        for p, setting in enumerate(self.settings):
            table = CandidateTable.concatenate(self.tables[p])
            own = setting.arrays.egress_usd
            found.append(
                phase_rows(
                    self.lean(p, self.goal),
                    table,
                    canonical_order(setting, table),
                    self.places,
                    np.zeros(len(own)) if self.shared_data else own,
                )
            )
        return found

    def leases(self, pools: Sequence[PhaseRows]) -> LeaseTable:
        """Every lease over these rows."""
        overheads = self.settings[0].scenario.overheads
        z = self.settings[0].z
        return leases_of(pools, self.terms, overheads.setup_s, overheads.queue_s, z)

    def _priced(self) -> Bounds:
        leases = self.leases(self.pools())
        bounds = Bounds(leases, self.moves, self.goal, self.limits, self.phases)
        bounds.spent = None if self._spent is None else self._spent[0]
        return tuned(bounds)

    def _first_round(self) -> None:
        """Each phase's best by the objective, and by what limits hold."""
        wanted = [self.goal]
        if np.isfinite(self.limits.time_s) and self.goal.any_second == 0.0:
            wanted.append(Weights(0.0, 1.0))
        if np.isfinite(self.limits.cost_usd) and self.goal.any_usd == 0.0:
            wanted.append(Weights(1.0, 0.0))
        for weights in wanted:
            self._look(weights, FIRST_SLACK, bounding=weights is self.goal)

    def _look(
        self,
        weights: Weights,
        slack: float = 0.0,
        *,
        bounding: bool = True,
        spending: bool = False,
    ) -> None:
        """Search each phase for its best at some weights; note the bound of all."""
        found = [self._search(p, weights, slack) for p in range(self.phases)]
        least = tuple(result.bound for result in found)
        if spending:
            self._note_spent(weights, least)
        elif bounding:
            value = sum(least) - self._prices(weights)
            if value > self.bound:
                self.bound, self._bound_weights, self._least = value, weights, least

    def _note_spent(self, weights: Weights, least: tuple[float, ...]) -> None:
        """What all phases take of both limits at least; more than 1 is impossible."""
        if self._spent is None or sum(least) > sum(self._spent[1]):
            self._spent = (weights, least)
        self.impossible = sum(self._spent[1]) > 1.0 + ROUNDING

    def _fill(self, bounds: Bounds) -> None:
        """Search each phase for all that a chain no worse than the best may have.

        With no chain met yet: for all that a chain that keeps the limits may have.
        """
        weights, least, gap = self._bound_weights, self._least, np.inf
        if np.isfinite(bounds.best) and weights is not None:
            gap = bounds.best - self.bound
            gap += ROUNDING * max(abs(bounds.best), self._prices(weights))
        elif self._spent is not None:
            weights, least = self._spent
            gap = 1.0 - sum(least) + ROUNDING
        for p in range(self.phases):
            cap = least[p] + gap if np.isfinite(gap) else np.inf
            self._search(p, weights or self.goal, np.inf, cap)

    def _prices(self, weights: Weights) -> float:
        return priced_off(weights, self.goal, self.limits)

    def lean(self, phase: int, weights: Weights | None = None) -> LeanSetting:
        """A phase by itself whose objective never counts more than any lease has.

        At the confidence asked active time is at least ``stretch`` times its
        expectation, and a bill at least that of the expectation, or of the stretch
        where that is less.
        """
        weights = self.goal if weights is None else weights
        late, dear = self.stretch, min(self.stretch, 1.0)
        objective = Objective(
            "weighted",
            cost_weight=weights.cost + weights.cost_limit * dear,
            usd_per_day=(weights.time + weights.time_limit * late) * DAY,
        )
        setting = self.settings[phase]
        scenario = replace(setting.scenario, objective=objective)
        share = self.shares[phase] / max(late, 1.0)
        return lean(replace(setting, scenario=scenario), share)

    def _search(
        self, phase: int, weights: Weights, slack: float, cap: float = np.inf
    ) -> SearchResult:
        """Search one phase and keep what is found."""
        setting = self.lean(phase, weights)
        limits: SearchLimits = limits_of(setting.scenario)
        if np.isfinite(self.limits.time_s):
            limits = replace(limits, deadline_s=self.limits.time_s)
        left = max(0.0, self.end - time.monotonic())
        name = self.scenario.phases[phase].name
        report = self._report(phase, name)
        try:
            found = search(setting, limits, slack, report, left, cap)
        except OutOfTimeError:
            found = SearchResult(None, SearchStats(), False, 0.0)
        self.complete &= found.complete
        if found.table is not None:
            self.tables[phase].append(found.table)
        elif found.complete and np.isinf(cap):
            self.lost = phase
        self.stats[phase] = found.stats
        return found

    def _report(self, phase: int, name: str) -> Progress | None:
        """Progress of one phase as a part of the whole."""
        progress = self.progress
        if progress is None:
            return None
        return lambda _, fraction: progress(
            f"layouts of {name}", (phase + fraction) / self.phases
        )


def _moves(settings: Sequence[Setting], places: Places, terms: Terms) -> Moves:
    """Moves between the regions of the places, the shared data set included."""
    data = np.zeros(len(places.regions))
    data[terms.region] = terms.data_usd
    sizes = [moved_bytes(setting) for setting in settings[:-1]]
    rate = settings[0].scenario.data.transfer_bytes_per_s
    return moves_of(settings[0].catalog, places.regions, sizes, data, rate)
