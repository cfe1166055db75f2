"""What a plan has to say of its cards: slices, error correction, how they talk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solver.catalog.slices import Slice
from solver.catalog.supply import is_geforce
from solver.hardware import pcie_rate_is_assumed
from solver.plan import Message
from solver.provenance import is_estimate

if TYPE_CHECKING:
    from solver.catalog.load import Catalog
    from solver.catalog.schema import Gpu, Server
    from solver.performance.inputs import Hardware

__all__ = ["card_notes"]

PAIR = 2
"""GPUs that an NVLink bridge joins."""


def card_notes(
    catalog: Catalog, gpu: Gpu, server: Server, hardware: Hardware
) -> list[Message]:
    """All that there is to say, what changes the figures first."""
    return [
        *_slice(gpu),
        *_links(catalog, gpu, server, hardware),
        *_errors(gpu),
        *_licence(gpu),
    ]


def _slice(gpu: Gpu) -> list[Message]:
    """That a slice is timed by its share, and that its memory may be estimated."""
    if not isinstance(gpu, Slice):
        return []
    counts = {"sm_count": gpu.sm_count, "card_sm_count": gpu.whole.sm_count}
    found = [Message.of("warning.slice", slice=gpu.id, **counts)]
    if is_estimate(gpu.usable_memory_source):
        gib = round(gpu.usable_memory_gib, 2)
        found.append(Message.of("warning.slice-memory", slice=gpu.id, gib=gib))
    return found


def _links(
    catalog: Catalog, gpu: Gpu, server: Server, hardware: Hardware
) -> list[Message]:
    """That cards talk over PCIe, how fast, and whether that was measured."""
    found = []
    pairs = server.nvlink_pair_only and server.gpus_per_node > PAIR
    if server.gpus_per_node > 1 and (pairs or server.intra_node_kind == "pcie"):
        group = next((n for n in (PAIR, 4) if n >= server.gpus_per_node), 8)
        rate = float(getattr(hardware, f"pcie_bus_{group}")) / 1e9
        values = {"gpus": server.gpus_per_node, "group": group, "rate": round(rate, 2)}
        if pairs:
            found.append(Message.of("warning.pairs-only", **values))
        elif gpu.peer_to_peer:
            found.append(Message.of("warning.pcie-only", **values))
        else:
            found.append(Message.of("warning.no-peer", gpu=gpu.id, **values))
    tier = catalog.intra_node.get(server.intra_node)
    if pcie_rate_is_assumed(server, tier):
        found.append(Message.of("warning.pcie-assumed", gpu=gpu.id))
    return found


def _errors(gpu: Gpu) -> list[Message]:
    """That nothing corrects the memory's errors, and whether something could."""
    if gpu.ecc:
        return []
    return [
        Message.of(f"warning.{'ecc-off' if gpu.ecc_option else 'no-ecc'}", gpu=gpu.id)
    ]


def _licence(gpu: Gpu) -> list[Message]:
    """That the driver of a consumer card is not for datacenters."""
    if not is_geforce(gpu):
        return []
    return [Message.of("warning.geforce-licence", gpu=gpu.id)]
