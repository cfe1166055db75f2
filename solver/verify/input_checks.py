"""How training data reaches the GPUs, written a second time in plain arithmetic."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from solver.units import GB
from solver.verify.violation import Violation, figures

if TYPE_CHECKING:
    from solver.catalog.schema import Server
    from solver.verify.evidence import Evidence
    from solver.verify.figures import Figures


def decoded_per_s(evidence: Evidence) -> float:
    """Samples/s that cores, or GPUs, of all nodes decode; inf: nothing is decoded.

    A host of unknown threads counts as the leanest of its GPU.
    """
    how = evidence.scenario.data.loading
    nodes, gpus = evidence.plan.nodes, evidence.server.gpus_per_node
    if how.decode == "none":
        return math.inf
    if how.decode == "gpu":
        return nodes * gpus * how.rate
    cores = host_cores(evidence)
    if how.workers is not None:
        cores = min(cores, how.workers * gpus)
    return nodes * cores * how.rate


def host_cores(evidence: Evidence) -> float:
    """Cores of the smaller node of a plan."""
    return min(_threads(evidence, part.server) for part in evidence.parts) / 2


def _threads(evidence: Evidence, server: Server) -> float:
    if server.vcpus is not None:
        return server.vcpus
    known = [s for s in evidence.catalog.servers.values() if s.vcpus is not None]
    same = [s for s in known if s.gpu == server.gpu] or known
    each = min(float(s.vcpus or 0) / s.gpus_per_node for s in same)
    return each * server.gpus_per_node


def samples(evidence: Evidence) -> float:
    """Samples of the run."""
    scenario = evidence.scenario
    return scenario.workload.tokens * scenario.data.loading.samples_per_token


def check_input(evidence: Evidence, known: Figures) -> Iterator[Violation]:
    """Rates, needs and the wait are those of tier, host and loaders."""
    got, how = evidence.plan.input, evidence.scenario.data.loading
    rate, work = decoded_per_s(evidence), samples(evidence)
    decodes, pace = how.decode != "none", known.training_s
    reading = known.bytes_read / known.read_rate - pace
    decoding = work / rate - pace
    slower = "storage" if reading >= decoding else "decoding"
    words = {
        "kind": how.kind,
        "decode": how.decode,
        "path": "gpudirect" if evidence.tier.gpudirect else "bounce",
        "bottleneck": slower if max(reading, decoding) > 0 else None,
    }
    numbers = {
        "read_gb_per_s_needed": known.bytes_read / pace / GB,
        "read_gb_per_s": known.read_rate / GB,
        "write_gb_per_s": known.write_rate / GB,
        "checkpoint_s": known.checkpoint_s,
        "samples_per_s_needed": work / pace if decodes else None,
        "samples_per_s": rate if decodes else None,
        "loader_cores": host_cores(evidence) if how.decode == "cpu" else None,
        "loader_cores_needed": work / pace / (evidence.plan.nodes * how.rate)
        if how.decode == "cpu"
        else None,
        "stall_s_a_step": known.stall_s / known.steps,
    }
    for name, word in words.items():
        if name not in got or got[name] != word:
            yield Violation("storage", f"input: {name}", word, got.get(name))
    rest = {name: value for name, value in got.items() if name not in words}
    yield from figures("storage", numbers, rest)
