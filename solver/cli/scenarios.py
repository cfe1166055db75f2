"""``gpuplan scenarios``: the shipped examples, to run, read and start from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from solver.cli.inputs import AsJson, ScenarioName
from solver.cli.terminal import write, write_page
from solver.cli.usage import PlainUsage

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="List, show and copy the shipped scenarios.",
)

Target = Annotated[
    Path, typer.Argument(metavar="[TARGET]", help="A folder, or the new file.")
]


@app.command("list", cls=PlainUsage)
def list_them(as_json: AsJson = False) -> int:
    """List the shipped scenarios, each with the question that it answers."""
    from solver.scenario.gallery import list_scenarios

    entries = list_scenarios()
    if as_json:
        from solver.report.as_json import rows_as_json

        write(rows_as_json(entry.as_dict() for entry in entries))
        return 0
    from solver.report.gallery_rows import gallery_page

    write_page(gallery_page((entry.name, entry.question) for entry in entries))
    return 0


@app.command("show", cls=PlainUsage)
def show(scenario: ScenarioName, as_json: AsJson = False) -> int:
    """Print a scenario file."""
    from solver.scenario.gallery import show_scenario

    text = show_scenario(scenario)
    if as_json:
        from solver.report.as_json import object_as_json

        text = object_as_json("scenario", {"name": scenario, "text": text})
    write(text)
    return 0


@app.command("copy", cls=PlainUsage)
def copy(
    scenario: ScenarioName, target: Target = Path(), as_json: AsJson = False
) -> int:
    """Copy a shipped scenario, to start from. Nothing is overwritten."""
    from solver.scenario.gallery import copy_scenario

    files = copy_scenario(scenario, target)
    if as_json:
        from solver.report.as_json import rows_as_json

        write(rows_as_json({"file": str(file)} for file in files))
    else:
        write("".join(f"{file}\n" for file in files))
    return 0


@app.command("schema", cls=PlainUsage)
def schema() -> int:
    """Print the JSON Schema of scenario files, for editors."""
    import json

    from solver.scenario.gallery import scenario_schema

    write(json.dumps(scenario_schema(), indent=2) + "\n")
    return 0
