"""Writing entries into a catalog folder: all of them, or nothing.

The new state is made in a folder beside the old one, read back as a catalog, and then
takes its place by renaming.
"""

from __future__ import annotations

import csv
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import dropwhile, takewhile
from pathlib import Path
from typing import Any

from solver.catalog.consistency import WARNINGS, check_catalog
from solver.catalog.load import load_catalog
from solver.catalog.reading import MAX_TABLE_BYTES, read_text, table_lines
from solver.catalog.schema import Entry, Offer, Region, Server
from solver.errors import InputError, Issue
from solver.files import is_file, is_folder
from solver.importing.overlay import Overlay

__all__ = ["changed_folder", "checked", "write_entry", "write_overlay"]

COLUMNS: Mapping[type[Entry], tuple[str, ...]] = {
    Offer: (
        *("region", "server", "purchase", "usd_per_node_hour", "min_term_hours"),
        *("marketplace", "source", "as_of", "note"),
    ),
    Region: ("id", "name", "country", "source", "as_of", "note"),
    Server: (
        *("id", "provider", "gpu", "gpus_per_node", "intra_node", "intra_node_kind"),
        *("intra_node_gb_per_s", "nvlink_pair_only", "nvlink_domain_gpus", "network"),
        *("network_gbps", "vcpus", "ram_gb", "local_nvme_tb", "source", "as_of"),
        "note",
    ),
}
"""Columns of a table that is new; those that follow from others are left out."""


@contextmanager
def changed_folder(target: Path, *, update: bool) -> Iterator[Path]:
    """Give a copy of a folder to change, which takes its place if all goes well.

    Parameters
    ----------
    target
        The folder; it need not exist.
    update
        Allow that it exists and is not empty.

    Raises
    ------
    InputError
        It exists and must not, or cannot be written.
    """
    _check_target(target, update=update)
    target = target.resolve()  # the folder that a link leads to, not the link
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        place = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    except (OSError, ValueError) as error:
        raise _unwritable(error, target) from None
    new, old = place / "new", place / "old"
    try:
        if is_folder(target):
            shutil.copytree(target, new, symlinks=True)
        else:
            new.mkdir()
        yield new
        if target.exists():
            target.rename(old)
        new.rename(target)
    except OSError as error:
        raise _unwritable(error, target) from None
    finally:
        if old.exists() and not target.exists():
            old.rename(target)  # stopped between the two: as it was
        shutil.rmtree(place, ignore_errors=True)


def _check_target(target: Path, *, update: bool) -> None:
    """Refuse a target that must not be written."""
    if is_file(target):
        message = "this is a file; expected the name of a folder to write"
    elif Path.cwd().is_relative_to(target.resolve()):
        message = "the current folder lies in it; name one below, or beside"
    elif is_folder(target) and any(target.iterdir()) and not update:
        message = (
            "the folder exists; --update replaces in it what is imported, and keeps "
            "the rest"
        )
    else:
        return
    raise InputError([Issue("file-exists", message, f"--out {target}")])


def _unwritable(error: OSError | ValueError, target: Path) -> InputError:
    """Return the error of a folder that cannot be written."""
    message = f"cannot be written: {getattr(error, 'strerror', None) or error}"
    return InputError([Issue("file-unwritable", message, f"--out {target}")])


def write_overlay(overlay: Overlay, folder: Path) -> tuple[str, ...]:
    """Write the tables of an overlay into a catalog folder.

    The offers of its providers are replaced as a whole, so that no price of yesterday
    stays; servers and regions are put beside those that the folder has.

    Returns
    -------
    tuple of str
        The files written, relative to the folder.
    """
    files = []
    for provider in overlay.providers:
        offers = [offer for offer in overlay.offers if offer.provider == provider]
        name = f"offers/{provider}.csv"
        _dump(folder / name, COLUMNS[Offer], map(_cells, offers))
        files.append(name)
    for name, entries in (
        ("servers.csv", overlay.servers),
        ("regions.csv", overlay.regions),
    ):
        if entries:
            _merge(folder / name, entries)
            files.append(name)
    return tuple(files)


def write_entry(text: str, folder: Path, name: str, *, update: bool) -> None:
    """Write a file of one entry into a catalog folder.

    Raises
    ------
    InputError
        There is one of this name, and it must not be replaced.
    """
    file = folder / name
    if is_file(file) and not update:
        message = "a file is there already; --update replaces it"
        raise InputError([Issue("file-exists", message, name)])
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def checked(folder: Path, name: str) -> list[Issue]:
    """Return the warnings about a catalog folder over the shipped catalog.

    Parameters
    ----------
    folder
        The folder.
    name
        What to call it in messages.

    Raises
    ------
    InputError
        It cannot be read, or its entries do not fit together.
    """
    try:
        catalog = load_catalog([folder], environment={})
        found = check_catalog(catalog)
    except InputError as error:
        raise InputError(_renamed(error.issues, folder, name)) from None
    inside = [issue for issue in found if str(issue.where).startswith(f"{folder}/")]
    told = _renamed(inside, folder, name)
    faults = [issue for issue in told if issue.code not in WARNINGS]
    if faults:
        raise InputError(faults)
    return told


def _renamed(issues: Iterable[Issue], folder: Path, name: str) -> list[Issue]:
    """Return issues with a folder called as the user knows it."""
    return [
        Issue(
            issue.code,
            issue.message,
            issue.where and issue.where.replace(str(folder), name),
            issue.path,
            issue.hint,
        )
        for issue in issues
    ]


def _cells(entry: Entry) -> dict[str, str]:
    """Return an entry as cells by column; what is as usual is left empty."""
    usual = type(entry).model_fields
    return {
        column: _cell(getattr(entry, column))
        for column in COLUMNS[type(entry)]
        if usual[column].is_required()
        or getattr(entry, column) != usual[column].default
    }


def _cell(value: Any) -> str:
    """Return a value as a table has it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def _merge(file: Path, entries: Iterable[Entry]) -> None:
    """Put entries into a table, over those of the same id, in order of id."""
    entries = list(entries)
    columns: list[str] = list(COLUMNS[type(entries[0])])
    rows: dict[str, dict[str, str]] = {}
    comments = ""
    if is_file(file):
        text = read_text(file, file.name, MAX_TABLE_BYTES)
        comments = "".join(takewhile(_is_comment, text.splitlines(keepends=True)))
        table = csv.DictReader(dropwhile(_is_blank, table_lines(text)))
        rows = {_id_of(row): row for row in table}
        columns += [name for name in table.fieldnames or () if name not in columns]
    rows |= {entry.id: _cells(entry) for entry in entries}
    _dump(file, columns, (rows[key] for key in sorted(rows)), comments)


def _id_of(row: Mapping[str, str]) -> str:
    """Return the id of a row; that of a region may stand in its parts."""
    return row.get("id") or f"{row.get('provider', '')}/{row.get('region', '')}"


def _is_blank(line: str) -> bool:
    """Return whether a line of a table is empty."""
    return not line.strip()


def _is_comment(line: str) -> bool:
    """Return whether a line of a table is a comment."""
    return line.startswith("#")


def _dump(
    file: Path,
    columns: Iterable[str],
    rows: Iterable[Mapping[str, str]],
    comments: str = "",
) -> None:
    """Write a table below some lines of comments."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", encoding="utf-8", newline="") as output:
        output.write(comments)
        writer = csv.DictWriter(output, list(columns), restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
