"""Predicting cases, those that differ in their layout only all at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from solver.accuracy.cases import Case
from solver.performance.inputs import Layouts, Memory
from solver.performance.memory import peak_memory
from solver.performance.step_time import mfu, step_time
from solver.units import GIB

__all__ = ["Prediction", "predict"]

PRINT_FIRST_STAGE = ("nanotron",)
"""Classes whose printed peak is that of the first rank, on the first stage."""


@dataclass
class Prediction:
    """What the model says of one case; None where it was not asked."""

    step_time_s: float | None = None
    parts_s: Mapping[str, float] = field(default_factory=dict)
    measured_mfu: float | None = None
    peak_memory_gib: float | None = None
    """What the run would print."""
    other_memory_gib: float | None = None
    """With sequence parallelism the other way, where the row does not say."""
    needed_memory_gib: float | None = None
    """What the card must have: of the fullest stage, fragmentation included."""


def predict(cases: Sequence[Case]) -> list[Prediction]:
    """The predictions of all cases, in their order."""
    found = [Prediction() for _ in cases]
    with np.errstate(all="ignore"):  # absurd cells end as no finite prediction
        _fill_in(cases, found)
    return found


def _fill_in(cases: Sequence[Case], found: list[Prediction]) -> None:
    """Fill in all predictions."""
    timed = [i for i, c in enumerate(cases) if c.measured.step_time_s is not None]
    for group in _alike(timed, cases, _time_key):
        _predict_times([cases[i] for i in group], [found[i] for i in group])
    sized = [i for i, c in enumerate(cases) if c.measured.fits is not None]
    for group in _alike(sized, cases, _memory_key):
        _predict_memory([cases[i] for i in group], [found[i] for i in group])


def _alike(
    rows: Iterable[int], cases: Sequence[Case], key: Callable[[Case], Hashable]
) -> Iterable[list[int]]:
    """Rows with the same key together."""
    groups: dict[Hashable, list[int]] = defaultdict(list)
    for row in rows:
        groups[key(cases[row])].append(row)
    return groups.values()


def _time_key(case: Case) -> Hashable:
    return (case.time_shape, case.job, case.framework_key, case.hardware_key)


def _memory_key(case: Case) -> Hashable:
    fused = bool(case.hardware.fused_attention)
    return (case.shape, case.job, case.framework_key, fused)


def _predict_times(cases: list[Case], found: list[Prediction]) -> None:
    """Fill in step times of cases with the same key."""
    one = cases[0]
    layouts = Layouts.from_rows([dict(case.layout) for case in cases])
    parts = step_time(one.time_shape, one.job, one.framework, one.hardware, layouts)
    total = parts.total
    measured = np.array([case.measured.step_time_s or np.nan for case in cases])
    scale = np.array([case.batch_scale for case in cases])
    used = mfu(one.shape, one.job, one.hardware, layouts, measured / scale)
    for i, prediction in enumerate(found):
        prediction.step_time_s = float(total[i] * scale[i])
        prediction.parts_s = {
            name: float(seconds[i] * scale[i])
            for name, seconds in parts.parts().items()
        }
        prediction.measured_mfu = float(used[i])


def _predict_memory(cases: list[Case], found: list[Prediction]) -> None:
    """Fill in peak memory of cases with the same key."""
    one = cases[0]
    layouts = Layouts.from_rows([dict(case.layout) for case in cases])
    fused = bool(one.hardware.fused_attention)
    fused = fused and one.framework.constants.get("fused_attention", 1.0) > 0
    other = layouts.with_columns(
        sequence_parallel=(layouts.tp > 1) & ~layouts.sequence_parallel
    )
    first = one.framework.name in PRINT_FIRST_STAGE

    def peak(rows: Layouts, *, printed: bool) -> Memory:
        return peak_memory(
            one.shape,
            one.job,
            one.framework,
            rows,
            fused_attention=fused,
            first_stage_only=printed and first,
        )

    needed = peak(layouts, printed=False).total
    as_assumed, the_other_way = (peak(rows, printed=True) for rows in (layouts, other))
    for i, (case, prediction) in enumerate(zip(cases, found, strict=True)):
        kind = "total" if case.measured.reserved else "allocated"
        prediction.needed_memory_gib = float(needed[i] / GIB)
        prediction.peak_memory_gib = float(getattr(as_assumed, kind)[i] / GIB)
        if "sp" in case.assumed:
            size = getattr(the_other_way, kind)[i]
            prediction.other_memory_gib = float(size / GIB)
