"""A run as arguments of Megatron-LM's ``pretrain_gpt.py``.

Names and meanings are those of megatron/training/arguments.py and of the configuration
classes that it reads, as of commit d98e8a64 of August 2026 (Megatron Core 0.20).
"""

from __future__ import annotations

from solver.exporting.checks import refuse_broken, refuse_other_jobs
from solver.exporting.pipeline import chunks, is_even
from solver.exporting.program import Command, Variable, needed, spares_note
from solver.exporting.refusals import Refusals
from solver.exporting.run import CHECKPOINTS, DATA, INITIAL, Run
from solver.plan import Message

__all__ = ["OPTIMIZER_TO_HOST", "command", "refuse_layout"]

TOOL = "Megatron-LM"
PROGRAM = "${MEGATRON_LM}/pretrain_gpt.py"

OPTIMIZERS = {
    "adamw": ("adam",),
    "lion": ("lion",),
    "muon": ("muon",),
    "sgd": ("sgd", "--sgd-momentum", "0"),
    "sgd-momentum": ("sgd",),
}
"""Optimizers of the catalog as ``--optimizer`` names them, with what else they need."""

PRECISIONS = {
    "fp32": (),
    "bf16": ("--bf16",),
    "fp16": ("--fp16",),
    "fp8": ("--bf16", "--fp8-format", "hybrid", "--fp8-recipe", "${FP8_RECIPE}"),
    "mxfp8": ("--bf16", "--fp8-format", "e4m3", "--fp8-recipe", "mxfp8"),
    "nvfp4": ("--bf16", "--fp4-format", "e2m1", "--fp4-recipe", "nvfp4"),
}

RECOMPUTE = {
    "none": (),
    "selective": ("--recompute-granularity", "selective"),
    "full": (
        *("--recompute-granularity", "full"),
        *("--recompute-method", "uniform", "--recompute-num-layers", "1"),
    ),
}

OPTIMIZER_TO_HOST = "optimizer to host"


def command(run: Run) -> Command:
    """Return how Megatron-LM trains a run.

    Raises
    ------
    NotExpressibleError
        What the plan does and its arguments cannot say.
    """
    _check(run)
    arguments = (
        *_sizes(run),
        *_experts(run),
        *_latent_attention(run),
        *_parallelism(run),
        *_sharding(run),
        *_numerics(run),
        *_work(run),
        *_saving(run),
    )
    named = " ".join(arguments)
    variables = [
        one for one in _variables(run) if f"${{{one.name}}}" in f"{PROGRAM} {named}"
    ]
    layout = run.layout
    lines_up = layout.tp > 1 or layout.cp > 1
    return Command(
        program=PROGRAM,
        arguments=arguments,
        environment={"CUDA_DEVICE_MAX_CONNECTIONS": "1"} if lines_up else {},
        variables=tuple(variables),
        notes=_notes(run),
    )


def _check(run: Run) -> None:
    """Refuse what the arguments cannot say."""
    layout, refusals = run.layout, Refusals(TOOL)
    refuse_layout(run, refusals)
    refusals.add(
        f"trains all weights in pretrain_gpt.py, and the plan trains {run.method}",
        where=run.method != "full",
    )
    refusals.add(
        f"has no optimizer {layout.optimizer}; it has {', '.join(OPTIMIZERS)}",
        where=layout.optimizer not in OPTIMIZERS,
    )
    refusals.check()


def refuse_layout(run: Run, refusals: Refusals) -> None:
    """Refuse what Megatron Core does not do, however it is told."""
    layout = run.layout
    refuse_broken(run, refusals)
    refuse_other_jobs(run, refusals)
    refusals.add(
        f"shards optimizer states alone (ZeRO-1), and the plan has ZeRO-"
        f"{layout.zero_stage}",
        where=layout.zero_stage > 1,
    )
    ranks = layout.dp * layout.cp
    refusals.add(
        f"cannot divide {ranks} data-parallel ranks into groups of "
        f"{layout.shard_degree} that share optimizer states",
        where=layout.zero_stage == 1 and ranks % layout.shard_degree != 0,
    )
    refusals.add(
        "keeps an fp32 copy of the weights, and the plan has none",
        where=run.method == "full" and layout.master_weights == "none",
    )
    refusals.add(
        f"offloads optimizer states to the host alone, and the plan offloads "
        f"{layout.offload}",
        where=layout.offload not in ("none", OPTIMIZER_TO_HOST),
    )
    refusals.add(
        "offloads optimizer states only with ZeRO-1",
        where=layout.offload == OPTIMIZER_TO_HOST and layout.zero_stage == 0,
    )
    refusals.add(
        "takes the loss over whole sequences, and the plan takes it in chunks",
        where=layout.loss != "whole",
    )
    refusals.add(
        "keeps gradients in 16 bits only beside weights in bf16",
        where=run.workload.gradient_precision == "bf16"
        and layout.precision in ("fp16", "fp32"),
    )
    refusals.add(
        f"divides sequences over CP {layout.cp} into twice as many equal parts, and "
        f"{run.sequence_length} tokens are not",
        where=layout.cp > 1 and run.sequence_length % (2 * layout.cp) != 0,
    )
    refusals.add(
        "needs sequence parallelism where experts meet tensor parallelism",
        where=run.architecture.n_experts > 1
        and layout.tp > 1
        and not layout.sequence_parallel,
    )


