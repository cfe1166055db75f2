"""Tests of ``gpuplan compare``: rows, reasons, JSON, CSV, statuses, wrong input."""

from __future__ import annotations

import csv
from io import StringIO
from pathlib import Path

import pytest

from tests.cli.running import run
from tests.cli.test_json_contract import check_plan

SCENARIO = """\
name: small
model: llama-2-7b
workload: {method: lora, tokens: 10M, sequence_length: 1024, global_batch_size: 32}
offers:
  - {name: mine, gpu: a100-sxm-80gb, gpus_per_node: 8, usd_per_gpu_hour: 2.00,
     max_nodes: 2, region: sg, network: {gbps_per_node: 1600, kind: infiniband}}
  - {name: other, gpu: h100-sxm-80gb, gpus_per_node: 8, usd_per_gpu_hour: 2.10,
     max_nodes: 2, region: jp}
  - {name: "=1+1", provider: "+evil", gpu: l4, gpus_per_node: 1, region: kr,
     usd_per_gpu_hour: 0.5}
"""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Return the path of a small scenario."""
    path = tmp_path / "small.yaml"
    path.write_text(SCENARIO, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "by", ["region", "country", "provider", "gpu", "purchase", "network", "method"]
)
def test_json(by: str, small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Tests the contract of each dimension: value, status, plan or reason."""
    ran = run(capsys, "compare", small, "--by", by, "--json")
    assert (ran.status, ran.err) == (0, "")
    assert (ran.data["ok"], ran.data["schema_version"]) == (True, 1)
    assert ran.data["by"] == by
    assert ran.data["rows"]
    assert [row["best"] for row in ran.data["rows"]].count(True) == 1
    for row in ran.data["rows"]:
        assert isinstance(row["value"], str)
        assert row["status"] in ("optimal", "infeasible", "refused")
        assert (row["plan"] is None) == bool(row["reason"])
        if row["plan"]:
            check_plan(row["plan"])
            usd = sum(row["difference_usd"].values())
            best = ran.data["rows"][0]["plan"]["cost_usd"]
            assert usd == pytest.approx(row["plan"]["cost_usd"] - best, abs=1e-6)


def test_methods_of_alignment_are_what_trains(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tests that DPO stays DPO, with all weights, LoRA and QLoRA side by side."""
    words = [
        "--set",
        "workload={method: dpo, samples: 2000, sequence_length: 512}",
        "--json",
    ]
    ran = run(capsys, "compare", small, "--by", "method", *words)
    assert (ran.status, ran.err) == (0, "")
    rows = {row["value"]: row["plan"] for row in ran.data["rows"]}
    assert set(rows) == {"full", "lora", "qlora"}
    plans = [plan for plan in rows.values() if plan]
    assert len(plans) >= 2
    assert {plan["alignment"]["kind"] for plan in plans} == {"dpo"}
    references = {
        value: plan["alignment"]["reference"] for value, plan in rows.items() if plan
    }
    assert references["lora"] == references["qlora"] == "shared"


@pytest.mark.parametrize("width", ["60", "80", "140"])
def test_page(
    width: str,
    small: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Tests that the page fits the terminal, with the best row first."""
    monkeypatch.setenv("COLUMNS", width)
    ran = run(capsys, "compare", small, "--by", "gpu")
    assert ran.status == 0
    lines = ran.out.splitlines()
    assert max(map(len, lines)) <= int(width)
    assert lines[0].startswith("Best GPU: ")
    rows = lines[lines.index("The best plan of each") :]
    assert [line.split()[2] for line in rows[2:4] if "$" in line][:1] == ["best"]
    assert "price of a GPU-hour" in " ".join(ran.out.split())


def test_limit(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Tests that rows left out for --limit are told, and are in the CSV."""
    ran = run(capsys, "compare", small, "--by", "gpu", "--limit", "1")
    assert "2 more have a plan; --csv and --json have all." in ran.out
    listed = run(capsys, "compare", small, "--by", "gpu", "--limit", "1", "--csv", "-")
    assert len(listed.out.splitlines()) == 4


def test_csv(small: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Tests all columns, and that no cell is a formula."""
    file = tmp_path / "rows.csv"
    ran = run(capsys, "compare", small, "--by", "provider", "--csv", file)
    assert ran.status == 0
    assert ran.out.startswith("Best provider")
    printed = run(capsys, "compare", small, "--by", "provider", "--csv", "-")
    assert file.read_text(encoding="utf-8") == printed.out
    rows = list(csv.DictReader(StringIO(printed.out)))
    assert {row["value"] for row in rows} == {"mine", "other", "'+evil"}
    evil = next(row for row in rows if row["value"] == "'+evil")
    assert (evil["provider"], evil["offer"]) == ("'+evil", "'=1+1")
    for row in rows:
        causes = [v for k, v in row.items() if k.startswith("more_usd_")]
        assert sum(map(float, causes)) == pytest.approx(float(row["more_usd"]))
        assert not any(cell[:1] in ("=", "+", "@") for cell in row.values())


def test_all_infeasible(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Tests exit status 3, and that each row says why."""
    words = ("--set", "constraints.deadline=1 min")
    ran = run(capsys, "compare", small, "--by", "gpu", *words)
    assert ran.status == 3
    assert ran.out.startswith("No GPU has a plan")
    assert "a100-sxm-80gb, h100-sxm-80gb  soonest 4.1 hours instead" in ran.out
    data = run(capsys, "compare", small, "--by", "gpu", "--json", *words).data
    assert data["ok"] is True
    assert all(row["plan"] is None for row in data["rows"])


def test_no_time(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Tests exit status 4 where the time limit came before any plan."""
    words = ("--set", "limits.time=0.000001 s", "--json")
    ran = run(capsys, "compare", small, "--by", "gpu", *words)
    assert ran.status == 4
    assert {row["status"] for row in ran.data["rows"]} == {"unknown"}


def test_refused_method(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Tests that a method that the scenario cannot be asked with says what is wrong."""
    words = ("--set", "workload.framework=megatron")
    ran = run(capsys, "compare", small, "--by", "method", "--json", *words)
    assert ran.status == 0
    rows = {row["value"]: row for row in ran.data["rows"]}
    assert rows["qlora"]["status"] == "refused"
    assert "megatron cannot run qlora" in rows["qlora"]["reason"]


def test_wrong_input_all_at_once(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tests a misspelled dimension beside a misspelled key, each with its hint."""
    words = ("--set", "objektive=time", "--json")
    ran = run(capsys, "compare", small, "--by", "regoin", *words)
    assert ran.status == 2
    assert [e["hint"] for e in ran.data["errors"]] == ["region", "objective"]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--by", "gpu", "--csv", "-", "--json"), "bad-usage"),
        (("--by", "gpu", "--csv", "none/rows.csv", "--json"), "output-unwritable"),
        (("--by", "gpu", "--csv", ".", "--json"), "output-unwritable"),
        (("--by", "gpu", "--only", "--json"), "bad-usage"),
        (("--json",), "bad-usage"),
    ],
)
def test_wrong_options(
    words: tuple[str, ...],
    code: str,
    small: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Tests options that cannot be done: told before any work, nothing written."""
    monkeypatch.chdir(small.parent)
    ran = run(capsys, "compare", small, *words)
    assert ran.status == 2
    assert [e["code"] for e in ran.data["errors"]] == [code]
    assert [p.name for p in small.parent.iterdir()] == ["small.yaml"]
