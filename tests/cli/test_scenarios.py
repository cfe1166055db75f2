"""Tests of `gpuplan scenarios`."""

import json
from pathlib import Path

import pytest

from solver.scenario.gallery import shipped_names
from tests.cli.running import run, run_process


def test_list(capsys: pytest.CaptureFixture[str]) -> None:
    """Tests that each shipped scenario is listed with its question."""
    ran = run(capsys, "scenarios", "list")
    assert ran.status == 0
    as_json = run(capsys, "scenarios", "list", "--json")
    rows = as_json.data["rows"]
    assert [row["name"] for row in rows] == list(shipped_names())
    assert "quickstart-7b" in shipped_names()
    for row in rows:
        assert row["question"].endswith("?")
        assert row["name"] in ran.out
        assert row["question"].split()[-1] in ran.out


def test_show(capsys: pytest.CaptureFixture[str]) -> None:
    """Tests that a scenario is printed as it stands in its file."""
    ran = run(capsys, "scenarios", "show", "quickstart-7b")
    assert ran.status == 0
    assert ran.out.startswith("#")
    assert "model:" in ran.out
    as_json = run(capsys, "scenarios", "show", "quickstart-7b", "--json")
    assert as_json.data["scenario"] == {"name": "quickstart-7b", "text": ran.out}


def test_unknown_name(capsys: pytest.CaptureFixture[str]) -> None:
    """Tests that a misspelled name is refused with the nearest right one."""
    ran = run(capsys, "scenarios", "show", "quikstart-7b")
    assert ran.status == 2
    assert "(did you mean 'quickstart-7b'?)" in ran.err


def test_copy(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Tests that a copy is the scenario, is named, and never overwrites anything."""
    ran = run(capsys, "scenarios", "copy", "quickstart-7b", tmp_path)
    copied = tmp_path / "quickstart-7b.yaml"
    assert (ran.status, ran.out) == (0, f"{copied}\n")
    shown = run(capsys, "scenarios", "show", "quickstart-7b").out
    assert copied.read_text(encoding="utf-8") == shown
    copied.write_text("mine", encoding="utf-8")
    again = run(capsys, "scenarios", "copy", "quickstart-7b", tmp_path, "--json")
    assert again.status == 2
    assert again.data["errors"][0]["code"] == "file-exists"
    assert copied.read_text(encoding="utf-8") == "mine"


def test_copy_into_the_current_folder(tmp_path: Path) -> None:
    """Tests that without a target the copy lands where the user is."""
    ran = run_process("scenarios", "copy", "quickstart-7b", cwd=tmp_path)
    assert (ran.status, ran.out) == (0, "quickstart-7b.yaml\n")
    assert (tmp_path / "quickstart-7b.yaml").is_file()


def test_schema(capsys: pytest.CaptureFixture[str]) -> None:
    """Tests that the schema is one JSON object that knows the scenario's keys."""
    ran = run(capsys, "scenarios", "schema")
    schema = json.loads(ran.out)
    assert ran.status == 0
    assert {"model", "workload", "constraints"} <= schema["properties"].keys()
    assert schema["additionalProperties"] is False


def test_listing_needs_no_optimiser() -> None:
    """Tests that the list does not wait for ortools or numpy."""
    code = (
        "import sys; from solver.cli.app import main; main(['scenarios', 'list']);"
        "print(sorted({'ortools', 'numpy', 'pandas'} & sys.modules.keys()))"
    )
    assert run_process(code=code).out.splitlines()[-1] == "[]"
