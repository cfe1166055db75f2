"""What a writer of files needs to know of a run, as plain values."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from solver.acting.plan_file import PlannedJob
from solver.catalog.schema import (
    Architecture,
    FrameworkEntry,
    Gpu,
    NetworkTier,
    Offer,
    Region,
    Server,
    StorageTier,
)
from solver.catalog.slices import is_slice
from solver.catalog.supply import failure_rates, merged_catalog
from solver.errors import InputError, Issue, shown
from solver.plan import LayoutPlan, Plan
from solver.scenario.scenario import Workload
from solver.units import DAY

if TYPE_CHECKING:
    from solver.catalog.load import Catalog

__all__ = ["CHECKPOINTS", "DATA", "INITIAL", "Run", "run_of"]

DATA = "DATA_PATH"
CHECKPOINTS = "CHECKPOINT_DIR"
INITIAL = "INITIAL_CHECKPOINT"
"""Variables that the user sets: no plan knows where these lie."""

_LONGEST_NAME = 40
"""Characters of a job's name: with what launchers add it is a DNS label of 63."""


@dataclass(frozen=True, slots=True)
class Run:
    """One job of a plan, with all that its files say.

    Parameters
    ----------
    job
        Its name in files: lower-case letters, digits and single hyphens, at most 40
        characters, the first a letter. It says the scenario and, of a chain, the phase.
    title
        The scenario's name and the phase, as the user wrote them.
    phase
        Name of the phase; empty for a scenario of one job.
    plan
        The plan itself: offer, region, purchase, times and costs.
    workload
        What is trained, with which limits.
    data_kind
        What samples are: text, image, audio or video.
    architecture
        The model's sizes.
    framework
        The catalog's entry of the framework that the plan is predicted for.
    gpu, server
        What is rented; a MIG slice counts as a GPU.
    region
        The catalog's entry of the region; None: the user's own place.
    offer
        The catalog's entry of the offer, of a mix the rest; None: no longer there.
    network
        Between nodes; None: one node, or the catalog no longer has it.
    storage
        Where data and checkpoints lie; None: not said, or no longer in the catalog.
    interruptions
        Failures and spot interruptions that are expected while nodes are held.
    sequences
        Sequences of the whole training, a ramp's included.
    checkpoint_steps
        Steps between checkpoints, rounded down to whole ones; None: one at the end.
    evaluation_fraction
        Extra time that the plan allows for evaluation, as a share of training.
    start_day
        Expected days from day 0 until the job begins, waits included.
    """

    job: str
    title: str
    phase: str
    plan: Plan
    workload: Workload
    data_kind: str
    architecture: Architecture
    framework: FrameworkEntry
    gpu: Gpu
    server: Server
    region: Region | None
    offer: Offer | None
    network: NetworkTier | None
    storage: StorageTier | None
    interruptions: float
    sequences: int
    checkpoint_steps: int | None
    evaluation_fraction: float
    start_day: float

    @property
    def layout(self) -> LayoutPlan:
        """The parallel layout."""
        return self.plan.layout

    @property
    def method(self) -> str:
        """Which weights train: full, lora or qlora."""
        return self.workload.method

    @property
    def sequence_length(self) -> int:
        """Tokens of a sequence."""
        return self.workload.sequence_length

    @property
    def tokens(self) -> float:
        """Tokens of the whole training."""
        return self.workload.tokens

    @property
    def steps(self) -> int:
        """Optimizer steps of the whole training, a ramp's included."""
        return self.plan.steps

    @property
    def nodes(self) -> int:
        """Nodes that train."""
        return self.plan.nodes

    @property
    def spare_nodes(self) -> int:
        """Nodes that wait to take the place of one that fails."""
        return self.plan.spare_nodes

    @property
    def rollout_nodes(self) -> int:
        """Nodes that only generate (PPO, GRPO)."""
        return self.layout.rollout_nodes

    @property
    def gpus_per_node(self) -> int:
        """GPUs of a node, all of them used."""
        return self.plan.gpus_per_node

    @property
    def gpus(self) -> int:
        """Ranks that train: tp x pp x cp x dp."""
        layout = self.layout
        return layout.tp * layout.pp * layout.cp * layout.dp

    @property
    def checkpoint_s(self) -> float | None:
        """Seconds between checkpoints; None: one at the end."""
        return self.plan.checkpoint_interval_s

    @property
    def precision(self) -> str:
        """Numbers of the matrix products: bf16, fp16, fp8, mxfp8, nvfp4 or fp32."""
        return self.layout.precision


