"""Prefill and decode of a language model: throughput, memory and layout of generation.

A replica of ``tp x stages`` GPUs holds one 16-bit copy of the weights. Prefill computes
all prompt tokens at once and is bound by FLOPs; decode adds one token to every
sequence in flight a step and is bound by memory: all weights that the batch touches,
and the keys and values of every sequence, are read each step. The same functions serve
rollouts of reinforcement learning and plans that serve a model.

Sources: Pope et al. 2022 (arXiv 2211.05102) for the partition of costs; Kwon et al.
2023 (arXiv 2309.06180) for paged keys and values and continuous batching; DeepSeek-V2
(arXiv 2405.04434) for the latent cache. Constants: `inference` of
catalog/calibration.yaml, held against published throughput in docs/alignment.md.

Arrays are (n,), one element a layout; scalars stand for all.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from solver.performance.alignment_inputs import GenerationEngine, Lengths
from solver.performance.communication import all_reduce_s, link
from solver.performance.inputs import FloatArray, Hardware, IntArray, TransformerShape
from solver.performance.transformer import (
    ParameterCount,
    attended_tokens,
    parameters,
    query_width,
    value_width,
)

ELEMENT_BYTES = 2.0
"""Bytes of a weight and of an activation while generating: 16 bits."""


@dataclass(frozen=True)
class Replica:
    """GPUs that hold one copy of the weights."""

    tp: IntArray
    """Tensor-parallel GPUs, inside an NVLink domain, (n,)."""
    stages: IntArray
    """Pipeline stages over domains, (n,)."""

    @property
    def gpus(self) -> IntArray:
        """GPUs of a replica, (n,)."""
        return np.asarray(self.tp * self.stages)


@dataclass(frozen=True)
class Rollout:
    """One batch generated on all replicas, each (n,)."""

    prefill_s: FloatArray
    decode_s: FloatArray
    """inf where not even one sequence fits."""
    concurrent: FloatArray
    """Sequences in flight on a replica."""
    cache_bytes: FloatArray
    """Keys and values of them, bytes a GPU."""
    weights_bytes: FloatArray
    """Bytes a GPU of the copy of the weights."""
    tp: IntArray
    stages: IntArray
    replicas: IntArray

    @property
    def total_s(self) -> FloatArray:
        """Seconds from the first prompt to the last token, (n,)."""
        return self.prefill_s + self.decode_s

    def where(self, better: Any, other: Rollout) -> Rollout:
        """The rollout itself where ``better``, (n,), else the other."""
        return Rollout(
            **{
                f.name: np.where(better, getattr(self, f.name), getattr(other, f.name))
                for f in fields(Rollout)
            }
        )


def cache_bytes_per_token(
    shape: TransformerShape, tp: Any, element_bytes: float = 2.0
) -> FloatArray:
    """Bytes of keys and values of one token on one tensor-parallel rank, (n,).

    KV heads fewer than TP are copied; the latent cache of MLA is whole on each rank.
    """
    if shape.is_mla:
        width: Any = shape.kv_lora_rank + shape.qk_rope_dim + 0.0 * np.asarray(tp)
    else:
        width = 2.0 * np.maximum(shape.kv_heads / np.asarray(tp), 1.0) * shape.head_dim
    return np.asarray(shape.layers * width * element_bytes)


def weight_bytes(shape: TransformerShape, gpus: Any) -> FloatArray:
    """Bytes a GPU of a 16-bit copy of the weights over a replica's GPUs, (n,)."""
    return np.asarray(ELEMENT_BYTES * parameters(shape).total / np.asarray(gpus))


def cached_tokens(shape: TransformerShape, tokens: float) -> float:
    """Tokens of a sequence whose keys and values are kept, a mean over the layers.

    Layers with a sliding window keep its tokens at most.
    """
    seen = min(tokens, float(shape.sliding_window or tokens))
    return tokens + shape.windowed_share * (seen - tokens)


def touched_parameters(count: ParameterCount, sequences: Any) -> FloatArray:
    """Parameters that one decode step of so many sequences reads, (n,).

    Each of E experts is read unless none of the sequences visits it:
    ``E (1 - (1 - k/E)^b)``. Of the embedding only the rows of the tokens are read.
    """
    dense = count.total - count.routed_experts - count.embedding - count.positions
    if not count.head:  # tied: the embedding is the head
        dense += count.embedding
    if not count.routed_experts:
        return np.asarray(dense + 0.0 * np.asarray(sequences))
    missed = (1.0 - count.experts_topk / count.n_experts) ** np.asarray(sequences)
    return np.asarray(dense + count.routed_experts * (1.0 - missed))


