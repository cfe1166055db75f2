"""Hugging Face model types with experts: which keys hold their sizes.

Sources: as for `solver.scenario.dense_types`.
"""

from __future__ import annotations

from collections.abc import Callable

from solver.scenario.config_keys import Config
from solver.scenario.dense_types import (
    HYBRID_NOTE,
    Sizes,
    alternating,
    llama_sizes,
    qwen_sizes,
)

__all__ = ["EXPERT_READERS"]


def _mixtral(config: Config) -> Sizes:
    """Read Mixtral: every layer's feed-forward is a mixture of experts."""
    sizes = llama_sizes(config)
    return sizes | {
        "n_experts": config.size("num_local_experts", default=8),
        "experts_topk": config.size("num_experts_per_tok", default=2),
        "moe_ffn": sizes["ffn"],
    }


def _qwen_moe(config: Config) -> Sizes:
    """Read Qwen mixtures of experts; a shared expert counts in expert widths."""
    sizes = qwen_sizes(config, ffn=0)
    moe_ffn = config.size("moe_intermediate_size")
    shared = config.size("shared_expert_intermediate_size", default=0)
    return sizes | {
        "n_experts": config.size("num_experts", "num_local_experts"),
        "experts_topk": config.size("num_experts_per_tok"),
        "moe_ffn": moe_ffn,
        "shared_experts": round(shared / max(moe_ffn, 1)),
        "moe_layer_freq": config.size("decoder_sparse_step", default=1),
    }


def _deepseek(config: Config) -> Sizes:
    """Read DeepSeek V2 and V3: latent attention and experts."""
    sizes = llama_sizes(config)
    experts = {
        "n_experts": config.size("n_routed_experts", default=0),
        "experts_topk": config.size("num_experts_per_tok", default=0),
        "shared_experts": config.size("n_shared_experts", default=0),
        "moe_ffn": config.size("moe_intermediate_size", default=0),
        "first_dense_layers": config.size("first_k_dense_replace", default=0),
        "moe_layer_freq": config.size("moe_layer_freq", default=1),
    }
    return (
        sizes
        | (experts if experts["n_experts"] else {})
        | {
            "q_lora_rank": config.size("q_lora_rank", default=0),
            "kv_lora_rank": config.size("kv_lora_rank"),
            "qk_nope_dim": config.size("qk_nope_head_dim"),
            "qk_rope_dim": config.size("qk_rope_head_dim"),
            "v_head_dim": config.size("v_head_dim"),
            "head_dim": config.size("qk_nope_head_dim")
            + config.size("qk_rope_head_dim"),
        }
    )


def _dbrx(config: Config) -> Sizes:
    """Read DBRX, whose attention and experts have mappings of their own."""
    attention, experts = config.part("attn_config"), config.part("ffn_config")
    hidden, heads = config.size("d_model"), config.size("n_heads")
    ffn = experts.size("ffn_hidden_size")
    return {
        "layers": config.size("n_layers"),
        "hidden": hidden,
        "ffn": ffn,
        "heads": heads,
        "kv_heads": attention.size("kv_n_heads", default=heads),
        "head_dim": hidden // max(heads, 1),
        "vocab": config.size("vocab_size"),
        "max_seq": config.size("max_seq_len", default=0) or None,
        "gated": True,
        "layer_norm": True,
        "tied_embeddings": config.flag("tie_word_embeddings", default=False),
        "n_experts": experts.size("moe_num_experts"),
        "experts_topk": experts.size("moe_top_k"),
        "moe_ffn": ffn,
    }


def _qwen2_moe(config: Config) -> Sizes:
    """Read Qwen 1.5 and 2 mixtures: biases on queries, keys and values."""
    return _qwen_moe(config) | {"qkv_bias": config.flag("qkv_bias", default=True)}


def _qwen_hybrid(config: Config) -> Sizes:
    """Read Qwen3-Next and 3.5, of whose layers three in four have linear attention."""
    return _qwen_moe(config) | {"note": HYBRID_NOTE}


def _deepseek_sparse(config: Config) -> Sizes:
    """Read DeepSeek 3.2 and GLM-5: as DeepSeek V3, with an index of tokens."""
    note = "Sparse attention and its index are not modelled."
    return _deepseek(config) | {"note": note}


