"""How training data reaches the GPUs of a plan: rates, what waits, what would help."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from solver.candidates import CandidateTable, storage_rates, stored_bytes
from solver.input_pipeline import decode_rate, samples_read
from solver.performance.checkpoints import checkpoint_writer_nodes
from solver.performance.inputs import FloatArray
from solver.performance.storage_io import THREADS_PER_CORE, data_stall_s, transfer_s
from solver.plan import Message
from solver.scenario.loading import IMAGE_RATE
from solver.scenario.scenario import Loading
from solver.setting import Setting
from solver.units import DAY, GB, format_duration_s

__all__ = ["input_notes", "input_of"]

WORTH_TELLING = 0.001
"""Part of the training from which a wait for input is told."""


@dataclass(frozen=True)
class _Pipeline:
    """The input of a table's only candidate."""

    setting: Setting
    one: CandidateTable

    @property
    def loading(self) -> Loading:
        """How samples are loaded."""
        return self.setting.scenario.data.loading

    @property
    def training_s(self) -> float:
        """Seconds of all steps."""
        return float(self.one.training_s[0])

    @property
    def nodes(self) -> int:
        """Nodes that train."""
        return int(self.one.layouts.nodes[0])

    @property
    def cores(self) -> float:
        """Cores of a node, the fewest that are usual where they are not known."""
        threads = float(self.setting.arrays.host_threads[int(self.one.option[0])])
        return threads / THREADS_PER_CORE

    @property
    def samples(self) -> float:
        """Samples of the run."""
        return samples_read(self.setting)

    def rates(self, tier: int) -> tuple[float, float]:
        """Bytes/s that are read and written on a tier."""
        one, setting = self.one, self.setting
        group = setting.classes[int(one.group[0])]
        writers = checkpoint_writer_nodes(one.layouts)
        found = storage_rates(
            setting, group, np.array([tier]), one.layouts.nodes, writers
        )
        return float(found[0][0]), float(found[1][0])

    def reading_stall_s(self, tier: int) -> float:
        """Seconds that GPUs wait for a tier."""
        read, _ = self.rates(tier)
        return _first(data_stall_s(self.setting.bytes_read, read, self.training_s))

    def decoded(self, loading: Loading | None = None) -> float:
        """Samples/s that all nodes decode, as the scenario says or otherwise."""
        one = self.one
        return _first(decode_rate(self.setting, one.option, one.layouts.nodes, loading))

    def decoding_stall_s(self, loading: Loading | None = None) -> float:
        """Seconds that GPUs wait for decoders."""
        rate = self.decoded(loading)
        return _first(data_stall_s(self.samples, rate, self.training_s))

    @cached_property
    def stalls(self) -> dict[str, float]:
        """Seconds that each part of the input would make GPUs wait for by itself."""
        return {
            "storage": self.reading_stall_s(int(self.one.tier[0])),
            "decoding": self.decoding_stall_s(),
        }

    @property
    def bottleneck(self) -> str | None:
        """The part of the input that GPUs wait for; None: for none."""
        name = max(self.stalls, key=lambda part: self.stalls[part])
        return name if self.stalls[name] > 0 else None

    @property
    def cores_needed(self) -> float:
        """Cores of a node that decode as fast as the GPUs train."""
        return self.samples / self.training_s / (self.nodes * self.loading.rate)


def _first(values: FloatArray) -> float:
    return float(np.atleast_1d(values)[0])


def _wait(seconds: float) -> dict[str, Any]:
    """A wait as messages tell it, and as it is compared."""
    return {"days": seconds / DAY, "wait": format_duration_s(seconds)}


def input_of(setting: Setting, one: CandidateTable) -> dict[str, Any]:
    """What a plan says of its input: needs and rates, the bottleneck, the wait."""
    work, how = _Pipeline(setting, one), setting.scenario.data.loading
    tier = setting.tiers[int(one.tier[0])]
    read, write = work.rates(int(one.tier[0]))
    group = setting.classes[int(one.group[0])]
    saved_s = _first(transfer_s(group.checkpoint_bytes, write))
    decodes = how.decode != "none"
    return {
        "kind": how.kind,
        "decode": how.decode,
        "path": "gpudirect" if tier.gpudirect else "bounce",
        "read_gb_per_s_needed": setting.bytes_read / work.training_s / GB,
        "read_gb_per_s": read / GB,
        "write_gb_per_s": write / GB,
        "checkpoint_s": setting.checkpoint_fixed_s + saved_s,
        "samples_per_s_needed": work.samples / work.training_s if decodes else None,
        "samples_per_s": work.decoded() if decodes else None,
        "loader_cores": work.cores if how.decode == "cpu" else None,
        "loader_cores_needed": work.cores_needed if how.decode == "cpu" else None,
        "bottleneck": work.bottleneck,
        "stall_s_a_step": float(one.stall_s[0] / one.steps[0]),
    }


