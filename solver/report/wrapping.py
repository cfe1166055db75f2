"""Text whose long words, ids of servers and offers, break at their joints.

Chinese breaks between any two characters, but no line of it starts with a closing mark
or ends with an opening one, and a number stays with the word that it counts.
"""

from __future__ import annotations

import re
from typing import Any

from rich.cells import cell_len, chop_cells
from rich.containers import Lines
from rich.text import Text

__all__ = ["Breakable"]

_OPENING = "（“《「【"
_CLOSING = "，。；：、？！）”》」】"
_WIDE = "\u2e80-\u303f\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uff60"
_WORD = re.compile(
    rf"[{_OPENING}]*(?:[\d.,]+ [{_WIDE}]|[{_WIDE}]|[^\s{_WIDE}“”]+)[{_CLOSING}]*\s*"
    r"|\S\s*"
)
_HAS_WIDE = re.compile(f"[{_WIDE}]")
_JOINT = re.compile(r"[-/.]")


class Breakable(Text):
    """Text that breaks words longer than a line after ``-``, ``/`` or ``.``.

    Chinese, which has no spaces, breaks as it should.
    """

    def wrap(self, console: Any, width: int, **options: Any) -> Lines:
        """Return the text in lines; the parameters are those of rich's own."""
        text = self.plain
        fits = all(cell_len(word) <= width for word in text.split())
        plain = fits and not _HAS_WIDE.search(text)
        if plain or "\n" in text or options.get("no_wrap"):
            return super().wrap(console, width, **options)
        lines = self.divide(line_starts(text, width))
        for line in lines:
            line.rstrip_end(width)
        justify = options.get("justify") or self.justify
        if justify:
            lines.justify(console, width, justify=justify, overflow="fold")
        return lines


def line_starts(text: str, width: int) -> list[int]:
    """Return where each line but the first starts in a text.

    Parameters
    ----------
    text
        One paragraph.
    width
        Columns of a line, at least one.
    """
    starts: list[int] = []
    used = 0
    for match in _WORD.finditer(text):
        word = match[0].rstrip()
        if used and used + cell_len(word) > width:
            starts.append(match.start())
            used = 0
        ends = break_points(word, width)
        starts += [match.start() + end for end in ends]
        used = (0 if ends else used) + cell_len(match[0][ends[-1] if ends else 0 :])
    return starts


def break_points(word: str, width: int) -> list[int]:
    """Return where a word that is longer than a line is broken, after a joint."""
    ends: list[int] = []
    start = 0
    while cell_len(word[start:]) > width:
        room = len(chop_cells(word[start:], width)[0])
        joints = [m.end() for m in _JOINT.finditer(word, start + 1, start + room)]
        start = joints[-1] if joints else start + room
        while word[start] in _CLOSING and start - 1 not in (0, *ends):
            start -= 1
        ends.append(start)
    return ends
