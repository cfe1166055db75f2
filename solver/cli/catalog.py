"""``gpuplan catalog``: what is known, how old it is, and whether it fits together."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from solver.cli import catalog_import, catalog_template
from solver.cli.terminal import write
from solver.cli.usage import PlainUsage

__all__ = ["app"]

STATUS_FAULTY = 2

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="List, show and check the catalog.",
)
app.add_typer(catalog_import.app, name="import")
app.command("template", cls=PlainUsage)(catalog_template.template)

Folders = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="[DIR ...]",
        show_default=False,
        help="Catalog folders to check over the shipped one.",
    ),
]


@app.command("check", cls=PlainUsage)
def check(folders: Folders = None) -> int:
    """Check that the entries of the catalog fit together, with your folders over it.

    The exit status is 2 where there is a fault; warnings may be right all the same.
    """
    from solver.catalog.consistency import WARNINGS, check_catalog
    from solver.catalog.load import load_catalog

    found = check_catalog(load_catalog(folders or ()))
    write("".join(f"{issue}\n" for issue in found))
    return STATUS_FAULTY if any(i.code not in WARNINGS for i in found) else 0
