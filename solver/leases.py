"""Leases: consecutive phases on the same nodes, offer and storage, billed once.

A phase by itself is evaluated without what a lease pays or waits for once (set-up,
whole units, terms, delivery); leases over ranges of phases are then put together from
phases on the same offer, nodes and storage. All arrays are (n,), one element a lease.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from solver.candidates import CandidateTable, with_failures_s
from solver.cost import billed_parts, rent_usd
from solver.geography import transfer_s
from solver.options import Option
from solver.performance.inputs import FloatArray, IntArray
from solver.performance.transformer import parameter_count
from solver.setting import OptionArrays, Setting
from solver.units import GB

WEIGHT_BYTES = 2

Place = tuple[str, str]
"""Offer and day on which its nodes are there (ISO; empty: today)."""


@dataclass(frozen=True)
class LeanSetting(Setting):
    """A phase without what its lease bills or waits for once."""

    @cached_property
    def arrays(self) -> OptionArrays:
        """Figures of all options: no units, terms, egress or waits."""
        whole = super().arrays
        nothing = np.zeros(len(self.options))
        return replace(
            whole,
            unit_s=nothing,
            term_s=nothing,
            egress_usd=nothing,
            wait_s=nothing,
            transfer_s=nothing,
            serving_s=nothing,
            serving_usd=nothing,
        )


def lean(setting: Setting, share: float = 0.0) -> LeanSetting:
    """The phase of ``setting`` by itself, with a ``share`` of its lease's set-up.

    Shares of all phases of a lease that add up to one at most never count more than
    the lease has, so that sums over phases stay lower bounds.
    """
    scenario = setting.scenario
    overheads = replace(
        scenario.overheads,
        setup_s=share * scenario.overheads.setup_s,
        queue_s=share * scenario.overheads.queue_s,
    )
    data = replace(scenario.data, location=None)
    values = {f.name: getattr(setting, f.name) for f in fields(Setting)}
    values["scenario"] = replace(scenario, overheads=overheads, data=data)
    return LeanSetting(**values)


def moved_bytes(setting: Setting) -> float:
    """Bytes that move where the next phase runs in another region.

    The checkpoint with the optimizer's state; adapters go with the weights, 16 bits
    each, that they adapt.
    """
    if setting.scenario.workload.method == "full":
        return setting.most_checkpoint_bytes
    return setting.most_checkpoint_bytes + WEIGHT_BYTES * parameter_count(setting.shape)


@dataclass(frozen=True)
class Places:
    """Offers with their days, storage tiers and regions, numbered over all phases."""

    options: tuple[Place, ...]
    tiers: tuple[tuple[str, float, bool, float], ...]
    regions: tuple[str, ...]

    @staticmethod
    def of(settings: Sequence[Setting]) -> Places:
        """All that some phase may use, in canonical order."""
        options = {place_of(o) for s in settings for o in s.options}
        tiers = {v for s in settings for v in s.tier_variants}
        regions = {o.offer.region for s in settings for o in s.options}
        return Places(
            tuple(sorted(options)), tuple(sorted(tiers)), tuple(sorted(regions))
        )


def place_of(option: Option) -> Place:
    """Offer and day of an option."""
    return option.offer.id, option.start.isoformat() if option.start else ""


@dataclass(frozen=True)
class PhaseRows:
    """Ways to run one phase by itself, in canonical order, (n,)."""

    table: CandidateTable
    """The rows of a lean setting; `option`, `tier` and `group` are that setting's."""
    option: IntArray
    """Index into Places.options."""
    tier: IntArray
    """Index into Places.tiers."""
    active_s: FloatArray
    """Expected seconds of work, failures and checkpoints."""
    storage_usd_per_s: FloatArray
    """Rent of the storage."""
    reading_usd: FloatArray
    """Price of reading the data from it."""
    data_usd: FloatArray
    """Price of bringing the phase's own data there."""

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.option)

    @property
    def nodes(self) -> IntArray:
        """Nodes rented for each row, spares included."""
        return self.table.rented_nodes

    @property
    def key(self) -> tuple[IntArray, IntArray, IntArray]:
        """What phases of one lease have in common."""
        return self.option, self.tier, self.nodes

    def take(self, rows: IntArray) -> PhaseRows:
        """The rows at ``rows``."""
        return PhaseRows(
            table=self.table.take(rows),
            option=self.option[rows],
            tier=self.tier[rows],
            active_s=self.active_s[rows],
            storage_usd_per_s=self.storage_usd_per_s[rows],
            reading_usd=self.reading_usd[rows],
            data_usd=self.data_usd[rows],
        )


