"""One point of a sweep answered; runs in whatever process or thread is a worker.

A worker keeps what points have in common: the catalog under each overlay, and lattices
of layouts with their memory and step times, which prices, deadlines, budgets and
regions have no part in.
"""

from __future__ import annotations

import platform
import threading
import time
import traceback
from collections import OrderedDict
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from solver import __version__
from solver.errors import InputError, Issue
from solver.interruption import gently, is_asked
from solver.layout_space import LatticeStore
from solver.plan import Message
from solver.sweeps.offers import catalog_under, changed, folders_of
from solver.sweeps.points import Point
from solver.sweeps.question import Question, catalog_digest, scenario_at
from solver.sweeps.record import Record

if TYPE_CHECKING:
    from solver.catalog.load import Catalog
    from solver.scenario.scenario import Scenario
    from solver.setting import Setting

__all__ = ["physics_key", "solve_point"]

COMMERCIAL = (
    "constraints.deadline",
    "constraints.budget",
    "constraints.regions",
    "constraints.countries",
    "constraints.providers",
    "constraints.purchase",
    "constraints.confidence",
    "constraints.max_energy",
    "constraints.max_carbon",
    "constraints.min_tokens_per_s",
    "data.location",
    "data.residency",
    "failures",
    "limits",
    "objective",
    "overheads",
    "price_factor",
    "prices",
    "serving",
    "stock",
)
"""Keys that layouts, their memory and their step times do not depend on."""

MOST_SHARED = 3
"""Kinds of physics whose layouts a worker keeps."""


@dataclass
class _Shared:
    """What a worker keeps between the points of one question."""

    key: str
    catalogs: dict[tuple[str, ...], Catalog] = field(default_factory=dict)
    stores: OrderedDict[Any, LatticeStore] = field(default_factory=OrderedDict)

    def catalog(self, folders: tuple[str, ...], question: Question) -> Catalog:
        """The catalog under some folders, held against that of the question."""
        if folders not in self.catalogs:
            loaded = catalog_under(folders)
            if folders == question.folders:
                _check_same(question, loaded)
            self.catalogs[folders] = loaded
        return self.catalogs[folders]

    def store(self, key: Any) -> LatticeStore:
        """The layouts of a kind of physics; those used longest ago are given up."""
        store = self.stores.pop(key, None) or LatticeStore()
        self.stores[key] = store
        while len(self.stores) > MOST_SHARED:
            self.stores.popitem(last=False)
        return store


_KEPT = threading.local()
"""Each thread has its own: catalogs and lattices are filled as they are used."""


def physics_key(point: Point) -> tuple[Any, ...]:
    """What points have to have in common for their layouts to be the same."""
    touching = (
        (key, repr(value))
        for key, value in sorted(point.values.items())
        if not key.startswith(COMMERCIAL)
    )
    return (point.overlay.folder, *touching)


def solve_point(question: Question, point: Point) -> Record | None:
    """The answer at a point; None: Ctrl-C came before there was one.

    An error of one point is kept in its record.

    Raises
    ------
    InputError
        The worker has another version of gpuplan, or another catalog.
    """
    shared = _shared(question)
    folders = folders_of(point.overlay, question.folders)
    shared.catalog(question.folders, question)
    catalog = shared.catalog(folders, question)
    started = time.perf_counter()
    with gently():
        try:
            found = _answered(
                question, point, catalog, shared.store(physics_key(point))
            )
        except InputError as error:
            found = {"status": "error", "error": str(error)}
        except Exception as error:  # a bug of ours must not end the other points
            last = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{last.name}, line {last.lineno}"
            text = f"{type(error).__name__}: {error} ({where})"
            found = {"status": "error", "error": text}
        if is_asked():
            return None
    return Record(
        **described(question, point),
        **found,
        wall_s=time.perf_counter() - started,
        host=platform.node(),
        solved_at=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def described(question: Question, point: Point) -> dict[str, Any]:
    """What a record says of its point, whatever the answer."""
    return {
        "id": point.id,
        "number": point.number,
        "inputs": dict(point.values),
        "overlay": point.overlay.name,
        "draw": point.draw,
        "version": question.version,
        "catalog": question.catalog,
        "sweep": question.sweep,
    }


def _shared(question: Question) -> _Shared:
    """What this worker keeps for a question; for another one it starts anew."""
    kept: _Shared | None = getattr(_KEPT, "shared", None)
    if kept is None or kept.key != question.key:
        if question.version != __version__:
            raise _mismatch(f"gpuplan {__version__}, not {question.version}")
        kept = _KEPT.shared = _Shared(question.key)
    return kept


def _check_same(question: Question, catalog: Catalog) -> None:
    """Refuse to answer from another catalog than the one that was asked about."""
    if catalog_digest(catalog) != question.catalog:
        raise _mismatch("another catalog")


def _mismatch(what: str) -> InputError:
    message = f"the worker on {platform.node()} has {what}; results would be mixed"
    return InputError([Issue("results-mixed", message)])


def _answered(
    question: Question, point: Point, catalog: Catalog, store: LatticeStore
) -> dict[str, Any]:
    """Status, plan, proof and reasons at a point."""
    from solver.planning.shortfall import not_offered, shortfall
    from solver.setting import setting_of

    scenario, offered = changed(
        scenario_at(question, point, catalog),
        catalog,
        point.overlay,
        point.price_factor,
    )
    setting = setting_of(scenario, offered, store)
    if not setting.options:
        return _no_plan(not_offered(setting.option_set.dropped))
    found = _solved(setting, scenario)
    if found["status"] == "infeasible":
        return _no_plan(shortfall(setting, scenario.limits.time_s))
    return found


def _solved(setting: Setting, scenario: Scenario) -> dict[str, Any]:
    """The best plan of a setting, verified."""
    from solver.planning.comparing import SLACK
    from solver.planning.single_job import answer_of, best_of

    started = time.perf_counter()
    best = best_of(setting, SLACK, scenario.limits.time_s)
    if best.row is None:
        return {"status": best.status}
    result = answer_of(setting, best, started, alternatives=0)
    plan = None if result.plan is None else result.plan.as_dict()
    proof = {"bound": result.proof.bound, "gap": result.proof.gap}
    return {"status": result.status, "plan": plan, **proof}


def _no_plan(reasons: tuple[Message, ...]) -> dict[str, Any]:
    """A proved 'no', with its reasons."""
    return {"status": "infeasible", "reasons": tuple(m.as_dict() for m in reasons)}
