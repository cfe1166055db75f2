"""Whether what a catalog says of MIG slices is possible."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from solver.catalog.slices import PROFILE, card_id, is_slice, slice_fault
from solver.errors import Issue, nearest, shown

if TYPE_CHECKING:
    from solver.catalog.load import Catalog
    from solver.catalog.schema import Gpu

__all__ = ["check_profiles", "check_slice_servers"]

ROUNDING = 1.03
"""Memory in the name of a profile is rounded up: 8 of 23 GB are 184, not 180."""


def check_profiles(catalog: Catalog) -> Iterator[Issue]:
    """Yield MIG profiles that are none, or more than their card."""
    for gpu in catalog.gpus.values():
        for field, profile, message, hint in _faults(gpu):
            where = catalog.where("gpus", gpu.id, field)
            path = f"{gpu.id}.{field}.{profile}"
            yield Issue("impossible-value", message, where, path, hint)


def _faults(gpu: Gpu) -> Iterator[tuple[str, str, str, str | None]]:
    """Yield field, profile, fault and nearest right profile of a card's slices."""
    known = [name for name in gpu.mig_profiles if PROFILE.fullmatch(name)]
    for name, count in gpu.mig_profiles.items():
        found = PROFILE.fullmatch(name)
        if found is None:
            yield "mig_profiles", name, "expected a profile such as 3g.40gb", None
        elif int(found[2]) * count > gpu.memory_gb * ROUNDING:
            message = f"{count} of them are more memory than {gpu.memory_gb:g} GB"
            yield "mig_profiles", name, message, None
    for field in ("mig_sm_counts", "mig_memory_gib"):
        for name in getattr(gpu, field):
            if name not in known:
                message = f"mig_profiles has no {shown(name)}"
                yield field, name, message, nearest(name, known)
    for name, sm_count in gpu.mig_sm_counts.items():
        if sm_count * gpu.mig_profiles.get(name, 1) > gpu.sm_count:
            message = f"more multiprocessors than the card's {gpu.sm_count}"
            yield "mig_sm_counts", name, message, None
    for name, memory_gib in gpu.mig_memory_gib.items():
        if memory_gib * gpu.mig_profiles.get(name, 1) > gpu.usable_memory_gib:
            message = f"more memory than the card's {gpu.usable_memory_gib:g} GiB"
            yield "mig_memory_gib", name, message, None


def check_slice_servers(catalog: Catalog) -> Iterator[Issue]:
    """Yield servers of MIG slices that do not exist, or that something joins."""
    for server in catalog.servers.values():
        card = catalog.gpus.get(card_id(server.gpu))
        if not is_slice(server.gpu) or card is None:
            continue
        if server.gpu not in catalog.slices:
            profile = server.gpu.removeprefix(f"{card.id}/")
            fault = slice_fault(server.gpu, profile, [card])
            where = catalog.where("servers", server.id, "gpu")
            path = f"{server.id}.gpu"
            yield Issue("unknown-reference", fault.message, where, path, fault.hint)
        for field, holds in (
            ("gpus_per_node", server.gpus_per_node == 1),
            ("intra_node", server.intra_node_kind == "none"),
            ("network", server.network is None),
        ):
            if not holds:
                message = "a MIG slice is one GPU, and nothing joins it to others"
                where = catalog.where("servers", server.id, field)
                path = f"{server.id}.{field}"
                yield Issue("impossible-value", message, where, path)