def _olmoe(config: Config) -> Sizes:
    """Read OLMoE, whose every layer is a mixture."""
    sizes = llama_sizes(config)
    return sizes | {
        "n_experts": config.size("num_experts"),
        "experts_topk": config.size("num_experts_per_tok"),
        "moe_ffn": sizes["ffn"],
    }


def _phimoe(config: Config) -> Sizes:
    """Read Phi-3.5-MoE: LayerNorm and biases in attention."""
    return _mixtral(config) | {"layer_norm": True, "sliding_window": 0}


def _gpt_oss(config: Config) -> Sizes:
    """Read gpt-oss: biases everywhere, a window in every other layer."""
    sizes = _mixtral(config) | {
        "n_experts": config.size("num_local_experts"),
        "experts_topk": config.size("num_experts_per_tok", "experts_per_token"),
        "qkv_bias": False,
        "linear_bias": config.flag("attention_bias", default=True),
    }
    return alternating(sizes, config, usual=2)


def _llama4(config: Config) -> Sizes:
    """Read Llama 4: one shared expert, in some models in every other layer."""
    sizes = llama_sizes(config)
    return sizes | {
        "ffn": config.size("intermediate_size_mlp"),
        "n_experts": config.size("num_local_experts"),
        "experts_topk": config.size("num_experts_per_tok", default=1),
        "shared_experts": 1,
        "moe_ffn": config.size("intermediate_size"),
        "moe_layer_freq": config.size("interleave_moe_layer_step", default=1),
    }


def _glm4_moe(config: Config) -> Sizes:
    """Read GLM-4.5: leading dense layers, a shared expert."""
    return llama_sizes(config) | {
        "qkv_bias": config.flag("attention_bias", default=False),
        "n_experts": config.size("n_routed_experts"),
        "experts_topk": config.size("num_experts_per_tok"),
        "shared_experts": config.size("n_shared_experts", default=0),
        "moe_ffn": config.size("moe_intermediate_size"),
        "first_dense_layers": config.size("first_k_dense_replace", default=0),
    }


def _gemma4(config: Config) -> Sizes:
    """Read Gemma 4's mixture: beside its experts each layer has a plain part.

    That part counts as shared experts, if it is as wide as some of them.
    """
    sizes = llama_sizes(config)
    moe_ffn = config.size("moe_intermediate_size", "expert_intermediate_size")
    sizes |= {
        "tied_embeddings": config.flag("tie_word_embeddings", default=True),
        "n_experts": config.size("num_experts"),
        "experts_topk": config.size("top_k_experts", "num_experts_per_tok"),
        "moe_ffn": moe_ffn,
        "shared_experts": round(sizes["ffn"] / max(moe_ffn, 1)),
    }
    return alternating(sizes, config, usual=6)


def _grok(config: Config) -> Sizes:
    """Read Grok-1: every layer's feed-forward is a mixture; tied embeddings."""
    sizes = llama_sizes(config)
    return sizes | {
        "n_experts": config.size("num_experts", "num_local_experts"),
        "experts_topk": config.size("num_experts_per_tok", "num_selected_experts"),
        "moe_ffn": sizes["ffn"],
        "tied_embeddings": config.flag("tie_word_embeddings", default=True),
    }


EXPERT_READERS: dict[str, Callable[[Config], Sizes]] = {
    **dict.fromkeys(("mixtral", "minimax_m2"), _mixtral),
    "qwen2_moe": _qwen2_moe,
    "qwen3_moe": _qwen_moe,
    **dict.fromkeys(("qwen3_next", "qwen3_5_moe", "qwen3_5_moe_text"), _qwen_hybrid),
    **dict.fromkeys(("deepseek_v2", "deepseek_v3", "kimi_k2"), _deepseek),
    **dict.fromkeys(("deepseek_v32", "glm_moe_dsa"), _deepseek_sparse),
    "dbrx": _dbrx,
    "olmoe": _olmoe,
    "phimoe": _phimoe,
    "gpt_oss": _gpt_oss,
    **dict.fromkeys(("llama4", "llama4_text"), _llama4),
    "glm4_moe": _glm4_moe,
    **dict.fromkeys(("gemma4", "gemma4_text"), _gemma4),
    "grok-1": _grok,
}
"""Model type to how it is read."""
