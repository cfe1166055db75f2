"""Tests that a calibration of one's own says only what the model can use."""

from __future__ import annotations

from pathlib import Path

import pytest

from solver.catalog.calibration_checks import check_calibration, generations_of
from solver.catalog.load import load_catalog
from solver.errors import Issue
from tests.catalog.small import write
from tests.planning.jobs import catalog


def faults(folder: Path, text: str) -> list[Issue]:
    """Return what is wrong with a calibration over the shipped one."""
    write(folder, "calibration.yaml", text)
    return list(check_calibration(load_catalog([folder], environment={})))


def test_the_shipped_one_is_right() -> None:
    """Tests that nothing is wrong with the shipped calibration."""
    assert list(check_calibration(catalog())) == []


@pytest.mark.parametrize(
    ("text", "code", "path", "place", "hint"),
    [
        ("generation: {}", "unknown-key", "generation", "1:1", "generations"),
        ("generations: 5", "wrong-type", "generations", "1:14", None),
        ("common: []", "wrong-type", "common", "1:1", None),
        (
            "generations:\n  hopper: {gemm_16bit: 7}",
            "out-of-range",
            "generations.hopper.gemm_16bit",
            "2:24",
            None,
        ),
        (
            "generations:\n  hopper: {gem_16bit: 0.7}",
            "unknown-key",
            "generations.hopper.gem_16bit",
            "2:12",
            "gemm_16bit",
        ),
        (
            "generations: {mine: {attention@2024: -1}}",
            "out-of-range",
            "generations.mine.attention@2024",
            "1:38",
            None,
        ),
        ("generations: {mine: 3}", "wrong-type", "generations.mine", "1:21", None),
        ("common: {hbm: high}", "wrong-type", "common.hbm", "1:15", None),
        ("pcie: {bus_2: 0}", "out-of-range", "pcie.bus_2", "1:15", None),
        (
            "reliability: {restart_s: true}",
            "wrong-type",
            "reliability.restart_s",
            "1:26",
            None,
        ),
        (
            "spread: {megatron dense: {sigma: 0}}",
            "out-of-range",
            "spread.megatron dense.sigma",
            "1:34",
            None,
        ),
        (
            "covered: {mine: {megatron dense bf16: many}}",
            "wrong-type",
            "covered.mine.megatron dense bf16",
            "1:39",
            None,
        ),
        ("covered: {mine: 8}", "wrong-type", "covered.mine", "1:17", None),
        (
            "generations: {mine: {compute_capability: 9}}",
            "wrong-type",
            "generations.mine.compute_capability",
            "1:42",
            None,
        ),
    ],
)
def test_faults(
    tmp_path: Path, text: str, code: str, path: str, place: str, hint: str | None
) -> None:
    """Tests that each fault is told at its line."""
    (issue,) = faults(tmp_path, text + "\n")
    assert (issue.code, issue.path, issue.hint) == (code, path, hint)
    assert issue.where == f"{tmp_path}/calibration.yaml:{place}"


def test_an_entry_of_ones_own_is_welcome(tmp_path: Path) -> None:
    """Tests that a right entry is no fault, and that its generation is known."""
    text = "generations: {mine: {gemm_16bit: 0.5, attention: 0.4, source: measured}}\n"
    assert faults(tmp_path, text) == []
    found = load_catalog([tmp_path], environment={}).calibration
    assert {"mine", "hopper", "default"} <= generations_of(found)
    assert generations_of({"generations": 5}) == set()
