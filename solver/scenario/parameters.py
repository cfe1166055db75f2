"""How many parameters a transformer has, for the rule of compute-optimal training."""

from __future__ import annotations

from solver.catalog.schema import Architecture


def active_parameters(architecture: Architecture) -> float:
    """Return the parameters that each token passes through.

    Notes
    -----
    The published figure where the catalog has it. Else the matrices of attention,
    feed-forward layers, visited experts, embedding and head; norms and biases are
    left out (under 0.1 %).
    """
    reported = architecture.active_params_b or (
        None if architecture.n_experts > 1 else architecture.reported_params_b
    )
    if reported:
        return reported * 1e9
    tables = 1 if architecture.tied_embeddings else 2
    embedding = (
        tables * architecture.vocab + architecture.learned_positions
    ) * architecture.hidden
    experts = _expert_layers(architecture)
    visited = architecture.experts_topk + architecture.shared_experts
    expert_ffn = architecture.moe_ffn or architecture.ffn
    return float(
        embedding
        + architecture.layers * _attention(architecture)
        + (architecture.layers - experts)
        * _feed_forward(architecture, architecture.ffn)
        + experts * visited * _feed_forward(architecture, expert_ffn)
    )


def _expert_layers(architecture: Architecture) -> int:
    """Return the number of layers that hold experts."""
    if architecture.n_experts < 2:
        return 0
    rest = architecture.layers - architecture.first_dense_layers
    return rest // architecture.moe_layer_freq


def _feed_forward(architecture: Architecture, width: int) -> int:
    """Return the parameters of one feed-forward layer or expert."""
    return (3 if architecture.gated else 2) * architecture.hidden * width


def _attention(architecture: Architecture) -> int:
    """Return the parameters of one layer's attention."""
    hidden, heads = architecture.hidden, architecture.heads
    if not architecture.kv_lora_rank:
        width = (2 * heads + 2 * architecture.kv_heads) * architecture.head_dim
        return hidden * width
    query_dim = architecture.qk_nope_dim + architecture.qk_rope_dim
    rank = architecture.q_lora_rank
    query = rank * (hidden + heads * query_dim) if rank else hidden * heads * query_dim
    kv_rank = architecture.kv_lora_rank
    down = hidden * (kv_rank + architecture.qk_rope_dim)
    up = kv_rank * heads * (architecture.qk_nope_dim + architecture.v_head_dim)
    return query + down + up + heads * architecture.v_head_dim * hidden
