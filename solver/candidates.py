"""Candidates: offer x storage x layout, each with its finish and its bill.

The seam between floats with units and the integer columns of the decision model. A
candidate's figures follow from its step time: work, failures and checkpoints,
duration, rent, storage, egress. All arrays are (n,), one element a candidate.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from solver import objective
from solver.cost import storage_usd
from solver.energy import carbon_kg
from solver.geography import Around, around
from solver.input_pipeline import input_stall_s
from solver.performance.checkpoints import checkpoint_writer_nodes
from solver.performance.inputs import FloatArray, IntArray, Layouts
from solver.performance.reliability import Goodput, expected_run
from solver.performance.spares import replacement_wait
from solver.performance.storage_io import (
    node_read_rate,
    tier_rate,
    transfer_s,
)
from solver.setting import HardwareClass, OptionArrays, Setting
from solver.tariffs import NodeBill, node_bill
from solver.units import GB, HOUR

CHECKPOINTS_KEPT = 2
"""The one being written and the last good one."""


@dataclass(frozen=True)
class Rows:
    """Layouts evaluated on one hardware class, each (k,)."""

    layouts: Layouts
    step_time_s: FloatArray
    training_s: FloatArray
    """Seconds of all steps, without stalls and failures."""
    sigma: FloatArray
    """Relative spread of measured over predicted step times."""
    steps: IntArray
    memory_bytes: FloatArray
    writer_nodes: IntArray
    host_bytes: FloatArray
    drive_bytes: FloatArray
    """Of a node's own drives."""

    def take(self, rows: Any) -> Rows:
        """The layouts at ``rows``."""
        return Rows(
            **{f.name: _take(getattr(self, f.name), rows) for f in fields(self)}
        )

    @property
    def kind(self) -> tuple[Any, ...]:
        """Columns in which rows are equal that training time alone tells apart."""
        needs = (self.writer_nodes, self.host_bytes, self.drive_bytes)
        return (self.layouts.nodes, *needs, self.sigma)


@dataclass(frozen=True)
class CandidateTable:
    """Struct of arrays of candidates; seconds, dollars and bytes."""

    option: IntArray
    """Index into Setting.options."""
    tier: IntArray
    """Index into Setting.tiers."""
    group: IntArray
    """Index into Setting.classes."""
    layouts: Layouts
    spares: IntArray
    """Nodes rented beside those of the layout, to take a failed one's place."""
    rollout_nodes: IntArray
    """Nodes rented beside the layout's that only generate."""
    step_time_s: FloatArray
    sigma: FloatArray
    """Relative spread of measured over predicted step times."""
    steps: IntArray
    memory_bytes: FloatArray
    tokens_per_s: FloatArray
    training_s: FloatArray
    stall_s: FloatArray
    evaluation_s: FloatArray
    checkpoints_s: FloatArray
    failures_s: FloatArray
    replacement_s: FloatArray
    """Waits for nodes to be replaced."""
    interval_s: FloatArray
    failure_variance_s2: FloatArray
    duration_s: FloatArray
    duration_limit_s: FloatArray
    """Duration at the confidence asked: what the deadline is held against."""
    billed_s: FloatArray
    compute_usd: FloatArray
    running_usd: FloatArray
    """Energy and hosting of nodes of one's own."""
    storage_usd: FloatArray
    egress_usd: FloatArray
    serving_usd: FloatArray
    """Price of copying the weights to where they serve."""
    cost_usd: FloatArray
    cost_limit_usd: FloatArray
    """Cost at the confidence asked: what the budget is held against."""
    read_bytes_per_s: FloatArray
    """Rate at which all nodes together read the storage tier."""
    energy_kwh: FloatArray
    energy_limit_kwh: FloatArray
    """Energy at the confidence asked."""
    carbon_kg: FloatArray
    """CO2 of that energy; inf where the grid is not known."""
    carbon_limit_kg: FloatArray

    def __len__(self) -> int:
        """Number of candidates."""
        return len(self.option)

    @property
    def rented_nodes(self) -> IntArray:
        """Nodes that are rented: those that train or generate, and spares."""
        return np.asarray(self.layouts.nodes + self.rollout_nodes + self.spares)

    @property
    def busy_gpus(self) -> IntArray:
        """GPUs that train or generate, (n,)."""
        beside = self.rollout_nodes * self.layouts.gpus_per_node
        return np.asarray(self.layouts.gpus + beside)

    def take(self, rows: Any) -> CandidateTable:
        """The candidates at ``rows``."""
        return CandidateTable(
            **{f.name: _take(getattr(self, f.name), rows) for f in fields(self)}
        )

    @staticmethod
    def concatenate(parts: list[CandidateTable]) -> CandidateTable:
        """All candidates of ``parts``, in order."""
        columns: dict[str, Any] = {}
        for f in fields(CandidateTable):
            values = [getattr(p, f.name) for p in parts]
            joined = Layouts.concatenate if f.name == "layouts" else np.concatenate
            columns[f.name] = joined(values)
        return CandidateTable(**columns)


