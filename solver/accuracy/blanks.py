"""The layout of a row, its blanks filled as the framework would have it.

Rules, each listed among the row's assumptions where it is used:

- degrees are 1; dp is what is left of the GPUs
- sequence parallelism is on with TP in nanotron, torchtitan and Megatron after 2022
- ZeRO: 1 in Megatron after 2021 (0 before), 3 on several GPUs elsewhere, none for
  adapters; with a pipeline the most that the framework can; ZeRO 3 is 2 under
  torchtitan's; hybrid sharding is within a node
- recomputation: full in Megatron up to 2022, LLaMA-Factory, torchtune, axolotl and TRL,
  and for QLoRA with Hugging Face's Trainer (PEFT turns it on); none elsewhere
- a model that Hugging Face's device_map spreads over the GPUs is a pipeline with one
  micro-batch in flight
- virtual stages: in Megatron after 2022 as many as layers divide by, else 1
- experts are divided by TP as in Megatron's default, but for Megatron-Bridge
- micro-batch: 1 with a pipeline, else up to 8,192 tokens; batch: one micro-batch a
  replica
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from solver.accuracy.assumptions import Assumptions
from solver.accuracy.tables import SkippedRowError, TableRow
from solver.performance.inputs import RECOMPUTE, Framework, TransformerShape

__all__ = ["FilledLayout", "gpus_of", "layout_from", "sequence_length_of"]

USUAL_MICRO_BATCH_TOKENS = 8192
USUAL_SEQUENCE = 2048
OLD_MEGATRON = 2022
OLDEST_MEGATRON = 2021

DEGREES = ("tp", "pp", "cp")


@dataclass(frozen=True)
class FilledLayout:
    """One layout as integers, and how its batch compares with the measured one."""

    columns: dict[str, int]
    batch_scale: float


def gpus_of(row: TableRow, taken: Assumptions) -> int:
    """GPUs of the run: the column, else the product of the degrees."""
    gpus = row.whole("n_gpus")
    if gpus is None:
        gpus = row.whole("dp") or 1
        for degree in DEGREES:
            gpus *= row.whole(degree) or 1
        taken.take("n_gpus", gpus)
    return gpus


def sequence_length_of(row: TableRow, taken: Assumptions) -> int:
    """Tokens of a sequence."""
    length = row.whole("seq")
    if length is None:
        length = USUAL_SEQUENCE
        taken.take("seq", length)
    return length


def layout_from(
    row: TableRow,
    framework: Framework,
    shape: TransformerShape,
    method: str,
    sequence_length: int,
    year: float | None,
    per_node: int,
    taken: Assumptions,
) -> FilledLayout:
    """The row's layout.

    Raises
    ------
    SkippedRowError
        Neither a micro-batch nor a global batch is given, or the degrees need more
        GPUs than there are.
    """
    n_gpus = gpus_of(row, taken)
    tp, pp, cp = (_degree(row, name, taken) for name in DEGREES)
    spread = pp == 1 and "device_map" in row.words("note")
    if spread:
        pp = n_gpus // (tp * cp)
        taken.take("pp", f"{pp}: layers spread over the GPUs")
    dp = _data_parallel(row, n_gpus, tp * pp * cp, taken)
    gpus = tp * pp * cp * dp
    micro, accumulation, scale = _batch(row, dp, pp, sequence_length, taken)
    if framework.name == "torchtitan" and pp > 1:
        count = min(micro, pp)
        micro, accumulation = micro // count, count * accumulation
        taken.take("mbs", f"{micro}: torchtitan divides a replica's batch by pp")
    if spread:
        accumulation, scale = 1, scale * accumulation
    zero = _zero_stage(row, framework, method, year, pp, dp * cp, taken)
    ep = min(row.whole("ep") or 1, max(shape.n_experts, 1), tp * cp * dp)
    etp = _expert_tensor_parallel(row, framework, shape, tp, ep, gpus // pp, taken)
    used = min(per_node, gpus)
    columns = {
        "nodes": -(-gpus // used),
        "gpus_per_node": used,
        "tp": tp,
        "pp": pp,
        "cp": cp,
        "ep": ep,
        "etp": etp,
        "dp": dp,
        "virtual_stages": _virtual_stages(row, framework, shape, year, pp, taken),
        "micro_batch": micro,
        "accumulation": accumulation,
        "zero_stage": zero,
        "shard_degree": _shard_degree(row, zero, dp * cp, used // min(tp, used)),
        "sequence_parallel": int(_sequence_parallel(row, framework, year, tp, taken)),
        "recompute": RECOMPUTE.index(_recompute(row, framework, method, year, taken)),
    }
    return FilledLayout(columns, scale)


def _degree(row: TableRow, name: str, taken: Assumptions) -> int:
    """A degree of parallelism, 1 where the row does not say."""
    value = row.whole(name)
    if value is None:
        taken.take(name, 1)
    return value or 1


def _data_parallel(row: TableRow, n_gpus: int, model: int, taken: Assumptions) -> int:
    """Replicas: GPUs over those of one replica."""
    if n_gpus >= model:
        replicas = n_gpus // model
        if replicas * model != n_gpus:
            taken.take("dp", f"{replicas}: tp x pp x cp does not divide the GPUs")
        elif row.whole("dp") not in (None, replicas):
            taken.take("dp", f"{replicas}: the GPUs over tp x pp x cp")
        return replicas
    if row.text("n_gpus"):
        raise SkippedRowError(
            f"tp x pp x cp = {model} needs more than the {n_gpus} GPUs"
        )
    return row.whole("dp") or 1


def _batch(
    row: TableRow, dp: int, pp: int, sequence_length: int, taken: Assumptions
) -> tuple[int, int, float]:
    """Micro-batch, accumulation, and measured sequences over theirs."""
    micro, whole = row.whole("mbs"), row.number("gbs")
    if micro is None and whole is None:
        raise SkippedRowError("neither a micro-batch nor a global batch is given")
    if whole is None:
        taken.take("gbs", (micro or 1) * dp)
        return micro or 1, 1, 1.0
    if micro is None:
        most = 1 if pp > 1 else max(1, USUAL_MICRO_BATCH_TOKENS // sequence_length)
        micro = 1
        while 2 * micro <= most and 2 * micro * dp <= whole:
            micro *= 2
        taken.take("mbs", micro)
    most = max(1, int(whole // dp))
    if micro > most:
        micro = most
        taken.take("mbs", f"{most}: the batch of a replica")
    count = max(1, round(whole / (dp * micro)))
    scale = float(whole / (dp * micro * count))
    if abs(scale - 1.0) > 1e-6:
        taken.take("accumulation", f"{count}, scaled to the batch")
    return micro, count, scale


def _zero_stage(
    row: TableRow,
    framework: Framework,
    method: str,
    year: float | None,
    pp: int,
    ranks: int,
    taken: Assumptions,
) -> int:
    """ZeRO stage."""
    stage = _told_zero_stage(row)
    if stage is not None:
        if framework.name == "torchtitan" and pp > 1 and stage == 3:
            stage = 2
            taken.take("zero_stage", "2: weights stay gathered under a pipeline")
        return stage
    if framework.name in ("megatron", "nanotron"):
        old = year is not None and year <= OLDEST_MEGATRON
        stage = 0 if old or ranks == 1 or framework.name == "nanotron" else 1
    elif method != "full" or ranks == 1:
        stage = 0
    elif pp > 1 and framework.zero_stages_with_pp:
        stage = max(framework.zero_stages_with_pp)
    else:
        stage = 3
    taken.take("zero_stage", stage)
    return stage


_ZERO_TEXTS = (
    (r"zero[-_ ]?2|shard[-_ ]grad[-_ ]op", 2),
    (r"fsdp|hsdp|hybrid|full[-_ ]shard", 3),
    (r"no[-_ ]shard|ddp|none", 0),
)
"""How sharding is named beside its number: PyTorch's strategies, DeepSpeed's stages."""


def _told_zero_stage(row: TableRow) -> int | None:
    """The stage that the row states, None where it states none."""
    text = row.words("zero_stage")
    number = re.fullmatch(r"(?:deepspeed )?(?:zero|stage)?[-_ ]*([0-3])(\.0)?", text)
    if number:
        return int(number[1])
    return next((stage for words, stage in _ZERO_TEXTS if re.search(words, text)), None)


def _shard_degree(row: TableRow, zero: int, ranks: int, per_node: int) -> int:
    """Ranks that one copy of what ZeRO divides lies on: all, in hybrid those of a node.

    Hybrid sharding is that of PyTorch's FSDP (HYBRID_SHARD, HSDP).
    """
    if not zero:
        return 1
    hybrid = re.search("hsdp|hybrid", row.words("zero_stage", "framework"))
    return math.gcd(ranks, max(1, per_node)) if hybrid else ranks


def _expert_tensor_parallel(
    row: TableRow,
    framework: Framework,
    shape: TransformerShape,
    tp: int,
    ep: int,
    ranks: int,
    taken: Assumptions,
) -> int:
    """Degree by which each expert's matrices are divided.

    Megatron divides experts as it divides the rest, unless told otherwise; the
    recipes of Megatron-Bridge tell it otherwise.
    """
    if not shape.is_moe or tp == 1:
        return 1
    whole = ranks % (tp * ep) == 0
    bridge = "bridge" in row.words("framework")
    chosen = tp if whole and (ep == 1 or not bridge) else 1
    taken.take("etp", chosen)
    return chosen


def _sequence_parallel(
    row: TableRow, framework: Framework, year: float | None, tp: int, taken: Assumptions
) -> bool:
    """Whether norms and residuals are divided over TP."""
    told = row.flag("sp")
    if told is not None or tp == 1:
        return bool(told) and tp > 1
    old = framework.name == "megatron" and year is not None and year <= OLD_MEGATRON
    chosen = framework.sequence_parallel and not old
    taken.take("sp", int(chosen))
    return chosen


def _recompute(
    row: TableRow,
    framework: Framework,
    method: str,
    year: float | None,
    taken: Assumptions,
) -> str:
    """none, selective or full."""
    text = row.words("recompute").strip()
    told_flag = row.flag("recompute")
    if told_flag is not None:
        text = "full" if told_flag else "none"
    for name in RECOMPUTE:
        if text.startswith(name):
            if text != name:
                taken.take("recompute", name)
            return name
    always = ("llama-factory", "torchtune", "axolotl", "trl")
    old = framework.name == "megatron" and year is not None and year <= OLD_MEGATRON
    quantised = method == "qlora" and framework.name == "hf-trainer"
    told = any(word in row.words("framework") for word in always)
    full = old or quantised or told
    taken.take("recompute", "full" if full else "none")
    return "full" if full else "none"


def _virtual_stages(
    row: TableRow,
    framework: Framework,
    shape: TransformerShape,
    year: float | None,
    pp: int,
    taken: Assumptions,
) -> int:
    """Virtual stages of a GPU."""
    if pp == 1:
        return 1
    told = row.whole("vpp")
    if told is not None:
        return told
    modern = framework.name == "megatron" and (year is None or year > OLD_MEGATRON)
    even = shape.layers % pp == 0
    chosen = shape.layers // pp if modern and even else 1
    taken.take("vpp", chosen)
    return max(chosen, 1)
