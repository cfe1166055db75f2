"""The formats in which a plan can be written, by their names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from solver.errors import InputError, Issue, nearest, shown
from solver.exporting import (
    deepspeed,
    fsdp,
    kubernetes,
    megatron,
    nemo,
    skypilot,
    slurm,
    torchrun,
    torchtitan,
    trainer,
)
from solver.exporting.nodes import NODE_SCRIPT, launch_words
from solver.exporting.output import Files
from solver.exporting.program import Command
from solver.exporting.refusals import NotExpressibleError
from solver.exporting.run import Run
from solver.exporting.shell import script
from solver.messages import sentence
from solver.plan import Message

__all__ = ["FORMATS", "Files", "Format", "exported", "format_of"]


@dataclass(frozen=True, slots=True)
class Format:
    """One way to write a run.

    Parameters
    ----------
    id
        After ``--to``.
    files
        Writes a run; raises `NotExpressibleError` with all reasons why it cannot.
    frameworks
        Ids of the frameworks that its files run; a plan of another one is written with
        a warning. Empty: those of any plan, as launchers do.
    """

    id: str
    files: Callable[[Run], Files]
    frameworks: tuple[str, ...]

    @property
    def summary(self) -> str:
        """What it is, in a few words."""
        return sentence(f"export.format.{self.id}")


def _framework_formats() -> tuple[Format, ...]:
    """Return the formats of training frameworks."""
    writers = {
        "megatron": (megatron.command, "megatron"),
        "nemo": (nemo.command, "megatron"),
        "deepspeed": (deepspeed.command, "deepspeed"),
        "torchtitan": (torchtitan.command, "torchtitan"),
        "fsdp": (fsdp.command, "pytorch-fsdp"),
        "trainer": (trainer.command, "hf-trainer"),
    }
    return tuple(
        Format(
            name,
            partial(_started_by_hand, write),
            (framework,),
        )
        for name, (write, framework) in writers.items()
    )


def _started_by_hand(write: Callable[[Run], Command], run: Run) -> Files:
    """Return a command as a script that starts it on a node, and what it reads."""
    command = write(run)
    text = script(run, command, launch_words(run, command, 0))
    return Files({NODE_SCRIPT: text, **command.files}, command.notes)


def _launchers() -> tuple[Format, ...]:
    """Return the formats that start the program of whatever framework a plan has."""
    writers = {
        "torchrun": torchrun.files,
        "slurm": slurm.files,
        "kubernetes": kubernetes.files,
        "skypilot": skypilot.files,
    }
    return tuple(Format(name, files, ()) for name, files in writers.items())


FORMATS: Mapping[str, Format] = {
    one.id: one for one in (*_framework_formats(), *_launchers())
}
"""Every format by its id, in the order in which help lists them."""


def format_of(name: str) -> Format:
    """Return the format of a name.

    Raises
    ------
    InputError
        There is none.
    """
    found = FORMATS.get(name.casefold())
    if found is not None:
        return found
    message = f"there is no format {shown(name)}; expected {', '.join(FORMATS)}"
    raise InputError(
        [Issue("unknown-name", message, "--to", None, nearest(name, FORMATS))]
    )


def exported(run: Run, wanted: Format) -> Files:
    """Return the files of a run in a format, with a warning where it is not the plan's.

    Raises
    ------
    InputError
        The format cannot say what the plan does: every reason, and which formats can.
    """
    try:
        files = wanted.files(run)
    except NotExpressibleError as error:
        raise InputError([*error.issues, _others(run, wanted)]) from None
    if not wanted.frameworks or run.framework.id in wanted.frameworks:
        return files
    warning = Message.of(
        "note.export.framework", framework=run.framework.name, format=wanted.id
    )
    return Files(files.texts, (warning, *files.notes))


def _others(run: Run, wanted: Format) -> Issue:
    """Return which other formats can say what a plan does."""
    able = [one.id for one in FORMATS.values() if one is not wanted and _can(run, one)]
    message = (
        f"it can be written with --to {' or '.join(able)}"
        if able
        else ("no other format can write this plan either")
    )
    return Issue("not-expressible", message)


def _can(run: Run, one: Format) -> bool:
    """Return whether a format can say what a plan does."""
    try:
        one.files(run)
    except NotExpressibleError:
        return False
    return True
