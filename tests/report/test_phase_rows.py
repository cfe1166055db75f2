"""Tests of the page of phases."""

from __future__ import annotations

from solver.planning.phases import plan_phases
from solver.report.as_table import render
from solver.report.phase_rows import answer_page
from tests.planning.jobs import catalog
from tests.planning.phased import apart, phased


def shown() -> str:
    """The page of two phases in two regions."""
    return render(answer_page(apart()[1]), width=120)


def test_the_headline_counts_phases_and_leases() -> None:
    """Tests the first line: how many, what it costs, how it is known."""
    first = shown().splitlines()[0]
    assert first.startswith("Run 2 phases on 2 leases: $")
    assert first.endswith("cheapest, proved optimal")


def test_there_is_a_row_a_phase_lease_and_move() -> None:
    """Tests names, servers and places of the grids."""
    text = shown()
    assert "pre-train  8 A100 SXM 80GB" in text
    assert "extend     8 H100 SXM 80GB" in text
    assert "Leases, each billed once" in text
    assert "Moves between regions" in text
    assert "not known" in text


def test_totals_and_warnings_are_there() -> None:
    """Tests the joined figures and what is to be known of them."""
    text = shown()
    for label in ("moving checkpoints", "bringing data", "90th percentile", "at 90%"):
        assert label in text
    assert "Checkpoints are taken to move between regions at 10 Gb/s" in text
    assert text.count("Stock is not known") <= 1


def test_a_chain_without_moves_has_no_grid_of_them() -> None:
    """Tests the page of one lease."""
    result = plan_phases(phased([{"name": "only"}]), catalog())
    text = render(answer_page(result), width=120)
    assert "Run 1 phase on 1 lease" in text
    assert "Moves between regions" not in text


def test_no_plan_is_a_page_too() -> None:
    """Tests that the lattices of phases do not get in the way of the explanation."""
    result = plan_phases(phased(constraints={"budget": 30}), catalog())
    text = render(answer_page(result), width=120)
    assert "With all else as it is, the least is $" in " ".join(text.split())
    assert "--set constraints.budget=" in text
