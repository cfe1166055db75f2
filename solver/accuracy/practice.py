"""What labs reached of the predicted speed in whole training runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from solver.accuracy.scoring import GOOD, Outcome

__all__ = ["Reached", "reached"]

EVERY = "all"


@dataclass(frozen=True, slots=True)
class Reached:
    """Predicted over actual GPU-hours of the runs on one kind of GPU."""

    kind: str
    """pretraining | adapters."""
    gpu: str
    runs: int
    low: float
    median: float
    high: float
    """Quartiles of the ratio."""

    def as_dict(self) -> dict[str, Any]:
        """The line for ``--json``."""
        return asdict(self)


def reached(outcomes: Iterable[Outcome]) -> list[Reached]:
    """Quartiles of predicted over actual GPU-hours, of all good runs and by GPU.

    Notes
    -----
    The prediction is of steps alone, with the best layout; what was used holds
    restarts, evaluation and waiting. So a ratio is the least that an ``efficiency`` of
    a scenario may be taken for: a plan adds failures and overheads by itself.
    """
    ratios: dict[tuple[str, str], list[float]] = defaultdict(list)
    for outcome in outcomes:
        if outcome.metric != "run" or outcome.quality != GOOD or not outcome.measured:
            continue
        ratio = outcome.predicted / outcome.measured
        for gpu in (EVERY, outcome.labels["gpu"]):
            ratios[outcome.labels["class"], gpu].append(ratio)
    keys = sorted(
        ratios, key=lambda key: (key[0] != "pretraining", key[1] != EVERY, key)
    )
    return [
        Reached(*key, len(ratios[key]), *map(float, _quartiles(ratios[key])))
        for key in keys
    ]


def _quartiles(values: list[float]) -> Any:
    return np.percentile(values, (25, 50, 75))
