"""Waits for replacements against a simulation, and what spares can do at most."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solver.performance.inputs import FloatArray
from solver.performance.reliability import Goodput, expected_run
from solver.performance.spares import all_in_repair, replacement_wait

HOUR = 3600.0
RUNS = 3_000


@dataclass(frozen=True)
class Case:
    """A run of hours of work, and how it fails."""

    work_h: float
    mtbf_h: float
    replacement_h: float
    checkpoint_s: float = 60.0
    restart_s: float = 600.0
    interval_s: float | None = None
    saved: bool = True
    exponential: bool = False
    """Repairs of exponential length instead of equal ones."""

    def closed_form(self, spares: int) -> Goodput:
        """What the model expects."""
        rate = 1.0 / (self.mtbf_h * HOUR)
        return expected_run(
            self.work_h * HOUR,
            rate,
            self.checkpoint_s,
            self.restart_s,
            self.saved,
            given_interval_s=self.interval_s,
            wait=replacement_wait(rate, self.replacement_h * HOUR, spares),
        )


def simulated(case: Case, spares: int, seed: int = 0) -> FloatArray:
    """Seconds from start to finish of many runs, event by event, (RUNS,).

    A failure loses the segment in hand and sends the node to repair. The run takes the
    spare that is ready first, waits for it, restarts and goes on.
    """
    rng = np.random.default_rng(seed)
    interval = float(case.closed_form(spares).interval_s[0])
    span = interval + case.checkpoint_s
    left = np.full(RUNS, case.work_h * HOUR / interval)  # segments, the last one partly
    now, restart = np.zeros(RUNS), np.zeros(RUNS)
    back = np.zeros((RUNS, spares + 1))  # when each spare is ready; the last: failed
    end = np.full(RUNS, np.nan)
    live = np.arange(RUNS)
    while live.size:
        gap = rng.exponential(case.mtbf_h * HOUR, live.size)
        worked = gap - restart[live]
        # the end is a fraction of a segment: it is saved as whole ones are
        done = worked >= left[live] * span
        end[live[done]] = (now + restart + left * span)[live[done]]
        now[live] += gap
        left[live] -= np.floor(np.maximum(worked, 0.0) / span)
        live = live[~done]
        repair = np.full(live.size, case.replacement_h * HOUR)
        if case.exponential:
            repair = rng.exponential(repair)
        back[live, -1] = now[live] + repair
        ready = np.sort(back[live], axis=1)
        now[live] = np.maximum(now[live], ready[:, 0])
        back[live, :-1] = ready[:, 1:]
        restart[live] = case.restart_s
    return end


CASES = {
    "rare": Case(2_000, mtbf_h=50, replacement_h=12),
    "frequent": Case(1_500, mtbf_h=4, replacement_h=12),
    "spread": Case(1_500, mtbf_h=6, replacement_h=24, exponential=True),
    "given": Case(1_500, mtbf_h=10, replacement_h=8, interval_s=3 * HOUR),
}


@pytest.mark.parametrize("spares", [0, 1, 2, 4])
@pytest.mark.parametrize("name", CASES)
def test_expected_time_is_that_of_a_simulation(name: str, spares: int) -> None:
    """Tests mean and spread of the finish, for equal and for exponential repairs."""
    case = CASES[name]
    ends, run = simulated(case, spares), case.closed_form(spares)
    error = ends.std() / math.sqrt(RUNS)
    expected = float(run.expected_s[0])
    # the simulated run restarts after failures only, the closed form at the start too
    assert abs(ends.mean() - expected) < 4 * error + 0.004 * expected
    if not case.exponential:
        spread = math.sqrt(float(run.variance_s2[0]))
        assert spread == pytest.approx(ends.std(), rel=0.25)


def test_spares_are_what_the_time_is_about() -> None:
    """Tests that a simulation without waits is far from one with them."""
    case = CASES["frequent"]
    without = simulated(case, 0).mean() / simulated(case, 12).mean()
    assert without > 3


def test_a_node_lost_with_its_drives_waits_as_often() -> None:
    """Tests a run that starts anew after each failure, and waits each time."""
    case = Case(20, mtbf_h=15, replacement_h=10, saved=False)
    ends, run = simulated(case, 0), case.closed_form(0)
    error = ends.std() / math.sqrt(RUNS)
    assert abs(ends.mean() - run.expected_s[0]) < 4 * error + 0.03 * ends.mean()
    assert run.replacement_s[0] > 0.3 * run.expected_s[0]


@pytest.mark.parametrize("replacement_h", [40.0, 100.0])
def test_a_short_run_waits_less_than_the_steady_state(replacement_h: float) -> None:
    """Tests that the closed form is on the late side where spares are all ready."""
    case = Case(20, mtbf_h=20, replacement_h=replacement_h)
    for spares in (1, 3):
        assert simulated(case, spares).mean() <= case.closed_form(spares).expected_s[0]


def test_erlang_by_its_sum() -> None:
    """Tests the recursion against ``(a^S/S!) / sum(a^k/k!)``, (2, 9)."""
    load, spares = np.array([[0.3], [7.0]]), np.arange(9)
    terms = load**spares / [math.factorial(k) for k in spares]
    expected = terms / np.cumsum(terms, axis=1)
    assert all_in_repair(load, spares) == pytest.approx(expected, rel=1e-12)


def test_without_spares_each_failure_waits_the_whole_replacement() -> None:
    """Tests the two ends: no spare, and no time of replacement."""
    none = replacement_wait(1e-4, 7200.0, 0)
    assert (float(none.mean_s), float(none.square_s2)) == (7200.0, 7200.0**2)
    for spares in (0, 3):
        assert float(replacement_wait(1e-4, 0.0, spares).mean_s) == 0.0


@given(
    rate=st.just(0.0) | st.floats(1e-12, 1e-2),
    replacement=st.floats(0, 1e7),
    work=st.floats(1e3, 1e8),
    cost=st.floats(0, 1e3),
    interval=st.none() | st.floats(10.0, 1e6),
)
def test_more_spares_never_lengthen_a_run(
    rate: float,
    replacement: float,
    work: float,
    cost: float,
    interval: float | None,
) -> None:
    """Tests that time and its spread fall with each spare, down to a run without."""
    spares = np.arange(20)

    def run(replacement_s: float) -> Goodput:
        wait = replacement_wait(rate, replacement_s, spares)
        return expected_run(
            work, rate, cost, 300.0, given_interval_s=interval, wait=wait
        )

    with np.errstate(all="raise", under="ignore"):
        waits, free = run(replacement), run(0.0)
    longer = np.isfinite(waits.expected_s)
    assert (np.diff(longer.astype(int)) >= 0).all()
    for name in ("expected_s", "replacement_s", "variance_s2"):
        values = getattr(waits, name)[longer]
        assert (np.diff(values) <= 1e-9 * values[:-1]).all()
        assert (values >= getattr(free, name)[longer] * (1 - 1e-9)).all()


@given(
    st.just(0.0) | st.floats(1e-12, 1e-3), st.floats(0.01, 100.0), st.floats(1e3, 1e7)
)
def test_a_given_interval_is_never_better_than_the_best(
    rate: float, times: float, work: float
) -> None:
    """Tests that Daly's optimum is the least, and is found when it is given."""
    best = expected_run(work, rate, 30.0, 300.0)
    if not np.isfinite(best.expected_s[0]):
        return
    interval = float(best.interval_s[0])
    other = expected_run(work, rate, 30.0, 300.0, given_interval_s=times * interval)
    assert other.expected_s[0] >= best.expected_s[0] * (1 - 1e-9)
    same = expected_run(work, rate, 30.0, 300.0, given_interval_s=interval)
    assert same.expected_s[0] == best.expected_s[0]
