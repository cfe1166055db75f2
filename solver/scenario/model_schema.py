"""The sizes of a model, as people write them."""

from __future__ import annotations

from solver.scenario.quantities import PositiveWhole, Text, Whole
from solver.scenario.spec import Spec


class ModelSpec(Spec):
    """A decoder-only transformer, given by its sizes."""

    name: Text = "inline model"
    """What to call it."""
    layers: PositiveWhole
    """Transformer layers."""
    hidden: PositiveWhole
    """Width of the residual stream."""
    ffn: PositiveWhole
    """Width of the feed-forward layer (of the dense one in a mixture of experts)."""
    heads: PositiveWhole
    """Attention heads (of queries)."""
    kv_heads: PositiveWhole | None = None
    """Heads of keys and values. Default: `heads`."""
    head_dim: PositiveWhole | None = None
    """Size of a head. Default: hidden / heads."""
    vocab: PositiveWhole
    """Rows of the embedding."""
    max_seq: PositiveWhole | None = None
    """Longest sequence that the positions allow, tokens."""
    gated: bool = True
    """Whether the feed-forward layer is gated (SwiGLU: three matrices, not two)."""
    tied_embeddings: bool = False
    """Whether embedding and output head share their weights."""
    linear_bias: bool = False
    """Whether linear layers have biases."""
    qkv_bias: bool = False
    """Whether the query, key and value projections have biases, and no others."""
    layer_norm: bool = False
    """LayerNorm (weight and bias) instead of RMSNorm (weight)."""
    learned_positions: Whole = 0
    """Rows of a learned position embedding."""
    sliding_window: Whole = 0
    """Tokens that attention looks back; 0: all."""
    full_attention_every: Whole = 0
    """Every how many layers one looks back at everything all the same, as 6 in Gemma 3;
    0: none."""
    dropout: bool = False
    """Whether training applies dropout."""
    n_experts: Whole = 0
    """Routed experts of a mixture-of-experts layer; 0: dense."""
    experts_topk: Whole = 0
    """Routed experts that each token visits."""
    shared_experts: Whole = 0
    """Experts that every token visits."""
    moe_ffn: Whole = 0
    """Width of one expert. Default: `ffn`."""
    first_dense_layers: Whole = 0
    """Leading layers without experts."""
    moe_layer_freq: PositiveWhole = 1
    """Every how many layers there are experts."""
    q_lora_rank: Whole = 0
    """Rank of the compressed queries of latent attention (MLA)."""
    kv_lora_rank: Whole = 0
    """Rank of the compressed keys and values of latent attention (MLA)."""
    qk_nope_dim: Whole = 0
    """Size of a query head without rotary positions (MLA)."""
    qk_rope_dim: Whole = 0
    """Size of a query head's rotary part (MLA)."""
    v_head_dim: Whole = 0
    """Size of a value head (MLA)."""
