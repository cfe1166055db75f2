"""The software of a row: framework class, year, numerics and optimizer.

Rules, each listed among the row's assumptions where it is used:

- Megatron-DeepSpeed counts as Megatron, of 2022 where no year is given; DeepSpeed
  tables of full fine-tuning with Hugging Face's Trainer count as DeepSpeed. What
  an MLPerf submission does not say counts as Megatron: tuned.
- A year is that of the column, else of the text of framework or source, else of an
  arXiv number; without any it is today's software.
- Text decides what columns don't hold: 'AMP flag=False', 'bf16-true' or one GPU in
  full training with the Trainer mean weights and moments in bf16; 'liger' and chunked
  losses keep no logits.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from solver.accuracy.assumptions import Assumptions
from solver.accuracy.tables import SkippedRowError, TableRow
from solver.catalog.names import resolve_framework, resolve_optimizer
from solver.hardware import SIXTEEN_BIT, precision_supported
from solver.performance.inputs import Framework, Offload
from solver.performance.stack import at_year
from solver.physics_inputs import framework_of

if TYPE_CHECKING:
    from solver.catalog.load import Catalog
    from solver.catalog.schema import Gpu

__all__ = [
    "Traits",
    "framework_as_ran",
    "framework_id_of",
    "method_of",
    "offload_of_row",
    "optimizer_of_row",
    "precision_of",
    "traits_of",
    "year_of",
]

OLD_STACK_YEAR = 2022
"""Of Megatron-DeepSpeed runs without a year: BLOOM, Lucie, vTrain."""

FUSED_LOSS_BYTES = 8.0
"""Bytes a logit of a fused cross-entropy kernel (Triton): 16-bit logits, their fp32
copy, whose place the gradient takes, and the gradient in 16 bits."""

_PRECISIONS = (
    ("nvfp4", "nvfp4"),
    ("mxfp8", "mxfp8"),
    ("fp8-mx", "mxfp8"),
    ("fp4", "nvfp4"),
    ("fp8", "fp8"),
    ("bf16", "bf16"),
    ("bfloat16", "bf16"),
    ("fp16", "fp16"),
    ("float16", "fp16"),
    ("fp32", "fp32"),
    ("tf32", "fp32"),
)
"""Part of a precision's text to the job's precision; the first that occurs."""


def method_of(row: TableRow, taken: Assumptions) -> str:
    """full, lora or qlora."""
    text = row.words("method") or row.words("kind")
    for word, method in (("qlora", "qlora"), ("lora", "lora"), ("adapter", "lora")):
        if word in text:
            if word != text.strip():
                taken.take("method", method)
            return method
    if text.strip() not in ("full", "pretrain", "full_ft", "continue"):
        taken.take("method", "full")
    return "full"


def framework_id_of(
    row: TableRow, catalog: Catalog, method: str, taken: Assumptions
) -> str:
    """The framework class that a row's free text names, else by method and layout."""
    text = row.text("framework")
    found = resolve_framework(text, catalog) if text else None
    if text.casefold().startswith("qwen") or _is_qwen_full(row, method):
        return "deepspeed"
    if isinstance(found, str):
        return found
    degrees = [row.whole(c) or 1 for c in ("tp", "pp", "cp")]
    if "mlperf" in row.words("source") and method != "qlora":
        chosen = "megatron"
    elif method != "full":
        chosen = "hf-trainer"
    elif max(degrees) > 1 or not row.text("zero_stage"):
        chosen = "megatron"
    else:
        chosen = "pytorch-fsdp"
    taken.take("framework", chosen)
    return chosen


def _is_qwen_full(row: TableRow, method: str) -> bool:
    """Whether the row is of Qwen's own scripts, which run on DeepSpeed."""
    return method == "full" and "qwenlm/qwen" in row.words("source")


def year_of(row: TableRow, taken: Assumptions) -> float | None:
    """Year of the software; None: today's."""
    if (year := row.number("year")) is not None:
        return year
    told = re.search(r"\b(20[12]\d)\b", row.words("framework", "source"))
    if told:
        taken.take("year", told[1])
        return float(told[1])
    if re.search(r"megatron.?deepspeed|bloom|metaseq|gpt.neox", row.words("framework")):
        taken.take("year", OLD_STACK_YEAR)
        return float(OLD_STACK_YEAR)
    paper = re.search(r"arxiv:(\d\d)\d\d\.", row.words("source", "locator"))
    if paper:
        taken.take("year", 2000 + int(paper[1]))
        return 2000.0 + int(paper[1])
    taken.take("year", "the newest software")
    return None


