"""Failures, checkpoints and spare nodes of a scenario, in canonical units."""

from __future__ import annotations

from solver.scenario.range_schema import SparesSpec
from solver.scenario.reading import Reading
from solver.scenario.scenario import MOST_SPARES_TRIED, Failures
from solver.scenario.schema import ScenarioFile
from solver.yaml_source import DataPath

SPARES: DataPath = ("failures", "spares")

MOST_CHOICES = 16
"""Each number of spares is tried with every layout: more would take too long."""


def resolve_failures(file: ScenarioFile, reading: Reading) -> Failures:
    """Return how nodes fail and are replaced."""
    spec = file.failures
    spares = _spares(spec.spares, reading)
    if spares and max(spares) > 0 and not spec.replacement:
        reading.notice("notice.spares.idle", spares=max(spares))
    return Failures(
        gpu_mtbf_s=spec.gpu_mtbf,
        checkpoint_interval_s=spec.checkpoint_interval,
        restart_s=spec.restart,
        replacement_s=spec.replacement,
        spares=spares,
    )


def _spares(
    written: int | tuple[int, ...] | SparesSpec | None, reading: Reading
) -> tuple[int, ...] | None:
    """Return the numbers of spares that are allowed, in order; None: not stated."""
    if written is None or written in ((), SparesSpec()):
        return None
    if isinstance(written, int):
        return (written,)
    if isinstance(written, SparesSpec):
        found = _between(written, reading)
    else:
        found = tuple(sorted(set(written)))
    if len(found) > MOST_CHOICES:
        message = (
            f"{len(found):,} numbers of spares; expected at most {MOST_CHOICES}: name "
            "some of them, as [0, 8, 16]"
        )
        reading.fault("out-of-range", message, SPARES)
    return found


def _between(written: SparesSpec, reading: Reading) -> tuple[int, ...]:
    """Return all numbers from the smallest to the largest."""
    low = written.min or 0
    high = low + MOST_SPARES_TRIED if written.max is None else written.max
    if low > high:
        message = f"min {low:,} is more than max {high:,}"
        reading.fault("contradiction", message, (*SPARES, "min"))
    return tuple(range(low, high + 1))
