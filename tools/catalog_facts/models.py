"""Transformer architectures."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from catalog_facts.writing import as_of, dump_entry, number, rows, slug

# names that people use, beside the model's own name and its Hugging Face id
_ALIASES: Mapping[str, tuple[str, ...]] = {
    "mixtral-8x7b-v0.1": ("mixtral-8x7b",),
    "mixtral-8x22b-v0.1": ("mixtral-8x22b",),
    "mistral-7b-v0.1": ("mistral-7b",),
    "llama-3.3-70b-instruct": ("llama-3.3-70b",),
    "llama-1-7b": ("llama-7b",),
    "llama-1-13b": ("llama-13b",),
    "llama-1-33b": ("llama-33b", "llama-30b", "llama-1-30b"),
    "llama-1-65b": ("llama-65b",),
    "tiny-llama-1.1b": ("tinyllama-1.1b", "tinyllama"),
    "gpt3-175b": ("gpt-3", "gpt-3-175b", "gpt3"),
    "gpt3-175b-megatron": ("megatron-lm-175b",),
    "mt-nlg-530b": ("megatron-turing-530b",),
    "bloom-176b": ("bloom", "bloom-175b"),
    "deepseek-v3": ("deepseek-v3-671b",),
    "grok-1": ("grok-1-314b",),
    "dbrx-132b": ("dbrx",),
    "starcoder-15b": ("starcoder",),
    "llama-4-scout-17b-16e-instruct": ("llama-4-scout",),
    "llama-4-maverick-17b-128e-instruct": ("llama-4-maverick",),
    "mistral-large-instruct-2407": ("mistral-large-2", "mistral-large-2407"),
    "command-r-35b": ("command-r",),
    "command-r-plus-104b": ("command-r-plus",),
    "kimi-k2-instruct": ("kimi-k2",),
    "gpt2": ("gpt-2",),
    "phi-1-5": ("phi-1.5",),
    "olmo-2-1124-7b": ("olmo-2-7b",),
    "olmo-2-1124-13b": ("olmo-2-13b",),
    "qwen3-coder-480b-a35b-instruct": ("qwen3-coder-480b",),
}

_DROPOUT_FAMILIES = frozenset(("GPT-2", "GPT-3", "OPT", "MT-NLG"))
"""Trained with dropout 0.1 (memory: their papers)."""

# what the facts leave open
_TOPK: Mapping[str, int] = {"gemma-4-26b-a4b": 8, "kimi-k3": 8}

_FULL_EVERY: Mapping[str, tuple[int, str]] = {
    "gemma-2-": (2, "arXiv 2408.00118"),
    "gemma-3-": (6, "arXiv 2503.19786"),
    "gemma-4-": (6, "layer_types of Gemma 4 in transformers"),
    "gpt-oss-": (2, "arXiv 2508.10925"),
}
"""Beginning of an id: every how many layers one has no window, and who says so."""

_NOTES: tuple[tuple[str, str], ...] = (
    (
        "sparse/compressed attention",
        "Sparse or compressed attention is not modelled; "
        "the parameter count is approximate.",
    ),
    (
        "hybrid linear-attention",
        "Linear-attention layers are not modelled; the parameter count is not valid.",
    ),
    ("5140", "The paper prints a hidden size of 5,140."),
    ("24 heads of 128", "The paper lists 24 heads of 128."),
    ("squared ReLU", "Squared ReLU in the MLP."),
    ("blocksparse", "Block-sparse attention is not modelled."),
    ("one shared expert of 5632", "One shared expert of 5,632, counted as 4 of 1,408."),
    ("shared expert 20480", "One shared expert of 20,480, counted as 8 of 2,560."),
    (
        "tied flag from memory",
        "Tying of the embeddings from memory; vocabulary as padded.",
    ),
)

_LEARNED_OFFSET: Mapping[str, int] = {"OPT": 2}
"""Rows of the position table beyond the longest sequence."""


def build_architectures(facts: Path, out: Path) -> int:
    """Write ``architectures/<id>.yaml``; return the number of models."""
    (out / "architectures").mkdir()
    table = rows(facts, "models.csv")
    taken: dict[str, str] = {}  # normalised alias -> id
    ids = [slug(row["model"]) for row in table]
    taken.update({_key(name): name for name in ids})
    for row, name in zip(table, ids, strict=True):
        entry = _entry(row, name, taken)
        dump_entry(out / "architectures" / f"{name}.yaml", entry)
    return len(set(ids))


def _key(name: str) -> str:
    """Return a name as it is compared."""
    return re.sub(r"(?<!\d)\.|\.(?!\d)|[^a-z0-9.]", "", name.casefold())


def _aliases(row: Mapping[str, str], name: str, taken: dict[str, str]) -> list[str]:
    """Return the other names of a model that no other model has."""
    hf_name = row["hf_id"].split("/")[-1] if "/" in row["hf_id"] else ""
    found = []
    for alias in (
        row["hf_id"] if "/" in row["hf_id"] else "",
        hf_name,
        *_ALIASES.get(name, ()),
    ):
        if not alias or taken.setdefault(_key(alias), name) != name:
            continue
        if _key(alias) != _key(name) and alias not in found:
            found.append(alias)
    return found


def _entry(row: Mapping[str, str], name: str, taken: dict[str, str]) -> dict[str, Any]:
    """Return the entry of one row."""
    learned = row["pos_emb"] == "learned"
    max_seq = number(row["max_seq"])
    positions = (
        int(max_seq or 0) + _LEARNED_OFFSET.get(row["family"], 0) if learned else 0
    )
    window = int(number(row["sliding_window"]) or 0)
    if max_seq and window >= max_seq:
        window = 0  # wider than any sequence: full attention
    notes = [words for pattern, words in _NOTES if pattern in row["note"]]
    if name == "gpt3-xl":
        notes = notes[-1:]
    elif name == "gpt3-13b":
        notes = notes[:1]
    if name in _TOPK:
        notes.append("Experts per token not in the source: 8 is an estimate.")
    if row["pos_emb"] == "alibi":
        notes.append("ALiBi positions.")
    every = next((v for k, v in _FULL_EVERY.items() if name.startswith(k)), None)
    sources = [row["source"]]
    if every is not None:
        sources.append(f"{every[1]} (layers without a window)")
    dropout = row["family"] in _DROPOUT_FAMILIES
    hf_id = row["hf_id"] if "/" in row["hf_id"] or name.startswith("gpt2") else ""
    if hf_id and taken.setdefault(_key(hf_id), name) != name:
        hf_id = ""  # another entry of the same model has it
    return {
        "name": row["model"],
        "family": row["family"],
        "hf_id": hf_id,
        "aliases": _aliases(row, name, taken),
        "reported_params_b": number(row["reported_params_b"]),
        "active_params_b": number(row["active_params_b"]),
        "max_seq": max_seq,
        "layers": number(row["layers"]),
        "hidden": number(row["hidden"]),
        "ffn": number(row["ffn"]) or 0,
        "heads": number(row["heads"]),
        "kv_heads": number(row["kv_heads"]),
        "head_dim": number(row["head_dim"]),
        "vocab": number(row["vocab"]),
        "gated": row["gated_mlp"] == "True",
        "tied_embeddings": row["tied_embeddings"] == "yes",
        "linear_bias": row["linear_bias"] == "yes",
        "qkv_bias": row["linear_bias"] == "qkv only" or None,
        "layer_norm": row["norm"] == "LayerNorm",
        "learned_positions": positions or None,
        "sliding_window": window or None,
        "full_attention_every": every[0] if every and window else None,
        "dropout": dropout or None,
        "n_experts": number(row["n_experts"]),
        "experts_topk": _TOPK.get(name) or number(row["experts_topk"]),
        "shared_experts": number(row["n_shared_experts"]),
        "moe_ffn": number(row["moe_ffn"]),
        "first_dense_layers": number(row["first_dense_layers"]) or None,
        "moe_layer_freq": number(row["moe_layer_freq"]),
        "q_lora_rank": number(row["q_lora_rank"]),
        "kv_lora_rank": number(row["kv_lora_rank"]),
        "qk_nope_dim": number(row["qk_nope_dim"]),
        "qk_rope_dim": number(row["qk_rope_dim"]),
        "v_head_dim": number(row["v_head_dim"]),
        "source": "; ".join([*sources, *(["memory (dropout)"] if dropout else [])]),
        "as_of": as_of(row["as_of"]),
        "note": " ".join(notes),
    }
