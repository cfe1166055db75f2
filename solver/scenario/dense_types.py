"""Hugging Face model types without experts: which keys hold their sizes.

Sources: the configuration classes of Hugging Face's ``transformers`` and of the models
that bring their own (names and defaults of keys), as general knowledge.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from solver.scenario.config_keys import Config

__all__ = ["DENSE_READERS", "HYBRID_NOTE", "Sizes", "llama_sizes", "qwen_sizes"]

Sizes = dict[str, Any]

HYBRID_NOTE = (
    "Layers of linear attention are taken as full attention; the parameter count is "
    "approximate."
)
NARROW_NOTE = (
    "Embeddings that are narrower than the layers are taken as wide as them; the "
    "parameter count is too high."
)


def llama_sizes(config: Config, ffn: int | None = None) -> Sizes:
    """Read Llama and what is built alike: RMSNorm, gated, no biases unless stated.

    Parameters
    ----------
    ffn
        Width of the feed-forward layer where none is stated; by default it has to be.
    """
    hidden = config.size("hidden_size")
    heads = config.size("num_attention_heads")
    longest = config.size("max_position_embeddings", default=0)
    window = config.size("sliding_window", default=0)
    if not config.flag("use_sliding_window", default=True) or 0 < longest <= window:
        window = 0  # none, or wider than any sequence
    return {
        "layers": config.size("num_hidden_layers"),
        "hidden": hidden,
        "ffn": config.size("intermediate_size", default=ffn),
        "heads": heads,
        "kv_heads": config.size("num_key_value_heads", default=heads),
        "head_dim": config.size("head_dim", default=hidden // max(heads, 1)),
        "vocab": config.size("vocab_size"),
        "max_seq": longest or None,
        "tied_embeddings": config.flag("tie_word_embeddings", default=False),
        "sliding_window": window,
        "gated": True,
        "qkv_bias": config.flag("attention_bias", default=False),
    }


def qwen_sizes(config: Config, ffn: int | None = None) -> Sizes:
    """Read Qwen, whose sliding window is off unless it is asked for."""
    sizes = llama_sizes(config, ffn)
    if not config.flag("use_sliding_window", default=False):
        sizes["sliding_window"] = 0
    return sizes


def _gemma(config: Config) -> Sizes:
    """Read Gemma: tied embeddings and its own head size."""
    sizes = llama_sizes(config)
    sizes["tied_embeddings"] = config.flag("tie_word_embeddings", default=True)
    sizes["head_dim"] = config.size("head_dim", default=256)
    return sizes


def alternating(sizes: Sizes, config: Config, usual: int) -> Sizes:
    """Return sizes with a window in all layers but every so-manieth.

    Parameters
    ----------
    usual
        Every how many layers one looks at everything where the file does not say:
        `layer_types` names each layer's kind, `sliding_window_pattern` the distance.
    """
    if not sizes["sliding_window"]:
        return sizes
    every = config.size("sliding_window_pattern", default=usual)
    full = config.positions("layer_types", "full_attention")
    if full is not None:
        layers = config.size("num_hidden_layers")
        every = round(layers / len(full)) if full else 0
    return sizes | {"full_attention_every": every}


def _gemma2(config: Config) -> Sizes:
    """Read Gemma 2, of whose layers every other looks at everything."""
    return alternating(_gemma(config), config, usual=2)


def _of_gpt2(config: Config, hidden: int, heads: int, positions: int) -> Sizes:
    """Return what all models of GPT-2's form have, whatever their keys are called."""
    return {
        "heads": heads,
        "kv_heads": heads,
        "head_dim": hidden // max(heads, 1),
        "vocab": config.size("vocab_size"),
        "max_seq": positions,
        "learned_positions": positions,
        "gated": False,
        "tied_embeddings": config.flag("tie_word_embeddings", default=True),
        "linear_bias": True,
        "layer_norm": True,
    }


