"""``gpuplan catalog template``: a file to fill in."""

from __future__ import annotations

from typing import Annotated

import typer

from solver.cli.inputs import AsJson
from solver.cli.terminal import write
from solver.errors import InputError, Issue, nearest, shown

__all__ = ["template"]

Kind = Annotated[
    str,
    typer.Argument(
        metavar="KIND",
        show_default=False,
        help=(
            "offers (for --offers), measurements (for accuracy), prices, servers, "
            "regions, egress, gpus, networks, storage or architectures."
        ),
    ),
]


def template(kind: Kind, as_json: AsJson = False) -> int:
    """Print a file to fill in, its columns explained, with an example that loads.

    'catalog template offers > my-offers.csv' is a start for 'solve --offers', and
    'catalog template measurements' for 'accuracy'; all other kinds are files of a
    catalog folder, for --catalog.
    """
    from solver.importing.templates import KINDS, template_of

    wanted = kind.casefold()
    if wanted not in KINDS:
        message = f"there is no template {shown(kind)}; expected {', '.join(KINDS)}"
        raise InputError([Issue("unknown-name", message, hint=nearest(kind, KINDS))])
    found = template_of(wanted)
    if as_json:
        from solver.report.as_json import object_as_json

        write(object_as_json("template", found.as_dict()))
    else:
        write(found.text)
    return 0
