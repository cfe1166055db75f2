"""Tests of the keys of sft, dpo, ppo and grpo: defaults, counting and faults."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from solver.errors import Issue
from solver.scenario.scenario import AlignmentWork, Scenario
from tests.scenario.reading import faults, notice_ids, read

OTHER: dict[str, Any] = {
    "layers": 8,
    "hidden": 512,
    "ffn": 2048,
    "heads": 8,
    "vocab": 32000,
}
"""Sizes of a small reward model."""


def text(workload: dict[str, Any], **keys: Any) -> str:
    """The YAML text of a scenario of Llama 2 7B."""
    data = {"model": "llama-2-7b", "workload": workload, **keys}
    return yaml.safe_dump(data, sort_keys=False)


def of(method: str, alignment: dict[str, Any] | None = None, **work: Any) -> Scenario:
    """The scenario of a method on 10,000 samples."""
    keys = {"method": method, "samples": "10k", **work}
    if alignment is not None:
        keys["alignment"] = alignment
    return read(text(keys))


def work_of(
    method: str, alignment: dict[str, Any] | None = None, **work: Any
) -> AlignmentWork:
    """What is resolved of the alignment."""
    found = of(method, alignment, **work).workload.alignment
    assert found is not None
    return found


def told(
    method: str, alignment: dict[str, Any] | None = None, **work: Any
) -> list[tuple[str | None, str]]:
    """Path and code of each fault."""
    keys = {"method": method, "samples": "10k", **work}
    if alignment is not None:
        keys["alignment"] = alignment
    keys = {k: v for k, v in keys.items() if v is not None}
    return [(issue.path, issue.code) for issue in faults(text(keys))]


@pytest.mark.parametrize("method", ["full", "lora", "qlora"])
def test_plain_methods_align_nothing(method: str) -> None:
    """Tests that what trains plainly stays as it was."""
    work = of(method).workload
    assert (work.kind, work.method, work.alignment) == ("train", method, None)


@pytest.mark.parametrize("train", ["full", "lora", "qlora"])
@pytest.mark.parametrize("method", ["sft", "dpo", "ppo", "grpo"])
def test_every_method_trains_every_way(method: str, train: str) -> None:
    """Tests that the physics sees which weights train, from a checkpoint."""
    work = of(method, train=train).workload
    assert (work.kind, work.method, work.start) == (method, train, "checkpoint")
    usual = "pytorch-fsdp" if train == "full" else "hf-trainer"
    assert work.framework == usual


@pytest.mark.parametrize("method", ["sft", "dpo", "ppo", "grpo"])
def test_all_weights_train_unless_said(method: str) -> None:
    """Tests the default, and that it is told."""
    scenario = of(method)
    assert scenario.workload.method == "full"
    assert "notice.alignment.train" in notice_ids(scenario)
    assert "notice.alignment.train" not in notice_ids(of(method, train="full"))


def test_sft_is_fine_tuning() -> None:
    """Tests that SFT has the workload of full fine-tuning, apart from its name."""
    tuned = of("sft", train="full").workload
    plain = of("full", start="checkpoint").workload
    names = [f for f in type(plain).__slots__ if f != "kind"]
    assert all(getattr(tuned, n) == getattr(plain, n) for n in names)


def test_a_pair_counts_both_sequences() -> None:
    """Tests tokens, length and batch of DPO."""
    scenario = of("dpo", sequence_length=1024, epochs=2, global_batch_size=64)
    work = scenario.workload
    assert work.sequence_length == 2048
    assert work.tokens == 10_000 * 2 * 2048
    assert (work.batch_min, work.batch_max) == (64, 64)
    assert {"notice.alignment.pairs", "notice.alignment.samples.pairs"} <= set(
        notice_ids(scenario)
    )
    found = work_of("dpo", sequence_length=1024)
    assert (found.response_tokens, found.group, found.sequences) == (1024, 1, 2)
    assert (found.reward, found.critic, found.rollout_nodes) == (None, None, (0,))


def test_the_length_of_pairs_is_assumed_openly() -> None:
    """Tests the default of 2,048 tokens."""
    scenario = of("dpo")
    assert scenario.workload.sequence_length == 4096
    assert "notice.sequence.default" in notice_ids(scenario)
    keys = {"method": "dpo", "samples": 100, "sequence_length": 8192}
    long = read(text(keys, model={**OTHER, "max_seq": 4096}))
    assert "notice.sequence.too-long" in notice_ids(long)


def test_prompts_count_all_their_responses() -> None:
    """Tests tokens, length and default batch of GRPO."""
    lengths = {"prompt_tokens": 300, "response_tokens": 700, "group": 16}
    work = of("grpo", lengths, epochs=3).workload
    assert work.sequence_length == 1000
    assert work.tokens == 10_000 * 3 * 16 * 1000
    assert (work.batch_min, work.batch_max) == (1024, 1024)
    few = read(text({"method": "grpo", "samples": 5, "alignment": lengths}))
    assert few.workload.batch_min == 5 * 16


@pytest.mark.parametrize(
    ("alignment", "length", "expected"),
    [
        ({"prompt_tokens": 300, "response_tokens": 500}, None, (300, 500)),
        ({"prompt_tokens": 300}, 1000, (300, 700)),
        ({"response_tokens": 900}, 1000, (100, 900)),
        ({}, 1000, (500, 500)),
        ({"prompt_tokens": 300, "response_tokens": 700}, 1000, (300, 700)),
        ({}, None, (1024, 1024)),
    ],
)
def test_lengths(
    alignment: dict[str, Any], length: int | None, expected: tuple[int, int]
) -> None:
    """Tests which of prompt, response and sequence follow from the others."""
    work = {} if length is None else {"sequence_length": length}
    scenario = of("ppo", alignment, **work)
    found = scenario.workload.alignment
    assert found is not None
    assert (found.prompt_tokens, found.response_tokens) == expected
    assert scenario.workload.sequence_length == sum(expected)
    assumed = "notice.alignment.lengths" in notice_ids(scenario)
    assert assumed is (len(alignment) < 2)


def test_the_longest_response_is_twice_the_mean_unless_said() -> None:
    """Tests the estimate, and that it is told."""
    lengths = {"prompt_tokens": 100, "response_tokens": 500}
    assert work_of("ppo", lengths).longest_response == 1000
    fixed = {**lengths, "generation": {"max_response_tokens": 500}}
    assert work_of("ppo", fixed).longest_response == 500
    assert "notice.alignment.longest" in notice_ids(of("ppo", lengths))
    assert "notice.alignment.longest" not in notice_ids(of("ppo", fixed))


@pytest.mark.parametrize(
    ("alignment", "longest"),
    [
        ({}, 768),
        ({"prompt_tokens": 1000}, 536),
        ({"prompt_tokens": 512, "response_tokens": 700}, 1024),
        ({"prompt_tokens": 100, "response_tokens": 500}, 1000),
        ({"prompt_tokens": 536, "response_tokens": 500}, 1000),
    ],
)
def test_the_longest_response_keeps_the_sequence(
    alignment: dict[str, Any], longest: int
) -> None:
    """Tests that a prompt and it stay within a stated length, which is told."""
    scenario = of("grpo", alignment, sequence_length=1536)
    found = scenario.workload.alignment
    assert found is not None
    assert found.longest_response == longest
    assert found.prompt_tokens + found.longest_response <= 1536
    held = longest < 2 * found.response_tokens
    assert ("notice.alignment.longest-held" in notice_ids(scenario)) is held
    assert ("notice.alignment.longest" in notice_ids(scenario)) is not held


def test_the_longest_response_is_held_against_the_model() -> None:
    """Tests the notice where only the longest response passes what a model reads."""
    keys = {
        "method": "ppo",
        "samples": 100,
        "alignment": {"prompt_tokens": 500, "response_tokens": 500},
    }
    short = read(text(keys, model={**OTHER, "max_seq": 1400}))
    enough = read(text(keys, model={**OTHER, "max_seq": 1500}))
    assert "notice.sequence.too-long" in notice_ids(short)
    assert "notice.sequence.too-long" not in notice_ids(enough)


def test_models_of_ppo_and_grpo() -> None:
    """Tests that PPO has all four of the policy's size, and GRPO a rule for reward."""
    ppo, grpo = work_of("ppo"), work_of("grpo")
    assert ppo.reward is not None
    assert ppo.critic is not None
    assert (ppo.reward.id, ppo.critic.id) == ("llama-2-7b", "llama-2-7b")
    assert (ppo.reference, ppo.group) == ("own", 1)
    assert (grpo.reward, grpo.critic) == (None, None)
    assert (grpo.reference, grpo.group) == ("own", 8)