def _sizes(run: Run) -> tuple[str, ...]:
    """Return the model's sizes, without experts."""
    model, length = run.architecture, run.sequence_length
    positions = model.learned_positions or max(model.max_seq or 0, length)
    words = [
        *_option("--num-layers", model.layers),
        *_option("--hidden-size", model.hidden),
        *_option("--ffn-hidden-size", model.ffn or model.moe_ffn),
        *_option("--num-attention-heads", model.heads),
        *_option("--seq-length", length),
        *_option("--max-position-embeddings", max(positions, length)),
        *_option("--vocab-size", model.vocab),
        *_option("--normalization", "LayerNorm" if model.layer_norm else "RMSNorm"),
    ]
    if model.kv_lora_rank == 0:
        words += _option("--kv-channels", model.head_dim)
        if model.kv_heads != model.heads:
            words += ["--group-query-attention"]
            words += _option("--num-query-groups", model.kv_heads)
    if model.learned_positions:
        words += _option("--position-embedding-type", "learned_absolute")
    else:
        words += _option("--position-embedding-type", "rope")
        words += _option("--rotary-base", "${ROTARY_BASE}")
    if model.sliding_window:
        words += _option("--window-size", f"{model.sliding_window - 1},0")
        if model.full_attention_every:
            words += _option("--window-attn-skip-freq", model.full_attention_every)
    flags = {
        "--swiglu": model.gated,
        "--untie-embeddings-and-output-weights": not model.tied_embeddings,
        "--disable-bias-linear": not model.linear_bias,
        "--add-qkv-bias": model.qkv_bias and not model.linear_bias,
    }
    words += [flag for flag, holds in flags.items() if holds]
    dropout = "${DROPOUT}" if model.dropout else 0
    words += _option("--attention-dropout", dropout)
    return (*words, *_option("--hidden-dropout", dropout))


def _experts(run: Run) -> tuple[str, ...]:
    """Return the mixture of experts; nothing for a dense model."""
    model, layout = run.architecture, run.layout
    if model.n_experts < 2:
        return ()
    words = [
        *_option("--num-experts", model.n_experts),
        *_option("--moe-router-topk", model.experts_topk),
        *_option("--moe-ffn-hidden-size", model.moe_ffn or model.ffn),
        *_option("--moe-layer-freq", _expert_layers(run)),
        *_option("--moe-token-dispatcher-type", "alltoall"),
        "--moe-grouped-gemm",
        *_option("--expert-model-parallel-size", layout.ep),
        *_option("--expert-tensor-parallel-size", layout.etp),
    ]
    if model.shared_experts:
        width = (model.moe_ffn or model.ffn) * model.shared_experts
        words += _option("--moe-shared-expert-intermediate-size", width)
    return tuple(words)


def _expert_layers(run: Run) -> str:
    """Return which layers have experts, as a list that Megatron-LM evaluates.

    Those that come before them are dense; then each ``moe_layer_freq``-th has experts.
    """
    model = run.architecture
    first, every = model.first_dense_layers, model.moe_layer_freq
    whole, rest = divmod(model.layers - first, every)
    parts = {"[0]": first, f"[{','.join('0' * (every - 1) + '1')}]": whole}
    used = [f"{what}*{times}" for what, times in parts.items() if times]
    return f"({'+'.join([*used, *([f'[0]*{rest}'] if rest else [])])})"


def _latent_attention(run: Run) -> tuple[str, ...]:
    """Return the ranks and widths of latent attention; nothing for other models."""
    model = run.architecture
    if not model.kv_lora_rank:
        return ()
    words = ["--multi-latent-attention"]
    if model.q_lora_rank:
        words += _option("--q-lora-rank", model.q_lora_rank)
    return (
        *words,
        *_option("--kv-lora-rank", model.kv_lora_rank),
        *_option("--qk-head-dim", model.qk_nope_dim),
        *_option("--qk-pos-emb-head-dim", model.qk_rope_dim),
        *_option("--v-head-dim", model.v_head_dim),
        *_option("--rope-type", "rope"),
    )


