"""Points of a sweep answered; runs in whatever process or thread is a worker."""

from __future__ import annotations

import platform
import time
import traceback
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from solver.errors import InputError
from solver.interruption import gently, is_asked
from solver.languages import ENGLISH, speaking
from solver.plan import Message
from solver.sweeps.points import Point
from solver.sweeps.question import Question
from solver.sweeps.record import Record
from solver.sweeps.sharing import Shared, shared_of

if TYPE_CHECKING:
    from solver.setting import Setting

__all__ = ["HAND_OVER_S", "Answers", "described", "solve_points", "solve_some"]

HAND_OVER_S = 1.0
"""How old an answer may get in a worker before it is handed over to be stored."""


@dataclass(frozen=True)
class Answers:
    """What a worker hands over.

    Parameters
    ----------
    records
        Answers to the first points that it was given; to all, if there was time.
    ended
        Whether it was asked to end, and answers no more.
    """

    records: list[Record]
    ended: bool = False


def solve_points(question: Question, points: tuple[Point, ...]) -> list[Record]:
    """The answers at some points; Ctrl-C leaves out those that there are none of yet.

    An error of one point is kept in its record. What is kept is English, so that a file
    of results is the same whoever goes on with it.

    Raises
    ------
    InputError
        The worker has another version of gpuplan, or another catalog.
    """
    return solve_some(question, points, float("inf")).records


def solve_some(
    question: Question, points: tuple[Point, ...], patience_s: float = HAND_OVER_S
) -> Answers:
    """The answers at the first of some points, one at least, as `solve_points`.

    After ``patience_s`` they are handed over, so that they are stored while others
    are still to come.
    """
    found: list[Record] = []
    end = time.monotonic() + patience_s
    with gently(), speaking(ENGLISH):
        for point in points:
            record = _solve_point(question, point)
            if is_asked():
                return Answers(found, ended=True)
            found.append(record)
            if time.monotonic() > end:
                break
    return Answers(found)


def _solve_point(question: Question, point: Point) -> Record:
    """The answer at one point, or its error."""
    shared = shared_of(question)
    started = time.perf_counter()
    try:
        found = _answered(question, point, shared)
    except InputError as error:
        found = {"status": "error", "error": str(error)}
    except Exception as error:  # a bug of ours must not end the other points
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{last.name}, line {last.lineno}"
        text = f"{type(error).__name__}: {error} ({where})"
        found = {"status": "error", "error": text}
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


def _answered(question: Question, point: Point, shared: Shared) -> dict[str, Any]:
    """Status, plan, proof and reasons at a point."""
    from solver.planning.shortfall import not_offered, shortfall

    setting = shared.setting(question, point)
    if not setting.options:
        return _no_plan(not_offered(setting.option_set.dropped))
    found = _solved(setting)
    if found["status"] == "infeasible":
        return _no_plan(shortfall(setting, setting.scenario.limits.time_s))
    return found


def _solved(setting: Setting) -> dict[str, Any]:
    """The best plan of a setting, verified."""
    from solver.planning.single_job import answer_of
    from solver.sweeps.loosening import shared_best

    started = time.perf_counter()
    best = shared_best(setting)
    if best.row is None:
        return {"status": best.status}
    result = answer_of(setting, best, started, alternatives=0)
    plan = None if result.plan is None else result.plan.as_dict()
    proof = {"bound": result.proof.bound, "gap": result.proof.gap}
    return {"status": result.status, "plan": plan, **proof}


def _no_plan(reasons: tuple[Message, ...]) -> dict[str, Any]:
    """A proved 'no', with its reasons."""
    return {"status": "infeasible", "reasons": tuple(m.as_dict() for m in reasons)}
