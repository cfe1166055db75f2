"""Tests of `gpuplan explain` from end to end."""

from pathlib import Path

import pytest

from tests.cli.running import run, run_process

SCENARIO = """\
name: two cards
model: llama-2-7b
workload: {method: lora, tokens: 50M, sequence_length: 1024, global_batch_size: 32}
offers:
  - {name: mine, gpu: a100-sxm-80gb, gpus_per_node: 8, usd_per_gpu_hour: 2.00,
     spot_usd_per_gpu_hour: 0.80, max_nodes: 1, region: sg}
  - {name: other, gpu: h100-sxm-80gb, gpus_per_node: 8, usd_per_gpu_hour: 9.10,
     max_nodes: 1, region: jp}
"""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    """Return a scenario whose plan could be cheaper on spot nodes."""
    path = tmp_path / "two.yaml"
    path.write_text(SCENARIO, encoding="utf-8")
    return path


def test_a_page_of_reasons(scenario: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Tests that what binds, what to type and the losing offer's price are told."""
    ran = run(capsys, "explain", scenario)
    assert (ran.status, ran.err) == (0, "")
    assert "What holds this plan back" in ran.out
    assert "--set 'constraints.purchase=[on_demand,spot]'" in ran.out
    assert "What does not hold it back" in ran.out
    assert "wins below" in ran.out
    assert "9.10" in ran.out


def test_what_it_says_to_type_works(
    scenario: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tests that the override of a requirement that binds gives what was told."""
    data = run(capsys, "explain", scenario, "--json").data
    (purchase,) = [r for r in data["requirements"] if r["constraint"] == "purchase"]
    then = run(capsys, "solve", scenario, "--json", "--set", purchase["set"]).data
    saved = data["plan"]["cost_usd"] - then["plan"]["cost_usd"]
    assert saved == pytest.approx(purchase["saves_usd"], abs=0.01)
    assert then["plan"]["purchase"] == "spot"


def test_json_is_a_solve_and_the_reasons(scenario: Path) -> None:
    """Tests a real process: one object that holds all of a solve, and more."""
    ran = run_process("explain", scenario, "--json")
    assert (ran.status, ran.err) == (0, "")
    solved = run_process("solve", scenario, "--json").data
    assert set(solved) < set(ran.data)
    assert ran.data["plan"] == solved["plan"]
    assert ran.data["complete"] is True
    (price,) = ran.data["break_even"]
    assert price["offer"] == "other"
    assert price["usd_per_gpu_hour"] == pytest.approx(9.10)
    assert 2.0 < price["break_even_usd_per_gpu_hour"] < 9.10


def test_a_no_is_explained_as_by_solve(
    scenario: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tests the exit status and page of a scenario without a plan."""
    words = (scenario, "--set", "constraints.deadline=1 minutes")
    explained, solved = (run(capsys, c, *words) for c in ("explain", "solve"))
    assert (explained.status, explained.err) == (3, "")
    assert solved.status == 3
    heads = [line for line in solved.out.splitlines() if line[:1].isalpha()]
    assert [h for h in explained.out.splitlines() if h[:1].isalpha()] == heads


def test_two_changes_are_told_together(
    scenario: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tests that what opens a plan only together is told and typed together."""
    words = ("--set", "constraints.regions=[jp]", "--set", "constraints.providers=mine")
    ran = run(capsys, "explain", scenario, *words, "--set", "constraints.budget=1")
    assert ran.status == 3
    assert "What would open a plan together" in ran.out
    assert "and budget" in ran.out


def test_wrong_input_is_told_as_everywhere(
    scenario: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tests status 2 and the place of a fault."""
    ran = run(capsys, "explain", scenario, "--set", "constraints.deadlin=3 days")
    assert (ran.status, ran.out) == (2, "")
    assert "constraints.deadlin" in ran.err
    assert "deadline" in ran.err
