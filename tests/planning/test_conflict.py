"""Tests of minimal conflicts and of the smallest sets that open a plan together."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest

from solver.planning.relaxing import in_force, rejoined, without
from solver.planning.single_job import plan_job
from solver.search import limits_of, search
from solver.setting import Setting, setting_of
from tests.planning.jobs import A100, H100, catalog, job

CASES: list[dict[str, Any]] = [
    {"constraints": {"deadline": "30 minutes", "budget": 20}},
    {"constraints": {"deadline": "30 minutes", "budget": 20, "regions": ["sg"]}},
    {"constraints": {"regions": ["jp"], "gpus": {"types": ["A100"]}}},
    {
        "constraints": {
            "regions": ["jp"],
            "providers": ["a"],
            "gpus": {"types": ["H100"], "max": 8},
        }
    },
    {"constraints": {"min_tokens_per_s": "1B", "deadline": "10 minutes"}},
]


def opens(setting: Setting, rules: tuple[str, ...]) -> bool:
    """Whether there is a plan without some requirements."""
    scenario = setting.scenario
    for rule_id in rules:
        scenario = without(scenario, rule_id)
    return search(rejoined(setting, scenario), limits_of(scenario)).table is not None


@pytest.mark.parametrize("keys", CASES)
def test_joint_relaxations_are_all_the_smallest_sets(keys: dict[str, Any]) -> None:
    """Tests the sets told against every set of requirements of that size."""
    result = plan_job(job(offers=[A100, H100], **keys), catalog())
    assert result.explanation is not None
    setting = setting_of(job(offers=[A100, H100], **keys), catalog())
    rules = in_force(setting)
    found = {tuple(j["constraints"]) for j in result.explanation.joint}
    alone = [r for r in rules if opens(setting, (r,))]
    if alone:
        assert not found
        return
    size = next(
        n for n in range(2, 5) if any(opens(setting, c) for c in combinations(rules, n))
    )
    every = {c for c in combinations(rules, size) if opens(setting, c)}
    assert found == every if size <= 3 else not found


@pytest.mark.parametrize("keys", CASES)
def test_what_is_typed_for_a_set_opens_its_plan(keys: dict[str, Any]) -> None:
    """Tests that all overrides of a set together give the plan told, and not fewer."""
    result = plan_job(job(offers=[A100, H100], **keys), catalog())
    assert result.explanation is not None
    for joint in result.explanation.joint:
        if joint["set"] is None:
            continue
        overrides = tuple(joint["set"])
        plan = plan_job(
            job(offers=[A100, H100], overrides=overrides, **keys), catalog()
        ).plan
        assert plan is not None, joint
        assert plan.cost_usd <= joint["opens"]["cost_usd"] + 0.01
        for fewer in combinations(overrides, len(overrides) - 1):
            status = plan_job(
                job(offers=[A100, H100], overrides=fewer, **keys), catalog()
            ).status
            assert status == "infeasible", fewer


@pytest.mark.parametrize("keys", CASES)
def test_a_conflict_is_minimal(keys: dict[str, Any]) -> None:
    """Tests that its members alone leave no plan, and without any one some plan."""
    result = plan_job(job(offers=[A100, H100], **keys), catalog())
    assert result.explanation is not None
    setting = setting_of(job(offers=[A100, H100], **keys), catalog())
    conflict = result.explanation.conflict
    others = tuple(r for r in in_force(setting) if r not in conflict)
    assert conflict
    assert not opens(setting, others)
    for member in conflict:
        assert opens(setting, (*others, member)), member
