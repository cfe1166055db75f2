"""Tests of candidates: every figure again by hand, and what is left out."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

from solver.candidates import (
    CandidateTable,
    Rows,
    evaluate,
    fastest_rows,
    late_s,
    objective_values,
    stored_bytes,
)
from solver.performance.inputs import Layouts
from solver.setting import Setting
from tests.planning.jobs import A100, H100
from tests.settings import all_candidates, rows_of, toy

SHARED = {
    "name": "shared",
    "kind": "parallel_fs",
    "read": "2 GB/s",
    "write": "1 GB/s",
    "total_read": "3 GB/s",
    "total_write": "1.5 GB/s",
    "usd_per_gb_month": 0.2,
    "gpudirect": True,
}
LOCAL = {
    "name": "drive",
    "kind": "local_nvme",
    "read": "6 GB/s",
    "write": "3 GB/s",
    "gpudirect": True,
}

PARAMETERS = (
    2 * 32_000 * 1024  # embeddings and head
    + 1024  # last norm
    + 12
    * (
        2 * 1024 * 1024  # query and output, 16 heads of 64
        + 2 * 1024 * 256  # key and value, 4 heads of 64
        + 3 * 1024 * 4096  # gate, up and down
        + 2 * 1024  # norms
    )
)
CHECKPOINT = 14 * PARAMETERS
"""bf16 weights 2, fp32 master 4, Adam's moments 8 bytes a parameter."""

TOKENS, SEQUENCE, BATCH = 5e9, 2048, 64
STEPS = 38_147
"""5e9 / (64 x 2048) = 38,146.97."""


def stored(*tiers: dict[str, Any], **offer: Any) -> dict[str, Any]:
    """The A100 offer with storage of its own."""
    return {**A100, "storage": list(tiers), **offer}


def by_hand(table: CandidateTable, row: int) -> dict[str, Any]:
    """Some columns of one candidate as plain numbers."""
    names = [
        "step_time_s",
        "training_s",
        "stall_s",
        "evaluation_s",
        "checkpoints_s",
        "failures_s",
        "interval_s",
        "duration_s",
        "billed_s",
        "compute_usd",
        "storage_usd",
        "egress_usd",
        "cost_usd",
        "read_bytes_per_s",
        "tokens_per_s",
        "duration_limit_s",
        "cost_limit_usd",
    ]
    return {n: float(getattr(table, n)[row]) for n in names} | table.layouts.row(row)


def daly(
    work: float, rate: float, checkpoint: float, restart: float, interval: float
) -> float:
    """Expected seconds of a run, Daly's exact form."""
    mean = 1 / rate
    return (
        mean
        * math.exp(restart / mean)
        * math.expm1((interval + checkpoint) / mean)
        * work
        / interval
    )


def test_the_checkpoint_is_14_bytes_a_parameter() -> None:
    """Tests the size of what is saved against the parameters counted by hand."""
    assert toy(A100).checkpoint_bytes == [CHECKPOINT] == [3_472_193_536]


@pytest.mark.parametrize("tier", [SHARED, LOCAL])
def test_work_failures_and_rent_by_hand(tier: dict[str, Any]) -> None:
    """Tests steps, seconds and dollars of every candidate with plain arithmetic."""
    setting = toy(
        stored(tier),
        overheads={"setup": "2 hours", "queue": "5 hours", "evaluation": "3%"},
    )
    table = all_candidates(setting)
    assert len(table) > 20
    for row in range(0, len(table), 97):
        c = by_hand(table, row)
        gpus = c["nodes"] * 8
        assert table.steps[row] == STEPS
        assert c["training_s"] == pytest.approx(STEPS * c["step_time_s"])
        assert c["tokens_per_s"] == pytest.approx(BATCH * SEQUENCE / c["step_time_s"])
        assert c["evaluation_s"] == pytest.approx(0.03 * c["training_s"])
        work = c["training_s"] + c["stall_s"] + c["evaluation_s"]
        active = work + c["checkpoints_s"] + c["failures_s"]
        assert c["duration_s"] == pytest.approx(active + 7 * 3600)
        assert c["billed_s"] == pytest.approx(active + 2 * 3600), "the queue is free"
        assert c["compute_usd"] == pytest.approx(gpus * 2.0 * c["billed_s"] / 3600)
        parts = c["compute_usd"] + c["storage_usd"] + c["egress_usd"]
        assert c["cost_usd"] == pytest.approx(parts)


