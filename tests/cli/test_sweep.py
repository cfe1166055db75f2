"""Tests of ``gpuplan sweep``: run, resume, show, wrong input."""

from __future__ import annotations

import csv
from io import StringIO
from pathlib import Path
from shlex import quote

import pytest

from solver.cli.app import main
from tests.cli.running import run, run_process
from tests.cli.test_json_contract import check_plan
from tests.sweeps.examples import SWEEP, written


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the results of the toy sweep."""
    folder = tmp_path_factory.mktemp("sweep")
    place = folder / "results.db"
    words = ("--out", place, "--workers", "1", "--json")
    ran = run_process("sweep", "run", written(folder), *words)
    assert (ran.status, ran.err) == (0, "")
    assert ran.data["ok"] is True
    assert (ran.data["complete"], ran.data["answered"]) == (True, 12)
    assert sum(ran.data["statuses"].values()) == 12
    return place


def test_the_same_command_again(
    answered: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tests that nothing is answered twice, and that this is said."""
    words = ("--out", answered, "--workers", "1")
    ran = run(capsys, "sweep", "run", answered.parent / "sweep.yaml", *words)
    assert ran.status == 0
    assert "0 points answered" in ran.out
    assert "stored before" in ran.out


def test_another_sweep_into_the_same_file(
    answered: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tests that results are not mixed unless the user wants it, and then openly."""
    place = tmp_path / "copy.db"
    place.write_bytes(answered.read_bytes())
    more = {**SWEEP["axes"], "constraints.budget": ["$10", "$1k", "$2k"]}
    sweep = written(tmp_path, axes=more)
    words = ("sweep", "run", sweep, "--out", place, "--workers", "1", "--json")
    ran = run(capsys, *words)
    assert ran.status == 2
    assert [error["code"] for error in ran.data["errors"]] == ["results-mixed"]
    ran = run(capsys, *words, "--mixed")
    assert (ran.status, ran.data["stored_before"], ran.data["answered"]) == (0, 12, 6)
    shown = run(capsys, "sweep", "show", place)
    assert "several sweeps" in " ".join(shown.out.split())


@pytest.mark.parametrize("width", ["60", "80", "140"])
def test_show(
    width: str,
    answered: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Tests that the page fits the terminal and has its parts."""
    monkeypatch.setenv("COLUMNS", width)
    ran = run(capsys, "sweep", "show", answered)
    assert ran.status == 0
    assert max(map(len, ran.out.splitlines())) <= int(width)
    text = " ".join(ran.out.split())
    for part in ("The best of each value", "What moves cost", "Where there is no plan"):
        assert part in text
    assert "budget" in text


def test_a_plan_is_that_of_solve(
    answered: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tests that a plan in the results is, to the last letter, what a solve prints."""
    words = ("sweep", "show", answered, "--json", "--plans")
    rows = run(capsys, *words).data["rows"]
    row = next(r for r in rows if r["plan"] and r["overlay"] == "listed")
    sets = [w for k, v in row["inputs"].items() for w in ("--set", f"{k}={v}")]
    base = answered.parent / "base.yaml"
    plan = run(capsys, "solve", base, *sets, "--json").data["plan"]
    assert row["plan"] == plan


def test_show_as_json_and_csv(
    answered: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tests that both have all points, with the same figures."""
    data = run(capsys, "sweep", "show", answered, "--json", "--plans").data
    assert (data["ok"], len(data["rows"])) == (True, 12)
    keys = [key for group in data["sweep"]["groups"] for key in group]
    assert keys == ["constraints.deadline", "constraints.budget", "overlay"]
    assert data["summary"]["statuses"].keys() == {"optimal", "infeasible"}
    table = run(capsys, "sweep", "show", answered, "--csv", "-").out
    rows = list(csv.DictReader(StringIO(table)))
    for row, cells in zip(data["rows"], rows, strict=True):
        assert row["inputs"]["constraints.deadline"] == cells["constraints.deadline"]
        assert (row["overlay"], row["status"]) == (cells["overlay"], cells["status"])
        if row["plan"] is None:
            assert row["reason"] == cells["reason"]
            assert cells["cost_usd"] == ""
        else:
            check_plan(row["plan"])
            assert float(cells["cost_usd"]) == row["cost_usd"]


@pytest.mark.parametrize(
    ("words", "where"),
    [
        (("--kind", "lines"), "--kind"),
        (("--x", "budget"), "--x"),
        (("--plans",), "--plans"),
        (("--plot", "a.svg", "--x", "budgt"), "--x, --y"),
        (("--plot", "a.svg", "--x", "budget", "--y", "budget"), "--x, --y"),
        (("--plot", "a.svg", "--html", "./a.svg"), "--html a.svg"),
    ],
)
def test_options_that_cannot_be_done(
    words: tuple[str, ...],
    where: str,
    answered: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Tests that they are refused before anything is printed or written."""
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    ran = run(capsys, "sweep", "show", answered, *words)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith(f"{where}: ")
    assert not list(tmp_path.iterdir())


def test_files_are_written_whoever_reads_the_page(
    answered: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests that ``| head`` does not leave out the files that were asked for."""
    pytest.importorskip("matplotlib")

    def gone(_: object) -> None:
        raise BrokenPipeError

    monkeypatch.setattr("solver.cli.outputs.write_page", gone)
    page = tmp_path / "page.html"
    main(["sweep", "show", str(answered), "--html", str(page)])
    assert page.read_text(encoding="utf-8").endswith("</html>\n")


def test_quiet(answered: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Tests that one line is printed, and that a place is told as a shell wants it."""
    words = ("sweep", "run", answered.parent / "sweep.yaml", "--workers", "1")
    ran = run(capsys, *words, "--out", answered, "--quiet")
    assert (ran.status, ran.out.count("\n")) == (0, 1)
    place = answered.parent / "it's here.db"
    place.write_bytes(answered.read_bytes())
    text = "".join(run(capsys, *words, "--out", place).out.split())
    assert f"show{quote(str(place))}".replace(" ", "") in text


def test_dry_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Tests that it tells points and time, and writes nothing."""
    place = tmp_path / "r.db"
    words = ("sweep", "run", written(tmp_path), "--dry-run", "--out", place)
    ran = run(capsys, *words)
    assert ran.status == 0
    assert ran.out.startswith("12 points, 12 of them not answered yet: about ")
    data = run(capsys, *words, "--json").data
    assert (data["points"], data["left"], data["kinds_of_physics"]) == (12, 12, 1)
    assert data["estimated_s"] > 0
    assert not place.exists()


def test_wrong_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Tests that faults are told with exit status 2 and that nothing is written."""
    sweep = written(tmp_path, axes={"constraints.deadlin": ["2 days"]})
    place = tmp_path / "r.db"
    ran = run(capsys, "sweep", "run", sweep, "--out", place)
    assert ran.status == 2
    assert "did you mean 'deadline'" in ran.err
    assert "sweep.yaml:" in ran.err
    assert not place.exists()
    assert run(capsys, "sweep", "run", sweep).status == 2
    assert run(capsys, "sweep", "run", written(tmp_path), "--out", "-").status == 2
    assert run(capsys, "sweep", "run", "no-such-sweep", "--out", place).status == 2
    assert run(capsys, "sweep", "show", place).status == 2
    damaged = tmp_path / "damaged.db"
    damaged.write_text("not a database, but long enough to be one\n" * 100)
    good = written(tmp_path)
    ran = run(capsys, "sweep", "run", good, "--out", damaged, "--json")
    assert ran.status == 2
    assert [error["code"] for error in ran.data["errors"]] == ["results-unreadable"]


def test_no_cluster_no_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Tests that a cluster that is not there leaves nothing half done."""
    pytest.importorskip("distributed")
    place = tmp_path / "r.db"
    words = ("--out", place, "--scheduler", "nowhere")
    ran = run(capsys, "sweep", "run", written(tmp_path), *words)
    assert ran.status == 2
    assert ran.err.startswith("--scheduler: no Dask scheduler answers at nowhere")
    assert not place.exists()


def test_the_start_does_not_load_the_database() -> None:
    """Tests that other commands do not pay for SQLAlchemy."""
    code = "import sys, solver.cli.app; sys.exit('sqlalchemy' in sys.modules)"
    assert run_process(code=code).status == 0
