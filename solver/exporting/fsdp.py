"""A run with PyTorch's FSDP2, launched by ``accelerate launch`` from a YAML file.

Keys are those that accelerate 1.15 reads.
"""

from __future__ import annotations

from typing import Any

from solver.exporting import huggingface
from solver.exporting.program import Command
from solver.exporting.refusals import Refusals
from solver.exporting.run import Run
from solver.exporting.scripts import TRAINER
from solver.exporting.shell import header
from solver.exporting.trainer import (
    PARAMETERS_TO_HOST,
    refuse_trainer,
    training_arguments,
)
from solver.exporting.yaml_text import yaml_text

__all__ = ["CONFIG", "command"]

TOOL = "accelerate's FSDP"
CONFIG = "accelerate.yaml"
_OFFLOADS = (
    *("none", "activations to host"),
    *(PARAMETERS_TO_HOST, "parameters+activations to host"),
)


def command(run: Run) -> Command:
    """Return how a run is trained with FSDP2: accelerate.yaml, train.py and run.json.

    Raises
    ------
    NotExpressibleError
        What the plan does and these files cannot say.
    """
    _check(run)
    layout = run.layout
    arguments = training_arguments(run)
    if layout.zero_stage == 0 and layout.recompute == "full":
        arguments |= {
            "activation_checkpointing": True,
            "activation_checkpointing_kwargs": {"use_reentrant": False},
        }
    dtype, sharded = huggingface.weight_dtype(run), layout.zero_stage > 1
    text = huggingface.run_json(run, dtype, sharded, training_arguments=arguments)
    notes = huggingface.notes(run)
    config = yaml_text(header(run, notes), _config(run, arguments))
    return Command(
        program="train.py",
        arguments=(),
        files={CONFIG: config, "train.py": TRAINER, "run.json": text},
        variables=huggingface.variables(run),
        notes=notes,
        launcher=("accelerate", "launch", "--config_file", CONFIG),
    )


def _check(run: Run) -> None:
    """Refuse what these files cannot say."""
    layout, refusals = run.layout, Refusals(TOOL)
    refuse_trainer(run, refusals)
    sharded, ranks = layout.zero_stage > 1, layout.dp * layout.cp
    refusals.add(
        "divides sequences (CP) only where it shards, and the plan has ZeRO-0",
        where=layout.cp > 1 and not sharded,
    )
    refusals.add(
        f"cannot divide {ranks} ranks into groups of {layout.shard_degree} that share "
        f"weights",
        where=sharded
        and (ranks % layout.shard_degree != 0 or layout.shard_degree % layout.cp != 0),
    )
    refusals.add(
        f"offloads parameters, or the inputs of layers, and the plan offloads "
        f"{layout.offload}",
        where=layout.offload not in _OFFLOADS,
    )
    refusals.add(
        "offloads only what is sharded, and the plan has ZeRO-0",
        where=layout.offload != "none" and not sharded,
    )
    refusals.check()


def _config(run: Run, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return accelerate's configuration."""
    layout = run.layout
    sharded = layout.zero_stage > 1
    mixed = next((name for name in ("bf16", "fp16") if arguments[name]), "no")
    kind = "FSDP" if sharded else "MULTI_GPU" if run.gpus > 1 else "NO"
    config: dict[str, Any] = {
        "compute_environment": "LOCAL_MACHINE",
        "debug": False,
        "distributed_type": kind,
        "enable_cpu_affinity": False,
        "machine_rank": 0,
        "main_training_function": "main",
        "mixed_precision": mixed,
        "num_machines": run.nodes,
        "num_processes": run.gpus,
        "rdzv_backend": "static",
        "same_network": True,
        "use_cpu": False,
    }
    if not sharded:
        return config
    config["fsdp_config"] = {
        "fsdp_version": 2,
        "fsdp_auto_wrap_policy": "TRANSFORMER_BASED_WRAP",
        "fsdp_reshard_after_forward": layout.zero_stage == 3,
        "fsdp_offload_params": "parameters" in layout.offload,
        "fsdp_activation_checkpointing": layout.recompute == "full",
        "fsdp_activation_checkpointing_offload": "activations" in layout.offload,
        "fsdp_cpu_ram_efficient_loading": run.workload.start == "checkpoint"
        and run.method == "full",
        "fsdp_state_dict_type": "SHARDED_STATE_DICT",
    }
    replicas = layout.dp * layout.cp // layout.shard_degree
    if replicas > 1 or layout.cp > 1:
        config["parallelism_config"] = {
            "parallelism_config_dp_replicate_size": replicas,
            "parallelism_config_dp_shard_size": layout.dp // replicas,
            "parallelism_config_cp_size": layout.cp,
            "parallelism_config_tp_size": 1,
            "parallelism_config_sp_size": 1,
        }
    return config