def _gpt2(config: Config) -> Sizes:
    """Read GPT-2: LayerNorm, biases, learned positions, plain feed-forward."""
    hidden, heads = config.size("n_embd"), config.size("n_head")
    positions = config.size("n_positions", "n_ctx")
    return {
        "layers": config.size("n_layer"),
        "hidden": hidden,
        "ffn": config.size("n_inner", default=4 * hidden),
        **_of_gpt2(config, hidden, heads, positions),
        "dropout": config.has_dropout("resid_pdrop", "attn_pdrop", "embd_pdrop"),
    }


def _gpt_bigcode(config: Config) -> Sizes:
    """Read SantaCoder and StarCoder: GPT-2 with one key and value head."""
    sizes = _gpt2(config)
    if config.flag("multi_query", default=True):
        sizes["kv_heads"] = 1
    return sizes


def _plain(config: Config) -> Sizes:
    """Read LayerNorm models with biases and a plain feed-forward, as GPT-NeoX."""
    sizes = llama_sizes(config)
    return sizes | {
        "gated": False,
        "layer_norm": True,
        "linear_bias": config.flag("use_bias", default=True),
        "qkv_bias": False,
        "sliding_window": config.size("sliding_window", default=0),
        "dropout": config.has_dropout(
            "hidden_dropout", "attention_dropout", "residual_dropout", "resid_pdrop"
        ),
    }


def _starcoder2(config: Config) -> Sizes:
    """Read StarCoder 2, whose embeddings are tied."""
    sizes = _plain(config)
    return sizes | {"tied_embeddings": config.flag("tie_word_embeddings", default=True)}


def _opt(config: Config) -> Sizes:
    """Read OPT: learned positions (two rows more than tokens), tied embeddings."""
    hidden, heads = config.size("hidden_size"), config.size("num_attention_heads")
    positions = config.size("max_position_embeddings")
    narrow = config.size("word_embed_proj_dim", default=hidden) != hidden
    return {
        "note": NARROW_NOTE if narrow else "",
        "layers": config.size("num_hidden_layers"),
        "hidden": hidden,
        "ffn": config.size("ffn_dim"),
        "heads": heads,
        "kv_heads": heads,
        "head_dim": hidden // max(heads, 1),
        "vocab": config.size("vocab_size"),
        "max_seq": positions,
        "learned_positions": positions + 2,
        "gated": False,
        "tied_embeddings": config.flag("tie_word_embeddings", default=True),
        "linear_bias": True,
        "layer_norm": True,
        "dropout": config.has_dropout("dropout", "attention_dropout"),
    }


def _bloom(config: Config) -> Sizes:
    """Read BLOOM: ALiBi positions, tied embeddings, biases."""
    hidden = config.size("hidden_size", "n_embed")
    heads = config.size("n_head", "num_attention_heads")
    return {
        "layers": config.size("n_layer", "num_hidden_layers"),
        "hidden": hidden,
        "ffn": 4 * hidden,
        "heads": heads,
        "kv_heads": heads,
        "head_dim": hidden // max(heads, 1),
        "vocab": config.size("vocab_size"),
        "max_seq": config.size("seq_length", default=0) or None,
        "gated": False,
        "tied_embeddings": config.flag("tie_word_embeddings", default=True),
        "linear_bias": True,
        "layer_norm": True,
        "dropout": config.has_dropout("hidden_dropout", "attention_dropout"),
    }


def _falcon(config: Config) -> Sizes:
    """Read Falcon: one key and value head, or some in the newer decoder."""
    hidden = config.size("hidden_size")
    heads = config.size("num_attention_heads", "n_head")
    kv_heads = heads
    if config.flag("new_decoder_architecture", default=False):
        kv_heads = config.size("num_kv_heads", default=heads)
    elif config.flag("multi_query", default=True):
        kv_heads = 1
    return {
        "layers": config.size("num_hidden_layers", "n_layer"),
        "hidden": hidden,
        "ffn": config.size("ffn_hidden_size", default=4 * hidden),
        "heads": heads,
        "kv_heads": kv_heads,
        "head_dim": hidden // max(heads, 1),
        "vocab": config.size("vocab_size"),
        "max_seq": config.size("max_position_embeddings", default=2048),
        "gated": False,
        "tied_embeddings": config.flag("tie_word_embeddings", default=True),
        "linear_bias": config.flag("bias", default=False),
        "layer_norm": True,
        "dropout": config.has_dropout("hidden_dropout", "attention_dropout"),
    }


