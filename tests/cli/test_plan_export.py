"""Tests of ``gpuplan plan export``."""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path

import pytest

from solver.planning.answering import answer
from solver.report.as_json import result_as_json
from tests.cli.running import run
from tests.planning.jobs import catalog, job
from tests.planning.phased import phased


@cache
def solved() -> str:
    """A plan of the toy model, as ``solve --json`` prints it."""
    return result_as_json(answer(job(), catalog(), alternatives=0))


@cache
def chained() -> str:
    """A plan of two phases, both with Megatron-LM."""
    scenario = phased(workload={"framework": "megatron"})
    return result_as_json(answer(scenario, catalog()))


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    """A file with the plan of the toy model."""
    path = tmp_path / "plan.json"
    path.write_text(solved(), encoding="utf-8")
    return path


@pytest.fixture
def chain(tmp_path: Path) -> Path:
    """A file with the plan of two phases."""
    path = tmp_path / "chain.json"
    path.write_text(chained(), encoding="utf-8")
    return path


def test_one_file_is_printed(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Tests that standard output has the file alone, and notes go elsewhere."""
    ran = run(capsys, "plan", "export", plan, "--to", "megatron")
    assert ran.status == 0
    assert ran.out.startswith("#!/usr/bin/env bash\n# Runs the plan 'toy'")
    assert "epsilon" in ran.err


def test_json_has_every_file(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Tests the JSON object: files by name, notes with their ids."""
    data = run(capsys, "plan", "export", plan, "--to", "Megatron", "--json").data
    assert (data["ok"], data["format"]) == (True, "megatron")
    assert list(data["files"]) == ["train.sh"]
    assert "note.export.megatron-model" in [note["id"] for note in data["notes"]]


def test_a_folder_is_written_once(
    plan: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tests that files are written whole, and replaced only if that is wanted."""
    words = ("plan", "export", plan, "--to", "megatron", "--out", tmp_path / "out")
    assert run(capsys, *words).status == 0
    script = tmp_path / "out" / "train.sh"
    assert os.access(script, os.X_OK)
    script.write_text("mine", encoding="utf-8")
    again = run(capsys, *words)
    assert again.status == 2
    assert "--force" in again.err
    assert script.read_text(encoding="utf-8") == "mine"
    assert run(capsys, *words, "--force").status == 0
    assert script.read_text(encoding="utf-8").startswith("#!")
    assert [path.name for path in script.parent.iterdir()] == ["train.sh"]


def test_a_folder_that_cannot_be_made(
    plan: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tests that a file in the way is told."""
    ran = run(capsys, "plan", "export", plan, "--to", "megatron", "--out", plan)
    assert ran.status == 2
    assert str(plan) in ran.err


def test_phases_have_a_folder_each(
    chain: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tests that a chain needs a folder or a phase, and keeps the order of phases."""
    words = ("plan", "export", chain, "--to", "megatron")
    bare = run(capsys, *words)
    assert bare.status == 2
    assert "--out" in bare.err
    out = tmp_path / "out"
    assert run(capsys, *words, "--out", out).status == 0
    names = sorted(path.name for path in out.iterdir())
    assert [name.partition("-")[0] for name in names] == ["1", "2"]
    assert names[0].endswith("-pre-train")
    assert names[1].endswith("-extend")
    one = run(capsys, *words, "--phase", "extend")
    assert one.status == 0
    assert "extend" in one.out.splitlines()[1]


@pytest.mark.parametrize(
    ("words", "code", "hint"),
    [
        (("--to", "megatrn"), "unknown-name", "megatron"),
        (("--to", "megatron", "--phase", "x"), "unknown-name", None),
        ((), "bad-usage", None),
    ],
)
def test_wrong_words(
    words: tuple[str, ...],
    code: str,
    hint: str | None,
    plan: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Tests a format and a phase that are not there, and no format."""
    ran = run(capsys, "plan", "export", plan, *words, "--json")
    assert ran.status == 2
    (error,) = json.loads(ran.out)["errors"]
    assert (error["code"], error["hint"]) == (code, hint)


def test_a_plan_that_a_format_cannot_say(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tests that every reason is told with exit status 2, and nothing is written."""
    data = json.loads(solved())
    data["plan"]["layout"] |= {"loss": "chunked", "optimizer": "adagrad"}
    data["request"]["catalog"]["digest"] = "another"  # or it would be refused as edited
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    words = ("plan", "export", path, "--to", "megatron", "--out", tmp_path / "out")
    ran = run(capsys, *words, "--json")
    assert ran.status == 2
    errors = json.loads(ran.out)["errors"]
    assert {error["code"] for error in errors} == {"not-expressible"}
    assert len(errors) == 3
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("launcher", ["torchrun", "slurm", "kubernetes", "skypilot"])
def test_launchers_write_files_that_need_each_other(
    launcher: str, plan: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tests that each launcher's files are written, and the script can be run."""
    out = tmp_path / "out"
    ran = run(capsys, "plan", "export", plan, "--to", launcher, "--out", out)
    assert ran.status == 0
    names = {path.name for path in out.iterdir()}
    expected = {
        "torchrun": {"train.sh"},
        "slurm": {"job.sbatch", "train.sh"},
        "kubernetes": {"pytorchjob.yaml"},
        "skypilot": {"task.yaml", "train.sh"},
    }
    assert names == expected[launcher]
    for script in names & {"train.sh", "job.sbatch"}:
        assert os.access(out / script, os.X_OK)


def test_help_names_every_format(capsys: pytest.CaptureFixture[str]) -> None:
    """Tests that no format has to be guessed."""
    from solver.exporting.formats import FORMATS

    told = run(capsys, "plan", "export", "--help").out
    assert all(name in told for name in FORMATS)
