"""What an offer amounts to: its nodes, its storage, its usual server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from solver.catalog.schema import (
    Gpu,
    IntraNodeTier,
    Offer,
    Region,
    Server,
    StorageTier,
)
from solver.catalog.slices import Slice, is_slice
from solver.errors import InputError, Issue, nearest, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solver.catalog.load import Catalog

__all__ = [
    "failure_rates",
    "interruptions_per_node_hour",
    "is_geforce",
    "local_drives",
    "merged_catalog",
    "part_of_node",
    "slowest_local_drive",
    "standard_server",
    "storage_options",
]

LOCAL_KINDS = ("local_nvme", "nvme_raid")
RDMA_KINDS = ("infiniband", "roce", "efa")
DRIVE_TB = 3.84
"""Usual size of one NVMe drive, by which a node's number of drives is guessed."""
RAID_DRIVES = 4
"""From so many drives on local NVMe is taken as striped."""
FAST_ETHERNET_GBPS = 100

GENERIC_FAST = ("gpfs-nvme", "lustre", "nfs-100gbe", "vast-data", "weka")
GENERIC_ETHERNET = ("nfs-100gbe",)
GENERIC_SLOW = ("nfs-10gbe",)
"""Generic tiers offered where a provider's own are not known, by the node's network."""

_GEFORCE = ("RTX 30", "RTX 40", "RTX 50")
_LINK_KINDS = ("nvlink", "nvswitch")
_PCIE_GB_PER_S = {3: 15.75, 4: 31.0, 5: 63.0}
"""Rate of 16 lanes and direction of the generations that have a tier."""
NVSWITCH_GPUS = 16
"""Most GPUs that one node has been built with (DGX-2, GCP a2-megagpu-16g)."""


class Supply(Protocol):
    """The user's own offers and what they refer to."""

    @property
    def offers(self) -> Sequence[Offer]:
        """Offers."""

    @property
    def servers(self) -> Sequence[Server]:
        """Their servers."""

    @property
    def storage(self) -> Sequence[StorageTier]:
        """Their storage tiers."""

    @property
    def countries(self) -> Mapping[str, str]:
        """Region id to country code of regions that the catalog does not have."""

    @property
    def with_catalog(self) -> bool:
        """Whether the catalog's offers may be used as well."""


def merged_catalog(catalog: Catalog, supply: Supply) -> Catalog:
    """Return the catalog with the user's own offers, or with them alone."""
    if not supply.offers:
        return catalog
    regions = [
        Region(
            id=region,
            provider=region.partition("/")[0],
            region=region.partition("/")[2],
            country=country,
            source="stated with the offer",
        )
        for region, country in supply.countries.items()
        if region not in catalog.regions
    ]
    return catalog.with_entries(
        alone=() if supply.with_catalog else ("offers",),
        offers=supply.offers,
        servers=supply.servers,
        storage=supply.storage,
        regions=regions,
    )


def storage_options(
    catalog: Catalog, offer: Offer, server: Server
) -> tuple[StorageTier, ...]:
    """Return the storage tiers that an offer's nodes can use, by id.

    Returns
    -------
    tuple
        Where the offer says that local storage is free and enough, one local NVMe
        drive a node without a limit of size. The tiers that the offer names. Else the
        node's local NVMe (free, as large as it is) with the provider's own tiers, or
        with generic ones (``provider`` empty, price not known) where the provider has
        none in the catalog: an assumption.
    """
    if offer.storage == ():
        return _free_storage(catalog)
    if offer.storage is not None:
        return tuple(catalog.storage[tier] for tier in sorted(offer.storage))
    key = ("storage_options", offer.provider, server.id)
    if key not in catalog.memo:
        catalog.memo[key] = _usual_storage(catalog, offer.provider, server)
    tiers: tuple[StorageTier, ...] = catalog.memo[key]
    return tiers


def _free_storage(catalog: Catalog) -> tuple[StorageTier, ...]:
    """Return the slowest generic local drive, free and large enough."""
    drive = slowest_local_drive(catalog)
    free = {"usd_per_gb_month": 0.0, "capacity_tb": None, "outlives_node": True}
    return () if drive is None else (drive.model_copy(update=free),)


