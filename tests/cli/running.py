"""Running the command line in this process and as a process of its own."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from solver.cli.app import main

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Ran:
    """What a run gave."""

    status: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        """Standard output as JSON, which has to be all of it."""
        return json.loads(self.out)


def run(capsys: pytest.CaptureFixture[str], *words: str | Path) -> Ran:
    """Run the command line in this process."""
    capsys.readouterr()
    status = main([str(word) for word in words])
    captured = capsys.readouterr()
    return Ran(status, captured.out, captured.err)


def run_process(
    *words: str | Path,
    code: str | None = None,
    cwd: Path | None = None,
    **environment: str,
) -> Ran:
    """Run the command line, or some Python code, as a process of its own.

    Parameters
    ----------
    words
        Words after ``gpuplan``.
    code
        Python code to run instead of the command.
    cwd
        Folder to run in.
    environment
        Variables to set.
    """
    command = ["-c", code] if code is not None else ["-m", "solver"]
    done = subprocess.run(
        [sys.executable, *command, *map(str, words)],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr)
