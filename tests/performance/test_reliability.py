"""Daly's expected time against brute force, and where numbers run away."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solver.performance.reliability import (
    best_interval_s,
    expected_run,
    failure_rate_per_s,
)


def daly(work: float, rate: float, cost: float, restart: float, tau: Any) -> Any:
    mean = 1 / rate
    with np.errstate(over="ignore"):
        growth = np.exp(restart / mean) * np.expm1((tau + cost) / mean)
        return mean * growth * work / tau


@pytest.mark.parametrize("mean_h", [0.5, 3.0, 100.0, 8000.0])
@pytest.mark.parametrize("cost", [5.0, 60.0, 600.0])
def test_interval_is_the_best_of_brute_force(mean_h: float, cost: float) -> None:
    """Tests that no interval of a fine grid beats the one found."""
    rate, work = 1 / (mean_h * 3600), 30 * 86400.0
    grid = np.geomspace(1.0, work, 20001)
    best = float(daly(work, rate, cost, 300.0, grid).min())
    run = expected_run(work, rate, cost, 300.0)
    if np.isfinite(run.expected_s[0]):
        assert run.expected_s[0] <= best * (1 + 1e-9)
        assert run.expected_s[0] == pytest.approx(best, rel=1e-5)
    else:
        assert best > 10 * work


def test_first_order_rule_where_failures_are_rare() -> None:
    """Tests that the interval tends to Young's sqrt(2 d M)."""
    mean = 1e7
    assert best_interval_s(1 / mean, 10.0) == pytest.approx(
        math.sqrt(2 * 10 * mean), rel=2e-3
    )


def test_llama_3_loses_about_a_tenth() -> None:
    """Tests that 16,384 GPUs at 50,679 h / N keep about 90 % of their time.

    Meta reports above 90 % effective training time (arXiv 2407.21783).
    """
    rate = failure_rate_per_s(16384, 2048, 1 / 50679)
    run = expected_run(54 * 86400.0, rate, 10.0, 600.0)
    assert 0.88 < 54 * 86400 / run.expected_s[0] < 0.96


def test_no_failures_leave_work_and_one_checkpoint() -> None:
    """Tests that a run that never fails is saved once."""
    run = expected_run(1000.0, 0.0, 7.0, 300.0)
    assert run.expected_s[0] == pytest.approx(1007)
    assert run.checkpoints_s[0] == pytest.approx(7)
    assert run.failures_s[0] == pytest.approx(0, abs=1e-9)
    assert run.variance_s2[0] == 0


def test_hopeless_runs_are_infinite() -> None:
    """Tests that failures faster than checkpoints leave no plan."""
    run = expected_run(86400.0 * 30, 1 / 60.0, 600.0, 600.0)
    assert np.isinf(run.expected_s[0])


def test_short_run_is_saved_once_at_its_end() -> None:
    """Tests that a run shorter than the best interval grows like (e^(rT) - 1)/r.

    The known rule for a spot run that saves nothing before it ends.
    """
    work, rate, cost = 3600.0, 1 / (100 * 3600), 600.0
    run = expected_run(work, rate, cost, 0.0)
    assert run.interval_s[0] == work
    assert run.expected_s[0] == pytest.approx(math.expm1(rate * (work + cost)) / rate)


def test_free_checkpoints_lose_next_to_nothing() -> None:
    """Tests that saving at no cost leaves only restarts to be paid."""
    run = expected_run(36000.0, 0.1 / 3600, 0.0, 0.0)
    assert run.expected_s[0] == pytest.approx(36000, rel=1e-5)


def test_rates_add_by_gpu_and_node() -> None:
    """Tests that failures count by GPU and interruptions by node."""
    rate = failure_rate_per_s(64, 8, 1e-4, 1e-3)
    assert rate * 3600 == pytest.approx(64e-4 + 8e-3)


any_number = st.floats(0, 1e18, allow_subnormal=False) | st.just(math.inf)


@given(any_number, any_number, any_number, any_number)
def test_no_input_overflows(
    work: float, rate: float, cost: float, restart: float
) -> None:
    """Tests that every input gives a time of at least the work, or infinity."""
    with np.errstate(all="raise", under="ignore"):
        run = expected_run(work, rate, cost, restart)
    expected = run.expected_s[0]
    assert not np.isnan(expected)
    assert expected >= work * (1 - 1e-9)
    for part in (run.interval_s, run.checkpoints_s, run.failures_s, run.variance_s2):
        assert not np.isnan(part[0])
        assert part[0] >= 0
    if np.isfinite(expected):
        parts = work + run.checkpoints_s[0] + run.failures_s[0]
        assert parts == pytest.approx(expected, rel=1e-6, abs=1e-6)


@given(
    st.floats(1e-9, 1e-4),
    st.floats(0.1, 1e3),
    st.floats(0, 1e4),
    st.floats(1.0, 3.0),
)
def test_more_failures_or_slower_checkpoints_never_help(
    rate: float, cost: float, restart: float, factor: float
) -> None:
    """Tests that the finish moves out with each of the three."""
    work = 1e6
    base = expected_run(work, rate, cost, restart).expected_s[0]
    for worse in (
        expected_run(work, rate * factor, cost, restart),
        expected_run(work, rate, cost * factor, restart),
        expected_run(work, rate, cost, restart * factor),
    ):
        assert worse.expected_s[0] >= base * (1 - 1e-9)