def _take(values: Any, rows: Any) -> Any:
    return values.take(rows) if isinstance(values, Layouts) else values[rows]


def fastest_rows(rows: Rows) -> Rows:
    """For each number of nodes, writers, host needs and spread the fastest row.

    Exact: with offer, storage, nodes, checkpoint writers, needs of host memory and
    drives and spread given, duration and cost fall with training time; of equals the
    first (canonical) row stays.
    """
    if not len(rows.steps):
        return rows
    keys = rows.kind
    order = np.argsort(rows.training_s, kind="stable")
    for key in reversed(keys):
        if (key != key[0]).any():  # mostly false for the last ones: spares a sort
            order = order[np.argsort(key[order], kind="stable")]
    new = np.zeros(len(order), dtype=bool)
    new[:1] = True
    for key in keys:
        new[1:] |= key[order][1:] != key[order][:-1]
    return rows.take(np.sort(order[new]))


def evaluate(
    setting: Setting,
    group_index: int,
    rows: Rows,
    dropped: Counter[str] | None = None,
) -> CandidateTable:
    """Every allowed (option, tier, row) of one hardware class with its figures.

    Dropped are combinations beyond the option's nodes, hosts with too little memory,
    tiers too small for data and checkpoints, and runs that failures would stretch
    beyond any sense (infinite duration). ``dropped`` counts them by rule.
    """
    group = setting.classes[group_index]
    dropped = Counter() if dropped is None else dropped
    option, tier, row, spares = _combinations(setting, group, rows, dropped)
    run = _run(setting, group, option, tier, rows.take(row), spares)
    ends = np.flatnonzero(np.isfinite(run.goodput.expected_s))
    _count(dropped, "goodput", len(row) - len(ends))
    return _figures(setting, group_index, run.take(ends))


def _count(dropped: Counter[str], rule: str, number: int) -> None:
    if number:
        dropped[rule] += number


