"""A run as a recipe for NeMo's Megatron-Bridge, adapters included.

Fields are those of megatron.bridge at commit 067f987d of August 2026 (0.7) and of the
Megatron Core that it stands on.
"""

from __future__ import annotations

import json
from typing import Any

from solver.exporting import megatron
from solver.exporting.pipeline import chunks, is_even
from solver.exporting.program import Command, Variable, needed, spares_note
from solver.exporting.refusals import Refusals
from solver.exporting.run import CHECKPOINTS, DATA, INITIAL, Run
from solver.exporting.scripts import NEMO
from solver.plan import Message

__all__ = ["command"]

TOOL = "Megatron-Bridge"

OPTIMIZERS = ("adamw", "sgd")
PRECISIONS = {
    "bf16": "bf16_mixed",
    "fp16": "fp16_mixed",
    "fp8": "bf16_with_fp8_delayed_scaling_mixed",
    "mxfp8": "bf16_with_mxfp8_mixed",
    "nvfp4": "bf16_with_nvfp4_mixed",
}
_FUSED = {
    "linear_qkv": {"q", "k", "v"},
    "linear_proj": {"o"},
    "linear_fc1": {"gate", "up"},
    "linear_fc2": {"down"},
}
"""Linears of Megatron Core, and those of a model that each of them holds."""


def command(run: Run) -> Command:
    """Return how Megatron-Bridge trains a run: recipe.py and run.json.

    Raises
    ------
    NotExpressibleError
        What the plan does and a recipe cannot say.
    """
    _check(run)
    variables = _variables(run)
    data: dict[str, Any] = {
        "title": run.title,
        "start": run.workload.start,
        "sizes": {
            "num_layers": run.architecture.layers,
            "hidden_size": run.architecture.hidden,
            "num_attention_heads": run.architecture.heads,
        },
        "model": _model(run),
        "train": _train(run),
        "optimizer": _optimizer(run),
        "ddp": _ddp(run),
        "lora": _lora(run),
        "mixed_precision": PRECISIONS[run.layout.precision],
        "checkpoint_steps": run.checkpoint_steps or run.steps,
        "variables": {one.name: one.meaning.text for one in variables},
    }
    text = json.dumps(data, indent=2, ensure_ascii=False) + "\n"
    lines_up = run.layout.tp > 1 or run.layout.cp > 1
    return Command(
        program="recipe.py",
        arguments=(),
        files={"recipe.py": NEMO, "run.json": text},
        environment={"CUDA_DEVICE_MAX_CONNECTIONS": "1"} if lines_up else {},
        variables=variables,
        notes=_notes(run),
    )


def _check(run: Run) -> None:
    """Refuse what a recipe cannot say."""
    layout, work, refusals = run.layout, run.workload, Refusals(TOOL)
    megatron.refuse_layout(run, refusals)
    refusals.add(
        "has no quantised base, and the plan's is " + layout.base,
        where=run.method == "qlora",
    )
    wanted = set(work.lora_targets)
    broken = [name for name, parts in _FUSED.items() if len(parts & wanted) > 0]
    broken = [name for name in broken if not _FUSED[name] <= wanted]
    refusals.add(
        f"puts adapters on fused linears, and the plan on parts of {', '.join(broken)}",
        where=bool(broken),
    )
    refusals.add(
        f"has no recipe of numbers for {layout.precision}",
        where=layout.precision not in PRECISIONS,
    )
    refusals.add(
        f"is written with {', '.join(OPTIMIZERS)} here, and the plan has "
        f"{layout.optimizer}",
        where=layout.optimizer not in OPTIMIZERS,
    )
    refusals.check()


