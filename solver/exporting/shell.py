"""Lines of shell scripts: what is said at the top, and what the user has to set."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence

from solver.exporting.program import Command, Variable, shell_word
from solver.exporting.run import Run
from solver.messages import sentence
from solver.plan import Message

__all__ = [
    "commented",
    "environment_lines",
    "header",
    "option_lines",
    "script",
    "variable_lines",
]

_WIDTH = 88
_UNSAFE = str.maketrans(dict.fromkeys("'\"`", "\u2019") | dict.fromkeys("\\${}", ""))
"""What a text must not hold where a shell reads it inside of quotes and braces."""


def header(run: Run, notes: Sequence[Message] = ()) -> list[str]:
    """Return sentences that say what a file is, what was predicted and what to know."""
    plan, layout = run.plan, run.layout
    degrees = ("tp", "pp", "cp", "ep", "dp")
    named = [f"{n.upper()} {getattr(layout, n)}" for n in degrees]
    return [
        sentence("export.header.what", title=run.title),
        sentence(
            "export.header.where",
            nodes=run.nodes,
            server=plan.server,
            region=plan.region,
            provider=plan.provider,
            purchase=plan.purchase,
        ),
        sentence(
            "export.header.layout",
            gpus=run.gpus,
            layout=", ".join(named),
            micro_batch=layout.micro_batch,
            accumulation=layout.accumulation,
            batch=layout.global_batch_size,
        ),
        sentence(
            "export.header.predicted",
            framework=run.framework.name,
            step_s=plan.step_time_s,
            memory_gib=plan.memory_gib["total"],
        ),
        *(note.text for note in notes),
    ]


def commented(sentences: Iterable[str], mark: str = "#") -> list[str]:
    """Return sentences as comment lines of a script or of a YAML or TOML file."""
    width = _WIDTH - len(mark) - 1
    return [
        f"{mark} {line}"
        for text in sentences
        for line in textwrap.wrap(" ".join(text.split()), width)
    ]


def variable_lines(variables: Iterable[Variable]) -> list[str]:
    """Return lines that stop a script where the user has not said what has to be said.

    A variable with a default takes it. Programs read them from the environment, too.
    """
    variables, lines = tuple(variables), []
    for one in variables:
        meaning = one.meaning.text.translate(_UNSAFE)
        if one.default is None:
            lines.append(f': "${{{one.name}:?{meaning}}}"')
        else:
            lines.append(f': "${{{one.name}:={one.default}}}"  # {meaning}')
    if variables:
        lines.append(f"export {' '.join(one.name for one in variables)}")
    return lines


def environment_lines(environment: Mapping[str, str]) -> list[str]:
    """Return lines that set what the program reads from its environment."""
    return [f"export {name}={shell_word(value)}" for name, value in environment.items()]


def option_lines(arguments: Sequence[str], indent: str = "  ") -> list[str]:
    """Return the arguments of a program, each option with its values on a line."""
    lines: list[list[str]] = []
    for word in arguments:
        if word.startswith("--") or not lines:
            lines.append([])
        lines[-1].append(shell_word(word))
    return [indent + " ".join(line) for line in lines]


def script(run: Run, command: Command, launcher: Sequence[str]) -> str:
    """Return a Bash script that starts a command on one node.

    Parameters
    ----------
    launcher
        The words before the program, such as torchrun's.
    """
    variables = (*command.variables, *_meeting(run))
    lines = [
        "#!/usr/bin/env bash",
        *commented(header(run, command.notes)),
        "set -euo pipefail",
        "",
        *commented([sentence("export.script.variables")]),
        *variable_lines(variables),
        *environment_lines(command.environment),
        "",
        "ARGUMENTS=(",
        *option_lines(command.arguments),
        ")",
        "",
        *commented([sentence("export.script.more")]),
        " ".join(shell_word(w) for w in (*launcher, command.program))
        + ' "${ARGUMENTS[@]}" "$@"',
    ]
    return "\n".join(lines) + "\n"


def _meeting(run: Run) -> tuple[Variable, ...]:
    """Return what tells the nodes of a job apart and where they meet."""
    if run.nodes == 1:
        return ()
    return (
        Variable("NODE_RANK", Message.of("export.variable.node-rank")),
        Variable("MASTER_ADDR", Message.of("export.variable.master")),
        Variable("MASTER_PORT", Message.of("export.variable.port"), "29500"),
        Variable("IS_HOST", Message.of("launch.variable.host"), "$((NODE_RANK == 0))"),
    )