def _phi(config: Config) -> Sizes:
    """Read Phi 1 and 2: LayerNorm, biases, plain feed-forward."""
    sizes = _plain(config)
    return sizes | {"linear_bias": True}


def _olmo(config: Config) -> Sizes:
    """Read OLMo, which is built as Llama (its first version's norm has no weights)."""
    return llama_sizes(config)


def _mpt(config: Config) -> Sizes:
    """Read MPT: ALiBi positions, no biases, tied embeddings."""
    attention = config.part("attn_config")
    hidden, heads = config.size("d_model"), config.size("n_heads")
    return {
        "layers": config.size("n_layers"),
        "hidden": hidden,
        "ffn": config.size("expansion_ratio", default=4) * hidden,
        "heads": heads,
        "kv_heads": attention.size("kv_n_heads", default=heads),
        "head_dim": hidden // max(heads, 1),
        "vocab": config.size("vocab_size"),
        "max_seq": config.size("max_seq_len", default=0) or None,
        "gated": False,
        "layer_norm": True,
        "linear_bias": not config.flag("no_bias", default=True),
        "tied_embeddings": config.flag("tie_word_embeddings", default=True),
    }


def _qwen2(config: Config) -> Sizes:
    """Read Qwen 1.5 and 2, which have biases on queries, keys and values."""
    return qwen_sizes(config) | {"qkv_bias": True}


def _qwen3_5(config: Config) -> Sizes:
    """Read Qwen 3.5, of whose layers three in four have linear attention."""
    return qwen_sizes(config) | {"note": HYBRID_NOTE}


def _gemma3_text(config: Config) -> Sizes:
    """Read Gemma 3; where its part of a larger model leaves sizes out, the class's."""
    if config.prefix:
        usual = {"num_attention_heads": 8, "num_key_value_heads": 4}
        config = config.completed(usual | {"vocab_size": 262_208})
    return alternating(_gemma(config), config, usual=6)


def _gpt_neo(config: Config) -> Sizes:
    """Read GPT-Neo: learned positions, tied embeddings, biases."""
    hidden, heads = config.size("hidden_size"), config.size("num_heads")
    positions = config.size("max_position_embeddings")
    return {
        "layers": config.size("num_layers"),
        "hidden": hidden,
        "ffn": config.size("intermediate_size", default=4 * hidden),
        **_of_gpt2(config, hidden, heads, positions),
        "dropout": config.has_dropout(
            "attention_dropout", "embed_dropout", "resid_dropout"
        ),
    }


def _gptj(config: Config) -> Sizes:
    """Read GPT-J: as GPT-2, with rotary positions and a head of its own."""
    return _gpt2(config) | {
        "learned_positions": 0,
        "tied_embeddings": config.flag("tie_word_embeddings", default=False),
    }


def _layer_norm(config: Config) -> Sizes:
    """Read StableLM: LayerNorm with gated layers."""
    return llama_sizes(config) | {
        "layer_norm": True,
        "qkv_bias": config.flag("use_qkv_bias", default=False),
    }


def _cohere(config: Config) -> Sizes:
    """Read Command R: LayerNorm, gated layers, tied embeddings."""
    return llama_sizes(config) | {
        "layer_norm": True,
        "tied_embeddings": config.flag("tie_word_embeddings", default=True),
        "sliding_window": 0,
    }


def _nemotron(config: Config) -> Sizes:
    """Read Nemotron-4: LayerNorm, plain layers with squared ReLU, no biases."""
    return llama_sizes(config) | {
        "gated": False,
        "layer_norm": True,
        "linear_bias": config.flag("mlp_bias", default=False),
    }


