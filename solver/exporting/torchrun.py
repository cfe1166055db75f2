"""A run as a shell script that is started on each of its nodes by hand."""

from __future__ import annotations

from solver.exporting.nodes import (
    NODE_SCRIPT,
    launcher_notes,
    node_files,
    restarts,
)
from solver.exporting.output import Files
from solver.exporting.run import Run
from solver.plan import Message

__all__ = ["files"]


def files(run: Run) -> Files:
    """Return the script of a node, and what its program reads.

    Raises
    ------
    InputError
        The framework's files cannot say what the plan does.
    """
    notes = launcher_notes(run)
    if run.plan.slice is not None:
        notes.append(Message.of("launch.torchrun.slice"))
    if run.nodes > 1:
        notes.append(
            Message.of("launch.torchrun.each", nodes=run.nodes, script=NODE_SCRIPT)
        )
    node = node_files(run, restarts(run), notes)
    return Files(node.texts, node.command.notes)