def phase_rows(
    setting: LeanSetting,
    table: CandidateTable,
    order: IntArray,
    places: Places,
    data_usd: FloatArray,
) -> PhaseRows:
    """The rows of ``table`` that some lease could need, each once.

    Parameters
    ----------
    setting
        The phase by itself.
    table
        Candidates of that setting, perhaps some of them twice.
    order
        Canonical rank of each, (n,).
    places
        Numbers of offers and tiers.
    data_usd
        Price of bringing the phase's data to each of the setting's options.

    Notes
    -----
    On the same offer, nodes and storage tier a row goes if another one is sooner, has
    no larger variance, the same spread and the same storage: every lease with it in
    place of the other is as good in all that counts.
    """
    table = table.take(np.argsort(order, kind="stable"))
    overheads = setting.scenario.overheads
    active = table.duration_s - overheads.setup_s - overheads.queue_s
    option = {p: i for i, p in enumerate(places.options)}
    tier = {v: i for i, v in enumerate(places.tiers)}
    each_gb = setting.storage.usd_per_gb_read[table.tier]
    reading = each_gb * (setting.bytes_read / GB)
    options = np.array([option[place_of(o)] for o in setting.options], np.int64)
    tiers = np.array([tier[v] for v in setting.tier_variants], np.int64)
    rows = PhaseRows(
        table=table,
        option=options[table.option],
        tier=tiers[table.tier],
        active_s=active,
        storage_usd_per_s=(table.storage_usd - reading) / table.duration_s,
        reading_usd=reading,
        data_usd=data_usd[table.option],
    )
    return rows.take(_needed(rows))


def _needed(rows: PhaseRows) -> IntArray:
    """Rows that none of the same place, spread and storage betters, ascending."""
    table = rows.table
    rate = np.round(rows.storage_usd_per_s, 15)
    keys = (*rows.key, table.sigma, rate)
    last = (rows.active_s, table.failure_variance_s2)
    order = np.lexsort((*reversed(last), *reversed(keys)))
    new = np.zeros(len(order), dtype=bool)
    new[:1] = True
    for key in keys:
        new[1:] |= key[order][1:] != key[order][:-1]
    # a later row of a group is slower: it stays for a smaller variance alone
    level = np.unique(table.failure_variance_s2[order], return_inverse=True)[1]
    level = level.reshape(-1) - (np.cumsum(new) - 1) * (len(order) + 1)
    running = np.minimum.accumulate(level)
    keep = np.ones(len(order), dtype=bool)
    keep[1:] = level[1:] < running[:-1]
    return np.sort(order[keep])


@dataclass(frozen=True)
class LeaseTable:
    """Leases over ranges of phases with their time and bill; seconds and dollars."""

    first: IntArray
    last: IntArray
    """Positions of the first and the last phase, included."""
    rows: IntArray
    """Row of each phase's `PhaseRows`, -1 outside the lease, (n, phases)."""
    option: IntArray
    tier: IntArray
    nodes: IntArray
    region: IntArray
    """Index into Places.regions."""
    wait_s: FloatArray
    """From day 0 until nodes and copies of data, all ordered then, are there."""
    time_s: FloatArray
    """Expected, with queue and set-up, without the wait."""
    time_limit_s: FloatArray
    """The same at the confidence asked."""
    billed_s: FloatArray
    compute_usd: FloatArray
    storage_usd: FloatArray
    data_usd: FloatArray
    cost_usd: FloatArray
    cost_limit_usd: FloatArray
    """At the confidence asked."""

    def __len__(self) -> int:
        """Number of leases."""
        return len(self.first)

    def take(self, rows: IntArray) -> LeaseTable:
        """The leases at ``rows``."""
        return LeaseTable(**{f.name: getattr(self, f.name)[rows] for f in fields(self)})

    @staticmethod
    def concatenate(parts: Sequence[LeaseTable]) -> LeaseTable:
        """All leases of ``parts``, in order."""
        return LeaseTable(
            **{
                f.name: np.concatenate([getattr(p, f.name) for p in parts])
                for f in fields(LeaseTable)
            }
        )


@dataclass(frozen=True)
class Terms:
    """What every lease costs and waits for, by place; (options,) each."""

    usd_per_node_hour: FloatArray
    unit_s: FloatArray
    term_s: FloatArray
    wait_s: FloatArray
    region: IntArray
    data_usd: FloatArray
    """Price of bringing the data set that all phases share to an offer's region."""

    @staticmethod
    def of(settings: Sequence[Setting], places: Places, *, shared: bool) -> Terms:
        """The figures of all places; ``shared``: the phases read one data set."""
        number = {place: i for i, place in enumerate(places.options)}
        regions = {region: i for i, region in enumerate(places.regions)}
        columns: dict[str, Any] = {f.name: np.zeros(len(number)) for f in fields(Terms)}
        columns["region"] = np.zeros(len(number), dtype=np.int64)
        largest = max(s.scenario.data.size_bytes for s in settings)
        for setting in settings:
            arrays = setting.arrays
            data = replace(setting.scenario.data, size_bytes=largest)
            copied = [transfer_s(data, o.offer.region) for o in setting.options]
            at = np.array([number[place_of(o)] for o in setting.options], np.int64)
            for name in ("usd_per_node_hour", "unit_s", "term_s"):
                columns[name][at] = getattr(arrays, name)
            columns["wait_s"][at] = np.maximum(arrays.wait_s, np.array(copied))
            if shared:
                columns["data_usd"][at] = arrays.egress_usd
            columns["region"][at] = [regions[o.offer.region] for o in setting.options]
        return Terms(**columns)


