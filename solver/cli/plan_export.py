"""``gpuplan plan export``: the files that run a plan."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from solver.cli.inputs import AsJson
from solver.cli.outputs import write_folder
from solver.cli.terminal import note, write
from solver.errors import InputError, Issue
from solver.messages import sentence

if TYPE_CHECKING:
    from solver.exporting.exported import Exported

__all__ = ["PlanFileName", "export"]

PlanFileName = Annotated[
    Path,
    typer.Argument(
        metavar="PLAN.json",
        show_default=False,
        help="What 'gpuplan solve --json' printed.",
    ),
]
To = Annotated[
    str,
    typer.Option(
        "--to",
        metavar="FORMAT",
        show_default=False,
        help="Of a framework: megatron, nemo, deepspeed, torchtitan, fsdp, trainer. "
        "Of a launcher: torchrun, slurm, kubernetes, skypilot.",
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="DIR",
        show_default=False,
        help="Folder to write to; without it a single file is printed.",
    ),
]
PhaseName = Annotated[
    str | None,
    typer.Option(
        "--phase",
        metavar="NAME",
        show_default=False,
        help="Phase to write, of a plan that has phases; all of them without it, "
        "each to a folder of its own below DIR.",
    ),
]
Force = Annotated[
    bool, typer.Option("--force", help="Replace files that are there already.")
]


def export(
    plan: PlanFileName,
    to: To,
    out: Out = None,
    phase: PhaseName = None,
    force: Force = False,
    as_json: AsJson = False,
) -> int:
    """Write the files that run a plan with a framework.

    What no plan knows, such as the learning rate or where data lies, is a variable that
    the files ask for. A plan that the format cannot say is refused, with every reason
    and the formats that can.
    """
    from solver.acting.plan_file import read_plan
    from solver.exporting.exported import export_plan, format_of

    found = export_plan(read_plan(plan), format_of(to), phase)
    if out is None and not as_json and len(found.texts) > 1:
        raise InputError([_needs_folder(found, to)])
    if out is not None:
        write_folder(out, found.texts, "--out", force=force)
    if as_json:
        from solver.report.as_json import fields_as_json

        write(fields_as_json(found.as_dict()))
        return 0
    for message in found.notes:
        note(message.text)
    if out is None:
        write("".join(found.texts.values()))
    else:
        written = {"files": len(found.texts), "folder": out}
        note(sentence("note.export.written", what=found.format.summary, **written))
    return 0


def _needs_folder(found: Exported, to: str) -> Issue:
    """Return that several files are not printed one after the other."""
    names = ", ".join(found.texts)
    message = f"{to} writes {len(found.texts)} files ({names}); name a folder for them"
    return Issue("bad-usage", message, "--out")
