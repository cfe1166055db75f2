"""Whether measured step times end before the predicted 90th percentile.

An interval is worth something if nine of ten measurements end before its upper end.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from solver.accuracy.scoring import GOOD, Interval, Outcome
from solver.hardware import calibration_for
from solver.spread import (
    LAUNCH_BOUND,
    LAUNCH_BOUND_MFU,
    P90_Z,
    kind_of,
    software,
    spread_of,
)

if TYPE_CHECKING:
    from solver.accuracy.cases import Case

__all__ = ["Coverage", "coverage", "interval_of"]


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many measured step times end before their predicted 90th percentile."""

    by: str
    """all | software | generation."""
    value: str
    n: int
    below: float
    """Share of the measurements; nine of ten are wanted."""
    above: float
    """Mean predicted 90th percentile over the prediction: the price of it."""

    def as_dict(self) -> dict[str, Any]:
        """The line for ``--json``."""
        return asdict(self)


def interval_of(
    case: Case, step_s: float, mfu: float, calibration: Mapping[str, Any]
) -> Interval:
    """The interval of a predicted step time; ``mfu`` is the predicted one."""
    gpu, moe = case.machine.gpu, case.shape.is_moe
    spread = spread_of(gpu, case.framework_id, calibration, moe=moe)
    kind = LAUNCH_BOUND if mfu < LAUNCH_BOUND_MFU else kind_of(moe=moe)
    return Interval(
        p90_s=step_s * math.exp(P90_Z * float(spread.at(mfu))),
        software=software(case.framework_id, kind),
        generation=calibration_for(gpu, calibration).key,
    )


def coverage(outcomes: Iterable[Outcome]) -> list[Coverage]:
    """Coverage of all good step times, by framework and kind, and by generation."""
    groups: dict[tuple[str, str], list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        if outcome.interval is None or outcome.quality != GOOD or not outcome.measured:
            continue
        groups["all", "all"].append(outcome)
        groups["software", outcome.interval.software].append(outcome)
        groups["generation", outcome.interval.generation].append(outcome)
    order = ("all", "software", "generation")
    keys = sorted(groups, key=lambda key: (order.index(key[0]), key[1]))
    return [_coverage(*key, groups[key]) for key in keys]


def _coverage(by: str, value: str, members: list[Outcome]) -> Coverage:
    ends = [(o.interval.p90_s, o) for o in members if o.interval is not None]
    below = sum((o.measured or 0.0) <= end for end, o in ends)
    above = sum(end / o.predicted for end, o in ends)
    return Coverage(by, value, len(ends), below / len(ends), above / len(ends))
