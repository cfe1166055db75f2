"""Exact search for candidates: bound first, evaluate what a bound can't exclude.

The lattice of a large model holds millions of (layout, hardware) pairs. Hardware
classes are taken in the order of a lower bound on the objective; within a class,
layouts whose own bound passes the best plan found (plus a slack for runners-up) are
skipped. What is skipped is counted as bounded, never as 'does not fit'.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from solver import objective
from solver.candidates import (
    CandidateTable,
    Rows,
    evaluate,
    fastest_rows,
    objective_values,
)
from solver.energy import carbon_kg
from solver.layout_space import Lattice, OutOfTimeError
from solver.objective import Spending, Spent
from solver.performance.efficiency import attained
from solver.performance.inputs import BoolArray, FloatArray, IntArray
from solver.performance.step_time import lower_bound, step_time
from solver.performance.transformer import model_flops_per_token
from solver.scenario.scenario import Scenario
from solver.setting import HardwareClass, Setting
from solver.tariffs import cheapest_node_usd, least_node_usd
from solver.units import HOUR

FIRST_CHUNK = 2_048
CHUNK = 32_768
ROUNDING = 1.0 - 1e-9
"""Bounds are shrunk by this much, so that float rounding never makes one too high."""

FOREVER_S = 1e30
"""Stands for a step that never ends in bounds, where nothing may cost 0 x infinity."""

LENIENCY = 1.0 + 1e-9
"""A figure over its limit by less than float rounding keeps it."""


@dataclass(frozen=True, slots=True)
class SearchLimits:
    """Upper and lower limits on a plan; None is no limit."""

    deadline_s: float | None = None
    budget_usd: float | None = None
    min_tokens_per_s: float | None = None
    min_read_bytes_per_s: float | None = None
    max_energy_kwh: float | None = None
    max_carbon_kg: float | None = None


def limits_of(scenario: Scenario) -> SearchLimits:
    """The user's limits as the search takes them."""
    user = scenario.constraints
    return SearchLimits(
        deadline_s=user.deadline_s,
        budget_usd=user.budget_usd,
        max_energy_kwh=_thousands(user.max_energy_mwh),
        max_carbon_kg=_thousands(user.max_carbon_t),
        min_tokens_per_s=user.min_tokens_per_s,
        min_read_bytes_per_s=user.storage_min_read_bytes_per_s,
    )


def _thousands(value: float | None) -> float | None:
    return None if value is None else value * 1000.0


@dataclass
class SearchStats:
    """What became of the layouts, summed over hardware classes."""

    layouts: int = 0
    out_of_memory: int = 0
    """Groups of layouts of which not even the leanest fits."""
    bounded: int = 0
    evaluated: int = 0
    classes: int = 0
    classes_bounded: int = 0
    candidates: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    """Candidates that hosts, drives or failures rule out, by rule."""


@dataclass(frozen=True)
class SearchResult:
    """All candidates evaluated that meet the limits, and what was skipped."""

    table: CandidateTable | None
    stats: SearchStats
    complete: bool
    """Whether every hardware class was evaluated or excluded by its bound."""
    bound: float
    """No plan has a first level of the objective below this; inf: none at all."""


