"""Tests of reading phases: what each inherits, and where its faults are told."""

from __future__ import annotations

import copy

import pytest

from solver.scenario.phases import merged
from solver.scenario.scenario import Scenario
from tests.scenario.reading import faults, only_fault, read

THREE = """\
model: llama-3-8b
workload: {sequence_length: 4096, framework: megatron, global_batch_size: 64}
constraints: {deadline: 30 days, budget: 90k, confidence: 0.9, gpus: {max: 64}}
phases:
  - name: pre-train
    workload: {tokens: 100B}
  - name: extend
    workload: {tokens: 5B, sequence_length: 32768}
    constraints: {gpus: {types: [H100]}, regions: [aws/us-east-1]}
  - name: fine-tune
    workload: {samples: 10k, epochs: 2, method: lora, framework: hf-trainer}
"""


def of(name: str, scenario: Scenario) -> Scenario:
    """The scenario of the phase of that name."""
    return next(p.scenario for p in scenario.phases if p.name == name)


def test_a_phase_changes_what_it_states() -> None:
    """Tests that workload keys are merged, and the keys of a constraint too."""
    whole = read(THREE)
    assert [phase.name for phase in whole.phases] == [
        "pre-train",
        "extend",
        "fine-tune",
    ]
    first, second = of("pre-train", whole), of("extend", whole)
    assert (first.workload.tokens, first.workload.sequence_length) == (1e11, 4096)
    assert (second.workload.tokens, second.workload.sequence_length) == (5e9, 32768)
    assert first.workload.framework == second.workload.framework == "megatron"
    assert (first.constraints.gpus.max, first.constraints.gpu_types) == (64, None)
    assert second.constraints.gpus.max == 64
    assert second.constraints.gpu_types is not None
    assert second.constraints.regions == ("aws/us-east-1",)


def test_limits_are_shared_and_stand_at_the_top() -> None:
    """Tests that no phase has the deadline or budget, and all have the confidence."""
    whole = read(THREE)
    shared = whole.constraints
    assert (shared.deadline_s, shared.budget_usd) == (30 * 86_400, 90_000)
    for phase in whole.phases:
        alone = phase.scenario.constraints
        assert (alone.deadline_s, alone.budget_usd) == (None, None)
        assert alone.confidence == shared.confidence == 0.9
        assert not alone.stated & {"deadline", "budget"}


def test_a_later_phase_starts_from_a_checkpoint() -> None:
    """Tests the start of each phase, also where the top says scratch."""
    starts = ["scratch", "checkpoint", "checkpoint"]
    for text in (
        THREE,
        THREE.replace("{sequence_length", "{start: scratch, sequence_length"),
    ):
        phases = read(text).phases
        assert [phase.scenario.workload.start for phase in phases] == starts


def test_tokens_and_samples_take_each_other_s_place() -> None:
    """Tests that a phase with samples drops inherited tokens, and the other way."""
    text = THREE.replace("workload: {sequence", "workload: {tokens: 1T, sequence")
    assert of("fine-tune", read(text)).workload.tokens == 10_000 * 2 * 4096
    text = THREE.replace(
        "workload: {sequence", "workload: {samples: 9, epochs: 2, sequence"
    )
    assert of("extend", read(text)).workload.tokens == 5e9


def test_overrides_reach_into_a_phase() -> None:
    """Tests --set on a key of a phase."""
    whole = read(THREE, ["phases[1].workload.tokens=50B"])
    assert of("extend", whole).workload.tokens == 50e9


@pytest.mark.parametrize(
    ("change", "path", "code"),
    [
        (
            "phases[1].workload.sequence_length=-3",
            "workload.sequence_length",
            "out-of-range",
        ),
        ("phases[1].workload.tokns=3B", "workload.tokns", "unknown-key"),
        (
            "phases[1].constraints.deadline=3 days",
            "constraints.deadline",
            "contradiction",
        ),
        ("phases[1].constraints.budget=3k", "constraints.budget", "contradiction"),
        (
            "phases[1].constraints.confidence=0.8",
            "constraints.confidence",
            "contradiction",
        ),
        ("phases[1].workload.start=scratch", "workload.start", "contradiction"),
        ("phases[1].workload.tokens=5", "workload.tokens", "too-few-tokens"),
        (
            "phases[1].constraints.regions=[mars]",
            "constraints.regions[0]",
            "unknown-name",
        ),
        ("phases[1].name=pre-train", "name", "duplicate-name"),
    ],
)
def test_faults_name_the_phase(change: str, path: str, code: str) -> None:
    """Tests code, path and place of what is wrong with a phase."""
    issue = only_fault(THREE, [change])
    assert (issue.code, issue.path) == (code, f"phases[1].{path}")
    assert issue.where == "--set #1"


