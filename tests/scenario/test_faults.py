"""Tests of how faults are found and told."""

from __future__ import annotations

import pytest

from solver.catalog.names import compact
from solver.scenario.faults import located, spec_at
from solver.scenario.model_schema import ModelSpec
from solver.scenario.range_schema import RangeSpec
from solver.scenario.schema import (
    GpusSpec,
    LoraSpec,
    ScenarioFile,
)
from solver.scenario.supply_schema import OfferSpec, OwnNetworkSpec
from solver.scenario.synonyms import WORDS
from solver.yaml_source import DataPath
from tests.scenario.reading import SMALL, faults, only_fault, read

DATA = {
    "constraints": {"parallelism": {"tp": [4, "x"]}, "purchase": "spott"},
    "offers": [{"name": "a"}, 7],
    "<list>": 1,
}


@pytest.mark.parametrize(
    ("loc", "path"),
    [
        (
            ("constraints", "parallelism", "tp", "<list>", 1),
            ("constraints", "parallelism", "tp", 1),
        ),
        (("constraints", "purchase", 0), ("constraints", "purchase")),
        (("offers", "<list>", 0, "gpu"), ("offers", 0, "gpu")),
        (("offers", "<list>", 1), ("offers", 1)),
        (("workload",), ("workload",)),
    ],
)
def test_places_of_pydantic_are_those_of_the_file(
    loc: tuple[str | int, ...], path: DataPath
) -> None:
    """Tests that forms and positions that nobody wrote are left out."""
    assert located(loc, DATA) == path


@pytest.mark.parametrize(
    ("path", "spec"),
    [
        ((), ScenarioFile),
        (("model",), ModelSpec),
        (("constraints", "gpus"), GpusSpec),
        (("constraints", "parallelism", "tp"), RangeSpec),
        (("workload", "lora"), LoraSpec),
        (("offers", 3), OfferSpec),
        (("offers", 3, "network"), OwnNetworkSpec),
        (("name",), None),
        (("nonsense", "deeper"), None),
    ],
)
def test_the_keys_of_each_place_are_known(path: DataPath, spec: type | None) -> None:
    """Tests that for any mapping its right keys can be told."""
    assert spec_at(path) is spec


@pytest.mark.parametrize(
    ("lines", "path", "hint"),
    [
        ("constrains: {deadline: 3 days}", "constrains", "constraints"),
        ("deadline: 3 days", "deadline", "constraints.deadline"),
        ("sequence_length: 4096", "sequence_length", "workload.sequence_length"),
        ("constraints: {limits: 3}", "constraints.limits", None),
        ("constraints: {workload: 3}", "constraints.workload", "workload"),
        ("constraints: {gpus: {type: [H100]}}", "constraints.gpus.type", "types"),
        ("data: {sze: 3 TB}", "data.sze", "size"),
        ("limits: {sead: 3}", "limits.sead", "seed"),
        ("stock: {unknown_node: 3}", "stock.unknown_node", "unknown_nodes"),
        ("objective: {costs: 3}", "objective.costs", "cost"),
        ("prices: [{discount: 5%, vendor: aws}]", "prices[0].vendor", None),
        ("zzz: 3", "zzz", None),
    ],
)
def test_unknown_keys(lines: str, path: str, hint: str | None) -> None:
    """Tests the hint of a wrong key: near in its place, or right in another."""
    issue = only_fault(f"{SMALL}{lines}\n")
    assert issue.code == "unknown-key"
    assert issue.path == path
    if hint is not None:
        assert issue.hint == hint
    elif issue.hint is None:
        assert "expected one of" in issue.message


