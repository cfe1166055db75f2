"""The page that tells what an import wrote, left out and assumed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePath

from solver.importing.models import ModelImport
from solver.importing.prices import PriceImport
from solver.importing.quotes import Remark, grouped
from solver.messages import sentence
from solver.report.figures import Grid, Page, Row, Section

__all__ = ["import_page", "model_page"]

MAX_EXAMPLES = 2
MAX_WARNINGS = 10
MAX_NAMES = 4


def import_page(done: PriceImport) -> Page:
    """Return what an import of prices did as a page."""
    overlay = done.overlay
    providers = overlay.providers
    named = ", ".join(providers[:MAX_NAMES])
    if len(providers) > MAX_NAMES:
        named += " ..."
    headline = sentence(
        "headline.import", offers=len(overlay.offers), providers=named, out=done.out
    )
    numbers = {
        "row.import.offers": f"{len(overlay.offers):,}",
        "row.import.servers": f"{len(overlay.servers):,}",
        "row.import.regions": f"{len(overlay.regions):,}",
        "row.import.files": ", ".join(done.files),
        "row.import.try": sentence("value.import.try", out=done.out),
    }
    rows = tuple(Row(sentence(key), text) for key, text in numbers.items())
    parts: list[Section | Grid] = [Section("section.import.written", rows)]
    if done.findings.skipped:
        grid = _remarks("section.import.skipped", "skipped", done.findings.skipped)
        parts.append(grid)
    if done.findings.assumed:
        grid = _remarks("section.import.assumed", "assumed", done.findings.assumed)
        parts.append(grid)
    if done.warnings:
        told = tuple(Row("", str(issue)) for issue in done.warnings[:MAX_WARNINGS])
        parts.append(Section("section.import.warnings", told))
    return Page(headline, True, tuple(parts))


def model_page(done: ModelImport) -> Page:
    """Return what an import of a model did as a page."""
    entry = done.architecture
    headline = sentence(
        "headline.import.entry", name=entry.id, file=PurePath(done.out, done.file)
    )
    sizes = (
        f"{entry.layers} x {entry.hidden:,}, {entry.heads} heads ({entry.kv_heads} "
        f"for keys and values), vocabulary {entry.vocab:,}"
    )
    rows = [
        Row(sentence("row.import.parameters"), f"{done.count.total:,}"),
        Row(sentence("row.import.sizes"), sizes),
        Row(
            sentence("row.import.try"),
            sentence("value.import.model", out=done.out, id=entry.id),
        ),
    ]
    if entry.n_experts:
        text = f"{done.count.active:,}"
        rows.insert(1, Row(sentence("row.import.active"), text))
    told = [Row("", entry.note)] if entry.note else []
    if done.replaces:
        told.append(Row("", sentence("note.import.replaces", id=entry.id)))
    parts = [Section("section.import.written", tuple(rows))]
    if told:
        parts.append(Section("section.notes", tuple(told)))
    return Page(headline, True, tuple(parts))


def _remarks(title: str, kind: str, remarks: Iterable[Remark]) -> Grid:
    """Return remarks as a grid, one row a reason, most frequent first."""
    columns = ("count", "reason", "examples")
    return Grid(
        title,
        tuple(sentence(f"column.import.{name}") for name in columns),
        tuple(
            (
                f"{len(those):,}",
                sentence(f"import.{kind}.{reason}"),
                "; ".join(_example(remark) for remark in those[:MAX_EXAMPLES]),
            )
            for reason, those in grouped(remarks)
        ),
        right=(0,),
    )


def _example(remark: Remark) -> str:
    """Return what a remark is about and its place: the file with its own folder.

    Tools call each file of theirs alike, ``aws/vms.csv`` and ``gcp/vms.csv``.
    """
    parts = PurePath(remark.where).parts[-2:] if "/" in remark.where else ()
    return f"{remark.what} ({'/'.join(parts) or remark.where})"
