"""A page as text for a terminal, from 40 columns up; two columns where there is room.

Colour and width are the caller's; so is whether the terminal shows more than ASCII.
"""

from __future__ import annotations

from io import StringIO
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from solver.report.figures import Grid, Page, Row, Section
from solver.report.wrapping import Breakable

__all__ = ["as_ascii", "render"]

_TWO_COLUMNS_FROM = 112
"""Narrowest terminal, columns, in which sections stand side by side."""

_BARS_FROM = 34
"""Narrowest section, columns, that has room for bars."""

_WIDEST = 140
_INDENT = 2
_LABEL_WIDTH = 18
_SHARE_WIDTH = 6
_NUMBER_WIDTH = 14
_BLOCKS = " ▏▎▍▌▋▊▉█"
_PAIRS = (
    ("section.hardware", "section.layout"),
    ("section.memory", "section.step"),
    ("section.duration", "section.cost"),
    ("section.host", "section.proof"),
)
_ASCII = str.maketrans(
    {
        "×": "x",
        "–": "-",
        "·": "-",
        "…": ".",
        "█": "#",
        **dict.fromkeys("▌▋▊▉", "#"),
        **dict.fromkeys("▏▎▍", " "),
    }
)


def render(page: Page, *, width: int = 80, color: bool = False) -> str:
    """Return a page as lines of text that are no longer than the width.

    Parameters
    ----------
    page
        What to draw.
    width
        Columns of the terminal; more than 140 are not used.
    color
        Whether to use ANSI colours.
    """
    width = max(20, min(width, _WIDEST))
    stream = StringIO()
    console = Console(
        file=stream,
        width=width,
        force_terminal=color,
        color_system="standard" if color else None,
        no_color=not color,
        legacy_windows=False,
        highlight=False,
        emoji=False,
        markup=False,
    )
    style = "bold green" if page.good else "bold yellow"
    console.print(Breakable(page.headline, style=style))
    for block in _blocks(page, width):
        console.print()
        console.print(block)
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()) + "\n"


def as_ascii(text: str) -> str:
    """Return a rendered page without characters that an old terminal lacks."""
    ascii_text = text.translate(_ASCII).encode("ascii", "replace").decode("ascii")
    return "".join(f"{line.rstrip()}\n" for line in ascii_text.splitlines())


def _blocks(page: Page, width: int) -> list[RenderableType]:
    """Return what is printed under the headline, top to bottom."""
    sections = {part.id: part for part in page.parts}
    right_of = dict(_PAIRS) if width >= _TWO_COLUMNS_FROM else {}
    paired = {
        right for left, right in right_of.items() if {left, right} <= sections.keys()
    }
    blocks: list[RenderableType] = []
    for part in page.parts:
        if part.id in paired:
            continue
        right = right_of.get(part.id)
        if right in paired:
            gap = 4
            half = (width - gap) // 2
            pair = Table.grid(padding=0)
            pair.add_column(width=width - gap - half)
            pair.add_column(width=gap)
            pair.add_column(width=half)
            pair.add_row(_part(part, half), "", _part(sections[right], half))
            blocks.append(pair)
        else:
            blocks.append(_part(part, width))
    return blocks


def _part(part: Section | Grid, width: int) -> RenderableType:
    """Return a section or grid under its title."""
    if isinstance(part, Grid):
        table = _grid(part)
    elif not any(row.label for row in part.rows):
        table = _sentences(part)
    elif part.numeric:
        table = _numbers(part, width - _INDENT)
    else:
        table = _facts(part)
    title = Text(part.title, style="bold")
    return Group(title, Padding(table, (0, 0, 0, _INDENT)))


def _grid(grid: Grid) -> Table:
    """Return a grid with its head."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for position, column in enumerate(grid.columns):
        right = position in grid.right
        table.add_column(
            Breakable(column),
            justify="right" if right else "left",
            overflow="fold",
            no_wrap=right,
        )
    for row in grid.rows:
        table.add_row(*(Breakable(cell) for cell in row))
    return table


def _sentences(section: Section) -> Table:
    """Return rows without labels as a list of sentences."""
    table = Table.grid(padding=(0, 1))
    table.add_column(width=1, style="yellow")
    table.add_column(ratio=1, overflow="fold")
    for row in section.rows:
        table.add_row(
            "!" if section.id == "section.warnings" else "·", Breakable(row.value)
        )
    return table


def _facts(section: Section) -> Table:
    """Return labels with texts that may take several lines."""
    table = Table.grid(padding=(0, 1))
    table.add_column(width=_LABEL_WIDTH, style="dim", overflow="fold")
    table.add_column(ratio=1, overflow="fold")
    for row in section.rows:
        value = Breakable(row.value)
        if row.note:
            value.append(f"  {row.note}", style="dim")
        table.add_row(Breakable(row.label), value)
    return table


def _numbers(section: Section, width: int) -> Table:
    """Return labels with numbers, their shares and a bar each."""
    bar_width = min(24, width - _LABEL_WIDTH - _NUMBER_WIDTH - _SHARE_WIDTH - 3)
    bars = width >= _BARS_FROM and bar_width >= 4
    table = Table.grid(padding=(0, 1))
    table.add_column(width=_LABEL_WIDTH, style="dim", overflow="fold")
    table.add_column(width=_NUMBER_WIDTH, justify="right", overflow="fold")
    table.add_column(width=_SHARE_WIDTH, justify="right", style="dim")
    if bars:
        table.add_column(width=bar_width, style="cyan", no_wrap=True)
    for row in section.rows:
        cells: list[Any] = [Breakable(row.label), Text(row.value), _share(row)]
        if bars:
            cells.append("" if row.share is None else _bar(row.share, bar_width))
        table.add_row(*cells)
    return table


def _share(row: Row) -> str:
    """Return a row's share in whole per cent."""
    if row.share is None:
        return ""
    return "<1%" if 0 < row.share < 0.005 else f"{row.share * 100:.0f}%"


def _bar(share: float, width: int) -> str:
    """Return a bar of eighths of a character, as long as the share of the width."""
    eighths = round(max(0.0, min(share, 1.0)) * width * 8)
    return "█" * (eighths // 8) + _BLOCKS[eighths % 8].strip()
