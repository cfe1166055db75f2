"""A plan's jobs in a format: each job's files, in one folder or in one a phase."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from solver.acting.plan_file import PlanFile, PlannedJob
from solver.errors import InputError, Issue, nearest, shown
from solver.exporting.formats import Format, exported, format_of
from solver.exporting.output import Files
from solver.exporting.run import run_of
from solver.plan import Message

__all__ = ["Exported", "export_plan", "format_of"]


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written of a plan.

    Parameters
    ----------
    format
        The format.
    texts
        Path below the folder to text.
    notes
        What the user should know, what has changed since the plan was made first.
    """

    format: Format
    texts: Mapping[str, str]
    notes: tuple[Message, ...]

    def as_dict(self) -> dict[str, Any]:
        """What the command prints as JSON, beside ``ok``."""
        return {
            "format": self.format.id,
            "summary": self.format.summary,
            "files": dict(self.texts),
            "notes": [one.as_dict() for one in self.notes],
        }


def export_plan(plan: PlanFile, wanted: Format, phase: str | None = None) -> Exported:
    """Return the files of a plan in a format.

    Parameters
    ----------
    plan
        As it was read.
    wanted
        The format.
    phase
        Name of the phase to write; None: every one, each in a folder named like it.

    Raises
    ------
    InputError
        There is no such phase, or what a phase does cannot be said in the format: every
        reason of every phase.
    """
    found: list[tuple[str, Files]] = []
    issues: list[Issue] = []
    for number, job in _jobs(plan, phase):
        try:
            run = run_of(job, plan.catalog)
            found.append((f"{number}-{run.job}/", exported(run, wanted)))
        except InputError as error:
            issues += _placed(error.issues, job)
    if issues:
        raise InputError(issues)
    texts = {
        f"{folder if len(found) > 1 else ''}{file}": text
        for folder, files in found
        for file, text in files.texts.items()
    }
    notes = {note.text: note for _, files in found for note in files.notes}
    return Exported(wanted, texts, (*plan.notices, *notes.values()))


def _jobs(plan: PlanFile, phase: str | None) -> list[tuple[int, PlannedJob]]:
    """Return the jobs to write, each with its number from 1.

    Raises
    ------
    InputError
        There is no phase of that name.
    """
    jobs = list(enumerate(plan.jobs, start=1))
    names = [job.phase for job in plan.jobs if job.phase]
    if phase is None:
        return jobs
    if phase not in names:
        message = f"there is no phase {shown(phase)}"
        message += f"; there are {', '.join(names)}" if names else ": it is one job"
        hint = nearest(phase, names)
        raise InputError([Issue("unknown-name", message, "--phase", None, hint)])
    return [(number, job) for number, job in jobs if job.phase == phase]


def _placed(issues: Iterable[Issue], job: PlannedJob) -> list[Issue]:
    """Return issues with the phase that they are of."""
    if not job.phase:
        return list(issues)
    return [replace(issue, path=f"phases.{job.phase}") for issue in issues]
