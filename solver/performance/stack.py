"""Time constants of a software stack: what a framework adds to bare kernels.

They come from ``constants:`` of catalog/frameworks. A name may carry a year,
``host_layer_s@2022``: the value up to and including that year. A plan takes the
values without a year (the newest software), a published run those of its own year.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

from solver.errors import InternalError


@dataclass(frozen=True, slots=True)
class Stack:
    """Constants of one software stack; the defaults are those of a tuned one."""

    tuned: float = 1.0
    """1: the GPU vendor's tuned training stack; 0: plain PyTorch, whose matmuls reach
    ``Hardware.plain_rate`` of its rate."""
    host_layer_s: float = 1.0e-4
    """Seconds in which the host launches one layer's forward; backward takes twice."""
    host_rank_s: float = 0.0
    """Host seconds of a layer's forward for each rank of its tensor-parallel group,
    where launches and collectives wait for each other (research code)."""
    host_pipeline_rank_s: float = 0.0
    """The same under a pipeline, in place of ``host_rank_s`` where it is larger."""
    launch_blocking: float = 0.0
    """1: the host waits for every kernel (CUDA_LAUNCH_BLOCKING=1), so that its time is
    added to the GPU's instead of hidden behind it."""
    host_moe_layer_s: float = 1.0e-3
    """Host seconds that a mixture-of-experts layer adds: routing and its syncs."""
    host_expert_s: float = 9.0e-6
    """Host seconds for each local expert."""
    host_step_s: float = 7.0e-3
    """Fixed seconds of a step."""
    lora_host: float = 1.5
    """Kernel launches of a layer with adapters over one without."""
    collective_s: float = 2.0e-5
    """Seconds to launch and synchronise one collective."""
    gaps_s: float = 0.0
    """Seconds in a layer's forward in which the GPU starts kernels; backward twice."""
    moe_gaps_s: float = 0.0
    """The same, more, of a layer with experts: routing, sorting, permutation."""
    elementwise: float = 1.5
    """Memory passes of norms, activations and residuals, over the fused ideal."""
    residual_passes: float = 14.0
    """Passes of a layer over its residual stream: norms, additions and dropout."""
    backward_rate: float = 1.0
    """Rate of a linear's backward matmuls over that of its forward."""
    accumulate_bytes: float = 3.6
    """Bytes a trained parameter and micro-batch to accumulate gradients."""
    loss_bytes: float = 12.0
    """Bytes of memory traffic a logit for cross-entropy and its backward."""
    cast_passes: float = 1.8
    """Bytes an element of a linear's input and output to cast to 8 or 4 bits."""
    expert_casts: float = 1.0
    """Casts of an expert's input and output, over those of a dense linear."""
    permute_passes: float = 6.0
    """Memory passes over routed tokens to permute and combine them."""
    expert_rows: float = 90.0
    """Rows of a matmul that each expert loses to padding and tails."""
    fused_attention: float = 1.0
    """1: flash attention where the GPU has it; 0: scores go through memory."""
    unfused_passes: float = 5.0
    """Passes of 4 bytes over the score matrix of unfused attention."""
    nf4_passes: float = 1.5
    """Memory passes of dequantising 4-bit weights, over the ideal."""
    tp_exposed: float = 0.5
    """Share of tensor-parallel collectives that compute does not hide."""
    cp_exposed: float = 0.4
    """Share of the context-parallel ring that attention does not hide."""
    ep_factor: float = 1.75
    """All-to-all time over its ideal at link rate."""
    pp_exposed: float = 0.4
    """Share of pipeline sends and receives that compute does not hide."""
    dp_exposed: float = 0.3
    """Share of gradient collectives that backward does not hide."""
    fsdp_exposed: float = 0.2
    """Share of sharded gathers that compute does not hide."""
    reduce_bytes: float = 4.0
    """Bytes of a gradient in its reduction."""
    straggler: float = 4.0e-3
    """Slowdown by the slowest node for each doubling above 8 GPUs."""


_NAMES = frozenset(f.name for f in fields(Stack))


def at_year(constants: Mapping[str, float], year: float | None) -> dict[str, float]:
    """The constants that hold in ``year``; None: the newest.

    ``name@2022`` holds up to the end of 2022; of several the earliest that still
    holds is taken, else the plain ``name``.
    """
    chosen: dict[str, tuple[float, float]] = {}
    for key, value in constants.items():
        name, _, until = key.partition("@")
        last = float(until) if until else float("inf")
        if until and (year is None or int(year) > last):
            continue
        if name not in chosen or last < chosen[name][0]:
            chosen[name] = (last, value)
    return {name: value for name, (_, value) in chosen.items()}


def stack_of(constants: Mapping[str, float]) -> Stack:
    """The stack with these constants; names with a year are left to ``at_year``."""
    plain = {k: float(v) for k, v in constants.items() if "@" not in k}
    unknown = sorted(plain.keys() - _NAMES)
    if unknown:
        raise InternalError(f"unknown framework constants: {', '.join(unknown)}")
    return Stack(**plain)
