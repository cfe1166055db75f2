"""What whole runs reached of the predicted speed."""

from solver.accuracy.practice import reached
from solver.accuracy.scoring import Outcome


def run(ratio: float, gpu: str = "h100", quality: str = "good") -> Outcome:
    """A run whose prediction is so much of what it took."""
    return Outcome(
        id="r",
        source="s",
        metric="run",
        unit="GPU-h",
        measured=1000.0,
        predicted=1000.0 * ratio,
        quality=quality,
        labels={"gpu": gpu, "class": "pretraining"},
        assumed={},
        parts={},
        layout={},
    )


def test_quartiles_of_predicted_over_actual() -> None:
    """Tests all runs, then each GPU; the quartiles are those of the ratios."""
    found = reached([run(0.4), run(0.5), run(0.6), run(0.9, "a100")])
    assert [(f.gpu, f.runs) for f in found] == [("all", 4), ("a100", 1), ("h100", 3)]
    h100 = found[2]
    assert (h100.low, h100.median, h100.high) == (0.45, 0.5, 0.55)


def test_only_good_runs_count() -> None:
    """Tests that suspect runs and other measurements are no example to follow."""
    assert reached([run(0.1, quality="suspect")]) == []
