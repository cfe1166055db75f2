"""``gpuplan plan check``: a plan held against what was measured."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from solver.cli.inputs import AsJson, PlanName, Quiet
from solver.cli.terminal import note, write, write_page

if TYPE_CHECKING:
    from solver.acting.basis import Acting
    from solver.acting.checking import Asked, Check
    from solver.acting.measured import Measured
    from solver.acting.plan_file import PlanFile

__all__ = ["check"]

Words = Annotated[
    list[str] | None,
    typer.Option(
        "--measured",
        metavar="NAME=VALUE",
        show_default=False,
        help="step_time=5.9s, tokens_per_s=760k, mfu=41%, peak_memory=71GiB, "
        "checkpoint=40s, data_read=3GB/s, failures='3/7 days', or a part of a step "
        "such as data_parallel=0.3s. May be repeated.",
    ),
]
Files = Annotated[
    list[Path] | None,
    typer.Option(
        "--measurements",
        metavar="FILE",
        show_default=False,
        help="The same in a CSV (a column a figure), YAML or JSON file; the median of "
        "many values counts. May be repeated.",
    ),
]
DoneSteps = Annotated[
    int | None,
    typer.Option(
        "--done-steps", metavar="N", min=0, show_default=False, help="Steps done."
    ),
]
DoneTokens = Annotated[
    str | None,
    typer.Option(
        "--done-tokens",
        metavar="N",
        show_default=False,
        help="Tokens done, such as 300B.",
    ),
]
SpentUsd = Annotated[
    str | None,
    typer.Option(
        "--spent",
        metavar="USD",
        show_default=False,
        help="Spent so far, in place of what the plan's prices come to.",
    ),
]
AsOf = Annotated[
    str | None,
    typer.Option(
        "--as-of",
        metavar="WHEN",
        show_default=False,
        help="A date, or a time from day 0 such as '10.5 days'.",
    ),
]
PhaseName = Annotated[
    str | None,
    typer.Option(
        "--phase",
        metavar="NAME",
        show_default=False,
        help="The phase that was measured, of a plan that has phases.",
    ),
]
NoReplan = Annotated[
    bool, typer.Option("--no-replan", help="Do not plan what is left again.")
]


def check(
    plan: PlanName,
    measured: Words = None,
    measurements: Files = None,
    done_steps: DoneSteps = None,
    done_tokens: DoneTokens = None,
    spent: SpentUsd = None,
    as_of: AsOf = None,
    phase: PhaseName = None,
    no_replan: NoReplan = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> int:
    """Hold a plan against what was measured, and plan what is left again.

    Finish and bill follow from what was measured as the plan's own do: failures, terms
    and billing units included. The exit status is 3 where deadline or budget can no
    longer be kept, by staying or by a change.
    """
    from solver.acting.basis import acting_on_file
    from solver.acting.plan_file import read_plan

    found, asked = _read(
        measured, measurements, done_steps, done_tokens, spent, as_of, phase
    )
    file = read_plan(plan)
    for notice in file.notices:
        note(notice.text)
    told = _checked(
        acting_on_file(file), file, found, asked, replan=not no_replan, quiet=quiet
    )
    _print(told, as_json=as_json)
    lost = told.verdict.kind == "cannot" if told.verdict else not told.kept
    return 3 if lost else 0


def _read(
    words: list[str] | None,
    files: list[Path] | None,
    done_steps: int | None,
    done_tokens: str | None,
    spent: str | None,
    as_of: str | None,
    phase: str | None,
) -> tuple[Measured, Asked]:
    """Return what was measured and asked, or tell all that is wrong with it."""
    from solver.acting.checking import Asked
    from solver.acting.measured import Measured, read_measured
    from solver.errors import InputError, Issue, IssueLog
    from solver.units import (
        QuantityError,
        parse_count,
        parse_date_or_duration,
        parse_usd,
    )

    log, found = IssueLog(), Measured()
    if not words and not files:
        message = "say what was measured: --measured step_time=5.9s"
        log.add("missing-key", message, "--measured")
    try:
        found = read_measured(words or (), files or ())
    except InputError as error:
        log.extend(error.issues)
    read: dict[str, Any] = {}
    options = {
        "--done-tokens": (done_tokens, parse_count),
        "--spent": (spent, parse_usd),
        "--as-of": (as_of, lambda text: parse_date_or_duration(text, "days")),
    }
    for option, (text, parse) in options.items():
        try:
            read[option] = None if text is None else parse(text)
        except QuantityError as error:
            log.extend([Issue(error.code, error.message, option, None, error.hint)])
    if log:
        raise InputError(log.issues)
    asked = Asked(
        phase, done_steps, read["--done-tokens"], read["--spent"], read["--as-of"]
    )
    return found, asked


def _checked(
    acting: Acting,
    file: PlanFile,
    found: Measured,
    asked: Asked,
    *,
    replan: bool,
    quiet: bool,
) -> Check:
    """Return the check, with what is left planned again if that is wanted."""
    from solver.acting.checking import check_plan
    from solver.acting.verdict import verdict_of
    from solver.cli.progress import ProgressLine

    told = check_plan(acting, found, asked)
    if not replan:
        return told
    document = file.data["request"]["scenario"]
    with ProgressLine(wanted=not quiet) as line:
        verdict = verdict_of(acting, told, document, told.pace, line.update)
    return replace(told, verdict=verdict)


def _print(told: Check, *, as_json: bool) -> None:
    """Print a check as the user wants it."""
    if as_json:
        from solver.report.as_json import object_as_json

        write(object_as_json("check", told.as_dict()))
    else:
        from solver.report.plan_check_rows import plan_check_page

        write_page(plan_check_page(told))