def _baichuan(config: Config) -> Sizes:
    """Read Baichuan, whose longest sequence has another name."""
    positions = config.size("max_position_embeddings", "model_max_length", default=0)
    return llama_sizes(config) | {"max_seq": positions or None}


def _internlm2(config: Config) -> Sizes:
    """Read InternLM 2, whose biases have another name."""
    return llama_sizes(config) | {"linear_bias": config.flag("bias", default=False)}


def _glm(config: Config) -> Sizes:
    """Read GLM-4 as ``transformers`` has it: biases on queries, keys and values."""
    return llama_sizes(config) | {
        "qkv_bias": config.flag("attention_bias", default=True)
    }


def _chatglm(config: Config) -> Sizes:
    """Read ChatGLM 3 and GLM-4 as they were released."""
    hidden, heads = config.size("hidden_size"), config.size("num_attention_heads")
    grouped = config.flag("multi_query_attention", default=False)
    return {
        "layers": config.size("num_layers", "num_hidden_layers"),
        "hidden": hidden,
        "ffn": config.size("ffn_hidden_size"),
        "heads": heads,
        "kv_heads": config.size("multi_query_group_num") if grouped else heads,
        "head_dim": config.size("kv_channels", default=hidden // max(heads, 1)),
        "vocab": config.size("padded_vocab_size", "vocab_size"),
        "max_seq": config.size("seq_length", default=0) or None,
        "tied_embeddings": config.flag("tie_word_embeddings", default=False),
        "linear_bias": config.flag("add_bias_linear", default=False),
        "qkv_bias": config.flag("add_qkv_bias", default=False),
    }


def _phi3small(config: Config) -> Sizes:
    """Read Phi-3-small: LayerNorm, biases, tied embeddings, block-sparse attention."""
    sizes = {
        "layers": config.size("num_hidden_layers"),
        "hidden": config.size("hidden_size"),
        "ffn": config.size("ff_intermediate_size"),
        "heads": config.size("num_attention_heads"),
    }
    return sizes | {
        "kv_heads": config.size("num_key_value_heads", default=sizes["heads"]),
        "head_dim": sizes["hidden"] // max(sizes["heads"], 1),
        "vocab": config.size("vocab_size"),
        "max_seq": config.size("max_position_embeddings", default=0) or None,
        "tied_embeddings": config.flag("tie_word_embeddings", default=True),
        "linear_bias": True,
        "layer_norm": True,
        "note": "Block-sparse attention is taken as full attention.",
    }


DENSE_READERS: dict[str, Callable[[Config], Sizes]] = {
    **dict.fromkeys(
        ("llama", "mistral", "ministral", "phi3", "granite", "smollm3"), llama_sizes
    ),
    **dict.fromkeys(("qwen2", "mimo"), _qwen2),
    "qwen3": qwen_sizes,
    **dict.fromkeys(("qwen3_5", "qwen3_5_text"), _qwen3_5),
    "gemma": _gemma,
    "gemma2": _gemma2,
    **dict.fromkeys(("gemma3", "gemma3_text"), _gemma3_text),
    "gpt2": _gpt2,
    "gpt_bigcode": _gpt_bigcode,
    "gpt_neo": _gpt_neo,
    "gptj": _gptj,
    "gpt_neox": _plain,
    "starcoder2": _starcoder2,
    "opt": _opt,
    "bloom": _bloom,
    "falcon": _falcon,
    "phi": _phi,
    "phi3small": _phi3small,
    "stablelm": _layer_norm,
    **dict.fromkeys(("cohere", "cohere2"), _cohere),
    "nemotron": _nemotron,
    "baichuan": _baichuan,
    "internlm2": _internlm2,
    **dict.fromkeys(("glm", "glm4"), _glm),
    "chatglm": _chatglm,
    **dict.fromkeys(("olmo", "olmo2", "olmo3"), _olmo),
    "mpt": _mpt,
}
"""Model type to how it is read."""
