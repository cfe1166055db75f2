"""Tests that the command ends cleanly at any time and on any stream."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.running import ROOT, run, run_process

STOPPED = """
import signal, sys
from solver.cli.entry import run
class Stop:
    def find_spec(self, name, *rest):
        if name == {module!r}:
            signal.raise_signal(signal.SIGINT)
sys.meta_path.insert(0, Stop())
sys.exit(run())
"""


@pytest.mark.parametrize("module", ["typer", "solver.cli.app", "solver.cli.solve"])
def test_ctrl_c_while_loading(module: str) -> None:
    """Tests that Ctrl-C before the command line is loaded gives no traceback."""
    ran = run_process("--help", code=STOPPED.format(module=module))
    assert (ran.status, ran.out, ran.err) == (130, "", "gpuplan: stopped\n")


def test_what_is_loaded_before_the_command_line() -> None:
    """Tests that next to nothing is loaded where Ctrl-C is not yet caught."""
    code = "import sys; before = set(sys.modules); import solver.cli.entry\n"
    code += "print(*sorted(set(sys.modules) - before))"
    assert run_process(code=code).out.split() == [
        "solver",
        "solver.cli",
        "solver.cli.entry",
    ]


FULL = Path("/dev/full")


@pytest.mark.skipif(not FULL.exists(), reason="needs /dev/full")
@pytest.mark.parametrize(
    "words", [["--help"], ["solve", "--help"], [], ["--version"], ["scenarios", "list"]]
)
def test_a_full_disk(words: list[str]) -> None:
    """Tests that an output that cannot be written is no bug of gpuplan."""
    with FULL.open("w", encoding="utf-8") as full:
        done = subprocess.run(
            [sys.executable, "-m", "solver", *words],
            stdout=full,
            stderr=subprocess.PIPE,
            cwd=ROOT,
            encoding="utf-8",
            check=False,
        )
    assert done.returncode == 2
    assert "This is a bug" not in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(not FULL.exists(), reason="needs /dev/full")
def test_a_model_that_cannot_be_written(capsys: pytest.CaptureFixture[str]) -> None:
    """Tests that the path is named where the model cannot be exported."""
    ran = run(capsys, "solve", "quickstart-7b", "--export-model", FULL)
    assert ran.status == 2
    assert ran.err.startswith("/dev/full: ")


def test_a_model_refused_before_the_search(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests that a file that cannot be opened is told first, and none is left."""

    def refuse(*_: object, **__: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("solver.cli.solve.Path.open", refuse)
    ran = run(capsys, "solve", "nonsense", "--export-model", tmp_path / "m.txt")
    assert ran.status == 2
    assert "m.txt: the file cannot be written: Read-only file system" in ran.err
    assert list(tmp_path.iterdir()) == []