def precision_of(row: TableRow, gpu: Gpu, taken: Assumptions) -> str:
    """The job's precision; what the GPU lacks falls to the next that it has.

    Raises
    ------
    SkippedRowError
        It has none.
    """
    text = row.words("precision")
    wanted = next((p for part, p in _PRECISIONS if part in text), None)
    if wanted is None:
        wanted = "bf16"
        taken.take("precision", wanted)
    narrow = [] if wanted in ("fp32", *SIXTEEN_BIT) else ["fp8"]
    order = (wanted, *narrow, *SIXTEEN_BIT, "fp32")
    chosen = next((p for p in order if precision_supported(gpu, p)), None)
    if chosen is None:
        raise SkippedRowError(f"no rate of {gpu.id} is known in any precision")
    if chosen != wanted:
        taken.take("precision", chosen)
    return chosen


def optimizer_of_row(
    row: TableRow, catalog: Catalog, method: str, framework_id: str, taken: Assumptions
) -> str:
    """The optimizer's id in the catalog."""
    text = row.words("optimizer").strip()
    remarks = row.words("framework", "note")
    if _updates_on_host(row):
        return "adamw"
    if method == "full" and _trains_in_16_bits(row, framework_id, remarks):
        taken.take("optimizer", "adamw-bf16")
        return "adamw-bf16"
    if "lomo" in text:
        taken.take("optimizer", "sgd")
        return "sgd"
    for part in ("galore", "adafactor"):
        if part in text:
            return f"{part}-adamw" if part == "galore" else part
    if "8bit" in text.replace("-", ""):
        return "paged-adamw-8bit" if "paged" in text else "adamw-8bit"
    if "paged" in text:
        return "paged-adamw"
    found = resolve_optimizer(text, catalog) if text else None
    if isinstance(found, str):
        return found
    if text and "adam" not in text:
        taken.take("optimizer", "adamw")
    return "adamw"


_PARAMETERS_MOVED = re.compile(r"param offload|(?<!optimizer )cpu offload")


def _updates_on_host(row: TableRow) -> bool:
    """Whether the CPU runs the optimizer."""
    remarks = row.words("framework", "note")
    moved = "offload" in remarks and "optimizer" in remarks
    return "cpu" in row.words("optimizer") or "adam_offload" in remarks or moved


def offload_of_row(row: TableRow) -> Offload:
    """What left the GPU in a row's run."""
    text = row.words("framework", "note")
    return Offload(
        optimizer=_updates_on_host(row),
        parameters=bool(re.search(r"param offload|(?<!optimizer )cpu offload", text)),
        activations="unsloth" in text,
    )


def _trains_in_16_bits(row: TableRow, framework_id: str, remarks: str) -> bool:
    """Whether weights and moments are kept in bf16 alone."""
    if "amp flag=false" in remarks or "bf16-true" in remarks or "torchtune" in remarks:
        return True
    if framework_id != "hf-trainer" or (row.whole("n_gpus") or 1) > 1:
        return False
    return "fp16" not in row.words("precision")  # which needs a loss scale and fp32


@dataclass(frozen=True, slots=True)
class Traits:
    """What a row says of how its framework ran; None: as the class usually does."""

    fused_attention: float | None = None
    logit_bytes: float | None = None
    qlora_ends_bytes: float | None = None
    launch_blocking: bool = False


def traits_of(row: TableRow) -> Traits:
    """Attention kernel, loss kernel and numerics of a row."""
    attention, text = row.words("attention"), row.words("framework", "note")
    fused = None
    if any(word in attention for word in ("flash", "sdpa", "xformers")):
        fused = 1.0
    elif "eager" in attention:
        fused = 0.0
    keeps_ends = "accelerated-peft" in text or "unsloth" in text
    logit_bytes = None
    if "liger" in text or "chunked" in text or "unsloth" in text:
        logit_bytes = 0.0
    elif "foak" in row.words("framework"):
        logit_bytes = FUSED_LOSS_BYTES
    return Traits(
        fused_attention=fused,
        logit_bytes=logit_bytes,
        qlora_ends_bytes=2.0 if keeps_ends else None,
        launch_blocking="cuda_launch_blocking=1" in text,
    )


def framework_as_ran(
    catalog: Catalog, framework_id: str, year: float | None, traits: Traits
) -> Framework:
    """The framework class with the constants of its year and the row's traits."""
    base = framework_of(catalog, framework_id)
    constants = at_year(base.constants, year)
    if traits.fused_attention is not None:
        constants["fused_attention"] = traits.fused_attention
    if traits.launch_blocking:
        constants["launch_blocking"] = 1.0
    logits, ends = traits.logit_bytes, traits.qlora_ends_bytes
    return replace(
        base,
        constants=constants,
        logit_bytes=base.logit_bytes if logits is None else logits,
        qlora_ends_bytes=base.qlora_ends_bytes if ends is None else ends,
    )