def run_of(job: PlannedJob, catalog: Catalog) -> Run:
    """Return the run of a job that was read from a plan.

    Parameters
    ----------
    job
        Of `solver.acting.plan_file.read_plan`.
    catalog
        The one that was read with it.

    Raises
    ------
    InputError
        The catalog no longer has the framework, GPU or server of the plan.
    """
    scenario, plan = job.scenario, job.plan
    known = merged_catalog(catalog, scenario.supply)
    _check_names(plan, known)
    title = f"{scenario.name}, {job.phase}" if job.phase else scenario.name
    return Run(
        job=_job(scenario.name, job.phase),
        title=title,
        phase=job.phase,
        plan=plan,
        workload=scenario.workload,
        data_kind=scenario.data.loading.kind,
        architecture=scenario.architecture,
        framework=known.frameworks[plan.framework],
        gpu=known.gpu(plan.gpu),
        server=known.servers[plan.server],
        region=known.regions.get(f"{plan.provider}/{plan.region}"),
        offer=known.offers.get(plan.offer),
        network=known.networks.get(plan.network or ""),
        storage=known.storage.get(plan.storage or ""),
        interruptions=_interruptions(job, known),
        sequences=_sequences(scenario.workload, plan),
        checkpoint_steps=_checkpoint_steps(plan),
        evaluation_fraction=scenario.overheads.evaluation_fraction,
        start_day=job.start_day,
    )


def _check_names(plan: Plan, catalog: Catalog) -> None:
    """Refuse a plan of what the catalog no longer has.

    Raises
    ------
    InputError
        Every such name.
    """
    named = {
        "framework": (plan.framework, catalog.frameworks),
        "gpu": (plan.gpu, catalog.slices if is_slice(plan.gpu) else catalog.gpus),
        "server": (plan.server, catalog.servers),
    }
    issues = [
        Issue("unknown-name", f"the catalog has no {kind} {shown(name)}", None, kind)
        for kind, (name, entries) in named.items()
        if name not in entries
    ]
    if issues:
        raise InputError(issues)


def _interruptions(job: PlannedJob, catalog: Catalog) -> float:
    """Return the failures and spot interruptions that are expected in a job."""
    plan, gpu = job.plan, catalog.gpu(job.plan.gpu)
    nodes = plan.nodes + plan.layout.rollout_nodes
    parts = plan.mix or ({"offer": plan.offer, "nodes": nodes},)
    mtbf_s = job.scenario.failures.gpu_mtbf_s
    rate = 0.0
    for part in parts:
        offer = catalog.offers.get(part["offer"])
        per_gpu, per_node = failure_rates(catalog, gpu, offer, mtbf_s)
        share = part["nodes"] / sum(each["nodes"] for each in parts)
        rate += share * nodes * (plan.gpus_per_node * per_gpu + per_node)
    waits = ("queue", "delivery")
    held = plan.duration_days - sum(plan.duration_parts_days.get(w, 0.0) for w in waits)
    return rate * held * DAY


def _job(name: str, phase: str) -> str:
    """Return a job's name as files and clusters take it; the phase is kept whole."""
    end = _slug(phase, _LONGEST_NAME // 2) if phase else ""
    start = _slug(name, _LONGEST_NAME - len(end) - bool(end)) or "run"
    whole = f"{start}-{end}" if end else start
    return whole if whole[0].isalpha() else f"run-{whole}"[:_LONGEST_NAME].rstrip("-")


def _slug(text: str, longest: int) -> str:
    """Return the words of a text with hyphens between, as many as there is room for."""
    words = re.sub(r"[^a-z0-9]+", "-", text.casefold()).strip("-")
    if len(words) <= longest:
        return words
    whole, _, _ = words[: longest + 1].rpartition("-")
    return whole or words[:longest]


def _sequences(workload: Workload, plan: Plan) -> int:
    """Return the sequences of the training; a ramp has smaller steps at first."""
    if plan.batch_ramp is None:
        return plan.steps * plan.layout.global_batch_size
    return math.ceil(workload.tokens / workload.sequence_length)


def _checkpoint_steps(plan: Plan) -> int | None:
    """Return the whole steps that fit between two checkpoints, one at least."""
    if plan.checkpoint_interval_s is None:
        return None
    return max(1, int(plan.checkpoint_interval_s / plan.step_time_s))