def input_notes(setting: Setting, one: CandidateTable) -> list[Message]:
    """What GPUs wait for, and each change by itself that makes them wait less."""
    work = _Pipeline(setting, one)
    stall_s = float(one.stall_s[0])
    found = []
    parts = setting.options[int(one.option[0])].parts
    unknown = any(part.server.vcpus is None for part in parts)
    if work.loading.decode == "cpu" and unknown:
        found.append(Message.of("warning.input-cores-unknown", cores=work.cores))
    if stall_s <= WORTH_TELLING * work.training_s:
        return found
    figures = {**_wait(stall_s), "share": stall_s / work.training_s}
    if work.bottleneck == "storage":
        needed = setting.bytes_read / work.training_s / GB
        have = work.rates(int(one.tier[0]))[0] / GB
        name = "warning.input-storage"
        cures = _faster_tier(work)
    else:
        needed, have = work.samples / work.training_s, work.decoded()
        name = f"warning.input-decoding-{work.loading.decode}"
        cures = _faster_decoding(work)
    found.append(Message.of(name, **figures, needed=needed, have=have))
    helps = [cure for cure in cures if cure.values["days"] < stall_s / DAY]
    return found + sorted(helps, key=lambda cure: float(cure.values["days"]))


def _faster_tier(work: _Pipeline) -> list[Message]:
    """The tier of the same offer with which GPUs wait least."""
    setting, one = work.setting, work.one
    room = setting.storage.node_capacity
    writers = checkpoint_writer_nodes(one.layouts)
    checkpoint = setting.checkpoint_bytes[one.group]
    left = {}
    for tier in setting.option_tiers[int(one.option[0])]:
        place = np.array([tier])
        need = stored_bytes(setting, place, one.layouts.nodes, writers, checkpoint)
        if need[0] <= room[tier]:
            wait = max(work.reading_stall_s(int(tier)), work.stalls["decoding"])
            left[int(tier)] = wait
    best = min(left, key=lambda tier: (left[tier], tier))
    return [
        Message.of(
            "warning.input-cure-tier",
            tier=setting.tiers[best].name,
            **_wait(left[best]),
        )
    ]


def _faster_decoding(work: _Pipeline) -> list[Message]:
    """More cores, more workers on the cores there are, or GPUs that decode."""
    how, reading = work.loading, work.stalls["storage"]
    if how.decode != "cpu":
        return []
    found = []
    if how.kind == "image":
        rate = how.rate * IMAGE_RATE["gpu"] / IMAGE_RATE["cpu"]  # of the same images
        on_gpu = replace(how, decode="gpu", rate=rate, workers=None)
        wait = max(reading, work.decoding_stall_s(on_gpu))
        found.append(Message.of("warning.input-cure-gpu", rate=rate, **_wait(wait)))
    size = work.setting.options[int(work.one.option[0])].server.gpus_per_node
    if how.workers is not None and how.workers * size < work.cores:
        all_cores = replace(how, workers=None)
        wait = max(reading, work.decoding_stall_s(all_cores))
        workers = math.ceil(min(work.cores, work.cores_needed) / size)
        found.append(
            Message.of("warning.input-cure-workers", workers=workers, **_wait(wait))
        )
    return found + _more_cores(work, size)


def _more_cores(work: _Pipeline, gpus_per_node: int) -> list[Message]:
    """Cores enough for the GPUs, or for as many workers as are stated."""
    how = work.loading
    most = math.inf if how.workers is None else how.workers * gpus_per_node
    useful = min(work.cores_needed, most)
    if useful <= work.cores:
        return []
    faster = replace(how, rate=how.rate * useful / work.cores, workers=None)
    wait = max(work.stalls["storage"], work.decoding_stall_s(faster))
    return [
        Message.of(
            "warning.input-cure-cores",
            vcpus=math.ceil(useful) * THREADS_PER_CORE,
            have=round(work.cores * THREADS_PER_CORE),
            **_wait(wait),
        )
    ]