def decode_step_s(
    shape: TransformerShape,
    engine: GenerationEngine,
    hardware: Hardware,
    replica: Replica,
    sequences: Any,
    context: float,
) -> FloatArray:
    """Seconds in which a replica adds a token to each of its sequences, (n,).

    Parameters
    ----------
    sequences
        In flight, (n,).
    context
        Mean tokens of a sequence so far.

    Notes
    -----
    ``max(weights / bandwidth, FLOPs / rate) + cache / bandwidth + all-reduces + gaps``,
    each a GPU. Pipeline stages work on different sequences at a time: together they
    read the weights as slowly as their tensor-parallel group would alone, and share
    the cache and the FLOPs.
    """
    tp, stages = replica.tp, replica.stages
    count = parameters(shape)
    bandwidth = np.asarray(hardware.hbm_bytes_per_s)
    active = count.active - count.embedding * (1 if count.head else 0) - count.positions
    each = np.asarray(sequences) / stages
    read = ELEMENT_BYTES * touched_parameters(count, each) / tp
    weights = read / (bandwidth * engine.weights_rate)
    work = 2.0 * active * each / tp
    tokens = cached_tokens(shape, context)
    cache = tokens * cache_bytes_per_token(shape, tp, engine.cache_bytes) / stages
    reading = np.asarray(sequences) * cache / (bandwidth * engine.cache_rate)
    scores = 2.0 * tokens * (query_width(shape) + value_width(shape)) * shape.layers
    attention = (
        np.asarray(sequences) * scores / (replica.gpus * _rate(engine, hardware))
    )
    return np.asarray(
        np.maximum(weights, work / _rate(engine, hardware))
        + np.maximum(reading, attention)
        + _all_reduces_s(shape, engine, hardware, tp, each)
        + shape.layers * engine.layer_s
        + engine.step_s
    )


def _rate(engine: GenerationEngine, hardware: Hardware) -> Any:
    """FLOP/s that matmuls sustain while generating."""
    sustained = np.asarray(hardware.peak_16bit) * hardware.gemm_efficiency_16bit
    return sustained * engine.matmul_rate


def _all_reduces_s(
    shape: TransformerShape,
    engine: GenerationEngine,
    hardware: Hardware,
    tp: IntArray,
    tokens: Any,
) -> FloatArray:
    """Seconds of the two all-reduces of each layer over that many tokens, (n,)."""
    domain = np.maximum(hardware.nvlink_domain_gpus, hardware.gpus_per_node)
    group = link(hardware, domain, tp, 1)
    size = ELEMENT_BYTES * shape.hidden * np.asarray(tokens)
    return 2.0 * shape.layers * all_reduce_s(group, size, engine.all_reduce_s)


def prefill_s(
    shape: TransformerShape,
    engine: GenerationEngine,
    hardware: Hardware,
    replica: Replica,
    prompts: Any,
    prompt_tokens: float,
) -> FloatArray:
    """Seconds in which a replica computes so many prompts, (n,).

    Matmul and causal attention FLOPs at the sustained rate, all-reduces beside them;
    logits are needed of the last token alone. Weights are read at least once.
    """
    count = parameters(shape)
    active = count.active - count.outside_layers
    keys = attended_tokens(shape, max(int(prompt_tokens), 1))
    core = 2.0 * keys * (query_width(shape) + value_width(shape)) * shape.layers
    tokens = np.asarray(prompts) * prompt_tokens
    flops = tokens * (2.0 * active + core) / replica.gpus
    bandwidth = np.asarray(hardware.hbm_bytes_per_s) * engine.weights_rate
    least = weight_bytes(shape, replica.tp) / bandwidth
    summing = _all_reduces_s(
        shape, engine, hardware, replica.tp, tokens / replica.stages
    )
    return np.asarray(np.maximum(flops / _rate(engine, hardware), least) + summing)


def concurrent_sequences(
    shape: TransformerShape,
    engine: GenerationEngine,
    lengths: Lengths,
    replica: Replica,
    free_bytes: Any,
) -> FloatArray:
    """Sequences that a replica can hold at once in so much memory a GPU, (n,).

    Pages are filled as tokens come; each sequence is counted at its mean full length,
    the prompt once for its group. 0: not even one fits.
    """
    each = sequence_bytes(shape, engine, lengths, replica)
    fitting = np.floor(np.maximum(np.asarray(free_bytes), 0.0) / each)
    return np.asarray(np.minimum(fitting, engine.most_sequences * replica.stages))


def sequence_bytes(
    shape: TransformerShape,
    engine: GenerationEngine,
    lengths: Lengths,
    replica: Replica,
) -> FloatArray:
    """Bytes a GPU of the keys and values of one finished sequence, (n,)."""
    tokens = lengths.prompt / lengths.group + lengths.response
    one = cache_bytes_per_token(shape, replica.tp, engine.cache_bytes)
    return np.asarray(cached_tokens(shape, tokens) * one / replica.stages)


