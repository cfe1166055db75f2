"""The gate: predictions of a fixed set against those that were accepted last."""

import pytest

from solver.accuracy.report import accuracy_report
from solver.catalog.load import load_catalog
from tests.project.source import tool

TOLERANCE = 1e-3


def test_predictions_are_those_accepted() -> None:
    """Tests that no prediction changes unseen; prints old, new and measured."""
    gate = tool("accept_predictions")
    old = gate.accepted()
    rows = gate.chosen(accuracy_report(None, load_catalog(())))
    assert len(rows) > 200
    keys = {(o.metric, o.id) for o in rows}
    assert keys == set(old), "accept with tools/accept_predictions.py"
    changed = []
    for o in rows:
        before = old[o.metric, o.id]
        if o.predicted != pytest.approx(float(before["predicted"]), rel=TOLERANCE):
            measured = before["measured"] or "nothing"
            told = f"{before['predicted']} -> {o.predicted:.6g} {o.unit}"
            changed.append(f"{o.id}: {told}, measured {measured}")
    assert not gate.flips(old, rows), "accept with tools/accept_predictions.py --flips"
    assert not changed, "\n".join(["tools/accept_predictions.py accepts:", *changed])


def test_a_flip_is_told() -> None:
    """Tests that a layout that no longer fits is named."""
    gate = tool("accept_predictions")
    rows = gate.chosen(accuracy_report(None, load_catalog(())))
    one = next(o for o in rows if o.verdict == "impossible")
    key = ("memory", one.id)
    before = {key: {"verdict": "tight"}}
    assert gate.flips(before, [one]) == [f"{one.id}: tight -> impossible"]
    assert gate.flips({key: {"verdict": "impossible"}}, [one]) == []
