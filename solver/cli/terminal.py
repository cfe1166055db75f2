"""Writing to the terminal: colour, width, encoding, pipes that close early."""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import suppress
from dataclasses import dataclass
from io import StringIO, TextIOWrapper
from typing import TYPE_CHECKING, TextIO

from solver.errors import InputError, Issue

if TYPE_CHECKING:
    from solver.report.figures import Page

__all__ = [
    "Terminal",
    "can_show",
    "drop_the_rest",
    "note",
    "prepare_streams",
    "standard_output",
    "unwritable",
    "write",
    "write_page",
]

_DRAWN = "×–·█▏"
"""Characters of a page that old encodings lack."""


@dataclass(frozen=True, slots=True)
class Terminal:
    """What the reader of a stream can see.

    Parameters
    ----------
    width
        Columns.
    color
        Whether ANSI colours are wanted and understood.
    unicode
        Whether the characters of a page can be encoded.
    """

    width: int
    color: bool
    unicode: bool


def standard_output() -> Terminal:
    """Return what can be shown on standard output, now.

    Notes
    -----
    ``NO_COLOR`` and ``TERM=dumb`` switch colours off, ``FORCE_COLOR`` switches them on
    where the output is no terminal; ``COLUMNS`` sets the width.
    """
    width = shutil.get_terminal_size((80, 24)).columns
    return Terminal(width, _wants_color(sys.stdout), can_show(sys.stdout, _DRAWN))


def _wants_color(stream: TextIO) -> bool:
    """Return whether to colour what is written to a stream."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return bool(os.environ.get("FORCE_COLOR")) or stream.isatty()


def can_show(stream: TextIO, text: str) -> bool:
    """Return whether a stream's encoding has every character of a text."""
    try:
        text.encode(stream.encoding or "ascii")
    except (LookupError, UnicodeEncodeError):
        return False
    return True


def prepare_streams() -> None:
    """Make standard output and error exist, and never fail on a character."""
    # a stream is None if the caller closed it, as with `>&-`
    sys.stdout = sys.stdout or StringIO()
    sys.stderr = sys.stderr or StringIO()
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")


def write(text: str) -> None:
    """Write text to standard output; a reader that has gone away is no fault.

    Raises
    ------
    InputError
        It cannot be written for another reason, such as a full disk.
    """
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        drop_the_rest()
    except OSError as error:
        drop_the_rest()
        raise InputError([unwritable(error)]) from None


def unwritable(error: OSError) -> Issue:
    """Return the fault of a standard output that cannot be written."""
    message = f"standard output cannot be written: {error.strerror or error}"
    return Issue("output-unwritable", message)


def write_page(page: Page) -> None:
    """Write a page to standard output, as well as its reader can see it.

    Raises
    ------
    InputError
        As for `write`.
    """
    from solver.report.as_table import as_ascii, render

    terminal = standard_output()
    text = render(page, width=terminal.width, color=terminal.color)
    write(text if terminal.unicode else as_ascii(text))


def drop_the_rest() -> None:
    """Send what is left in the buffer of standard output nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    with suppress(OSError, ValueError):  # a stream that is no file
        os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def note(text: str) -> None:
    """Write a line to standard error; if nobody reads it, so be it."""
    try:
        print(text, file=sys.stderr, flush=True)
    except OSError:
        sys.stderr = StringIO()
