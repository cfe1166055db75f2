"""A run with Hugging Face Trainer, and PEFT where adapters train.

Keys are those of TrainingArguments of transformers 5.24.
"""

from __future__ import annotations

from typing import Any

from solver.exporting import huggingface
from solver.exporting.program import Command
from solver.exporting.refusals import Refusals
from solver.exporting.run import Run
from solver.exporting.scripts import TRAINER

__all__ = ["PARAMETERS_TO_HOST", "command", "refuse_trainer", "training_arguments"]

TOOL = "Hugging Face Trainer"
PARAMETERS_TO_HOST = "parameters to host"


def command(run: Run) -> Command:
    """Return how Hugging Face Trainer trains a run: train.py and run.json.

    Raises
    ------
    NotExpressibleError
        What the plan does and its arguments cannot say.
    """
    layout, refusals = run.layout, Refusals(TOOL)
    refuse_trainer(run, refusals)
    refusals.add(
        f"is written without CP here, and the plan has CP {layout.cp}",
        where=layout.cp > 1,
    )
    ranks = layout.dp
    refusals.add(
        f"shards over all {ranks} ranks, and the plan over groups of "
        f"{layout.shard_degree}",
        where=layout.zero_stage > 0 and layout.shard_degree != ranks,
    )
    refusals.add(
        f"offloads parameters with FSDP alone, and the plan offloads {layout.offload}",
        where=layout.offload not in ("none", PARAMETERS_TO_HOST),
    )
    refusals.check()
    sharded = layout.zero_stage > 1
    arguments = training_arguments(run)
    if sharded:
        arguments |= {"fsdp": True, "fsdp_config": _fsdp(run)}
    elif layout.recompute == "full":
        arguments |= {
            "activation_checkpointing": True,
            "activation_checkpointing_kwargs": {"use_reentrant": False},
        }
    dtype = huggingface.weight_dtype(run)
    text = huggingface.run_json(run, dtype, sharded, training_arguments=arguments)
    return Command(
        program="train.py",
        arguments=(),
        files={"train.py": TRAINER, "run.json": text},
        variables=huggingface.variables(run),
        notes=huggingface.notes(run),
    )


def refuse_trainer(run: Run, refusals: Refusals) -> None:
    """Refuse what Trainer does not do, however its ranks are launched."""
    layout = run.layout
    huggingface.refuse(run, refusals, *huggingface.DATA_PARALLEL)
    refusals.add(
        "shards optimizer states with gradients (ZeRO-2, ZeRO-3) or not at all, and "
        "the plan has ZeRO-1",
        where=layout.zero_stage == 1,
    )
    refusals.add(
        f"has no optimizer {layout.optimizer}; it has "
        f"{', '.join(huggingface.OPTIMIZERS)}",
        where=layout.optimizer not in huggingface.OPTIMIZERS,
    )
    refusals.add(
        "keeps gradients as it keeps weights, and the plan asks for gradients in "
        + run.workload.gradient_precision,
        where=bool(run.workload.gradient_precision),
    )


def training_arguments(run: Run) -> dict[str, Any]:
    """Return the arguments that hold however ranks are launched."""
    layout = run.layout
    mixed = layout.precision if layout.master_weights != "none" else "none"
    if run.method != "full":
        mixed = layout.precision
    return {
        "max_steps": run.steps,
        "per_device_train_batch_size": layout.micro_batch,
        "gradient_accumulation_steps": layout.accumulation,
        "optim": huggingface.OPTIMIZERS[layout.optimizer],
        "bf16": mixed == "bf16",
        "fp16": mixed == "fp16",
        "use_liger_kernel": layout.loss == "chunked",
        "save_strategy": "steps",
        "save_steps": run.checkpoint_steps or run.steps,
        "logging_steps": 1,
        "include_num_input_tokens_seen": "all",
        "remove_unused_columns": False,
        "report_to": "none",
    }


def _fsdp(run: Run) -> dict[str, Any]:
    """Return how ranks share weights, for FSDP2."""
    layout = run.layout
    return {
        "version": 2,
        "auto_wrap_policy": "TRANSFORMER_BASED_WRAP",
        "reshard_after_forward": layout.zero_stage == 3,
        "cpu_offload": layout.offload == PARAMETERS_TO_HOST,
        "activation_checkpointing": layout.recompute == "full",
        "state_dict_type": "SHARDED_STATE_DICT",
    }
