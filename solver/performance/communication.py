"""Time of collectives: latency plus bytes over the slowest link of the group.

A group of ``size`` ranks with ``stride`` between neighbours spans ``size * stride``
GPUs. Where the span fits the NVLink domain (or the node) the group runs inside it;
else each GPU's share of the NICs carries what crosses, and all ranks of the group
in one domain share the load: a ring leaves a domain once for each of them.

All times are seconds, all sizes bytes, shapes (n,).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from solver.performance.inputs import FloatArray, Hardware, IntArray, Layouts


@dataclass(frozen=True)
class Link:
    """What a group of ranks communicates over."""

    size: Any
    """Ranks, (n,)."""
    local: Any
    """Ranks of the group inside one domain, (n,)."""
    rate: Any
    """Bus rate of a ring, bytes/s a rank and direction, (n,)."""
    intra: Any
    """Rate inside a domain, bytes/s a rank and direction, (n,)."""
    inter: Any
    """A GPU's share of the NICs, bytes/s and direction, (n,)."""
    hops_s: Any
    """Latency of one trip around the ring, seconds, (n,)."""
    tree_s: Any
    """Latency of one way down a binary tree, seconds, (n,)."""


def domain_gpus(hardware: Hardware, layouts: Layouts) -> IntArray:
    """GPUs in use that reach each other without the NICs, (n,).

    A layout that leaves GPUs of a node idle has a smaller domain.
    """
    per_node = np.maximum(hardware.gpus_per_node, 1)
    nodes = np.maximum(np.asarray(hardware.nvlink_domain_gpus) // per_node, 1)
    used = np.minimum(layouts.gpus_per_node, per_node)
    return np.asarray(nodes * used)


def intra_rate(hardware: Hardware, span: Any, size: Any, domain: Any) -> FloatArray:
    """Bus rate inside a domain of groups that span ``span`` GPUs, bytes/s, (n,).

    NVLink where it joins the whole span, else PCIe at its measured bus rate by span.
    In a mesh of direct links a group uses only the links between its members.
    """
    pcie = np.where(
        span <= 2,
        hardware.pcie_bus_2,
        np.where(span <= 4, hardware.pcie_bus_4, hardware.pcie_bus_8),
    )
    peers = np.maximum(np.asarray(domain) - 1, 1)
    share = np.where(hardware.intra_mesh, np.minimum((size - 1) / peers, 1.0), 1.0)
    nvlink = np.asarray(hardware.intra_bytes_per_s) * share
    wired = (nvlink > 0) & ~(np.asarray(hardware.intra_pair_only) & (span > 2))
    return np.asarray(np.where(wired, nvlink, pcie))


def link(hardware: Hardware, domain: Any, size: Any, stride: Any) -> Link:
    """The link of groups of ``size`` ranks, ``stride`` GPUs apart.

    Notes
    -----
    Across domains with k ranks in each, k rings run side by side, so that the bus
    rate is k times the NIC share, capped by the rate inside the domain. This is
    what nccl-tests print: busbw = NIC x (n-1) / (nodes-1) within 4 %.
    """
    size = np.maximum(size, 1)
    inside = size * stride <= domain
    local = np.where(inside, size, np.clip(domain // np.maximum(stride, 1), 1, size))
    near = intra_rate(hardware, np.minimum(local * stride, domain), local, domain)
    near = np.where(local > 1, near, np.inf)
    inter = np.asarray(hardware.inter_bytes_per_s, dtype=np.float64)
    rate = np.where(inside, near, np.minimum(near, inter * local))
    domains = np.ceil(size / local)
    hops = (size - domains) * hardware.intra_latency_s + np.where(
        inside, 0.0, domains * hardware.inter_latency_s
    )
    tree = np.ceil(np.log2(local)) * hardware.intra_latency_s + np.where(
        inside, 0.0, np.ceil(np.log2(domains)) * hardware.inter_latency_s
    )
    return Link(size, local, rate, near, inter, hops, tree)


def _over(work: Any, rate: Any) -> FloatArray:
    """Bytes over a rate: 0 for no bytes, inf where there is no link."""
    work, rate = np.broadcast_arrays(np.asarray(work, dtype=float), rate)
    safe = np.where(rate > 0, rate, 1.0)
    return np.where(work <= 0, 0.0, np.where(rate > 0, work / safe, np.inf))


def all_gather_s(link: Link, size_bytes: Any, launch_s: float) -> FloatArray:
    """Ring all-gather to, or reduce-scatter from, ``size_bytes`` in each rank, (n,).

    ``(n-1)/n x bytes / rate + launch + (n-1) hops``.
    """
    time = _over((link.size - 1) / link.size * size_bytes, link.rate)
    return np.asarray(np.where(link.size > 1, time + launch_s + link.hops_s, 0.0))


def all_reduce_s(link: Link, size_bytes: Any, launch_s: float) -> FloatArray:
    """All-reduce of ``size_bytes``, by ring or tree, whichever is faster, (n,).

    Ring: ``2 (n-1)/n x bytes / rate`` and 2(n-1) hops. Tree: every byte goes up and
    down once and a node in the middle passes it on, so that the NICs carry as much
    as in a ring except between two domains, where each sends it once.
    """
    ring = _over(2 * (link.size - 1) / link.size * size_bytes, link.rate)
    pair = np.ceil(link.size / link.local) == 2
    across = np.where(pair, 1.0, 2.0) * size_bytes
    near = _over(2 * (link.local - 1) / link.local * size_bytes, link.intra)
    far = np.where(link.size > link.local, _over(across, link.inter * link.local), 0.0)
    tree = np.maximum(near, far)
    time = np.minimum(ring + 2 * link.hops_s, tree + 2 * link.tree_s)
    return np.asarray(np.where(link.size > 1, time + launch_s, 0.0))


def all_to_all_s(
    link: Link, size_bytes: Any, launch_s: float, copies: float = 1.0
) -> FloatArray:
    """All-to-all in which each rank sends ``size_bytes`` evenly over the group, (n,).

    What stays in the domain and what leaves it move at the same time. ``copies`` is
    the number of destinations of one token: what goes to the same domain several
    times crosses the NICs once, ``D (1 - (1 - 1/D)^copies)`` domains of D.
    """
    domains = np.ceil(link.size / link.local)
    near = _over((link.local - 1) / link.size * size_bytes, link.intra)
    distinct = domains * (1.0 - (1.0 - 1.0 / domains) ** copies) / copies
    leaving = (domains - 1) / np.maximum(domains, 1) * distinct * size_bytes
    time = np.maximum(near, _over(leaving, link.inter))
    return np.asarray(np.where(link.size > 1, time + launch_s, 0.0))


def point_to_point_s(
    hardware: Hardware, domain: Any, span: Any, size_bytes: Any, launch_s: float
) -> FloatArray:
    """One send of ``size_bytes`` along a chain that spans ``span`` GPUs, (n,).

    Where the chain leaves the domain its slowest link, the NIC, sets the pace.
    """
    inside = np.asarray(span) <= domain
    near = intra_rate(hardware, np.minimum(span, domain), 2, domain)
    rate = np.where(inside, near, hardware.inter_bytes_per_s)
    hop = np.where(inside, hardware.intra_latency_s, hardware.inter_latency_s)
    return np.asarray(_over(size_bytes, rate) + launch_s + hop)
