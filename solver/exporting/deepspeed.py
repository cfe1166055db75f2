"""A run with DeepSpeed: its JSON configuration and a small program around it.

Keys are those of DeepSpeed 0.19 (runtime/config.py, runtime/zero/config.py).
"""

from __future__ import annotations

import json
from typing import Any

from solver.exporting import huggingface
from solver.exporting.program import Command, Variable
from solver.exporting.refusals import Refusals
from solver.exporting.run import Run
from solver.exporting.scripts import DEEPSPEED
from solver.plan import Message

__all__ = ["command", "ds_config"]

TOOL = "DeepSpeed"

OPTIMIZERS = {"adamw": "AdamW", "lion": "Lion", "adagrad": "Adagrad", "muon": "Muon"}
"""Optimizers that DeepSpeed makes itself."""

CLIENT_OPTIMIZERS = {
    "adamw-8bit": ("bitsandbytes.optim", "AdamW8bit"),
    "paged-adamw": ("bitsandbytes.optim", "PagedAdamW"),
    "paged-adamw-8bit": ("bitsandbytes.optim", "PagedAdamW8bit"),
    "lion-8bit": ("bitsandbytes.optim", "Lion8bit"),
    "paged-lion-8bit": ("bitsandbytes.optim", "PagedLion8bit"),
    "sgd": ("torch.optim", "SGD"),
}
"""Optimizers that it is given: module and class."""


def command(run: Run) -> Command:
    """Return how DeepSpeed trains a run: ds_config.json, train.py and run.json.

    Raises
    ------
    NotExpressibleError
        What the plan does and these files cannot say.
    """
    _check(run)
    layout = run.layout
    client = CLIENT_OPTIMIZERS.get(layout.optimizer)
    dtype = {"bf16": "bfloat16", "fp16": "float16"}.get(layout.precision, "float32")
    text = huggingface.run_json(
        run,
        dtype,
        layout.zero_stage == 3,
        steps=run.steps,
        checkpoint_steps=run.checkpoint_steps or run.steps,
        recompute=layout.recompute == "full",
        client_optimizer=client
        and {"module": client[0], "name": client[1], "options": {}},
    )
    config = json.dumps(ds_config(run), indent=2) + "\n"
    variables = huggingface.variables(run)
    if "nvme" in layout.offload:
        meaning = Message.of("export.variable.nvme")
        variables = (*variables, Variable("NVME_PATH", meaning))
    return Command(
        program="train.py",
        arguments=(),
        files={"ds_config.json": config, "train.py": DEEPSPEED, "run.json": text},
        variables=variables,
        notes=huggingface.notes(run),
    )


def _check(run: Run) -> None:
    """Refuse what these files cannot say."""
    layout, refusals = run.layout, Refusals(TOOL)
    known = (*OPTIMIZERS, *CLIENT_OPTIMIZERS)
    huggingface.refuse(run, refusals, "pp", "ep", "cp")
    refusals.add(
        f"has no optimizer {layout.optimizer}; it has {', '.join(known)}",
        where=layout.optimizer not in known,
    )
    refusals.add(
        "divides activations over TP ranks (sequence parallelism) in no layout",
        where=layout.sequence_parallel and layout.tp > 1,
    )
    refusals.add(
        "keeps an fp32 copy of weights in 16 bits, and the plan has none",
        where=run.method == "full" and layout.master_weights == "none",
    )
    refusals.add(
        f"shards over all {layout.dp} replicas here, and the plan over groups of "
        f"{layout.shard_degree}",
        where=layout.zero_stage > 0 and layout.shard_degree != layout.dp,
    )
    refusals.add(
        "takes the loss in chunks with a kernel that this program does not load",
        where=layout.loss == "chunked",
    )
    away = layout.offload.partition(" to ")[0].split("+")
    refusals.add(
        "offloads optimizer states with ZeRO-1 to 3 alone",
        where="optimizer" in away and layout.zero_stage == 0,
    )
    refusals.add(
        "offloads parameters with ZeRO-3 alone",
        where="parameters" in away and layout.zero_stage != 3,
    )
    refusals.add(
        "offloads activations with full recomputation alone",
        where="activations" in away and layout.recompute != "full",
    )
    refusals.add(
        "updates on the CPU with its own optimizers alone, and the plan has "
        + layout.optimizer,
        where=layout.optimizer not in OPTIMIZERS
        and ("optimizer" in away or "parameters" in away),
    )
    refusals.check()


def ds_config(run: Run) -> dict[str, Any]:
    """Return DeepSpeed's configuration; the program puts the learning rate into it."""
    layout = run.layout
    config: dict[str, Any] = {
        "train_batch_size": layout.global_batch_size,
        "train_micro_batch_size_per_gpu": layout.micro_batch,
        "gradient_accumulation_steps": layout.accumulation,
        "steps_per_print": 1,
        "zero_optimization": _zero(run),
    }
    if layout.precision in ("bf16", "fp16"):
        config[layout.precision] = {"enabled": True}
    if run.workload.gradient_precision:
        kept = run.workload.gradient_precision
        config["data_types"] = {"grad_accum_dtype": kept}
    if layout.optimizer in OPTIMIZERS:
        kind = OPTIMIZERS[layout.optimizer]
        config["optimizer"] = {"type": kind, "params": {}}
    else:
        config["zero_allow_untested_optimizer"] = True
    if layout.tp > 1:
        config["tensor_parallel"] = {"autotp_size": layout.tp}
    if "activations" in layout.offload:
        config["activation_checkpointing"] = {"cpu_checkpointing": True}
    return config


def _zero(run: Run) -> dict[str, Any]:
    """Return what data-parallel ranks share, and what leaves the GPU."""
    layout = run.layout
    what, _, where = layout.offload.partition(" to ")
    device = {"device": {"host": "cpu", "nvme": "nvme"}.get(where, "none")}
    zero: dict[str, Any] = {"stage": layout.zero_stage}
    if layout.zero_stage > 0:
        zero |= {"overlap_comm": True, "contiguous_gradients": True}
    if "optimizer" in what or "parameters" in what:
        zero["offload_optimizer"] = {**device, "pin_memory": True}
    if "parameters" in what:
        zero["offload_param"] = {**device, "pin_memory": True}
    return zero