def _model(run: Run) -> dict[str, Any]:
    """Return how the model is divided over GPUs and what it recomputes."""
    layout = run.layout
    found: dict[str, Any] = {
        "seq_length": run.sequence_length,
        "tensor_model_parallel_size": layout.tp,
        "pipeline_model_parallel_size": layout.pp,
        "context_parallel_size": layout.cp,
        "sequence_parallel": layout.sequence_parallel,
    }
    if layout.cp > 1:
        found["cp_comm_type"] = "a2a" if run.framework.context_by_heads else "p2p"
    if layout.virtual_stages > 1:
        found["virtual_pipeline_model_parallel_size"] = layout.virtual_stages
    if not is_even(layout):
        stages = [["decoder"] * layers for layers in chunks(layout)]
        stages[0].insert(0, "embedding")
        stages[-1].append("loss")
        found["pipeline_model_parallel_layout"] = stages
    if run.architecture.n_experts > 1:
        found |= {
            "expert_model_parallel_size": layout.ep,
            "expert_tensor_parallel_size": layout.etp,
            "moe_token_dispatcher_type": "alltoall",
        }
    if layout.recompute == "selective":
        found["recompute_granularity"] = "selective"
    elif layout.recompute == "full":
        found |= {
            "recompute_granularity": "full",
            "recompute_method": "uniform",
            "recompute_num_layers": 1,
        }
    return found


def _train(run: Run) -> dict[str, Any]:
    """Return the batch and the length of the training."""
    layout, ramp = run.layout, run.plan.batch_ramp
    found: dict[str, Any] = {
        "micro_batch_size": layout.micro_batch,
        "global_batch_size": layout.global_batch_size,
    }
    if ramp is None:
        return found | {"train_iters": run.steps}
    sizes = [ramp["from"], ramp["step"], int(ramp["samples"])]
    return found | {"rampup_batch_size": sizes, "train_samples": run.sequences}


def _optimizer(run: Run) -> dict[str, Any]:
    """Return the optimizer, where it keeps its states, and in what it is sharded."""
    layout = run.layout
    away = layout.offload == megatron.OPTIMIZER_TO_HOST
    return {
        "optimizer": "adam" if layout.optimizer == "adamw" else "sgd",
        "use_distributed_optimizer": layout.zero_stage == 1,
        **({"sgd_momentum": 0.0} if layout.optimizer == "sgd" else {}),
        **(
            {"optimizer_cpu_offload": True, "use_precision_aware_optimizer": True}
            if away
            else {}
        ),
    }


def _ddp(run: Run) -> dict[str, Any]:
    """Return what data-parallel ranks exchange and share."""
    layout = run.layout
    sharded = layout.zero_stage == 1
    away = layout.offload == megatron.OPTIMIZER_TO_HOST
    groups = layout.dp * layout.cp // layout.shard_degree if sharded else 1
    return {
        "use_distributed_optimizer": sharded,
        "overlap_grad_reduce": True,
        "overlap_param_gather": sharded and not away,
        "grad_reduce_in_fp32": run.workload.gradient_precision != "bf16",
        "num_distributed_optimizer_instances": groups,
        "fp8_param_gather": run.workload.fp8_weights,
    }


def _lora(run: Run) -> dict[str, Any] | None:
    """Return the adapters; their scale is the user's."""
    work = run.workload
    if run.method == "full":
        return None
    wanted = set(work.lora_targets)
    names = [n for n, parts in _FUSED.items() if not wanted or parts <= wanted]
    return {"dim": work.lora_rank, "target_modules": names}


def _variables(run: Run) -> tuple[Variable, ...]:
    """Return what the user has to say."""
    own = run.architecture.hf_id or None
    found = [
        needed("MODEL", "model" if own is None else "model-named", own),
        needed(DATA, "megatron-data"),
        needed(CHECKPOINTS, "checkpoints"),
        needed("LR", "lr"),
        needed("SEED", "seed", "1234"),
    ]
    if run.workload.start == "checkpoint":
        found.append(needed(INITIAL, "megatron-initial"))
    if run.method != "full":
        found.append(needed("LORA_ALPHA", "lora-alpha-bridge", "32"))
    return tuple(found)


def _notes(run: Run) -> tuple[Message, ...]:
    """Return what to know before it is run."""
    return spares_note(run.spare_nodes)
