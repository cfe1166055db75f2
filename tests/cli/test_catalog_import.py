"""Tests of ``gpuplan catalog import``."""

from pathlib import Path

import pytest

from tests.cli.running import ROOT, run
from tests.importing.lists import AWS, LAMBDA, write

SCENARIO = """\
name: imported
model: llama-2-7b
workload: {tokens: 1B, sequence_length: 4096, global_batch_size: 128}
constraints: {deadline: 30 days, providers: [newcloud]}
"""


def test_prices_are_planned_with(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Tests that an imported folder is one that solve takes."""
    table = LAMBDA.replace("gpu_8x_h100_pcie", "big-box")
    file = write(tmp_path, "newcloud/vms.csv", table)
    out = tmp_path / "prices"
    done = run(capsys, "catalog", "import", "skypilot", file, "--out", out)
    assert (done.status, done.err) == (0, "")
    assert "3 offers of newcloud written to" in done.out
    assert "no GPU" in done.out
    assert "(newcloud/vms.csv:" in done.out  # each cloud's file is called vms.csv
    scenario = write(tmp_path, "job.yaml", SCENARIO)
    solved = run(capsys, "solve", scenario, "--catalog", out, "--json")
    plan = solved.data["plan"]
    assert (plan["provider"], plan["nodes"]) == ("newcloud", 1)
    assert plan["offer"] == "newcloud/mars-north-1/gpu-2x-h200/on_demand"


def test_json(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Tests that --json has every row that was left out, and what was assumed."""
    file = write(tmp_path, "aws/vms.csv", AWS)
    words = ("catalog", "import", "skypilot", file, "--out", tmp_path / "o", "--json")
    done = run(capsys, *words, "--as-of", "2026-10", "--source", "our list")
    data = done.data["import"]
    assert (data["offers"], data["servers"], data["regions"]) == (8, 1, 0)
    assert data["files"] == ["offers/aws.csv", "servers.csv"]
    assert len(data["skipped"]) == 5
    assert data["skipped"][0].keys() == {"where", "reason", "what"}
    assert [remark["reason"] for remark in data["assumed"]] == ["one-node"]
    assert [issue["code"] for issue in data["warnings"]] == ["spot-not-cheaper"]


def test_faults(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Tests that wrong input is told in a line each, with exit status 2."""
    file = write(tmp_path, "aws/vms.csv", "a,b\n1,2\n")
    done = run(capsys, "catalog", "import", "gpuhunt", file, "--out", tmp_path / "o")
    assert (done.status, done.out) == (2, "")
    assert len(done.err.splitlines()) == 1
    assert "not this tool's table" in done.err
    assert not (tmp_path / "o").exists()
    done = run(capsys, "catalog", "import", "skypilot", file)
    assert done.status == 2
    assert "--out" in done.err


def test_a_model_is_planned_with(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Tests that an imported config.json is a model that a scenario can name."""
    config = ROOT / "tests/data/configs/qwen2.5-7b.json"
    words = ("catalog", "import", "hf", config, "--name", "Mine 7B", "--out")
    done = run(capsys, *words, tmp_path / "o")
    assert (done.status, done.err) == (0, "")
    assert "7,615,616,512" in done.out
    assert f"--catalog{tmp_path}/o--setmodel=mine-7b" in "".join(done.out.split())
    text = SCENARIO.replace("llama-2-7b", "mine-7b").replace("newcloud", "lambda")
    scenario = write(tmp_path, "job.yaml", text)
    solved = run(capsys, "solve", scenario, "--catalog", tmp_path / "o", "--json")
    assert solved.data["plan"]["provider"] == "lambda"
    again = run(capsys, *words, tmp_path / "o", "--json")
    assert again.status == 2
    assert [error["code"] for error in again.data["errors"]] == ["file-exists"]
    again = run(capsys, *words, tmp_path / "o", "--json", "--update")
    assert again.data["import"]["parameters"] == 7_615_616_512
