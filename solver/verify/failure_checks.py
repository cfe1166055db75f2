"""The check of failures, checkpoints and waits for nodes, by formulas of its own."""

from __future__ import annotations

import math
from collections.abc import Iterator

from solver.units import DAY
from solver.verify.evidence import Evidence
from solver.verify.figures import Figures
from solver.verify.violation import Violation, at_most, figures

LONGEST_STRETCH = 10.0
"""No plan may take more than this many times its work: failures would win."""

INTERVAL_TOLERANCE = 1e-6
"""Relative difference in times that rest on the best interval: its optimum is flat."""

FAILURE_PARTS = ("checkpoints", "failures", "replacement")
"""Parts of the duration that are held against Daly's formula."""


def check_goodput(evidence: Evidence, known: Figures) -> Iterator[Violation]:
    """Failures and checkpoints leave time to work, by Daly's formula in plain Python.

    With M the mean time between failures, d a checkpoint, R a restart and tau the
    plan's interval, ``T = M e^(R/M) (e^((tau + d)/M) - 1) W / tau``; each of the T/M
    failures is followed by the mean wait for a node.
    """
    work, active = known.work_s, known.active_s
    if not (math.isfinite(active) and at_most(work, active)):
        yield Violation("goodput", "failures never let it finish", work, active)
        return
    plan, stated = evidence.plan, evidence.plan.checkpoint_interval_s
    interval = work if stated is None else stated
    is_number = type(interval) in (int, float)
    if not (is_number and 0 < interval <= work * (1 + INTERVAL_TOLERANCE)):
        message = "no interval between checkpoints, s"
        yield Violation("goodput", message, (0, work), interval)
        return
    longest = LONGEST_STRETCH * max(work, interval + known.checkpoint_s)
    if not at_most(active, longest):
        message = "failures stretch it beyond sense, s"
        yield Violation("goodput", message, longest, active)
    yield from _interval(evidence, known, interval)
    waits = known.failures_per_s * float(known.wait.mean_s[0])
    running = active / (1.0 + waits)
    writing = known.checkpoint_s * work / interval
    parts = {"checkpoints": writing, "failures": running - work - writing}
    for name, seconds in parts.items():
        got = plan.duration_parts_days.get(name, math.nan) * DAY
        if not math.isclose(seconds, got, abs_tol=INTERVAL_TOLERANCE * active):
            yield Violation("goodput", f"{name} do not follow, s", seconds, got)
    share = 1.0 - (work + writing) / active
    if not math.isclose(share, plan.lost_share, abs_tol=INTERVAL_TOLERANCE):
        yield Violation("goodput", "lost_share does not follow", share, plan.lost_share)
    held_s = known.paid_fixed_s + known.active_s
    expected = {
        "goodput": known.training_s / held_s,
        "replacement": waits * running / DAY,
    }
    waited = plan.duration_parts_days.get("replacement", math.nan)
    found = {"goodput": plan.goodput, "replacement": waited}
    yield from figures("goodput", expected, found)


def _interval(
    evidence: Evidence, known: Figures, interval: float
) -> Iterator[Violation]:
    """The interval is the one stated, or no other one is better, and gives the time."""
    given = evidence.scenario.failures.checkpoint_interval_s
    kept = evidence.tier.outlives_node
    wanted = known.interval_s
    if given is not None or not kept:
        wanted = min(given or known.work_s, known.work_s) if kept else known.work_s
    if not math.isclose(wanted, interval, rel_tol=INTERVAL_TOLERANCE):
        message = "checkpoint_interval_s does not follow"
        yield Violation("goodput", message, wanted, interval)
    active, expected = known.active_s, _expected_s(known, interval)
    if not math.isclose(expected, active, rel_tol=INTERVAL_TOLERANCE):
        message = "the interval does not give this duration, s"
        yield Violation("goodput", message, active, expected)
    free = kept and given is None
    for other in (0.9 * interval, min(1.1 * interval, known.work_s)) if free else ():
        if _expected_s(known, other) < active * (1 - INTERVAL_TOLERANCE):
            yield Violation("goodput", "another interval is better", other, interval)


def _expected_s(known: Figures, interval_s: float) -> float:
    """Expected seconds of work with checkpoints every ``interval_s``, and waits.

    So many failures as are expected while it runs are each followed by a wait.
    """
    rate, segments = known.failures_per_s, known.work_s / interval_s
    if rate == 0:
        return segments * (interval_s + known.checkpoint_s)
    segment_s = math.expm1(rate * (interval_s + known.checkpoint_s)) / rate
    running = math.exp(rate * known.restart_s) * segment_s * segments
    return running + rate * running * float(known.wait.mean_s[0])
