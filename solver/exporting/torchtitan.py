"""A run with torchtitan 0.3, whose configurations are Python and no longer TOML.

Fields are those of torchtitan/config/configs.py of that release.
"""

from __future__ import annotations

import json
from typing import Any

from solver.exporting.checks import refuse_broken, refuse_other_jobs
from solver.exporting.pipeline import chunks
from solver.exporting.program import Command, Variable, needed, spares_note
from solver.exporting.refusals import Refusals
from solver.exporting.run import CHECKPOINTS, DATA, INITIAL, Run
from solver.exporting.scripts import TORCHTITAN
from solver.plan import Message

__all__ = ["command"]

TOOL = "torchtitan"
PARAMETERS_TO_HOST = "parameters to host"
_DTYPES = {"bf16": "bfloat16", "fp32": "float32"}


def command(run: Run) -> Command:
    """Return how torchtitan trains a run: planned.py and run.json.

    Raises
    ------
    NotExpressibleError
        What the plan does and its configuration cannot say.
    """
    _check(run)
    variables = _variables(run)
    model, layout = run.architecture, run.layout
    data: dict[str, Any] = {
        "title": run.title,
        "start": run.workload.start,
        "model": {
            "dim": model.hidden,
            "n_layers": model.layers,
            "n_heads": model.heads,
            "n_kv_heads": model.kv_heads,
            "head_dim": model.head_dim,
            "hidden_dim": model.ffn,
            "vocab_size": model.vocab,
            "enable_weight_tying": model.tied_embeddings,
        },
        "training": _training(run),
        "parallelism": _parallelism(run),
        "recompute": layout.recompute,
        "loss_chunks": run.framework.loss_chunks or 8 if layout.loss != "whole" else 0,
        "checkpoint_steps": run.checkpoint_steps or run.steps,
        "variables": {one.name: one.meaning.text for one in variables},
    }
    text = json.dumps(data, indent=2, ensure_ascii=False) + "\n"
    return Command(
        program="${TORCHTITAN}/torchtitan/train.py",
        arguments=("--module", "planned", "--config", "planned"),
        files={"planned.py": TORCHTITAN, "run.json": text},
        environment={"PYTHONPATH": ".:${TORCHTITAN}"},
        variables=variables,
        notes=_notes(run),
    )


def _check(run: Run) -> None:
    """Refuse what the configuration cannot say."""
    layout, model, refusals = run.layout, run.architecture, Refusals(TOOL)
    refuse_broken(run, refusals)
    refuse_other_jobs(run, refusals)
    refusals.add(
        f"trains all weights here, and the plan trains {run.method}",
        where=run.method != "full",
    )
    unlike = {
        "experts": model.n_experts > 1,
        "latent attention": bool(model.kv_lora_rank),
        "LayerNorm": model.layer_norm,
        "no gate in its MLP": not model.gated,
        "biases": model.linear_bias or model.qkv_bias,
        "a sliding window": bool(model.sliding_window),
        "learned positions": bool(model.learned_positions),
        "dropout": model.dropout,
    }
    refusals.add(
        f"is written for models built like Llama alone, and {model.name} has "
        f"{', '.join(what for what, holds in unlike.items() if holds)}",
        where=any(unlike.values()),
    )
    refusals.add(
        "shards optimizer states with gradients (ZeRO-2, ZeRO-3) or nothing, and the "
        "plan has ZeRO-1",
        where=layout.zero_stage == 1,
    )
    ranks = layout.dp * layout.cp
    refusals.add(
        f"cannot divide {ranks} ranks into groups of {layout.shard_degree} that share "
        f"weights",
        where=layout.zero_stage > 1
        and (ranks % layout.shard_degree != 0 or layout.shard_degree % layout.cp != 0),
    )
    refusals.add(
        "divides sequences (CP) only where it shards, and the plan has ZeRO-0",
        where=layout.cp > 1 and layout.zero_stage == 0,
    )
    refusals.add(
        f"is written with AdamW here, and the plan has {layout.optimizer}",
        where=layout.optimizer not in ("adamw", "adamw-bf16"),
    )
    refusals.add(
        f"is written in bf16 or fp32 here, and the plan computes in {layout.precision}",
        where=layout.precision not in _DTYPES,
    )
    refusals.add(
        f"offloads parameters with all that belongs to them, and the plan offloads "
        f"{layout.offload}",
        where=layout.offload not in ("none", PARAMETERS_TO_HOST),
    )
    refusals.add(
        "has batches of one size, and the plan's batch grows",
        where=run.plan.batch_ramp is not None,
    )
    refusals.add(
        f"needs as many micro-batches of a step as pipeline stages, "
        f"{layout.pp * layout.virtual_stages}, and the plan has {layout.accumulation}",
        where=layout.pp > 1 and layout.accumulation < layout.pp * layout.virtual_stages,
    )
    refusals.check()


