"""Checks of a whole catalog, architectures too: what nothing uses, what has no price.

Most of what they find may be right all the same: a server that is known but not on
offer, or a card that nobody has a reference server for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from solver.catalog.names import compact
from solver.errors import Issue, shown

if TYPE_CHECKING:
    from solver.catalog.load import Catalog
    from solver.catalog.schema import Entry

__all__ = [
    "check_architecture_names",
    "check_free_offers",
    "check_standard_server_of_gpus",
    "check_unused_entries",
]

_FALLBACK_LINKS = ("none", "pcie")
"""Kinds of link that offers of one's own fall back on."""


def check_unused_entries(catalog: Catalog) -> Iterator[Issue]:
    """Yield entries that no other one leads to, so that no plan can use them."""
    servers = catalog.servers.values()
    offers = catalog.offers.values()
    tiers = catalog.storage.values()
    offered = {"", *catalog.providers}
    used: Mapping[str, set[str]] = {
        "gpus": {server.gpu for server in servers},
        "intra_node": {server.intra_node for server in servers}
        | {t.id for t in catalog.intra_node.values() if t.kind in _FALLBACK_LINKS},
        "networks": {server.network or "" for server in servers},
        "servers": {server.id for server in servers if server.standard}
        | {offer.server for offer in offers},
        "storage": {tier.id for tier in tiers if tier.provider in offered}
        | {tier for offer in offers for tier in offer.storage or ()},
    }
    wanted_by = {
        "gpus": "no server has this GPU",
        "intra_node": "no server has this link",
        "networks": "no server has this network",
        "servers": "no offer is of this server",
        "storage": "nobody in the catalog is this tier's provider",
    }
    for kind, message in wanted_by.items():
        for entry_id in catalog.entries(kind):
            if entry_id not in used[kind]:
                where = catalog.where(kind, entry_id)
                yield Issue("unused-entry", message, where, entry_id)


def check_standard_server_of_gpus(catalog: Catalog) -> Iterator[Issue]:
    """Yield GPUs without a usual server, which offers of one's own fall back on."""
    standard = {server.gpu for server in catalog.servers.values() if server.standard}
    for gpu_id in catalog.gpus:
        if gpu_id not in standard:
            message = (
                "no server of this GPU is 'standard': an offer that only names the GPU "
                "has no network and no host"
            )
            where = catalog.where("gpus", gpu_id)
            yield Issue("no-standard-server", message, where, gpu_id)


def check_free_offers(catalog: Catalog) -> Iterator[Issue]:
    """Yield offers that cost nothing and are not one's own."""
    for offer in catalog.offers.values():
        if offer.usd_per_node_hour == 0 and offer.purchase != "owned":
            message = "the price is 0; write 'owned' if the nodes are yours"
            where = catalog.where("offers", offer.id, "usd_per_node_hour")
            yield Issue("free-offer", message, where, offer.id)


def check_architecture_names(catalog: Catalog) -> Iterator[Issue]:
    """Yield names that two architectures share, so that neither is found by them."""
    owners: dict[str, str] = {}
    entries: Iterable[Entry] = catalog.entries("architectures").values()
    for entry in entries:
        names = (entry.id, getattr(entry, "hf_id", ""), *getattr(entry, "aliases", ()))
        for name in dict.fromkeys(names):
            first = owners.setdefault(compact(name), entry.id) if name else entry.id
            if first != entry.id:
                message = f"{shown(name)} is a name of {first} as well"
                where = catalog.where("architectures", entry.id)
                yield Issue("ambiguous-alias", message, where, f"{entry.id}.aliases")