@dataclass
class Search:
    """A search in progress: its limits, the best so far, and what it has kept."""

    setting: Setting
    limits: SearchLimits
    slack: float
    cap: float = np.inf
    best: float = np.inf
    stats: SearchStats = field(default_factory=SearchStats)
    parts: list[CandidateTable] = field(default_factory=list)

    @property
    def ceiling(self) -> float:
        """Objective value above which nothing is of interest any more."""
        if np.isinf(self.best) or np.isinf(self.slack):
            return self.cap  # what costs nothing has no multiple without end
        return min(self.best * (1.0 + self.slack), self.cap)

    def class_bound(self, group: HardwareClass) -> float:
        """Objective that no layout on this hardware can undercut."""
        return float(self._key(ideal_spent(self.setting, group))[0])

    def hopeless(self, group: HardwareClass) -> bool:
        """Whether even ideal use of all of a class's nodes breaks a limit."""
        cost, duration = ideal_bounds(self.setting, group)
        limits = self.limits
        late = ideal_finish_s(self.setting, group, group.spread_factor)
        if limits.deadline_s is not None and late > limits.deadline_s * LENIENCY:
            return True
        cheapest = cost * min(group.spread_factor, 1.0)
        if limits.budget_usd is not None and cheapest > limits.budget_usd * LENIENCY:
            return True
        if limits.max_energy_kwh is not None or limits.max_carbon_kg is not None:
            least = ideal_spent(self.setting, group)
            if not within(least, limits, min(group.spread_factor, 1.0)).all():
                return True
        pace = self.setting.job.tokens / (duration * group.spread_factor)
        floor = limits.min_tokens_per_s
        return floor is not None and pace * (2.0 - ROUNDING) < floor

    def _key(self, spent: Spending) -> FloatArray:
        return objective.objective_values(self.setting.scenario.objective, spent)

    def run_class(self, index: int, group: HardwareClass) -> None:
        """Evaluate the layouts of one hardware class that bounds let through."""
        lattice = self.setting.space.lattice(group.node_kind, group.job)
        rented = lattice.layouts.nodes + group.job.rollout_nodes
        here = rented <= group.max_nodes
        fits = here & (lattice.memory_bytes <= group.capacity_bytes)
        fitting = int(fits.sum())
        misfits = lattice.out_of_memory + int(here.sum()) - fitting
        self.stats.layouts += fitting + misfits
        self.stats.out_of_memory += misfits
        if not fitting:
            return
        self._within(index, lattice, fits)

    def wanted(self, index: int) -> bool:
        """Whether a hardware class may hold anything of interest."""
        return self.class_bound(self.setting.classes[index]) <= self.ceiling

    def _within(self, index: int, lattice: Lattice, fits: BoolArray) -> None:
        """Evaluate those of the layouts that fit, (n,), that bounds let through."""
        key, possible = self._bounds(self.setting.classes[index], lattice)
        rows = np.flatnonzero(fits & possible & (key <= self.ceiling))
        self.stats.bounded += int(fits.sum()) - len(rows)
        self._best_first(index, lattice, rows, key[rows])

    def _bounds(
        self, group: HardwareClass, lattice: Lattice
    ) -> tuple[FloatArray, BoolArray]:
        """Lower bound on the objective of each layout, and whether limits can hold."""
        spent, possible = self.least(group, lattice)
        return self._key(spent) * ROUNDING, possible

    def least(self, group: HardwareClass, lattice: Lattice) -> tuple[Spent, BoolArray]:
        """What each layout spends at least, and whether it can keep the limits."""
        setting, layouts = self.setting, lattice.layouts
        model = (setting.shape, group.job, setting.framework, group.hardware)
        step = lattice.times(
            ("lower bound", group.key),
            slice(None),
            lambda some: lower_bound(*model, some),
        )
        overheads = setting.scenario.overheads
        stretch = 1.0 + overheads.evaluation_fraction
        step = np.minimum(step, FOREVER_S)  # no product with it is undefined
        active = step * lattice.work * (ROUNDING * stretch)
        rented = layouts.nodes + group.job.rollout_nodes
        nodes = np.minimum(rented, group.max_nodes)  # more are not looked at
        fixed = overheads.setup_s + overheads.queue_s + soonest_s(setting, group, nodes)
        hours = (active + overheads.setup_s) / HOUR
        cost = rented * least_rent(setting, group, nodes, hours)
        power = least_power(setting, group, nodes)
        kwh, kg = (rented * each * hours for each in power)
        spent = Spent(cost, active + fixed, kwh, kg)
        factor = group.spread_factor
        possible = within(spent, self.limits, min(factor, 1.0))
        if self.limits.deadline_s is not None:
            possible &= active * factor + fixed <= self.limits.deadline_s * LENIENCY
        if self.limits.budget_usd is not None:
            possible &= cost * min(factor, 1.0) <= self.limits.budget_usd * LENIENCY
        if self.limits.min_tokens_per_s is not None:
            tokens = layouts.global_batch * setting.job.sequence_length
            floor = self.limits.min_tokens_per_s * step * factor * ROUNDING
            possible &= tokens >= floor
        return spent, possible

    def _best_first(
        self, index: int, lattice: Lattice, rows: IntArray, key: FloatArray
    ) -> None:
        """Evaluate rows in the order of their bound until it passes the ceiling."""
        if len(rows) > FIRST_CHUNK:
            head = np.argpartition(key, FIRST_CHUNK)[:FIRST_CHUNK]
            self._evaluate(index, lattice, np.sort(rows[head]))
            rest = key <= self.ceiling
            rest[head] = False
            self.stats.bounded += len(rows) - len(head) - int(rest.sum())
            rows, key = rows[rest], key[rest]
            order = np.argsort(key, kind="stable")
            rows, key = rows[order], key[order]
        for start in range(0, len(rows), CHUNK):
            piece = slice(start, start + CHUNK)
            wanted = key[piece] <= self.ceiling
            if not wanted.any():
                self.stats.bounded += len(rows) - start
                return
            self.setting.space.check_time()
            self.stats.bounded += int((~wanted).sum())
            self._evaluate(index, lattice, np.sort(rows[piece][wanted]))

    def _evaluate(self, index: int, lattice: Lattice, rows: IntArray) -> None:
        """Evaluate rows exactly; keep the candidates that meet the limits."""
        setting = self.setting
        group = setting.classes[index]
        layouts = lattice.layouts.take(rows)
        self.stats.evaluated += len(rows)
        model = (setting.shape, group.job, setting.framework, group.hardware)
        seconds, training = lattice.training_s(
            group.key, rows, lambda some: step_time(*model, some).total
        )
        sigma = setting.sigma(group, layouts.gpus, training)
        found = Rows(
            layouts,
            seconds,
            training,
            sigma,
            lattice.steps[rows],
            lattice.memory_bytes[rows],
            lattice.writer_nodes[rows],
            lattice.host_bytes[rows],
            lattice.drive_bytes[rows],
        )
        good = np.isfinite(seconds)
        if self.limits.min_tokens_per_s is not None:
            tokens = layouts.global_batch * setting.job.sequence_length
            pace = tokens / seconds / np.exp(setting.z * sigma)
            good &= pace * LENIENCY >= self.limits.min_tokens_per_s
        found = self.reduced(index, found.take(np.flatnonzero(good)))
        if not len(found.steps):
            return
        self._keep(evaluate(setting, index, found, self.stats.dropped))

    def reduced(self, index: int, rows: Rows) -> Rows:
        """Those of the rows of a hardware class that may be of interest."""
        return fastest_rows(rows)

    def _keep(self, table: CandidateTable) -> None:
        self.stats.candidates += len(table)
        ok = within_limits(table, self.limits)
        values = objective_values(self.setting, table)
        ok &= values <= self.ceiling
        if not ok.any():
            return
        kept = table.take(np.flatnonzero(ok))
        self.best = min(self.best, float(values[ok].min()))
        self.parts.append(kept)