def _combinations(
    setting: Setting, group: HardwareClass, rows: Rows, dropped: Counter[str]
) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Option, tier and row of all that the option's nodes hold, and spares, (n,) each.

    What is rented, spares included, lies within the option's nodes.
    """
    pairs = [(o, t) for o in group.options for t in setting.option_tiers[int(o)]]
    option = np.array([o for o, _ in pairs], dtype=np.int64)
    tier = np.array([t for _, t in pairs], dtype=np.int64)
    count = len(rows.steps)
    pair = np.repeat(np.arange(len(pairs)), count)
    row = np.tile(np.arange(count), len(pairs))
    nodes = rows.layouts.nodes[row]
    arrays = setting.arrays.take(option)
    choices = np.array(setting.scenario.spare_choices, dtype=np.int64)
    rented = nodes + group.job.rollout_nodes
    low, high = arrays.min_nodes[pair] - rented, arrays.max_nodes[pair] - rented
    ok = (choices.min() <= high) & (choices.max() >= low)
    roomy = rows.host_bytes[row] <= arrays.host_bytes[pair]
    away = rows.drive_bytes[row]
    driven = away <= arrays.drive_bytes[pair]
    holds = _capacity_ok(
        setting, tier[pair], nodes, rows.writer_nodes[row], group.checkpoint_bytes, away
    )
    rules = {"host": roomy, "drives": driven, "storage_capacity": holds}
    for rule, met in rules.items():
        _count(dropped, rule, int((ok & ~met).sum()))
        ok &= met
    kept, choice = np.nonzero(
        ok[:, None] & (choices >= low[:, None]) & (choices <= high[:, None])
    )
    pair, row = pair[kept], row[kept]
    return option[pair], tier[pair], row, choices[choice]


def stored_bytes(
    setting: Setting,
    tier: IntArray,
    nodes: IntArray,
    writers: IntArray,
    checkpoint: Any,
) -> FloatArray:
    """Bytes that the tier must hold: a shared tier in all, a local one by node.

    ``checkpoint`` is the size of one, of which some are kept.
    """
    data = setting.scenario.data.size_bytes
    checkpoints = CHECKPOINTS_KEPT * checkpoint
    local = setting.storage.local[tier] > 0
    each = data / nodes + checkpoints / writers
    return np.asarray(np.where(local, each, data + checkpoints))


def _capacity_ok(
    setting: Setting,
    tier: IntArray,
    nodes: IntArray,
    writers: IntArray,
    checkpoint: float,
    away: FloatArray,
) -> Any:
    """Whether the tier holds data and checkpoints, and what is ``away`` in a node."""
    need = stored_bytes(setting, tier, nodes, writers, checkpoint)
    need = need + np.where(setting.storage.local[tier] > 0, away, 0.0)
    return need <= setting.storage.node_capacity[tier]


def storage_rates(
    setting: Setting,
    group: HardwareClass,
    tier: IntArray,
    nodes: IntArray,
    writers: IntArray,
) -> tuple[FloatArray, FloatArray]:
    """Bytes/s that all nodes read, and that the writers write, (n,) each."""
    tiers, hardware = setting.storage, group.hardware
    per_node = node_read_rate(
        tiers.read_per_node[tier],
        hardware.gpus_per_node,
        hardware.host_bytes_per_s,
        tiers.bounced[tier] == 0,
    )
    stored = stored_bytes(setting, tier, nodes, writers, group.checkpoint_bytes)
    bought = np.maximum(stored, tiers.min_bytes[tier])
    size_limit = bought * tiers.per_byte[tier]
    read = tier_rate(
        nodes,
        per_node,
        np.minimum(tiers.aggregate_read[tier], size_limit),
    )
    write = tier_rate(
        writers,
        tiers.write_per_node[tier],
        np.minimum(tiers.aggregate_write[tier], size_limit),
    )
    return read, write


@dataclass(frozen=True)
class _Run:
    """Combinations with their way from work to an expected finish, (n,) each."""

    option: IntArray
    tier: IntArray
    rows: Rows
    spares: IntArray
    stall_s: FloatArray
    evaluation_s: FloatArray
    read_bytes_per_s: FloatArray
    goodput: Goodput

    def take(self, rows: IntArray) -> _Run:
        """The combinations at ``rows``."""
        goodput = Goodput(
            **{f.name: getattr(self.goodput, f.name)[rows] for f in fields(Goodput)}
        )
        return _Run(
            self.option[rows],
            self.tier[rows],
            self.rows.take(rows),
            self.spares[rows],
            self.stall_s[rows],
            self.evaluation_s[rows],
            self.read_bytes_per_s[rows],
            goodput,
        )


def _run(
    setting: Setting,
    group: HardwareClass,
    option: IntArray,
    tier: IntArray,
    rows: Rows,
    spares: IntArray,
) -> _Run:
    """Training, stalls and evaluation, with failures and checkpoints around them."""
    arrays, layouts = setting.arrays.take(option), rows.layouts
    read, write = storage_rates(setting, group, tier, layouts.nodes, rows.writer_nodes)
    training = rows.training_s
    stall = input_stall_s(setting, option, layouts.nodes, read, training)
    evaluation = training * setting.scenario.overheads.evaluation_fraction
    size = group.checkpoint_bytes
    copies = layouts.nodes / rows.writer_nodes
    beside = group.job.rollout_nodes
    gpus = layouts.gpus + beside * layouts.gpus_per_node
    rate = gpus * arrays.gpu_rate + (layouts.nodes + beside) * arrays.node_rate
    failures = setting.scenario.failures
    goodput = expected_run(
        work_s=training + stall + evaluation,
        failure_rate_per_s=rate,
        checkpoint_s=setting.checkpoint_fixed_s + transfer_s(size, write),
        restart_s=setting.restart_s + transfer_s(size * copies, read),
        saved=setting.storage.kept[tier] > 0,
        given_interval_s=failures.checkpoint_interval_s,
        wait=replacement_wait(rate, failures.replacement_s, spares),
    )
    return _Run(option, tier, rows, spares, stall, evaluation, read, goodput)


def _figures(setting: Setting, group_index: int, run: _Run) -> CandidateTable:
    arrays, rows, goodput = setting.arrays.take(run.option), run.rows, run.goodput
    beside = around(setting, run.option, run.tier)
    fixed, active = beside.paid_s, goodput.expected_s
    group = np.full(len(run.option), group_index, dtype=np.int64)
    rollout = np.full_like(group, setting.classes[group_index].job.rollout_nodes)
    extra, writers = run.spares + rollout, rows.writer_nodes
    bill = _Bill(setting, arrays, beside, run.tier, group, rows.layouts, extra, writers)
    nodes, store = bill.nodes(active, rows.sigma), bill.storage(active)
    moved = arrays.egress_usd + arrays.serving_usd
    cost = nodes.rent_usd + nodes.running_usd + store + moved
    late = late_s(active, goodput.variance_s2, rows.sigma, setting.z)
    kwh = (rows.layouts.nodes + extra) * arrays.site_kw / HOUR
    energy, most_energy = kwh * (fixed + active), kwh * (fixed + late)
    return CandidateTable(
        option=run.option,
        tier=run.tier,
        group=group,
        layouts=rows.layouts,
        spares=run.spares,
        rollout_nodes=rollout,
        step_time_s=rows.step_time_s,
        sigma=rows.sigma,
        steps=rows.steps,
        memory_bytes=rows.memory_bytes,
        tokens_per_s=tokens_per_s(setting, rows),
        training_s=rows.training_s,
        stall_s=run.stall_s,
        evaluation_s=run.evaluation_s,
        checkpoints_s=goodput.checkpoints_s,
        failures_s=goodput.failures_s,
        replacement_s=goodput.replacement_s,
        interval_s=goodput.interval_s,
        failure_variance_s2=goodput.variance_s2,
        duration_s=beside.all_s + active,
        duration_limit_s=beside.all_s + late,
        billed_s=nodes.billed_s,
        compute_usd=nodes.rent_usd,
        running_usd=nodes.running_usd,
        storage_usd=store,
        egress_usd=arrays.egress_usd,
        serving_usd=arrays.serving_usd,
        cost_usd=cost,
        cost_limit_usd=cost if setting.z == 0.0 else bill.of_finish(late),
        read_bytes_per_s=run.read_bytes_per_s,
        energy_kwh=energy,
        energy_limit_kwh=most_energy,
        carbon_kg=carbon_kg(energy, arrays.kg_per_kwh),
        carbon_limit_kg=carbon_kg(most_energy, arrays.kg_per_kwh),
    )


def late_s(
    active_s: FloatArray, variance_s2: FloatArray, sigma: FloatArray, z: float
) -> FloatArray:
    """Active seconds at the standard normal quantile ``z``, (n,).

    The model's error multiplies the run by ``e^(sigma z)``; failures are independent
    of it, so that their spread is added in quadrature (late side only).
    """
    return with_failures_s(active_s, active_s * np.expm1(sigma * z), variance_s2, z)


def with_failures_s(
    active_s: FloatArray, model_s: FloatArray, variance_s2: FloatArray, z: float
) -> FloatArray:
    """Active seconds later by the model's error and, independently, by failures."""
    if z <= 0:
        return np.asarray(active_s + model_s)
    return np.asarray(active_s + np.hypot(model_s, z * np.sqrt(variance_s2)))


