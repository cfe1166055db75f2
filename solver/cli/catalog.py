"""``gpuplan catalog``: what is known, how old it is, and whether it fits together."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from solver.cli import catalog_import, catalog_template
from solver.cli.inputs import AsJson, CatalogFolders
from solver.cli.terminal import standard_output, write, write_page
from solver.cli.usage import PlainUsage
from solver.errors import InputError, Issue

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
Kind = Annotated[
    str,
    typer.Argument(
        metavar="KIND",
        show_default=False,
        help="gpus, slices, servers, intra-node, networks, storage, regions, "
        "countries, offers, egress, round-trips, failure-rates, collective-rates, "
        "matmul-rates, optimizers, frameworks or architectures.",
    ),
]
EntryId = Annotated[
    str,
    typer.Argument(
        metavar="ID",
        show_default=False,
        help="Id, or another name, of an entry of any kind.",
    ),
]


def _filter(option: str, metavar: str, meaning: str) -> Any:
    """Return an option that picks entries; it may be repeated."""
    return typer.Option(option, metavar=metavar, show_default=False, help=meaning)


Texts = list[str] | None
ShownKind = Annotated[
    str | None,
    typer.Option(
        "--kind",
        metavar="KIND",
        show_default=False,
        help="Look only among these: gpus, offers, regions and so on.",
    ),
]
Gpu = Annotated[Texts, _filter("--gpu", "NAME", "A GPU, or a family such as H100.")]
Country = Annotated[Texts, _filter("--country", "NAME", "A country: SG, Japan.")]
Region = Annotated[
    Texts,
    _filter("--region", "NAME", "A region: aws/us-east-1, or us-east-1 of everybody."),
]
Provider = Annotated[
    Texts,
    _filter("--provider", "NAME", "A provider, or a broker for all clouds behind it."),
]
Server = Annotated[
    Texts, _filter("--server", "NAME", "A server: aws-p5.48xlarge, or p5.48xlarge.")
]
Purchase = Annotated[
    Texts,
    _filter(
        "--purchase", "KIND", "on_demand, spot, reserved, monthly, owned or bought."
    ),
]
Network = Annotated[
    Texts,
    _filter("--network", "NAME", "A network between nodes, or a kind: infiniband."),
]
GpusPerNode = Annotated[Texts, _filter("--gpus-per-node", "N", "GPUs of a node.")]
OfKind = Annotated[
    Texts,
    _filter("--kind", "KIND", "Kind of network, storage or link: roce, object_store."),
]
Vendor = Annotated[Texts, _filter("--vendor", "NAME", "Maker of a GPU.")]
Family = Annotated[
    Texts,
    _filter("--family", "NAME", "Family of an architecture, or how its id begins."),
]
Framework = Annotated[
    Texts, _filter("--framework", "NAME", "A framework; of optimizers, what runs them.")
]
Sort = Annotated[
    str | None,
    typer.Option(
        "--sort",
        metavar="COLUMN",
        show_default=False,
        help="Columns to sort by, with commas between; '-' before one: largest first. "
        "Offers are sorted by usd_per_gpu_hour unless asked.",
    ),
]
Limit = Annotated[
    int | None,
    typer.Option(
        "--limit", metavar="N", min=1, show_default=False, help="List at most N rows."
    ),
]
AsCsv = Annotated[bool, typer.Option("--csv", help="Print all columns as CSV.")]
MaxAge = Annotated[
    str,
    typer.Option(
        "--max-age", metavar="TIME", help="Age from which a price is called old."
    ),
]


@app.command("list", cls=PlainUsage)
def list_them(
    kind: Kind,
    gpu: Gpu = None,
    country: Country = None,
    region: Region = None,
    provider: Provider = None,
    server: Server = None,
    purchase: Purchase = None,
    network: Network = None,
    gpus_per_node: GpusPerNode = None,
    of_kind: OfKind = None,
    vendor: Vendor = None,
    family: Family = None,
    framework: Framework = None,
    sort: Sort = None,
    limit: Limit = None,
    catalog: CatalogFolders = None,
    as_csv: AsCsv = False,
    as_json: AsJson = False,
) -> int:
    """List the entries of one kind: GPUs, offers, regions, architectures and so on.

    All filters have to hold; of one that is repeated, any value will do. The columns
    of --csv and --json have their units in their names.
    """
    if as_csv and as_json:
        raise InputError([Issue("bad-usage", "--csv and --json exclude each other")])
    from solver.catalog.load import load_catalog
    from solver.catalog_view.listing import kind_of, list_entries
    from solver.dates import today

    filters = {
        "gpu": gpu,
        "country": country,
        "region": region,
        "provider": provider,
        "server": server,
        "purchase": purchase,
        "network": network,
        "gpus-per-node": gpus_per_node,
        "kind": of_kind,
        "vendor": vendor,
        "family": family,
        "framework": framework,
    }
    asked = {name: values for name, values in filters.items() if values}
    entries = load_catalog(catalog or ())
    listing = list_entries(
        entries, kind_of(kind), today(), filters=asked, sort=sort, limit=limit
    )
    if as_json:
        from solver.report.as_json import fields_as_json

        rows = list(listing.rows)
        write(fields_as_json({"rows": rows, "total": listing.total}))
    elif as_csv:
        from solver.report.as_csv import rows_as_csv

        write(rows_as_csv(listing.columns, listing.rows))
    else:
        from solver.report.catalog_rows import listing_page

        write_page(listing_page(listing, standard_output().width))
    return 0


@app.command("show", cls=PlainUsage)
def show(
    entry: EntryId,
    kind: ShownKind = None,
    catalog: CatalogFolders = None,
    as_json: AsJson = False,
) -> int:
    """Show one entry: every figure with its unit, source and date.

    With a GPU its servers and cheapest offers are shown, with a server or region the
    offers. If several kinds have an entry of that name, all are shown.
    """
    from solver.catalog.load import load_catalog
    from solver.catalog_view.details import entries_named
    from solver.dates import today

    found = entries_named(load_catalog(catalog or ()), entry, today(), kind=kind)
    if as_json:
        from solver.report.as_json import rows_as_json

        write(rows_as_json(details.as_dict() for details in found))
        return 0
    from solver.report.entry_rows import entry_page

    for position, details in enumerate(found):
        if position:
            write("\n")
        write_page(entry_page(details, standard_output().width))
    return 0


@app.command("check", cls=PlainUsage)
def check(
    folders: Folders = None, max_age: MaxAge = "180 days", as_json: AsJson = False
) -> int:
    """Check that the entries of the catalog fit together, with your folders over it.

    Unknown references, impossible figures, duplicate ids, missing sources and dates
    are errors, and the exit status is 2. Odd prices, old ones and entries that nothing
    uses are warnings.
    """
    from solver.catalog.load import load_catalog
    from solver.catalog_view.checks import check_whole_catalog
    from solver.dates import today

    days = _days(max_age, "--max-age")
    catalog = load_catalog(folders or ())
    report = check_whole_catalog(catalog, today(), days)
    if as_json:
        from solver.report.as_json import check_as_json

        write(check_as_json(report.errors, report.warnings, report.checked))
    else:
        from solver.report.check_rows import check_page

        own = [folder.name for folder in catalog.folders[1:]]
        write_page(check_page(report, own))
    return STATUS_FAULTY if report.errors else 0


def _days(text: str, option: str) -> float:
    """Return a duration in days.

    Raises
    ------
    InputError
        It is none, or negative.
    """
    from solver.units import DAY, QuantityError, parse_duration_s

    try:
        return parse_duration_s(text, "days") / DAY
    except QuantityError as error:
        raise InputError([Issue(error.code, str(error), option)]) from None
