"""Tests that editors accept what gpuplan accepts, by the published JSON Schema."""

from __future__ import annotations

import copy
from functools import cache
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from solver.scenario.gallery import scenario_schema, shipped_names, show_scenario
from solver.yaml_source import load_yaml
from tests.scenario.reading import faults, read

SMALL: dict[str, Any] = {"model": "llama-2-7b", "workload": {"tokens": "2T"}}

SINGLE = """\
constraints.countries: SG
constraints.regions: aws/us-east-1
constraints.providers: aws
constraints.purchase: spot
constraints.gpus.types: H100
constraints.gpus.exclude: L4
constraints.gpus.per_node: 8
constraints.intra_node.kinds: nvswitch
constraints.network.kinds: infiniband
constraints.storage.kinds: local_nvme
constraints.parallelism.recompute: full
constraints.parallelism.tp: 8
constraints.parallelism.pp: 2
constraints.parallelism.cp: 1
constraints.parallelism.ep: 1
constraints.parallelism.dp: 4
constraints.parallelism.virtual_stages: 2
constraints.parallelism.micro_batch: 1
constraints.parallelism.zero_stage: 1
workload.global_batch_size: 1024
objective: time
"""
"""Keys that may have a list or a mapping, with a single value."""

OTHERWISE = """\
constraints.countries: [SG, Japan]
constraints.purchase: [On-Demand, spot]
constraints.purchase: on demand
constraints.gpus.per_node: [4, 8]
constraints.storage.kinds: [Local NVMe]
constraints.parallelism.tp: [2, 4]
constraints.parallelism.tp: {min: 2, max: 8}
constraints.parallelism.zero_stage: {max: 2}
constraints.parallelism: null
constraints.deadline: 30 days
constraints.deadline: 30
constraints.budget: $250k
constraints: null
workload.global_batch_size: {tokens: 4M, tolerance: 5%}
workload.global_batch_size: 1k
workload.tokens: {text: 2 TB, bytes_per_token: 4.2}
workload.tokens: {text: 2 TB}
workload.packing: Packed
workload.precision: BF16
workload.method: Full
objective: {cost: 1, usd_per_day: 500}
objective: null
name: 2027
data.size: 8 TB
limits.time: 60
catalog: Include
offers: null
prices: [{discount: 20%, purchase: On-demand}]
"""
"""Other forms: lists, ranges, spellings, units, keys without a value."""

ADAPTERS = "{tokens: 2B, method: lora, lora: {targets: q}}"
PEFT_NAMES = "{tokens: 2B, method: lora, lora: {targets: [q_proj, Down-proj]}}"

OFFER = (
    "{name: mine, gpu: l40s, gpus_per_node: 8, storage: lustre, max_nodes: 0, "
    "network: {kind: RoCE, gbps_per_node: 400}}"
)

WRONG = """\
constraint.budget: 5
constraints.deadlin: 30 days
constraints.purchase: sport
constraints.purchase: [spot, sport]
constraints.parallelism.tp: {mni: 1}
constraints.parallelism.recompute: some
workload.precision: bf17
workload.tokens: {txt: 2 TB}
workload.packing: loose
workload.lora.target: q
objective: fastest
offers: [{name: a}]
prices: [{provider: aws}]
"""


def with_key(path: str, value: Any) -> dict[str, Any]:
    """Return the shortest scenario with one more key."""
    data = copy.deepcopy(SMALL)
    *parents, last = path.split(".")
    place = data
    for parent in parents:
        place = place.setdefault(parent, {})
    place[last] = value
    return data


def lines(table: str) -> list[tuple[str, Any]]:
    """Return the keys and values of a table, one a line."""
    pairs = [load_yaml(line, "line").data for line in table.splitlines()]
    return [next(iter(pair.items())) for pair in pairs]


def as_yaml(path: str, value: Any) -> tuple[str, list[tuple[str, Any]]]:
    """Return the same scenario for gpuplan: text and an override."""
    return "model: llama-2-7b\nworkload: {tokens: 2T}\n", [(path, value)]


@cache
def editor() -> Draft202012Validator:
    """Return what an editor checks scenarios with."""
    schema = scenario_schema()
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


@pytest.mark.parametrize("name", shipped_names())
def test_shipped_scenarios_are_valid(name: str) -> None:
    """Tests that no shipped scenario is red in an editor."""
    data = load_yaml(show_scenario(name), name).data
    assert [error.message for error in editor().iter_errors(data)] == []


@pytest.mark.parametrize(("path", "value"), lines(SINGLE) + lines(OTHERWISE))
def test_what_gpuplan_reads_is_valid(path: str, value: Any) -> None:
    """Tests every form: gpuplan reads it, and the schema allows it."""
    read(*as_yaml(path, value))
    data = with_key(path, value)
    assert [error.message for error in editor().iter_errors(data)] == []


@pytest.mark.parametrize(("path", "value"), lines(WRONG))
def test_what_gpuplan_refuses_is_not_valid(path: str, value: Any) -> None:
    """Tests that misspelled keys and words are told while typing."""
    assert faults(*as_yaml(path, value))
    assert not editor().is_valid(with_key(path, value))


@pytest.mark.parametrize(
    ("path", "text"),
    [("workload", ADAPTERS), ("workload", PEFT_NAMES), ("offers", OFFER)],
)
def test_single_values_deeper_down(path: str, text: str) -> None:
    """Tests a single LoRA target, and a single storage tier of an offer."""
    value = load_yaml(f"x: {text}", "line").data["x"]
    value = [value] if path == "offers" else value
    read(*as_yaml(path, value))
    assert editor().is_valid(SMALL | {path: value})


def test_every_list_of_values_may_be_a_single_one() -> None:
    """Tests the schema itself: where a list of plain values may stand, one may."""
    schema = scenario_schema()
    alone = []
    for mapping in (schema, *schema["$defs"].values()):
        for key, field in mapping.get("properties", {}).items():
            forms = [f for form in field.get("anyOf", [field]) for f in opened(form)]
            lists = [form for form in forms if form.get("type") == "array"]
            plain = [form for form in lists if "$ref" not in str(form["items"])]
            if plain and not any("type" in f and f not in lists for f in forms):
                alone.append(key)
    assert alone == []


def opened(form: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the alternatives of a form of a value, but not of a list's items."""
    inner = form.get("anyOf") or form.get("oneOf")
    if inner is None:
        return [form] if form.get("type") != "null" else []
    return [f for part in inner for f in opened(part)]
