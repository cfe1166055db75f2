"""Scores: errors by group, fits against out of memory, and regret."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from solver.spread import LAUNCH_BOUND_MFU

__all__ = [
    "FitCounts",
    "GroupScore",
    "Interval",
    "Outcome",
    "Regret",
    "fit_counts",
    "group_scores",
    "regrets",
    "score",
    "time_family",
]

GOOD = "good"
FITS_BELOW = 0.90
"""Share of usable memory up to which a layout is said to fit; tight above."""

RELIABLE_MFU = LAUNCH_BOUND_MFU
"""Runs below this measured MFU are bound by the host and by latency."""

LAUNCH_BOUND_SHARE = 0.10
"""Share of a step that the host adds, from which on launches decide between layouts."""

DIMENSIONS = (
    "quality",
    "class",
    "sp",
    "framework",
    "kind",
    "precision",
    "gpu",
    "source",
)
"""What groups are made by; ``class`` are the families that have a common bar."""


@dataclass(frozen=True, slots=True)
class Interval:
    """The upper end of what is predicted of one step, and whose spread it rests on."""

    p90_s: float
    software: str
    """Framework and kind of run."""
    generation: str


@dataclass(frozen=True)
class Outcome:
    """One measurement and its prediction."""

    id: str
    source: str
    metric: str
    """step_time | memory | run."""
    unit: str
    measured: float | None
    predicted: float
    quality: str
    labels: Mapping[str, str]
    """What it is grouped by: gpu, precision, kind, framework, class."""
    assumed: Mapping[str, str]
    parts: Mapping[str, float]
    layout: Mapping[str, int]
    mfu: float | None = None
    """Measured model FLOP/s over the peak."""
    capacity: float | None = None
    needed: float | None = None
    """What the card must have, in measurements of memory; None: as predicted."""
    fits: bool | None = None
    """Whether it ran, in measurements of memory."""
    choice: tuple[object, ...] = ()
    """What runs share that differ in layout only."""
    interval: Interval | None = None
    """Of step times: up to where nine of ten are predicted to end."""

    @property
    def error_pct(self) -> float | None:
        """Predicted over measured - 1, per cent."""
        if not self.measured:
            return None
        return 100.0 * (self.predicted / self.measured - 1.0)

    @property
    def verdict(self) -> str | None:
        """fits, tight or impossible, in measurements of memory."""
        if self.capacity is None:
            return None
        needed = self.predicted if self.needed is None else self.needed
        share = needed / self.capacity
        if share <= FITS_BELOW:
            return "fits"
        return "tight" if share <= 1.0 else "impossible"

    def as_dict(self) -> dict[str, Any]:
        """The row for ``--json`` and ``--csv``."""
        return {
            "id": self.id,
            "source": self.source,
            "metric": self.metric,
            "unit": self.unit,
            "measured": self.measured,
            "predicted": self.predicted,
            "predicted_p90": self.interval.p90_s if self.interval else None,
            "error_pct": self.error_pct,
            "quality": self.quality,
            **self.labels,
            "mfu": self.mfu,
            "fits": self.fits,
            "verdict": self.verdict,
            "needed": self.needed,
            "capacity": self.capacity,
            "parts": dict(self.parts),
            "assumed": dict(self.assumed),
        }


@dataclass(frozen=True, slots=True)
class GroupScore:
    """Errors of one group; percentages."""

    metric: str
    by: str
    value: str
    n: int
    mape: float
    median_ape: float
    bias: float
    p90: float

    def as_dict(self) -> dict[str, Any]:
        """The group for ``--json``."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class FitCounts:
    """How often runs of a kind were called fitting, tight and impossible."""

    rows: str
    """good | all: which rows are counted."""
    measured: str
    """ran | out_of_memory."""
    fits: int
    tight: int
    impossible: int

    @property
    def n(self) -> int:
        """Runs counted."""
        return self.fits + self.tight + self.impossible

    def as_dict(self) -> dict[str, Any]:
        """The line for ``--json``."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Regret:
    """How much slower the layouts are that the model would pick, per cent."""

    rows: str
    """compute_bound | launch_bound | nanotron."""
    groups: int
    mean: float
    median: float
    worst: float
    best_picked: int
    """Groups in which the fastest layout is picked."""

    def as_dict(self) -> dict[str, Any]:
        """The line for ``--json``."""
        return asdict(self)


def score(metric: str, by: str, value: str, ratios: Sequence[float]) -> GroupScore:
    """Scores of predicted over measured; bias is the median less 1, in per cent."""
    array = np.asarray(ratios, dtype=float)
    error = 100.0 * np.abs(array - 1.0)
    return GroupScore(
        metric=metric,
        by=by,
        value=value,
        n=len(array),
        mape=float(error.mean()),
        median_ape=float(np.median(error)),
        bias=float(100.0 * (np.median(array) - 1.0)),
        p90=float(np.percentile(error, 90)),
    )


def group_scores(outcomes: Iterable[Outcome]) -> list[GroupScore]:
    """Scores by metric: of all good rows, then by each dimension.

    Only good rows count, but under ``quality``.
    """
    ratios: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for outcome in outcomes:
        if outcome.measured is None:
            continue
        ratio = outcome.predicted / outcome.measured
        ratios[outcome.metric, "quality", outcome.quality].append(ratio)
        if outcome.quality != GOOD:
            continue
        ratios[outcome.metric, "all", "all"].append(ratio)
        ratios[outcome.metric, "source", outcome.source].append(ratio)
        for value, other in _both_ways(outcome).items():
            ratios[outcome.metric, "sp", value].append(other)
        for name, value in outcome.labels.items():
            ratios[outcome.metric, name, value].append(ratio)
    order = {name: i for i, name in enumerate(("all", *DIMENSIONS))}
    keys = sorted(ratios, key=lambda k: (_METRICS.index(k[0]), order[k[1]], k[2]))
    return [score(*key, ratios[key]) for key in keys]


OTHER_WAY = "with_sp_the_other_way"
"""Part of a memory prediction: GiB with sequence parallelism the other way."""


def _both_ways(outcome: Outcome) -> dict[str, float]:
    """Ratios with sequence parallelism as assumed and not, where it is not stated."""
    other = outcome.parts.get(OTHER_WAY)
    if other is None or not outcome.measured:
        return {}
    ratios = [outcome.predicted / outcome.measured, other / outcome.measured]
    better = min(ratios, key=lambda ratio: abs(ratio - 1.0))
    names = ("not stated: as assumed", "not stated: the other way")
    return {
        **dict(zip(names, ratios, strict=True)),
        "not stated: the better": better,
    }


_METRICS = ("step_time", "memory", "run")


def fit_counts(outcomes: Iterable[Outcome]) -> list[FitCounts]:
    """The table of what ran and what did not against what was predicted."""
    counts: dict[tuple[str, str], dict[str, int]] = {}
    for rows in (GOOD, "all"):
        for measured in ("ran", "out_of_memory"):
            counts[rows, measured] = {"fits": 0, "tight": 0, "impossible": 0}
    for outcome in outcomes:
        verdict = outcome.verdict
        if verdict is None or outcome.fits is None or outcome.quality == "exclude":
            continue
        measured = "ran" if outcome.fits else "out_of_memory"
        counts["all", measured][verdict] += 1
        if outcome.quality == GOOD:
            counts[GOOD, measured][verdict] += 1
    return [
        FitCounts(rows, measured, count["fits"], count["tight"], count["impossible"])
        for (rows, measured), count in counts.items()
    ]


def time_family(framework: str, gpu: str, *, moe: bool, mfu: float) -> str:
    """The family of step times that has a common bar of accuracy."""
    if mfu < RELIABLE_MFU:
        return "below 15 % MFU"
    if framework != "megatron":
        return "plain stacks"
    if moe:
        return "tuned, MoE"
    new = gpu.startswith(("b200", "b300", "gb200", "gb300"))
    return "tuned, Blackwell" if new else "tuned, dense"


def regrets(outcomes: Iterable[Outcome]) -> list[Regret]:
    """Regret over good runs that differ in layout only.

    Runs that share everything but the layout make a group; the layout with the least
    predicted time is picked, and its measured time compared with the best one's.
    """
    groups: dict[tuple[object, ...], list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        if outcome.metric == "step_time" and outcome.quality == GOOD:
            groups[outcome.choice].append(outcome)
    found: dict[str, list[float]] = defaultdict(list)
    for members in groups.values():
        times = _by_layout(members)
        if len(times) < 2:
            continue
        picked = min(times.values(), key=lambda pair: pair[1])[0]
        best = min(measured for measured, _ in times.values())
        found[_family(members)].append(100.0 * (picked / best - 1.0))
    return [
        Regret(
            rows=name,
            groups=len(values),
            mean=float(np.mean(values)),
            median=float(np.median(values)),
            worst=float(np.max(values)),
            best_picked=int(np.sum(np.asarray(values) < 1e-9)),
        )
        for name, values in sorted(found.items())
    ]


def _by_layout(members: list[Outcome]) -> dict[object, tuple[float, float]]:
    """Mean measured time and predicted time of each distinct layout."""
    repeats: dict[object, list[Outcome]] = defaultdict(list)
    for outcome in members:
        repeats[tuple(sorted(outcome.layout.items()))].append(outcome)
    return {
        layout: (
            float(np.mean([o.measured for o in same if o.measured])),
            same[0].predicted,
        )
        for layout, same in repeats.items()
    }


def _family(members: list[Outcome]) -> str:
    """Which regret a group counts to."""
    if members[0].labels["framework"] == "nanotron":
        return "nanotron"
    slow = max(outcome.mfu or 0.0 for outcome in members) < RELIABLE_MFU
    ends = [
        min(members, key=lambda o: o.predicted),
        min(members, key=lambda o: o.measured or float("inf")),
    ]
    waits = max(o.parts.get("overhead", 0.0) / o.predicted for o in ends)
    return "launch_bound" if slow or waits > LAUNCH_BOUND_SHARE else "compute_bound"
