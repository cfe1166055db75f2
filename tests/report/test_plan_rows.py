"""Tests of the rows of a plan's page: each figure in its words and unit."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from solver.languages import speaking
from solver.plan import Plan
from solver.report.figures import Section
from solver.report.plan_rows import (
    layout_section,
    memory_section,
    plan_sections,
    step_section,
)
from solver.wording import day_text
from tests.report.examples import LAYOUT, PLAN


def rows(section: Section) -> dict[str, str]:
    """Label to text of a section."""
    return {row.label: row.value for row in section.rows}


def of(title: str, **changes: Any) -> dict[str, str]:
    """The rows of one section of a plan that was changed."""
    sections = {s.id: s for s in plan_sections(replace(PLAN, **changes))}
    return rows(sections[f"section.{title}"])


def layout_of(**changes: Any) -> dict[str, str]:
    """The rows of a layout that was changed."""
    return rows(layout_section(replace(LAYOUT, **changes), "megatron"))


def test_sections_come_in_the_order_of_a_decision() -> None:
    """Tests that hardware comes first and the host last."""
    ids = [section.id for section in plan_sections(PLAN)]
    wanted = ["hardware", "layout", "memory", "step", "duration", "cost", "host"]
    assert ids == [f"section.{name}" for name in wanted]


def test_one_node_and_several() -> None:
    """Tests the words for 32 nodes and for one."""
    assert of("hardware")["servers"] == "32 × 8 H100 SXM 80GB = 256 GPUs, on demand"
    one = of("hardware", nodes=1, gpus=8)["servers"]
    assert one == "8 H100 SXM 80GB, one node, on demand"


def test_a_place_with_and_without_a_country() -> None:
    """Tests provider and region, and the country where it is known."""
    assert of("hardware")["place"] == "nebius, eu-north1 (FI)"
    assert of("hardware", country=None)["place"] == "nebius, eu-north1"


def test_price_by_gpu_and_node() -> None:
    """Tests that $2 a GPU are $16 a node, and that what is owned is free."""
    text = of("hardware", usd_per_gpu_hour=2.0)["price"]
    assert "$2" in text
    assert "$16" in text
    owned = of("hardware", purchase="owned", usd_per_gpu_hour=0.0)["price"]
    assert owned == "none: the servers are owned"
    depreciated = of("hardware", purchase="owned", usd_per_gpu_hour=1.0)["price"]
    assert "$1" in depreciated


def test_no_network_and_no_storage_are_said() -> None:
    """Tests what stands where there is no fabric and no tier."""
    found = of("hardware", network=None, storage=None)
    assert found["between nodes"] == "none: one node"
    assert found["storage"] == "the nodes' own NVMe, free"


@pytest.mark.parametrize(("known", "word"), [(True, "stated"), (False, "assumed")])
def test_stock_is_stated_or_assumed(known: bool, word: str) -> None:
    """Tests that a number of nodes says how far it can be trusted."""
    text = of("hardware", stock_nodes=64, stock_known=known)["nodes in stock"]
    assert text.startswith("64, ")
    assert word in text


def test_a_start_is_shown_if_there_is_one() -> None:
    """Tests that a delivery date is a row, and no date none."""
    assert "start" not in of("hardware")
    dated = of("hardware", start="2027-01-04", order_date="2026-12-01")
    assert dated["start"] == "2027-01-04"


def test_dates_are_written_as_the_language_has_them() -> None:
    """Tests ISO 8601 in English, and year, month and day in Chinese."""
    assert day_text("2027-01-04") == day_text(date(2027, 1, 4)) == "2027-01-04"
    with speaking("zh"):
        assert day_text("2027-01-04") == "2027年1月4日"


def test_the_wait_is_told_beside_the_start() -> None:
    """Tests days from order to nodes, and that they are not paid."""
    parts = {**PLAN.duration_parts_days, "delivery": 34.0}
    plan = replace(
        PLAN,
        start="2027-01-04",
        order_date="2026-12-01",
        duration_parts_days=parts,
    )
    rows = {row.label: row for row in plan_sections(plan)[0].rows}
    assert rows["start"].note == "34 days after the order (2026-12-01), unpaid"


def test_cluster_and_term_are_shown_if_there_are_any() -> None:
    """Tests limit of the fabric, term in words, and the part of the bill unused."""
    plain = of("hardware")
    assert not {"on one fabric", "minimum term"} & set(plain)
    told = of("hardware", cluster_nodes=16, min_term_hours=26_280.0)
    assert told["on one fabric"] == "at most 16 nodes a job"
    assert told["minimum term"] == "3 years"
    assert "of it unused" not in of("cost")
    assert of("cost", unused_term_usd=1200.0)["of it unused"] == "$1,200"


def test_degrees_and_extras() -> None:
    """Tests that EP, virtual stages and sequence parallelism show only where used."""
    plain = layout_of(virtual_stages=1, sequence_parallel=False)["parallel"]
    assert plain == "TP 8 · PP 8 · CP 1 · DP 4"
    every = layout_of(ep=4, etp=2)["parallel"]
    assert every.startswith(plain + " · EP 4 · ETP 2 · ")
    assert "2 virtual stages" in every
    assert "sequence parallel" in every


def test_the_batch_multiplies() -> None:
    """Tests that the factors of the batch are all there."""
    text = layout_of()["batch"]
    assert text == "1,024 sequences = DP 4 × micro-batch 1 × accumulation 256"


def test_sharding_and_none() -> None:
    """Tests the ZeRO stage with its group."""
    assert layout_of()["sharding"] == "ZeRO-1 over 4 GPUs"
    assert layout_of(zero_stage=0, shard_degree=1)["sharding"] == "none (ZeRO-0)"


def test_offload_is_told() -> None:
    """Tests that an offload stands with the numerics, and no offload not."""
    assert layout_of()["numerics"] == "bf16, adamw"
    numerics = layout_of(offload="optimizer to host")["numerics"]
    assert numerics.endswith("offload: optimizer to host")


def test_memory_is_a_share_of_the_card() -> None:
    """Tests total, share and what the card has."""
    memory = {"weights": 20.0, "activations": 19.5, "total": 39.5, "capacity": 79.0}
    section = memory_section(memory)
    (total,) = [row for row in section.rows if row.label == "total"]
    assert total.share == pytest.approx(0.5)
    assert set(rows(section)) == {"weights", "activations", "total", "usable"}
    assert "39.5" in total.value


@pytest.mark.parametrize(
    ("seconds", "shown"), [(0.25, "250.0 ms"), (0.9994, "999"), (2.5, "2.5")]
)
def test_short_steps_are_in_milliseconds(seconds: float, shown: str) -> None:
    """Tests the unit of a step by its length."""
    found = rows(step_section({"compute": seconds}, seconds, 0.4, 1e6))
    assert shown in found["total"]
    assert found["MFU"].startswith("40")
    assert ("ms" in found["total"]) is (seconds < 1)


def test_percentiles_are_rows_where_they_are_known() -> None:
    """Tests the interval of a step and the late bill, and that unknown ones are not."""
    step = of("step", step_time_p10_s=19.04, step_time_p90_s=24.3)
    assert step["80% interval"] == "19.0–24.3 s"
    assert "80% interval" not in of("step", step_time_p10_s=None)
    assert of("cost", cost_p90_usd=460_000.0)["90th percentile"] == "$460,000"
    assert "90th percentile" not in of("cost", cost_p90_usd=None)


def test_an_own_efficiency_is_a_row() -> None:
    """Tests that what steps are planned at is told, and the usual is not."""
    assert of("step", efficiency=0.8)["of predicted speed"] == "80.0%"
    assert "of predicted speed" not in of("step")


@pytest.mark.parametrize(("days", "unit"), [(1.5, "hours"), (2.5, "days")])
def test_short_runs_are_in_hours(days: float, unit: str) -> None:
    """Tests the unit of a run by its length: 1.5 days are 36 hours."""
    found = of("duration", duration_days=days, duration_p90_days=2 * days)
    assert unit in found["total"]
    assert ("36" in found["total"]) is (unit == "hours")
    assert ("72" in found["90th percentile"]) is (unit == "hours")


def test_what_is_not_known_of_a_run_is_no_row() -> None:
    """Tests that a missing percentile and interval leave no row."""
    found = of("duration", duration_p90_days=None, checkpoint_interval_s=None)
    assert "90th percentile" not in found
    assert "written every" not in found
    both = of("duration", duration_p90_days=99.0, checkpoint_interval_s=3600.0)
    assert {"90th percentile", "written every"} <= set(both)


def test_cost_leaves_out_what_is_nothing() -> None:
    """Tests that a part of zero is no row and shares add up to one."""
    parts = {"compute": 75.0, "storage": 25.0, "egress": 0.0}
    plan: Plan = replace(PLAN, cost_usd=100.0, cost_parts_usd=parts)
    (section,) = [s for s in plan_sections(plan) if s.id == "section.cost"]
    found = {row.label: row.share for row in section.rows}
    assert "egress" not in found
    assert (found["compute"], found["storage"]) == (0.75, 0.25)
    free = of("cost", cost_usd=0.0, cost_parts_usd={"compute": 0.0})
    assert set(free) == {"total", "GPU-hours"}


@pytest.mark.parametrize(
    ("have", "needed", "shown"),
    [
        (2048.0, 35.0, ["2,048 GB", "35"]),
        (None, 35.0, ["not known", "35"]),
        (2048.0, None, ["2,048 GB"]),
        (None, None, ["not known"]),
    ],
)
def test_host_memory_beside_its_need(
    have: float | None, needed: float | None, shown: list[str]
) -> None:
    """Tests what is known of a host, and what is not."""
    host = {
        "vcpus": 128.0,
        "local_nvme_tb": None,
        "nic_gbps": 3200.0,
        "ram_gb": have,
        "ram_needed_gb": needed,
    }
    found = of("host", host=host)
    assert list(found) == ["vCPUs", "RAM", "local NVMe", "NICs"]
    assert found["local NVMe"] == "not known"
    for text in shown:
        assert text.replace(",", "") in found["RAM"].replace(",", "")
    assert ("needed" in found["RAM"]) is (needed is not None)
    driven = of("host", host=host | {"local_nvme_tb": 8.0, "nvme_needed_gb": 1234.0})
    assert driven["local NVMe"] == "8 TB, 1,234 GB needed"