def leases_of(
    phases: Sequence[PhaseRows],
    terms: Terms,
    setup_s: float,
    queue_s: float,
    z: float,
) -> LeaseTable:
    """Every lease over every range of consecutive phases.

    Parameters
    ----------
    phases
        The ways to run each phase, first phase first.
    terms
        Prices and waits of the places.
    setup_s, queue_s
        Paid and unpaid seconds at the beginning of each lease.
    z
        Standard normal quantile of the confidence asked.
    """
    parts = []
    for first in range(len(phases)):
        rows = np.arange(len(phases[first]))[:, None]
        for last in range(first, len(phases)):
            if last > first:
                rows = _joined(phases, first, rows, phases[last])
            if not len(rows):
                break
            parts.append(_figures(phases, terms, (setup_s, queue_s), z, first, rows))
    return LeaseTable.concatenate(parts)


def _joined(
    phases: Sequence[PhaseRows], first: int, rows: IntArray, right: PhaseRows
) -> IntArray:
    """Rows of a range, each with every row of the next phase in the same place."""
    left = phases[first].take(rows[:, 0])
    both = [np.concatenate(pair) for pair in zip(left.key, right.key, strict=True)]
    code = np.unique(np.stack(both, axis=1), axis=0, return_inverse=True)[1]
    code = code.reshape(-1)
    mine, theirs = code[: len(rows)], code[len(rows) :]
    order = np.argsort(theirs, kind="stable")
    low = np.searchsorted(theirs[order], mine, side="left")
    count = np.searchsorted(theirs[order], mine, side="right") - low
    each = np.repeat(np.arange(len(rows)), count)
    offset = np.arange(len(each)) - np.repeat(np.cumsum(count) - count, count)
    found = order[np.repeat(low, count) + offset]
    return np.column_stack([rows[each], found])


def _figures(
    phases: Sequence[PhaseRows],
    terms: Terms,
    overheads: tuple[float, float],
    z: float,
    first: int,
    rows: IntArray,
) -> LeaseTable:
    """Time and bill of the leases over one range, whose phases' rows are given."""
    setup_s, queue_s = overheads
    last = first + rows.shape[1] - 1
    parts = [phases[first + i].take(rows[:, i]) for i in range(rows.shape[1])]
    head = parts[0]
    active = np.stack([p.active_s for p in parts])
    sigma = np.stack([p.table.sigma for p in parts])
    variance = np.sum([p.table.failure_variance_s2 for p in parts], axis=0)
    total = active.sum(axis=0)
    model = np.sum(active * np.expm1(sigma * z), axis=0)
    late = with_failures_s(total, model, variance, z)
    option, nodes = head.option, head.nodes
    price, unit, term = (
        terms.usd_per_node_hour[option],
        terms.unit_s[option],
        terms.term_s[option],
    )
    billed = billed_parts(active, setup_s, unit, sigma, term)
    compute = rent_usd(nodes, price, billed)
    rate = np.stack([p.storage_usd_per_s for p in parts])
    idle = rate[0] * (setup_s + queue_s)
    reading = np.sum([p.reading_usd for p in parts], axis=0)
    idle = idle + reading
    storage = (rate * active).sum(axis=0) + idle
    data = np.sum([p.data_usd for p in parts], axis=0)
    if first == 0:
        data = data + terms.data_usd[option]
    cost = compute + storage + data
    if z == 0.0:
        limit = cost
    else:
        paid = billed_parts(late[None], setup_s, unit, np.zeros((1, len(nodes))), term)
        kept = (rate * active).sum(axis=0) * (late / total) + idle
        limit = rent_usd(nodes, price, paid) + kept + data
    chosen = np.full((len(rows), len(phases)), -1, dtype=np.int64)
    chosen[:, first : last + 1] = rows
    return LeaseTable(
        first=np.full(len(rows), first, np.int64),
        last=np.full(len(rows), last, np.int64),
        rows=chosen,
        option=option,
        tier=head.tier,
        nodes=nodes,
        region=terms.region[option],
        wait_s=terms.wait_s[option],
        time_s=queue_s + setup_s + total,
        time_limit_s=queue_s + setup_s + late,
        billed_s=billed,
        compute_usd=compute,
        storage_usd=storage,
        data_usd=data,
        cost_usd=cost,
        cost_limit_usd=limit,
    )
