"""Hugging Face ``config.json`` to an architecture.

Model types name the same sizes differently; `READERS` has how each type is read.
What cannot be told from the file is not guessed: it is a fault that names the key.

Sources: the configuration classes of Hugging Face's ``transformers`` (names and
defaults of keys), as general knowledge.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from solver.catalog.bounds import bounds_of
from solver.catalog.reading import read_text
from solver.catalog.schema import Architecture
from solver.catalog.transformer_rules import size_faults
from solver.errors import MAX_SHOWN, InputError, Issue, IssueLog, nearest, shown
from solver.scenario.config_keys import EXPERT_KEYS, EXPERT_TYPES, Config, Size
from solver.scenario.json_places import (
    MAX_DEPTH,
    KeyPlaces,
    key_places,
    nested_too_deep,
)
from solver.yaml_source import dotted

__all__ = ["MODEL_TYPES", "architecture_from_config", "read_config"]

Sizes = dict[str, Any]


def read_config(file: Traversable | Path, name: str) -> Architecture:
    """Return the architecture that a config.json describes.

    Parameters
    ----------
    file
        The file.
    name
        What to call it in messages.

    Raises
    ------
    InputError
        It cannot be read, is of an unknown type, or lacks sizes.
    """
    text = read_text(file, name)
    try:
        data = json.loads(text)
    except RecursionError:
        line, column = nested_too_deep(text) or (1, 1)
        message = f"the file is nested deeper than {MAX_DEPTH} levels"
        where = f"{name}:{line}:{column}"
        raise InputError([Issue("json-syntax", message, where)]) from None
    except ValueError as error:
        line, column = getattr(error, "lineno", 1), getattr(error, "colno", 1)
        message = f"not JSON: {getattr(error, 'msg', 'a number is too long')}"
        where = f"{name}:{line}:{column}"
        raise InputError([Issue("json-syntax", message, where)]) from None
    if not isinstance(data, dict):
        message = "expected an object with keys and values"
        raise InputError([Issue("wrong-type", message, f"{name}:1:1")])
    places = key_places(text)
    _refuse_duplicates(places, name)
    return architecture_from_config(data, name, places)


def _refuse_duplicates(places: KeyPlaces, name: str) -> None:
    """Raise an error that tells every key that an object has twice."""
    log = IssueLog()
    for path, (line, column) in places.twice:
        first = places.marks[path][0]
        message = f"the key is given twice, first in line {first}"
        log.add("duplicate-key", message, f"{name}:{line}:{column}", dotted(path))
    log.raise_if_any()


def architecture_from_config(
    data: Mapping[str, Any], name: str, places: KeyPlaces | None = None
) -> Architecture:
    """Return the architecture that the content of a config.json describes.

    Parameters
    ----------
    data
        The content.
    name
        What to call the file in messages.
    places
        Where its keys stand.

    Raises
    ------
    InputError
        It is of an unknown type, or lacks sizes.
    """
    log = IssueLog()
    config = Config(data, name, "", log, places or KeyPlaces())
    config.check_kinds()
    log.raise_if_any()
    model_type = data.get("model_type")
    if "text_config" in data and model_type not in READERS:
        config = config.part("text_config")
        config.check_kinds()
        model_type = config.data.get("model_type", model_type)
    if not isinstance(model_type, str) or model_type not in READERS:
        written = model_type if isinstance(model_type, str) else "nothing"
        message = (
            f"the model type {shown(written)} is not known; give the sizes instead"
        )
        hint = nearest(written[:MAX_SHOWN], READERS)
        config.fault("unknown-model-type", message, "model_type", hint)
        log.raise_if_any()
    if model_type not in EXPERT_TYPES:
        _refuse_experts(config, str(model_type))
    sizes = READERS[str(model_type)](config)
    log.raise_if_any()
    found = _architecture(sizes, data, config)
    _check(sizes, config)
    log.raise_if_any()
    return found


def _refuse_experts(config: Config, model_type: str) -> None:
    """Log experts in a model of a type that has none, rather than overlook them."""
    for key in EXPERT_KEYS:
        if config.data.get(key):
            known = ", ".join(EXPERT_TYPES)
            message = f"the type {model_type} has no experts; those that do: {known}"
            config.fault("contradiction", message, key)


def _architecture(
    sizes: Sizes, data: Mapping[str, Any], config: Config
) -> Architecture:
    """Return the record of some sizes, each within its limits."""
    name = config.where
    title = data.get("_name_or_path")
    title = title if isinstance(title, str) and title.strip() else name
    try:
        return Architecture(
            id="config-json",
            name=title,
            family=str(data.get("model_type", "")),
            source=f"Hugging Face config.json: {name}",
            **sizes,
        )
    except ValidationError as error:
        for detail in error.errors(include_url=False):
            field = str(detail["loc"][0])
            bounds = bounds_of(Architecture, field)
            message = f"{field}: expected {bounds}, not {shown(detail['input'])}"
            config.fault("out-of-range", message, _key_of(sizes, field))
        config.log.raise_if_any()
        raise


def _check(sizes: Sizes, config: Config) -> None:
    """Log sizes that do not go together."""
    derived = not isinstance(sizes["head_dim"], Size) and "kv_lora_rank" not in sizes
    evenly = sizes["head_dim"] == sizes["hidden"] // sizes["heads"]
    rest = {"head_dim": None} if derived and evenly else {}
    for fault in size_faults({**sizes, **rest}):
        config.fault(fault.code, fault.message, _key_of(sizes, fault.field))


def _key_of(sizes: Sizes, field: str) -> str:
    """Return the key of the file under which a size stands."""
    size = sizes.get(field)
    return size.key if isinstance(size, Size) else field


def _llama(config: Config) -> Sizes:
    """Read Llama and what is built alike: RMSNorm, gated, no biases."""
    hidden = config.size("hidden_size")
    heads = config.size("num_attention_heads")
    window = config.size("sliding_window", default=0)
    return {
        "layers": config.size("num_hidden_layers"),
        "hidden": hidden,
        "ffn": config.size("intermediate_size"),
        "heads": heads,
        "kv_heads": config.size("num_key_value_heads", default=heads),
        "head_dim": config.size("head_dim", default=hidden // max(heads, 1)),
        "vocab": config.size("vocab_size"),
        "max_seq": config.size("max_position_embeddings", default=0) or None,
        "tied_embeddings": config.flag("tie_word_embeddings", default=False),
        "sliding_window": window
        if config.flag("use_sliding_window", default=True)
        else 0,
        "gated": True,
    }


def _qwen(config: Config) -> Sizes:
    """Read Qwen 2 and 3, whose sliding window is off unless it is asked for."""
    sizes = _llama(config)
    if not config.flag("use_sliding_window", default=False):
        sizes["sliding_window"] = 0
    return sizes


def _gemma(config: Config) -> Sizes:
    """Read Gemma: tied embeddings and its own head size."""
    sizes = _llama(config)
    sizes["tied_embeddings"] = config.flag("tie_word_embeddings", default=True)
    sizes["head_dim"] = config.size("head_dim", default=256)
    return sizes


def _gemma_alternating(config: Config) -> Sizes:
    """Read Gemma 2 and 3, of whose layers some look at everything.

    Memory and time are taken without a window, which errs on the safe side.
    """
    return _gemma(config) | {"sliding_window": 0}


def _mixtral(config: Config) -> Sizes:
    """Read Mixtral: every layer's feed-forward is a mixture of experts."""
    sizes = _llama(config)
    return sizes | {
        "n_experts": config.size("num_local_experts", default=8),
        "experts_topk": config.size("num_experts_per_tok", default=2),
        "moe_ffn": sizes["ffn"],
    }


