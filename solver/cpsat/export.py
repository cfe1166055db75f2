"""The model as a text that a person can read and CP-SAT can load."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ortools.sat.python import cp_model

_RUN = re.compile(r"(?m)^(?P<indent> *)(?P<field>\w+): (?P<value>\S+)\n")


def model_text(model: cp_model.CpModel, header: Iterable[str] = ()) -> str:
    """Return the model in the text format of CP-SAT's ``CpModelProto``.

    Parameters
    ----------
    model
        The model.
    header
        Lines that are put in front as comments.

    Notes
    -----
    Repeated numbers stand in one list, ``vars: [0, 1, 2]``, which is the format's own
    short form, instead of one line each.
    """
    comments = "".join(f"# {line}".rstrip() + "\n" for line in header)
    return comments + _joined_lists(str(model.proto))


def _joined_lists(text: str) -> str:
    """``text`` with runs of the same repeated number joined into lists."""
    lines: list[str] = []
    run: list[str] = []
    start = ("", "")

    def flush() -> None:
        if run:
            indent, name = start
            value = f"[{', '.join(run)}]" if len(run) > 1 else run[0]
            lines.append(f"{indent}{name}: {value}\n")
            run.clear()

    for line in text.splitlines(keepends=True):
        match = _RUN.fullmatch(line)
        if match is None or match["value"].startswith('"'):
            flush()
            lines.append(line)
            continue
        key = (match["indent"], match["field"])
        if key != start:
            flush()
            start = key
        run.append(match["value"])
    flush()
    return "".join(lines)
