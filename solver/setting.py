"""Everything about a scenario that stays fixed while candidates are evaluated.

Options and storage tiers become struct-of-arrays here, so that thousands of
(offer, storage, layout) combinations are priced in one numpy call.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from solver.catalog.supply import (
    LOCAL_KINDS,
    failure_rates,
    merged_catalog,
)
from solver.cost import UNIT_S
from solver.geography import data_usd, serving_s, serving_usd, transfer_s
from solver.hardware import hardware_of, precision_supported
from solver.input_pipeline import host_threads
from solver.layout_space import LatticeStore, LayoutSpace, NodeKind, NodeLimits
from solver.mixes import with_mixes
from solver.options import (
    HardwareKey,
    Option,
    OptionSet,
    gather_options,
    hardware_key,
    host_key,
)
from solver.performance.checkpoints import checkpoint_bytes
from solver.performance.inputs import (
    FloatArray,
    Framework,
    Hardware,
    IntArray,
    TrainingJob,
    TransformerShape,
)
from solver.physics_inputs import framework_of, jobs_of, shape_of
from solver.spread import Spread, run_mfu, spread_of
from solver.tariffs import Tariffs
from solver.units import GB, GIB

if TYPE_CHECKING:
    from solver.catalog.load import Catalog
    from solver.catalog.schema import Server, StorageTier
    from solver.scenario.scenario import Scenario

TIB = 2**40
NO_LIMIT = 2**31
"""More nodes than anyone has."""

TierVariant = tuple[str, float, bool, float]
"""What tells the variants of a storage tier apart."""


@dataclass(frozen=True)
class OptionArrays:
    """Figures of the options, one element an option, (m,)."""

    usd_per_node_hour: FloatArray
    min_nodes: IntArray
    max_nodes: IntArray
    """Most nodes that one job can have, by all that limits them."""
    stock_nodes: IntArray
    cluster_nodes: IntArray
    """Most nodes on one fabric; beyond any number where no limit is known."""
    unit_s: FloatArray
    """Billing unit, seconds; 0: by the second."""
    gpu_rate: FloatArray
    """Failures a GPU and second."""
    node_rate: FloatArray
    """Interruptions a node and second (spot)."""
    egress_usd: FloatArray
    """Price of bringing the data set there, once."""
    serving_usd: FloatArray
    """Price of copying the weights from there to where they serve."""
    transfer_s: FloatArray
    """Seconds of copying the data set there."""
    serving_s: FloatArray
    """Seconds of copying the weights from there."""
    wait_s: FloatArray
    """Seconds until the nodes can be used."""
    term_s: FloatArray
    """Seconds that are paid for at least."""
    host_bytes: FloatArray
    """Host memory of a node; inf where it is not known."""
    drive_bytes: FloatArray
    """A node's own drives; 0 where none are known."""
    host_threads: FloatArray
    """Host threads of a node, the fewest that are usual where they are not known."""
    site_kw: FloatArray
    """Power of a node and of what cools it."""
    kg_per_kwh: FloatArray
    """CO2 of the grid; inf where it is not known."""
    tariffs: Tariffs
    """Running costs of one's own nodes, and the bases of mixes."""

    @property
    def around_s(self) -> FloatArray:
        """Seconds of waits and copies, whatever the storage, at least, (m,)."""
        return np.maximum(self.wait_s, self.transfer_s) + self.serving_s

    def take(self, rows: IntArray) -> OptionArrays:
        """The options at ``rows``."""
        return OptionArrays(
            **{f.name: getattr(self, f.name)[rows] for f in fields(self)}
        )


@dataclass(frozen=True)
class StorageArrays:
    """Figures of the storage tiers in use, (t,)."""

    usd_per_gb_month: FloatArray
    usd_per_gb_read: FloatArray
    read_per_node: FloatArray
    write_per_node: FloatArray
    aggregate_read: FloatArray
    aggregate_write: FloatArray
    per_byte: FloatArray
    """Bytes/s that each byte bought brings; inf where size does not matter."""
    min_bytes: FloatArray
    node_capacity: FloatArray
    """Bytes a node holds; inf for shared tiers."""
    local: FloatArray
    """1 where the tier lies in the nodes."""
    kept: FloatArray
    """1 where what is stored outlives the loss of a node."""
    bounced: FloatArray
    """1 where reads pass through host memory (no GPUDirect Storage)."""


