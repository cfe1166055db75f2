"""Tests of faults that only show when two things are held against each other."""

from __future__ import annotations

import pytest

from solver.ranges import Range
from solver.rules import RULE_IDS
from solver.scenario.constraints import RULE_OF_FIELD, stated_rules
from solver.scenario.faults import spec_at
from tests.scenario.reading import SMALL, faults, only_fault, read


def training(workload: str, more: str = "") -> str:
    """Return a scenario of a workload."""
    return f"model: llama-2-7b\nworkload: {{{workload}}}\n{more}"


@pytest.mark.parametrize(
    ("workload", "code", "path"),
    [
        ("tokens: 1T, samples: 3", "conflicting-keys", "workload.samples"),
        ("tokens: 1T, epochs: 3", "conflicting-keys", "workload.epochs"),
        ("epochs: 3", "missing-key", "workload.tokens"),
        ("samples: 10, global_batch_size: 16", "too-few-tokens", "workload.samples"),
        ("tokens: 1k, global_batch_size: 1", "too-few-tokens", "workload.tokens"),
        ("tokens: 1T, lora: {rank: 8}", "contradiction", "workload.lora"),
        (
            "tokens: 1B, method: lora, lora: {rank: 5000}",
            "out-of-range",
            "workload.lora.rank",
        ),
        (
            "tokens: 1B, method: lora, lora: {targets: [q, w]}",
            "wrong-value",
            "workload.lora.targets[1]",
        ),
        (
            "tokens: 1B, method: lora, framework: nanotron",
            "framework-lacks-method",
            "workload.framework",
        ),
    ],
)
def test_workloads(workload: str, code: str, path: str) -> None:
    """Tests that a workload that contradicts itself is one fault at its place."""
    issue = only_fault(training(workload))
    assert (issue.code, issue.path) == (code, path)


def test_an_ungated_model_has_no_gate() -> None:
    """Tests that adapters are only asked for where there is a matrix."""
    text = (
        "model: gpt2\nworkload: {tokens: 1B, method: lora, lora: {targets: [gate]}}\n"
    )
    assert only_fault(text).path == "workload.lora.targets"


@pytest.mark.parametrize(
    ("constraints", "code", "path"),
    [
        ("gpus: {min: 9, max: 8}", "contradiction", "constraints.gpus.min"),
        (
            "parallelism: {tp: {min: 8, max: 4}}",
            "contradiction",
            "constraints.parallelism.tp.min",
        ),
        (
            "parallelism: {zero_stage: [1, 4]}",
            "out-of-range",
            "constraints.parallelism.zero_stage[1]",
        ),
        (
            "parallelism: {zero_stage: {min: 1, max: 4}}",
            "out-of-range",
            "constraints.parallelism.zero_stage.max",
        ),
        (
            "gpus: {types: [H100], exclude: [h100]}",
            "contradiction",
            "constraints.gpus.exclude",
        ),
        ("deadline: 2026-11-30", "deadline-in-past", "constraints.deadline"),
    ],
)
def test_limits(constraints: str, code: str, path: str) -> None:
    """Tests that limits that leave nothing are told."""
    issue = only_fault(f"{SMALL}constraints: {{{constraints}}}\n")
    assert (issue.code, issue.path) == (code, path)


def test_the_day_after_is_no_past() -> None:
    """Tests the least deadline that is a date."""
    limits = read(f"{SMALL}constraints: {{deadline: 2026-12-01}}\n").constraints
    assert limits.deadline_s == 86_400


def test_a_fault_is_not_told_twice() -> None:
    """Tests that what rests on a faulty value is not called faulty as well."""
    assert only_fault(training("tokens: 1k, global_batch_size: x")).code == "wrong-type"
    assert only_fault(training("tokens: 1B, method: x, lora: {}")).code == "wrong-value"
    assert only_fault(training("samples: x, epochs: 3")).code == "wrong-type"


@pytest.mark.parametrize(
    ("written", "limit"),
    [
        ("8", Range(values=(8,))),
        ("[8, 4, 8]", Range(values=(4, 8))),
        ("{min: 2}", Range(min=2)),
        ("{min: 2, max: 8}", Range(2, 8)),
    ],
)
def test_degrees(written: str, limit: Range) -> None:
    """Tests the forms of a parallel degree."""
    for axis in ("tp", "pp", "cp", "ep", "dp", "virtual_stages", "micro_batch"):
        text = f"{SMALL}constraints: {{parallelism: {{{axis}: {written}}}}}\n"
        assert read(text).constraints.parallelism == {axis: limit}


def test_degrees_that_say_nothing() -> None:
    """Tests that empty forms are no limit."""
    text = f"{SMALL}constraints: {{parallelism: {{tp: [], pp: {{}}}}}}\n"
    assert read(text).constraints.parallelism == {}
    assert read(text).constraints.parallelism.get("tp", Range()).allows(7)


def test_every_stated_rule_exists() -> None:
    """Tests that the keys which state a rule exist, and so do the rules."""
    assert set(RULE_OF_FIELD.values()) <= set(RULE_IDS)
    for path in RULE_OF_FIELD:
        parent = spec_at(path[:-1])
        assert parent is not None
        assert path[-1] in parent.keys(), path  # noqa: SIM118


def test_stated_rules() -> None:
    """Tests that only what has a value counts as stated."""
    data = {
        "constraints": {"deadline": 3, "regions": [], "gpus": {"max": 8, "min": None}},
        "stock": {"unknown_nodes": 3},
        "workload": "junk",
    }
    assert stated_rules(data) == {"deadline", "gpus", "stock"}
    assert stated_rules(None) == frozenset()


@pytest.mark.parametrize("key", ["regions", "providers", "countries"])
def test_one_unknown_name_of_several(key: str) -> None:
    """Tests that the place of the wrong name in its list is told."""
    right = {"regions": "aws/us-east-1", "providers": "aws", "countries": "JP"}[key]
    issue = only_fault(f"{SMALL}constraints: {{{key}: [{right}, Atlantis-9]}}\n")
    assert (issue.code, issue.path) == ("unknown-name", f"constraints.{key}[1]")


def test_unknown_and_excluded_gpus() -> None:
    """Tests that names are looked up in both lists."""
    text = f"{SMALL}constraints: {{gpus: {{types: [H102], exclude: [Z9]}}}}\n"
    assert [issue.path for issue in faults(text)] == [
        "constraints.gpus.types[0]",
        "constraints.gpus.exclude[0]",
    ]
