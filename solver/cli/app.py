"""The command line: its commands, how faults are told, and the exit statuses.

====== =====================================================
status meaning
====== =====================================================
0      solved
1      a bug of ours
2      the input or the command line is wrong
3      proved infeasible
4      the time limit came before any plan
130    stopped with Ctrl-C
====== =====================================================
"""

from __future__ import annotations

import errno
import gc
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated, TypeGuard

import typer

from solver.cli import (
    accuracy,
    alternatives,
    catalog,
    compare,
    estimate,
    explain,
    pareto,
    plan,
    scenarios,
    solve,
    sweep,
)
from solver.cli.terminal import (
    drop_the_rest,
    note,
    prepare_streams,
    unwritable,
    write,
)
from solver.cli.usage import PlainUsage
from solver.errors import GpuplanError, InputError, Issue
from solver.languages import language, speaking

__all__ = ["app", "main"]

STATUS_BUG = 1
STATUS_WRONG_INPUT = 2
STATUS_STOPPED = 130

_NOTHING_WRITTEN = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""Errors of writing to a stream."""

app = typer.Typer(
    name="gpuplan",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("solve", cls=PlainUsage)(solve.solve)
app.command("estimate", cls=PlainUsage)(estimate.estimate)
app.command("explain", cls=PlainUsage)(explain.explain)
app.command("compare", cls=PlainUsage)(compare.compare)
app.command("pareto", cls=PlainUsage)(pareto.pareto)
app.command("alternatives", cls=PlainUsage)(alternatives.alternatives)
app.command("accuracy", cls=PlainUsage)(accuracy.accuracy)
app.add_typer(sweep.app, name="sweep")
app.add_typer(catalog.app, name="catalog")
app.add_typer(plan.app, name="plan")
app.add_typer(scenarios.app, name="scenarios")


def _show_version(wanted: bool) -> None:
    """Print the version and stop."""
    if wanted:
        from solver import __version__

        write(f"gpuplan {__version__}\n")
        raise typer.Exit


@app.callback()
def gpuplan(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version."
        ),
    ] = False,
    debug: Annotated[
        bool,
        typer.Option("--debug", help="Show the traceback of an error inside gpuplan."),
    ] = False,
) -> None:
    """Find the provably cheapest GPU servers and parallel layout to train a model.

    Start with 'gpuplan scenarios list', then 'gpuplan solve quickstart-7b'.

    Exit status: 0 solved, 1 a bug in gpuplan, 2 wrong input, 3 proved infeasible,
    4 the time limit came before any plan.
    """


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status.

    Parameters
    ----------
    arguments
        Words after the command's name; those of the process by default.
    """
    if arguments is None:
        # a process of seconds that ends with its answer: collecting cycles while
        # modules load costs a tenth of it and frees nothing
        gc.disable()
    words = list(sys.argv[1:] if arguments is None else arguments)
    prepare_streams()
    options = words[: words.index("--")] if "--" in words else words
    debug, as_json = "--debug" in options, "--json" in options
    if debug:  # it may stand after the command too
        words = [word for word in words if word != "--debug"]
    try:
        with speaking(language()):  # what --lang chooses ends with the command
            status = typer.main.get_command(app).main(
                words, prog_name="gpuplan", standalone_mode=False
            )
    except (KeyboardInterrupt, typer.Abort):
        status = STATUS_STOPPED
    except SystemExit:  # typer's own way to say that the reader of help has gone away
        drop_the_rest()
        return 0
    except InputError as error:
        _tell(error.issues, as_json=as_json)
        return STATUS_WRONG_INPUT
    except Exception as error:
        usage = _usage_message(error)
        if usage is not None:
            _tell_usage(error, usage, as_json=as_json)
            return STATUS_WRONG_INPUT
        if _is_full_disk(error):
            drop_the_rest()
            _tell([unwritable(error)], as_json=False)
            return STATUS_WRONG_INPUT
        _tell_bug(error, debug=debug, as_json=as_json)
        return STATUS_BUG
    if status == STATUS_STOPPED:
        note("gpuplan: stopped")
    return int(status or 0)


def _tell(issues: Sequence[Issue], *, as_json: bool) -> None:
    """Tell the faults of an input, one a line, or as the JSON object."""
    if as_json:
        from solver.report.as_json import errors_as_json

        try:
            write(errors_as_json(issues))
            return
        except InputError as error:
            issues = (*issues, *error.issues)
    for issue in issues:
        note(str(issue))


def _is_full_disk(error: Exception) -> TypeGuard[OSError]:
    """Return whether help could not be written, which typer does not tell by itself."""
    return (
        isinstance(error, OSError)
        and error.filename is None
        and error.errno in _NOTHING_WRITTEN
    )


def _usage_message(error: Exception) -> str | None:
    """Return what is wrong with the command line, or None for another error.

    Notes
    -----
    The class of such errors is click's or typer's own, by the version of typer; both
    have ``format_message``.
    """
    message = getattr(error, "format_message", None)
    return None if message is None else str(message())


def _tell_usage(error: Exception, message: str, *, as_json: bool) -> None:
    """Tell that the command line is wrong."""
    if as_json:
        _tell([Issue("bad-usage", message)], as_json=True)
    else:
        with suppress(OSError):  # if nobody reads it, so be it
            error.show()  # type: ignore[attr-defined]


def _tell_bug(error: Exception, *, debug: bool, as_json: bool) -> None:
    """Tell that gpuplan itself failed, and what to do about it."""
    kind = "" if isinstance(error, GpuplanError) else f"{type(error).__name__}: "
    what = f"{kind}{error}".strip().removesuffix(":")
    if as_json:
        _tell([Issue("internal-error", what)], as_json=True)
    if debug:
        import traceback

        note("".join(traceback.format_exception(error)).rstrip())
        return
    note(f"gpuplan: an error inside gpuplan: {what}")
    note("This is a bug. Please report it with the scenario and the traceback that")
    note("the option --debug shows.")