def test_reading_rates_by_hand() -> None:
    """Tests that nodes share a total rate, and a drive of their own not."""
    shared, local = (
        all_candidates(toy(stored(SHARED))),
        all_candidates(toy(stored(LOCAL))),
    )
    wanted = {1: 2e9, 2: 3e9, 3: 3e9, 4: 3e9}
    for nodes, rate in wanted.items():
        assert set(shared.read_bytes_per_s[shared.layouts.nodes == nodes]) <= {rate}
        assert set(local.read_bytes_per_s[local.layouts.nodes == nodes]) <= {
            nodes * 6e9
        }


def test_the_bounce_buffer_halves_what_the_host_link_carries() -> None:
    """Tests that without GPUDirect 8 links of 25.2 GB/s carry each byte twice."""
    fast = {**LOCAL, "read": "500 GB/s"}
    bounced = {**fast, "gpudirect": False}
    direct = all_candidates(toy(stored(fast)))
    through = all_candidates(toy(stored(bounced)))
    # PCIe 4: 1.97 GB/s a lane, 16 lanes, 0.8 of it
    link = 1.97e9 * 16 * 0.8
    one = direct.layouts.nodes == 1
    assert set(direct.read_bytes_per_s[one]) == {500e9}
    assert through.read_bytes_per_s[one] == pytest.approx(8 * link / 2)
    slow = all_candidates(toy(stored({**LOCAL, "gpudirect": False})))
    assert set(slow.read_bytes_per_s[slow.layouts.nodes == 1]) == {6e9}


def test_data_that_comes_too_slowly_stalls() -> None:
    """Tests that 20 GB take 2,000 s at 10 MB/s, of which training hides its part."""
    slow = {**SHARED, "read": "10 MB/s", "total_read": "10 MB/s"}
    table = all_candidates(toy(stored(slow), data={"bytes_per_token": 4}))
    reading = TOKENS * 4 / 10e6
    assert reading == 2000
    assert table.stall_s == pytest.approx(np.maximum(0.0, reading - table.training_s))
    slower = {**SHARED, "read": "1 MB/s", "total_read": "1 MB/s"}
    table = all_candidates(toy(stored(slower), data={"bytes_per_token": 4}))
    stalled = table.training_s < 20_000
    assert stalled.any()
    assert (table.stall_s + table.training_s)[stalled] == pytest.approx(20_000)
    assert not table.stall_s[~stalled].any()


