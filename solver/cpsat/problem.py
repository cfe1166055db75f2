"""The placement problem: which candidate each job runs."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from ortools.sat.python import cp_model

from solver.cpsat import search
from solver.cpsat.chain import Chain, Links, add_shared_bound
from solver.cpsat.constraints import (
    ADD_RULE,
    add_exactly_one_candidate,
    add_requirement,
)
from solver.cpsat.export import model_text
from solver.cpsat.objective import LexicographicObjective
from solver.cpsat.outcome import ProgressCallback, SolveOutcome, relative_gap
from solver.cpsat.search import Search
from solver.cpsat.table import (
    JobTable,
    Objective,
    Requirement,
    SharedBound,
    SolveLimits,
)
from solver.cpsat.variables import Variables
from solver.errors import InputError, InternalError, Issue


class PlacementProblem:
    """Chooses one candidate for each job, lexicographically best.

    One model serves one job and several. ``model`` and ``variables`` are public: add a
    row on a named variable and solve again.

    Parameters
    ----------
    jobs
        One table a job, with distinct names.
    requirements
        Limits; each holds for every job, or for the job that it names.
    objective
        Levels, minimised one after the other; canonical rank comes last by itself.
    hint
        A good row for each job to start from.
    channels
        Which named variables to build at once; see `Variables`.
    links
        Jobs are run one after the other in the order given: what joins them.
    shared
        Limits of all jobs together.
    """

    def __init__(
        self,
        jobs: Sequence[JobTable],
        requirements: Sequence[Requirement],
        objective: Objective,
        *,
        hint: Sequence[int] | None = None,
        channels: Collection[str] | None = None,
        links: Links | None = None,
        shared: Sequence[SharedBound] = (),
    ) -> None:
        self.jobs = tuple(jobs)
        self.requirements = tuple(requirements)
        self._check()
        self.model = cp_model.CpModel()
        self.variables = Variables(self.model, self.jobs, channels)
        self.constraints = self._add_constraints()
        self.chain = None if links is None else Chain(self.variables, links)
        for bound in shared:
            rows = add_shared_bound(self.variables, self.chain, bound)
            self.constraints.setdefault(bound.rule, []).extend(rows)
        self.objective = LexicographicObjective(self.variables, objective, self.chain)
        if hint is not None:
            self.variables.hint(hint)
        self._hint = None if hint is None else tuple(hint)

    def solve(
        self,
        limits: SolveLimits | None = None,
        on_progress: ProgressCallback | None = None,
    ) -> SolveOutcome:
        """Solve level after level and return the chosen rows.

        The model is left as it was. Ctrl-C ends the search and keeps the best rows.

        Parameters
        ----------
        limits
            Time, gap, workers and seed; by default no limit, one worker.
        on_progress
            Called at each better solution.
        """
        limits = limits or SolveLimits()
        started = time.perf_counter()
        with self.objective.restored():
            outcome = self._solve_levels(limits, on_progress, started)
        if self._hint is None:
            self.model.clear_hints()
        else:
            self.variables.hint(self._hint)
        return replace(outcome, wall_time_s=time.perf_counter() - started)

    def export(self, path: Path, header: Iterable[str] = ()) -> None:
        """Write the model as text: comments, variables, rows, the first level.

        Parameters
        ----------
        path
            File to write, UTF-8.
        header
            Comment lines in front, such as where the candidates come from and whether
            they were pruned, which decides what the model may be asked.

        Raises
        ------
        InputError
            The file cannot be written.
        """
        lines = [*header, *self._legend()]
        try:
            path.write_text(model_text(self.model, lines), encoding="utf-8")
        except OSError as error:
            message = f"the model cannot be written: {error.strerror or error}"
            raise InputError([Issue("output-unwritable", message, str(path))]) from None

    def _check(self) -> None:
        """Refuse jobs of the same name and requirements of unknown jobs."""
        names = [table.name for table in self.jobs]
        if not names or len(set(names)) != len(names):
            raise InternalError(f"a problem needs distinct jobs, not {names}")
        for requirement in self.requirements:
            if requirement.job is not None and requirement.job not in names:
                raise InternalError(f"{requirement} is for none of the jobs {names}")
            if requirement.rule not in ADD_RULE:
                raise InternalError(f"no constraint adds '{requirement.rule}'")

    def _add_constraints(self) -> dict[str, list[cp_model.Constraint]]:
        """Add all rows; returns them by rule id, in the rules' order."""
        rows: dict[str, list[cp_model.Constraint]] = {"choose": []}
        for job in range(len(self.jobs)):
            rows["choose"] += add_exactly_one_candidate(self.variables, job)
        for rule in ADD_RULE:
            for requirement in self.requirements:
                if requirement.rule != rule:
                    continue
                for job, table in enumerate(self.jobs):
                    if requirement.job in (None, table.name):
                        added = add_requirement(self.variables, job, requirement)
                        rows.setdefault(rule, []).extend(added)
        return rows

    def _solve_levels(
        self,
        limits: SolveLimits,
        on_progress: ProgressCallback | None,
        started: float,
    ) -> SolveOutcome:
        """Solve each level with those before it held at their minima."""
        first: Search | None = None
        rows: tuple[int, ...] | None = None
        proved, interrupted = True, False
        for level in range(len(self.objective)):
            left_s = _time_left(limits.time_s, started)
            if first is not None and left_s is not None and left_s <= 0:
                proved = False
                break
            self.objective.minimize(level)
            result = search.run(
                self.model,
                limits,
                left_s,
                level,
                on_progress,
                probing=len(self.jobs) > 1,
            )
            first = first or result
            interrupted = _was_interrupted(result, limits, left_s)
            if result.values is None:
                if rows is not None and result.status == "infeasible":
                    raise InternalError(f"CP-SAT lost its solution at level {level}")
                proved = False
                break
            rows = self.variables.rows_of(result.values)
            value = self.objective.value(level, rows)
            reached = _reached(result.bound, value)
            proved = proved and reached
            if interrupted or (not proved and len(self.jobs) > 1):
                break  # ties of several jobs can take longer than the gap saved
            self.objective.hold(level, value, proved=reached)
            self.variables.hint(rows)
        if first is None:
            raise InternalError("the objective has no level")
        return self._outcome(first, rows, proved, interrupted)

    def _outcome(
        self,
        first: Search,
        rows: tuple[int, ...] | None,
        proved: bool,
        interrupted: bool,
    ) -> SolveOutcome:
        """What the levels came to; the bound is that of the first."""
        if rows is None:
            return SolveOutcome(
                first.status, None, (), None, None, False, interrupted, 0.0
            )
        values = tuple(
            self.objective.value(level, rows)
            for level in range(self.objective.stated_levels)
        )
        value = self.objective.value(0, rows)
        bound = value if first.bound is None else min(first.bound, value)
        return SolveOutcome(
            status="optimal" if _reached(first.bound, value) else "feasible",
            rows=rows,
            values=values,
            bound=bound if first.bound is not None else None,
            gap=relative_gap(value, bound) if first.bound is not None else None,
            ties_proved=proved,
            interrupted=interrupted,
            wall_time_s=0.0,
        )

    def _legend(self) -> Iterator[str]:
        """What the names and numbers of the exported model mean."""
        yield "CP-SAT model (CpModelProto, text format). Solved level after level:"
        for number, level in enumerate(self.objective.levels, start=1):
            terms = " + ".join(f"{term.weight} x {term.quantity}" for term in level)
            yield f"  {number}. minimise objective_{number} = {terms}"
        yield f"  {self.objective.stated_levels + 1}. minimise canonical_rank"
        yield "Only level 1 stands below; hold each at its minimum to solve the next."
        for job, table in enumerate(self.jobs):
            yield f"Job '{table.name}': {len(table)} candidates, choose[k] is number k."
            for name in self.variables.channelled(job):
                if name in table.units:
                    yield f"  {name} is in units of {table.units[name]}"
                elif name in table.categories:
                    labels = enumerate(table.category(name)[1])
                    codes = ", ".join(f"{code} {label}" for code, label in labels)
                    yield f"  {name} is a code: {codes}"


def _time_left(time_s: float | None, started: float) -> float | None:
    """Seconds left of ``time_s`` since ``started``; None: no limit."""
    if time_s is None:
        return None
    return time_s - (time.perf_counter() - started)


def _was_interrupted(result: Search, limits: SolveLimits, left_s: float | None) -> bool:
    """Whether Ctrl-C ended a call: it proved nothing, and long before its time.

    CP-SAT catches the signal and does not say so. With parameters of the caller's own
    that may be limits this cannot be told; then the next level is solved.
    """
    if result.status in ("optimal", "infeasible") or limits.parameters:
        return False
    return left_s is None or result.wall_time_s < 0.95 * left_s


def _reached(bound: int | None, value: int) -> bool:
    """Whether a bound proves a value to be the least.

    CP-SAT tells its bound as a float, which may round past a large value by a unit.
    """
    return bound is not None and bound >= value
