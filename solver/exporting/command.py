"""How the framework of a plan is told to train it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from solver.exporting import deepspeed, fsdp, megatron, torchtitan, trainer
from solver.exporting.program import Command, Variable, shell_word
from solver.exporting.refusals import Refusals
from solver.exporting.run import Run

__all__ = ["COMMANDS", "Command", "Variable", "shell_word", "training_command"]


COMMANDS: Mapping[str, Callable[[Run], Command]] = {
    "megatron": megatron.command,
    "deepspeed": deepspeed.command,
    "pytorch-fsdp": fsdp.command,
    "hf-trainer": trainer.command,
    "torchtitan": torchtitan.command,
}
"""Framework id to what writes its command; those left out are not written yet."""


def training_command(run: Run) -> Command:
    """Return how the framework of the plan trains it.

    Raises
    ------
    NotExpressibleError
        That framework's files cannot say what the plan does, with every reason.
    """
    write = COMMANDS.get(run.framework.id)
    if write is None:
        refusals = Refusals(run.framework.name)
        refusals.add("is planned for, but its files are not written")
        refusals.check()
        raise AssertionError
    return write(run)
