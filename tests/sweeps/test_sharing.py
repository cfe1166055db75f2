"""Tests of what points share: layouts, joined offers, solves, and what is kept."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from solver.planning import single_job
from solver.planning.single_job import Best
from solver.relimited import remembered, under
from solver.setting import setting_of
from solver.sweeps import loosening, sharing
from solver.sweeps.loosening import shared_best
from solver.sweeps.points import Point
from solver.sweeps.sharing import (
    MOST_AT_ONCE,
    MOST_KEPT,
    chunks_of,
    offers_key,
    physics_key,
    shared_of,
)
from tests.planning.jobs import A100, catalog, job
from tests.sweeps.examples import prepared

AXES = {
    "constraints.deadline": ["3 hours", "2 days"],
    "constraints.budget": ["$10", "$1k", "$2k"],
    "workload.sequence_length": [512, 1024],
}


def points(folder: Path, **keys: Any) -> tuple[Point, ...]:
    """The points of a small sweep."""
    return prepared(folder, **{"axes": AXES, **keys}).points.points


def test_chunks_hold_every_point_once(tmp_path: Path) -> None:
    """Tests that no point is lost or doubled, whatever is minimised."""
    listed = points(tmp_path)
    for objective in ("cost", "time", "carbon", "weighted"):
        chunks = chunks_of(listed, objective)
        assert sorted(p.number for chunk in chunks for p in chunk) == list(range(24))


@pytest.mark.parametrize(
    ("objective", "key", "size"),
    [("cost", "constraints.budget", 3), ("time", "constraints.deadline", 2)],
)
def test_a_chunk_differs_in_one_limit(
    objective: str, key: str, size: int, tmp_path: Path
) -> None:
    """Tests that points of one chunk are one question but for the limit on its aim."""
    for chunk in chunks_of(points(tmp_path), objective):
        assert len(chunk) == size
        assert len({point.values[key] for point in chunk}) == size
        rest = {
            (p.overlay.name, *(repr(v) for k, v in p.values.items() if k != key))
            for p in chunk
        }
        assert len(rest) == 1


def test_other_aims_share_no_solve(tmp_path: Path) -> None:
    """Tests that nothing is put together where no limit is on what is minimised."""
    assert {len(chunk) for chunk in chunks_of(points(tmp_path), "carbon")} == {1}


def test_chunks_are_not_too_long(tmp_path: Path) -> None:
    """Tests that many budgets are handed over in parts, so that few are ever lost."""
    budgets = {"from": "$10", "to": "$1000", "count": 70}
    listed = points(tmp_path, axes={"constraints.budget": budgets}, overlays=None)
    lengths = [len(chunk) for chunk in chunks_of(listed, "cost")]
    assert lengths == [MOST_AT_ONCE, MOST_AT_ONCE, 70 - 2 * MOST_AT_ONCE]


def test_chunks_of_one_physics_follow_each_other(tmp_path: Path) -> None:
    """Tests that each kind of physics, and each set of offers, comes in one go."""
    chunks = chunks_of(points(tmp_path), "cost")
    for key in (physics_key, offers_key):
        order = [key(chunk[0]) for chunk in chunks]  # type: ignore[operator]
        changes = sum(a != b for a, b in pairwise(order))
        assert changes == len(set(order)) - 1


def test_limits_join_no_offers_anew(tmp_path: Path) -> None:
    """Tests that deadline and budget share offers, prices and overlays do not."""
    listed = points(tmp_path)
    by_key: dict[str, set[tuple[Any, ...]]] = {}
    for point in listed:
        rest = (point.overlay.name, point.values["workload.sequence_length"])
        by_key.setdefault(offers_key(point), set()).add(rest)
    assert len(by_key) == 4
    assert all(len(rest) == 1 for rest in by_key.values())


def test_a_worker_keeps_little() -> None:
    """Tests that what was used longest ago is given up, and nothing is made twice."""
    kept: OrderedDict[Hashable, int] = OrderedDict()
    made: list[int] = []

    def make(value: int) -> int:
        made.append(value)
        return value

    for value in (1, 2, 3, 1, 4, 1, 2):
        found = sharing._kept(kept, value, lambda value=value: make(value))  # type: ignore[misc]
        assert found == value
        assert len(kept) <= MOST_KEPT
    assert made == [1, 2, 3, 4, 2]


def test_each_question_starts_anew(tmp_path: Path) -> None:
    """Tests that nothing kept for one sweep answers another."""
    ready = prepared(tmp_path)
    first = shared_of(ready.question)
    assert shared_of(ready.question) is first
    other = replace(ready.question, sweep="another")
    assert shared_of(other) is not first


def counted(monkeypatch: pytest.MonkeyPatch) -> list[float | None]:
    """Note the budget of each solve that is made."""
    budgets: list[float | None] = []

    def best_of(setting: Any, slack: float, time_s: float) -> Best:
        budgets.append(setting.scenario.constraints.budget_usd)
        return single_job.best_of(setting, slack, time_s)

    monkeypatch.setattr(loosening, "best_of", best_of)
    return budgets


def test_one_solve_for_all_budgets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that budgets above and below the cheapest plan need no solve more."""
    budgets = counted(monkeypatch)
    scenario = job([A100])
    known = setting_of(scenario, catalog())

    def ask(usd: float | None) -> Best:
        user = replace(scenario.constraints, budget_usd=usd)
        return shared_best(under(known, replace(scenario, constraints=user)))

    free = ask(None)
    assert free.row is not None
    least = float(free.table.cost_usd[free.row])
    for factor, status in ((0.5, "infeasible"), (2.0, "optimal"), (1.01, "optimal")):
        assert ask(least * factor).status == status
    assert budgets == [None]
    ask(least)  # so near that CP-SAT's own rounding decides
    assert budgets == [None, least]


def test_confidence_is_solved_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that a budget to be kept with confidence is not judged by expected cost."""
    budgets = counted(monkeypatch)
    scenario = job([A100])
    user = replace(scenario.constraints, confidence=0.9)
    known = setting_of(replace(scenario, constraints=user), catalog())
    free = shared_best(known)
    assert free.row is not None
    least = float(free.table.cost_usd[free.row])
    held = float(free.table.cost_limit_usd[free.row])
    assert held > least
    between = (least + held) / 2
    asked = replace(scenario, constraints=replace(user, budget_usd=between))
    alone = single_job.best_of(setting_of(asked, catalog()), 1e-6, 60.0)
    assert shared_best(under(known, asked)).status == alone.status
    assert budgets == [None, between]


def test_what_is_remembered_is_found_once() -> None:
    """Tests that settings of the same offers share what was found, others not."""
    setting = setting_of(job([A100]), catalog())
    found: list[int] = []

    def find() -> int:
        found.append(1)
        return len(found)

    same = under(setting, setting.scenario)
    assert remembered(setting, "a", find) == remembered(same, "a", find) == 1
    assert remembered(same, "b", find) == 2
    other = replace(setting, others=())
    assert remembered(other, "a", find) == 3


def test_under_keeps_offers_and_changes_limits() -> None:
    """Tests that the scenario is the new one, and that options are those joined."""
    scenario = job([A100])
    setting = setting_of(scenario, catalog())
    arrays = setting.arrays
    user = replace(scenario.constraints, deadline_s=1234.0)
    joined = under(setting, replace(scenario, constraints=user))
    assert joined.scenario.constraints.deadline_s == 1234.0
    assert setting.scenario.constraints.deadline_s != 1234.0
    assert joined.arrays is arrays
    assert joined.classes is setting.classes
