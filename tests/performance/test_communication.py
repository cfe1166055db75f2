"""Collectives against arithmetic by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver.performance.communication import (
    all_gather_s,
    all_reduce_s,
    all_to_all_s,
    domain_gpus,
    intra_rate,
    link,
    point_to_point_s,
)
from tests.performance.cases import layout, layouts
from tests.performance.machines import A100, L40S, ONE_NODE

QUICK = replace(A100, inter_latency_s=0.0, intra_latency_s=0.0)


def one(value: int) -> np.ndarray:
    return np.array([value])


def test_ring_all_reduce_in_a_node() -> None:
    """Tests that a ring moves 2 (n-1)/n of the bytes at the rate inside the node."""
    group = link(QUICK, one(8), one(8), one(1))
    assert all_reduce_s(group, 1e9, 0.0)[0] == pytest.approx(2 * 7 / 8 * 1e9 / 210e9)


def test_all_gather_counts_launch_and_hops() -> None:
    """Tests that an all-gather takes (n-1)/n of the bytes, a launch and n-1 hops."""
    group = link(A100, one(8), one(4), one(2))
    wanted = 3 / 4 * 1e6 / 210e9 + 2e-5 + 3 * 1.5e-6
    assert all_gather_s(group, 1e6, 2e-5)[0] == pytest.approx(wanted)


def test_small_messages_take_the_tree() -> None:
    """Tests that latency makes a large group prefer the tree for a small message."""
    group = link(A100, one(8), one(1024), one(1))
    tree = 2 * (3 * 1.5e-6 + 7 * 4e-6)
    assert all_reduce_s(group, 1.0, 0.0)[0] == pytest.approx(tree, rel=1e-3)


def test_group_of_one_is_free() -> None:
    """Tests that a group of one rank communicates nothing."""
    group = link(A100, one(8), one(1), one(4))
    assert all_reduce_s(group, 1e9, 1.0)[0] == 0
    assert all_gather_s(group, 1e9, 1.0)[0] == 0
    assert all_to_all_s(group, 1e9, 1.0)[0] == 0


def test_bus_rate_across_nodes_is_ranks_in_a_node_times_the_nic() -> None:
    """Tests that all ranks of a node share what leaves it, as nccl-tests measure.

    4 nodes of 8 B200 with 400 Gb/s EFA reached 381.8 GB/s of bus rate (published), by
    the rule of README: NIC rate = busbw (k-1)/(n-1), 36.9 of 50 GB/s.
    """
    b200 = replace(A100, intra_bytes_per_s=700e9, inter_bytes_per_s=50e9 * 0.74)
    group = link(b200, one(8), one(32), one(1))
    ring = 31 / 32 * 17e9 / all_gather_s(group, 17e9, 0.0)[0]
    assert ring == pytest.approx(381.8e9, rel=0.25)
    assert group.rate[0] == 8 * 37e9


def test_stride_takes_ranks_out_of_a_node() -> None:
    """Tests that of a group four apart two ranks lie in a node of 8."""
    group = link(A100, one(8), one(16), one(4))
    assert group.local[0] == 2
    assert group.rate[0] == 2 * 23e9


def test_nvl72_group_stays_on_nvlink() -> None:
    """Tests that a group of 64 runs on NVLink in a domain of 72, nodes of 4."""
    rack = replace(A100, gpus_per_node=4, nvlink_domain_gpus=72)
    rows = layouts(layout(64, gpus_per_node=4))
    domain = domain_gpus(rack, rows)
    assert domain[0] == 72
    assert link(rack, domain, one(64), one(1)).rate[0] == 210e9


def test_pcie_rate_falls_with_the_group() -> None:
    """Tests that groups over PCIe take the measured bus rate of their span."""
    for span, rate in ((2, 20e9), (4, 5.2e9), (8, 1.4e9)):
        assert intra_rate(L40S, one(span), one(span), one(8))[0] == rate


def test_bridge_joins_two() -> None:
    """Tests that a bridged pair has NVLink and a group of four has PCIe."""
    bridged = replace(A100, intra_pair_only=True)
    assert intra_rate(bridged, one(2), one(2), one(8))[0] == 210e9
    assert intra_rate(bridged, one(4), one(4), one(8))[0] == 5.2e9


def test_mesh_gives_small_groups_their_own_links_only() -> None:
    """Tests that two of eight GPUs of a mesh have a seventh of the rate."""
    mesh = replace(A100, intra_mesh=True)
    assert intra_rate(mesh, one(2), one(2), one(8))[0] == pytest.approx(30e9)
    assert intra_rate(mesh, one(8), one(8), one(8))[0] == pytest.approx(210e9)


def test_no_network_takes_forever() -> None:
    """Tests that a group over nodes without a network never ends."""
    group = link(ONE_NODE, one(8), one(16), one(1))
    assert np.isinf(all_reduce_s(group, 1e6, 0.0)[0])
    assert np.isinf(all_gather_s(group, 1e6, 0.0)[0])


def test_all_to_all_sends_a_token_once_to_a_node() -> None:
    """Tests that copies for one node cross the NICs once.

    16 ranks on 2 nodes, 8 copies: of 2 nodes 2 (1 - 2^-8) get a token, one of them
    is away.
    """
    group = link(QUICK, one(8), one(16), one(1))
    far = 0.5 * 2 * (1 - 0.5**8) / 8 * 1e9 / 23e9
    near = 7 / 16 * 1e9 / 210e9
    assert all_to_all_s(group, 1e9, 0.0, copies=8)[0] == pytest.approx(max(far, near))


def test_chain_that_leaves_the_node_goes_by_nic() -> None:
    """Tests that a pipeline over nodes sends at the NIC's rate, else at NVLink's."""
    far = point_to_point_s(QUICK, one(8), one(16), 1e9, 0.0)
    near = point_to_point_s(QUICK, one(8), one(8), 1e9, 0.0)
    assert far[0] == pytest.approx(1e9 / 23e9)
    assert near[0] == pytest.approx(1e9 / 210e9)
