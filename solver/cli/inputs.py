"""Options that several commands share, and reading a scenario by them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from solver.errors import InputError, Issue, nearest, shown

if TYPE_CHECKING:
    from solver.catalog.load import Catalog
    from solver.scenario.scenario import Scenario

__all__ = [
    "AsJson",
    "CatalogFolders",
    "OfferTables",
    "OnlyThese",
    "Overrides",
    "PlanName",
    "Quiet",
    "ScenarioName",
    "one_phase",
    "read_inputs",
    "read_scenario",
]

ScenarioName = Annotated[
    str,
    typer.Argument(
        metavar="SCENARIO",
        show_default=False,
        help="A scenario file, or the name of a shipped one.",
    ),
]
CatalogFolders = Annotated[
    list[Path] | None,
    typer.Option(
        "--catalog",
        metavar="DIR",
        show_default=False,
        help="A catalog folder read over the shipped one. May be repeated.",
    ),
]
Overrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        show_default=False,
        help="Override a key: constraints.deadline='20 days'. May be repeated.",
    ),
]
OfferTables = Annotated[
    list[Path] | None,
    typer.Option(
        "--offers",
        metavar="FILE.csv",
        show_default=False,
        help="Offers of your own, on top ('catalog template offers'). May be repeated.",
    ),
]
OnlyThese = Annotated[
    bool,
    typer.Option("--only", help="Use the offers of --offers alone."),
]
AsJson = Annotated[
    bool,
    typer.Option("--json", help="Print one JSON object and nothing else."),
]

PlanName = Annotated[
    Path,
    typer.Argument(
        metavar="PLAN.json",
        show_default=False,
        help="What 'gpuplan solve --json' printed.",
    ),
]
Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet", "-q", help="Print less: no progress, of an answer only the decision."
    ),
]


def read_inputs(
    name: str,
    folders: Sequence[Path] | None,
    overrides: Sequence[str] | None,
    options: Mapping[str, tuple[str, Any]] | None = None,
    *,
    offers: Sequence[Path] | None = None,
    only: bool = False,
    faults: Sequence[Issue] = (),
    phased: bool = False,
) -> tuple[Scenario, Catalog]:
    """Return the scenario and the catalog that a command is about.

    Parameters
    ----------
    name
        Path or name of the scenario.
    folders
        Catalog folders over the shipped one, lowest precedence first.
    overrides
        ``--set`` as typed.
    options
        Option name to the key that it stands for and its value; None values are left
        out.
    offers
        Tables of offers beside those of the scenario.
    only
        Whether these are all that may be chosen.
    faults
        What is wrong with other options, told with the rest.
    phased
        Whether the command can answer a scenario of several phases.

    Raises
    ------
    InputError
        These, every fault of the scenario and of the user's catalog folders; a fault of
        an option's value is told under the option's name.
    """
    from solver.catalog.consistency import faults_of
    from solver.catalog.load import load_catalog

    if only and not offers:
        message = "--only needs --offers FILE.csv"
        raise InputError([*faults, Issue("bad-usage", message)])
    catalog = load_catalog(folders or ())
    faults = [*faults, *faults_of(catalog)]
    try:
        scenario = read_scenario(
            name, catalog, overrides, options, offers=offers, only=only, phased=phased
        )
    except InputError as error:
        raise InputError([*faults, *error.issues]) from None
    if faults:
        raise InputError(faults)
    return scenario, catalog


def read_scenario(
    name: str,
    catalog: Catalog,
    overrides: Sequence[str] | None,
    options: Mapping[str, tuple[str, Any]] | None = None,
    *,
    offers: Sequence[Path] | None = None,
    only: bool = False,
    phased: bool = False,
) -> Scenario:
    """Return the scenario that a command is about; as `read_inputs`.

    Raises
    ------
    InputError
        Every fault of the scenario.
    """
    from solver.scenario.added_offers import AddedOffers
    from solver.scenario.load import load_scenario

    added = AddedOffers(tuple(offers or ()), only)
    typed = list(overrides or ())
    given = {o: kv for o, kv in (options or {}).items() if kv[1] is not None}
    places = {
        f"--set #{number}": option
        for number, option in enumerate(given, start=len(typed) + 1)
    }
    try:
        scenario = load_scenario(name, catalog, [*typed, *given.values()], added=added)
    except InputError as error:
        raise InputError(_placed(error.issues, places)) from None
    if scenario.phases and not phased:
        raise InputError([_no_phases(scenario)])
    return scenario


def one_phase(scenario: Scenario, name: str | None) -> Scenario:
    """Return the phase of that name as a scenario, or a scenario without phases.

    Raises
    ------
    InputError
        There is no such phase, or there are phases and none is named.
    """
    names = [phase.name for phase in scenario.phases]
    listed = ", ".join(names)
    if name is None and names:
        message = f"the scenario has phases; name one with --phase: {listed}"
        raise InputError([Issue("bad-usage", message)])
    if name is None:
        return scenario
    for phase in scenario.phases:
        if phase.name == name:
            return phase.scenario
    message = f"there is no phase {shown(name)}"
    message += f"; there are {listed}" if names else ": the scenario has no phases"
    hint = nearest(name, names)
    raise InputError([Issue("unknown-name", message, "--phase", None, hint)])


def _no_phases(scenario: Scenario) -> Issue:
    """Return that a command answers one job alone."""
    message = (
        "this command answers scenarios of one job, and this one has phases; "
        "'solve' plans phases, 'estimate --phase NAME' shows one"
    )
    return Issue("bad-usage", message, scenario.file, "phases")


def _placed(issues: Iterable[Issue], places: Mapping[str, str]) -> list[Issue]:
    """Return issues with the places of overrides called as the user typed them."""
    return [
        replace(issue, where=places.get(issue.where or "", issue.where))
        for issue in issues
    ]