def test_the_critic_starts_from_the_reward_model() -> None:
    """Tests that it has that one's size unless another is named."""
    small = work_of("ppo", {"reward_model": "opt-350m"})
    assert small.critic is not None
    assert small.critic.id == "opt-350m"
    other = work_of("ppo", {"reward_model": "opt-350m", "critic_model": "same"})
    assert other.critic is not None
    assert other.critic.id == "llama-2-7b"
    ruled = work_of("ppo", {"reward_model": "none"})
    assert ruled.reward is None
    assert ruled.critic is not None


def test_other_models_by_sizes_and_by_file(tmp_path: Path) -> None:
    """Tests a reward model given by sizes, and one by a Hugging Face config."""
    sized = work_of("grpo", {"reward_model": OTHER}).reward
    assert sized is not None
    assert (sized.layers, sized.kv_heads) == (8, 8)
    config = Path(__file__).parents[1] / "data" / "configs" / "falcon-7b.json"
    (tmp_path / "rm.json").write_text(config.read_text())
    keys = {
        "method": "grpo",
        "samples": 100,
        "alignment": {"reward_model": "./rm.json"},
    }
    found = read(text(keys), base=tmp_path).workload.alignment
    assert found is not None
    assert found.reward is not None
    assert found.reward.layers == 32