def slowest_local_drive(catalog: Catalog) -> StorageTier | None:
    """Return the slowest generic local NVMe: whose drives a node has is not known."""
    drives = [
        tier
        for tier in catalog.storage.values()
        if tier.kind == "local_nvme" and not tier.provider
    ]
    return min(
        drives,
        key=lambda tier: (tier.read_gb_per_s_per_node, tier.gpudirect, tier.id),
        default=None,
    )


def failure_rates(
    catalog: Catalog, gpu: Gpu, offer: Offer | None, gpu_mtbf_s: float | None = None
) -> tuple[float, float]:
    """Return failures a GPU-second and spot interruptions a node-second of an offer.

    ``gpu_mtbf_s`` takes the place of the catalog's rate of the GPU's generation. An
    offer that the catalog no longer has counts as one that is not taken back.
    """
    rate = catalog.failure_rates.get(gpu.generation) or catalog.failure_rates["default"]
    per_gpu = (rate.per_gpu_hour or 0.0) / 3600.0
    if gpu_mtbf_s is not None:
        per_gpu = 1.0 / gpu_mtbf_s
    per_node = 0.0 if offer is None else interruptions_per_node_hour(catalog, offer)
    return per_gpu, per_node / 3600.0


def interruptions_per_node_hour(catalog: Catalog, offer: Offer) -> float:
    """Return how often a node of the offer is taken back, an hour.

    Notes
    -----
    Only spot nodes are. Rates are known by provider, for some by family of server
    (``spot-aws-g5``): the longest that the server's id begins with counts.
    """
    if offer.purchase != "spot":
        return 0.0
    rates = catalog.failure_rates
    names = [name for name in rates if name.startswith("spot-")]
    fitting = [n for n in names if offer.server.startswith(n.removeprefix("spot-"))]
    provider = f"spot-{offer.provider}"
    usual = provider if provider in rates else "spot-default"
    rate = rates[max(fitting, key=len, default=usual)]
    return rate.per_node_hour or 0.0


def _usual_storage(
    catalog: Catalog, provider: str, server: Server
) -> tuple[StorageTier, ...]:
    """Return the tiers of an offer that names none."""
    network = catalog.networks.get(server.network or "")
    rdma = network is not None and network.kind in RDMA_KINDS
    gpu = catalog.gpu(server.gpu)
    own = [tier for tier in catalog.storage.values() if tier.provider == provider]
    if not own:
        fast = server.network_gbps >= FAST_ETHERNET_GBPS
        ethernet = GENERIC_ETHERNET if network is not None and fast else GENERIC_SLOW
        names = GENERIC_FAST if rdma else ethernet
        own = [
            tier
            for tier in catalog.storage.values()
            if not tier.provider and tier.id.removesuffix("-gpudirect") in names
        ]
    found = [tier for tier in own if rdma or not tier.gpudirect]
    found += _local_storage(catalog, server, gpu)
    return tuple(sorted(found, key=lambda tier: tier.id))


def is_geforce(gpu: Gpu) -> bool:
    """Return whether a GPU is a consumer card."""
    return gpu.family.startswith(_GEFORCE)


def local_drives(catalog: Catalog, server: Server) -> tuple[StorageTier, ...]:
    """Return the node's own drives as tiers of its size, if it has any."""
    key = ("local_drives", server.gpu, server.local_nvme_tb)
    if key not in catalog.memo:
        gpu = catalog.gpu(server.gpu)
        catalog.memo[key] = tuple(_local_storage(catalog, server, gpu))
    tiers: tuple[StorageTier, ...] = catalog.memo[key]
    return tiers


