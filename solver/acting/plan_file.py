"""A plan as ``gpuplan solve --json`` wrote it, read back with what was asked.

The scenario is read again from the file, so that what acts on a plan knows the model,
the work and the limits, and needs no other file. The catalog may have changed since:
that is told, and is no fault.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from solver import __version__, dates
from solver.acting.plan_trust import Unfit, in_our_words, told, unfit_parts
from solver.acting.request import Request
from solver.catalog.digest import catalog_digest
from solver.catalog.load import load_catalog
from solver.errors import InputError, Issue, shown
from solver.files import is_file
from solver.plan import SCHEMA_VERSION, Lease, Message, Move, PhasePlan, Plan, Total
from solver.resources import shipped_catalog
from solver.scenario.json_files import read_json
from solver.scenario.json_places import KeyPlaces
from solver.scenario.load import resolve_scenario
from solver.yaml_source import DataPath, Source, dotted

if TYPE_CHECKING:
    from solver.catalog.load import Catalog
    from solver.scenario.scenario import Scenario

__all__ = ["PlanFile", "PlannedJob", "read_plan"]

T = TypeVar("T")

REQUEST: DataPath = ("request", "scenario")
DAY = "2027-03-31"


class _Place(NamedTuple):
    """A file and where its keys stand."""

    name: str
    places: KeyPlaces


@dataclass(frozen=True, slots=True)
class PlannedJob:
    """One job of a plan: all of it, or one phase of a chain.

    ``phase`` is the phase's name, empty for a scenario of one job; ``start_day`` and
    ``end_day`` are expected days from day 0, the waits before the first step included.
    """

    phase: str
    plan: Plan
    scenario: Scenario
    start_day: float
    end_day: float


@dataclass(frozen=True, slots=True)
class PlanFile:
    """A plan that was read, and what it answers.

    Parameters
    ----------
    name
        The file, as the user gave it.
    data
        The JSON object.
    jobs
        One, or one a phase in their order.
    leases, moves
        Of a chain of phases; else empty.
    scenario
        What was asked, as of the day on which it was.
    catalog
        As it is now.
    notices
        What differs from when the plan was made.
    """

    name: str
    data: dict[str, Any]
    jobs: tuple[PlannedJob, ...]
    leases: tuple[Lease, ...]
    moves: tuple[Move, ...]
    scenario: Scenario
    catalog: Catalog
    notices: tuple[Message, ...]

    @property
    def day(self) -> date:
        """Day 0 of the plan."""
        return self.scenario.start_date


def read_plan(path: Path) -> PlanFile:
    """Return the plan of a file.

    Parameters
    ----------
    path
        What ``gpuplan solve --json`` printed.

    Raises
    ------
    InputError
        It cannot be read, is no plan of this version's contract, holds no plan, or what
        was asked is faulty; all faults at once.
    """
    name = str(path)
    if not is_file(path) and not path.exists():
        message = f"there is no file {shown(name)}"
        raise InputError([Issue("file-not-found", message)])
    data, places = read_json(path, name)
    _check_kind(data, name)
    request = _request(data, name, places)
    catalog = _catalog(request)
    scenario = _scenario(request, catalog, name, places)
    jobs = _jobs(data, scenario, name, places)
    at = _Place(name, places)
    leases, moves = _chain(data, scenario, at)
    _refuse_unfit(jobs, at)
    notices = _notices(data, catalog)
    file = PlanFile(name, data, jobs, leases, moves, scenario, catalog, notices)
    if not notices:
        _refuse_changed(file, at)
    return file


def _refuse_unfit(jobs: tuple[PlannedJob, ...], at: _Place) -> None:
    """Refuse plans with figures that none can have.

    Raises
    ------
    InputError
        Every such figure.
    """
    issues = []
    for number, job in enumerate(jobs):
        above: DataPath = ("phases", number, "plan") if job.phase else ("plan",)
        issues += [
            _issue(unfit._replace(path=(*above, *unfit.path)), at)
            for unfit in unfit_parts(job.plan)
        ]
    if issues:
        raise InputError(issues)


def _refuse_changed(file: PlanFile, at: _Place) -> None:
    """Refuse a plan that does not follow from its decisions, as none of ours does.

    Only a plan of this version and catalog can be held to that.

    Raises
    ------
    InputError
        Each promise that it does not keep.
    """
    from solver.verify import verify
    from solver.verify.chain import verify_chain

    if file.scenario.phases:
        total = _validated(Total, file.data.get("total"), ("total",), at)
        phases = _validated(list[PhasePlan], file.data["phases"], ("phases",), at)
        broken = verify_chain(
            phases, file.leases, file.moves, total, file.scenario, file.catalog
        )
    else:
        (job,) = file.jobs
        broken = verify(job.plan, job.scenario, file.catalog)
    if broken:
        where = at.places.where(at.name, ("plan",))
        raise InputError([Issue("plan-changed", told(v), where) for v in broken])


def _check_kind(data: dict[str, Any], name: str) -> None:
    """Refuse JSON that is not the answer of ``solve``, or that has no plan."""
    expected = "expected what 'gpuplan solve --json' printed"
    if data.get("ok") is not True or "plan" not in data or "proof" not in data:
        hint = "; this has errors in it" if data.get("ok") is False else ""
        raise InputError([Issue("not-a-plan", f"{expected}{hint}", name)])
    version = data.get("schema_version")
    if version != SCHEMA_VERSION:
        message = f"expected schema_version {SCHEMA_VERSION}, not {shown(version)}"
        raise InputError([Issue("not-a-plan", message, name, "schema_version")])
    if data["plan"] is None and not data.get("phases"):
        message = f"there is no plan in it: its status is {shown(data.get('status'))}"
        raise InputError([Issue("not-a-plan", message, name, "plan")])


def _request(data: dict[str, Any], name: str, places: KeyPlaces) -> Request:
    """Return what was asked.

    Raises
    ------
    InputError
        The file does not say, as plans of older versions did not.
    """
    request = data.get("request")
    if request is None:
        message = "the plan does not say what was asked: solve the scenario again"
        raise InputError([Issue("not-a-plan", message, name, "request")])
    checked = _validated(Request, request, ("request",), _Place(name, places))
    if dates.first_day(checked.day) is None or len(checked.day) != len(DAY):
        message = f"expected a date such as {DAY}, not {shown(checked.day)}"
        where = places.where(name, ("request", "day"))
        raise InputError([Issue("wrong-value", message, where, "request.day")])
    return checked


def _catalog(request: Request) -> Catalog:
    """Return the catalog of the folders that the plan was made with, as it is now."""
    folders = [Path(folder) for folder in request.catalog.folders]
    return load_catalog([shipped_catalog(), *folders], shipped=False)


def _scenario(
    request: Request, catalog: Catalog, name: str, places: KeyPlaces
) -> Scenario:
    """Return what was asked, read again as of its day."""
    depth = len(REQUEST)
    marks = {p[depth:]: m for p, m in places.marks.items() if p[:depth] == REQUEST}
    source = Source(name, request.scenario, marks, marks)
    return resolve_scenario(source, catalog, today=date.fromisoformat(request.day))


def _jobs(
    data: dict[str, Any], scenario: Scenario, name: str, places: KeyPlaces
) -> tuple[PlannedJob, ...]:
    """Return the job of a plan, or the jobs of its phases.

    Raises
    ------
    InputError
        Every part of a plan that is missing or of another type.
    """
    at = _Place(name, places)
    if not scenario.phases:
        plan = _validated(Plan, data["plan"], ("plan",), at)
        return (PlannedJob("", plan, scenario, 0.0, plan.duration_days),)
    found = _validated(list[PhasePlan], data["phases"], ("phases",), at)
    names = [phase.name for phase in scenario.phases]
    if [phase.name for phase in found] != names:
        message = f"expected the phases asked for: {', '.join(names)}"
        raise InputError([Issue("not-a-plan", message, name, "phases")])
    return tuple(
        PlannedJob(one.name, one.plan, asked.scenario, one.start_day, one.end_day)
        for one, asked in zip(found, scenario.phases, strict=True)
    )


def _chain(
    data: dict[str, Any], scenario: Scenario, at: _Place
) -> tuple[tuple[Lease, ...], tuple[Move, ...]]:
    """Return what the phases are rented by, and what moves between; else nothing.

    Raises
    ------
    InputError
        A part of them is missing or of another type, or leases do not cover the phases.
    """
    if not scenario.phases:
        return (), ()
    leases = _validated(tuple[Lease, ...], data.get("leases"), ("leases",), at)
    moves = _validated(tuple[Move, ...], data.get("moves"), ("moves",), at)
    covered = [name for lease in leases for name in lease.phases]
    if covered != [phase.name for phase in scenario.phases]:
        message = "expected leases that run each phase once"
        raise InputError([Issue("not-a-plan", message, at.name, "leases")])
    return leases, moves


def _validated(kind: type[T], written: Any, path: DataPath, at: _Place) -> T:
    """Return a part of the file as the record that it is.

    Raises
    ------
    InputError
        Every part of it that is missing or of another type.
    """
    from pydantic import TypeAdapter, ValidationError

    try:
        return TypeAdapter(kind).validate_python(written)
    except ValidationError as error:
        faults = error.errors(include_url=False)
    raise InputError([_issue(in_our_words(fault, path), at) for fault in faults])


def _issue(unfit: Unfit, at: _Place) -> Issue:
    """Return a fault with its place."""
    where = at.places.where(at.name, unfit.path)
    return Issue(unfit.code, unfit.message, where, dotted(unfit.path), unfit.hint)


def _notices(data: dict[str, Any], catalog: Catalog) -> tuple[Message, ...]:
    """Return what differs from when the plan was made: the version, the catalog."""
    notices = []
    versions = data.get("versions")
    made = str(versions.get("gpuplan") if isinstance(versions, dict) else versions)
    if made != __version__:
        notices.append(Message.of("notice.plan.version", made=made, now=__version__))
    if catalog_digest(catalog) != data["request"]["catalog"]["digest"]:
        notices.append(Message.of("notice.plan.catalog"))
    return tuple(notices)
