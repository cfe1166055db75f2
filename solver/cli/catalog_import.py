"""``gpuplan catalog import``: other tools' price lists and model files as entries."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from solver.cli.inputs import AsJson
from solver.cli.terminal import write, write_page
from solver.cli.usage import PlainUsage

if TYPE_CHECKING:
    from solver.importing.models import ModelImport
    from solver.importing.prices import PriceImport

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Take over other tools' price lists, and model files, into a catalog folder.",
)

Files = Annotated[
    list[Path],
    typer.Argument(metavar="FILE...", show_default=False, help="The tool's files."),
]
Config = Annotated[
    Path,
    typer.Argument(
        metavar="CONFIG.json", show_default=False, help="The file, or its folder."
    ),
]
ModelName = Annotated[
    str | None,
    typer.Option(
        "--name",
        metavar="ID",
        show_default=False,
        help="Id of the entry. Default: as the model or its folder is called.",
    ),
]
Out = Annotated[
    Path,
    typer.Option(
        "--out",
        metavar="DIR",
        show_default=False,
        help="The catalog folder to write, for --catalog DIR.",
    ),
]
Update = Annotated[
    bool,
    typer.Option(
        "--update",
        help="DIR may exist: what is imported is replaced in it, the rest stays.",
    ),
]
Provider = Annotated[
    str | None,
    typer.Option(
        "--provider",
        metavar="NAME",
        show_default=False,
        help="Whose prices these are. Default: as the file or its folder is called.",
    ),
]
SourceText = Annotated[
    str | None,
    typer.Option(
        "--source",
        metavar="TEXT",
        show_default=False,
        help="Where the figures come from. Default: tool, file and digest.",
    ),
]
AsOf = Annotated[
    str | None,
    typer.Option(
        "--as-of",
        metavar="DATE",
        show_default=False,
        help="Date of the figures, such as 2026-10. Default: the file's own.",
    ),
]


@app.command("skypilot", cls=PlainUsage)
def skypilot(
    files: Files,
    out: Out,
    update: Update = False,
    provider: Provider = None,
    source: SourceText = None,
    as_of: AsOf = None,
    as_json: AsJson = False,
) -> int:
    """Read SkyPilot's catalogs, CLOUD/vms.csv.

    Google's hosts and GPUs, which are listed apart, are joined within a region. Zones
    fold into their region at the lowest price. What cannot be taken over is told.
    """
    return _prices("skypilot", files, out, update, provider, source, as_of, as_json)


@app.command("gpuhunt", cls=PlainUsage)
def gpuhunt(
    files: Files,
    out: Out,
    update: Update = False,
    provider: Provider = None,
    source: SourceText = None,
    as_of: AsOf = None,
    as_json: AsJson = False,
) -> int:
    """Read gpuhunt's catalogs, PROVIDER.csv, as dstack uses them.

    Zones fold into their region at the lowest price. What cannot be taken over is told.
    """
    return _prices("gpuhunt", files, out, update, provider, source, as_of, as_json)


@app.command("vantage", cls=PlainUsage)
def vantage(
    files: Files,
    out: Out,
    update: Update = False,
    provider: Provider = None,
    source: SourceText = None,
    as_of: AsOf = None,
    as_json: AsJson = False,
) -> int:
    """Read ec2instances.info's instances.json: AWS, the prices of Linux.

    Spot is the lowest of a region's zones. What cannot be taken over is told.
    """
    return _prices("vantage", files, out, update, provider, source, as_of, as_json)


@app.command("hf", cls=PlainUsage)
def hf(
    config: Config,
    out: Out,
    name: ModelName = None,
    update: Update = False,
    source: SourceText = None,
    as_of: AsOf = None,
    as_json: AsJson = False,
) -> int:
    """Read a Hugging Face config.json into an architecture entry.

    DIR may exist. Then 'model: NAME' in a scenario names it, with --catalog DIR.
    """
    from solver.importing.models import import_model
    from solver.importing.prices import ImportOptions

    options = ImportOptions(source=source, as_of=as_of, update=update)
    done = import_model(config, out, name, options)
    if as_json:
        return _as_json(done)
    from solver.report.import_rows import model_page

    write_page(model_page(done))
    return 0


def _prices(
    tool: str,
    files: list[Path],
    out: Path,
    update: bool,
    provider: str | None,
    source: str | None,
    as_of: str | None,
    as_json: bool,
) -> int:
    """Import the prices of a tool's files and tell what was done."""
    from solver.importing.prices import ImportOptions, import_prices

    options = ImportOptions(provider, source, as_of, update)
    done = import_prices(tool, files, out, options)
    if as_json:
        return _as_json(done)
    from solver.report.import_rows import import_page

    write_page(import_page(done))
    return 0


def _as_json(done: ModelImport | PriceImport) -> int:
    """Print what was imported as one object."""
    from solver.report.as_json import object_as_json

    write(object_as_json("import", done.as_dict()))
    return 0
