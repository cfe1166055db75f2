"""``gpuplan sweep``: thousands of what-ifs, resumable."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from solver.cli.html import HtmlFile, check_html, write_document
from solver.cli.inputs import AsJson, CatalogFolders, Quiet
from solver.cli.outputs import (
    CsvFile,
    check_csv,
    check_writable,
    deliver,
    tell_letters,
)
from solver.cli.terminal import write, write_page
from solver.cli.usage import PlainUsage
from solver.errors import InputError, Issue, nearest, shown
from solver.messages import sentence

if TYPE_CHECKING:
    from solver.report.figures import Page
    from solver.report.sweep_plot import Kind
    from solver.sweeps.prepare import Prepared
    from solver.sweeps.results import Results
    from solver.sweeps.running import Outcome
    from solver.sweeps.store import Store
    from solver.sweeps.workers import Workers

__all__ = ["app"]

STATUS_STOPPED = 130
KINDS: tuple[Kind, ...] = ("heatmap", "lines", "tornado")

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Answer a scenario for many values of its keys, and look at the answers.",
)

SweepName = Annotated[
    str,
    typer.Argument(
        metavar="SWEEP",
        show_default=False,
        help="A sweep file, or the name of a shipped one.",
    ),
]
ResultsPlace = Annotated[
    str,
    typer.Argument(
        metavar="RESULTS",
        show_default=False,
        help="The file, or the URL of the database, that 'sweep run' wrote.",
    ),
]
Out = Annotated[
    str | None,
    typer.Option(
        "--out",
        metavar="RESULTS",
        show_default=False,
        help="Where answers go, and are looked for first: a SQLite file, or the URL "
        "of a PostgreSQL database.",
    ),
]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run", help="Say how many points there are and how long they take."
    ),
]
WorkerCount = Annotated[
    int | None,
    typer.Option(
        "--workers",
        metavar="N",
        min=1,
        show_default=False,
        help="Processes to work with; by default one a core.",
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        metavar="ADDRESS",
        show_default=False,
        help="Work on the Dask cluster of this scheduler (tcp://host:8786).",
    ),
]
Mixed = Annotated[
    bool,
    typer.Option(
        "--mixed",
        help="Add to results of another sweep, catalog, version or day; "
        "each row says which.",
    ),
]
Retry = Annotated[
    bool, typer.Option("--retry", help="Answer points again that ended in an error.")
]
Plans = Annotated[bool, typer.Option("--plans", help="With --json: each plan in full.")]
Plot = Annotated[
    Path | None,
    typer.Option(
        "--plot",
        metavar="FILE",
        show_default=False,
        help="Draw the results (.png, .svg, .pdf); needs matplotlib.",
    ),
]
KindOf = Annotated[
    str | None,
    typer.Option(
        "--kind",
        metavar="KIND",
        show_default=False,
        help="Of --plot: heatmap, lines or tornado.",
    ),
]
Across = Annotated[
    str | None,
    typer.Option(
        "--x", metavar="AXIS", show_default=False, help="Of --plot: the axis across."
    ),
]
Up = Annotated[
    str | None,
    typer.Option(
        "--y",
        metavar="AXIS",
        show_default=False,
        help="Of --plot: the axis up, or that of which each value has a line.",
    ),
]
Parquet = Annotated[
    Path | None,
    typer.Option(
        "--parquet",
        metavar="FILE",
        show_default=False,
        help="Also write all rows as a Parquet file; needs pyarrow.",
    ),
]
Limit = Annotated[
    int,
    typer.Option(
        "--limit",
        metavar="N",
        min=1,
        help="Show at most N values of each axis; CSV and JSON have all.",
    ),
]


@app.command("run", cls=PlainUsage)
def run(
    sweep: SweepName,
    out: Out = None,
    dry_run: DryRun = False,
    workers: WorkerCount = None,
    scheduler: Scheduler = None,
    catalog: CatalogFolders = None,
    mixed: Mixed = False,
    retry: Retry = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> int:
    """Answer all points of a sweep and store each as it comes.

    Killed at any moment, it loses nothing that is stored: the same command goes on
    with the rest, and answers no point twice. Several such commands may share the work.
    """
    from solver.sweeps.prepare import prepare

    if workers is not None and scheduler is not None:
        message = "--workers and --scheduler exclude each other"
        raise InputError([Issue("bad-usage", message)])
    if not dry_run and out in (None, "", "-"):
        message = "--out RESULTS is needed, the file that answers go to"
        raise InputError([Issue("bad-usage", message)])
    prepared = prepare(sweep, catalog or (), _day_of(out, mixed=mixed))
    if out is None or dry_run:
        return _tell_size(prepared, out, workers, as_json=as_json)
    from solver.report.sweep_rows import run_page
    from solver.sweeps.workers import workers_of

    where = workers_of(workers, scheduler)  # a cluster that is not there leaves no file
    store = _open_for(prepared, out, mixed=mixed)
    try:
        if retry:
            store.forget_errors()
        outcome = _answer_all(prepared, store, where, quiet=quiet)
    finally:
        where.stop()
        store.close()
    page = run_page(prepared, outcome, store.shown_place)
    if quiet:
        page = replace(page, parts=())
    _print(page, outcome.as_dict(), as_json=as_json)
    return 0 if outcome.complete else STATUS_STOPPED


@app.command("show", cls=PlainUsage)
def show(
    results: ResultsPlace,
    csv: CsvFile = None,
    limit: Limit = 12,
    plot: Plot = None,
    kind: KindOf = None,
    across: Across = None,
    up: Up = None,
    html: HtmlFile = None,
    parquet: Parquet = None,
    plans: Plans = False,
    as_json: AsJson = False,
) -> int:
    """Show what a sweep found: the best of each value, and what moves cost and time.

    Also where there is no plan, and why. It may be asked while the sweep is running.
    """
    check_csv(csv, as_json=as_json)
    drawn = _checked_kind(kind)
    _check_options(plot, (kind, across, up), plans=plans, as_json=as_json)
    _check_files(plot, html, parquet)
    from solver.report.sweep_rows import (
        results_as_csv,
        results_as_dict,
        results_page,
    )
    from solver.sweeps.results import results_of
    from solver.sweeps.store import Store

    store = Store.open(results)
    try:
        found = results_of(store.meta(), store.records())
    finally:
        store.close()
    if plot is not None:
        _draw(found, plot, drawn, (across, up))
        tell_letters()
    if html is not None:
        from solver.report.html_tables import results_document

        write_document(html, results_document(found, limit))
        tell_letters()
    if parquet is not None:
        from solver.report.sweep_parquet import write_parquet

        write_parquet(found, parquet)
    deliver(  # last: whoever reads it may go away early
        csv,
        as_json=as_json,
        table=lambda: results_as_csv(found),
        data=lambda: results_as_dict(found, plans=plans),
        page=lambda _: results_page(found, limit),
    )
    return 0


def _checked_kind(kind: str | None) -> Kind | None:
    """Return the kind of picture that is asked for.

    Raises
    ------
    InputError
        There is none of that name.
    """
    if kind is None:
        return None
    found = next((known for known in KINDS if known == kind), None)
    if found is None:
        message = f"expected one of {', '.join(KINDS)}, not {shown(kind)}"
        hint = nearest(kind, KINDS)
        raise InputError([Issue("bad-usage", message, "--kind", hint=hint)])
    return found


def _check_options(
    plot: Path | None, drawn: tuple[str | None, ...], *, plans: bool, as_json: bool
) -> None:
    """Refuse options that would do nothing, as others are missing.

    Raises
    ------
    InputError
        Those options.
    """
    given = zip(("--kind", "--x", "--y"), drawn, strict=True)
    idle = [name for name, value in given if value is not None and plot is None]
    faults = [
        Issue("bad-usage", "it says how to draw; give --plot FILE as well", name)
        for name in idle
    ]
    if plans and not as_json:
        message = "it adds to --json, which is not given"
        faults.append(Issue("bad-usage", message, "--plans"))
    if faults:
        raise InputError(faults)


def _check_files(plot: Path | None, html: Path | None, parquet: Path | None) -> None:
    """Refuse files that could not be written, before any work is done."""
    check_html(html)
    if plot is not None:
        from solver.report.pictures import check_picture

        check_picture(plot)
    if parquet is not None:
        from solver.report.sweep_parquet import check_parquet

        check_parquet()
    named = {"--plot": plot, "--html": html, "--parquet": parquet}
    seen: dict[Path, str] = {}
    for option, file in named.items():
        if file is None:
            continue
        check_writable(file, option)
        other = seen.setdefault(file.absolute(), option)
        if other != option:
            message = f"{other} and {option} name the same file"
            raise InputError([Issue("bad-usage", message, f"{option} {file}")])


def _draw(
    results: Results, path: Path, kind: Kind | None, names: tuple[str | None, ...]
) -> None:
    """Draw results as asked, by default what fits their number of axes."""
    from solver.report.sweep_plot import chosen_axes, draw_results

    usual: Kind = "heatmap" if len(results.dimensions) > 1 else "lines"
    chosen = usual if kind is None else kind
    draw_results(results, path, chosen, chosen_axes(results, chosen, names))


def _day_of(out: str | None, *, mixed: bool) -> date:
    """Day 0 of all plans: that of the results that are there, or today."""
    from solver import dates
    from solver.sweeps.store import stored_meta

    day = None if out is None or mixed else stored_meta(out).get("today")
    return dates.today() if day is None else date.fromisoformat(day)


def _open_for(prepared: Prepared, out: str, *, mixed: bool) -> Store:
    """Open the results to add to; refuse those of something else.

    Raises
    ------
    InputError
        They are of another sweep, catalog or version, and may not be mixed.
    """
    from solver.sweeps.store import Store

    store = Store.open(out, create=True)
    differs = store.describe(prepared.facts)
    if not differs or mixed:
        if differs:
            store.note(prepared.facts)
        return store
    store.close()
    told = {
        "sweep": "the sweep, its base or a file that they name has changed",
        "catalog": "the catalog has changed",
        "version": "they are of gpuplan {0}, and this is {1}",
        "today": "they count from {0}, and this would from {1}",
    }
    what = "; ".join(told[key].format(*pair) for key, pair in differs.items())
    message = f"the results are of something else: {what}; use another file, or --mixed"
    raise InputError([Issue("results-mixed", message, store.shown_place)])


def _answer_all(
    prepared: Prepared,
    store: Store,
    workers: Workers,
    *,
    quiet: bool,
) -> Outcome:
    """Answer what is left, with a progress line."""
    from solver.cli.progress import ProgressLine
    from solver.interruption import ended_as_stopped, gently
    from solver.sweeps.running import run_points

    with gently(), ended_as_stopped(), ProgressLine(wanted=not quiet) as line:
        line.update(sentence("progress.sweep.start"), -1)

        def watch(outcome: Outcome) -> None:
            line.update(outcome.progress, outcome.done / outcome.total)

        return run_points(
            prepared.question,
            prepared.points.points,
            store,
            workers,
            watch,
        )


def _tell_size(
    prepared: Prepared, out: str | None, workers: int | None, *, as_json: bool
) -> int:
    """Say how many points a sweep has and how long they take."""
    from solver.cli.progress import ProgressLine
    from solver.report.sweep_rows import dry_run_dict, dry_run_page
    from solver.sweeps.prepare import estimate
    from solver.sweeps.store import stored_ids
    from solver.sweeps.workers import cores

    stored = set() if out is None else stored_ids(out)
    ids = {point.id for point in prepared.points.points}
    left = len(ids - stored)
    with ProgressLine() as line:
        line.update(sentence("progress.sweep.estimate"), -1)
        taken = estimate(prepared, workers or cores(), left)
    page = dry_run_page(prepared, taken, left)
    _print(page, dry_run_dict(prepared, taken, left), as_json=as_json)
    return 0


def _print(page: Page, data: dict[str, Any], *, as_json: bool) -> None:
    """Print an answer as a page or as JSON."""
    if as_json:
        from solver.report.as_json import fields_as_json

        write(fields_as_json(data))
    else:
        write_page(page)