def _local_storage(catalog: Catalog, server: Server, gpu: Gpu) -> list[StorageTier]:
    """Return the node's local NVMe as tiers of its own size."""
    if not server.local_nvme_tb:
        return []
    striped = server.local_nvme_tb / DRIVE_TB >= RAID_DRIVES
    kind = "nvme_raid" if striped else "local_nvme"
    tiers = [t for t in catalog.storage.values() if t.kind == kind and not t.provider]
    # the slowest of a kind: which drives a node has is not known
    tiers.sort(key=lambda tier: (tier.read_gb_per_s_per_node, tier.id))
    direct = gpu.vendor == "NVIDIA" and not is_geforce(gpu)
    plain = [tier for tier in tiers if not tier.gpudirect][:1]
    if direct:
        plain += [tier for tier in tiers if tier.gpudirect][:1]
    return [
        tier.model_copy(update={"capacity_tb": server.local_nvme_tb}) for tier in plain
    ]


def standard_server(
    catalog: Catalog, gpu_id: str, gpus_per_node: int, intra_node: str | None = None
) -> Server:
    """Return the usual server with so many GPUs of a kind.

    Parameters
    ----------
    gpu_id
        Id of the GPU, or of a slice of one.
    gpus_per_node
        GPUs of the node; the reference server of the GPU is scaled to it. Slices have
        nodes of their own.
    intra_node
        Id or alias of the tier between its GPUs, where it is not the usual one.

    Raises
    ------
    InputError
        The catalog does not have the GPU or tier, or no node has so many GPUs.
    """
    if is_slice(gpu_id):
        return _slice_server(catalog, catalog.slices[gpu_id], gpus_per_node, intra_node)
    gpu = catalog.gpus.get(gpu_id)
    if gpu is None:
        hint = nearest(gpu_id, catalog.gpus)
        message = f"the catalog has no GPU {shown(gpu_id)}"
        raise InputError([Issue("unknown-name", message, hint=hint)])
    references = [s for s in catalog.servers.values() if s.standard and s.gpu == gpu_id]
    exact = [s for s in references if s.gpus_per_node == gpus_per_node]
    largest = max(references, key=lambda s: (s.gpus_per_node, s.id), default=None)
    domain = largest.nvlink_domain_gpus if largest else 1
    if not 1 <= gpus_per_node <= max(NVSWITCH_GPUS, domain):
        message = f"no node has {gpus_per_node} GPUs of this kind"
        raise InputError([Issue("out-of-range", message)])
    if largest is None:
        server = _bare_server(gpu, gpus_per_node)
    elif exact and intra_node is None:
        return exact[0]
    else:
        server = _scaled(largest, gpus_per_node)
    if intra_node is not None:
        return _joined(server, gpu, _tier(catalog, intra_node))
    if gpus_per_node > 1 and server.intra_node_kind == "none":
        return server.model_copy(update=_over_pcie(gpu, gpus_per_node))
    # one GPU has nobody to talk to, except through the switches of a rack
    in_rack = largest is not None and domain > largest.gpus_per_node
    return _alone(server) if gpus_per_node == 1 and not in_rack else server


def _slice_server(
    catalog: Catalog, part: Slice, gpus_per_node: int, intra_node: str | None
) -> Server:
    """Return the node of a slice: one GPU, and its share of a card's part of a host."""
    alone = "a MIG slice is one GPU of its own: no link or network joins it to others"
    if gpus_per_node != 1:
        raise InputError([Issue("out-of-range", alone)])
    if intra_node not in (None, "none"):
        raise InputError([Issue("wrong-value", alone)])
    card = standard_server(catalog, part.card, 1)

    def share(value: float | None) -> float | None:
        return None if value is None else round(value * part.link_share, 3)

    return _alone(card).model_copy(
        update={
            "id": f"1x-{part.id}",
            "gpu": part.id,
            "network": None,
            "network_gbps": 0.0,
            "vcpus": share(card.vcpus),
            "ram_gb": share(card.ram_gb),
            "local_nvme_tb": share(card.local_nvme_tb),
            "standard": False,
            "note": f"{part.profile} of one GPU of the server {card.id}.",
        }
    )


