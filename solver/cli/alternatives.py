"""``gpuplan alternatives``: what else would do, and what it gains and loses."""

from __future__ import annotations

from typing import Annotated

import typer

from solver.cli.inputs import (
    AsJson,
    CatalogFolders,
    OfferTables,
    OnlyThese,
    Overrides,
    Quiet,
    ScenarioName,
    read_inputs,
)
from solver.cli.outputs import CsvFile, check_csv, deliver
from solver.cli.solve import STATUS
from solver.errors import Issue

__all__ = ["alternatives"]

MOST = 10.0
"""Largest share: beyond ten times as much nothing is an alternative."""

Within = Annotated[
    str,
    typer.Option(
        "--within",
        metavar="SHARE",
        help="How much more of the objective an alternative may take, such as 10%.",
    ),
]
PerKind = Annotated[
    int,
    typer.Option(
        "--per-kind",
        metavar="N",
        min=1,
        help="At most N of each kind: the N best other GPUs, sizes and so on.",
    ),
]


def alternatives(
    scenario: ScenarioName,
    within: Within = "10%",
    per_kind: PerKind = 1,
    catalog: CatalogFolders = None,
    overrides: Overrides = None,
    offers: OfferTables = None,
    only: OnlyThese = False,
    csv: CsvFile = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> int:
    """List the best plans that differ in kind, with what each gains and loses.

    Another GPU, provider, region, purchase kind, network or number of nodes than the
    best plan's, within a share of the objective. All keep the constraints of the
    scenario; 'compare' looks beyond a kind that it forbids.
    """
    check_csv(csv, as_json=as_json)
    share, faults = _share(within)
    job, entries = read_inputs(
        scenario, catalog, overrides, offers=offers, only=only, faults=faults
    )
    from solver.cli.progress import ProgressLine
    from solver.interruption import gently
    from solver.planning.choosing import alternatives as choices_of

    with gently(), ProgressLine(wanted=not quiet) as line:
        found = choices_of(job, entries, share, per_kind=per_kind, progress=line.update)
    from solver.report.choice_rows import choices_as_csv, choices_page

    deliver(
        csv,
        as_json=as_json,
        table=lambda: choices_as_csv(found),
        data=found.as_dict,
        page=lambda _: choices_page(found),
    )
    return STATUS[found.result.status]


def _share(within: str) -> tuple[float, list[Issue]]:
    """Return ``--within`` as a number, and what is wrong with it."""
    from solver.units import QuantityError, parse_fraction

    # a bare 10 is more likely 10% than ten times as much
    most = MOST if "%" in within else 1.0
    try:
        return parse_fraction(within, most), []
    except QuantityError as error:
        issue = Issue(error.code, error.message, "--within", hint=error.hint)
        return 0.0, [issue]
