"""Published tables of how many cards a model needs, row by row through whole solves."""

from __future__ import annotations

import pytest

from solver.plan import PlanResult
from solver.planning.estimate import EstimatePins, estimate
from solver.planning.single_job import plan_job
from solver.scenario.gallery import shipped_names
from solver.scenario.load import load_scenario
from tests.planning.jobs import catalog
from tools.published_tables import PREFIX, TABLES, answer_of, claim_of, solved

ROWS = {row.scenario: row for rows in TABLES.values() for row in rows}

GPUS: dict[str, int | None] = {
    "7b-full-4x80gb": 4,
    "7b-full-6x48gb": 6,
    "13b-full-6x80gb": 6,
    "13b-full-8x48gb": 8,
    "34b-full-8x80gb": None,
    "70b-full-8x141gb": None,
    "70b-full-16x141gb": 16,
    "7b-lora-1x48gb": 1,
    "13b-lora-1x48gb": 1,
    "7b-full-1-to-4x80gb": 2,
    "33b-qlora-1x48gb": 1,
    "70b-qlora-1x80gb": 1,
    "70b-lora-1x80gb": None,
    "70b-full-8x80gb": 8,
    "33b-rlhf-2x8x80gb": 16,
    "70b-rlhf-2x8x80gb": None,
    "175b-pretrain-many-nodes": 512,
    "7b-lora-2x48gb": 2,
    "7b-full-4x48gb": 4,
    "13b-full-4x48gb": None,
    "13b-full-4x-h100-pcie": 4,
    "33b-full-8x80gb": None,
    "70b-lora-8x141gb": 8,
}
"""GPUs of the plan of each row; None: nothing fits in memory."""

SLOW = {"7b-full-6x48gb", "13b-full-8x48gb", "7b-full-4x48gb"}
"""Rows of cards without NVLink: they fit, and PCIe decides the speed."""


@pytest.fixture(scope="module")
def answers() -> dict[str, PlanResult]:
    """The answer of every row."""
    return {name: solved(name) for name in ROWS}


def test_every_row_is_a_scenario_and_the_other_way_round() -> None:
    """Tests that tables, expectations and shipped scenarios name the same rows."""
    shipped = {n.removeprefix(PREFIX) for n in shipped_names() if n.startswith(PREFIX)}
    assert set(ROWS) == set(GPUS) == shipped
    assert all(claim_of(name) for name in ROWS)


@pytest.mark.parametrize("name", GPUS)
def test_row(name: str, answers: dict[str, PlanResult]) -> None:
    """Tests the number of GPUs, or that memory is what is lacking."""
    result = answers[name]
    if GPUS[name] is not None:
        assert result.plan is not None
        assert result.plan.gpus == GPUS[name]
        return
    assert result.explanation is not None
    assert result.explanation.kind == "memory"
    assert not ROWS[name].holds


def test_what_holds_has_a_plan(answers: dict[str, PlanResult]) -> None:
    """Tests that no claim is said to hold that has no plan."""
    assert [n for n, row in ROWS.items() if row.holds and not answers[n].plan] == []


@pytest.mark.parametrize("name", sorted(SLOW))
def test_pcie_decides_the_speed(name: str, answers: dict[str, PlanResult]) -> None:
    """Tests that a quarter of the peak at most is reached, as communication waits."""
    plan = answers[name].plan
    assert plan is not None
    assert plan.mfu < 0.25
    parts = plan.step_time_parts_s
    assert parts["data_parallel"] > 0.2 * plan.step_time_s


def test_data_parallel_replicas_do_not_fit_one_card() -> None:
    """Tests why one 80 GB card is not enough: no sharding, 16 bytes a parameter."""
    scenario = load_scenario(f"{PREFIX}7b-full-1-to-4x80gb", catalog())
    found = estimate(
        scenario, catalog(), EstimatePins(offer="a100-4", nodes=1, zero_stage=0)
    )
    assert found.verdict == "impossible"
    assert found.memory_gib["total"] > 16 * 6.7e9 / 2**30


def test_answers_are_told_in_one_line(answers: dict[str, PlanResult]) -> None:
    """Tests what the page says of a plan and of a 'no'."""
    said = answer_of(answers["7b-full-4x80gb"])
    assert said.startswith("4 x h100-sxm-80gb, DP 4 ZeRO")
    no = answer_of(answers["70b-lora-1x80gb"])
    assert no.startswith("No: 136.")
    assert "opened by" in no
    assert "adamw-8bit" not in no  # saves a little, and opens nothing


def test_more_cards_over_pcie_do_not_help(answers: dict[str, PlanResult]) -> None:
    """Tests that six L40S finish a full fine-tune no sooner than four do."""
    six = answers["7b-full-6x48gb"].plan
    scenario = load_scenario(f"{PREFIX}7b-full-4x48gb", catalog())
    four = estimate(scenario, catalog(), EstimatePins(offer="l40s", nodes=1))
    assert six is not None
    assert (four.gpus, four.verdict) == (4, "fits")
    assert four.training_days < six.training_days


def test_what_70b_needs_on_eight_cards() -> None:
    """Tests that fp32 moments on the GPUs are what does not fit."""
    name, plain = f"{PREFIX}70b-full-8x80gb", ("optimizer=adamw", "offload=none")
    overrides = [f"workload.{key}" for key in plain]
    scenario = load_scenario(name, catalog(), overrides)
    assert plan_job(scenario, catalog(), alternatives=0).status == "infeasible"


def test_two_nodes_of_larger_cards_run_rlhf_of_70b() -> None:
    """Tests what the page says of 141 GB cards."""
    card = ["offers[0].gpu=h200-sxm-141gb"]
    scenario = load_scenario(f"{PREFIX}70b-rlhf-2x8x80gb", catalog(), card)
    plan = plan_job(scenario, catalog(), alternatives=0).plan
    assert plan is not None
    assert (plan.nodes, plan.gpus) == (2, 16)
