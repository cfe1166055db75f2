"""Tests that catalog, config.json and scenario hold a model to the same rules."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from solver.catalog.load import load_catalog
from solver.catalog.transformer_rules import size_faults
from solver.errors import InputError
from solver.scenario.huggingface import architecture_from_config
from tests.catalog.small import write
from tests.planning.jobs import catalog
from tests.scenario.reading import faults as scenario_faults

SIZES: dict[str, Any] = {
    "layers": 4,
    "hidden": 64,
    "ffn": 128,
    "heads": 8,
    "kv_heads": 8,
    "head_dim": 8,
    "vocab": 1000,
}
EXPERTS = {"n_experts": 8, "experts_topk": 2, "moe_ffn": 32}
WRONG = [
    ({"kv_heads": 3}, "kv_heads"),
    (EXPERTS | {"experts_topk": 9}, "experts_topk"),
    (EXPERTS | {"first_dense_layers": 4}, "first_dense_layers"),
    (EXPERTS | {"moe_layer_freq": 5}, "moe_layer_freq"),
    ({"n_experts": 1}, "n_experts"),
    ({"experts_topk": 2}, "experts_topk"),
    ({"kv_lora_rank": 16, "qk_nope_dim": 8, "qk_rope_dim": 8}, "v_head_dim"),
    ({"hidden": 10**6, "vocab": 10**8, "layers": 10_000, "ffn": 10**7}, "hidden"),
    ({"layers": 20_000}, "layers"),
    ({"layers": 0}, "layers"),
    ({"moe_layer_freq": 0} | EXPERTS, "moe_layer_freq"),
    ({"sliding_window": -1}, "sliding_window"),
    ({"full_attention_every": 2}, "full_attention_every"),
]


@pytest.mark.parametrize(("change", "field"), WRONG)
def test_one_rule_for_catalog_and_scenario(
    tmp_path: Path, change: dict[str, Any], field: str
) -> None:
    """Tests that wrong sizes are a fault of the same size in both."""
    sizes = SIZES | change
    scenario = f"model: {json.dumps(sizes)}\nworkload: {{tokens: 1B}}\n"
    assert f"model.{field}" in {i.path for i in scenario_faults(scenario)}
    entry = {"name": "Mine", "source": "made up", "as_of": "2026-01", **sizes}
    folder = write(tmp_path, "architectures/mine.yaml", json.dumps(entry) + "\n")
    with pytest.raises(InputError) as caught:
        load_catalog([folder], environment={}).architecture("mine")
    issues = {i.path: i for i in caught.value.issues}
    assert f"mine.{field}" in issues
    assert "mine.yaml:1:" in str(issues[f"mine.{field}"].where)


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"num_key_value_heads": 3}, "num_key_value_heads"),
        ({"num_hidden_layers": 20_000}, "num_hidden_layers"),
        ({"num_experts_per_tok": 9}, "num_experts_per_tok"),
        ({"num_attention_heads": 7, "num_key_value_heads": 7}, "num_attention_heads"),
    ],
)
def test_the_same_rule_for_a_config(change: dict[str, int], path: str) -> None:
    """Tests that a config.json is held to it, under the names of its own keys."""
    config = {
        "model_type": "mixtral",
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_attention_heads": 8,
        "num_hidden_layers": 4,
        "vocab_size": 1000,
    }
    with pytest.raises(InputError) as caught:
        architecture_from_config(config | change, "config.json")
    assert path in {issue.path for issue in caught.value.issues}


def test_a_width_is_needed_unless_all_layers_are_mixtures() -> None:
    """Tests that only a model of experts throughout may have no dense width."""
    assert [f.field for f in size_faults(SIZES | {"ffn": 0})] == ["ffn"]
    everywhere = SIZES | EXPERTS | {"ffn": 0}
    assert size_faults(everywhere) == []
    assert [f.field for f in size_faults(everywhere | {"first_dense_layers": 1})] == [
        "ffn"
    ]


def test_all_shipped_architectures_keep_the_rules() -> None:
    """Tests that every shipped model goes together."""
    for entry in catalog().entries("architectures").values():
        assert size_faults(entry.model_dump()) == [], entry.id