@dataclass(frozen=True)
class HardwareClass:
    """Options whose nodes are the same to the physics, under one way to train."""

    key: HardwareKey
    hardware: Hardware
    node_kind: NodeKind
    options: IntArray
    """Indices into Setting.options."""
    arrays: OptionArrays
    """Figures of these options."""
    max_nodes: int
    capacity_bytes: float
    """Allowed memory of the card: usable, less the headroom."""
    job: TrainingJob
    """The variant of the training that runs on it."""
    checkpoint_bytes: float
    """Bytes of one checkpoint of that variant."""
    spread: Spread
    """Of measured over predicted step times."""
    spread_factor: float
    """Least active time at the confidence asked over its expectation."""


@dataclass(frozen=True)
class Setting:
    """One scenario joined with its catalog."""

    scenario: Scenario
    catalog: Catalog
    shape: TransformerShape
    job: TrainingJob
    framework: Framework
    option_set: OptionSet
    others: tuple[TrainingJob, ...] = ()
    """More ways to train that the user allows, beside ``job``: its variants."""
    store: LatticeStore = field(default_factory=LatticeStore, compare=False)
    """Lattices and step times, shared with settings made from this one."""

    @property
    def options(self) -> tuple[Option, ...]:
        """Usable offers in canonical order."""
        return self.option_set.options

    @property
    def jobs(self) -> tuple[TrainingJob, ...]:
        """All ways to train that the user allows; tokens and batch are the same."""
        return (self.job, *self.others)

    @cached_property
    def z(self) -> float:
        """Standard normal quantile of the confidence asked."""
        return NormalDist().inv_cdf(self.scenario.constraints.confidence)

    @cached_property
    def bytes_read(self) -> float:
        """Bytes that the nodes read from storage over the whole run."""
        return self.job.tokens * self.scenario.data.bytes_per_token

    @cached_property
    def checkpoint_fixed_s(self) -> float:
        """Seconds of a checkpoint that do not depend on its size."""
        return float(self.catalog.calibration["reliability"]["checkpoint_s"])

    @cached_property
    def restart_s(self) -> float:
        """Seconds from a failure to the restored state being read again."""
        stated = self.scenario.failures.restart_s
        if stated is not None:
            return stated
        return float(self.catalog.calibration["reliability"]["restart_s"])

    @cached_property
    def checkpoint_bytes(self) -> FloatArray:
        """Bytes of one checkpoint of each hardware class, (c,)."""
        return np.array([group.checkpoint_bytes for group in self.classes])

    @cached_property
    def least_checkpoint_bytes(self) -> float:
        """Bytes of one checkpoint of the variant that has the smallest."""
        return min(self._checkpoint_bytes(job) for job in self.jobs)

    @cached_property
    def most_checkpoint_bytes(self) -> float:
        """Bytes of one checkpoint of the variant that has the largest."""
        return max(self._checkpoint_bytes(job) for job in self.jobs)

    def _checkpoint_bytes(self, job: TrainingJob) -> float:
        return float(checkpoint_bytes(self.shape, job, self.framework))

    @cached_property
    def space(self) -> LayoutSpace:
        """The lattices of layouts of this scenario."""
        kinds: dict[NodeKind, NodeLimits] = {}
        for group in self.classes:
            old = kinds.get(group.node_kind, NodeLimits(0, 0.0))
            kinds[group.node_kind] = NodeLimits(
                max(old.max_nodes, group.max_nodes),
                max(old.capacity_bytes, group.capacity_bytes),
            )
        return LayoutSpace(
            self.shape,
            self.job,
            self.framework,
            self.scenario.constraints,
            kinds,
            self.store,
        )

    @cached_property
    def classes(self) -> tuple[HardwareClass, ...]:
        """Options grouped by what the physics sees, in canonical order.

        Each way to train has classes of its own on the GPUs that compute in its
        precision.
        """
        plain = self._grouped(hardware_key)
        hosts = self._grouped(host_key) if any(j.offload for j in self.jobs) else {}
        return tuple(
            self._hardware_class(key, rows, job)
            for job in self.jobs
            for key, rows in (hosts if job.offload else plain).items()
            if precision_supported(self.options[rows[0]].gpu, job.precision)
        )

    def _grouped(
        self, key_of: Callable[[Option], HardwareKey]
    ) -> dict[HardwareKey, list[int]]:
        """Indices of the options by what the physics sees of them, keys in order."""
        groups: dict[HardwareKey, list[int]] = {}
        for i, option in enumerate(self.options):
            groups.setdefault(key_of(option), []).append(i)
        return {key: groups[key] for key in sorted(groups)}

    def _hardware_class(
        self, key: HardwareKey, rows: list[int], job: TrainingJob
    ) -> HardwareClass:
        first = self.options[rows[0]]
        headroom = self.scenario.constraints.memory_headroom
        hardware = hardware_of(self.catalog, first.server, job.precision)
        spread = spread_of(
            first.gpu,
            self.framework.name,
            self.catalog.calibration,
            moe=self.shape.is_moe,
        )
        options = np.array(rows, dtype=np.int64)
        return HardwareClass(
            key=key,
            hardware=hardware,
            node_kind=node_kind(first.server, hardware),
            options=options,
            arrays=self.arrays.take(options),
            max_nodes=max(self.options[i].max_nodes for i in rows),
            capacity_bytes=first.gpu.usable_memory_gib * GIB * (1.0 - headroom),
            job=job,
            checkpoint_bytes=self._checkpoint_bytes(job),
            spread=spread,
            spread_factor=spread.least_factor(self.z),
        )

    def sigma(
        self, group: HardwareClass, gpus: IntArray, training_s: FloatArray
    ) -> FloatArray:
        """Relative spread of measured over predicted step times, (n,)."""
        used = run_mfu(self.shape, group.job, group.hardware, gpus, training_s)
        return group.spread.at(used)

    @cached_property
    def arrays(self) -> OptionArrays:
        """Figures of all options."""
        options, data = self.options, self.scenario.data

        def column(values: list[float], kind: Any = np.float64) -> Any:
            return np.array(values, dtype=kind)

        regions = {o.offer.region for o in options}

        def by_region(figure: Callable[[str], float]) -> FloatArray:
            known = {region: figure(region) for region in regions}
            return np.array([known[o.offer.region] for o in options])

        mtbf_s = self.scenario.failures.gpu_mtbf_s
        rates = [failure_rates(self.catalog, o.gpu, o.offer, mtbf_s) for o in options]
        return OptionArrays(
            usd_per_node_hour=column([o.usd_per_node_hour for o in options]),
            min_nodes=column([o.min_nodes for o in options], np.int64),
            max_nodes=column([o.max_nodes for o in options], np.int64),
            stock_nodes=column([o.stock_nodes for o in options], np.int64),
            cluster_nodes=column(
                [o.cluster_nodes or NO_LIMIT for o in options], np.int64
            ),
            unit_s=column([UNIT_S[o.offer.billing_unit] for o in options]),
            gpu_rate=column([gpu for gpu, _ in rates]),
            node_rate=column([node for _, node in rates]),
            egress_usd=by_region(lambda r: data_usd(self.catalog, data, r)),
            serving_usd=by_region(
                lambda r: serving_usd(self.scenario, self.catalog, self.shape, r)
            ),
            transfer_s=by_region(lambda r: transfer_s(data, r)),
            serving_s=by_region(lambda r: serving_s(self.scenario, self.shape, r)),
            wait_s=column([o.wait_s for o in options]),
            term_s=column([o.term_s for o in options]),
            host_bytes=column([_host_bytes(o) for o in options]),
            drive_bytes=column([_drive_bytes(o) for o in options]),
            host_threads=column(host_threads(self.catalog, options)),
            site_kw=column([o.site_kw for o in options]),
            kg_per_kwh=column([o.kg_per_kwh for o in options]),
            tariffs=Tariffs.of(options),
        )

    @cached_property
    def tiers(self) -> tuple[StorageTier, ...]:
        """Distinct storage tiers of all options, variants of one tier apart."""
        return tuple(self._variants[key] for key in self.tier_variants)

    @cached_property
    def tier_variants(self) -> tuple[TierVariant, ...]:
        """What tells the ``tiers`` apart, also between settings."""
        return tuple(sorted(self._variants))

    @cached_property
    def _variants(self) -> dict[TierVariant, StorageTier]:
        seen: dict[TierVariant, StorageTier] = {}
        for option in self.options:
            for tier in option.storage:
                seen.setdefault(_variant(tier), tier)
        return seen

    @cached_property
    def option_tiers(self) -> tuple[IntArray, ...]:
        """For each option the indices of its tiers in ``tiers``."""
        index = {_variant(t): i for i, t in enumerate(self.tiers)}
        return tuple(
            np.array(sorted(index[_variant(t)] for t in o.storage), dtype=np.int64)
            for o in self.options
        )

    @cached_property
    def storage(self) -> StorageArrays:
        """Figures of ``tiers``."""
        return storage_arrays(self.tiers)


