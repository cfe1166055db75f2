"""Tests of reading Hugging Face config.json files."""

import json
from pathlib import Path
from typing import Any

import pytest

from solver.catalog.schema import Architecture
from solver.errors import InputError
from solver.scenario.huggingface import (
    MODEL_TYPES,
    architecture_from_config,
    read_config,
)
from solver.scenario.parameters import active_parameters
from tests.scenario.reading import faults, read

LLAMA: dict[str, Any] = {
    "hidden_size": 64,
    "intermediate_size": 172,
    "num_attention_heads": 8,
    "num_hidden_layers": 4,
    "num_key_value_heads": 2,
    "vocab_size": 1000,
    "max_position_embeddings": 512,
}
GPT2: dict[str, Any] = {
    "n_embd": 64,
    "n_layer": 4,
    "n_head": 8,
    "n_positions": 256,
    "vocab_size": 1000,
    "resid_pdrop": 0.1,
}


def architecture(model_type: str, config: dict[str, Any], **more: Any) -> Architecture:
    """Return the architecture of a config of some type."""
    return architecture_from_config(
        config | {"model_type": model_type} | more, "config.json"
    )


@pytest.mark.parametrize("model_type", ["llama", "mistral", "qwen2", "qwen3", "phi3"])
def test_llama_and_its_kin(model_type: str) -> None:
    """Tests the plain reading of RMSNorm models with gated layers."""
    found = architecture(model_type, LLAMA)
    assert (found.layers, found.hidden, found.ffn, found.vocab) == (4, 64, 172, 1000)
    assert (found.heads, found.kv_heads, found.head_dim) == (8, 2, 8)
    assert (found.max_seq, found.sliding_window) == (512, 0)
    assert found.gated
    extras = (found.layer_norm, found.linear_bias, found.tied_embeddings)
    assert extras == (False, False, False)


def test_heads_of_their_own_size_and_tied_embeddings() -> None:
    """Tests sizes that are stated rather than derived."""
    found = architecture("qwen3", LLAMA, head_dim=128, tie_word_embeddings=True)
    assert (found.head_dim, found.tied_embeddings) == (128, True)
    gemma = architecture("gemma", LLAMA)
    assert (gemma.head_dim, gemma.tied_embeddings) == (256, True)


def test_sliding_windows() -> None:
    """Tests that a window counts where the model uses it, and everywhere."""
    assert architecture("mistral", LLAMA, sliding_window=128).sliding_window == 128
    assert architecture("qwen2", LLAMA, sliding_window=128).sliding_window == 0


@pytest.mark.parametrize(
    ("model_type", "more", "every"),
    [
        ("gemma2", {}, 2),
        ("gemma3_text", {}, 6),
        ("gemma3_text", {"sliding_window_pattern": 4}, 4),
        (
            "gemma3_text",
            {"layer_types": ["sliding_attention", "full_attention"] * 2},
            2,
        ),
        ("gemma3_text", {"layer_types": ["sliding_attention"] * 4}, 0),
        ("gemma2", {"sliding_window": None}, 0),
    ],
)
def test_windows_in_some_layers_only(
    model_type: str, more: dict[str, object], every: int
) -> None:
    """Tests every how many layers one looks at everything, stated or by the type."""
    keys = {"sliding_window": 128, "num_hidden_layers": 4, **more}
    found = architecture(model_type, LLAMA, **keys)
    assert found.full_attention_every == every
    assert found.sliding_window == (keys["sliding_window"] or 0)


def test_mixtral() -> None:
    """Tests a mixture whose experts are as wide as the layer."""
    found = architecture("mixtral", LLAMA, num_local_experts=8, num_experts_per_tok=2)
    assert (found.n_experts, found.experts_topk, found.moe_ffn) == (8, 2, 172)


