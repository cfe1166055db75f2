"""The global batch in whole sequences; every rounding is told."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, log2

from solver.scenario.reading import Reading
from solver.scenario.schema import BatchSpec
from solver.yaml_source import DataPath

PATH: DataPath = ("workload", "global_batch_size")

PRETRAINING_BATCH_TOKENS = 4_000_000
"""Default from scratch: what Llama 2 and 3 used for a large part of their runs."""
FINE_TUNING_BATCH = 128
"""Default from a checkpoint, sequences: as in the Alpaca recipe."""
OPEN_BATCH_FACTOR = 4
"""Largest batch searched, over the smallest, where no upper limit is written."""
MAX_SEQUENCES = 10**9
GOOD_DIVISOR = 8
"""A batch that no such power of two divides leaves few data-parallel degrees."""
NEAR = 0.05
"""How far a batch that divides better is looked for; the tolerance that is advised."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Allowed and wanted sequences a step."""

    min: int
    target: int
    max: int


def resolve_batch(
    written: int | BatchSpec | None,
    sequence_length: int,
    tokens: float | None,
    *,
    from_scratch: bool,
    reading: Reading,
) -> Batch:
    """Return the batch in whole sequences.

    Parameters
    ----------
    written
        What the scenario says.
    sequence_length
        Tokens a sequence.
    tokens
        Tokens of the whole training, if known: a default batch is not larger.
    from_scratch
        Decides the default.
    reading
        Takes faults and notices.
    """
    if isinstance(written, int):
        return Batch(written, written, written)
    if written is None:
        return _default(sequence_length, tokens, from_scratch, reading)
    if _has_conflict(written, reading):
        return Batch(1, 1, 1)
    if written.tokens is None and written.sequences is None:
        return _between(written, reading)
    return _around(written, sequence_length, reading)


def _default(
    sequence_length: int, tokens: float | None, from_scratch: bool, reading: Reading
) -> Batch:
    """Return the batch where none is written: a power of two, which divides well."""
    sequences = FINE_TUNING_BATCH
    if from_scratch:
        wanted = PRETRAINING_BATCH_TOKENS / sequence_length
        sequences = 2 ** max(0, round(log2(wanted)))
    if tokens is not None:
        most = max(1, int(tokens // sequence_length))
        sequences = min(sequences, 2 ** (most.bit_length() - 1))
    if not reading.is_broken(PATH):
        reading.notice("notice.batch.default", sequences=sequences)
    return Batch(sequences, sequences, sequences)


def _has_conflict(written: BatchSpec, reading: Reading) -> bool:
    """Log that keys of a batch contradict each other; return whether they do."""
    sizes = [k for k in ("tokens", "sequences") if getattr(written, k) is not None]
    limits = [k for k in ("min", "max") if getattr(written, k) is not None]
    before = len(reading.log)
    if len(sizes) == 2:
        message = "say the batch in tokens or in sequences, not both"
        reading.fault("conflicting-keys", message, (*PATH, "sequences"), key=True)
    elif not sizes and not limits:
        message = "expected tokens, sequences, min or max"
        parts = [(*PATH, key) for key in BatchSpec.keys()]  # noqa: SIM118
        reading.fault("missing-key", message, PATH, depends_on=parts)
        return True
    if written.tolerance is not None and limits:
        message = "say a tolerance or limits, not both"
        reading.fault("conflicting-keys", message, (*PATH, "tolerance"), key=True)
    elif written.tolerance is not None and not sizes:
        message = "a tolerance needs the batch that it is around: tokens or sequences"
        reading.fault("missing-key", message, (*PATH, "tolerance"), key=True)
    if None not in (written.min, written.max) and written.min > written.max:  # type: ignore[operator]
        message = f"min {written.min:,} is more than max {written.max:,}"
        reading.fault("contradiction", message, (*PATH, "min"))
    return len(reading.log) > before


def _between(written: BatchSpec, reading: Reading) -> Batch:
    """Return the batch of limits alone; the wanted one is their middle."""
    low = written.min or 1
    high = written.max
    if high is None:
        high = low * OPEN_BATCH_FACTOR
        reading.notice("notice.batch.open", sequences=high)
    return Batch(low, (low + high) // 2, high)


def _around(written: BatchSpec, sequence_length: int, reading: Reading) -> Batch:
    """Return the batch around a size in tokens or sequences."""
    if written.tokens is not None:
        exact = Fraction(written.tokens) / sequence_length
        key = "tokens"
    else:
        exact = Fraction(written.sequences or 1)
        key = "sequences"
    if written.tolerance is not None:
        return _tolerated(exact, written.tolerance, key, reading)
    if exact < 1:
        message = f"a step needs at least one sequence of {sequence_length:,} tokens"
        reading.fault("batch-too-small", message, (*PATH, key))
        return Batch(1, 1, 1)
    target = round(exact)
    if target > MAX_SEQUENCES:
        message = f"the batch is {target:.2e} sequences; expected at most 1e9"
        reading.fault("out-of-range", message, (*PATH, key))
        return Batch(1, 1, 1)
    if target != exact:
        _tell_rounding(written, exact, sequence_length, reading)
    low = target if written.min is None and written.max is None else written.min or 1
    high = target if written.max is None else written.max
    if not low <= target <= max(high, low):
        message = f"{target:,} sequences are not between min {low:,} and max {high:,}"
        reading.fault("contradiction", message, (*PATH, key))
    return Batch(low, target, max(high, low))


def _tell_rounding(
    written: BatchSpec, exact: Fraction, sequence_length: int, reading: Reading
) -> None:
    """Tell that a batch was rounded, and whether the result divides badly."""
    target = round(exact)
    figures = {
        "tokens": written.tokens,
        "sequence_length": sequence_length,
        "exact": float(exact),
        "sequences": target,
        "taken": target * sequence_length,
    }
    free = written.min is not None or written.max is not None
    if free or power_of_two_in(target) >= min(GOOD_DIVISOR, target):
        reading.notice("notice.batch.rounded", **figures)
        return
    near = well_dividing_near(target)
    reading.notice(
        "notice.batch.rounded-badly",
        **figures,
        nearest=near,
        nearest_tokens=near * sequence_length,
    )


def power_of_two_in(number: int) -> int:
    """Return the largest power of two that divides a number."""
    return number & -number


def well_dividing_near(sequences: int) -> int:
    """Return the number within `NEAR` that the largest power of two divides."""
    room = max(1, int(sequences * NEAR))
    near = range(max(1, sequences - room), sequences + room + 1)
    return max(near, key=lambda n: (power_of_two_in(n), -abs(n - sequences)))


def _tolerated(exact: Fraction, tolerance: float, key: str, reading: Reading) -> Batch:
    """Return the whole sequences within a tolerance."""
    share = Fraction(str(tolerance))
    low, high = ceil(exact * (1 - share)), floor(exact * (1 + share))
    if low > high or high < 1:
        message = (
            f"no whole number of sequences is within {tolerance:.2%} of "
            f"{float(exact):,.2f}"
        )
        reading.fault("batch-too-small", message, (*PATH, key))
        return Batch(1, 1, 1)
    low = max(low, 1)
    return Batch(low, min(max(round(exact), low), high), high)
