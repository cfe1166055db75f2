"""Reading data and writing checkpoints against arithmetic by hand."""

from __future__ import annotations

import numpy as np
import pytest

from solver.performance.storage_io import (
    data_stall_s,
    node_read_rate,
    tier_rate,
    transfer_s,
)


def test_nodes_share_the_aggregate() -> None:
    """Tests that a tier gives each node its rate until the aggregate is reached."""
    rate = tier_rate(np.array([1, 10, 100]), 2e9, 50e9)
    assert rate.tolist() == [2e9, 20e9, 50e9]


def test_stall_is_what_compute_does_not_hide() -> None:
    """Tests that GPUs wait for the part of reading that outlasts the step."""
    stall = data_stall_s(np.array([1e9, 10e9]), 2e9, 1.0)
    assert stall.tolist() == [0.0, 4.0]


def test_bloom_writes_a_checkpoint_in_40_seconds() -> None:
    """Tests that 2.3 TB by 48 nodes take about 40 s at 1.2 GB/s a node (tr11)."""
    assert transfer_s(2.3e12, tier_rate(48, 1.2e9)) == pytest.approx(40, rel=0.01)


def test_one_writer_of_a_replicated_model_is_slow() -> None:
    """Tests that only nodes with distinct shards write, but all read back."""
    assert transfer_s(100e9, tier_rate(1, 2e9)) == pytest.approx(50)
    assert transfer_s(8 * 100e9, tier_rate(8, 2e9, 10e9)) == pytest.approx(80)


def test_bounce_buffer_caps_a_node() -> None:
    """Tests that without GPUDirect Storage reads cross the host twice."""
    assert node_read_rate(100e9, 8, 20e9, False) == pytest.approx(80e9)
    assert node_read_rate(100e9, 8, 20e9, True) == pytest.approx(100e9)
    assert node_read_rate(5e9, 8, 20e9, False) == pytest.approx(5e9)


def test_no_rate_takes_forever_and_nothing_takes_no_time() -> None:
    """Tests the two ends of a transfer."""
    assert np.isinf(transfer_s(1.0, 0.0))
    assert transfer_s(0.0, 0.0) == 0