def test_a_shared_reference_is_the_default_of_adapters() -> None:
    """Tests that adapters need no second copy of their base."""
    assert work_of("dpo", train="lora").reference == "shared"
    assert work_of("dpo", {"reference": "own"}, train="lora").reference == "own"
    assert work_of("grpo", {"reference": "none"}).reference == "none"


def test_placement() -> None:
    """Tests which numbers of rollout nodes are tried."""
    assert work_of("grpo").rollout_nodes == (0, 1, 2, 4, 8, 16)
    assert work_of("grpo", {"placement": "together"}).rollout_nodes == (0,)
    assert work_of("grpo", {"placement": ["apart"]}).rollout_nodes == (1, 2, 4, 8, 16)
    own = {"placement": "apart", "generation": {"rollout_nodes": [3, 5, 3]}}
    assert work_of("grpo", own).rollout_nodes == (3, 5)
    assert "notice.alignment.rollout" in notice_ids(of("grpo"))
    assert "notice.alignment.rollout" not in notice_ids(of("grpo", own))


def test_keys_of_apart_are_left_aside_together() -> None:
    """Tests that placements of one file can be compared, and that it is told."""
    generation = {"rollout_nodes": 2, "one_step_behind": True}
    one = of("grpo", {"placement": "together", "generation": generation})
    assert one.workload.alignment is not None
    assert one.workload.alignment.rollout_nodes == (0,)
    assert not one.workload.alignment.one_step_behind
    told_of = [n for n in one.notices if n.id == "notice.alignment.together"]
    assert [n.values["keys"] for n in told_of] == ["rollout_nodes and one_step_behind"]
    both = of("grpo", {"generation": generation})
    assert both.workload.alignment is not None
    assert both.workload.alignment.rollout_nodes == (0, 2)
    assert both.workload.alignment.one_step_behind
    assert "notice.alignment.together" not in notice_ids(both)


def test_a_batch_of_whole_groups() -> None:
    """Tests that ranges pass where a multiple lies in them, and the hint elsewhere."""
    group = {"group": 12}
    free = of("grpo", group, global_batch_size={"min": 100, "max": 110})
    assert (free.workload.batch_min, free.workload.batch_max) == (100, 110)
    exact = of("grpo", group, global_batch_size=120)
    assert exact.workload.batch_target == 120
    keys = {"method": "grpo", "samples": 9000, "alignment": group}
    (issue,) = faults(text({**keys, "global_batch_size": 128}))
    assert (issue.code, issue.path, issue.hint) == (
        "not-divisible",
        "workload.global_batch_size",
        "132",
    )
    (issue,) = faults(text({**keys, "global_batch_size": {"min": 98, "max": 107}}))
    assert issue.code == "not-divisible"


