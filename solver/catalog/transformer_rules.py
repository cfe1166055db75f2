"""Whether the sizes of a transformer go together.

One rule for all: an architecture of a catalog, a ``config.json`` and the sizes in a
scenario are held to the same. That each size alone is within its limits is left to
`solver.catalog.schema.Architecture`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["SizeFault", "size_faults"]

MAX_PARAMETERS = 10**15
"""A thousand trillion: a thousand times the largest model that was ever trained."""

_LATENT = ("kv_lora_rank", "qk_nope_dim", "qk_rope_dim", "v_head_dim")
_OF_EXPERTS = ("experts_topk", "shared_experts", "moe_ffn", "first_dense_layers")


@dataclass(frozen=True, slots=True)
class SizeFault:
    """What is wrong with some sizes, and the one to look at.

    Parameters
    ----------
    code, message
        As for `solver.errors.Issue`.
    field
        Name of the size, as in `solver.catalog.schema.Architecture`.
    key
        Point at the key rather than at its value.
    """

    code: str
    message: str
    field: str
    key: bool = False


Sizes = Mapping[str, Any]


def size_faults(sizes: Sizes) -> list[SizeFault]:
    """Return what is wrong with sizes that are each within their limits.

    Parameters
    ----------
    sizes
        By the names of `solver.catalog.schema.Architecture`; ``kv_heads`` and
        ``head_dim`` may be None where they follow from others.
    """
    return [fault for rule in RULES for fault in rule(sizes)]


def _heads(sizes: Sizes) -> Iterator[SizeFault]:
    """Yield attention heads that do not divide."""
    heads, hidden = sizes["heads"], sizes["hidden"]
    kv_heads = sizes.get("kv_heads") or heads
    if heads % kv_heads:
        message = f"{heads} heads cannot share {kv_heads} key and value heads"
        yield SizeFault("not-divisible", message, "kv_heads")
    if sizes.get("head_dim") is None and hidden % heads:
        message = (
            f"hidden {hidden} is not a multiple of {heads} heads; "
            "say head_dim if that is meant"
        )
        yield SizeFault("not-divisible", message, "heads")


def _experts(sizes: Sizes) -> Iterator[SizeFault]:
    """Yield what does not add up about a mixture of experts."""
    layers, experts = sizes["layers"], sizes.get("n_experts", 0)
    if experts == 1:
        message = "one expert is a dense model: leave n_experts out"
        yield SizeFault("contradiction", message, "n_experts")
        return
    if experts == 0:
        for key in _OF_EXPERTS:
            if sizes.get(key):
                message = f"'{key}' needs n_experts"
                yield SizeFault("contradiction", message, key, key=True)
        return
    visited = sizes.get("experts_topk", 0)
    if not 1 <= visited <= experts:
        message = (
            f"each token visits experts_topk of {experts} experts: expected "
            f"1 to {experts}, not {visited}"
        )
        yield SizeFault("contradiction", message, "experts_topk")
    left = layers - sizes.get("first_dense_layers", 0)
    if left < 1:
        message = f"of {layers} layers none is left for experts"
        yield SizeFault("contradiction", message, "first_dense_layers")
    elif left < sizes.get("moe_layer_freq", 1):
        message = f"of {left} layers none has experts"
        yield SizeFault("contradiction", message, "moe_layer_freq")


def _feed_forward(sizes: Sizes) -> Iterator[SizeFault]:
    """Yield a feed-forward layer without a width."""
    experts = sizes.get("n_experts", 0) > 1
    has_dense = sizes.get("first_dense_layers", 0) or sizes.get("moe_layer_freq", 1) > 1
    if not sizes["ffn"] and (has_dense or not experts):
        message = "expected 1 or more: some layers are not mixtures of experts"
        yield SizeFault("out-of-range", message, "ffn")
    if experts and not (sizes.get("moe_ffn") or sizes["ffn"]):
        message = "expected the width of an expert"
        yield SizeFault("out-of-range", message, "moe_ffn")


def _windows(sizes: Sizes) -> Iterator[SizeFault]:
    """Yield layers without a window in a model that has none."""
    if sizes.get("full_attention_every") and not sizes.get("sliding_window"):
        message = "'full_attention_every' needs sliding_window"
        yield SizeFault("contradiction", message, "full_attention_every", key=True)


def _latent_attention(sizes: Sizes) -> Iterator[SizeFault]:
    """Yield what is missing of latent attention (MLA)."""
    given = [key for key in (*_LATENT, "q_lora_rank") if sizes.get(key)]
    for key in _LATENT if given else ():
        if not sizes.get(key):
            message = f"'{key}' is needed beside {given[0]} (latent attention)"
            yield SizeFault("missing-key", message, key)


def _size(sizes: Sizes) -> Iterator[SizeFault]:
    """Yield a model that is far larger than any."""
    hidden, heads = sizes["hidden"], sizes["heads"]
    head_dim = sizes.get("head_dim") or hidden // heads
    experts = sizes.get("n_experts", 0) + sizes.get("shared_experts", 0)
    expert = (sizes.get("moe_ffn") or sizes["ffn"]) * experts
    width = 4 * heads * head_dim + 3 * (sizes["ffn"] + expert)
    parameters = hidden * (2 * sizes["vocab"] + sizes["layers"] * width)
    if parameters > MAX_PARAMETERS:
        message = (
            f"the sizes make {parameters:.1e} parameters; expected at most "
            f"{MAX_PARAMETERS:.0e}"
        )
        yield SizeFault("out-of-range", message, "hidden")


RULES: tuple[Callable[[Sizes], Iterator[SizeFault]], ...] = (
    _heads,
    _experts,
    _feed_forward,
    _windows,
    _latent_attention,
    _size,
)
"""All rules, in the order in which their faults are told."""
