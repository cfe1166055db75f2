"""What programs on Hugging Face's libraries share: model, adapters, data, optimizer.

Names are those of transformers 5.24, PEFT 0.21 and bitsandbytes 0.50.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from solver.exporting.checks import refuse_broken, refuse_other_jobs
from solver.exporting.program import Variable, needed, spares_note
from solver.exporting.refusals import Refusals
from solver.exporting.run import CHECKPOINTS, DATA, Run
from solver.plan import Message

__all__ = [
    "DATA_PARALLEL",
    "OPTIMIZERS",
    "notes",
    "refuse",
    "run_json",
    "variables",
    "weight_dtype",
]

DATA_PARALLEL = ("tp", "pp", "ep")
"""Degrees that have to be 1 where ranks are data-parallel alone."""

OPTIMIZERS = {
    "adamw": "adamw_torch_fused",
    "adamw-bf16": "adamw_torch_fused",
    "adamw-8bit": "adamw_bnb_8bit",
    "paged-adamw": "paged_adamw_32bit",
    "paged-adamw-8bit": "paged_adamw_8bit",
    "lion": "lion_32bit",
    "lion-8bit": "lion_8bit",
    "paged-lion-8bit": "paged_lion_8bit",
    "adafactor": "adafactor",
    "adagrad": "adagrad",
    "sgd": "sgd",
}
"""Optimizers of the catalog as ``optim`` names them."""

_DTYPES = {"bf16": "bfloat16", "fp16": "float16", "fp32": "float32"}
_TARGETS = {
    "q": "q_proj",
    "k": "k_proj",
    "v": "v_proj",
    "o": "o_proj",
    "gate": "gate_proj",
    "up": "up_proj",
    "down": "down_proj",
}
"""Linears of Llama and the many models that are built like it."""


def refuse(run: Run, refusals: Refusals, *degrees: str) -> None:
    """Refuse what none of these programs does.

    Parameters
    ----------
    degrees
        Of the layout, which have to be 1 here.
    """
    layout, workload, model = run.layout, run.workload, run.architecture
    refuse_broken(run, refusals)
    refuse_other_jobs(run, refusals)
    for name in degrees:
        degree = getattr(layout, name)
        refusals.add(
            f"is written without {name.upper()} here, and the plan has "
            f"{name.upper()} {degree}",
            where=degree > 1,
        )
    refusals.add(
        "takes bf16, fp16 or fp32 here, and the plan computes in " + layout.precision,
        where=layout.precision not in _DTYPES,
    )
    refusals.add(
        "recomputes whole layers or nothing, and the plan recomputes selectively",
        where=layout.recompute == "selective",
    )
    refusals.add(
        "has batches of one size, and the plan's batch grows",
        where=run.plan.batch_ramp is not None,
    )
    if workload.method == "full":
        return
    refusals.add(
        "puts adapters on linears, and experts of transformers 5 are no linears",
        where=model.n_experts > 1,
    )
    named = [t for t in workload.lora_targets if t not in _TARGETS]
    plain = model.gated and not model.layer_norm and not model.kv_lora_rank
    refusals.add(
        f"needs the names of the linears with adapters, which are known of models "
        f"built like Llama alone; without lora.targets all linears are meant "
        f"({', '.join(workload.lora_targets)})",
        where=bool(workload.lora_targets) and (not plain or bool(named)),
    )


def weight_dtype(run: Run) -> str:
    """Return the type that weights are loaded in, as PyTorch names it.

    Mixed precision keeps weights that train in fp32; a frozen base, and weights without
    an fp32 copy, have 16 bits.
    """
    halved = run.method != "full" or run.layout.master_weights == "none"
    return _DTYPES[run.layout.precision if halved else "fp32"]


def run_json(run: Run, dtype: str, sharded: bool, **more: Any) -> str:
    """Return ``run.json``: what the program reads of a run.

    Parameters
    ----------
    dtype
        Type that weights are loaded in.
    sharded
        Whether ranks share the weights, a quantised base too.
    more
        What one of the programs reads beside it.
    """
    model = run.architecture
    data: dict[str, Any] = {
        "title": run.title,
        "model": {
            "start": run.workload.start,
            "dtype": dtype,
            "sizes": {
                "num_hidden_layers": model.layers,
                "hidden_size": model.hidden,
                "num_attention_heads": model.heads,
            },
        },
        "sequence_length": run.sequence_length,
        "lora": _lora(run),
        "quantization": _quantization(run, dtype, sharded),
        **more,
        "variables": {one.name: one.meaning.text for one in variables(run)},
    }
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def _lora(run: Run) -> Mapping[str, Any] | None:
    """Return the adapters as PEFT's LoraConfig takes them; alpha is the user's."""
    work = run.workload
    if work.method == "full":
        return None
    targets = [_TARGETS[name] for name in work.lora_targets] or "all-linear"
    return {
        "task_type": "CAUSAL_LM",
        "r": work.lora_rank,
        "target_modules": targets,
        "bias": "none",
    }


def _quantization(run: Run, dtype: str, sharded: bool) -> Mapping[str, Any] | None:
    """Return how the base is quantised, as BitsAndBytesConfig takes it."""
    base = run.layout.base
    if base == "int8":
        return {"load_in_8bit": True}
    if base not in ("nf4", "nf4_plain"):
        return None
    found = {
        "load_in_4bit": True,
        "bnb_4bit_quant_type": "nf4",
        "bnb_4bit_use_double_quant": base == "nf4",
        "bnb_4bit_compute_dtype": dtype,
    }
    return {**found, "bnb_4bit_quant_storage": dtype} if sharded else found


def variables(run: Run) -> tuple[Variable, ...]:
    """Return what the user has to say."""
    own = run.architecture.hf_id or None
    found = [
        needed("MODEL", "model" if own is None else "model-named", own),
        needed(DATA, "dataset"),
        needed(CHECKPOINTS, "checkpoints"),
        needed("LR", "lr"),
        needed("SEED", "seed-trainer", "42"),
    ]
    if run.method != "full":
        found.append(needed("LORA_ALPHA", "lora-alpha", "8"))
    return tuple(found)


def notes(run: Run) -> tuple[Message, ...]:
    """Return what to know of these programs."""
    found = [Message.of("note.export.dataset", tokens=run.sequence_length)]
    if run.layout.loss == "chunked":
        found.append(Message.of("note.export.liger"))
    return (*found, *spares_note(run.spare_nodes))