def least_where_enough(
    values: FloatArray, most: IntArray, nodes: IntArray
) -> FloatArray:
    """Least of ``values`` (m,) among those with ``most >= nodes``, else inf, (n,)."""
    order = np.argsort(most, kind="stable")
    least = np.minimum.accumulate(values[order][::-1])[::-1]
    place = np.searchsorted(most[order], nodes, side="left")
    return np.asarray(np.append(least, np.inf)[place])


def least_rent(
    setting: Setting, group: HardwareClass, nodes: IntArray, hours: FloatArray
) -> FloatArray:
    """Bill of a node, USD, that no option with so many nodes undercuts, (n,).

    Of options alike in term and running costs the cheapest with nodes enough counts;
    of mixes each, with its own number of nodes of the base.
    """
    arrays = group.arrays
    least = np.full(len(nodes), np.inf)
    mixed = arrays.tariffs.base_max > 0
    terms = np.stack((arrays.term_s, arrays.tariffs.running_usd_per_node_hour))
    for term_s, running in np.unique(terms[:, ~mixed], axis=1).T:
        same = ~mixed & (terms[0] == term_s) & (terms[1] == running)
        price = least_where_enough(
            arrays.usd_per_node_hour[same], arrays.max_nodes[same], nodes
        )
        rent = price * np.maximum(hours, term_s / HOUR) + running * hours
        least = np.minimum(least, rent)
    for row in np.flatnonzero(mixed):
        one = arrays.take(np.array([row]))
        inside = nodes <= one.max_nodes
        # spares may bring fewer nodes up to the least of a mix
        rented = np.maximum(nodes, one.min_nodes)[inside]
        bill = least_node_usd(one, rented, hours[inside]) / nodes[inside]
        least[inside] = np.minimum(least[inside], bill)
    return least


