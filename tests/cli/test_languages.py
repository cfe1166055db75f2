"""Tests of commands in another language."""

import json
import re
import subprocess
import sys
from io import BytesIO, TextIOWrapper

import pytest
from rich.cells import cell_len

from solver.cli.app import main
from solver.languages import language
from solver.messages import has_text
from solver.report import figures
from tests.cli.running import run
from tests.project.source import ROOT

CHINESE = re.compile(r"[\u4e00-\u9fff]")


@pytest.mark.parametrize(
    "command",
    [
        ("solve", "quickstart-7b"),
        ("solve", "impossible-70b-full-one-node"),
        ("estimate", "quickstart-7b", "--gpu", "H100-SXM", "--gpus", "64"),
        ("catalog", "list", "gpus"),
        ("catalog", "list", "offers"),
        ("catalog", "show", "h100-sxm-80gb"),
        ("scenarios", "list"),
    ],
)
@pytest.mark.parametrize("columns", [60, 80, 140])
def test_no_line_is_wider_than_the_terminal(
    command: tuple[str, ...],
    columns: int,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Tests that wide characters count twice, and that no line starts with a comma."""
    monkeypatch.setenv("COLUMNS", str(columns))
    ran = run(capsys, *command, "--lang", "zh")
    assert ran.status in (0, 3)
    lines = ran.out.splitlines()
    assert CHINESE.search(ran.out)
    assert [line for line in lines if cell_len(line) > columns] == []
    assert [line for line in lines if re.match(r"\s*[，。；：、）]", line)] == []


def test_the_language_ends_with_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    """Tests that the next command in the same process is in English again."""
    assert CHINESE.search(run(capsys, "scenarios", "list", "--lang", "zh").out)
    assert language() == "en"
    assert not CHINESE.search(run(capsys, "scenarios", "list").out)


def test_the_variable_counts_for_all_commands(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests that --lang goes before GPUPLAN_LANG."""
    monkeypatch.setenv("GPUPLAN_LANG", "zh")
    assert CHINESE.search(run(capsys, "catalog", "list", "gpus").out)
    assert not CHINESE.search(run(capsys, "catalog", "list", "gpus", "--lang=en").out)


def test_a_wrong_language_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """Tests the error as a line and as JSON, and that help is shown all the same."""
    ran = run(capsys, "solve", "quickstart-7b", "--lang", "zn")
    assert (ran.status, ran.out) == (2, "")
    assert "did you mean 'zh'?" in ran.err
    told = run(capsys, "solve", "quickstart-7b", "--lang", "zn", "--json")
    assert told.status == 2
    assert json.loads(told.out)["errors"][0]["hint"] == "zh"
    assert run(capsys, "solve", "--help", "--lang", "zn").status == 0


def differences(english: object, other: object, path: str = "") -> list[str]:
    """Return where two JSON values differ."""
    if isinstance(english, dict) and isinstance(other, dict):
        assert english.keys() == other.keys(), path
        pairs = [(f"{path}.{key}", english[key], other[key]) for key in english]
    elif isinstance(english, list) and isinstance(other, list):
        assert len(english) == len(other), path
        pairs = [
            (f"{path}.{place}", *each)
            for place, each in enumerate(zip(english, other, strict=True))
        ]
    elif isinstance(english, str) and isinstance(other, str):
        return [] if english == other else [path]
    else:
        assert english == other or "wall_time" in path, path
        return []
    return [found for where, a, b in pairs for found in differences(a, b, where)]


@pytest.mark.parametrize("name", ["quickstart-7b", "impossible-70b-full-one-node"])
def test_json_differs_in_texts_alone(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tests that ids, figures and overrides are the same in both languages."""
    english = json.loads(run(capsys, "solve", name, "--json").out)
    chinese = json.loads(run(capsys, "solve", name, "--json", "--lang", "zh").out)
    told = [
        path
        for path in differences(english, chinese)
        if "wall_time" not in path and ".values." not in path
    ]
    assert told
    assert {path.rpartition(".")[2] for path in told} <= {
        *("text", "summary", "now", "needed")
    }


def test_an_output_without_chinese_gets_english(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests that it is said, and that nothing is shown as question marks."""
    page = TextIOWrapper(BytesIO(), encoding="latin-1")
    monkeypatch.setattr(sys, "stdout", page)
    assert main(["scenarios", "list", "--lang", "zh"]) == 0
    page.flush()
    text = page.buffer.getvalue().decode("latin-1")  # type: ignore[attr-defined]
    assert "question" in text
    assert "??" not in text
    told = capsys.readouterr().err
    assert "latin-1, cannot show 'zh', so this is in English" in told


def test_translations_are_loaded_when_they_are_spoken() -> None:
    """Tests that English starts without the Chinese texts."""
    code = (
        "import sys; from solver.cli.app import main; main(['scenarios', 'list']); "
        "sys.exit('solver.messages.zh' in sys.modules)"
    )
    subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, check=True, stdout=subprocess.DEVNULL
    )


@pytest.mark.parametrize(
    "command",
    [
        ("solve", "quickstart-7b"),
        ("solve", "impossible-70b-full-one-node"),
        ("catalog", "list", "offers"),
        ("catalog", "check"),
    ],
)
def test_every_label_has_a_text(
    command: tuple[str, ...],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Tests that no key stands for a label, which would be English in any language."""
    missing = []

    def known(message_id: str) -> bool:
        if not has_text(message_id):
            missing.append(message_id)
        return has_text(message_id)

    monkeypatch.setattr(figures, "has_text", known)
    run(capsys, *command, "--lang", "zh")
    assert missing == []
