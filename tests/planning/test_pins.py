"""Tests of the pins of an estimate: the node, its number, the layout, the verdict."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from solver.errors import InputError
from solver.planning.estimate import Estimate, EstimatePins, estimate, usual_member
from tests.planning.jobs import A100, H100, catalog, job


def of(scenario: Any = None, **pins: Any) -> Estimate:
    """The estimate of the toy job, or of a scenario, with pins."""
    return estimate(scenario or job([A100]), catalog(), EstimatePins(**pins))


def fault(scenario: Any = None, **pins: Any) -> Any:
    """The first fault of pins that cannot be."""
    with pytest.raises(InputError) as error:
        of(scenario, **pins)
    return error.value.issues[0]


def test_the_only_node_of_the_scenario_is_taken() -> None:
    """Tests that one kind of offer needs no pin, and two do."""
    assert of(gpus=8).gpu == "a100-sxm-80gb"
    found = fault(job([A100, H100]), gpus=8)
    assert (found.code, found.where) == ("missing-key", "--gpu")
    assert "2 kinds of node" in found.message
    assert "a100-sxm-80gb" in found.message
    assert "h100-sxm-80gb" in found.message


def test_a_server_or_an_offer_names_the_node() -> None:
    """Tests the pins --server and --offer, the latter of one's own too."""
    assert of(server="8x-h100-sxm-80gb", gpus=8).server == "8x-h100-sxm-80gb"
    assert of(job([A100, H100]), offer="h", gpus=8).gpu == "h100-sxm-80gb"
    found = fault(job([A100, H100]), offer="hh", gpus=8)
    assert (found.code, found.where, found.hint) == ("unknown-name", "--offer", "h")


def test_a_family_is_the_member_in_most_servers() -> None:
    """Tests every family: of its SXM modules, else of all, the one in most servers."""
    gpus, servers = catalog().gpus, catalog().servers.values()
    count = Counter(server.gpu for server in servers)
    for family in {gpu.family for gpu in gpus.values()}:
        members = tuple(g for g in gpus if gpus[g].family == family)
        usual = usual_member(catalog(), members)
        modules = [member for member in members if "-sxm" in member]
        assert count[usual] == max(count[member] for member in modules or members)
        assert usual_member(catalog(), members[::-1]) == usual
    h100 = tuple(g for g in gpus if gpus[g].family == "H100")
    assert usual_member(catalog(), h100) == "h100-sxm-80gb"


@pytest.mark.parametrize(
    ("pins", "nodes", "per_node"),
    [
        ({"gpus": 16}, 2, 8),
        ({"gpus": 4}, 1, 4),
        ({"nodes": 2}, 2, 8),
        ({"nodes": 2, "gpus": 16}, 2, 8),
        ({"gpus": 16, "gpus_per_node": 4}, 4, 4),
        ({"gpus": 1}, 1, 1),
    ],
)
def test_nodes_and_gpus(pins: dict[str, Any], nodes: int, per_node: int) -> None:
    """Tests how many nodes of how many GPUs the pins amount to."""
    found = of(gpu="H100-SXM", **pins)
    assert found.nodes == nodes
    assert found.gpus == nodes * per_node


def test_gpus_follow_from_the_degrees() -> None:
    """Tests that DP 4 x TP 2 x PP 2 are 16 GPUs without saying so."""
    found = of(dp=4, tp=2, pp=2)
    assert (found.gpus, found.nodes) == (16, 2)
    assert (found.layout.dp, found.layout.tp, found.layout.pp) == (4, 2, 2)


def test_gpus_follow_from_the_scenario() -> None:
    """Tests that a fixed number of GPUs of the scenario counts."""
    fixed = job([A100], {"gpus": {"min": 16, "max": 16}})
    assert of(fixed).gpus == 16
    assert fault(job([A100], {"gpus": {"max": 16}})).code == "missing-key"


def test_what_is_near_is_told() -> None:
    """Tests that 12 GPUs in nodes of 8 name 8 and 16."""
    found = fault(gpus=12)
    assert (found.code, found.where) == ("not-divisible", "--gpus")
    assert "8 or 16" in found.message
    both = fault(gpus=8, nodes=2)
    assert "16 GPUs, not 8" in both.message


def test_a_stated_network_replaces_that_of_the_node() -> None:
    """Tests that a slower fabric slows data parallel over two nodes."""
    times = {
        gbps: of(gpus=16, network_gbps=gbps, tp=1, pp=1).step_time_parts_s[
            "data_parallel"
        ]
        for gbps in (25.0, 400.0, 3200.0)
    }
    assert times[25.0] > times[400.0] >= times[3200.0]


