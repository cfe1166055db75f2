"""The parts of a plan that have keys of their own, as a file has to state them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from solver.catalog.schema import PurchaseKind
from solver.plan import Plan
from solver.scenario.schema import Loss, Precision, Recompute
from solver.yaml_source import DataPath

__all__ = ["faults_of_parts", "other_words"]

Figure = Annotated[float, Field(ge=0.0, le=1e18, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1, le=10**15)]

_WORDS: Mapping[str, tuple[str, ...]] = {
    "precision": get_args(Precision),
    "recompute": get_args(Recompute),
    "loss": get_args(Loss),
    "master_weights": ("fp32", "none"),
}
"""Words that a layout can have."""


class _Part(BaseModel):
    """Keys that are acted on; a plan may have others beside them."""

    model_config = ConfigDict(strict=True, extra="ignore")


class _Input(_Part):
    kind: str
    decode: str
    path: str
    read_gb_per_s_needed: Figure
    read_gb_per_s: Figure
    write_gb_per_s: Figure
    checkpoint_s: Figure
    stall_s_a_step: Figure
    samples_per_s_needed: Figure | None
    samples_per_s: Figure | None
    loader_cores: Figure | None
    loader_cores_needed: Figure | None
    bottleneck: str | None


class _MixPart(_Part):
    offer: str
    purchase: str
    nodes: Count
    usd_per_node_hour: Figure
    billing_unit: str
    min_term_hours: Figure
    compute_usd: Figure


class _BreakEven(_Part):
    offer: str
    purchase: str
    gpu: str
    cost_usd: Figure
    months: Figure


class _Bought(_Part):
    nodes: Count
    outlay_usd: Figure
    years: Figure
    resale_usd: Figure
    usd_per_gpu_hour: Figure
    break_even: _BreakEven | None


class _Slice(_Part):
    card: str
    profile: str
    slices_per_card: Count
    compute_slices: Count
    memory_slices: Count


class _Ramp(_Part):
    start: Count = Field(alias="from")
    step: Count
    samples: Figure
    increments: Count
    steps: Annotated[int, Field(ge=0)]
    sequences: Annotated[int, Field(ge=0)]
    days: Figure


class _AlignedModel(_Part):
    role: str
    model: str
    trained: bool
    memory_gib: Figure
    time_share: Figure


class _Alignment(_Part):
    kind: str
    placement: str
    models: list[_AlignedModel]
    memory_gib: dict[str, Figure]
    generation: dict[str, Figure | None] | None


def faults_of_parts(plan: Plan) -> Iterator[tuple[Any, DataPath]]:
    """What pydantic finds wrong in the parts of a plan, and where each part stands."""
    parts: list[tuple[type[_Part], Any, DataPath]] = [
        (_Input, plan.input, ("input",)),
        (_Bought, plan.purchase_plan, ("purchase_plan",)),
        (_Slice, plan.slice, ("slice",)),
        (_Ramp, plan.batch_ramp, ("batch_ramp",)),
        (_Alignment, plan.alignment, ("alignment",)),
    ]
    parts += [
        (_MixPart, part, ("mix", number)) for number, part in enumerate(plan.mix or ())
    ]
    for kind, written, path in parts:
        if written is None:
            continue
        try:
            kind.model_validate(written)
        except ValidationError as error:
            for fault in error.errors(include_url=False):
                yield fault, path


def other_words(plan: Plan) -> Iterator[tuple[DataPath, str, tuple[str, ...]]]:
    """Words that no plan has: where, the word, and what there is."""
    for name, known in _WORDS.items():
        word = getattr(plan.layout, name)
        if word not in known:
            yield ("layout", name), word, known
    kinds = get_args(PurchaseKind)
    if not set(plan.purchase.split("+")) <= set(kinds):
        yield ("purchase",), plan.purchase, kinds
