"""Tests of commands on scenarios with phases."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import run

Capture = pytest.CaptureFixture[str]

TEXT = """\
name: two
model: {layers: 12, hidden: 1024, ffn: 4096, heads: 16, kv_heads: 4, vocab: 32000}
workload: {sequence_length: 2048, global_batch_size: 64}
offers:
  - {name: a, gpu: a100-sxm-80gb, gpus_per_node: 8, max_nodes: 2, region: sg,
     usd_per_gpu_hour: 2, network: {gbps_per_node: 1600, kind: infiniband}}
phases:
  - {name: pre-train, workload: {tokens: 5B}}
  - {name: extend, workload: {tokens: 1B, sequence_length: 8192}}
"""


@pytest.fixture
def scenario(tmp_path: Path) -> str:
    """A file with two phases."""
    path = tmp_path / "two.yaml"
    path.write_text(TEXT, encoding="utf-8")
    return str(path)


def test_solve_prints_a_row_a_phase(capsys: Capture, scenario: str) -> None:
    """Tests the page and the exit status."""
    done = run(capsys, "solve", scenario)
    assert done.status == 0
    assert "Run 2 phases on 1 lease" in done.out


def test_solve_prints_json(capsys: Capture, scenario: str) -> None:
    """Tests the object: names, dates in order, and totals that add up."""
    data = json.loads(run(capsys, "solve", scenario, "--json").out)
    assert (data["ok"], data["status"], data["plan"]) == (True, "optimal", None)
    assert [phase["name"] for phase in data["phases"]] == ["pre-train", "extend"]
    assert data["phases"][0]["end_day"] == data["phases"][1]["start_day"]
    total = data["total"]
    assert sum(total["cost_parts_usd"].values()) == pytest.approx(total["cost_usd"])
    assert sum(total["duration_parts_days"].values()) == pytest.approx(
        total["duration_days"]
    )


def test_solve_without_a_plan(capsys: Capture, scenario: str) -> None:
    """Tests exit status and reason of a deadline that nothing keeps."""
    done = run(
        capsys, "solve", scenario, "--set", "constraints.deadline=1 hours", "--json"
    )
    data = json.loads(done.out)
    assert done.status == 3
    assert data["explanation"]["conflict"] == ["deadline"]
    assert data["total"] is None


def test_solve_exports_the_model(
    capsys: Capture, scenario: str, tmp_path: Path
) -> None:
    """Tests that the model names phases, leases and the joined variables."""
    path = tmp_path / "model.txt"
    assert run(capsys, "solve", scenario, "--export-model", str(path), "-q").status == 0
    text = path.read_text(encoding="utf-8")
    for part in ("choose[lease 0]", "pre-train.nodes", '"finish"', '"moves"'):
        assert part in text


def test_estimate_looks_at_one_phase(capsys: Capture, scenario: str) -> None:
    """Tests the phase that is named, and refusals without one or with a wrong one."""
    assert (
        run(capsys, "estimate", scenario, "--phase", "extend", "--gpus", "8").status
        == 0
    )
    without = run(capsys, "estimate", scenario)
    assert without.status == 2
    assert "name one with --phase: pre-train, extend" in without.err
    wrong = run(capsys, "estimate", scenario, "--phase", "extent")
    assert wrong.status == 2
    assert "did you mean 'extend'" in wrong.err


def test_a_phase_of_a_scenario_without_is_refused(capsys: Capture) -> None:
    """Tests --phase on a plain scenario."""
    done = run(capsys, "estimate", "quickstart-7b", "--phase", "x")
    assert done.status == 2
    assert "the scenario has no phases" in done.err


@pytest.mark.parametrize(
    "words", [("explain",), ("compare", "--by", "gpu"), ("compare", "--by", "method")]
)
def test_other_commands_say_what_they_cannot_do(
    capsys: Capture, scenario: str, words: tuple[str, ...]
) -> None:
    """Tests that no command takes the first phase for the whole."""
    done = run(capsys, words[0], scenario, *words[1:])
    assert done.status == 2
    assert "this one has phases" in done.err


@pytest.mark.parametrize(
    "key",
    ["objective=carbon", "constraints.max_carbon=2 t", "constraints.max_energy=2 MWh"],
)
def test_energy_and_carbon_are_refused(
    capsys: Capture, scenario: str, key: str
) -> None:
    """Tests that what is not counted over phases is no silent zero."""
    done = run(capsys, "solve", scenario, "--set", key)
    assert done.status == 2
    assert "they count no energy and carbon" in done.err
