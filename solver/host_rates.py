"""What a node's CPUs and drives do, for work that leaves the GPUs.

The catalog knows threads, memory and drives of a server, not its memory channels: they
are those of the usual two-socket server of the PCIe generation, in proportion to the
threads where a node is a part of one. An estimate, as docs/offload.md says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from solver.catalog.slices import Slice
from solver.catalog.supply import local_drives
from solver.units import GB

if TYPE_CHECKING:
    from solver.catalog.load import Catalog
    from solver.catalog.schema import Gpu, Server

THREADS_PER_CORE = 2

HOST_MEMORY = {
    3: (256.0, 96),
    4: (409.6, 256),
    5: (614.4, 224),
    6: (819.2, 344),
}
"""PCIe generation to GB/s of host memory and threads of two sockets, by data sheets
(from memory): 6 channels of DDR4-2666 and 24 cores, 8 of DDR4-3200 and 64, 8 of
DDR5-4800 and 56, 8 of DDR5-6400 and 86."""

MEMORY_SHARE = 0.45
"""Of that rate an optimizer reaches: DeepSpeed's CPU Adam updates 1e10 parameters in
2.57 s on 2 x 24 cores with 256 GB/s (arXiv 2101.06840, from memory), which is 0.44 at
28 bytes each; 0.91 s for 1.1e9 on a desktop's 51 GB/s (torchao) is 0.66, and 4 s for
5.1e10 a node of 614 GB/s (Llama 3.1 405B under FSDP, LambdaLabsML's guide) 0.58."""

THREADS_A_GPU = 16
"""Of a server whose threads are not known: an assumption."""


def host_threads(gpu: Gpu, server: Server) -> float:
    """Threads of the server's CPUs; of a slice's node its share of a card's."""
    share = gpu.link_share if isinstance(gpu, Slice) else 1.0
    return float(server.vcpus or THREADS_A_GPU * server.gpus_per_node * share)


def host_memory_bytes_per_s(gpu: Gpu, server: Server) -> float:
    """Bytes/s that an optimizer on the CPUs moves."""
    generation = min(max(gpu.pcie_generation, min(HOST_MEMORY)), max(HOST_MEMORY))
    rate, threads = HOST_MEMORY[generation]
    share = min(1.0, host_threads(gpu, server) / threads)
    return MEMORY_SHARE * share * rate * GB


def drive_bytes_per_s(catalog: Catalog, server: Server) -> tuple[float, float]:
    """Bytes/s that a node's own drives read and write; 0 without any."""
    tiers = local_drives(catalog, server)
    if not tiers:
        return 0.0, 0.0
    tier = tiers[0]
    return tier.read_gb_per_s_per_node * GB, tier.write_gb_per_s_per_node * GB
