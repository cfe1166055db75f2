"""What an HTML page is made of: plain records that the templates lay out.

All words and figures are as shown. Nothing in them is markup but `Chart.svg`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import groupby

from solver.languages import language
from solver.report.figures import Grid, Row, Section

__all__ = [
    "Block",
    "Chart",
    "Checklist",
    "Document",
    "Drawing",
    "Facts",
    "Lines",
    "Source",
    "Table",
    "Task",
    "block_of",
    "blocks_of",
    "table_of",
]


_BESIDE_A_CHART = "section-alternatives"
"""The table that goes with the frontier."""


_NARROW = 2
"""Most columns of a table that takes half the width."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table; without a head its first column names the rows.

    Parameters
    ----------
    id, title
        Anchor and heading.
    head, rows, right
        As those of `solver.report.figures.Grid`.
    first
        Rows that are printed on paper; None: all.
    wide
        Whether it takes the whole width.
    strong
        Positions of rows that are made to stand out.
    """

    id: str
    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: tuple[int, ...] = ()
    first: int | None = None
    wide: bool = False
    strong: tuple[int, ...] = ()
    kind: str = "table"


@dataclass(frozen=True, slots=True)
class Lines:
    """Sentences, or what is to be typed (``code``), one below the other."""

    id: str
    title: str
    rows: tuple[str, ...]
    code: bool = False
    wide: bool = False
    kind: str = "lines"


@dataclass(frozen=True, slots=True)
class Source:
    """A document as it was written, folded away."""

    id: str
    title: str
    text: str
    wide: bool = True
    kind: str = "source"


@dataclass(frozen=True, slots=True)
class Chart:
    """A drawing, its data as tables behind it, and a sentence below it."""

    id: str
    title: str
    svg: str
    tables: tuple[Table, ...]
    note: str = ""
    legend: tuple[tuple[str, str], ...] = ()
    """Marks and what they mean."""
    wide: bool = False
    kind: str = "chart"


@dataclass(frozen=True, slots=True)
class Facts:
    """Key figures: what, how much, and a note."""

    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Drawing:
    """A parallel layout drawn; see `solver.report.html_layout`."""

    id: str
    title: str
    text: str
    bands: tuple[object, ...]
    legend: tuple[str, ...]
    table: Table
    wide: bool = True
    kind: str = "drawing"


@dataclass(frozen=True, slots=True)
class Task:
    """A step of a checklist: what, when, and each thing to do in it."""

    title: str
    when: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Checklist:
    """Steps to go, in order, below the dates to look at.

    ``folded``: the reader unfolds the steps, and paper leaves all of it out.
    """

    id: str
    title: str
    dates: Table
    tasks: tuple[Task, ...]
    folded: bool = False
    note: str = ""
    wide: bool = True
    kind: str = "checklist"


Block = Table | Lines | Source | Chart | Drawing | Checklist


@dataclass(frozen=True, slots=True)
class Document:
    """A whole page.

    Parameters
    ----------
    title
        Of the browser's window.
    eyebrow
        What the page is about, above the decision.
    headline
        The decision.
    tone
        good, warn or bad: how the status is shown.
    status
        How the answer is known.
    facts
        Key figures below it.
    blocks
        In reading order.
    footer
        Versions and the day.
    language
        Tag of the language, for the reader's software.
    notices
        How many warnings there are, in a sentence; empty without.
    """

    title: str
    eyebrow: str
    headline: str
    tone: str
    status: str
    facts: Facts
    blocks: tuple[Block, ...]
    footer: str
    language: str = field(default_factory=language)
    notices: str = ""

    @property
    def runs(self) -> tuple[tuple[str, tuple[Block, ...]], ...]:
        """Blocks in reading order, those that follow each other in one form as one.

        Forms are wide, pairs (side by side) and columns (as they fit).
        """
        return tuple((form, tuple(run)) for form, run in groupby(self.blocks, _form))


def _form(block: Block) -> str:
    """Return how a block is placed beside those around it."""
    if block.wide:
        return "wide"
    drawn = block.kind == "chart" or block.id == _BESIDE_A_CHART
    return "pairs" if drawn else "columns"


def anchor(section_id: str) -> str:
    """Return the anchor of a section: its message id without points."""
    return section_id.replace(".", "-").replace("_", "-")


def table_of(part: Section | Grid, **more: object) -> Table:
    """Return a section or a grid as a table."""
    name, title = anchor(part.id), part.title
    if isinstance(part, Grid):
        return Table(name, title, part.columns, part.rows, part.right, **more)  # type: ignore[arg-type]
    rows = tuple(
        (row.label, f"{row.value} ({row.note})" if row.note else row.value)
        for row in part.rows
    )
    right = (1,) if part.numeric else ()
    return Table(name, title, (), rows, right, **more)  # type: ignore[arg-type]


def block_of(part: Section | Grid, *, wide: bool = False, code: bool = False) -> Block:
    """Return a part of a page as a block: rows without labels are lines."""
    if isinstance(part, Section) and not any(row.label for row in part.rows):
        lines = tuple(row.value for row in part.rows)
        return Lines(anchor(part.id), part.title, lines, code=code, wide=wide)
    return table_of(part, wide=wide)


def blocks_of(parts: Iterable[Section | Grid]) -> tuple[Block, ...]:
    """Return parts of a page as blocks, those of many columns over the whole width."""
    return tuple(
        block_of(
            part,
            wide=isinstance(part, Grid) and len(part.columns) > _NARROW,
            code=part.id == "section.try",
        )
        for part in parts
    )