def test_qwen_mixture() -> None:
    """Tests narrow experts, and a shared expert in widths of theirs."""
    found = architecture(
        "qwen2_moe",
        LLAMA,
        num_experts=60,
        num_experts_per_tok=4,
        moe_intermediate_size=20,
        shared_expert_intermediate_size=80,
        decoder_sparse_step=2,
    )
    assert (found.n_experts, found.experts_topk, found.moe_ffn) == (60, 4, 20)
    assert (found.shared_experts, found.moe_layer_freq) == (4, 2)


def test_deepseek() -> None:
    """Tests latent attention and leading dense layers."""
    found = architecture(
        "deepseek_v3",
        LLAMA,
        num_key_value_heads=8,
        n_routed_experts=16,
        num_experts_per_tok=4,
        n_shared_experts=1,
        moe_intermediate_size=32,
        first_k_dense_replace=1,
        q_lora_rank=None,
        kv_lora_rank=32,
        qk_nope_head_dim=16,
        qk_rope_head_dim=8,
        v_head_dim=16,
    )
    assert (found.n_experts, found.first_dense_layers) == (16, 1)
    assert (found.q_lora_rank, found.kv_lora_rank) == (0, 32)
    assert (found.head_dim, found.v_head_dim) == (24, 16)


@pytest.mark.parametrize(("model_type", "kv_heads"), [("gpt2", 8), ("gpt_bigcode", 1)])
def test_gpt2(model_type: str, kv_heads: int) -> None:
    """Tests models with LayerNorm, biases, dropout and learned positions."""
    found = architecture(model_type, GPT2)
    assert (found.ffn, found.kv_heads, found.learned_positions) == (256, kv_heads, 256)
    assert found.layer_norm
    assert found.linear_bias
    assert found.tied_embeddings
    assert found.dropout
    assert not found.gated


@pytest.mark.parametrize("model_type", ["gpt_neox", "starcoder2", "phi"])
def test_plain_models(model_type: str) -> None:
    """Tests LayerNorm models with rotary positions and a plain layer."""
    found = architecture(model_type, LLAMA)
    assert found.layer_norm
    assert found.linear_bias
    assert not found.gated
    assert found.tied_embeddings == (model_type == "starcoder2")


def test_opt() -> None:
    """Tests that OPT has two more rows of positions than it has tokens."""
    config = {k: v for k, v in LLAMA.items() if k != "intermediate_size"}
    found = architecture("opt", config, ffn_dim=256, dropout=0.0)
    assert (found.learned_positions, found.max_seq, found.ffn) == (514, 512, 256)
    assert not found.dropout
    assert not found.note
    narrow = architecture("opt", config, ffn_dim=256, word_embed_proj_dim=32)
    assert "too high" in narrow.note


def test_bloom() -> None:
    """Tests the older names of BLOOM's keys."""
    found = architecture(
        "bloom", {"n_embed": 64, "n_layer": 4, "n_head": 8, "vocab_size": 1000}
    )
    assert (found.hidden, found.ffn, found.tied_embeddings) == (64, 256, True)


def test_falcon() -> None:
    """Tests that Falcon's decoders differ in their key and value heads."""
    assert architecture("falcon", LLAMA).kv_heads == 1
    newer = architecture("falcon", LLAMA, new_decoder_architecture=True, num_kv_heads=4)
    assert newer.kv_heads == 4
    assert architecture("falcon", LLAMA, multi_query=False).kv_heads == 8


def test_nested_mappings() -> None:
    """Tests DBRX and MPT, whose attention has a mapping of its own."""
    outer = {"d_model": 64, "n_heads": 8, "n_layers": 4, "vocab_size": 1000}
    dbrx = architecture(
        "dbrx",
        outer,
        attn_config={"kv_n_heads": 2},
        ffn_config={"ffn_hidden_size": 96, "moe_num_experts": 16, "moe_top_k": 4},
    )
    assert (dbrx.kv_heads, dbrx.n_experts, dbrx.experts_topk) == (2, 16, 4)
    mpt = architecture("mpt", outer, no_bias=True)
    assert (mpt.ffn, mpt.linear_bias) == (256, False)


