"""Cards as other tools name them to GPUs of the catalog."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from solver.catalog.gpu_names import gpus_like

if TYPE_CHECKING:
    from solver.catalog.load import Catalog
    from solver.importing.quotes import Quote

__all__ = ["Card", "card_of"]

MEMORY_SLACK = 0.1
"""Sizes of one card differ by so much between sources: 262.5, 270 and 288 GB."""
BOARD_GPUS = 8
"""SXM modules come on boards of so many."""

_FORMS = (
    (re.compile(r"sxm"), "-sxm"),
    (re.compile(r"pcie|pci(?![a-z])"), "-pcie"),
    (re.compile(r"nvl(?!ink)"), "-nvl-"),
)
"""What a server's name says of the form of its cards, and the part of the id."""


@dataclass(frozen=True, slots=True)
class Card:
    """A GPU of the catalog, and on what it was chosen.

    Parameters
    ----------
    gpu
        Id, empty where the catalog has none.
    reason
        Last part of the message id of an assumption, or of why there is none; empty
        where nothing was assumed.
    """

    gpu: str
    reason: str = ""


def card_of(quote: Quote, catalog: Catalog) -> Card:
    """Return the GPU that a quote's server has.

    Notes
    -----
    PCIe and SXM cards often share a name. The first of these decides: the name of the
    server; the provider's servers in the catalog, where all with such cards agree;
    eight cards in a node, which is a board of SXM modules; else the slower card, so
    that a plan does not promise too much.
    """
    named = gpus_like(quote.gpu, catalog.gpus.values()) if quote.gpu else ()
    if not named:
        return Card("", "unknown-gpu")
    memory = quote.memory_gb
    found = [
        gpu
        for gpu in named
        if memory is None
        or abs(catalog.gpus[gpu].memory_gb - memory) <= MEMORY_SLACK * memory
    ]
    if not found:
        return Card("", "unknown-memory")
    if len(found) == 1:
        return Card(found[0])
    for pattern, part in _FORMS:
        if pattern.search(f"{quote.gpu} {quote.instance}".casefold()):
            formed = [gpu for gpu in found if part in gpu]
            if len(formed) == 1:
                return Card(formed[0])
    kin = {
        server.gpu
        for server in catalog.servers.values()
        if server.provider == quote.provider and server.gpu in found
    }
    if len(kin) == 1:
        return Card(kin.pop(), "form-of-provider")
    modules = [gpu for gpu in found if "-sxm" in gpu]
    if quote.count >= BOARD_GPUS and len(modules) == 1:
        return Card(modules[0], "form-of-board")
    slowest = min(
        found,
        key=lambda gpu: (
            catalog.gpus[gpu].bf16_tflops or 0.0,
            catalog.gpus[gpu].memory_bandwidth_gb_per_s,
            catalog.gpus[gpu].nvlink_gb_per_s,
            gpu,
        ),
    )
    return Card(slowest, "form-slowest")
