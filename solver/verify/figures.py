"""From the step time of one layout to its finish and its bill, in plain arithmetic.

The same definitions as the candidates', written a second time without arrays: what
the two share is the physics (`solver.performance`) and the catalog's records.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from statistics import NormalDist

import numpy as np

from solver.catalog.supply import interruptions_per_node_hour
from solver.energy import grid_of, offer_power_kw, offer_pue
from solver.performance.checkpoints import (
    checkpoint_bytes,
    checkpoint_writer_nodes,
    host_bytes_needed,
)
from solver.performance.offload import away_on_drives
from solver.performance.reliability import Goodput, expected_run
from solver.performance.spares import Wait
from solver.performance.transformer import model_flops_per_token
from solver.spread import spread_of
from solver.units import GB, HOUR, MONTH_HOURS
from solver.verify.bills import Bill
from solver.verify.evidence import Evidence
from solver.verify.input_checks import decoded_per_s, samples
from solver.verify.moving import Moving
from solver.verify.ramp_checks import Climb

TIB = 2**40
LOCAL_KINDS = ("local_nvme", "nvme_raid")
CHECKPOINTS = 2
"""Kept at once: the one being written and the last good one."""
BOUNCE_COPIES = 2
"""Times that a byte crosses host memory where the storage can't reach the GPU."""