def part_of_node(server: Server, gpus: int) -> Server:
    """Return so many GPUs of a node, with their share of host, drives and NICs.

    The NICs stay what they are: a part has its share of their rate.
    """
    part = _scaled(server, gpus).model_copy(
        update={
            "id": f"{server.id}/{gpus}-of-{server.gpus_per_node}",
            "standard": False,
            "note": f"{gpus} of the {server.gpus_per_node} GPUs of {server.id}.",
        }
    )
    in_rack = server.nvlink_domain_gpus > server.gpus_per_node
    return _alone(part) if gpus == 1 and not in_rack else part


def _scaled(reference: Server, gpus_per_node: int) -> Server:
    """Return a reference server with another number of GPUs, all else in proportion."""
    share = gpus_per_node / reference.gpus_per_node

    def part(value: float | None) -> float | None:
        return None if value is None else round(value * share, 3)

    domain = reference.nvlink_domain_gpus
    wider = domain > reference.gpus_per_node
    return reference.model_copy(
        update={
            "id": f"{gpus_per_node}x-{reference.gpu}",
            "gpus_per_node": gpus_per_node,
            "nvlink_domain_gpus": domain if wider else gpus_per_node,
            "network_gbps": part(reference.network_gbps),
            "vcpus": part(reference.vcpus),
            "ram_gb": part(reference.ram_gb),
            "local_nvme_tb": part(reference.local_nvme_tb),
            "note": f"Scaled from the reference server {reference.id}.",
        }
    )


def _bare_server(gpu: Gpu, gpus_per_node: int) -> Server:
    """Return a server of a GPU that the catalog has no reference server for."""
    server = Server(
        id=f"{gpus_per_node}x-{gpu.id}",
        gpu=gpu.id,
        gpus_per_node=gpus_per_node,
        intra_node="none",
        intra_node_kind="none",
        nvlink_domain_gpus=gpus_per_node,
        standard=True,
        source="memory: assumed, PCIe between the cards",
        as_of=gpu.as_of,
    )
    if gpus_per_node == 1:
        return server
    return server.model_copy(update=_over_pcie(gpu, gpus_per_node))


def _over_pcie(gpu: Gpu, gpus_per_node: int) -> dict[str, object]:
    """Return the fields of a server whose cards have only their PCIe slots."""
    oldest, newest = min(_PCIE_GB_PER_S), max(_PCIE_GB_PER_S)
    generation = min(max(gpu.pcie_generation, oldest), newest)
    return {
        "intra_node": f"pcie{generation}",
        "intra_node_kind": "pcie",
        "intra_node_gb_per_s": _PCIE_GB_PER_S[generation],
        "nvlink_domain_gpus": gpus_per_node,
    }


def _alone(server: Server) -> Server:
    """Return a server of one GPU, without links between GPUs."""
    return server.model_copy(
        update={
            "intra_node": "none",
            "intra_node_kind": "none",
            "intra_node_gb_per_s": 0.0,
            "nvlink_pair_only": False,
            "nvlink_domain_gpus": 1,
        }
    )


def _joined(server: Server, gpu: Gpu, tier: IntraNodeTier) -> Server:
    """Return a server whose GPUs are joined by another tier."""
    rate = tier.gb_per_s
    if tier.kind in _LINK_KINDS and gpu.nvlink_gb_per_s:
        rate = min(rate, gpu.nvlink_gb_per_s)
    same = tier.id == server.intra_node
    return server.model_copy(
        update={
            "intra_node": tier.id,
            "intra_node_kind": tier.kind,
            "intra_node_gb_per_s": server.intra_node_gb_per_s if same else rate,
            "nvlink_pair_only": tier.pair_only,
            "nvlink_domain_gpus": (
                server.nvlink_domain_gpus if same else server.gpus_per_node
            ),
        }
    )


def _tier(catalog: Catalog, name: str) -> IntraNodeTier:
    """Return an intra-node tier by id or alias."""
    names = {
        written.casefold(): tier
        for tier in catalog.intra_node.values()
        for written in (tier.id, *tier.aliases)
    }
    tier = names.get(name.casefold())
    if tier is None:
        message = f"the catalog has no link {shown(name)} between the GPUs of a node"
        raise InputError([Issue("unknown-name", message, hint=nearest(name, names))])
    return tier
