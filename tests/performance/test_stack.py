"""Constants of software stacks: years, defaults, names."""

from __future__ import annotations

import pytest

from solver.errors import InternalError
from solver.performance.stack import Stack, at_year, stack_of
from tests.performance.cases import FRAMEWORK_NAMES, framework

CONSTANTS = {"elementwise": 1.0, "elementwise@2022": 3.0, "elementwise@2024": 2.0}


@pytest.mark.parametrize(
    ("year", "value"),
    [(2019, 3.0), (2022, 3.0), (2023, 2.0), (2024.9, 2.0), (2025, 1.0), (None, 1.0)],
)
def test_year_takes_the_earliest_that_still_holds(
    year: float | None, value: float
) -> None:
    """Tests that a constant of 2022 holds up to the end of 2022."""
    assert at_year(CONSTANTS, year) == {"elementwise": value}


def test_plan_ignores_the_past() -> None:
    """Tests that constants with a year do not reach a plan."""
    assert stack_of(CONSTANTS).elementwise == 1.0


def test_unknown_constant_is_refused() -> None:
    """Tests that a misspelt constant is a bug, not silently ignored."""
    with pytest.raises(InternalError, match="elementwize"):
        stack_of({"elementwize": 1.0})


@pytest.mark.parametrize("name", FRAMEWORK_NAMES)
def test_shipped_constants_are_known_and_sane(name: str) -> None:
    """Tests that every framework's constants exist in every year, shares within 1."""
    constants = framework(name).constants
    for year in (2021, 2023, None):
        stack = stack_of(at_year(constants, year))
        shares = (
            stack.tp_exposed,
            stack.cp_exposed,
            stack.pp_exposed,
            stack.dp_exposed,
            stack.fsdp_exposed,
            stack.tuned,
        )
        assert all(0 <= share <= 1 for share in shares)
        assert stack.ep_factor >= 1
        assert stack.reduce_bytes in (2, 4)
    assert Stack().tuned == 1
