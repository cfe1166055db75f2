"""Tests that the benchmarks still run; how fast they are is not tested."""

import subprocess
import sys

import pytest

from solver.catalog.load import PARTS
from solver.scenario.gallery import shipped_names
from tests.benchmarks.__main__ import ROOT, show_catalog, show_physics
from tests.benchmarks.registry import BENCHMARKS, CATALOG_LOAD_S, PHYSICS_S

STAGES = ("import", "catalog load", "scenario load", "candidates", "solve", "report")


def test_scenarios_exist() -> None:
    """Tests that every benchmark is a shipped scenario."""
    assert {benchmark.scenario for benchmark in BENCHMARKS} <= set(shipped_names())


def test_limits_grow_with_the_machine() -> None:
    """Tests that the limit of the quickstart is relative to a bare import."""
    quickstart = BENCHMARKS[0]
    assert quickstart.limit_s(1.0) == 2.0
    assert quickstart.limit_s(2.0) == 3.5


def test_one_command_prints_the_stages() -> None:
    """Tests that the command prints each stage, the whole and the memory."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks", "quickstart-7b", "--repeats", "1"],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for stage in (*STAGES, "whole process", "peak memory", "bare import"):
        assert stage in done.stdout


def test_the_catalog_is_timed(capsys: pytest.CaptureFixture[str]) -> None:
    """Tests that each part of the catalog has its line, and the whole its limit."""
    show_catalog(repeats=1)
    printed = capsys.readouterr().out
    for part in (*PARTS, "calibration", "catalog list gpus"):
        assert f"  {part} " in printed
    assert f"(allowed {CATALOG_LOAD_S:.3f} s)" in printed


def test_the_physics_is_timed(capsys: pytest.CaptureFixture[str]) -> None:
    """Tests that memory and step time have their lines, and both together a limit."""
    show_physics(repeats=1)
    printed = capsys.readouterr().out
    for part in ("peak memory", "step time", "both"):
        assert f"  {part} " in printed
    assert f"(allowed {PHYSICS_S:.3f} s)" in printed