def tokens_per_s(setting: Setting, rows: Rows) -> FloatArray:
    """Tokens a second while training, (n,)."""
    tokens = rows.layouts.global_batch * setting.job.sequence_length
    return np.asarray(tokens / rows.step_time_s)


def at_quantile(
    setting: Setting, table: CandidateTable, z: float
) -> tuple[FloatArray, FloatArray]:
    """Duration (s) and bill (USD) at the standard normal quantile ``z``, (n,) each."""
    arrays, layouts = setting.arrays.take(table.option), table.layouts
    beside = around(setting, table.option, table.tier)
    active = table.duration_s - beside.all_s
    late = late_s(active, table.failure_variance_s2, table.sigma, z)
    writers = checkpoint_writer_nodes(layouts)
    extra = table.spares + table.rollout_nodes
    bill = _Bill(
        setting, arrays, beside, table.tier, table.group, layouts, extra, writers
    )
    return beside.all_s + late, bill.of_finish(late)


@dataclass(frozen=True)
class _Bill:
    setting: Setting
    arrays: OptionArrays
    beside: Around
    tier: IntArray
    group: IntArray
    layouts: Layouts
    beside_nodes: IntArray
    """Rented beside the layout's: spares, and nodes that only generate."""
    writer_nodes: IntArray

    def of_finish(self, active_s: FloatArray) -> FloatArray:
        """Bill of a run that takes so long, not an expectation, dollars, (n,)."""
        nodes = self.nodes(active_s, np.zeros(len(active_s)))
        moved = self.arrays.egress_usd + self.arrays.serving_usd
        return nodes.rent_usd + nodes.running_usd + self.storage(active_s) + moved

    def nodes(self, active_s: FloatArray, sigma: FloatArray) -> NodeBill:
        """Rent of all nodes, and what one's own nodes cost while they run."""
        rented, paid_s = self.layouts.nodes + self.beside_nodes, self.beside.paid_s
        return node_bill(self.arrays, rented, active_s, paid_s, sigma)

    def storage(self, active_s: FloatArray) -> FloatArray:
        """What the storage of the nodes that train costs, dollars.

        Of a tier for rare access every byte that is read costs, too.
        """
        setting, nodes = self.setting, self.layouts.nodes
        tiers = setting.storage
        checkpoint = setting.checkpoint_bytes[self.group]
        need = stored_bytes(setting, self.tier, nodes, self.writer_nodes, checkpoint)
        need = need * np.where(tiers.local[self.tier] > 0, nodes, 1)
        price, least = tiers.usd_per_gb_month[self.tier], tiers.min_bytes[self.tier]
        rent = storage_usd(price, need, least, self.beside.stored_s + active_s)
        reading = tiers.usd_per_gb_read[self.tier] * (setting.bytes_read / GB)
        return np.asarray(rent + reading)


def objective_values(setting: Setting, table: CandidateTable) -> FloatArray:
    """First level of what the scenario minimises: USD, seconds, kWh or kg, (n,)."""
    return objective.objective_values(setting.scenario.objective, table)