def test_the_text_part_of_a_larger_model() -> None:
    """Tests that a vision model's text part is what is read."""
    found = architecture_from_config(
        {
            "model_type": "gemma3_vision",
            "text_config": LLAMA | {"model_type": "gemma3_text"},
        },
        "config.json",
    )
    assert found.layers == 4


@pytest.mark.parametrize("model_type", MODEL_TYPES)
def test_an_empty_config_names_what_is_missing(model_type: str) -> None:
    """Tests that sizes are never guessed: every type says which keys it needs."""
    with pytest.raises(InputError) as caught:
        architecture(model_type, {})
    found = caught.value.issues
    assert {issue.code for issue in found} == {"missing-key"}
    assert len(found) >= 4


@pytest.mark.parametrize("value", ["64", 6.5, True, -1, 10**40, [64], {}])
def test_sizes_of_the_wrong_kind(value: object) -> None:
    """Tests that a size has to be a whole number."""
    with pytest.raises(InputError) as caught:
        architecture("llama", LLAMA, hidden_size=value)
    (issue,) = caught.value.issues
    assert (issue.code, issue.path) == ("wrong-type", "hidden_size")


def test_zero_and_indivisible_sizes() -> None:
    """Tests that sizes have to make a model."""
    with pytest.raises(InputError, match="layers"):
        architecture("llama", LLAMA, num_hidden_layers=0)
    with pytest.raises(InputError, match="cannot share 3"):
        architecture("llama", LLAMA, num_key_value_heads=3)


def test_published_sizes() -> None:
    """Tests that a real model's sizes make its published parameters."""
    found = architecture(
        "llama",
        {
            "hidden_size": 4096,
            "intermediate_size": 11008,
            "num_attention_heads": 32,
            "num_hidden_layers": 32,
            "vocab_size": 32000,
        },
    )
    assert active_parameters(found) == pytest.approx(6.74e9, rel=0.005)


def test_a_scenario_may_name_a_file(tmp_path: Path) -> None:
    """Tests that the path is relative to the scenario, and a folder will do."""
    folder = tmp_path / "model"
    folder.mkdir()
    config = LLAMA | {"model_type": "llama", "_name_or_path": "tiny"}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    for path in ("model/config.json", "./model"):
        scenario = read(f"model: {path}\nworkload: {{tokens: 1B}}\n", base=tmp_path)
        assert (scenario.architecture.name, scenario.architecture.layers) == ("tiny", 4)
        assert scenario.workload.sequence_length == 512


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("[1]", "wrong-type"),
        ("{", "json-syntax"),
        ('{"a": ' + "[" * 100_000, "json-syntax"),
        ('{"model_type": "lama"}', "unknown-model-type"),
        ('{"model_type": ["llama"]}', "wrong-type"),
        ("{}", "unknown-model-type"),
        ('{"hidden_size": ' + "9" * 10_000 + "}", "json-syntax"),
        ('{"model_type": "dbrx", "attn_config": 3}', "wrong-type"),
    ],
)
def test_files_that_are_none(tmp_path: Path, content: str, code: str) -> None:
    """Tests that what is no config.json is a fault, whatever it is."""
    file = tmp_path / "config.json"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_config(file, "config.json")
    assert code in {issue.code for issue in caught.value.issues}


def test_a_wrong_file_does_not_hide_other_faults(tmp_path: Path) -> None:
    """Tests that the rest of the scenario is still checked."""
    (tmp_path / "config.json").write_text("{", encoding="utf-8")
    text = "model: ./config.json\nworkload: {tokens: 1B, optimizer: adamx}\n"
    assert [issue.code for issue in faults(text, base=tmp_path)] == [
        "json-syntax",
        "unknown-name",
    ]