@dataclass(frozen=True)
class Figures:
    """All figures of a plan that follow from its decisions; seconds, bytes, dollars."""

    evidence: Evidence

    @cached_property
    def moving(self) -> Moving:
        """Copies of the data and of the weights."""
        return Moving(self.evidence)

    @cached_property
    def step_time_s(self) -> float:
        """Seconds of one optimizer step."""
        return math.fsum(self.step_time_parts_s.values())

    @cached_property
    def step_time_parts_s(self) -> Mapping[str, float]:
        """Seconds of one step by part."""
        return {name: float(s[0]) for name, s in self.evidence.step.parts().items()}

    @cached_property
    def efficiency(self) -> float:
        """Share of the predicted speed, held below what the hardware can do."""
        wanted = self.evidence.scenario.workload.efficiency
        return min(wanted, float(self.evidence.hardware.speed_headroom))

    @cached_property
    def tokens_per_step(self) -> int:
        """Tokens of one global batch."""
        layout = self.evidence.plan.layout
        batch = layout.dp * layout.micro_batch * layout.accumulation
        return batch * self.evidence.scenario.workload.sequence_length

    @cached_property
    def steps(self) -> int:
        """Steps that see every token; the last one counts whole."""
        work = self.evidence.scenario.workload
        left = work.tokens - self.climb.sequences * work.sequence_length
        return self.climb.steps + max(0, math.ceil(left / self.tokens_per_step))

    @cached_property
    def climb(self) -> Climb:
        """The steps whose batch is still growing."""
        return Climb(self.evidence)

    @property
    def useful_token_share(self) -> float | None:
        """Part of a sequence that a sample fills where it has one of its own."""
        scenario = self.evidence.scenario
        work, mean = scenario.workload, scenario.data.mean_document_tokens
        if work.packing == "packed":
            return 1.0
        return None if mean is None else min(mean / work.sequence_length, 1.0)

    @cached_property
    def training_s(self) -> float:
        """Steps and nothing else."""
        whole = self.steps - self.climb.steps
        return whole * self.step_time_s + self.climb.seconds

    @cached_property
    def model_flops_per_step(self) -> float:
        """Matmul FLOPs that a step needs, recomputation not counted."""
        evidence = self.evidence
        per_token = float(model_flops_per_token(evidence.shape, evidence.job))
        return per_token * self.tokens_per_step

    @cached_property
    def mfu(self) -> float:
        """Model FLOP/s over the dense peak of the GPUs that train or generate."""
        gpus = self.busy_nodes * self.evidence.server.gpus_per_node
        peak = float(self.evidence.hardware.peak_precision) * gpus
        return self.model_flops_per_step / (self.step_time_s * peak)

    @cached_property
    def local(self) -> bool:
        """Whether data and checkpoints lie in the nodes."""
        return self.evidence.tier.kind in LOCAL_KINDS

    @cached_property
    def writer_nodes(self) -> int:
        """Nodes that hold a distinct part of a checkpoint."""
        return int(checkpoint_writer_nodes(self.evidence.layouts)[0])

    @cached_property
    def checkpoint_bytes(self) -> float:
        """Bytes of one checkpoint."""
        evidence = self.evidence
        return float(checkpoint_bytes(evidence.shape, evidence.job, evidence.framework))

    @cached_property
    def stored_bytes(self) -> float:
        """Bytes that the tier holds: all of them, or each node where it is local."""
        data = self.evidence.scenario.data.size_bytes
        checkpoints = CHECKPOINTS * self.checkpoint_bytes
        if not self.local:
            return data + checkpoints
        return data / self.evidence.plan.nodes + checkpoints / self.writer_nodes

    @cached_property
    def capacity_bytes(self) -> float:
        """Bytes that the tier can hold at most, as ``stored_bytes`` counts them.

        Drives of the nodes hold what is offloaded besides.
        """
        tier = self.evidence.tier
        if tier.capacity_tb is None:
            return math.inf
        away = self.drive_bytes if self.local else 0.0
        return tier.capacity_tb * 1e12 - away

    @cached_property
    def host_bytes(self) -> float:
        """Host memory that each node needs."""
        evidence = self.evidence
        model = (evidence.shape, evidence.job, evidence.framework)
        return float(host_bytes_needed(*model, evidence.layouts)[0])

    @cached_property
    def drive_bytes(self) -> float:
        """Bytes of each node's own drives that offloaded states take."""
        evidence = self.evidence
        model = (evidence.shape, evidence.job, evidence.framework)
        return float(away_on_drives(*model, evidence.layouts)[0])

    @cached_property
    def write_rate(self) -> float:
        """Bytes a second that the writer nodes write together."""
        tier = self.evidence.tier
        each = tier.write_gb_per_s_per_node * GB
        return self._shared(self.writer_nodes * each, tier.aggregate_write_gb_per_s)

    @cached_property
    def read_rate(self) -> float:
        """Bytes a second that all nodes read together.

        Without GPUDirect Storage every byte crosses host memory twice on its way.
        """
        evidence, tier = self.evidence, self.evidence.tier
        each = tier.read_gb_per_s_per_node * GB
        if not tier.gpudirect:
            links = evidence.server.gpus_per_node * evidence.hardware.host_bytes_per_s
            each = min(each, float(links) / BOUNCE_COPIES)
        return self._shared(evidence.plan.nodes * each, tier.aggregate_read_gb_per_s)

    def _shared(self, rate: float, aggregate_gb_per_s: float | None) -> float:
        """A rate of several nodes, held by what the tier has in all."""
        tier = self.evidence.tier
        if aggregate_gb_per_s is not None:
            rate = min(rate, aggregate_gb_per_s * GB)
        if tier.throughput_mb_per_s_per_tib is not None:
            bought = max(self.stored_bytes, tier.min_tib * TIB) / TIB
            rate = min(rate, bought * tier.throughput_mb_per_s_per_tib * 1e6)
        return rate

    @cached_property
    def bytes_read(self) -> float:
        """Bytes of training data read over the run."""
        scenario = self.evidence.scenario
        return scenario.workload.tokens * scenario.data.bytes_per_token

    @cached_property
    def stall_s(self) -> float:
        """Time that reading, or decoding, takes beyond training."""
        decoding_s = samples(self.evidence) / decoded_per_s(self.evidence)
        needed = max(self.bytes_read / self.read_rate, decoding_s)
        return max(0.0, needed - self.training_s)

    @cached_property
    def evaluation_s(self) -> float:
        """Time of evaluations."""
        return self.training_s * self.evidence.scenario.overheads.evaluation_fraction

    @cached_property
    def work_s(self) -> float:
        """What failures and checkpoints come on top of."""
        return self.training_s + self.stall_s + self.evaluation_s

    @property
    def ahead_s(self) -> float:
        """Work that is still to be done: of a plan all of it."""
        return self.work_s

    @cached_property
    def checkpoint_s(self) -> float:
        """Seconds to write one checkpoint."""
        fixed = float(self.evidence.catalog.calibration["reliability"]["checkpoint_s"])
        return fixed + self.checkpoint_bytes / self.write_rate

    @cached_property
    def restart_s(self) -> float:
        """Seconds from a failure until the last checkpoint is read again."""
        evidence = self.evidence
        stated = evidence.scenario.failures.restart_s
        usual = float(evidence.catalog.calibration["reliability"]["restart_s"])
        fixed = usual if stated is None else stated
        copies = evidence.plan.nodes / self.writer_nodes
        return fixed + self.checkpoint_bytes * copies / self.read_rate

    @cached_property
    def spares(self) -> int:
        """Spare nodes; none where the plan names no number (`check_spares` says so)."""
        stated = self.evidence.plan.spare_nodes
        return stated if type(stated) is int and stated > 0 else 0

    @cached_property
    def rented_nodes(self) -> int:
        """Nodes that are rented: those that train or generate, and spares."""
        return self.busy_nodes + self.spares

    @cached_property
    def busy_nodes(self) -> int:
        """Nodes whose failure stops the run: those that train, and that generate."""
        return self.evidence.plan.nodes + self.evidence.job.rollout_nodes

    @cached_property
    def wait(self) -> Wait:
        """Wait for a node after a failure: Erlang's loss formula, summed term by term.

        With S spares and a load a, ``1/B = sum of S!/((S - j)! a^j), j = 0..S`` is one
        over the share of failures that find all spares in repair. They wait for the
        first of S + 1 nodes; taken are the mean of that time and of its square.
        """
        spares = self.spares
        away = self.evidence.scenario.failures.replacement_s
        load, term, total = self.failures_per_s * away, 1.0, 1.0
        for k in range(spares, 0, -1):
            term = term * k / load if load else math.inf
            total += term
        share, first = 1.0 / total, away / (spares + 1)
        square = share * 2.0 * away * first / (spares + 2)
        return Wait(np.array([share * first]), np.array([square]))

    @cached_property
    def failures_per_s(self) -> float:
        """Failures of GPUs and interruptions of spot nodes, a second."""
        evidence = self.evidence
        rates = evidence.catalog.failure_rates
        gpu = rates.get(evidence.gpu.generation) or rates["default"]
        mtbf_s = evidence.scenario.failures.gpu_mtbf_s
        per_gpu = (gpu.per_gpu_hour or 0.0) if mtbf_s is None else HOUR / mtbf_s
        per_hour = self.busy_nodes * evidence.server.gpus_per_node * per_gpu
        spot = interruptions_per_node_hour(evidence.catalog, evidence.offer)
        per_hour += self.busy_nodes * spot
        return per_hour / HOUR

    @cached_property
    def run(self) -> Goodput:
        """Failures and checkpoints around the work, one row."""
        return expected_run(
            work_s=np.array([self.ahead_s]),
            failure_rate_per_s=np.array([self.failures_per_s]),
            checkpoint_s=np.array([self.checkpoint_s]),
            restart_s=np.array([self.restart_s]),
            saved=self.evidence.tier.outlives_node,
            given_interval_s=self.evidence.scenario.failures.checkpoint_interval_s,
            wait=self.wait,
        )

    @cached_property
    def active_s(self) -> float:
        """Expected seconds of work with failures and checkpoints."""
        return float(self.run.expected_s[0])

    @cached_property
    def interval_s(self) -> float:
        """Seconds of work between two checkpoints: the best, or as stated."""
        return float(self.run.interval_s[0])

    @cached_property
    def fixed_s(self) -> float:
        """Set-up, queue, the wait for nodes, and copies beyond it."""
        overheads = self.evidence.scenario.overheads
        waits = overheads.setup_s + overheads.queue_s + self.wait_s
        return waits + self.transfer_shown_s + self.moving.serving_s

    @cached_property
    def paid_fixed_s(self) -> float:
        """Time on the nodes beside the run: set-up, and copies of their own drives."""
        copies = self.moving.transfer_s + self.moving.serving_s if self.local else 0.0
        return self.evidence.scenario.overheads.setup_s + copies

    @cached_property
    def transfer_shown_s(self) -> float:
        """Of that, what does not run while nodes are waited for.

        Drives in the nodes can only be written once the nodes are there.
        """
        if self.local:
            return self.moving.transfer_s
        return max(0.0, self.moving.transfer_s - self.wait_s)

    @cached_property
    def start(self) -> date:
        """Day on which the nodes are there."""
        stated = self.evidence.plan.start
        today = self.evidence.scenario.start_date
        return date.fromisoformat(stated) if stated else today

    @cached_property
    def wait_s(self) -> float:
        """Seconds until the nodes are delivered."""
        return (self.start - self.evidence.scenario.start_date).days * 86_400.0

    @cached_property
    def duration_s(self) -> float:
        """Expected seconds from start to finish."""
        return self.fixed_s + self.active_s

    @cached_property
    def sigma(self) -> float:
        """Spread of the logarithm of measured over predicted step times.

        It is wider where a well-tuned framework would leave the GPUs idle most of the
        time: there launches and latency decide.
        """
        evidence = self.evidence
        name, calibration = evidence.framework.name, evidence.catalog.calibration
        moe = evidence.shape.is_moe
        spread = spread_of(evidence.gpu, name, calibration, moe=moe)
        per_token = float(model_flops_per_token(evidence.shape, evidence.job))
        peak = float(evidence.hardware.peak_precision) * evidence.plan.gpus
        tuned_s = self.training_s * self.efficiency
        used = per_token * evidence.scenario.workload.tokens / (peak * tuned_s)
        return float(spread.at(used))

    def late_factor(self, confidence: float) -> float:
        """Step time at a confidence over its expectation."""
        return math.exp(NormalDist().inv_cdf(confidence) * self.sigma)

    def duration_at(self, confidence: float) -> float:
        """Seconds from start to finish that hold at a confidence."""
        return self.fixed_s + self.active_s * self.stretch(confidence)

    def stretch(self, confidence: float) -> float:
        """Active time at a confidence over its expectation, failures included.

        The model's error and the failures are independent: their spreads add in
        quadrature, on the late side only.
        """
        model = self.late_factor(confidence) - 1.0
        z = NormalDist().inv_cdf(confidence)
        if z <= 0:
            return 1.0 + model
        failures = z * math.sqrt(float(self.run.variance_s2[0])) / self.active_s
        return 1.0 + math.sqrt(model * model + failures * failures)

    @cached_property
    def bills(self) -> tuple[Bill, ...]:
        """What the nodes of each part cost: one, or base and rest of a mix."""
        evidence, times = self.evidence, (self.paid_fixed_s, self.active_s)
        return tuple(
            Bill(evidence, part, *times, self.sigma) for part in evidence.parts
        )

    @cached_property
    def usd_per_node_hour(self) -> float:
        """Price after discounts, a mean over the nodes."""
        whole = math.fsum(bill.usd_per_hour for bill in self.bills)
        return whole / self.rented_nodes

    @cached_property
    def expected_hours(self) -> float:
        """Expected hours paid for, a mean over the nodes."""
        bills = self.bills
        paid = math.fsum(b.part.nodes * b.expected_hours for b in bills)
        return paid / self.rented_nodes

    @cached_property
    def compute_usd(self) -> float:
        """Expected rent of the nodes."""
        return math.fsum(b.usd_per_hour * b.expected_hours for b in self.bills)

    @cached_property
    def energy_usd(self) -> float:
        """Expected price of the energy of one's own nodes."""
        return math.fsum(bill.energy_usd() for bill in self.bills)

    @cached_property
    def hosting_usd(self) -> float:
        """Expected price of hosting one's own nodes."""
        return math.fsum(bill.hosting_usd() for bill in self.bills)

    def storage_usd(self, duration_s: float) -> float:
        """Price of the storage tier over a duration: rent, and reading if that costs.

        It is rented while data is copied to it and from when nodes are there on.
        """
        hidden = self.moving.transfer_s - self.transfer_shown_s
        rented_s = duration_s - self.wait_s + hidden
        return self.reading_usd + self.rent_per_s * rented_s

    @cached_property
    def reading_usd(self) -> float:
        """Price of reading the data from the tier over the run."""
        each = self.evidence.tier.usd_per_gb_retrieved or 0.0
        return each * self.bytes_read / GB

    @cached_property
    def rent_per_s(self) -> float:
        """Rent of the storage tier, dollars a second."""
        tier = self.evidence.tier
        if not tier.usd_per_gb_month:
            return 0.0
        places = self.evidence.plan.nodes if self.local else 1
        size_gb = max(self.stored_bytes * places, tier.min_tib * TIB) / GB
        return tier.usd_per_gb_month * size_gb / (MONTH_HOURS * HOUR)

    @cached_property
    def pue(self) -> float:
        """Power of the site over that of its computers."""
        return offer_pue(self.evidence.catalog, self.evidence.parts[0].offer)

    @cached_property
    def node_power_kw(self) -> float:
        """Power of a node in training."""
        first = self.evidence.parts[0]
        return offer_power_kw(first.offer, first.server, self.evidence.gpu)

    def energy_mwh(self, stretch: float = 1.0) -> float:
        """Energy of nodes and cooling over set-up and a stretched run."""
        hours = (self.paid_fixed_s + self.active_s * stretch) / HOUR
        site_kw = self.rented_nodes * self.node_power_kw * self.pue
        return site_kw * hours / 1000.0

    @cached_property
    def grid_gco2_per_kwh(self) -> float | None:
        """CO2 of the region's grid, g/kWh; None: not known."""
        return grid_of(self.evidence.catalog, self.evidence.offer.region)[0]

    def carbon_t(self, stretch: float = 1.0) -> float | None:
        """CO2 of the energy of a stretched run, tonnes."""
        grams = self.grid_gco2_per_kwh
        return None if grams is None else self.energy_mwh(stretch) * grams / 1000.0

    @cached_property
    def cost_usd(self) -> float:
        """The expected bill."""
        nodes = self.compute_usd + self.energy_usd + self.hosting_usd
        return nodes + self.storage_usd(self.duration_s) + self.moving.usd

    def cost_at(self, confidence: float) -> float:
        """The bill of the finish that holds at a confidence."""
        if confidence == 0.5:
            return self.cost_usd
        stretch = self.stretch(confidence)
        nodes = math.fsum(bill.at(stretch) for bill in self.bills)
        storage = self.storage_usd(self.duration_at(confidence))
        return nodes + storage + self.moving.usd

    @cached_property
    def stock(self) -> tuple[int, bool]:
        """Nodes of all parts on the day of the start, and whether that is known."""
        stocks = [bill.stock(self.start) for bill in self.bills]
        return sum(nodes for nodes, _ in stocks), all(known for _, known in stocks)