def _parallelism(run: Run) -> tuple[str, ...]:
    """Return how the model is divided over GPUs."""
    layout = run.layout
    words = [
        *_option("--tensor-model-parallel-size", layout.tp),
        *_option("--pipeline-model-parallel-size", layout.pp),
        *_option("--context-parallel-size", layout.cp),
    ]
    if layout.cp > 1:
        ways = "a2a" if run.framework.context_by_heads else "p2p"
        words += _option("--cp-comm-type", ways)
    if layout.sequence_parallel:
        words += ["--sequence-parallel"]
    if not is_even(layout):
        words += _option("--pipeline-model-parallel-layout", _stages(run))
    elif layout.virtual_stages > 1:
        words += _option(
            "--num-virtual-stages-per-pipeline-rank", layout.virtual_stages
        )
    return tuple(words)


def _stages(run: Run) -> str:
    """Return the layers of every stage, embedding (E) and loss (L) with the ends."""
    held = [f"t*{layers}" for layers in chunks(run.layout)]
    held[0], held[-1] = f"E,{held[0]}", f"{held[-1]},L"
    return "|".join(held)


def _sharding(run: Run) -> tuple[str, ...]:
    """Return what data-parallel ranks share, and what leaves the GPU."""
    layout = run.layout
    if layout.zero_stage == 0:
        return ("--overlap-grad-reduce",)
    words = ["--use-distributed-optimizer", "--overlap-grad-reduce"]
    groups = layout.dp * layout.cp // layout.shard_degree
    if groups > 1:
        words += _option("--num-distributed-optimizer-instances", groups)
    if layout.offload == OPTIMIZER_TO_HOST:
        return (*words, "--optimizer-cpu-offload", "--use-precision-aware-optimizer")
    return (*words, "--overlap-param-gather")


def _numerics(run: Run) -> tuple[str, ...]:
    """Return precision, recomputation and optimizer."""
    layout, workload = run.layout, run.workload
    words = [*PRECISIONS[layout.precision], *RECOMPUTE[layout.recompute]]
    if workload.fp8_weights and "--fp8-format" in words:
        words += ["--fp8-param-gather"]
    if workload.gradient_precision == "bf16":
        words += ["--grad-reduce-in-bf16"]
    elif "--bf16" in words:
        words += ["--accumulate-allreduce-grads-in-fp32"]
    return (*words, "--optimizer", *OPTIMIZERS[layout.optimizer])


def _work(run: Run) -> tuple[str, ...]:
    """Return batch, length of the training, data and learning rate."""
    layout, ramp = run.layout, run.plan.batch_ramp
    words = [
        *_option("--micro-batch-size", layout.micro_batch),
        *_option("--global-batch-size", layout.global_batch_size),
    ]
    if ramp is None:
        words += _option("--train-iters", run.steps)
    else:
        sizes = (ramp["from"], ramp["step"], int(ramp["samples"]))
        words += ["--rampup-batch-size", *map(str, sizes)]
        words += _option("--train-samples", run.sequences)
    if not run.evaluation_fraction:
        words += _option("--eval-iters", 0)
    return (
        *words,
        *_option("--lr", "${LR}"),
        *_option("--seed", "${SEED}"),
        *_option("--data-path", f"${{{DATA}}}"),
        *_option("--tokenizer-type", "HuggingFaceTokenizer"),
        *_option("--tokenizer-model", "${TOKENIZER}"),
    )


def _saving(run: Run) -> tuple[str, ...]:
    """Return checkpoints and what is logged of speed."""
    folder = f"${{{CHECKPOINTS}}}"
    words = [
        *_option("--save", folder),
        *_option("--load", folder),
        *_option("--save-interval", run.checkpoint_steps or run.steps),
    ]
    if run.workload.start == "checkpoint":
        words += _option("--pretrained-checkpoint", f"${{{INITIAL}}}")
    return (*words, *_option("--log-interval", 1), "--log-throughput")


def _option(name: str, value: object) -> list[str]:
    """Return an option and its value as words."""
    return [name, str(value)]


def _variables(_run: Run) -> tuple[Variable, ...]:
    """Return all that a user may have to say."""
    return (
        needed("MEGATRON_LM", "megatron"),
        needed(DATA, "megatron-data"),
        needed("TOKENIZER", "tokenizer"),
        needed(CHECKPOINTS, "checkpoints"),
        needed(INITIAL, "megatron-initial"),
        needed("LR", "lr"),
        needed("ROTARY_BASE", "rotary-base"),
        needed("DROPOUT", "dropout"),
        needed("FP8_RECIPE", "fp8-recipe", "delayed"),
        needed("SEED", "seed", "1234"),
    )


def _notes(run: Run) -> tuple[Message, ...]:
    """Return what the catalog does not know of a model and Megatron-LM asks for."""
    model = run.architecture
    notes = [Message.of("note.export.megatron-model")]
    if model.n_experts > 1:
        notes.append(Message.of("note.export.router"))
    return (*notes, *spares_note(run.spare_nodes))
