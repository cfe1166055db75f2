"""Parts of what an offer of one's own rents: MIG slices, and fractions of a node."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from solver.catalog import names
from solver.catalog.schema import Server
from solver.catalog.slices import is_slice, slice_id, slice_name
from solver.catalog.supply import LOCAL_KINDS, part_of_node
from solver.errors import Issue, shown
from solver.scenario import lookup
from solver.scenario.reading import Reading
from solver.scenario.supply_schema import OfferSpec, OwnStorageSpec
from solver.yaml_source import DataPath

__all__ = ["fractions_of", "with_one_gpu"]

IN_PROPORTION = (
    "ram_gb",
    "vcpus",
    "local_nvme_tb",
    "usd_per_node_hour",
    "usd_per_node_month",
    "buy_usd_per_node",
    "hosting_usd_per_node_month",
    "node_power",
)
"""Keys of a whole node, of which a fraction has its share."""


def with_one_gpu(spec: OfferSpec, path: DataPath, reading: Reading) -> OfferSpec | None:
    """Return an offer with the id of its one GPU or slice.

    Returns
    -------
    OfferSpec or None
        None after logging why there is none.
    """
    gpu = _gpu(spec, path, reading)
    if gpu is None:
        return None
    if is_slice(gpu):
        if spec.network is not None:
            message = "no network joins MIG slices: one slice is one job"
            reading.fault("contradiction", message, (*path, "network"), key=True)
        if spec.fractions:
            message = "a MIG slice is rented whole"
            reading.fault("contradiction", message, (*path, "fractions"), key=True)
    return spec.model_copy(update={"gpu": gpu})


def _gpu(spec: OfferSpec, path: DataPath, reading: Reading) -> str | None:
    """Return the id of the GPU of an offer, or of the slice of it that is rented."""
    if spec.slice is None:
        return lookup.one_gpu(reading, spec.gpu, (*path, "gpu"))
    cards = lookup.cards(reading, spec.gpu, (*path, "gpu"))
    if not cards:
        return None
    written = slice_name(spec.slice)
    if written is None or written.card or not written.profile:
        message = f"expected a MIG profile such as 3g.40gb, not {shown(spec.slice)}"
        reading.fault("wrong-value", message, (*path, "slice"))
        return None
    meant = slice_name(spec.gpu)
    if meant is not None and meant.profile not in ("", written.profile):
        message = f"the GPU is a slice {meant.profile} already"
        reading.fault("contradiction", message, (*path, "slice"))
        return None
    known = [slice_id(card, written.profile) for card in cards]
    found = tuple(name for name in known if name in reading.catalog.slices)
    if len(found) == 1:
        return found[0]
    issue: Any = names.ambiguous(spec.gpu, tuple(cards))
    if not found:
        text = f"{spec.gpu} {spec.slice}"
        issue = names.resolve_gpu(text, reading.catalog, allow_family=True)
    _tell(issue, (*path, "gpu" if found else "slice"), reading)
    return None


def _tell(issue: Issue, path: DataPath, reading: Reading) -> None:
    """Log the fault of a name at its place."""
    reading.fault(issue.code, issue.message, path, issue.hint)


def fractions_of(
    spec: OfferSpec, server: Server, path: DataPath, reading: Reading
) -> Iterator[tuple[OfferSpec, Server]]:
    """Yield the fractions of a node that are rented as well, with their servers.

    Parameters
    ----------
    spec
        The offer of the whole node.
    server
        Its server.
    path, reading
        Where it stands; takes faults and notices.

    Notes
    -----
    A fraction has its share of host memory, threads, drives and NICs. Its GPUs are
    joined as those of the node are; one alone is joined to none. So many fractions are
    in stock as fit into the nodes.
    """
    whole = server.gpus_per_node
    numbered = reading.items((*path, "fractions"), spec.fractions)
    for gpus, place in {count: at for at, count in numbered}.items():
        if gpus >= whole:
            message = f"expected fewer than the node's {whole} GPUs, not {gpus}"
            reading.fault("out-of-range", message, place)
        elif spec.min_nodes > 1:
            message = f"{spec.min_nodes} whole nodes are rented at least"
            reading.fault("contradiction", message, place)
        else:
            reading.notice(
                "notice.offer.fraction",
                offer=f"{spec.name}/{gpus}-of-{whole}",
                gpus=gpus,
                whole=whole,
            )
            yield _fraction(spec, gpus, whole), part_of_node(server, gpus)


def _fraction(spec: OfferSpec, gpus: int, whole: int) -> OfferSpec:
    """Return the offer of so many GPUs of a node."""
    share, each = gpus / whole, whole // gpus

    def times(value: float | None, factor: float) -> Any:
        return None if value is None else value * factor

    update: dict[str, Any] = {
        key: times(getattr(spec, key), share) for key in IN_PROPORTION
    }
    update |= {
        "name": f"{spec.name}/{gpus}-of-{whole}",
        "provider": spec.provider or spec.name,
        "gpus_per_node": gpus,
        "fractions": (),
        "max_nodes": times(spec.max_nodes, each),
        "max_nodes_per_cluster": times(spec.max_nodes_per_cluster, each),
        "available": tuple(
            delivery.model_copy(update={"nodes": delivery.nodes * each})
            for delivery in spec.available
        ),
        "storage": tuple(_part_of_drives(tier, share) for tier in spec.storage),
    }
    return spec.model_copy(update=update)


def _part_of_drives(tier: str | OwnStorageSpec, share: float) -> str | OwnStorageSpec:
    """Return a storage tier, of which drives in the node are shared out."""
    if isinstance(tier, str) or tier.kind not in LOCAL_KINDS:
        return tier
    capacity = None if tier.capacity is None else tier.capacity * share
    rates = {"read": tier.read * share, "write": tier.write * share}
    return tier.model_copy(update={"capacity": capacity, **rates})