def test_a_node_without_a_network_is_alone() -> None:
    """Tests that two nodes need one, which may be stated."""
    alone = job([{k: v for k, v in A100.items() if k != "network"}])
    assert of(alone, gpus=8).network is None
    found = fault(alone, gpus=16)
    assert (found.code, found.where) == ("no-network", "--nodes")
    assert of(alone, gpus=16, network_gbps=800).network is not None
    assert fault(job([A100]), gpus=16, network_gbps=0).code == "no-network"


@pytest.mark.parametrize(
    ("pins", "columns"),
    [
        ({"zero_stage": 0}, {"zero_stage": 0, "shard_degree": 1}),
        ({"zero_stage": 1}, {"zero_stage": 1}),
        ({"micro_batch": 4}, {"micro_batch": 4}),
        ({"accumulation": 2}, {"accumulation": 2}),
        ({"recompute": "selective"}, {"recompute": "selective"}),
        ({"cp": 2}, {"cp": 2}),
        ({"pp": 2, "virtual_stages": 2}, {"pp": 2, "virtual_stages": 2}),
        ({"tp": 2, "etp": 2}, {"tp": 2, "etp": 2}),
    ],
)
def test_every_pin_is_kept(pins: dict[str, Any], columns: dict[str, Any]) -> None:
    """Tests each degree that can be pinned."""
    layout = of(gpus=8, **pins).layout
    assert {name: getattr(layout, name) for name in columns} == columns


def test_pins_that_do_not_multiply() -> None:
    """Tests that DP 8 x micro-batch 8 x accumulation 2 is no batch of 64."""
    found = fault(gpus=8, dp=8, micro_batch=8, accumulation=2)
    assert found.code == "not-divisible"
    assert found.where == "--gpus"


def test_recompute_is_spelled() -> None:
    """Tests the nearest right word."""
    assert fault(gpus=8, recompute="selectiv").hint == "selective"


def test_what_is_free_is_the_fastest_that_fits() -> None:
    """Tests that no pinned micro-batch that fits beats the layout chosen."""
    free = of(gpus=8)
    assert free.verdict == "fits"
    told = {n.id: n.values for n in free.notes}
    assert told["note.layout-chosen"]["count"] > 10
    for micro_batch in (1, 2, 4, 8):
        pinned = of(gpus=8, micro_batch=micro_batch)
        if pinned.verdict == "fits":
            assert free.step_time_s <= pinned.step_time_s * (1 + 1e-9)


def test_one_layout_leaves_nothing_to_choose() -> None:
    """Tests that all degrees pinned are told as such: no note of a choice."""
    pins = {
        "tp": 1,
        "pp": 1,
        "cp": 1,
        "dp": 8,
        "zero_stage": 1,
        "micro_batch": 8,
        "recompute": "none",
    }
    found = of(gpus=8, **pins)
    assert "note.layout-chosen" not in {n.id for n in found.notes}


def test_verdicts_follow_the_headroom() -> None:
    """Tests that the same layout fits, is tight, and is impossible."""
    pins: dict[str, Any] = {
        "gpus": 8,
        "tp": 1,
        "pp": 1,
        "cp": 1,
        "micro_batch": 8,
        "zero_stage": 1,
    }
    pins["recompute"] = "none"
    plain = of(**pins)
    used = plain.memory_gib["total"] / plain.memory_gib["capacity"]
    tight = job([A100], {"memory_headroom": round(1 - used + 0.02, 3)})
    loose = job([A100], {"memory_headroom": round(1 - used - 0.02, 3)})
    assert of(tight, **pins).verdict == "tight"
    assert of(loose, **pins).verdict == "fits"
    big = job([A100], model="llama-2-70b")
    assert of(big, gpus=8).verdict == "impossible"


def test_a_low_mfu_is_told() -> None:
    """Tests the note on many GPUs for a small model, and none on a few."""
    assert "warning.low-mfu" in {n.id for n in of(gpus=512, tp=8).notes}
    assert "warning.low-mfu" not in {n.id for n in of(gpus=8, tp=1).notes}


def test_figures_agree() -> None:
    """Tests pace and days against step time and steps by hand."""
    found = of(gpus=8)
    assert found.tokens_per_s == pytest.approx(64 * 2048 / found.step_time_s)
    assert found.training_days == pytest.approx(38_147 * found.step_time_s / 86_400)
    assert sum(found.step_time_parts_s.values()) == pytest.approx(found.step_time_s)


def test_it_goes_through_json() -> None:
    """Tests that an estimate is plain data, its stages a list."""
    data = json.loads(json.dumps(of(gpus=8, pp=2).as_dict()))
    assert data["layout"]["layers_per_stage"] == [6, 6]
    assert data["notes"][0]["text"]
    assert data["verdict"] == "fits"
