"""The results of a sweep as one HTML page that needs nothing else."""

from __future__ import annotations

from html import escape

from solver.languages import language
from solver.report.figures import Grid, Page, Section
from solver.report.sweep_plot import KINDS, chosen_axes, results_as_svg
from solver.report.sweep_rows import results_page
from solver.sweeps.results import Results

__all__ = ["results_as_html"]

_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem;
  padding: 0 1rem; color: #222; background: #fff; }
h1 { font-size: 1.3rem; } h2 { font-size: 1.05rem; margin-top: 2rem; }
table { border-collapse: collapse; } td, th { padding: .2rem .7rem .2rem 0;
  text-align: left; vertical-align: top; border-bottom: 1px solid #eee; }
.right { text-align: right; } svg { max-width: 100%; height: auto; }
"""


def results_as_html(results: Results, limit: int) -> str:
    """Return the page of `sweep show` with its pictures; matplotlib has to be there.

    ``limit`` is the most values of each axis that tables show.
    """
    page = results_page(results, limit)
    title = escape(str(results.facts.get("name", "")))
    body = [f"<h1>{escape(page.headline)}</h1>", *_pictures(results), *_parts(page)]
    return (
        f'<!DOCTYPE html>\n<html lang="{language()}"><head><meta charset="utf-8">\n'
        f"<title>{title}</title>\n<style>{_STYLE}</style></head>\n<body>\n"
        + "\n".join(body)
        + "\n</body></html>\n"
    )


def _pictures(results: Results) -> list[str]:
    """Return what can be drawn of the results."""
    axes = len(results.dimensions)
    if not results.planned or not axes:
        return []
    kinds = [kind for kind in KINDS if axes > 1 or kind == "lines"]
    return [
        f"<figure>{results_as_svg(results, kind, chosen_axes(results, kind))}</figure>"
        for kind in kinds
    ]


def _parts(page: Page) -> list[str]:
    """Return the tables of a page."""
    found = []
    for part in page.parts:
        found.append(f"<h2>{escape(part.title)}</h2>")
        found.append(_grid(part) if isinstance(part, Grid) else _section(part))
    return found


def _section(section: Section) -> str:
    """Return rows with labels; those without are paragraphs."""
    if not any(row.label for row in section.rows):
        return "\n".join(f"<p>{escape(row.value)}</p>" for row in section.rows)
    rows = (
        f'<tr><th>{escape(row.label)}</th><td class="right">{escape(row.value)}</td>'
        for row in section.rows
    )
    return f"<table>{'</tr>'.join(rows)}</tr></table>"


def _grid(grid: Grid) -> str:
    """Return a table with a head."""

    def cell(kind: str, place: int, text: str) -> str:
        right = ' class="right"' if place in grid.right else ""
        return f"<{kind}{right}>{escape(text)}</{kind}>"

    def line(kind: str, cells: tuple[str, ...]) -> str:
        inner = (cell(kind, place, text) for place, text in enumerate(cells))
        return f"<tr>{''.join(inner)}</tr>"

    rows = (line("td", row) for row in grid.rows)
    return f"<table>{line('th', grid.columns)}{''.join(rows)}</table>"
