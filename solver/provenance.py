"""Where a figure comes from, as it is shown."""

from __future__ import annotations

import re

from solver.messages import sentence

__all__ = ["is_estimate", "source_text"]

_MEMORY = re.compile(
    r"(?:^|(?<=[;,:] )|(?<=\()|(?<=\bfrom ))memory(?=$|[:;,)]| \()", re.MULTILINE
)
"""How the catalog marks a figure that nobody looked up."""


def is_estimate(source: str) -> bool:
    """Return whether a figure was not read by its source but known or guessed."""
    words = source.lower()
    return words.startswith("memory") or "estimate" in words


def source_text(source: str) -> str:
    """Return a source of the catalog in words for the reader of a report.

    The catalog marks what was not looked up with the word 'memory', which beside
    gigabytes of memory is misread.
    """
    return _MEMORY.sub(sentence("source.memory"), source)
