"""The page that holds published rules of thumb against gpuplan's answers.

Each row is a shipped scenario (``scenarios/table-*.yaml``), whose comments say what is
claimed; the answers are solved anew whenever the page is written.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from solver.plan import Plan, PlanResult

PREFIX = "table-"
CLAIM = "# Claimed:"


@dataclass(frozen=True)
class Row:
    """A row of a published table."""

    scenario: str
    """Name after `PREFIX`."""
    holds: bool
    """Whether the claim holds as it stands."""
    why: str
    """What makes it hold, or what it leaves out."""


FULL = "All weights, without activations at 18 bytes a parameter"
GOALS = "By goal"
BUILDS = "Servers of one node"

TABLES: dict[str, tuple[Row, ...]] = {
    FULL: (
        Row("7b-full-4x80gb", True, "Weights, gradients and moments leave room."),
        Row(
            "7b-full-6x48gb",
            True,
            "It fits, at a small part of the cards' speed: without NVLink all "
            "gradients pass PCIe, and four cards finish no later than six.",
        ),
        Row("13b-full-6x80gb", True, "Sharded over six cards it fits."),
        Row(
            "13b-full-8x48gb",
            True,
            "It fits, at a few per cent of the cards' peak: PCIe decides.",
        ),
        Row(
            "34b-full-8x80gb",
            False,
            "The count leaves out activations, the loss and what sharding gathers; "
            "with them nothing stays free, and the usual tenth should.",
        ),
        Row(
            "70b-full-8x141gb",
            False,
            "State alone fills the cards at 16 bytes a parameter; 18 are more than "
            "they have.",
        ),
        Row("70b-full-16x141gb", True, "Two nodes hold state and activations."),
        Row("7b-lora-1x48gb", True, "Frozen weights need 2 bytes a parameter."),
        Row("13b-lora-1x48gb", True, "Frozen weights need 2 bytes a parameter."),
    ),
    GOALS: (
        Row(
            "7b-full-1-to-4x80gb",
            False,
            "With DDP every card holds all 16 bytes a parameter, more than it has; "
            "two cards do with FSDP.",
        ),
        Row("33b-qlora-1x48gb", True, "Four bits a parameter leave room."),
        Row("70b-qlora-1x80gb", True, "Four bits a parameter leave room."),
        Row(
            "70b-lora-1x80gb",
            False,
            "Weights in 16 bits alone are larger than the card: only QLoRA does.",
        ),
        Row(
            "70b-full-8x80gb",
            False,
            "AdamW in fp32 needs twice the cards; with 8-bit moments, or with what "
            "leaves the GPUs for the host, eight do.",
        ),
        Row(
            "33b-rlhf-2x8x80gb",
            True,
            "Policy, reference, and a reward model and critic of 7B share the cards.",
        ),
        Row(
            "70b-rlhf-2x8x80gb",
            False,
            "State of the policy alone fills the cards; twice the nodes do, or two of "
            "141 GB cards.",
        ),
        Row(
            "175b-pretrain-many-nodes",
            True,
            "Tensor and pipeline parallelism within what NVLink and the fabric carry.",
        ),
    ),
    BUILDS: (
        Row("7b-lora-2x48gb", True, "LoRA does; all weights would not fit."),
        Row("7b-full-4x48gb", True, "FSDP over PCIe; the bus sets the pace."),
        Row(
            "13b-full-4x48gb",
            False,
            "State alone is more than four cards hold: LoRA, or eight cards.",
        ),
        Row("13b-full-4x-h100-pcie", True, "Memory does; the bus sets the pace."),
        Row(
            "33b-full-8x80gb",
            False,
            "It fits only with less than the usual tenth free; with 8-bit moments, or "
            "by LoRA, it does.",
        ),
        Row("70b-lora-8x141gb", True, "LoRA does; all weights would not fit."),
    ),
}


def solved(name: str) -> PlanResult:
    """Return the answer to a row's scenario."""
    from solver.catalog.load import load_catalog
    from solver.planning.single_job import plan_job
    from solver.scenario.load import load_scenario

    catalog = load_catalog()
    scenario = load_scenario(PREFIX + name, catalog, (), date(2026, 11, 30))
    return plan_job(scenario, catalog, alternatives=0)


def claim_of(name: str) -> str:
    """Return what a row's scenario says is claimed."""
    from solver.scenario.gallery import show_scenario

    lines = show_scenario(PREFIX + name).splitlines()
    (claim,) = (line for line in lines if line.startswith(CLAIM))
    return claim.removeprefix(CLAIM).strip()


def answer_of(result: PlanResult) -> str:
    """Return a plan, or why there is none, in one line."""
    if result.plan is not None:
        return _plan(result.plan)
    assert result.explanation is not None  # noqa: S101 - there is one or the other
    miss = result.explanation.nearest_miss or {}
    able = [r for r in result.explanation.relaxations if r.get("fits", True)]
    opens = "; ".join(_opening(row) for row in able[:2])
    need, allowed, usable = (miss[k] for k in ("need_gib", "allowed_gib", "usable_gib"))
    text = f"No: {need:.1f} GiB a GPU at best, of {allowed:.1f} ({usable:.1f} usable)"
    return f"{text}; opened by {opens}" if opens else text


def _opening(row: dict[str, Any]) -> str:
    return f"{row['constraint'].replace('_', ' ')} {row['needed']}"


def _plan(plan: Plan) -> str:
    layout, memory = plan.layout, plan.memory_gib
    degrees = [("TP", layout.tp), ("PP", layout.pp), ("DP", layout.dp)]
    parts = [f"{name} {degree}" for name, degree in degrees if degree > 1]
    if layout.zero_stage:
        parts.append(f"ZeRO {layout.zero_stage}")
    if layout.recompute != "none":
        parts.append(f"{layout.recompute} recompute")
    return (
        f"{plan.gpus} x {plan.gpu}, {' '.join(parts) or 'no parallelism'}, "
        f"{layout.optimizer}: {memory['total']:.1f} of {memory['capacity']:.1f} GiB, "
        f"MFU {100 * plan.mfu:.0f} %"
    )


def page(generated: str, table: Any) -> str:
    """Return docs/published-tables.md.

    Parameters
    ----------
    generated
        The line that says so.
    table
        Makes a table of headings and rows.
    """
    blocks = [
        "# Published tables, checked",
        generated,
        "Tables of hosts and blogs say how many cards a model needs. Each row of two "
        "of them is a shipped scenario here (`gpuplan solve table-7b-full-4x80gb`), "
        "with what is claimed, gpuplan's answer and what makes the difference. A tenth "
        "of each card stays free, the default; servers are taken as owned, and the "
        "fastest layout is shown. Memory is that of the fullest GPU at its fullest "
        "moment.",
    ]
    for title, rows in TABLES.items():
        cells = [
            (
                f"[{row.scenario}](../scenarios/{PREFIX}{row.scenario}.yaml)",
                claim_of(row.scenario),
                "holds" if row.holds else "**does not hold**",
                answer_of(solved(row.scenario)),
                row.why,
            )
            for row in rows
        ]
        heading = ("scenario", "claimed", "", "gpuplan", "why")
        blocks += [f"## {title}", table(heading, cells)]
    return "\n\n".join(blocks) + "\n"
