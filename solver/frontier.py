"""Exact search for the frontier: candidates that none betters in all that counts.

Counted are cost, time and, if asked, a third figure. A layout or a hardware class is
skipped only if what it needs at least is no less, in each of them, than an evaluated
candidate needs: everything it holds is then dominated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from solver.candidates import CandidateTable, Rows, fastest_rows
from solver.layout_space import Lattice
from solver.performance.inputs import BoolArray, FloatArray, IntArray
from solver.search import (
    CHUNK,
    FIRST_CHUNK,
    ROUNDING,
    Search,
    SearchLimits,
    SearchResult,
    ideal_spent,
    run,
    within_limits,
)
from solver.setting import Setting

Third = Literal["memory_headroom", "carbon"]
"""What else may count beside cost and time: more is better, less is better."""

SAME = 1.0 - 1e-8
"""Candidates as good as an earlier one but for rounding are kept, and told apart."""

LEVELS = 24
"""Values of the third figure at which frontiers of cost and time are kept."""


@dataclass
class Front:
    """Points so far; whether one of them is nowhere worse than a new one.

    For each of some levels of the third figure a frontier of cost and time is kept of
    the points up to that level: a test against it is exact for points at the level and
    misses some between two levels, which costs time, never a point.
    """

    points: FloatArray = field(default_factory=lambda: np.empty((0, 3)))
    """Cost, time and third figure of those on a frontier, (n, 3)."""
    _levels: list[tuple[float, FloatArray]] = field(default_factory=list)

    def betters(self, wanted: FloatArray) -> BoolArray:
        """Which of ``wanted``, (n, 3), a point equals or betters throughout, (n,)."""
        found = np.zeros(len(wanted), dtype=bool)
        for level, stairs in self._levels:
            place = np.searchsorted(stairs[:, 0], wanted[:, 0], side="right") - 1
            there = stairs[np.maximum(place, 0), 1] <= wanted[:, 1]
            found |= (place >= 0) & there & (wanted[:, 2] >= level)
        return found

    def add(self, points: FloatArray) -> None:
        """Take in more points, (n, 3)."""
        known = np.concatenate([self.points, points])
        third = np.unique(known[:, 2])
        places = np.linspace(0, len(third) - 1, min(LEVELS, len(third))).round()
        self._levels = [
            (float(level), _stairs(known[known[:, 2] <= level]))
            for level in third[places.astype(np.int64)]
        ]
        self.points = np.unique(np.concatenate([s for _, s in self._levels]), axis=0)


def _stairs(points: FloatArray) -> FloatArray:
    """Points that none betters in cost and time, cheapest first, (m, 3)."""
    ordered = points[np.lexsort((points[:, 2], points[:, 1], points[:, 0]))]
    time = np.minimum.accumulate(ordered[:, 1])
    return ordered[np.flatnonzero(np.diff(time, prepend=np.inf) < 0)]


@dataclass
class FrontierSearch(Search):
    """A search whose ceiling is the frontier of all that was evaluated."""

    third: Third | None = None
    front: Front = field(default_factory=Front)

    def wanted(self, index: int) -> bool:
        """Whether even ideal use of a class is not bettered by what is known."""
        ideal = ideal_spent(self.setting, self.setting.classes[index])
        third = ideal.carbon_kg if self.third == "carbon" else np.zeros(1)
        least = np.stack((ideal.cost_usd, ideal.duration_s, third), axis=1)
        return not bool(self.front.betters(least).any())

    def _within(self, index: int, lattice: Lattice, fits: BoolArray) -> None:
        """Evaluate those of the layouts that fit, (n,), that nothing betters yet."""
        spent, possible = self.least(self.setting.classes[index], lattice)
        rows = np.flatnonzero(fits & possible)
        third = np.zeros(len(rows))
        if self.third == "memory_headroom":
            third = lattice.memory_bytes[rows] / _usable_bytes(self.setting)[index]
        elif self.third == "carbon":
            third = spent.carbon_kg[rows] * ROUNDING
        cost, time = spent.cost_usd[rows] * ROUNDING, spent.duration_s[rows] * ROUNDING
        least = np.stack((cost, time, third), axis=1)
        order = _in_turn(lattice.layouts.nodes[rows], time)
        rows, least = rows[order], least[order]
        size = FIRST_CHUNK
        while len(rows):
            self.setting.space.check_time()
            open_ = ~self.front.betters(least)
            self.stats.bounded += len(rows) - int(open_.sum())
            rows, least = rows[open_], least[open_]
            if len(rows):
                self._evaluate(index, lattice, np.sort(rows[:size]))
            rows, least, size = rows[size:], least[size:], CHUNK

    def reduced(self, index: int, rows: Rows) -> Rows:
        """The fastest rows of each kind, or the fastest at each need of memory."""
        if self.third == "memory_headroom":
            return fastest_at_memory(rows)
        return fastest_rows(rows)

    def _keep(self, table: CandidateTable) -> None:
        """Keep what is within the limits and bettered by nothing."""
        self.stats.candidates += len(table)
        ok = within_limits(table, self.limits)
        if self.third == "carbon":
            ok &= np.isfinite(table.carbon_kg)  # what is not known cannot be compared
        kept = table.take(np.flatnonzero(ok))
        points = figures_of(self.setting, kept, self.third)
        wanted = np.flatnonzero(~self.front.betters(points * (SAME, SAME, 1.0)))
        if len(wanted):
            self.front.add(points[wanted])
            self.parts.append(kept.take(wanted))


def figures_of(
    setting: Setting, table: CandidateTable, third: Third | None
) -> FloatArray:
    """Cost, seconds and the third figure of candidates, less is better, (n, 3).

    Of memory the third is the used share of what is usable of the card, of carbon kg.
    """
    counted = np.zeros(len(table))
    if third == "memory_headroom":
        counted = table.memory_bytes / _usable_bytes(setting)[table.group]
    elif third == "carbon":
        counted = table.carbon_kg
    return np.stack((table.cost_usd, table.duration_s, counted), axis=1)


def _usable_bytes(setting: Setting) -> FloatArray:
    """Usable memory of the card of each hardware class, (m,)."""
    allowed = np.array([group.capacity_bytes for group in setting.classes])
    return allowed / (1.0 - setting.scenario.constraints.memory_headroom)


def _in_turn(nodes: IntArray, time_s: FloatArray) -> IntArray:
    """Order in which the fastest of each number of nodes come first, (n,)."""
    order = np.lexsort((time_s, nodes))
    ordered = nodes[order]
    new = np.flatnonzero(np.diff(ordered, prepend=-1))
    starts = np.repeat(new, np.diff(np.append(new, len(ordered))))
    turn = np.arange(len(ordered)) - starts
    return np.asarray(order[np.argsort(turn, kind="stable")], dtype=np.int64)


def fastest_at_memory(rows: Rows) -> Rows:
    """Rows that none of the same kind betters in both time and memory.

    Kinds as in `fastest_rows`; of equals the first stays.
    """
    if not len(rows.steps):
        return rows
    order = np.lexsort((rows.memory_bytes, rows.training_s, *reversed(rows.kind)))
    kinds = np.stack([key[order] for key in rows.kind])
    new = np.any(np.diff(kinds, axis=1, prepend=np.nan) != 0, axis=0)
    level = np.unique(rows.memory_bytes[order], return_inverse=True)[1].reshape(-1)
    # kinds come one after the other: lower each by more than any level spans, and the
    # running minimum starts anew in every kind
    level = level - np.cumsum(new) * (len(order) + 1)
    kept = np.ones(len(order), dtype=bool)
    kept[1:] = level[1:] < np.minimum.accumulate(level)[:-1]
    return rows.take(np.sort(order[kept]))


def search_frontier(
    setting: Setting,
    limits: SearchLimits,
    third: Third | None = None,
    progress: Callable[[str, float], None] | None = None,
    time_s: float | None = None,
) -> SearchResult:
    """Candidates within ``limits``, all of the frontier among them.

    Parameters
    ----------
    setting, limits, progress, time_s
        As for `solver.search.search`.
    third
        What counts beside cost and time; None: nothing.

    Notes
    -----
    ``bound`` is that of the objective, which plays no part, and is left at zero.
    """
    work = FrontierSearch(setting, limits, slack=np.inf, third=third)
    left, _ = run(work, progress, time_s)
    table = None
    if work.parts:
        table = CandidateTable.concatenate(work.parts)
        points = figures_of(setting, table, third) * (SAME, SAME, 1.0)
        table = table.take(np.flatnonzero(~work.front.betters(points)))
    return SearchResult(table, work.stats, not left, 0.0)