def soonest_s(setting: Setting, group: HardwareClass, nodes: IntArray) -> FloatArray:
    """Seconds until any offer has so many nodes, at least, (n,)."""
    arrays = group.arrays
    return least_where_enough(arrays.around_s, arrays.max_nodes, nodes)


def ideal_finish_s(
    setting: Setting, group: HardwareClass, spread_factor: float = 1.0
) -> float:
    """Seconds from order to finish that no layout on this hardware can undercut.

    Each offer's wait, and the ideal time on all of its nodes; the soonest counts.
    """
    _, training_s = ideal_bounds(setting, group)
    arrays, overheads = group.arrays, setting.scenario.overheads
    active = training_s * group.max_nodes / arrays.max_nodes * spread_factor
    soonest = float((arrays.around_s + active).min())
    return soonest + overheads.setup_s + overheads.queue_s


def ideal_bounds(setting: Setting, group: HardwareClass) -> tuple[float, float]:
    """Cost (USD) and time (s) that no layout on this hardware can undercut.

    All model FLOPs at the best sustained rate of the GPU, on all its nodes at once; a
    term is paid for one node at least. Of a mix all nodes cost what the cheaper do.
    """
    flops = model_flops_per_token(setting.shape, group.job) * group.job.tokens
    hardware = group.hardware
    rate = max(
        hardware.peak_precision * hardware.gemm_efficiency,
        hardware.peak_16bit * hardware.gemm_efficiency_16bit,
        hardware.peak_16bit * hardware.attention_efficiency,
    )
    gpu_s = flops / (rate * float(attained(group.job, hardware))) * ROUNDING
    gpus_per_node = group.node_kind[0]
    arrays = group.arrays
    node_s = gpu_s / gpus_per_node
    cost = float(cheapest_node_usd(arrays, node_s, ROUNDING).min())
    return cost, gpu_s / (group.max_nodes * gpus_per_node)