def _training(run: Run) -> dict[str, Any]:
    """Return batch, length and number formats.

    Notes
    -----
    With a pipeline the local batch is that of a whole step, which the schedule divides
    into micro-batches; without one it is a micro-batch, and gradients accumulate.
    """
    layout = run.layout
    dtype = _DTYPES[layout.precision]
    whole = layout.micro_batch * layout.accumulation
    return {
        "local_batch_size": whole if layout.pp > 1 else layout.micro_batch,
        "global_batch_size": layout.global_batch_size,
        "seq_len": run.sequence_length,
        "steps": run.steps,
        "dtype": dtype if layout.master_weights == "none" else "float32",
        "mixed_precision_param": dtype,
        "enable_cpu_offload": layout.offload == PARAMETERS_TO_HOST,
        "disable_cuda_graphs": layout.pp > 1,
    }


def _parallelism(run: Run) -> dict[str, Any]:
    """Return the degrees, and the modules of every chunk of a pipeline."""
    layout = run.layout
    shard = layout.shard_degree // layout.cp if layout.zero_stage > 1 else 1
    found: dict[str, Any] = {
        "data_parallel_replicate_degree": layout.dp // shard,
        "data_parallel_shard_degree": shard,
        "fsdp_reshard_after_forward": "always" if layout.zero_stage == 3 else "never",
        "tensor_parallel_degree": layout.tp,
        "enable_sequence_parallel": layout.sequence_parallel or layout.tp == 1,
        "context_parallel_degree": layout.cp,
        "pipeline_parallel_degree": layout.pp,
    }
    if layout.pp == 1:
        return found
    looped = layout.virtual_stages > 1
    return found | {
        "pipeline_parallel_schedule": "Interleaved1F1B" if looped else "1F1B",
        "pipeline_parallel_microbatch_size": layout.micro_batch,
        "module_fqns_per_model_part": _modules(run),
    }


def _modules(run: Run) -> list[list[str]]:
    """Return the modules of every chunk, in the order of the model."""
    parts, first = [], 0
    for layers in chunks(run.layout):
        parts.append([f"layers.{number}" for number in range(first, first + layers)])
        first += layers
    parts[0].insert(0, "tok_embeddings")
    parts[-1] += ["norm", "lm_head"]
    return parts


def _variables(run: Run) -> tuple[Variable, ...]:
    """Return what the user has to say."""
    found = [
        needed("TORCHTITAN", "torchtitan"),
        needed(DATA, "texts"),
        needed("TOKENIZER", "tokenizer-folder"),
        needed(CHECKPOINTS, "checkpoints"),
        needed("LR", "lr"),
        needed("ROTARY_BASE", "rotary-base"),
        needed("SEED", "seed-own", "42"),
    ]
    if run.workload.start == "checkpoint":
        found.append(needed(INITIAL, "initial-huggingface"))
    return tuple(found)


def _notes(run: Run) -> tuple[Message, ...]:
    """Return what to know before it is run."""
    notes = [Message.of("note.export.torchtitan-model")]
    return (*notes, *spares_note(run.spare_nodes))
