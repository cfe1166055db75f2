"""The GPU and node of a row, and how much memory it can use.

Blank columns: as many GPUs a node as the GPU's usual server has, its usual network.
An ambiguous name means the SXM part, and what it says in brackets of watts is the
part's power limit.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from solver.accuracy.assumptions import Assumptions
from solver.accuracy.tables import SkippedRowError, TableRow
from solver.catalog.gpu_names import gpus_like
from solver.catalog.supply import standard_server
from solver.errors import InputError
from solver.hardware import hardware_for
from solver.performance.inputs import Hardware

if TYPE_CHECKING:
    from solver.catalog.load import Catalog
    from solver.catalog.schema import Gpu, Server

__all__ = ["Machine", "hardware_of_machine", "machine_from"]

USUAL_PER_NODE = 8
"""GPUs of a node whose GPU has no usual server."""

GENERIC_NETWORK = "infiniband-hdr-200"
GENERIC_GBPS_PER_GPU = 100.0
"""Fabric between nodes of GPUs whose usual server has none."""

_SITES = (
    (r"bigscience|bloom|lucie", "a100", "omnipath-100", 50.0),
    (r"bigscience", "v100", "omnipath-100", 100.0),
)
"""Source, GPU, fabric and Gb/s a GPU of the Jean Zay cluster: 4 Omni-Path links of
100 Gb/s on 8 A100, and on 4 V100 (its public documentation; memory)."""

_GENERIC_GPUS = ((1.0, "rtx-4090"), (40.0, "l40s"), (60.0, "a100-sxm-80gb"))
"""Least memory, GiB, and the part that stands for 'a GPU with 24 GB'."""


@dataclass(frozen=True)
class Machine:
    """The node that a row ran on."""

    gpu: Gpu
    server: Server
    capacity_gib: float


def hardware_of_machine(
    catalog: Catalog, machine: Machine, precision: str, year: float | None
) -> Hardware:
    """The machine as the performance model takes it, as it was in ``year``."""
    server = machine.server
    return hardware_for(
        machine.gpu,
        server,
        catalog.intra_node.get(server.intra_node),
        catalog.networks[server.network] if server.network else None,
        catalog.calibration,
        precision,
        year,
    )


def machine_from(
    row: TableRow, catalog: Catalog, n_gpus: int | None, taken: Assumptions
) -> Machine:
    """The row's node.

    Raises
    ------
    SkippedRowError
        The catalog has no such GPU.
    """
    gpu = _gpu(row, catalog, taken)
    usual = max(
        (s for s in catalog.servers.values() if s.standard and s.gpu == gpu.id),
        key=lambda s: (s.gpus_per_node, s.id),
        default=None,
    )
    per_node = row.whole("gpus_per_node")
    if per_node is None:
        per_node = usual.gpus_per_node if usual else USUAL_PER_NODE
        per_node = min(per_node, n_gpus or per_node)
        taken.take("gpus_per_node", per_node)
    try:
        server = standard_server(catalog, gpu.id, per_node)
    except InputError as error:  # a rack or a cluster was taken for a node
        per_node = usual.gpus_per_node if usual else USUAL_PER_NODE
        taken.take("gpus_per_node", f"{per_node}: {error.issues[0].message}")
        server = standard_server(catalog, gpu.id, per_node)
    server = _networked(row, server, per_node, n_gpus, taken)
    capacity = row.number("gpu_memory_gib") or gpu.usable_memory_gib
    return Machine(gpu, server, capacity)


def _networked(
    row: TableRow,
    server: Server,
    per_node: int,
    n_gpus: int | None,
    taken: Assumptions,
) -> Server:
    """The server with the fabric that the row states, else its usual one."""
    stated = row.number("internode_gbps_per_gpu")
    site = _site_network(row, server, taken) if stated is None else None
    if site is not None:
        return site
    spans = (n_gpus or 1) > max(per_node, server.nvlink_domain_gpus)
    if stated is None:
        if spans and not server.network:
            taken.take("internode_gbps_per_gpu", GENERIC_GBPS_PER_GPU)
            stated = GENERIC_GBPS_PER_GPU
        elif spans:
            gbps = server.network_gbps / per_node
            taken.take("internode_gbps_per_gpu", f"{gbps:g}")
    if stated is None:
        return server
    network = server.network or GENERIC_NETWORK
    update = {"network": network, "network_gbps": stated * per_node}
    return server.model_copy(update=update)


def _site_network(row: TableRow, server: Server, taken: Assumptions) -> Server | None:
    """The server with the fabric of a site that the source is known to be from."""
    text = row.words("source")
    for words, gpu, tier, gbps in _SITES:
        if re.search(words, text) and gpu in row.words("gpu"):
            taken.take("internode_gbps_per_gpu", f"{gbps:g} ({tier})")
            total = gbps * server.gpus_per_node
            return server.model_copy(update={"network": tier, "network_gbps": total})
    return None


def _gpu(row: TableRow, catalog: Catalog, taken: Assumptions) -> Gpu:
    """The GPU that a name means, the SXM part of several."""
    name = row.text("gpu")
    key = ("accuracy gpu", name)
    if key not in catalog.memo:
        like = gpus_like(name, catalog.gpus.values())
        catalog.memo[key] = like or _nearly(name, catalog)
    found: tuple[str, ...] = catalog.memo[key]
    if not found:
        found = _by_memory(row)
    if not found:
        raise SkippedRowError(
            f"the catalog has no GPU '{name}'" if name else "no GPU is named"
        )
    sxm = [gpu_id for gpu_id in found if "sxm" in gpu_id]
    gpu = catalog.gpus[_largest(sxm or list(found), row, catalog)]
    if len(found) > 1 or name.casefold().split("-")[0] not in gpu.id:
        taken.take("gpu", gpu.id)
    watts = re.search(r"(\d{2,4}) ?W\b", name)
    if watts and gpu.tdp_w and float(watts[1]) < gpu.tdp_w:
        return gpu.model_copy(update={"tdp_w": float(watts[1])})
    return gpu


def _largest(found: list[str], row: TableRow, catalog: Catalog) -> str:
    """The part whose memory is nearest to the stated one, else the largest."""
    stated = row.number("gpu_memory_gib")

    def rank(gpu_id: str) -> tuple[float, str]:
        memory = catalog.gpus[gpu_id].usable_memory_gib
        return (abs(memory - stated) if stated else -memory, gpu_id)

    return min(found, key=rank)


_COUNT = re.compile(r"^\s*\d+\s*[x×*]\s*|\s*[x×*]\s*\d+\s*$", re.IGNORECASE)
"""How many GPUs there are, as a part of their name."""


def _nearly(name: str, catalog: Catalog) -> tuple[str, ...]:
    """GPUs that the leading words of one mean: 'H100-96GB-HBM2e (500W)', '8xH100'."""
    bare = _COUNT.sub(" ", re.sub(r"\(.*?\)|,.*", " ", name))
    words = re.findall(r"[A-Za-z0-9]+", bare)
    family = [w for w in words if not re.fullmatch(r"\d+GI?B|HBM\w+", w, re.I)]
    for some in [words, *(family[:end] for end in range(len(family), 0, -1))]:
        found = gpus_like("-".join(some), catalog.gpus.values()) if some else ()
        if found:
            return found
    if re.search(r"\bsm100\b", name, re.I):
        return tuple(g.id for g in catalog.gpus.values() if g.family == "B200")
    return ()


def _by_memory(row: TableRow) -> tuple[str, ...]:
    """What stands for 'a GPU with 48 GB' in a table of memory."""
    told = re.search(r"(\d{2,3}) ?GB", row.text("gpu"))
    memory = row.number("gpu_memory_gib") or (float(told[1]) if told else None)
    if memory is None or "step_time" in row.metrics:
        return ()
    fitting = [gpu_id for least, gpu_id in _GENERIC_GPUS if memory >= least]
    return (fitting[-1],) if fitting else ()
