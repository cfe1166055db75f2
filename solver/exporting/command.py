"""How the framework of a plan is told to train it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from solver.exporting import megatron
from solver.exporting.program import Command, Variable, shell_word
from solver.exporting.refusals import Refusals
from solver.exporting.run import Run

__all__ = ["COMMANDS", "Command", "Variable", "shell_word", "training_command"]


def _nanotron(_run: Run) -> Command:
    """Refuse: nobody has checked what is written for nanotron.

    Raises
    ------
    NotExpressibleError
        Always.
    """
    refusals = Refusals("nanotron")
    refusals.add("is planned for, but its files are not written")
    refusals.check()
    raise AssertionError


COMMANDS: Mapping[str, Callable[[Run], Command]] = {
    "megatron": megatron.command,
    "nanotron": _nanotron,
}
"""Framework id to what writes its command."""


def training_command(run: Run) -> Command:
    """Return how the framework of the plan trains it.

    Raises
    ------
    NotExpressibleError
        That framework's files cannot say what the plan does, with every reason.
    """
    return COMMANDS[run.framework.id](run)