def node_kind(server: Server, hardware: Hardware) -> NodeKind:
    """What layouts and their memory depend on of a node."""
    fused = bool(hardware.fused_attention)
    return server.gpus_per_node, server.nvlink_domain_gpus, fused


def _variant(tier: StorageTier) -> TierVariant:
    """What tells the variants of a tier apart, the drives of servers for one.

    A server's own drives have their size; an owner's are free and, if nothing else is
    stated, taken to be copied away.
    """
    size = -1.0 if tier.capacity_tb is None else tier.capacity_tb
    return tier.id, size, tier.outlives_node, tier.usd_per_gb_month or 0.0


def storage_arrays(tiers: tuple[StorageTier, ...]) -> StorageArrays:
    """Struct of arrays of storage tiers; what a tier does not limit is infinite."""

    def rate(value: float | None, scale: float) -> float:
        return math.inf if value is None else value * scale

    rows = [
        (
            t.usd_per_gb_month or 0.0,
            t.usd_per_gb_retrieved or 0.0,
            t.read_gb_per_s_per_node * GB,
            t.write_gb_per_s_per_node * GB,
            rate(t.aggregate_read_gb_per_s, GB),
            rate(t.aggregate_write_gb_per_s, GB),
            rate(t.throughput_mb_per_s_per_tib, 1e6 / TIB),
            t.min_tib * TIB,
            rate(t.capacity_tb, 1e12),
            float(t.kind in LOCAL_KINDS),
            float(t.outlives_node),
            float(not t.gpudirect),
        )
        for t in tiers
    ]
    columns = np.array(rows, dtype=np.float64).T
    return StorageArrays(
        **{f.name: columns[i] for i, f in enumerate(fields(StorageArrays))}
    )


