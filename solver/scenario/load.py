"""From a scenario file or the name of a shipped one to a `Scenario`.

::

    file -> yaml_source -> overrides -> schema (faults) -> names, units -> consistency

Every fault is collected on the way and all are told at once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import date
from importlib.resources.abc import Traversable
from pathlib import Path

from solver import dates
from solver.catalog.load import Catalog
from solver.catalog.schema import Architecture
from solver.errors import InputError, InternalError, shown_path
from solver.files import is_file
from solver.scenario.added_offers import AddedOffers, add_offers
from solver.scenario.architecture import resolve_model
from solver.scenario.consistency import check_all
from solver.scenario.constraints import resolve_constraints
from solver.scenario.csv_offers import read_offers
from solver.scenario.document import standalone
from solver.scenario.failures import resolve_failures
from solver.scenario.faults import read_file
from solver.scenario.gallery import find_scenario
from solver.scenario.overrides import (
    Override,
    ScenarioSource,
    apply_overrides,
    scenario_source,
)
from solver.scenario.own_offers import resolve_offers
from solver.scenario.phases import has_phases, resolve_phases
from solver.scenario.places import resolve_serving
from solver.scenario.prices import resolve_prices
from solver.scenario.quotas import resolve_quotas
from solver.scenario.reading import Reading
from solver.scenario.scenario import Limits, Objective, Overheads, Scenario
from solver.scenario.schema import ObjectiveSpec, ScenarioFile
from solver.scenario.workload import resolve_data, resolve_workload
from solver.yaml_source import Source

__all__ = ["load_scenario", "resolve_scenario"]


def load_scenario(
    path_or_name: str | Path,
    catalog: Catalog,
    overrides: Iterable[Override] = (),
    today: date | None = None,
    added: AddedOffers | None = None,
) -> Scenario:
    """Return a scenario, read, checked and with its names resolved.

    Parameters
    ----------
    path_or_name
        A YAML file, or the name of a shipped scenario.
    catalog
        What names are looked up in.
    overrides
        ``key=value`` pairs that are set before anything is checked.
    today
        Day 0 of the plan; by default the current day.
    added
        Offers beside those of the scenario.

    Raises
    ------
    InputError
        Everything that is wrong with it.
    """
    found = find_scenario(path_or_name)
    return resolve_scenario(
        found.source(),
        catalog,
        overrides,
        today,
        base=found.folder,
        stem=found.stem,
        added=added,
    )


def resolve_scenario(
    source: Source,
    catalog: Catalog,
    overrides: Iterable[Override] = (),
    today: date | None = None,
    *,
    base: Traversable | Path | None = None,
    stem: str | None = None,
    added: AddedOffers | None = None,
) -> Scenario:
    """Return a scenario from the data of its file.

    Parameters
    ----------
    source
        The file's data.
    catalog, overrides, today, added
        As for `load_scenario`.
    base
        Folder that the files it names are relative to.
    stem
        Its name if it states none.

    Raises
    ------
    InputError
        Everything that is wrong with it.
    """
    today = dates.today() if today is None else today
    reading = Reading(scenario_source(source), catalog, today)
    _attach_offers(reading, base)
    add_offers(reading, added or AddedOffers())
    apply_overrides(reading.source, overrides, reading.log)
    _attach_offers(reading, base)
    scenario = _resolve(reading, base, stem)
    reading.raise_if_faulty()
    if scenario is None:
        raise InternalError("there is no scenario, but no fault was logged")
    document = standalone(reading.source.data, scenario, stem)
    return replace(scenario, document=document)


def _resolve(
    reading: Reading, base: Traversable | Path | None, stem: str | None
) -> Scenario | None:
    """Return the scenario of a reading; None after logging faults."""
    file = read_file(reading)
    if has_phases(reading):
        return resolve_phases(reading, lambda phase: _resolve(phase, base, stem))
    architecture = resolve_model(file, base, reading)
    reading.supply = resolve_offers(file, reading)
    workload = resolve_workload(file, architecture, reading, base)
    data = resolve_data(file, workload, reading)
    constraints = resolve_constraints(file, reading.supply, reading)
    prices = resolve_prices(file, reading)
    quotas = resolve_quotas(file, reading)
    serving = resolve_serving(file.serving, reading)
    failures = resolve_failures(file, reading)
    check_all(file, architecture, workload, reading)
    if reading.log:
        return None
    return Scenario(
        name=file.name or stem or reading.source.source.name,
        file=reading.source.source.name,
        architecture=_known(architecture),
        workload=workload,
        data=data,
        objective=_objective(file),
        constraints=constraints,
        stock_unknown_nodes=file.stock.unknown_nodes,
        stock_stated="stock" in constraints.stated,
        overheads=Overheads(
            setup_s=file.overheads.setup,
            queue_s=file.overheads.queue,
            evaluation_fraction=file.overheads.evaluation,
        ),
        prices=prices,
        supply=reading.supply,
        limits=Limits(
            time_s=file.limits.time,
            gap=file.limits.gap,
            workers=file.limits.workers,
            seed=file.limits.seed,
            price_age_s=file.limits.price_age,
        ),
        start_date=reading.today,
        quotas=quotas,
        serving=serving,
        failures=failures,
        notices=tuple(reading.notices),
    )


def _attach_offers(reading: Reading, base: Traversable | Path | None) -> None:
    """Read the table that ``offers`` names, if it names one."""
    source: ScenarioSource = reading.source
    written = source.data.get("offers")
    if not isinstance(written, str) or not written.strip():
        return
    path = ("offers",)
    file = (base or Path()) / written.strip()
    if not is_file(file):
        named = shown_path(file)
        message = f"expected a list of offers or a CSV file; no such file: {named}"
        reading.fault("file-not-found", message, path)
    else:
        try:
            table = read_offers(file, written.strip())
        except InputError as error:
            reading.log.extend(error.issues)
        else:
            source.attach(path, table, table.data["offers"])
            return
    reading.broken.add(path)
    source.data.pop("offers", None)


def _known(architecture: Architecture | None) -> Architecture:
    """Return the architecture, which is only missing where a fault says why."""
    if architecture is None:
        raise InternalError("the model is missing, but no fault was logged")
    return architecture


def _objective(file: ScenarioFile) -> Objective:
    """Return the objective; an empty list is as good as none."""
    written = file.objective
    if isinstance(written, ObjectiveSpec):
        return Objective(
            "weighted", written.cost, written.usd_per_day, written.usd_per_tonne_co2
        )
    first, *then = (written,) if isinstance(written, str) else written or ("cost",)
    return Objective(first, then=tuple(then))
