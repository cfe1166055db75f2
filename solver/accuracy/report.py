"""All measurements, predicted and scored: what ``gpuplan accuracy`` shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from solver.accuracy.cases import Case
from solver.accuracy.columns import UnreadColumn
from solver.accuracy.coverage import Coverage, coverage, interval_of
from solver.accuracy.filling import case_from
from solver.accuracy.practice import Reached, reached
from solver.accuracy.predicting import Prediction, predict
from solver.accuracy.runs import run_outcome
from solver.accuracy.scoring import (
    OTHER_WAY,
    FitCounts,
    GroupScore,
    Outcome,
    Regret,
    fit_counts,
    group_scores,
    regrets,
    time_family,
)
from solver.accuracy.tables import (
    Skipped,
    SkippedRowError,
    read_tables,
    unread_columns,
)

if TYPE_CHECKING:
    from solver.catalog.load import Catalog

__all__ = ["AccuracyReport", "accuracy_report"]


@dataclass(frozen=True)
class AccuracyReport:
    """Rows, scores, and what was left out."""

    outcomes: tuple[Outcome, ...]
    groups: tuple[GroupScore, ...]
    fits: tuple[FitCounts, ...]
    regret: tuple[Regret, ...]
    coverage: tuple[Coverage, ...]
    reached: tuple[Reached, ...]
    skipped: tuple[Skipped, ...]
    unread: tuple[UnreadColumn, ...]
    """Columns of the tables that nothing reads."""

    def worst(self, count: int) -> list[Outcome]:
        """The good rows that are missed most, by the logarithm of their ratio."""
        scored = [o for o in self.outcomes if o.measured and o.quality == "good"]
        return sorted(scored, key=_miss, reverse=True)[:count]

    def as_dict(self) -> dict[str, Any]:
        """The object for ``--json``."""
        return {
            "rows": [outcome.as_dict() for outcome in self.outcomes],
            "groups": [group.as_dict() for group in self.groups],
            "fits": [line.as_dict() for line in self.fits],
            "regret": [line.as_dict() for line in self.regret],
            "coverage": [line.as_dict() for line in self.coverage],
            "reached": [line.as_dict() for line in self.reached],
            "skipped": [line.as_dict() for line in self.skipped],
            "unread": [line.as_dict() for line in self.unread],
        }


def _miss(outcome: Outcome) -> float:
    """How many times too long or too short a prediction is."""
    measured = outcome.measured or 1.0
    ratio = outcome.predicted / measured
    return max(ratio, 1.0 / ratio) if ratio > 0 else 0.0


def accuracy_report(paths: Sequence[Path] | None, catalog: Catalog) -> AccuracyReport:
    """Predictions and scores of the tables at ``paths``, or of the shipped ones.

    Raises
    ------
    InputError
        A file cannot be read, or is no table of measurements.
    """
    rows, skipped = read_tables(paths)
    outcomes: list[Outcome] = []
    cases: list[Case] = []
    for row in rows:
        try:
            if row.is_run:
                outcomes.append(run_outcome(row, catalog))
            else:
                cases.append(case_from(row, catalog))
        except SkippedRowError as reason:
            skipped.append(Skipped(row.id, row.source, str(reason), reason.what))
    for case, prediction in zip(cases, predict(cases), strict=True):
        found = _outcomes(case, prediction, catalog.calibration)
        if not found:
            why = "no finite prediction: the GPUs can't reach each other"
            skipped.append(Skipped(case.id, case.source, why))
        outcomes += found
    return AccuracyReport(
        outcomes=tuple(outcomes),
        groups=tuple(group_scores(outcomes)),
        fits=tuple(fit_counts(outcomes)),
        regret=tuple(regrets(outcomes)),
        coverage=tuple(coverage(outcomes)),
        reached=tuple(reached(outcomes)),
        skipped=tuple(skipped),
        unread=tuple(unread_columns(rows)),
    )


def _outcomes(
    case: Case, prediction: Prediction, calibration: Mapping[str, Any]
) -> list[Outcome]:
    """The case's outcomes: its step time, its memory, or both."""
    found = []
    step, memory = prediction.step_time_s, prediction.peak_memory_gib
    if step is not None and case.measured.step_time_s is not None:
        found.append(_time_outcome(case, prediction, step, calibration))
    if memory is not None:
        found.append(_memory_outcome(case, prediction, memory))
    return [o for o in found if o.predicted < float("inf")]


def _time_outcome(
    case: Case, prediction: Prediction, step_s: float, calibration: Mapping[str, Any]
) -> Outcome:
    measured_s, used = case.measured.step_time_s or 0.0, prediction.measured_mfu or 0.0
    choice = (
        case.source,
        case.model,
        case.gpu,
        case.precision,
        case.framework_id,
        case.job,
        case.hardware_key,
        case.layout["nodes"] * case.layout["gpus_per_node"],
        case.batch_scale
        * case.layout["dp"]
        * case.layout["micro_batch"]
        * case.layout["accumulation"],
    )
    return Outcome(
        id=case.id,
        source=case.source,
        metric="step_time",
        unit="s",
        measured=measured_s,
        predicted=step_s,
        quality=case.quality,
        labels=_labels(case, _family(case, prediction)),
        assumed=case.assumed,
        parts=prediction.parts_s,
        layout=case.layout,
        mfu=prediction.measured_mfu,
        choice=choice,
        interval=interval_of(case, step_s, used * measured_s / step_s, calibration),
    )


def _family(case: Case, prediction: Prediction) -> str:
    """Which bar of accuracy a step time is held against."""
    return time_family(
        case.framework_id,
        case.gpu,
        moe=case.shape.is_moe,
        mfu=prediction.measured_mfu or 0.0,
    )


def _memory_outcome(case: Case, prediction: Prediction, peak_gib: float) -> Outcome:
    measured = case.measured.peak_memory_gib
    needed_gib = prediction.needed_memory_gib or peak_gib
    name = "sp stated or without effect"
    if prediction.other_memory_gib is not None:
        name = "sp not stated"
    parts = {}
    if prediction.other_memory_gib is not None:
        parts[OTHER_WAY] = prediction.other_memory_gib
    return Outcome(
        id=case.id,
        source=case.source,
        metric="memory",
        unit="GiB",
        measured=measured,
        predicted=peak_gib if measured else needed_gib,
        needed=needed_gib,
        quality=case.quality,
        labels=_labels(case, name),
        assumed=case.assumed,
        parts=parts,
        layout=case.layout,
        capacity=case.capacity_gib,
        fits=case.measured.fits,
    )


def _labels(case: Case, family: str) -> dict[str, str]:
    return {
        "gpu": case.gpu,
        "precision": case.precision,
        "kind": case.kind,
        "framework": case.framework_id,
        "class": family,
    }
