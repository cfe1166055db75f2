"""Tests of which part of a step a gap may come from."""

from dataclasses import dataclass

import pytest

from solver.acting.suspects import suspects_of
from tests.acting.test_route import shared


@dataclass(frozen=True, slots=True)
class Beside:
    """A measured figure beside the predicted one."""

    name: str
    measured: float
    predicted: float
    inside: bool | None = None


STEP = Beside("step_time", 2.0, 1.0, inside=False)


def test_parts_that_are_fast_are_not_suspect() -> None:
    """Tests that only what takes longer than predicted is told, the most first."""
    parts = (
        Beside("compute", 0.7, 0.8),
        Beside("data_parallel", 0.9, 0.1),
        Beside("pipeline", 0.3, 0.1),
    )
    found = suspects_of(shared().jobs[0].plan, (STEP, *parts), 2.0)
    assert [one.part for one in found] == ["data_parallel", "pipeline"]
    assert found[0].factor == pytest.approx(9.0)
    assert found[0].measured_s == 0.9


def test_a_part_that_was_not_predicted_has_no_factor() -> None:
    """Tests a wait for data where none was expected."""
    (one,) = suspects_of(shared().jobs[0].plan, (Beside("data_stall", 0.5, 0.0),), 1.0)
    assert one.factor is None
    assert one.excess_s == 0.5
    assert one.share == 1.0


@pytest.mark.parametrize(
    ("name", "inside", "pace", "some"),
    [
        ("step_time", False, 1.5, True),
        ("step_time", True, 1.05, False),
        ("step_time", False, 0.5, False),
        ("mfu", False, 1.5, True),
        ("tokens_per_s", False, 1.5, True),
        ("tokens_per_s", True, 1.05, False),
    ],
)
def test_only_a_slow_step_outside_of_its_interval_has_suspects(
    name: str, inside: bool, pace: float, some: bool
) -> None:
    """Tests each way to say how long a step takes."""
    plan = shared().jobs[0].plan
    found = suspects_of(plan, (Beside(name, pace, 1.0, inside),), pace)
    assert bool(found) is some


def test_parts_of_no_weight_are_not_named() -> None:
    """Tests that what takes less than a fiftieth of the step explains nothing."""
    plan = shared().jobs[0].plan
    found = suspects_of(plan, (STEP,), 2.0)
    least = 0.02 * plan.step_time_s
    assert all(one.predicted_s >= least for one in found)
    assert {one.part for one in found} <= set(plan.step_time_parts_s)
    biggest = max(plan.step_time_parts_s, key=lambda n: plan.step_time_parts_s[n])
    assert found[0].part == biggest
