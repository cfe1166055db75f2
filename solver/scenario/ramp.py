"""The batch ramp: whether it reaches the batch, and in which steps."""

from __future__ import annotations

from math import gcd

from solver.scenario.batch import Batch
from solver.scenario.data_schema import BatchRampSpec
from solver.scenario.reading import Reading
from solver.scenario.scenario import Ramp
from solver.yaml_source import DataPath

PATH: DataPath = ("workload", "batch_ramp")
BATCH: DataPath = ("workload", "global_batch_size")

MOST_INCREMENTS = 10_000
"""Each is timed; published ramps have some hundred."""


def resolve_ramp(
    written: BatchRampSpec | None,
    batch: Batch,
    sequence_length: int,
    tokens: float | None,
    reading: Reading,
) -> Ramp | None:
    """Return the ramp; None where there is none, or after logging what is wrong.

    Parameters
    ----------
    written
        What the scenario says.
    batch
        The batch that it leads to.
    sequence_length, tokens
        Of the run; None if the tokens are wrong.
    reading
        Takes faults and notices.
    """
    if written is None:
        return None
    ramp = Ramp(written.start, written.step, written.samples)
    before = len(reading.log)
    if ramp.start >= batch.max:
        message = (
            f"the ramp starts at {ramp.start:,}, which is no less than the batch of "
            f"{batch.max:,}"
        )
        reading.fault("contradiction", message, (*PATH, "from"), depends_on=[BATCH])
    elif (batch.max - ramp.start) // ramp.step > MOST_INCREMENTS:
        message = f"the ramp has more than {MOST_INCREMENTS:,} steps"
        reading.fault("out-of-range", message, (*PATH, "step"), depends_on=[BATCH])
    elif (end := _end(ramp, batch)) is None:
        _refuse(ramp, batch, reading)
    else:
        _tell(ramp, end, reading)
    if tokens is not None and ramp.samples * sequence_length > tokens:
        message = (
            f"the ramp of {ramp.samples:,.0f} sequences is longer than the training "
            f"of {tokens / sequence_length:,.0f}"
        )
        depends = [("workload", "tokens"), ("workload", "sequence_length")]
        reading.fault("contradiction", message, (*PATH, "samples"), depends_on=depends)
    return None if len(reading.log) > before else ramp


def _end(ramp: Ramp, batch: Batch) -> int | None:
    """Return the batch nearest to the wanted one that the ramp reaches, if one does."""
    below = ramp.start + (batch.target - ramp.start) // ramp.step * ramp.step
    near = sorted((below, below + ramp.step), key=lambda b: abs(b - batch.target))
    near = [b for b in near if b > ramp.start and batch.min <= b <= batch.max]
    return near[0] if near else None


def _refuse(ramp: Ramp, batch: Batch, reading: Reading) -> None:
    """Log that the ramp passes over the batch, with the nearest that does not."""
    target = batch.target
    rest = (target - ramp.start) % ramp.step
    starts = [ramp.start + rest - ramp.step, ramp.start + rest]
    ends = [target - rest, target - rest + ramp.step]
    message = (
        f"steps of {ramp.step:,} from {ramp.start:,} pass over the batch of "
        f"{target:,}, which Megatron-LM refuses: take a batch of "
        f"{' or '.join(f'{e:,}' for e in ends if e > ramp.start)}"
    )
    near = " or ".join(str(s) for s in starts if 0 < s < target)
    if near:
        message += f", or start from {near}"
    path = (*PATH, "from")
    reading.fault("not-divisible", message, path, near or None, depends_on=[BATCH])


def _tell(ramp: Ramp, end: int, reading: Reading) -> None:
    """Tell what the ramp means for the layout, and which repair it needs."""
    increments = (end - ramp.start) // ramp.step
    each = ramp.samples / increments
    reading.notice(
        "notice.batch.ramp" if each == int(each) else "notice.batch.ramp.uneven",
        start=ramp.start,
        step=ramp.step,
        end=end,
        increments=increments,
        samples=ramp.samples,
        each=each,
        unit=gcd(ramp.start, ramp.step),
    )