@pytest.mark.parametrize(
    ("lines", "code", "column"),
    [
        ("constraints: [deadline]", "wrong-type", 1),
        ("objective: money", "wrong-value", 12),
        ("objective: 3", "wrong-type", 12),
        ("objective: {cost: 0}", "contradiction", 1),
        ("catalog: all", "wrong-value", 10),
        ("offers: 7", "wrong-type", 9),
        ("offers: mine.csv", "file-not-found", 9),
        ("offers: {name: a}", "wrong-type", 1),
        ("prices: {discount: 5%}", "wrong-type", 1),
        ("limits: {workers: two}", "wrong-type", 19),
        ("name: [a]", "wrong-type", 1),
        ("overheads: {setup: 3 hourz}", "unknown-unit", 20),
        ("data: {mean_document_tokens: 0}", "out-of-range", 30),
    ],
)
def test_wrong_values(lines: str, code: str, column: int) -> None:
    """Tests that a wrong value is told at its place; mappings at their key."""
    issue = only_fault(f"{SMALL}{lines}\n")
    assert (issue.code, issue.where) == (code, f"s.yaml:3:{column}")


def test_what_is_shown_is_as_written() -> None:
    """Tests that messages quote the user, not what was made of it."""
    issue = only_fault(f"{SMALL}objective: Cost First\n")
    assert "'Cost First'" in issue.message


def test_long_words_are_cut() -> None:
    """Tests that a message stays a line, whatever was written."""
    issue = only_fault(f"{SMALL}objective: {'money' * 500}\n")
    assert len(issue.message) < 150


def test_faults_of_one_item_leave_the_others() -> None:
    """Tests that prices after a faulty one are still looked up."""
    text = f"{SMALL}prices: [{{discount: x}}, 3, {{discount: 5%, gpu: h102}}]\n"
    assert [(issue.code, issue.path) for issue in faults(text)] == [
        ("wrong-type", "prices[0].discount"),
        ("wrong-type", "prices[1]"),
        ("unknown-name", "prices[2].gpu"),
    ]


@pytest.mark.parametrize(
    ("key", "written", "hint"),
    [
        ("constraints.countries", "SG,JP", "[SG, JP]"),
        (
            "constraints.regions",
            "aws/us-east-1, us-west-2",
            "[aws/us-east-1, us-west-2]",
        ),
        ("constraints.providers", "aws,gcp", "[aws, gcp]"),
        ("constraints.gpus.types", "H100, A100", "[H100, A100]"),
        ("constraints.purchase", "spot,on_demand", "[spot, on_demand]"),
        ("constraints.gpus.per_node", "4,8", "[4, 8]"),
        ("constraints.parallelism.tp", "4,8", "[4, 8]"),
        ("constraints.parallelism.recompute", "none,full", "[none, full]"),
        ("workload.precision", "bf16,fp8", "[bf16, fp8]"),
        ("model", "llama-2-7b,llama-2-13b", "llama-2-13b"),
    ],
)
def test_text_with_commas_may_be_meant_as_a_list(
    key: str, written: str, hint: str
) -> None:
    """Tests that a list without brackets is recognised where a list may stand."""
    issue = only_fault(SMALL, [(key, written)])
    assert issue.hint == hint


@pytest.mark.parametrize(
    ("key", "written", "hint"),
    [
        ("model", "mixtral", "mixtral-8x7b-v0.1"),
        ("model", "mistralai/mixtral", "mixtral-8x7b-v0.1"),
        ("workload.framework", "mega", "megatron"),
        ("constraints.providers", "hyper", "hyperbolic"),
    ],
)
def test_the_beginning_of_a_name_is_enough_for_a_hint(
    key: str, written: str, hint: str
) -> None:
    """Tests that part of a name leads to the name."""
    issue = only_fault(SMALL, [(key, written)])
    assert (issue.code, issue.hint) == ("unknown-name", hint)


@pytest.mark.parametrize(
    ("optimizer", "framework", "method", "able"),
    [
        ("adamw-8bit", "megatron", "full", "deepspeed, hf-trainer, pytorch-fsdp"),
        ("paged-adamw", "torchtitan", "full", "deepspeed, hf-trainer, pytorch-fsdp"),
        ("lion-8bit", "nanotron", "full", "deepspeed, hf-trainer, pytorch-fsdp"),
        ("paged-adamw-8bit", None, "full", "deepspeed, hf-trainer, pytorch-fsdp"),
        ("paged-adamw-8bit", None, "qlora", None),
        ("adamw-8bit", "pytorch-fsdp", "full", None),
        ("adamw", "megatron", "full", None),
    ],
)
def test_an_optimizer_that_the_framework_lacks(
    optimizer: str, framework: str | None, method: str, able: str | None
) -> None:
    """Tests that it is refused, with the frameworks that run it."""
    keys = [
        ("workload.optimizer", optimizer),
        ("workload.framework", framework),
        ("workload.method", method),
    ]
    if able is None:
        assert read(SMALL, keys).workload.optimizer == optimizer
        return
    issue = only_fault(SMALL, keys)
    assert (issue.code, issue.path) == ("optimizer-unsupported", "workload.optimizer")
    assert f"; {able} can" in issue.message


