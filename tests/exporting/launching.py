"""Runs to launch, stand-ins for the programs that launchers call, and what they say."""

from __future__ import annotations

import csv
import json
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

from solver.exporting import kubernetes, nodes, skypilot, slurm, torchrun
from solver.exporting.output import Files
from solver.exporting.program import Command, Variable
from solver.exporting.run import Run
from solver.plan import Message
from tests.exporting.listed import DATA
from tests.exporting.runs import shipped_plans, shipped_run

PLANS = sorted(shipped_plans())
WRITERS: dict[str, Callable[[Run], Files]] = {
    "torchrun": torchrun.files,
    "slurm": slurm.files,
    "kubernetes": kubernetes.files,
    "skypilot": skypilot.files,
}

NASTY = (
    *("two words", "it's", '"quoted"', "; touch hurt", "$(touch hurt)"),
    *("`touch hurt`", "$HOME", "${HOME", "back\\slash", "*", "a|b", "ünï 中文"),
    *("-x", "#no", "a\nb", ""),
)
"""Words that a shell would do something with."""

SAID = {
    "LR": "3e-4",
    "CHECKPOINT_DIR": "/somewhere else",
    "DATA_PATH": "/data set/part",
}


def command_with(*arguments: str) -> Command:
    """A training program with these arguments, which reads a file of its own."""
    told = Message.of("export.variable.lr")
    return Command(
        program="${CHECKPOINT_DIR}/train it.py",
        arguments=arguments,
        files={"settings.yaml": "a: 1\n"},
        variables=tuple(Variable(name, told) for name in SAID),
    )


@contextmanager
def standing_in(command: Command) -> Iterator[None]:
    """Let every framework's program be this one."""
    with patch.object(nodes, "training_command", lambda _run: command):
        yield


def written(run: Run, launcher: str, *arguments: str) -> Files:
    """The files of a run with a program of these arguments."""
    with standing_in(command_with(*arguments)):
        return WRITERS[launcher](run)


def texts(run: Run, launcher: str, *arguments: str) -> dict[str, str]:
    """The texts alone."""
    return dict(written(run, launcher, *arguments).texts)


def shipped(name: str = "llama3-70b-deadline", **plan: Any) -> Run:
    """A shipped run with fields of its plan changed."""
    run = shipped_run(name)
    return replace(run, plan=replace(run.plan, **plan)) if plan else run


# one line of JSON for each call: who was called, with which words and variables
STUB = """#!/usr/bin/env python3
import json, os, sys
begins = ("NODE_RANK", "MASTER_", "NCCL_", "FI_", "PET_", "TORCH_")
seen = {k: v for k, v in os.environ.items() if k.startswith(begins)}
line = {"program": os.path.basename(sys.argv[0]), "words": sys.argv[1:], "seen": seen}
with open(os.environ["CALLS"], "a", encoding="utf-8") as calls:
    calls.write(json.dumps(line) + "\\n")
sys.exit(int(os.environ.get("EXIT", "0")))
"""

SRUN = """#!/usr/bin/env python3
import os, subprocess, sys
own = sys.argv[1 : sys.argv.index("bash")]
options = dict(word.lstrip("-").partition("=")[::2] for word in own)
with open(os.environ["STEPS"], "a", encoding="utf-8") as steps:
    steps.write(options["nodelist"] + "\\n")
hosts = options["nodelist"].split(",")
assert len(hosts) == int(options["nodes"]) == int(options["ntasks"])
status = 0
for rank, host in enumerate(hosts):
    told = {"SLURM_NODEID": str(rank), "SLURM_STEP_NODELIST": options["nodelist"]}
    done = subprocess.run(sys.argv[sys.argv.index("bash"):], env={**os.environ, **told})
    status = status or done.returncode
sys.exit(status)
"""

SCONTROL = """#!/usr/bin/env bash
if [[ $1 == show && $2 == hostnames ]]; then
  tr ',' '\\n' <<< "$3"
else
  echo "$@" >> "${REQUEUED}"
fi
"""

SINFO = """#!/usr/bin/env bash
cat "${STATES}"
"""


def install(folder: Path, **programs: str) -> Path:
    """Put programs into a folder of their own, and return it."""
    where = folder / "bin"
    where.mkdir(exist_ok=True)
    for name, text in programs.items():
        path = where / name
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
    return where


def put(folder: Path, files: Mapping[str, str]) -> None:
    """Write files as the command does."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def ran(
    folder: Path, words: list[str], where: Path, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run words in a folder with stand-ins before all other programs."""
    told = {
        "PATH": f"{where}{os.pathsep}{os.environ['PATH']}",
        "CALLS": str(folder / "calls.jsonl"),
        "STEPS": str(folder / "steps.txt"),
        "REQUEUED": str(folder / "requeued.txt"),
        "LC_ALL": "C.UTF-8",
        **SAID,
        **environment,
    }
    return subprocess.run(
        words, cwd=folder, env=told, capture_output=True, text=True, timeout=60
    )


def calls(folder: Path) -> list[dict[str, Any]]:
    """What the stand-ins were called with."""
    path = folder / "calls.jsonl"
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def split(words: list[str]) -> tuple[dict[str, str], list[str]]:
    """The options of torchrun, and the program with what follows it."""
    options: dict[str, str] = {}
    rest = list(words)
    while rest and rest[0].startswith("--"):
        name = rest.pop(0)
        options[name] = "" if name == "--standalone" else rest.pop(0)
    return options, rest


@cache
def rows(name: str) -> list[dict[str, str]]:
    """The rows of a list of names that lies in ``data``."""
    lines = (DATA / f"{name}.csv").read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))
