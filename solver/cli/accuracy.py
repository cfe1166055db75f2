"""``gpuplan accuracy``: predictions held against measurements."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from solver.cli.inputs import AsJson, CatalogFolders
from solver.cli.outputs import tell_letters
from solver.cli.terminal import note, write, write_page
from solver.errors import InputError, Issue

__all__ = ["accuracy"]

Tables = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="[FILE.csv ...]",
        show_default=False,
        help="Tables of your own measurements, in place of the shipped ones.",
    ),
]
AsCsv = Annotated[
    bool, typer.Option("--csv", help="Print every prediction as a row of a CSV table.")
]
Worst = Annotated[
    int,
    typer.Option(
        "--worst",
        metavar="N",
        min=0,
        help="List the N largest misses, with the parts of their step time.",
    ),
]

Plot = Annotated[
    Path | None,
    typer.Option(
        "--plot",
        metavar="FILE",
        show_default=False,
        help="Draw predicted against measured (.png, .svg, .pdf); needs matplotlib.",
    ),
]


def accuracy(
    tables: Tables = None,
    catalog: CatalogFolders = None,
    worst: Worst = 0,
    plot: Plot = None,
    as_csv: AsCsv = False,
    as_json: AsJson = False,
) -> int:
    """Predict published measurements, or your own, and show the errors.

    A table is known by its columns: step_time_s, peak_memory_gib or fits, tokens_b.
    'catalog template measurements' explains all columns. What a row does not say is
    filled in by rules, which are listed; a row that can't be predicted is skipped with
    the reason, and so is one with a cell that can't be read.
    """
    if as_csv and as_json:
        message = "--csv and --json exclude each other"
        raise InputError([Issue("bad-usage", message)])
    from solver.accuracy.report import accuracy_report
    from solver.catalog.load import load_catalog

    report = accuracy_report(tables, load_catalog(catalog or ()))
    if plot is not None:
        from solver.report.accuracy_plot import draw_accuracy

        draw_accuracy(report, plot)
        tell_letters()
    if as_json:
        from solver.report.as_json import fields_as_json

        write(fields_as_json(report.as_dict()))
        return 0
    from solver.report.accuracy_rows import (
        accuracy_page,
        outcomes_as_csv,
        skipped_lines,
    )

    if as_csv:
        write(outcomes_as_csv(report))
        for line in skipped_lines(report) if tables else ():
            note(line)
    else:
        write_page(accuracy_page(report, worst, with_assumed=bool(tables)))
    return 0