@pytest.mark.parametrize(
    ("override", "message"),
    [
        (
            "offers={name: x}",
            "expected a list of offers, or the name of a CSV file, "
            "not keys and their values",
        ),
        (
            "workload.global_batch_size=[1, 2]",
            "expected a single value or keys and their values, not a list",
        ),
        ("model=[1]", "expected a single value or keys and their values, not a list"),
    ],
)
def test_forms_are_told_in_our_own_words(override: str, message: str) -> None:
    """Tests that a list or mapping where none belongs is told without jargon."""
    issue = only_fault(SMALL, [override])
    assert (issue.code, issue.message) == ("wrong-type", message)


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("limits.seed", "2147483648", "expected 0 to 2,147,483,647, not 2147483648"),
        ("limits.workers", "1000", "expected 1 to 256 threads, not 1000"),
        ("limits.workers", "0", "expected 1 to 256 threads, not 0"),
        ("workload.tokens", "1e30", "expected 1 to 1e+18 tokens, not 1e+30"),
        ("data.bytes_per_token", "1e10", "expected 0.001 to 1,000,000,000 bytes"),
        ("workload.sequence_length", "1B", "expected 1 to 100,000,000 tokens"),
        ("data.mean_document_tokens", "1T", "expected 1 to 1,000,000,000 tokens"),
        ("stock.unknown_nodes", "2M", "expected 1 to 1,000,000 nodes, not '2M'"),
        ("constraints.parallelism.tp", "2M", "expected 1 to 1,000,000, not '2M'"),
    ],
)
def test_quantities_have_limits(key: str, value: str, expected: str) -> None:
    """Tests that a number beyond reason is told with what is expected."""
    issue = only_fault(SMALL, [f"{key}={value}"])
    assert (issue.code, issue.path) == ("out-of-range", key)
    assert issue.message.startswith(expected)


def test_products_have_limits() -> None:
    """Tests that numbers that are each right cannot make one beyond reason."""
    samples = SMALL.replace("tokens: 2T", "samples: 1e17, epochs: 1e5")
    assert samples != SMALL
    issue = only_fault(samples)
    assert (issue.code, issue.path) == ("out-of-range", "workload.samples")
    issue = only_fault(SMALL, ["workload.global_batch_size={tokens: 1e13}"])
    assert issue.path == "workload.global_batch_size.tokens"


def test_what_is_repeated_is_short_and_harmless() -> None:
    """Tests that long text is shortened and that no escape reaches a terminal."""
    text = "x" * 400 + "\x1b"
    overrides = [
        ("model", text),
        ("workload.precision", text),
        ("constraints.a\x1b", 1),
    ]
    told = [str(issue) for issue in faults(SMALL, overrides)]
    assert len(told) == 3
    assert all(len(line) < 250 and line.isprintable() for line in told)
    assert any("constraints.a\\x1b" in line for line in told)


@pytest.mark.parametrize(
    ("key", "written", "hint"),
    [
        ("packing", "pad", "padded"),
        ("packing", False, "padded"),
        ("tokens", "chinchilla", "compute-optimal"),
        ("tokens", "Optimal", "compute-optimal"),
        ("offload_to", "cpu", "host"),
        ("offload_to", ["RAM"], "host"),
        ("offload_to", "disk", "nvme"),
        ("method", "RLHF", "ppo"),
        ("lora.base", "int4", "nf4"),
        ("lora.base", "4-bit", "nf4"),
        ("lora.base", "nf4-double", "nf4"),
        ("lora.base", "8bit", "int8"),
        ("lora.targets", "all-linear", "[q, k, v, o, gate, up, down]"),
    ],
)
def test_other_words_for_the_same_are_known(
    key: str, written: object, hint: str
) -> None:
    """Tests that what was meant is the hint, not what is spelled alike."""
    found = faults(SMALL, [(f"workload.{key}", written)])
    assert found[0].path.startswith(f"workload.{key}")
    assert found[0].hint == hint