FAULTS: list[
    tuple[str, dict[str, Any] | None, dict[str, Any], list[tuple[str, str]]]
] = [
    ("full", {"group": 4}, {}, [("alignment", "contradiction")]),
    ("sft", {}, {}, [("alignment", "contradiction")]),
    ("lora", None, {"train": "full"}, [("train", "contradiction")]),
    ("dpo", None, {"samples": None}, [("samples", "missing-key")]),
    (
        "grpo",
        None,
        {"samples": None, "tokens": "1B"},
        [("tokens", "contradiction")],
    ),
    ("dpo", None, {"tokens": "1B"}, [("tokens", "contradiction")]),
    ("ppo", None, {"packing": "packed"}, [("packing", "contradiction")]),
    (
        "grpo",
        None,
        {
            "global_batch_size": 1024,
            "batch_ramp": {"from": 256, "step": 256, "samples": 4096},
        },
        [("batch_ramp", "contradiction")],
    ),
    ("sft", None, {"start": "scratch"}, [("start", "contradiction")]),
    ("ppo", None, {"start": "scratch"}, [("start", "contradiction")]),
    (
        "dpo",
        {"prompt_tokens": 5, "group": 2, "reward_model": "same"},
        {},
        [
            ("alignment.prompt_tokens", "contradiction"),
            ("alignment.group", "contradiction"),
            ("alignment.reward_model", "contradiction"),
        ],
    ),
    (
        "grpo",
        {"critic_model": "same"},
        {},
        [("alignment.critic_model", "contradiction")],
    ),
    (
        "ppo",
        {"critic_model": "none"},
        {},
        [("alignment.critic_model", "contradiction")],
    ),
    ("grpo", {"reference": "shared"}, {}, [("alignment.reference", "contradiction")]),
    (
        "grpo",
        {"reward_model": "lama-2-7b"},
        {},
        [("alignment.reward_model", "unknown-name")],
    ),
    (
        "grpo",
        {"reward_model": {**OTHER, "heads": 7}},
        {},
        [("alignment.reward_model.heads", "not-divisible")],
    ),
    (
        "grpo",
        {"reward_model": "./nowhere.json"},
        {},
        [("alignment.reward_model", "file-not-found")],
    ),
    (
        "ppo",
        {"prompt_tokens": 300, "response_tokens": 300},
        {"sequence_length": 500},
        [("sequence_length", "contradiction")],
    ),
    (
        "ppo",
        {"response_tokens": 500, "generation": {"max_response_tokens": 400}},
        {},
        [("alignment.generation.max_response_tokens", "contradiction")],
    ),
    (
        "grpo",
        {"generation": {"max_response_tokens": 1000}},
        {"sequence_length": 1536},
        [("alignment.generation.max_response_tokens", "contradiction")],
    ),
    ("grpo", {"groups": 4}, {}, [("alignment.groups", "unknown-key")]),
    ("grpo", {"group": 0}, {}, [("alignment.group", "out-of-range")]),
    ("grpo", {"placement": "appart"}, {}, [("alignment.placement", "wrong-value")]),
    ("gpro", None, {}, [("method", "wrong-value")]),
    (
        "ppo",
        None,
        {"lora": {"rank": 8}},
        [("lora", "contradiction")],
    ),
]


@pytest.mark.parametrize(("method", "alignment", "work", "expected"), FAULTS)
def test_faults(
    method: str,
    alignment: dict[str, Any] | None,
    work: dict[str, Any],
    expected: list[tuple[str, str]],
) -> None:
    """Tests each fault alone, all of one scenario at once."""
    found = told(method, alignment, **work)
    assert sorted(found) == sorted((f"workload.{p}", code) for p, code in expected)


def hints() -> dict[str | None, Issue]:
    """Faults of misspelt keys and words."""
    keys = {"method": "grpo", "samples": 5, "alignment": {"grup": 4}}
    other = {"method": "dp0", "samples": 5}
    return {i.path: i for t in (keys, other) for i in faults(text(t))}


def test_the_nearest_right_spelling_is_named() -> None:
    """Tests hints of keys and methods."""
    found = hints()
    assert found["workload.alignment.grup"].hint == "group"
    assert found["workload.method"].hint == "dpo"


def test_mean_length_of_documents_has_no_place() -> None:
    """Tests that lengths are stated once."""
    for method in ("dpo", "ppo", "grpo"):
        keys = {"method": method, "samples": 100}
        (issue,) = faults(text(keys, data={"mean_document_tokens": 100}))
        assert (issue.path, issue.code) == (
            "data.mean_document_tokens",
            "contradiction",
        )


def test_phases_of_sft_and_dpo() -> None:
    """Tests the usual chain: each phase has its own kind, the second a checkpoint."""
    phases = [
        {"name": "sft", "workload": {"method": "sft", "samples": 5000}},
        {
            "name": "dpo",
            "workload": {
                "method": "dpo",
                "samples": 2000,
                "alignment": {"reference": "own"},
            },
        },
    ]
    scenario = read(text({"train": "full", "sequence_length": 1024}, phases=phases))
    kinds = [phase.scenario.workload.kind for phase in scenario.phases]
    assert kinds == ["sft", "dpo"]
    starts = [phase.scenario.workload.start for phase in scenario.phases]
    assert starts == ["checkpoint", "checkpoint"]
    lengths = [phase.scenario.workload.sequence_length for phase in scenario.phases]
    assert lengths == [1024, 2048]
