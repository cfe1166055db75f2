"""The columns of tables of measurements: what they mean, and what they may hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from solver.errors import nearest

__all__ = ["COLUMNS", "MeasurementColumn", "UnreadColumn", "expected_in", "unread"]

Kind = Literal["text", "whole", "positive", "flag"]

_EXPECTED: Mapping[Kind, str] = {
    "whole": "a whole number of 1 or more",
    "positive": "a positive number",
    "flag": "yes or no",
}
"""What a cell has to be, in words; text may be anything."""


@dataclass(frozen=True, slots=True)
class MeasurementColumn:
    """A column of a table of measurements.

    Parameters
    ----------
    kind
        What its cells hold.
    meaning
        In a few words, with its unit.
    may_be_zero
        Whether 0 is written where there is none; else it is a mistake.
    """

    kind: Kind
    meaning: str
    may_be_zero: bool = False


def _text(meaning: str) -> MeasurementColumn:
    return MeasurementColumn("text", meaning)


def _whole(meaning: str, *, may_be_zero: bool = False) -> MeasurementColumn:
    return MeasurementColumn("whole", meaning, may_be_zero)


def _positive(meaning: str, *, may_be_zero: bool = False) -> MeasurementColumn:
    return MeasurementColumn("positive", meaning, may_be_zero)


def _flag(meaning: str) -> MeasurementColumn:
    return MeasurementColumn("flag", meaning)


COLUMNS: Mapping[str, MeasurementColumn] = {
    "id": _text("What to call the run. Default: file and line."),
    "step_time_s": _positive("Measured: seconds of one optimizer step."),
    "peak_memory_gib": _positive("Measured: peak memory of a GPU, GiB."),
    "memory_kind": _text("What the peak is of: allocated (default) or reserved."),
    "fits": _flag("Measured: 1 ran, 0 went out of memory. Default: 1 with a peak."),
    "gpu_hours": _positive("Measured: GPU-hours of a whole run of `tokens_b`."),
    "days": _positive("Or its days, with `n_gpus`."),
    "tokens_b": _positive("Tokens of a whole run, billions."),
    "model": _text("Its name; of one of the catalog no sizes are needed."),
    "layers": _whole("Transformer layers."),
    "hidden": _whole("Width of the residual stream."),
    "ffn": _whole("Width of the feed-forward layer."),
    "heads": _whole("Attention heads."),
    "kv_heads": _whole("Heads of keys and values."),
    "head_dim": _whole("Size of a head."),
    "vocab": _whole("Rows of the embedding."),
    "gated": _flag("Whether the feed-forward layer is gated (SwiGLU)."),
    "tied": _flag("Whether embedding and output head share their weights."),
    "n_experts": _whole("Routed experts of a layer.", may_be_zero=True),
    "topk": _whole("Routed experts that a token visits.", may_be_zero=True),
    "moe_ffn": _whole("Width of one expert.", may_be_zero=True),
    "shared_experts": _whole("Experts that every token visits.", may_be_zero=True),
    "seq": _whole("Tokens of a sequence."),
    "gpu": _text("Its name, such as H100-SXM-80GB."),
    "gpu_memory_gib": _positive("Usable memory of a GPU, GiB."),
    "n_gpus": _whole("GPUs of the run."),
    "gpus_per_node": _whole("GPUs of a node."),
    "internode_gbps_per_gpu": _positive(
        "Network between nodes, Gb/s a GPU.", may_be_zero=True
    ),
    "precision": _text("bf16, fp16, fp8, mxfp8, nvfp4 or fp32."),
    "method": _text("full, lora or qlora."),
    "lora_rank": _whole("Rank of the adapters.", may_be_zero=True),
    "optimizer": _text("As in a scenario."),
    "tp": _whole("Tensor-parallel degree."),
    "pp": _whole("Pipeline stages."),
    "vpp": _whole("Virtual stages of a GPU.", may_be_zero=True),
    "cp": _whole("Context-parallel degree.", may_be_zero=True),
    "ep": _whole("Expert-parallel degree.", may_be_zero=True),
    "dp": _whole("Replicas of the dense part."),
    "zero_stage": _text("0 to 3, or fsdp."),
    "sp": _flag("Whether sequence parallelism is on."),
    "mbs": _whole("Sequences of a micro-batch; this or `gbs` is needed."),
    "gbs": _positive("Sequences of a step, over all GPUs."),
    "gbs_tokens": _positive("Tokens of a step, of a whole run."),
    "recompute": _text("none, selective or full."),
    "attention": _text("Kernel: flash, sdpa or eager."),
    "framework": _text("Software, in free words with its version: Megatron-LM 0.12."),
    "year": _positive("Year of the software. Default: today's."),
    "source": _text("Where it was measured. Default: the file's name."),
    "quality": _text("good (default), suspect or exclude."),
    "note": _text("Remarks; some words are read, such as 'device_map' or 'liger'."),
    "notes": _text("The same, of whole runs."),
    "kind": _text("Of whole runs: pretrain or fine-tuning."),
    "locator": _text("Where exactly it stands in the source."),
    "source_locator": _text("The same."),
    "arch": _text("dense or moe; told by `n_experts`, not read."),
    "params_b": _text("Parameters, billions; not read."),
    "tokens_per_s_per_gpu": _text("Not read."),
    "mfu_pct": _text("Not read."),
    "cost_usd": _text("Not read."),
}
"""Column to what it holds. What is left out or empty is filled in by rules."""


def expected_in(column: str, number: float | None, *, read: bool) -> str | None:
    """Return what should stand in a cell that is not empty; None: it is right.

    Parameters
    ----------
    column
        Its column; of one that is not known any cell is right.
    number
        The number that it holds, None without one.
    read
        Whether it was read as what the column holds.
    """
    known = COLUMNS.get(column)
    if known is None or known.kind == "text" or read:
        return None
    if known.may_be_zero and number == 0:
        return None
    return _EXPECTED[known.kind]


@dataclass(frozen=True, slots=True)
class UnreadColumn:
    """A column that nothing reads, and the one that may have been meant."""

    file: str
    column: str
    hint: str | None

    def as_dict(self) -> dict[str, str | None]:
        """Return the fields in the order of the JSON contract."""
        return {"file": self.file, "column": self.column, "hint": self.hint}


def unread(file: str, header: Iterable[str]) -> list[UnreadColumn]:
    """Return the columns of a table that nothing reads.

    Parameters
    ----------
    file
        Its name.
    header
        Its columns in lower case.
    """
    written = [name for name in header if name]
    others = [name for name in COLUMNS if name not in written]
    return [
        UnreadColumn(file, name, nearest(name, others))
        for name in written
        if name not in COLUMNS
    ]
