"""Tests that the benchmarks still run; how fast they are is not tested."""

import subprocess
import sys

from solver.scenario.gallery import shipped_names
from tests.benchmarks.__main__ import ROOT
from tests.benchmarks.registry import BENCHMARKS

PHASES = ("import", "catalog load", "scenario load", "candidates", "solve", "report")


def test_scenarios_exist() -> None:
    """Tests that every benchmark is a shipped scenario."""
    assert {benchmark.scenario for benchmark in BENCHMARKS} <= set(shipped_names())


def test_limits_grow_with_the_machine() -> None:
    """Tests that the limit of the quickstart is relative to a bare import."""
    quickstart = BENCHMARKS[0]
    assert quickstart.limit_s(1.0) == 2.0
    assert quickstart.limit_s(2.0) == 3.5


def test_one_command_prints_the_phases() -> None:
    """Tests that the command prints each phase, the whole and the memory."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks", "quickstart-7b", "--repeats", "1"],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for phase in (*PHASES, "whole process", "peak memory", "bare import"):
        assert phase in done.stdout
