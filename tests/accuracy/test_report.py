"""Tests of predictions and scores of whole tables."""

from pathlib import Path

import numpy as np
import pytest

from solver.accuracy.report import AccuracyReport, accuracy_report
from solver.catalog.load import load_catalog
from tests.accuracy.tables import STEP, without, write_table

CATALOG = load_catalog(())


@pytest.fixture(scope="module")
def shipped() -> AccuracyReport:
    """Return the report on the shipped tables."""
    return accuracy_report(None, CATALOG)


def test_shipped_rows_are_predicted_or_skipped(shipped: AccuracyReport) -> None:
    """Tests that no row is lost, and that good step times are nearly all predicted."""
    good = [o for o in shipped.outcomes if o.metric == "step_time"]
    assert sum(o.quality == "good" for o in good) >= 3500
    ids = {o.id for o in shipped.outcomes} | {s.id for s in shipped.skipped}
    assert len(ids) >= 3835 + 108
    assert all(s.reason for s in shipped.skipped)


def test_parts_add_up(shipped: AccuracyReport) -> None:
    """Tests that the parts of each step are the step."""
    for one in shipped.outcomes:
        if one.metric == "step_time":
            assert sum(one.parts.values()) == pytest.approx(one.predicted)
            assert np.isfinite(one.predicted)


def test_tuned_stacks_are_predicted(shipped: AccuracyReport) -> None:
    """Tests that errors of the families with a bar stay where they are."""
    found = {(g.metric, g.by, g.value): g for g in shipped.groups}
    assert found["step_time", "class", "tuned, dense"].median_ape < 9.0
    assert found["step_time", "class", "tuned, Blackwell"].median_ape < 10.0
    assert found["step_time", "class", "tuned, MoE"].median_ape < 15.0
    assert found["memory", "framework", "megatron"].median_ape < 4.0
    assert found["memory", "class", "sp stated or without effect"].median_ape < 6.0
    assert found["memory", "class", "sp not stated"].median_ape < 8.5
    assert found["memory", "sp", "not stated: the better"].median_ape < 6.0


def test_runs_that_ran_are_not_called_impossible(shipped: AccuracyReport) -> None:
    """Tests the confusion of what ran and what did not."""
    lines = {(c.rows, c.measured): c for c in shipped.fits}
    ran = lines["good", "ran"]
    assert ran.n > 1400
    assert ran.impossible / ran.n < 0.02
    failed = lines["good", "out_of_memory"]
    assert failed.fits / failed.n <= 0.05


def test_printed_peaks_are_no_more_than_needed(shipped: AccuracyReport) -> None:
    """Tests that allocated or first stages' bytes stay below what the card needs."""
    sized = [o for o in shipped.outcomes if o.metric == "memory"]
    assert all(o.needed and o.predicted <= o.needed * (1 + 1e-9) for o in sized)
    assert sum(o.predicted < 0.999 * (o.needed or 0.0) for o in sized) > 1000


def test_worst_are_ordered(shipped: AccuracyReport) -> None:
    """Tests that the largest misses come first, whichever way they miss."""
    worst = shipped.worst(20)
    misses = [abs(np.log(o.predicted / (o.measured or 1.0))) for o in worst]
    assert len(worst) == 20
    assert misses == sorted(misses, reverse=True)


def test_order_of_rows_changes_nothing(tmp_path: Path) -> None:
    """Tests that predictions do not depend on what they are computed with."""
    rows = [
        STEP,
        {**STEP, "id": "run-2", "tp": "2", "dp": "4"},
        {**STEP, "id": "run-3", "mbs": "2"},
    ]
    one = accuracy_report([write_table(tmp_path / "a.csv", *rows)], CATALOG)
    other = accuracy_report([write_table(tmp_path / "b.csv", *rows[::-1])], CATALOG)
    times = {o.id: o.predicted for o in one.outcomes}
    assert times == {o.id: o.predicted for o in other.outcomes}
    assert len(set(times.values())) == 3
    (regret,) = one.regret
    assert regret.groups == 1


def test_junk_in_any_cell_is_survived(tmp_path: Path) -> None:
    """Tests that no cell of a row can stop the others."""
    junk = ("", "abc", "-1", "0", "1e300", "nan", "0.5", "999999999", '"', "🙂")
    rows = [
        {**STEP, "id": f"{column}={value}", column: value}
        for column in without(STEP)
        if column != "id"
        for value in junk
        if value != '"'
    ]
    report = accuracy_report([write_table(tmp_path / "junk.csv", *rows)], CATALOG)
    found = [o.id for o in report.outcomes] + [s.id for s in report.skipped]
    assert sorted(found) == sorted(row["id"] for row in rows)
    assert all(np.isfinite(o.predicted) and o.predicted > 0 for o in report.outcomes)


def test_memory_both_ways(tmp_path: Path) -> None:
    """Tests that memory is given with sequence parallelism both ways where unknown."""
    cells = {
        **without(STEP, "sp", "step_time_s"),
        "tp": "4",
        "dp": "2",
        "peak_memory_gib": "40",
    }
    cells.pop("step_time_s")
    report = accuracy_report([write_table(tmp_path / "m.csv", cells)], CATALOG)
    (one,) = report.outcomes
    assert one.metric == "memory"
    assert one.fits is True
    assert one.parts["with_sp_the_other_way"] > one.predicted
