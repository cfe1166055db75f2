"""Tests of what a scenario and its catalog amount to as arrays and classes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from solver.catalog.supply import failure_rates
from solver.options import hardware_key
from solver.setting import node_kind, storage_arrays
from solver.spread import spread_of
from solver.units import GIB
from tests.planning.jobs import A100, H100, TOY, catalog
from tests.settings import toy

TIER = catalog().storage["local-nvme-gen4"]


def test_offers_of_the_same_node_share_a_class() -> None:
    """Tests that price, region and stock do not make another class, a network does."""
    dear = {
        **A100,
        "name": "dear",
        "usd_per_gpu_hour": 9,
        "region": "us",
        "max_nodes": 9,
    }
    slow = {**A100, "name": "slow", "network": {"gbps_per_node": 800, "kind": "roce"}}
    setting = toy(A100, dear, slow, H100)
    ids = [[setting.options[i].offer.id for i in g.options] for g in setting.classes]
    assert sorted(ids) == [["a", "dear"], ["h"], ["slow"]]
    both = next(g for g in setting.classes if len(g.options) == 2)
    assert both.max_nodes == 9


def test_every_option_is_in_one_class() -> None:
    """Tests that classes part the options, with the key of each of them."""
    setting = toy(constraints={"countries": ["SG", "JP"]})
    seen = [int(i) for g in setting.classes for i in g.options]
    assert sorted(seen) == list(range(len(setting.options)))
    for group in setting.classes:
        assert {hardware_key(setting.options[i]) for i in group.options} == {group.key}
    assert [g.key for g in setting.classes] == sorted(g.key for g in setting.classes)


def test_capacity_is_usable_memory_less_headroom() -> None:
    """Tests 79.2 GiB of an A100, of which the user keeps a tenth or a quarter."""
    usable = catalog().gpus["a100-sxm-80gb"].usable_memory_gib * GIB
    assert toy(A100).classes[0].capacity_bytes == pytest.approx(0.9 * usable)
    tight = toy(A100, constraints={"memory_headroom": "25%"})
    assert tight.classes[0].capacity_bytes == pytest.approx(0.75 * usable)


def test_prices_and_nodes_by_option() -> None:
    """Tests the columns of three offers against what was stated."""
    hourly = {
        **A100,
        "name": "n",
        "usd_per_node_hour": 10,
        "ram_gb": 512,
        "min_nodes": 2,
    }
    del hourly["usd_per_gpu_hour"]
    monthly = {**H100, "name": "m", "usd_per_node_month": 730}
    del monthly["usd_per_gpu_hour"]
    arrays = toy(A100, monthly, hourly).arrays
    # canonical order: a, m, n
    assert list(arrays.usd_per_node_hour) == [16.0, 1.0, 10.0]
    assert list(arrays.max_nodes) == [4, 2, 4]
    assert list(arrays.min_nodes) == [1, 1, 2]
    assert list(arrays.unit_s) == [0.0, 730 * 3600.0, 0.0]
    assert list(arrays.host_bytes) == [math.inf, math.inf, 512e9]
    taken = arrays.take(np.array([2, 0]))
    assert list(taken.usd_per_node_hour) == [10.0, 16.0]


def test_spread_is_that_of_gpu_and_framework() -> None:
    """Tests the spread of each hardware class, and the factor at a confidence."""
    setting = toy(A100, H100, constraints={"confidence": 0.9})
    calibration = catalog().calibration
    assert setting.z == pytest.approx(1.2815515655)
    for group in setting.classes:
        gpu = setting.options[int(group.options[0])].gpu
        assert group.spread == spread_of(gpu, "megatron", calibration, moe=False)
        wanted = math.exp(1.2815515655 * group.spread.usual)
        assert group.spread_factor == pytest.approx(wanted)
    assert len({group.spread for group in setting.classes}) == 2
    assert {g.spread_factor for g in toy(A100, H100).classes} == {1.0}


def test_failures_of_a_generation_or_the_default() -> None:
    """Tests that a generation without its own rate takes the default."""
    l40s: dict[str, Any] = {**A100, "name": "l", "gpu": "l40s"}
    setting = toy(A100, l40s)
    rates = catalog().failure_rates
    found = {
        o.offer.id: failure_rates(catalog(), o.gpu, o.offer) for o in setting.options
    }
    ampere, default = rates["ampere"].per_gpu_hour, rates["default"].per_gpu_hour
    assert ampere is not None
    assert default is not None
    assert "ada" not in rates
    assert found["a"] == pytest.approx((ampere / 3600, 0.0))
    assert found["l"] == pytest.approx((default / 3600, 0.0))


def test_bytes_read_are_tokens_times_their_bytes() -> None:
    """Tests that several epochs are read several times, but stored once."""
    setting = toy(A100, data={"bytes_per_token": 3})
    assert setting.bytes_read == pytest.approx(15e9)
    work = {"tokens": None, "samples": "1M", "epochs": 4}
    again = toy(A100, workload=work, data={"bytes_per_token": 4})
    tokens = 1e6 * 4 * 2048
    assert again.bytes_read == pytest.approx(tokens * 4)
    assert again.scenario.data.size_bytes == pytest.approx(tokens)


def test_overheads_of_checkpoints_come_from_calibration() -> None:
    """Tests the fixed seconds of a checkpoint and of a restart."""
    reliability = catalog().calibration["reliability"]
    setting = toy(A100)
    assert setting.checkpoint_fixed_s == float(reliability["checkpoint_s"]) > 0
    assert setting.restart_s == float(reliability["restart_s"]) > 0


def test_a_tier_in_bytes() -> None:
    """Tests GB, TiB and TB of one record, and infinity for what does not limit."""
    full = TIER.model_copy(
        update={
            "kind": "parallel_fs",
            "usd_per_gb_month": 0.6,
            "read_gb_per_s_per_node": 12.5,
            "write_gb_per_s_per_node": 6.25,
            "aggregate_read_gb_per_s": 100.0,
            "aggregate_write_gb_per_s": 50.0,
            "throughput_mb_per_s_per_tib": 1000.0,
            "min_tib": 1.2,
            "capacity_tb": 7.0,
            "gpudirect": True,
        }
    )
    bare = TIER.model_copy(
        update={
            "usd_per_gb_month": None,
            "aggregate_read_gb_per_s": None,
            "aggregate_write_gb_per_s": None,
            "throughput_mb_per_s_per_tib": None,
            "capacity_tb": None,
            "gpudirect": False,
        }
    )
    made = storage_arrays((full, bare))
    assert list(made.usd_per_gb_month) == [0.6, 0.0]
    assert list(made.read_per_node) == [12.5e9, TIER.read_gb_per_s_per_node * 1e9]
    assert made.write_per_node[0] == 6.25e9
    assert list(made.aggregate_read) == [100e9, math.inf]
    assert list(made.aggregate_write) == [50e9, math.inf]
    assert made.per_byte[0] * 2**40 == pytest.approx(1e9), "1,000 MB/s each TiB"
    assert made.per_byte[1] == math.inf
    assert list(made.min_bytes) == [1.2 * 2**40, 0.0]
    assert list(made.node_capacity) == [7e12, math.inf]
    assert list(made.local) == [0.0, 1.0]
    assert list(made.bounced) == [0.0, 1.0]


def test_variants_of_a_tier_stay_apart() -> None:
    """Tests an owner's drives beside the rented ones of the same kind.

    What the owner stores is taken to outlive a node, what is on rented drives is not.
    """
    rented = {**A100, "name": "rented", "storage": ["local-nvme-gen4"]}
    own = {**A100, "name": "own"}
    for offers in ((rented, own), (own, rented)):
        setting = toy(*offers)
        kept = {
            option.offer.id: [bool(setting.storage.kept[i]) for i in indices]
            for option, indices in zip(
                setting.options, setting.option_tiers, strict=True
            )
        }
        assert kept == {"rented": [False], "own": [True]}
        for option, indices in zip(setting.options, setting.option_tiers, strict=True):
            assert {setting.tiers[i] for i in indices} == set(option.storage)


def test_no_options_make_no_arrays_but_no_fault() -> None:
    """Tests that an empty catalog is a setting like any other."""
    setting = toy(A100, constraints={"countries": ["KR"]})
    assert (setting.options, setting.classes, setting.tiers) == ((), (), ())
    assert setting.space.kinds == {}
    assert setting.space.describe() == {}


def test_tiers_are_listed_once_and_found_again() -> None:
    """Tests that every option's tiers are those that it has."""
    fs = {"name": "fs", "kind": "parallel_fs", "read": 10, "write": 5}
    setting = toy({**A100, "storage": [fs]}, {**H100, "storage": [fs, "lustre"]})
    assert len(setting.tiers) == len({(t.id, t.capacity_tb) for t in setting.tiers})
    for option, indices in zip(setting.options, setting.option_tiers, strict=True):
        found = {setting.tiers[i].id for i in indices}
        assert found == {t.id for t in option.storage}


