"""``gpuplan estimate``: memory and step time of one pinned layout, by part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from solver.cli.inputs import (
    AsJson,
    CatalogFolders,
    OfferTables,
    OnlyThese,
    Overrides,
    ScenarioName,
    one_phase,
    read_inputs,
)
from solver.cli.terminal import write, write_page

if TYPE_CHECKING:
    from solver.planning.estimate import Estimate

__all__ = ["estimate"]

STATUS = {"fits": 0, "tight": 0, "impossible": 3}
"""Exit status by the verdict on memory."""


MOST = 1_000_000
"""Largest degree or count: above any cluster, below what arrays hold."""


def _text(name: str, metavar: str, text: str) -> typer.models.OptionInfo:
    """Return an option that takes a word."""
    option: typer.models.OptionInfo = typer.Option(
        name, metavar=metavar, show_default=False, help=text
    )
    return option


def _count(name: str, text: str, least: int = 1) -> typer.models.OptionInfo:
    """Return an option that takes a whole number."""
    option: typer.models.OptionInfo = typer.Option(
        name, metavar="N", min=least, max=MOST, show_default=False, help=text
    )
    return option


Word = str | None
Number = int | None

PhaseName = Annotated[
    Word, _text("--phase", "NAME", "Phase to look at, of a scenario that has phases.")
]
GpuType = Annotated[Word, _text("--gpu", "NAME", "GPU type, such as H100.")]
ServerId = Annotated[Word, _text("--server", "ID", "Kind of node, by catalog id.")]
OfferId = Annotated[Word, _text("--offer", "ID", "Offer, by its catalog id.")]
Gpus = Annotated[Number, _count("--gpus", "GPUs in all, those of rollout nodes too.")]
Nodes = Annotated[Number, _count("--nodes", "Nodes in all, rollout nodes too.")]
GpusPerNode = Annotated[Number, _count("--gpus-per-node", "GPUs of a node.")]
Tp = Annotated[Number, _count("--tp", "Tensor-parallel degree.")]
Pp = Annotated[Number, _count("--pp", "Pipeline stages.")]
Cp = Annotated[Number, _count("--cp", "Context-parallel degree.")]
Ep = Annotated[Number, _count("--ep", "Expert-parallel degree.")]
Etp = Annotated[Number, _count("--etp", "Tensor-parallel degree of the experts.")]
Dp = Annotated[Number, _count("--dp", "Data-parallel degree.")]
VirtualStages = Annotated[
    Number, _count("--virtual-stages", "Virtual stages of a GPU (interleaving).")
]
MicroBatch = Annotated[Number, _count("--micro-batch", "Sequences of a micro-batch.")]
Accumulation = Annotated[
    Number, _count("--accumulation", "Micro-batches of a step and replica.")
]
ZeroStage = Annotated[Number, _count("--zero-stage", "ZeRO stage, 0 to 3.", least=0)]
Recompute = Annotated[
    Word, _text("--recompute", "HOW", "Activations: none, selective or full.")
]
NetworkGbps = Annotated[
    float | None,
    typer.Option(
        "--network-gbps",
        metavar="GBPS",
        min=0.0,
        show_default=False,
        help="Network of a node, Gb/s, in place of the server's.",
    ),
]


def estimate(
    scenario: ScenarioName,
    catalog: CatalogFolders = None,
    overrides: Overrides = None,
    offers: OfferTables = None,
    only: OnlyThese = False,
    as_json: AsJson = False,
    phase: PhaseName = None,
    gpu: GpuType = None,
    server: ServerId = None,
    offer: OfferId = None,
    gpus: Gpus = None,
    nodes: Nodes = None,
    gpus_per_node: GpusPerNode = None,
    tp: Tp = None,
    pp: Pp = None,
    cp: Cp = None,
    ep: Ep = None,
    etp: Etp = None,
    dp: Dp = None,
    virtual_stages: VirtualStages = None,
    micro_batch: MicroBatch = None,
    accumulation: Accumulation = None,
    zero_stage: ZeroStage = None,
    recompute: Recompute = None,
    network_gbps: NetworkGbps = None,
) -> int:
    """Estimate the memory and step time of one layout, by part.

    Nothing is bought or compared. Of the layouts that keep what is pinned, the fastest
    that fits is shown. The exit status is 3 where none fits in memory.
    """
    whole, entries = read_inputs(
        scenario, catalog, overrides, offers=offers, only=only, phased=True
    )
    job = one_phase(whole, phase)
    from solver.planning.estimate import EstimatePins
    from solver.planning.estimate import estimate as estimate_layout

    pins = EstimatePins(
        gpu=gpu,
        server=server,
        offer=offer,
        gpus=gpus,
        nodes=nodes,
        gpus_per_node=gpus_per_node,
        tp=tp,
        pp=pp,
        cp=cp,
        ep=ep,
        etp=etp,
        dp=dp,
        virtual_stages=virtual_stages,
        micro_batch=micro_batch,
        accumulation=accumulation,
        zero_stage=zero_stage,
        recompute=recompute,
        network_gbps=network_gbps,
    )
    answer = estimate_layout(job, entries, pins)
    _print(answer, as_json=as_json)
    return STATUS[answer.verdict]


def _print(answer: Estimate, *, as_json: bool) -> None:
    """Print an estimate as the user wants it."""
    if as_json:
        from solver.report.as_json import object_as_json

        write(object_as_json("estimate", answer.as_dict()))
    else:
        from solver.report.estimate_rows import estimate_page

        write_page(estimate_page(answer))
