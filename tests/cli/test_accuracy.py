"""Tests of `gpuplan accuracy`."""

import csv
from io import StringIO
from pathlib import Path

import pytest

from tests.accuracy.tables import STEP, without, write_table
from tests.cli.running import run


def test_own_table_as_json(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Tests the keys of the contract, and that a skipped row has its reason."""
    rows = (STEP, {**STEP, "id": "no-batch", "mbs": "", "gbs": ""})
    path = write_table(tmp_path / "mine.csv", *rows)
    ran = run(capsys, "accuracy", path, "--json")
    assert ran.status == 0
    assert ran.data["ok"] is True
    (row,) = ran.data["rows"]
    assert row["id"] == "run-1"
    assert (row["metric"], row["unit"], row["measured"]) == ("step_time", "s", 4.0)
    error = 100 * (row["predicted"] / row["measured"] - 1)
    assert row["error_pct"] == pytest.approx(error)
    assert row["assumed"] == {}
    everything = [g for g in ran.data["groups"] if g["by"] == "all"]
    assert [g["n"] for g in everything] == [1]
    assert everything[0]["bias"] == pytest.approx(error)
    assert {"mape", "median_ape", "p90", "metric", "value"} <= set(everything[0])
    assert ran.data["skipped"][0]["id"] == "no-batch"
    assert "micro-batch" in ran.data["skipped"][0]["reason"]
    assert isinstance(ran.data["fits"], list)
    assert ran.data["regret"] == []


def test_rows_as_csv(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Tests that --csv prints every row, its assumptions included."""
    path = write_table(tmp_path / "mine.csv", without(STEP, "recompute"))
    ran = run(capsys, "accuracy", path, "--csv")
    (row,) = csv.DictReader(StringIO(ran.out))
    assert row["id"] == "run-1"
    assert row["assumed"] == "recompute=none"
    assert float(row["predicted"]) > 0
    assert "compute=" in row["parts"]


def test_csv_tells_what_was_skipped(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Tests that reasons stand beside the table, not in it, and stop nothing."""
    rows = (STEP, {**STEP, "id": "tpu", "gpu": "TPU v5p"})
    ran = run(capsys, "accuracy", write_table(tmp_path / "mine.csv", *rows), "--csv")
    assert ran.status == 0
    assert [row["id"] for row in csv.DictReader(StringIO(ran.out))] == ["run-1"]
    assert ran.err.startswith("skipped tpu: ")
    assert "TPU v5p" in ran.err


def test_page_of_the_shipped_tables(capsys: pytest.CaptureFixture[str]) -> None:
    """Tests that the page has a table of each kind, and the largest misses."""
    ran = run(capsys, "accuracy", "--worst", "3")
    assert ran.status == 0
    for title in ("Step time", "Peak memory", "Fits in memory", "Whole runs", "Regret"):
        assert title in ran.out
    assert "megatron" in ran.out
    assert "Largest misses" in ran.out


def test_wrong_files(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Tests that a file that is no table ends with status 2 and its name."""
    (tmp_path / "x.csv").write_text("")
    ran = run(capsys, "accuracy", tmp_path / "x.csv", tmp_path / "y.csv")
    assert ran.status == 2
    assert "x.csv" in ran.err
    assert "y.csv" in ran.err
    assert run(capsys, "accuracy", "--csv", "--json").status == 2


def test_picture(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Tests that --plot writes a picture, and says what stands in its way."""
    pytest.importorskip("matplotlib")
    path = write_table(tmp_path / "mine.csv", STEP)
    picture = tmp_path / "accuracy.svg"
    assert run(capsys, "accuracy", path, "--plot", picture).status == 0
    assert "<svg" in picture.read_text(encoding="utf-8")
    for wrong in (tmp_path / "none" / "x.png", tmp_path / "x.docx", tmp_path / "x"):
        ran = run(capsys, "accuracy", path, "--plot", wrong)
        assert ran.status == 2
        assert "cannot be written" in ran.err
    empty = write_table(tmp_path / "bad.csv", {**STEP, "quality": "suspect"})
    assert run(capsys, "accuracy", empty, "--plot", picture).status == 2