def test_failures_and_checkpoints_by_dalys_formula() -> None:
    """Tests expected run and best interval with rates from the catalog."""
    setting = toy(stored(SHARED), workload={"tokens": "2T"})
    table = all_candidates(setting)
    rate_of_gpu = setting.catalog.failure_rates["ampere"].per_gpu_hour
    assert rate_of_gpu is not None
    for row in (0, len(table) // 2, len(table) - 1):
        c = by_hand(table, row)
        nodes = c["nodes"]
        work = c["training_s"] + c["stall_s"] + c["evaluation_s"]
        expected = work + c["checkpoints_s"] + c["failures_s"]
        rate = 8 * nodes * rate_of_gpu / 3600
        # the segments that were needed once give the time of one checkpoint
        checkpoint = c["checkpoints_s"] / (work / c["interval_s"])
        slowest, fastest = 5 + CHECKPOINT / 1e9, 5 + CHECKPOINT / 1.5e9
        assert fastest - 1e-6 <= checkpoint <= slowest + 1e-6
        restarts = [900 + CHECKPOINT * k / r for k in (1, 4) for r in (2e9, 3e9)]
        low, high = (
            daly(work, rate, checkpoint, r, c["interval_s"])
            for r in (min(restarts), max(restarts))
        )
        assert low * (1 - 1e-9) <= expected <= high * (1 + 1e-9)
        for factor in (0.8, 1.25):
            other = daly(work, rate, checkpoint, 900, c["interval_s"] * factor)
            assert daly(work, rate, checkpoint, 900, c["interval_s"]) < other


def test_rent_of_shared_storage_by_hand() -> None:
    """Tests $0.20 a GB and month of data and two checkpoints over the whole plan."""
    setting = toy(
        stored(SHARED), data={"size": "1 TB"}, overheads={"queue": "10 hours"}
    )
    table = all_candidates(setting)
    gigabytes = 1000 + 2 * CHECKPOINT / 1e9
    months = table.duration_s / (730 * 3600)
    assert table.storage_usd == pytest.approx(0.2 * gigabytes * months)


def test_rent_of_local_storage_by_hand() -> None:
    """Tests that a local tier is paid by what all nodes hold together."""
    priced = {**LOCAL, "usd_per_gb_month": 0.5}
    setting = toy(stored(priced), data={"size": "1 TB"})
    rows = rows_of(setting)
    table = evaluate(setting, 0, rows)
    assert len(table) == len(rows.steps)
    each = 1e12 / rows.layouts.nodes + 2 * CHECKPOINT / rows.writer_nodes
    total = each * rows.layouts.nodes / 1e9
    months = table.duration_s / (730 * 3600)
    assert table.storage_usd == pytest.approx(0.5 * total * months)


def test_what_tiers_hold_by_hand() -> None:
    """Tests that shared tiers hold all, and nodes their part of it."""
    setting = toy(stored(LOCAL, SHARED), data={"size": "1 TB"})
    local = [t.kind for t in setting.tiers].index("local_nvme")
    tier = np.array([local, local, 1 - local])
    nodes, writers = np.array([1, 4, 4]), np.array([1, 2, 2])
    need = stored_bytes(setting, tier, nodes, writers, CHECKPOINT)
    assert need == pytest.approx(
        [1e12 + 2 * CHECKPOINT, 0.25e12 + CHECKPOINT, 1e12 + 2 * CHECKPOINT]
    )


def test_a_drive_too_small_for_one_node_does_for_two() -> None:
    """Tests that capacity is of a node: 1 TB of data needs two drives of 0.6 TB."""
    small = {**LOCAL, "capacity": "0.6 TB"}
    table = all_candidates(toy(stored(small), data={"size": "1 TB"}))
    assert table.layouts.nodes.min() == 2
    roomy = all_candidates(
        toy(stored({**LOCAL, "capacity": "1.1 TB"}), data={"size": "1 TB"})
    )
    assert roomy.layouts.nodes.min() == 1


def test_a_shared_tier_too_small_is_none() -> None:
    """Tests that nodes do not help where all lies in one place."""
    small = {**SHARED, "capacity": "0.6 TB"}
    assert not len(all_candidates(toy(stored(small), data={"size": "1 TB"})))
    large = {**SHARED, "capacity": "1.01 TB"}
    assert len(all_candidates(toy(stored(large), data={"size": "1 TB"})))


def test_each_allowed_tier_is_a_candidate_of_its_own() -> None:
    """Tests that two tiers make twice the candidates of one."""
    one, two = (
        all_candidates(toy(stored(LOCAL))),
        all_candidates(toy(stored(LOCAL, SHARED))),
    )
    assert len(two) == 2 * len(one)
    assert sorted(set(two.tier)) == [0, 1]


def test_host_memory_is_enough_or_the_layout_is_none() -> None:
    """Tests that 8 processes of 4 GB and a staged checkpoint need 35.5 GB."""
    need = (8 * 4e9 + CHECKPOINT) / 1e9
    assert need == pytest.approx(35.472, abs=1e-3)
    tight = all_candidates(toy(stored(LOCAL, ram_gb=math.floor(need))))
    enough = all_candidates(toy(stored(LOCAL, ram_gb=math.ceil(need))))
    unknown = all_candidates(toy(stored(LOCAL)))
    assert 1 not in tight.layouts.nodes, "one node writes all of the checkpoint"
    assert 1 in enough.layouts.nodes
    assert len(enough) == len(unknown)
    assert not len(all_candidates(toy(stored(LOCAL, ram_gb=32))))


def test_nodes_at_least_and_at_most() -> None:
    """Tests that only what the offer rents out is a candidate."""
    table = all_candidates(toy(stored(LOCAL, min_nodes=2, max_nodes=3)))
    assert set(table.layouts.nodes) <= {2, 3}
    assert 2 in table.layouts.nodes


def test_whole_months_by_hand() -> None:
    """Tests that a short job pays one month of each node, whatever its length."""
    offer = {k: v for k, v in stored(LOCAL).items() if k != "usd_per_gpu_hour"}
    table = all_candidates(toy({**offer, "usd_per_node_month": 7300}))
    assert (table.duration_s < 10 * 86_400).all()
    assert table.billed_s == pytest.approx(730 * 3600)
    assert table.compute_usd == pytest.approx(7300 * table.layouts.nodes)


def test_a_month_and_a_little_pays_two_in_part() -> None:
    """Tests that near a whole month the bill is an expectation between one and two."""
    offer = {k: v for k, v in stored(LOCAL).items() if k != "usd_per_gpu_hour"}
    offer = {**offer, "usd_per_node_month": 7300, "max_nodes": 1}
    table = all_candidates(toy(offer, workload={"tokens": "1.8T"}))
    months = table.duration_s / (730 * 3600)
    near = np.flatnonzero(np.abs(months - 1) < 0.05)
    paid = table.billed_s / (730 * 3600)
    assert len(near)
    assert ((paid[near] > 1.2) & (paid[near] < 1.8)).all()
    assert (paid >= np.minimum(months, 1.0) - 1e-9).all()
    assert (paid >= months * 0.99).all()


def test_egress_by_hand() -> None:
    """Tests data of 1 TB out of AWS at $0.09 a GB after 100 free ones."""
    setting = toy(A100, data={"size": "1 TB", "location": "aws/us-east-1"})
    table = all_candidates(setting)
    assert table.egress_usd == pytest.approx(0.09 * (1000 - 100))
    assert table.cost_usd == pytest.approx(table.compute_usd + table.storage_usd + 81.0)
    assert not all_candidates(toy(A100, data={"size": "1 TB"})).egress_usd.any()


def test_confidence_by_hand() -> None:
    """Tests that the 90th percentile is expected x e^(1.28 sigma), a little more."""
    setting = toy(A100, constraints={"confidence": 0.9}, overheads={"setup": "0 hours"})
    table = all_candidates(setting)
    z = NormalDist().inv_cdf(0.9)
    sigma = table.sigma
    model = table.duration_s * np.exp(z * sigma)
    assert (table.duration_limit_s >= model * (1 - 1e-12)).all()
    spread = np.hypot(
        table.duration_s * np.expm1(z * sigma), z * np.sqrt(table.failure_variance_s2)
    )
    assert table.duration_limit_s == pytest.approx(table.duration_s + spread)
    ratio = table.cost_limit_usd / table.cost_usd
    assert ratio == pytest.approx(table.duration_limit_s / table.duration_s)


def test_the_median_is_the_expectation() -> None:
    """Tests that confidence 0.5 adds nothing to duration and cost."""
    table = all_candidates(toy(A100))
    assert table.duration_limit_s == pytest.approx(table.duration_s)
    assert (table.cost_limit_usd == table.cost_usd).all()


def test_late_on_either_side() -> None:
    """Tests that failures widen the late side only."""
    active, variance = np.array([100.0]), np.array([25.0])
    sigma = np.array([0.1])
    assert late_s(active, variance, sigma, 0.0) == pytest.approx(100.0)
    early = late_s(active, variance, sigma, -1.0)
    assert early == pytest.approx(100 * math.exp(-0.1))
    late = late_s(active, variance, sigma, 1.0)
    assert late == pytest.approx(100 + math.hypot(100 * math.expm1(0.1), 5.0))


def test_spot_is_interrupted_by_the_node() -> None:
    """Tests that the same node on spot loses more time to failures."""
    offer = {**A100, "spot_usd_per_gpu_hour": 1.0}
    setting = toy(
        offer,
        constraints={"purchase": ["on_demand", "spot"]},
        workload={"tokens": "500B"},
    )
    table = all_candidates(setting)
    half = len(table) // 2
    steady, spot = (table.take(np.flatnonzero(table.option == i)) for i in (0, 1))
    assert len(steady) == len(spot) == half
    known = setting.catalog.failure_rates
    node, gpu = known["spot-default"].per_node_hour, known["ampere"].per_gpu_hour
    assert node is not None
    assert gpu is not None
    assert setting.arrays.node_rate == pytest.approx([0.0, node / 3600])
    # restarts grow with the rate of failures, lost work with its root
    more = (8 * gpu + node) / (8 * gpu)
    ratio = spot.failures_s / steady.failures_s
    assert (ratio > math.sqrt(more)).all()
    assert (ratio < 1.05 * more).all()


def test_fastest_rows_keep_the_best_of_each_kind() -> None:
    """Tests the reduction against a dictionary filled one row at a time."""
    rows = rows_of(toy(A100, H100))
    kept = fastest_rows(rows)
    best: dict[tuple[int, int, float, float], float] = {}
    for i in range(len(rows.steps)):
        key = (
            int(rows.layouts.nodes[i]),
            int(rows.writer_nodes[i]),
            float(rows.host_bytes[i]),
            float(rows.sigma[i]),
        )
        best[key] = min(best.get(key, math.inf), float(rows.training_s[i]))
    found = {
        (int(n), int(w), float(h), float(s)): float(t)
        for n, w, h, s, t in zip(
            kept.layouts.nodes,
            kept.writer_nodes,
            kept.host_bytes,
            kept.sigma,
            kept.training_s,
            strict=True,
        )
    }
    assert found == best
    assert len(kept.steps) == len(best)


def test_fastest_rows_of_nothing() -> None:
    """Tests that no row stays no row."""
    rows = rows_of(toy(A100)).take(np.array([], dtype=np.int64))
    assert len(fastest_rows(rows).steps) == 0


def test_the_first_of_equals_stays() -> None:
    """Tests that a tie keeps the canonical layout."""
    rows = rows_of(toy(A100))
    twice = rows.take(np.array([3, 3, 3]))
    marked = Rows(
        Layouts(
            **{
                name: np.array([1, 2, 3]) if name == "micro_batch" else column
                for name, column in vars(twice.layouts).items()
            }
        ),
        twice.step_time_s,
        twice.training_s,
        twice.sigma,
        twice.steps,
        twice.memory_bytes,
        twice.writer_nodes,
        twice.host_bytes,
        twice.drive_bytes,
    )
    assert list(fastest_rows(marked).layouts.micro_batch) == [1]


@pytest.mark.parametrize(
    ("objective", "wanted"),
    [
        ("cost", lambda t: t.cost_usd),
        ("time", lambda t: t.duration_s),
        (
            {"cost": 2, "usd_per_day": 50},
            lambda t: 2 * t.cost_usd + 50 * t.duration_s / 86_400,
        ),
    ],
)
def test_objective_values(objective: Any, wanted: Any) -> None:
    """Tests the three objectives on all candidates."""
    setting = toy(A100, objective=objective)
    table = all_candidates(setting)
    assert objective_values(setting, table) == pytest.approx(wanted(table))


def test_runs_beyond_any_sense_are_left_out() -> None:
    """Tests that a rate of failures that leaves no progress leaves no candidate."""
    from dataclasses import replace

    setting: Setting = toy(A100)
    rates = setting.arrays
    setting.__dict__["arrays"] = replace(rates, gpu_rate=rates.gpu_rate * 0 + 1.0)
    assert not len(evaluate(setting, 0, rows_of(setting)))
