"""The tools that write spreads and what was measured into the catalog."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from solver.catalog.load import load_catalog
from tests.project.source import tool

SPREAD = tool("residual_spread")


def residuals(lates: Any, **fields: Any) -> list[Any]:
    """Residuals that differ in how late they are."""
    values: dict[str, Any] = {
        "source": "s",
        "generation": "hopper",
        "framework": "megatron",
        "moe": False,
        "mfu": 0.4,
        "weight": 1.0,
        **fields,
    }
    return [SPREAD.Residual(late=float(late), **values) for late in lates]


def test_a_normal_spread_is_found() -> None:
    """Tests that core and tail agree where errors are normal."""
    lates = np.random.default_rng(1).normal(0.0, 0.12, 5000)
    assert SPREAD.late_spread(residuals(lates)) == pytest.approx(0.12, rel=0.05)


def test_a_late_tail_widens_and_an_early_one_does_not() -> None:
    """Tests that the 90th percentile of the late side is covered."""
    lates = np.concatenate([np.zeros(85), np.linspace(0.4, 0.6, 15)])
    sigma = SPREAD.late_spread(residuals(lates))
    assert np.mean(lates <= 1.2816 * sigma) == pytest.approx(0.9, abs=0.02)
    assert SPREAD.late_spread(residuals(-lates)) == SPREAD.LEAST


def test_no_source_dominates() -> None:
    """Tests that rows count by their weight."""
    many = residuals(np.full(100, 0.01), weight=0.01)
    few = residuals(np.full(5, 0.5), source="t")
    assert SPREAD.late_spread([*many, *few]) > 0.3


def test_families_need_enough_runs_and_sources() -> None:
    """Tests which keys are written."""
    some = residuals(np.zeros(9))
    assert SPREAD.spreads(some) == {}
    ten = residuals(np.zeros(10))
    assert set(SPREAD.spreads(ten)) == {"dense", "megatron dense"}
    three = [r for s in "abc" for r in residuals(np.zeros(7), source=s)]
    found = SPREAD.spreads(three)
    assert set(found) == {"dense", "megatron dense", "megatron dense on hopper"}
    assert (found["dense"].runs, found["dense"].sources) == (21, 3)
    slow = [r for s in "abc" for r in residuals(np.zeros(7), source=s, mfu=0.1)]
    assert set(SPREAD.spreads(slow)) == {
        "launch-bound",
        "megatron launch-bound",
        "megatron launch-bound on hopper",
    }


def test_generations_are_known_by_tuned_dense_runs() -> None:
    """Tests that other frameworks do not widen what is known of a GPU."""
    tuned = residuals(np.full(10, 0.05))
    plain = residuals(np.full(50, 0.9), framework="nanotron")
    assert SPREAD.generation_spreads([*tuned, *plain]) == {
        "hopper": pytest.approx(1.4826 * 0.05)
    }


def test_the_block_is_replaced(tmp_path: Path) -> None:
    """Tests that only the block is written anew, and a missing one is told."""
    file = tmp_path / "calibration.yaml"
    file.write_text("a: 1\nspread:\n  old: {sigma: 1}\n\nb: 2\n", encoding="utf-8")
    SPREAD.write_spreads(file, {"dense": SPREAD.Measured(0.1234, 5, 2)})
    wanted = "a: 1\nspread:\n  dense: {sigma: 0.123, runs: 5, sources: 2}\n\nb: 2\n"
    assert file.read_text(encoding="utf-8") == wanted
    file.write_text("a: 1\n", encoding="utf-8")
    with pytest.raises(SystemExit, match="spread"):
        SPREAD.write_spreads(file, {})


def test_what_is_covered_has_not_drifted() -> None:
    """Tests that the catalog names what the shipped measurements cover."""
    covered = tool("write_covered")
    catalog = load_catalog(())
    wanted = covered.covered(covered.measured_cases(catalog))
    assert catalog.calibration["covered"] == wanted, "run tools/write_covered.py"
    assert len(wanted) >= 10
    assert set(wanted) <= set(catalog.gpus)


def test_every_measured_family_exists() -> None:
    """Tests that keys of the spread are made of frameworks, kinds and generations."""
    catalog = load_catalog(())
    kinds = {"dense", "moe", "launch-bound"}
    frameworks, generations = (
        set(catalog.frameworks),
        catalog.calibration["generations"],
    )
    for key, entry in catalog.calibration["spread"].items():
        name, _, generation = key.partition(" on ")
        *framework, kind = name.split(" ")
        assert kind in kinds, key
        assert not framework or framework[0] in frameworks, key
        assert not generation or generation in generations, key
        assert entry["runs"] >= 10