def test_drives_of_several_sizes_are_several_tiers() -> None:
    """Tests that one kind of drive in servers of two sizes is not mixed up."""
    setting = toy(constraints={"gpus": {"types": ["H100", "A100", "L40S"]}})
    for option, indices in zip(setting.options, setting.option_tiers, strict=True):
        sizes = {(t.id, t.capacity_tb) for t in option.storage}
        found = {(setting.tiers[i].id, setting.tiers[i].capacity_tb) for i in indices}
        assert found == sizes, option.offer.id
    names = [t.id for t in setting.tiers]
    assert len(set(names)) < len(names), "the shipped servers have drives of many sizes"


def test_kinds_of_node_join_the_largest_stock_and_card() -> None:
    """Tests that the lattice of a kind is large enough for all of its classes."""
    forty = {**A100, "name": "f", "gpu": "a100-sxm-40gb", "max_nodes": 16}
    setting = toy(A100, forty, model=TOY)
    (kind,) = setting.space.kinds
    assert kind == (8, 8, True)
    limits = setting.space.kinds[kind]
    assert limits.max_nodes == 16
    assert limits.capacity_bytes == max(g.capacity_bytes for g in setting.classes)


def test_a_gpu_without_flash_attention_is_another_kind() -> None:
    """Tests that V100 nodes have a lattice of their own, as scores stay in memory."""
    v100 = {**A100, "name": "v", "gpu": "v100-sxm-32gb"}
    setting = toy(A100, v100, workload={"precision": "fp16"})
    kinds = {
        setting.options[int(g.options[0])].offer.id: g.node_kind
        for g in setting.classes
    }
    assert kinds == {"a": (8, 8, True), "v": (8, 8, False)}
    option = setting.options[0]
    group = setting.classes[0]
    assert node_kind(option.server, group.hardware) == group.node_kind


def test_egress_is_by_the_region_of_the_offer() -> None:
    """Tests that data in a region costs nothing there and something elsewhere."""
    setting = toy(
        constraints={"providers": ["aws"], "gpus": {"types": ["H100"]}},
        data={"size": "10 TB", "location": "aws/us-east-1"},
    )
    by_region = {
        o.offer.region: float(usd)
        for o, usd in zip(setting.options, setting.arrays.egress_usd, strict=True)
    }
    assert by_region["aws/us-east-1"] == 0
    elsewhere = {r: usd for r, usd in by_region.items() if r != "aws/us-east-1"}
    assert elsewhere
    assert list(elsewhere.values()) == pytest.approx([200.0] * len(elsewhere))