def _host_bytes(option: Option) -> float:
    """Host memory of the smallest node of an option."""
    return min((p.server.ram_gb or math.inf) * GB for p in option.parts)


def _drive_bytes(option: Option) -> float:
    """Own drives of the smallest node of an option."""
    return min((p.server.local_nvme_tb or 0.0) * 1e12 for p in option.parts)


def narrowed(setting: Setting, options: Iterable[int]) -> Setting:
    """The same question with some of the options alone, given by their indices.

    Lattices and step times that one of both evaluates serve the other as well.
    """
    kept = tuple(setting.options[i] for i in sorted(options))
    return replace(setting, option_set=replace(setting.option_set, options=kept))


def rented_alone(setting: Setting) -> Setting:
    """The question with offers that cost their rent alone: leases know nothing else.

    Left out are mixes, and nodes of one's own that have energy or hosting to pay.
    """
    return narrowed(
        setting,
        (
            i
            for i, o in enumerate(setting.options)
            if o.mix is None
            and not o.energy_usd_per_node_hour
            and not o.hosting_usd_per_node_hour
        ),
    )


def setting_of(
    scenario: Scenario, catalog: Catalog, store: LatticeStore | None = None
) -> Setting:
    """Join ``scenario`` with ``catalog``, its own offers included.

    ``store`` holds lattices and step times of other settings to be shared.
    """
    supply = merged_catalog(catalog, scenario.supply)
    job, *others = jobs_of(scenario, supply)
    return Setting(
        scenario=scenario,
        catalog=supply,
        shape=shape_of(scenario.architecture),
        job=job,
        others=tuple(others),
        framework=framework_of(supply, scenario.workload.framework),
        option_set=with_mixes(gather_options(scenario, supply), scenario),
        store=LatticeStore() if store is None else store,
    )
