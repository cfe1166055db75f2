"""How failures, checkpoints and spares are written, and what is wrong with them."""

from __future__ import annotations

from typing import Any

import pytest

from solver.errors import InputError
from solver.scenario.scenario import Failures
from tests.planning.jobs import job


def read(**written: Any) -> Failures:
    """What is read of the section."""
    return job(failures=written).failures


def test_nothing_stated_is_the_catalog() -> None:
    """Tests the defaults: the catalog's rates, swaps at once and no spares."""
    scenario = job()
    assert scenario.failures == Failures()
    assert scenario.spare_choices == (0,)


def test_every_key_is_read() -> None:
    """Tests units, and bare numbers, which are hours."""
    failures = read(
        gpu_mtbf="50000 hours",
        checkpoint_interval="30 min",
        restart="10 min",
        replacement="12 hours",
        spares=2,
    )
    assert failures == Failures(180_000_000, 1_800, 600, 43_200, (2,))
    assert read(gpu_mtbf=2, checkpoint_interval=0.5, restart=0, replacement=12) == (
        Failures(7_200, 1_800, 0, 43_200)
    )


@pytest.mark.parametrize(
    ("written", "choices"),
    [
        (None, tuple(range(9))),
        ([], tuple(range(9))),
        ({}, tuple(range(9))),
        (0, (0,)),
        (3, (3,)),
        ([4, 0, 2, 2], (0, 2, 4)),
        ({"min": 1, "max": 3}, (1, 2, 3)),
        ({"max": 2}, (0, 1, 2)),
        ({"min": 5}, tuple(range(5, 14))),
        ({"min": 50, "max": 64}, tuple(range(50, 65))),
    ],
)
def test_spares_to_try(written: Any, choices: tuple[int, ...]) -> None:
    """Tests each form of spares where a replacement takes a while."""
    scenario = job(failures={"replacement": "1 day", "spares": written})
    assert scenario.spare_choices == choices


FAULTS: list[tuple[str, Any, str, str]] = [
    ("gpu_mtbf", 0, "out-of-range", "failures.gpu_mtbf"),
    ("gpu_mtbf", "often", "wrong-type", "failures.gpu_mtbf"),
    ("checkpoint_interval", "0 min", "out-of-range", "failures.checkpoint_interval"),
    ("restart", "-1 hours", "out-of-range", "failures.restart"),
    ("replacement", "2 apples", "unknown-unit", "failures.replacement"),
    ("spares", -1, "out-of-range", "failures.spares"),
    ("spares", 65, "out-of-range", "failures.spares"),
    ("spares", 1.5, "wrong-type", "failures.spares"),
    ("spares", [0, "many"], "wrong-type", "failures.spares[1]"),
    ("spares", list(range(20)), "out-of-range", "failures.spares"),
    ("spares", {"min": 4, "max": 2}, "contradiction", "failures.spares.min"),
    ("spares", {"least": 2}, "unknown-key", "failures.spares.least"),
    ("mtbf", 5, "unknown-key", "failures.mtbf"),
]


@pytest.mark.parametrize(("key", "value", "code", "path"), FAULTS)
def test_a_fault_is_told_with_its_place(
    key: str, value: Any, code: str, path: str
) -> None:
    """Tests that each fault is one error, at its place."""
    with pytest.raises(InputError) as error:
        read(**{"replacement": "1 day", key: value})
    assert [(i.code, i.path) for i in error.value.issues] == [(code, path)]
    assert error.value.issues[0].where


def test_spares_without_a_wait_are_told() -> None:
    """Tests the notice that spares shorten nothing where nodes are swapped at once."""
    told = {n.id for n in job(failures={"spares": [0, 2]}).notices}
    assert "notice.spares.idle" in told
    for quiet in ({"spares": 0}, {"spares": 2, "replacement": 1}, {}):
        told = {n.id for n in job(failures=quiet).notices}
        assert "notice.spares.idle" not in told
