"""Files that a command writes: looked at before the work, written after it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from solver.cli.terminal import note, standard_output, write, write_page
from solver.errors import InputError, Issue, shown
from solver.files import is_folder
from solver.languages import language

if TYPE_CHECKING:
    from solver.report.figures import Page

__all__ = [
    "CsvFile",
    "check_csv",
    "check_writable",
    "deliver",
    "tell_letters",
    "write_file",
    "write_folder",
]

STANDARD_OUTPUT = "-"

CsvFile = Annotated[
    str | None,
    typer.Option(
        "--csv",
        metavar="FILE",
        show_default=False,
        help="Also write all rows as CSV to FILE; '-' prints them and nothing else.",
    ),
]


def check_csv(file: str | None, *, as_json: bool) -> None:
    """Refuse a ``--csv`` that could not be done, before any work is done.

    Raises
    ------
    InputError
        The file cannot be written, or standard output has JSON on it.
    """
    if file == STANDARD_OUTPUT and as_json:
        message = "--csv - and --json exclude each other: both print to one output"
        raise InputError([Issue("bad-usage", message)])
    if file is not None and file != STANDARD_OUTPUT:
        check_writable(Path(file), "--csv")


def deliver(
    csv: str | None,
    *,
    as_json: bool,
    table: Callable[[], str],
    data: Callable[[], dict[str, Any]],
    page: Callable[[int], Page],
) -> None:
    """Write an answer where the user wants it: a table, JSON or a page.

    Parameters
    ----------
    csv
        As typed after ``--csv``.
    as_json
        Whether standard output is to have JSON.
    table, data
        Make the CSV and the JSON object.
    page
        Makes the page for so many columns of the terminal.

    Raises
    ------
    InputError
        The file, or standard output, cannot be written.
    """
    if csv == STANDARD_OUTPUT:
        write(table())
        return
    if csv is not None:
        write_file(Path(csv), table(), "--csv")
    if as_json:
        from solver.report.as_json import fields_as_json

        write(fields_as_json(data()))
    else:
        write_page(page(standard_output().width))


def tell_letters() -> None:
    """Tell that pictures are labelled in English where no font has other letters."""
    from solver.report.pictures import has_letters

    if not has_letters():
        note(
            f"gpuplan: no font here has the letters of '{language()}', so pictures are "
            "labelled in English; install one such as Noto Sans CJK"
        )


def write_file(path: Path, text: str, option: str) -> None:
    """Write text to the file that an option names.

    Raises
    ------
    InputError
        It cannot be written.
    """
    try:
        path.write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        message = f"the file cannot be written: {error.strerror or error}"
        issue = Issue("output-unwritable", message, f"{option} {path}")
        raise InputError([issue]) from None


def write_folder(
    folder: Path, texts: Mapping[str, str], option: str, *, force: bool = False
) -> None:
    """Write files below a folder, all of them or none.

    Parameters
    ----------
    folder
        Made where it is missing; its parent has to exist.
    texts
        Relative path to text. A text that begins with ``#!`` becomes executable.
    option
        The one that names the folder.
    force
        Whether files of these names are replaced, each at once.

    Raises
    ------
    InputError
        A file is there already, every one of them told; or they cannot be written.
    """
    places = {folder / name: text for name, text in texts.items()}
    taken = [place for place in places if os.path.lexists(place)]
    barred = [p for p in taken if is_folder(p) or not force]
    if barred:
        message = "is there already; --force replaces files"
        raise InputError(
            [Issue("file-exists", message, f"{option} {place}") for place in barred]
        )
    made: dict[Path, Path] = {}
    try:
        folder.mkdir(exist_ok=True)
        for place, text in places.items():
            place.parent.mkdir(parents=True, exist_ok=True)
            made[place] = _beside(place, text)
        for place, new in made.items():
            new.replace(place)
    except (OSError, ValueError) as error:
        for new in made.values():
            new.unlink(missing_ok=True)
        reason = getattr(error, "strerror", None) or error
        message = f"the files cannot be written: {reason}"
        issue = Issue("file-unwritable", message, f"{option} {folder}")
        raise InputError([issue]) from None


def _beside(place: Path, text: str) -> Path:
    """Write the text of a file beside it, to be moved there."""
    handle, name = tempfile.mkstemp(prefix=f".{place.name}-", dir=place.parent)
    new = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        mask = os.umask(0)
        os.umask(mask)
        new.chmod((0o777 if text.startswith("#!") else 0o666) & ~mask)
    except BaseException:
        new.unlink(missing_ok=True)
        raise
    return new


def check_writable(path: Path, option: str) -> None:
    """Refuse a file that could not be written, before any work is done.

    ``option`` is the one that names it.

    Raises
    ------
    InputError
        Its folder does not exist, it is a folder itself, or writing is forbidden.
    """
    if is_folder(path):
        message = "this is a folder; expected the name of a file to write"
    elif not is_folder(path.parent):
        message = f"there is no folder {shown(str(path.parent))} to write to"
    else:
        try:
            existed = path.exists()
            if not existed or path.is_file():  # opening a pipe would wait
                path.open("ab").close()
            if not existed:
                path.unlink()
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            message = f"the file cannot be written: {reason}"
        else:
            return
    raise InputError([Issue("output-unwritable", message, f"{option} {path}")])
