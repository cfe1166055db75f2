"""Tests of scores, counts of fits, and regret."""

import pytest

from solver.accuracy.scoring import (
    Outcome,
    fit_counts,
    group_scores,
    regrets,
    score,
)

LABELS = {
    "gpu": "a100-sxm-80gb",
    "precision": "bf16",
    "kind": "dense",
    "framework": "megatron",
    "class": "tuned, dense",
}


def outcome(
    predicted: float, measured: float | None = 1.0, **fields: object
) -> Outcome:
    """Return one outcome."""
    values = {
        "id": "x",
        "source": "s",
        "metric": "step_time",
        "unit": "s",
        "measured": measured,
        "predicted": predicted,
        "quality": "good",
        "labels": LABELS,
        "assumed": {},
        "parts": {},
        "layout": {"tp": 1},
        "mfu": 0.4,
        **fields,
    }
    return Outcome(**values)  # type: ignore[arg-type]


def test_scores_by_hand() -> None:
    """Tests mean, median, bias and 90th percentile of four ratios."""
    found = score("step_time", "all", "all", [0.9, 1.0, 1.1, 1.4])
    assert found.n == 4
    assert found.mape == pytest.approx(15.0)
    assert found.median_ape == pytest.approx(10.0)
    assert found.bias == pytest.approx(5.0)
    assert found.p90 == pytest.approx(31.0)


def test_only_good_rows_count() -> None:
    """Tests that suspect rows are scored by quality alone."""
    rows = [outcome(1.1), outcome(9.0, quality="suspect")]
    groups = {(g.by, g.value): g for g in group_scores(rows)}
    assert groups["all", "all"].n == 1
    assert groups["all", "all"].mape == pytest.approx(10.0)
    assert groups["quality", "suspect"].mape == pytest.approx(800.0)
    assert groups["gpu", "a100-sxm-80gb"].n == 1


@pytest.mark.parametrize(
    ("predicted", "verdict"),
    [(72.0, "fits"), (72.1, "tight"), (80.0, "tight"), (80.1, "impossible")],
)
def test_fit_classes(predicted: float, verdict: str) -> None:
    """Tests the classes at 0.90 and 1.0 of usable memory."""
    one = outcome(predicted, None, metric="memory", capacity=80.0, fits=False)
    assert one.verdict == verdict
    (line,) = [c for c in fit_counts([one]) if c.rows == "good" and c.n]
    assert line.measured == "out_of_memory"
    assert getattr(line, verdict) == 1


def test_what_is_needed_decides_on_fitting() -> None:
    """Tests that the verdict is on what the card must have, the error on the peak."""
    one = outcome(70.0, 70.0, metric="memory", capacity=80.0, needed=75.0)
    assert (one.error_pct, one.verdict) == (0.0, "tight")
    assert one.as_dict()["needed"] == 75.0


def test_regret_of_three_layouts() -> None:
    """Tests that regret is how much slower the layout predicted fastest is."""
    rows = [
        outcome(2.0, 1.00, layout={"tp": 1}),
        outcome(1.0, 1.10, layout={"tp": 2}),
        outcome(3.0, 1.50, layout={"tp": 4}),
    ]
    (found,) = regrets(rows)
    assert found.rows == "compute_bound"
    assert found.mean == pytest.approx(10.0)
    assert found.best_picked == 0
    (slow,) = regrets([outcome(1.0, mfu=0.1), outcome(2.0, mfu=0.1, layout={"tp": 2})])
    assert (slow.rows, slow.mean, slow.best_picked) == ("launch_bound", 0.0, 1)
    waits = {"parts": {"overhead": 0.2}}
    (host,) = regrets([outcome(1.0, **waits), outcome(2.0, layout={"tp": 2})])
    assert host.rows == "launch_bound"


def test_repeats_are_one_layout() -> None:
    """Tests that a layout measured twice is no choice."""
    assert regrets([outcome(1.0, 1.0), outcome(1.0, 1.2)]) == []


def test_sequence_parallelism_both_ways() -> None:
    """Tests that rows that don't state it are scored both ways and by the better."""
    row = outcome(
        90.0, 100.0, metric="memory", parts={"with_sp_the_other_way": 102.0}, fits=True
    )
    errors = {g.value: g.mape for g in group_scores([row]) if g.by == "sp"}
    assert errors == {
        "not stated: as assumed": pytest.approx(10.0),
        "not stated: the other way": pytest.approx(2.0),
        "not stated: the better": pytest.approx(2.0),
    }