def test_a_fault_in_the_file_has_its_line() -> None:
    """Tests line and path of faults in two phases, told in one go."""
    text = THREE.replace("32768", "minus").replace("method: lora", "method: laro")
    assert [(i.where, i.path) for i in faults(text)] == [
        ("s.yaml:8:45", "phases[1].workload.sequence_length"),
        ("s.yaml:11:49", "phases[2].workload.method"),
    ]


def test_what_is_wrong_at_the_top_is_told_once() -> None:
    """Tests that three phases do not repeat the fault of the key that they share."""
    issue = only_fault(THREE.replace("llama-3-8b", "llama-9"))
    assert (issue.code, issue.path, issue.where) == (
        "unknown-name",
        "model",
        "s.yaml:1:8",
    )


def test_a_missing_amount_is_the_phase_s() -> None:
    """Tests that tokens that no one states are missing in the phase."""
    issue = only_fault(THREE.replace("{tokens: 100B}", "{}"))
    assert (issue.code, issue.path) == ("missing-key", "phases[0].workload.tokens")


@pytest.mark.parametrize(
    "written", ["phases: 3", "phases: [3]", "phases: [{workload: {}}]"]
)
def test_phases_of_another_form_are_refused(written: str) -> None:
    """Tests what is no list, no mapping, or has no name."""
    text = THREE.partition("phases:")[0] + written
    assert {issue.path and issue.path.partition(".")[0] for issue in faults(text)} <= {
        "phases",
        "phases[0]",
    }


TOP = {
    "model": "llama-3-8b",
    "workload": {"tokens": "1T", "start": "scratch", "precision": "bf16"},
    "constraints": {
        "deadline": "9 days",
        "gpus": {"max": 64, "types": ["H100"]},
        "regions": ["aws/us-east-1"],
    },
    "phases": [{"name": "one"}],
}


@pytest.mark.parametrize(
    ("stated", "workload", "constraints"),
    [
        ({}, {}, {}),
        ({"workload": {"precision": "fp8"}}, {"precision": "fp8"}, {}),
        ({"workload": None, "constraints": None}, {}, {}),
        (
            {"constraints": {"gpus": {"max": 8}}},
            {},
            {"gpus": {"max": 8, "types": ["H100"]}},
        ),
        (
            {"constraints": {"gpus": {"types": []}}},
            {},
            {"gpus": {"max": 64, "types": []}},
        ),
        ({"constraints": {"regions": []}}, {}, {"regions": []}),
        ({"constraints": {"deadline": "1 day"}}, {}, {}),
    ],
)
def test_a_phase_is_merged_key_by_key(
    stated: dict[str, object],
    workload: dict[str, object],
    constraints: dict[str, object],
) -> None:
    """Tests the data of a phase: what it states wins, shared limits stay the top's."""
    data = merged(TOP, stated, first=True)
    assert "phases" not in data
    assert data["workload"] == {**TOP["workload"], **workload}  # type: ignore[dict-item]
    assert data["constraints"] == {**TOP["constraints"], **constraints}  # type: ignore[dict-item]


def test_merging_changes_nothing_of_the_top() -> None:
    """Tests that one phase's keys do not leak into the next."""
    before = copy.deepcopy(TOP)
    data = merged(TOP, {"constraints": {"gpus": {"max": 8}}}, first=False)
    data["constraints"]["gpus"]["max"] = 1
    data["workload"]["tokens"] = 0
    assert before == TOP
    assert data["workload"]["start"] == "checkpoint"


def test_weights_that_move_on_to_serve_are_refused() -> None:
    """Tests that what phases do not count is told, not left out."""
    issue = only_fault(THREE + "serving: {regions: [aws/us-east-1]}\n")
    assert (issue.code, issue.path) == ("contradiction", "serving")
