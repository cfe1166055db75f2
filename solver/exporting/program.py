"""A training program, with its arguments and the files that it reads."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field

from solver.plan import Message

__all__ = ["Command", "Variable", "needed", "shell_word", "spares_note"]


@dataclass(frozen=True, slots=True)
class Variable:
    """What the user has to say, or may: no plan knows it.

    Parameters
    ----------
    name
        Of the environment variable, such as ``LR``.
    meaning
        What it is, in a few words that start with a verb: *set the learning rate*.
    default
        What is taken where the user says nothing; None: there is no default, and the
        files stop with ``meaning``.
    """

    name: str
    meaning: Message
    default: str | None = None


def needed(name: str, what: str, default: str | None = None) -> Variable:
    """Return a variable whose meaning is the message ``export.variable.<what>``."""
    return Variable(name, Message.of(f"export.variable.{what}"), default)


def spares_note(nodes: int) -> tuple[Message, ...]:
    """Return what a framework does not do with spare nodes; nothing without any."""
    return (Message.of("note.export.spares", nodes=nodes),) if nodes else ()


@dataclass(frozen=True, slots=True)
class Command:
    """How the training program is started on every GPU by a launcher.

    A launcher (torchrun, srun, accelerate launch) starts ``program`` once a GPU with
    ``arguments``, in a folder that has ``files``.

    Parameters
    ----------
    program
        The Python file, which may name a variable: ``${MEGATRON_LM}/pretrain_gpt.py``.
    arguments
        Words after it, unquoted; ``${NAME}`` in them stands for a variable of
        ``variables``. `shell_word` quotes one for a shell.
    files
        Name to text of what it reads, by paths relative to where it is started.
    environment
        Variables to set, beside the user's own.
    variables
        What the user is to say, in the order in which they matter; each is named by the
        program, the arguments or the files.
    notes
        What the user should know before running it.
    launcher
        Program that has to start it where that is not the caller's choice, with its own
        words: ``("accelerate", "launch", "--config_file", "accelerate.yaml")``; its
        number of processes and machines is the caller's. Empty: torchrun or any other.
    """

    program: str
    arguments: tuple[str, ...]
    files: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    variables: tuple[Variable, ...] = ()
    notes: tuple[Message, ...] = ()
    launcher: tuple[str, ...] = ()


_EXPANDED = re.compile(r"(\$\{[A-Za-z_]\w*(?::-[\w ./:-]*)?\})")
_SPECIAL = re.compile(r'[\\"`$]')


def shell_word(word: str) -> str:
    """Return an argument as a POSIX shell reads it, its variables filled in there.

    Notes
    -----
    Nothing keeps a meaning but variables in braces, which may have a default:
    ``${NAME}``, ``${NAME:-value}``.
    """
    if _EXPANDED.search(word) is None:
        return shlex.quote(word)
    pieces = _EXPANDED.split(word)
    pieces[::2] = [_SPECIAL.sub(r"\\\g<0>", text) for text in pieces[::2]]
    return f'"{"".join(pieces)}"'