def rollout(
    shape: TransformerShape,
    engine: GenerationEngine,
    hardware: Hardware,
    lengths: Lengths,
    replica: Replica,
    replicas: Any,
    responses: Any,
    free_bytes: Any,
) -> Rollout:
    """Seconds in which all replicas generate a batch of responses, (n,).

    Parameters
    ----------
    replicas
        That share the responses evenly, (n,).
    responses
        Of the whole batch, (n,).
    free_bytes
        Memory a GPU that is left for keys and values, (n,).

    Notes
    -----
    With c sequences in flight of the n of a replica (continuous batching: a finished
    one is replaced at once) the steps are ``R max(n/c, 1) + (M - R)``: all tokens at
    full width, then the tail of the longest response M behind the mean R. A step is
    timed at the mean number in flight.
    """
    each = np.asarray(responses) / np.asarray(replicas)
    fitting = concurrent_sequences(shape, engine, lengths, replica, free_bytes)
    width = np.minimum(np.maximum(fitting, 1.0), np.maximum(each, 1.0))
    longest = max(lengths.longest, lengths.response)
    waves = np.maximum(each / width, 1.0)
    steps = lengths.response * waves + (longest - lengths.response)
    mean = np.maximum(each, 1.0) * lengths.response / steps
    context = lengths.prompt + lengths.response / 2.0
    step = decode_step_s(shape, engine, hardware, replica, mean, context)
    prompts = np.maximum(each, 1.0) / lengths.group
    prefill = prefill_s(shape, engine, hardware, replica, prompts, lengths.prompt)
    nothing = fitting < 1.0
    cache = width * sequence_bytes(shape, engine, lengths, replica)
    zero = 0 * np.asarray(each)
    return Rollout(
        prefill_s=np.where(nothing, np.inf, prefill),
        decode_s=np.where(nothing, np.inf, steps * step),
        concurrent=width + zero,
        cache_bytes=cache + zero,
        weights_bytes=weight_bytes(shape, replica.gpus) + zero,
        tp=np.asarray(replica.tp + zero, dtype=np.int64),
        stages=np.asarray(replica.stages + zero, dtype=np.int64),
        replicas=np.asarray(replicas + zero, dtype=np.int64),
    )


def replica_sizes(
    shape: TransformerShape, domain: int, gpus: int
) -> list[tuple[int, int]]:
    """(TP, stages) of replicas that may be tried on so many GPUs, smallest first.

    TP is a power of two that divides the heads inside the domain; beyond it stages
    are laid over whole domains.
    """
    inside = [2**k for k in range(20) if 2**k <= domain and shape.heads % 2**k == 0]
    sizes = [(tp, 1) for tp in inside if tp <= gpus]
    widest = max(inside)
    stages = [2**k for k in range(1, 10) if 2**k <= shape.layers]
    return sizes + [(widest, s) for s in stages if widest * s <= gpus]


def best_rollout(
    shape: TransformerShape,
    engine: GenerationEngine,
    hardware: Hardware,
    lengths: Lengths,
    gpus: IntArray,
    responses: Any,
    usable_bytes: Any,
) -> Rollout:
    """The fastest way to divide GPUs into replicas that generate a batch, (n,).

    Parameters
    ----------
    gpus
        That generate, (n,).
    usable_bytes
        Memory a GPU for weights, engine, keys and values, (n,).

    Notes
    -----
    Of equals the smallest replica. GPUs that a replica size does not divide stay idle.
    Stages over domains are used only where no replica fits inside one: they add waits
    that are not modelled.
    """
    gpus = np.asarray(gpus, dtype=np.int64)
    most = int(gpus.max(initial=1))
    domain = int(
        np.max(np.maximum(hardware.nvlink_domain_gpus, hardware.gpus_per_node))
    )
    found: list[Rollout] = []
    for tp, stages in replica_sizes(shape, domain, most):
        ones = np.ones_like(gpus)
        replica = Replica(tp * ones, stages * ones)
        count = gpus // replica.gpus
        free = (
            np.asarray(usable_bytes)
            - weight_bytes(shape, replica.gpus)
            - engine.workspace_bytes
        )
        free = np.where(count > 0, free, -1.0)
        free = np.where(tp <= np.maximum(hardware.nvlink_domain_gpus, 1), free, -1.0)
        one = rollout(
            shape,
            engine,
            hardware,
            lengths,
            replica,
            np.maximum(count, 1),
            responses,
            free,
        )
        found.append(one)
    best, *others = found  # TP 1 is always tried
    for other in others:
        kept = best.total_s <= other.total_s
        kept |= np.isfinite(best.total_s) & (best.stages < other.stages)
        best = best.where(kept, other)
    return best
