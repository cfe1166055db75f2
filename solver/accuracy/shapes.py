"""The transformer of a row: its own columns, then the catalog's model of that name."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from solver.accuracy.assumptions import Assumptions
from solver.accuracy.tables import SkippedRowError, TableRow
from solver.catalog.names import resolve_architecture
from solver.errors import Issue
from solver.performance.inputs import TransformerShape
from solver.physics_inputs import shape_of

if TYPE_CHECKING:
    from solver.catalog.load import Catalog

__all__ = ["prediction_layers", "shape_from"]

_UNTOLD = (
    "tied_embeddings",
    "linear_bias",
    "qkv_bias",
    "layer_norm",
    "learned_positions",
    "sliding_window",
    "full_attention_every",
    "first_dense_layers",
    "moe_layer_freq",
    "q_lora_rank",
    "kv_lora_rank",
    "qk_nope_dim",
    "qk_rope_dim",
    "v_head_dim",
)
"""Sizes that tables have no column for; taken from the catalog's model."""


def shape_from(row: TableRow, catalog: Catalog, taken: Assumptions) -> TransformerShape:
    """The row's transformer.

    Raises
    ------
    SkippedRowError
        Neither the row nor the catalog's model of its name has layers, hidden size
        and heads.
    """
    known = _catalog_shape(row, catalog)
    layers, hidden = row.whole("layers"), row.whole("hidden")
    if layers is None or hidden is None:
        if known is None:
            raise SkippedRowError(
                "the shape of the model is not known: no layers or hidden size",
                _unknown_model(row, catalog),
            )
        taken.take("shape", f"the catalog's {row.text('model')}")
        return known
    same = known is not None and known.hidden == hidden
    known = known if same else None
    shape = _own_shape(row, layers, hidden, known, taken)
    if known is not None:
        untold = {name: getattr(known, name) for name in _UNTOLD}
        if row.flag("tied") is not None:
            untold.pop("tied_embeddings")
        shape = replace(shape, **untold)
    return _noted(row, shape, taken)


def _unknown_model(row: TableRow, catalog: Catalog) -> str:
    """The name of a model that the catalog lacks, and the nearest right spelling."""
    name = row.text("model")
    found = resolve_architecture(name, catalog) if name else ""
    return str(found) if isinstance(found, Issue) else name


def _catalog_shape(row: TableRow, catalog: Catalog) -> TransformerShape | None:
    """The shape of the catalog's model with the row's name, None without one."""
    name = re.sub(r"\(.*?\)|\b(lora|qlora|sft)\b", " ", row.text("model"), flags=re.I)
    if not name.strip():
        return None
    key = ("accuracy shape", name.strip())
    if key not in catalog.memo:
        found = resolve_architecture(name.strip(), catalog)
        catalog.memo[key] = (
            shape_of(catalog.architecture(found)) if isinstance(found, str) else None
        )
    shape: TransformerShape | None = catalog.memo[key]
    return shape


def _own_shape(
    row: TableRow,
    layers: int,
    hidden: int,
    known: TransformerShape | None,
    taken: Assumptions,
) -> TransformerShape:
    """The shape that the row's columns give; blanks by rule, the catalog's first."""

    def size(column: str, field: str, rule: int) -> int:
        value = row.whole(column)
        if value is None:
            value = getattr(known, field) if known is not None else rule
            taken.take(column, value)
        return value

    gated = row.flag("gated")
    if gated is None:
        gated = known.gated if known is not None else True
        taken.take("gated", int(gated))
    experts = row.whole("n_experts") or 0
    heads = size("heads", "heads", max(1, hidden // 128))
    kv_heads = size("kv_heads", "kv_heads", heads)
    head_dim = row.whole("head_dim") or (known.head_dim if known is not None else 0)
    topk = size("topk", "experts_topk", 2) if experts > 1 else 0
    moe_ffn = size("moe_ffn", "moe_ffn", row.whole("ffn") or 4 * hidden)
    moe_ffn = moe_ffn if experts > 1 else 0
    if experts <= 1:
        taken.taken.pop("moe_ffn", None)
    width = moe_ffn * topk if experts > 1 else _usual_width(hidden, gated=gated)
    tied = row.flag("tied")
    return TransformerShape(
        layers=layers,
        hidden=hidden,
        ffn=row.whole("ffn") or (width if experts > 1 else size("ffn", "ffn", width)),
        heads=heads,
        kv_heads=min(kv_heads, heads),
        head_dim=head_dim or max(1, hidden // heads),
        vocab=size("vocab", "vocab", 50_257),
        gated=gated,
        tied_embeddings=not gated if tied is None else tied,
        n_experts=experts if experts > 1 else 0,
        experts_topk=min(topk, experts),
        shared_experts=row.whole("shared_experts") or 0,
        moe_ffn=moe_ffn,
    )


def _usual_width(hidden: int, *, gated: bool) -> int:
    """Usual feed-forward width: 4 x hidden, two thirds of it where it is gated."""
    return -(-8 * hidden // (3 * 256)) * 256 if gated else 4 * hidden


def _noted(
    row: TableRow, shape: TransformerShape, taken: Assumptions
) -> TransformerShape:
    """The shape with what the row's remarks say of it.

    Latent attention without sizes is that of DeepSeek-V2 and V3 (arXiv 2405.04434,
    2412.19437).
    """
    text = row.words("note")
    latent = "mla attention" in text or "mla_up_proj" in row.words("recompute")
    if latent and not shape.is_mla:
        shape = replace(
            shape,
            q_lora_rank=1536,
            kv_lora_rank=512,
            qk_nope_dim=128,
            qk_rope_dim=64,
            v_head_dim=128,
        )
        taken.take("attention", "latent, of DeepSeek-V3")
    leading = re.search(r"first (\d+) layers? dense", text)
    both = re.search(r"\b(\d+) dense \+ \d+ moe layers", text)
    told = both or (None if shape.first_dense_layers else leading)
    if told and shape.is_moe:
        dense = min(int(told[1]), shape.layers - 1)
        shape = replace(shape, first_dense_layers=dense)
    shared = re.search(r"shared expert ffn (\d+)", text)
    if shared and shape.moe_ffn and not shape.shared_experts:
        count = max(1, round(int(shared[1]) / shape.moe_ffn))
        shape = replace(shape, shared_experts=count)
    if "every 2nd layer" in text and shape.is_moe:
        shape = replace(shape, moe_layer_freq=2)
    return shape


def prediction_layers(
    row: TableRow, shape: TransformerShape, taken: Assumptions
) -> TransformerShape:
    """The shape with a multi-token-prediction layer and its head, where they ran.

    NVIDIA's DeepSeek-V3 recipes of Megatron-Bridge train one prediction layer with a
    second pass through the head.
    """
    name, stack = row.words("model"), row.words("framework")
    if "deepseek-v3" not in name or "bridge" not in stack or not shape.is_mla:
        return shape
    taken.take("multi_token_prediction", "one layer and head more")
    return replace(shape, layers=shape.layers + 1, vocab=2 * shape.vocab)