@pytest.mark.parametrize(
    ("key", "written", "told"),
    [
        ("method", "orpo", "dpo is nearest in kind"),
        ("method", "KTO", "dpo is nearest in kind"),
        ("method", "simpo", "dpo is nearest in kind"),
        ("method", "dora", "lora is nearest in kind"),
        ("train", "dora", "lora is nearest in kind"),
        ("offload", "cpu", "offload_to where to: host"),
        ("offload", ["ram"], "offload_to where to: host"),
        ("offload", "nvme", "offload_to where to: nvme"),
    ],
)
def test_what_no_word_stands_for_has_a_remark(
    key: str, written: object, told: str
) -> None:
    """Tests that no wrong word is suggested where none means the same."""
    issue = only_fault(SMALL, [(f"workload.{key}", written)])
    assert (issue.code, issue.hint) == ("wrong-value", None)
    assert issue.message.endswith(told)


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        ("lora.r", "rank"),
        ("lora.target_modules", "targets"),
        ("cpu_offload", "offload"),
    ],
)
def test_other_names_of_keys_are_known(key: str, hint: str) -> None:
    """Tests keys as other programs call them."""
    method = [("workload.method", "lora"), ("workload.tokens", "2B")]
    issue = only_fault(SMALL, [*method, (f"workload.{key}", 8)])
    assert (issue.code, issue.hint) == ("unknown-key", hint)


def test_linear_layers_are_named_as_peft_does() -> None:
    """Tests q_proj for q, and that what is no layer has no list as its hint."""
    keys = [("workload.method", "lora"), ("workload.tokens", "2B")]
    long = read(SMALL, [*keys, ("workload.lora.targets", ["q_proj", "Down-Proj"])])
    short = read(SMALL, [*keys, ("workload.lora.targets", ["q", "down"])])
    assert long.workload == short.workload
    issue = only_fault(SMALL, [*keys, ("workload.lora.targets", ["q_proj", "lm_head"])])
    assert (issue.code, issue.path) == ("wrong-value", "workload.lora.targets[1]")


def test_synonyms_lead_to_right_words() -> None:
    """Tests that every hint of a synonym is itself read, under a method that has it."""
    lora = [("workload.method", "lora"), ("workload.tokens", "2B")]
    moved = [*lora, ("workload.framework", "deepspeed"), ("workload.offload", "any")]
    padded = [("data.mean_document_tokens", 500)]
    usual = {"base": lora, "targets": lora, "offload_to": moved, "packing": padded}
    for (section, key), words in WORDS.items():
        path = "workload." + key if section == "workload" else f"workload.lora.{key}"
        assert set(words) == {compact(word) for word in words}
        for hint in {meant.hint for meant in words.values() if meant.hint}:
            if hint == "ppo":
                continue  # needs the keys of alignment, too
            value = hint.strip("[]").split(", ") if hint.startswith("[") else hint
            assert read(SMALL, [*usual.get(key, ()), (path, value)])


@pytest.mark.parametrize(
    ("key", "told"),
    [
        ("optimizer", "but adafactor, adagrad, adamw, "),
        ("framework", "but deepspeed, hf-trainer, megatron, "),
    ],
)
def test_a_name_near_to_none_gets_some_that_there_are(key: str, told: str) -> None:
    """Tests that the message names entries, and how to list all where they are many."""
    issue = only_fault(SMALL, [(f"workload.{key}", "shampoo")])
    assert (issue.code, issue.hint) == ("unknown-name", None)
    assert told in issue.message
    assert ("`gpuplan catalog list optimizers`" in issue.message) == (
        key == "optimizer"
    )