def least_power(
    setting: Setting, group: HardwareClass, nodes: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Power of a node, kW, and its CO2, kg/h, that no offer undercuts, (n,) each."""
    arrays = group.arrays
    carbon = carbon_kg(arrays.site_kw, arrays.kg_per_kwh)
    return (
        least_where_enough(arrays.site_kw, arrays.max_nodes, nodes),
        least_where_enough(carbon, arrays.max_nodes, nodes),
    )


def ideal_spent(setting: Setting, group: HardwareClass) -> Spent:
    """What no layout on this hardware can undercut, (1,) each.

    Energy is that of the ideal GPU time on the offer that draws or emits the least.
    """
    cost, training_s = ideal_bounds(setting, group)
    arrays = group.arrays
    node_hours = training_s * group.max_nodes / HOUR
    kwh = node_hours * float(arrays.site_kw.min())
    kg = node_hours * float(carbon_kg(arrays.site_kw, arrays.kg_per_kwh).min())
    finish = ideal_finish_s(setting, group)
    return Spent(*(np.array([value]) for value in (cost, finish, kwh, kg)))


def within(spent: Spending, limits: SearchLimits, factor: float) -> BoolArray:
    """Which spend little enough energy and carbon, ``factor`` times what is given."""
    ok = np.ones(len(spent.energy_kwh), dtype=bool)
    if limits.max_energy_kwh is not None:
        ok &= spent.energy_kwh * factor <= limits.max_energy_kwh * LENIENCY
    if limits.max_carbon_kg is not None:
        ok &= spent.carbon_kg * factor <= limits.max_carbon_kg * LENIENCY
    return ok


def within_limits(table: CandidateTable, limits: SearchLimits) -> BoolArray:
    """Which candidates meet the limits, (n,)."""
    ok = np.ones(len(table), dtype=bool)
    if limits.deadline_s is not None:
        ok &= table.duration_limit_s <= limits.deadline_s * LENIENCY
    if limits.budget_usd is not None:
        ok &= table.cost_limit_usd <= limits.budget_usd * LENIENCY
    if limits.max_energy_kwh is not None:
        ok &= table.energy_limit_kwh <= limits.max_energy_kwh * LENIENCY
    if limits.max_carbon_kg is not None:
        ok &= table.carbon_limit_kg <= limits.max_carbon_kg * LENIENCY
    if limits.min_read_bytes_per_s is not None:
        ok &= table.read_bytes_per_s * LENIENCY >= limits.min_read_bytes_per_s
    return ok


def search(
    setting: Setting,
    limits: SearchLimits,
    slack: float = 0.0,
    progress: Callable[[str, float], None] | None = None,
    time_s: float | None = None,
    cap: float = np.inf,
) -> SearchResult:
    """Candidates that meet ``limits`` and hold every optimum of the objective.

    Ctrl-C ends the search early, as the time limit does; what was found is kept, with
    a bound on what was not.

    Parameters
    ----------
    setting
        The scenario joined with its catalog.
    limits
        Deadline, budget and floors.
    slack
        Relative distance from the best objective within which candidates are kept
        (runners-up); 0.25 keeps all within 25 %.
    progress
        Called with a label and the fraction done.
    time_s
        Wall-clock seconds after which no more layouts are made or evaluated.
    cap
        Objective (dollars or seconds) above which nothing is of interest.
    """
    work = Search(setting, limits, slack, cap)
    left, bounds = run(work, progress, time_s)
    open_bound = min((bounds[i] for i in left), default=np.inf)
    complete = open_bound > work.ceiling or not left
    return SearchResult(
        _within(work),
        work.stats,
        complete,
        bound=work.best if complete else min(work.best, open_bound),
    )


def run(
    work: Search,
    progress: Callable[[str, float], None] | None,
    time_s: float | None,
) -> tuple[list[int], list[float]]:
    """Evaluate the hardware classes of interest, in the order of their bounds.

    Returns the classes that time left out, and the bounds of all.
    """
    setting = work.setting
    bounds = [work.class_bound(group) for group in setting.classes]
    able = [i for i, g in enumerate(setting.classes) if not work.hopeless(g)]
    order = sorted(able, key=lambda i: (bounds[i], i))
    left = list(order)
    setting.space.end = None if time_s is None else time.monotonic() + time_s
    try:
        while left:
            if work.wanted(left[0]):
                setting.space.check_time()
                work.run_class(left[0], setting.classes[left[0]])
                work.stats.classes += 1
            left.pop(0)
            if progress is not None:
                progress("layouts", 1.0 - len(left) / len(order))
    except (KeyboardInterrupt, OutOfTimeError):
        left = [i for i in left if work.wanted(i)]  # the one in hand is not evaluated
    finally:
        setting.space.end = None
    if not left:
        work.stats.classes_bounded = len(bounds) - work.stats.classes
    return left, bounds


def _within(work: Search) -> CandidateTable | None:
    if not work.parts:
        return None
    table = CandidateTable.concatenate(work.parts)
    values = objective_values(work.setting, table)
    return table.take(np.flatnonzero(values <= work.ceiling))