def _qwen_moe(config: Config) -> Sizes:
    """Read Qwen mixtures of experts; a shared expert counts in expert widths."""
    sizes = _qwen(config)
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
    sizes = _llama(config)
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


def _gpt2(config: Config) -> Sizes:
    """Read GPT-2: LayerNorm, biases, learned positions, plain feed-forward."""
    hidden, heads = config.size("n_embd"), config.size("n_head")
    positions = config.size("n_positions", "n_ctx")
    return {
        "layers": config.size("n_layer"),
        "hidden": hidden,
        "ffn": config.size("n_inner", default=4 * hidden),
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
    sizes = _llama(config)
    return sizes | {
        "gated": False,
        "layer_norm": True,
        "linear_bias": config.flag("use_bias", default=True),
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
    return {
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


def _olmo(config: Config) -> Sizes:
    """Read OLMo, which is built as Llama (its first version's norm has no weights)."""
    return _llama(config)


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


READERS: dict[str, Callable[[Config], Sizes]] = {
    **dict.fromkeys(("llama", "mistral", "phi3", "granite", "smollm3"), _llama),
    **dict.fromkeys(("qwen2", "qwen3"), _qwen),
    "gemma": _gemma,
    **dict.fromkeys(("gemma2", "gemma3", "gemma3_text"), _gemma_alternating),
    "mixtral": _mixtral,
    **dict.fromkeys(("qwen2_moe", "qwen3_moe"), _qwen_moe),
    **dict.fromkeys(("deepseek_v2", "deepseek_v3"), _deepseek),
    "gpt2": _gpt2,
    "gpt_bigcode": _gpt_bigcode,
    "gpt_neox": _plain,
    "starcoder2": _starcoder2,
    "opt": _opt,
    "bloom": _bloom,
    "falcon": _falcon,
    "phi": _phi,
    "dbrx": _dbrx,
    **dict.fromkeys(("olmo", "olmo2", "olmo3"), _olmo),
    "mpt": _mpt,
}
"""Model type to how it is read."""

MODEL_TYPES = tuple(READERS)
