"""Reading scenarios in tests: a fixed day and the shipped catalog."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from functools import cache
from pathlib import Path

import pytest

from solver.catalog.load import Catalog, load_catalog
from solver.errors import InputError, Issue
from solver.scenario.load import resolve_scenario
from solver.scenario.overrides import Override
from solver.scenario.scenario import Scenario
from solver.yaml_source import load_yaml

TODAY = date(2026, 11, 30)

SMALL = "model: llama-2-7b\nworkload: {tokens: 2T}\n"
"""The shortest scenario."""


@cache
def shipped_catalog() -> Catalog:
    """Return the shipped catalog, read once."""
    return load_catalog(environment={})


def read(
    text: str, overrides: Iterable[Override] = (), base: Path | None = None
) -> Scenario:
    """Return the scenario of a YAML text."""
    source = load_yaml(text, "s.yaml")
    return resolve_scenario(source, shipped_catalog(), overrides, TODAY, base=base)


def faults(
    text: str, overrides: Iterable[Override] = (), base: Path | None = None
) -> tuple[Issue, ...]:
    """Return the faults of a YAML text that has some."""
    with pytest.raises(InputError) as caught:
        read(text, overrides, base)
    return caught.value.issues


def only_fault(text: str, overrides: Iterable[Override] = ()) -> Issue:
    """Return the fault of a YAML text that has one."""
    found = faults(text, overrides)
    assert len(found) == 1, [str(issue) for issue in found]
    return found[0]


def notice_ids(scenario: Scenario) -> list[str]:
    """Return the ids of what was assumed or repaired."""
    return [notice.id for notice in scenario.notices]
