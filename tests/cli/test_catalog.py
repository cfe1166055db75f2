"""Tests of `gpuplan catalog`."""

from pathlib import Path

import pytest

from tests.catalog.small import write
from tests.cli.running import run


def test_the_shipped_catalog_has_no_fault(capsys: pytest.CaptureFixture[str]) -> None:
    """Tests that warnings about odd prices are no fault."""
    ran = run(capsys, "catalog", "check")
    assert ran.status == 0
    assert "spot is not cheaper" in ran.out


def test_a_fault_is_told_with_its_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Tests that an offer of a server that nobody knows makes the exit status 2."""
    head = "region,server,purchase,usd_per_node_hour,source,as_of\n"
    row = "aws/us-east-1,no-such-server,on_demand,10,me,2026-11\n"
    ran = run(
        capsys, "catalog", "check", write(tmp_path, "offers/mine.csv", head + row)
    )
    assert ran.status == 2
    assert "mine.csv:2:15" in ran.out
