"""Writing entries into a catalog folder: all of them, or nothing.

The new state is made in a folder beside the old one, read back as a catalog, and then
takes its place by renaming.
"""

from __future__ import annotations

import csv
import errno
import glob
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import dropwhile, takewhile
from pathlib import Path
from typing import Any

from solver.catalog.consistency import WARNINGS, check_catalog
from solver.catalog.load import load_catalog
from solver.catalog.reading import MAX_TABLE_BYTES, read_text, table_lines
from solver.catalog.schema import Entry, Offer, Region, Server
from solver.errors import InputError, Issue
from solver.files import exchanged, is_file, is_folder, locked
from solver.importing.overlay import Overlay

__all__ = ["changed_folder", "checked", "write_entry", "write_overlay"]

_WORKPLACE = ".import-"
"""After the target's name: the folder in which its new state is made."""

COLUMNS: Mapping[type[Entry], tuple[str, ...]] = {
    Offer: (
        *("region", "server", "purchase", "usd_per_node_hour", "min_term_hours"),
        *("marketplace", "one_moment", "source", "as_of", "note"),
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

    Only one process at a time changes a folder: others wait until it is done.

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
    real = _resolved(target, update=update)
    try:
        with _parents(real), locked(real.parent) as alone:
            if alone:
                _clear_up(real)
            _check_target(real, update=update)  # others may have written it meanwhile
            prefix = f".{real.name}{_WORKPLACE}"
            place = Path(tempfile.mkdtemp(prefix=prefix, dir=real.parent))
            try:
                yield _copied(real, _new(place))
                _swap(real, place)
            finally:
                _put_back(real, place)
    except OSError as error:
        raise _unwritable(error, target) from None


def _resolved(target: Path, *, update: bool) -> Path:
    """Return the folder that a target means, which a link may lead to."""
    try:
        _check_target(target, update=update)
        return target.resolve()
    except (OSError, ValueError, RuntimeError) as error:  # the last: links in a circle
        raise _unwritable(error, target) from None


@contextmanager
def _parents(target: Path) -> Iterator[None]:
    """Make the folders that lead to a target; without success they go again."""
    made = [folder for folder in target.parents if not folder.exists()]
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        yield
    finally:
        if not target.exists():
            for folder in made:
                with suppress(OSError):
                    folder.rmdir()


def _new(place: Path) -> Path:
    """Return where the new state is made: as deep as the target, for its links."""
    return place.with_name(f"{place.name}-new")


def _copied(target: Path, new: Path) -> Path:
    """Return a copy of a folder, an empty one where there is none."""
    if is_folder(target):
        shutil.copytree(target, new, symlinks=True)
    else:
        new.mkdir()
    return new


def _swap(target: Path, place: Path) -> None:
    """Put the new state in the place of the old one, at once where systems can."""
    new = _new(place)
    if not target.exists():
        new.rename(target)
    elif not exchanged(new, target):
        target.rename(place / "old")
        new.rename(target)


def _put_back(target: Path, place: Path) -> None:
    """Remove what a change leaves; what was stopped in the middle is as it was."""
    old = place / "old"
    if old.exists() and not target.exists():
        old.rename(target)
    for left in (_new(place), place):
        shutil.rmtree(left, ignore_errors=True)


def _clear_up(target: Path) -> None:
    """Put back and remove what processes that were killed have left."""
    for place in target.parent.glob(f".{glob.escape(target.name)}{_WORKPLACE}????????"):
        _put_back(target, place)


def _check_target(target: Path, *, update: bool) -> None:
    """Refuse a target that must not be written."""
    if os.path.lexists(target) and not is_folder(target):
        # a device, a pipe or a link to nowhere must not be moved away either
        kind = "a file" if is_file(target) else "no folder"
        message = f"this is {kind}; expected the name of a folder to write"
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


def _unwritable(error: Exception, target: Path) -> InputError:
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
    _make_way(file)
    file.write_text(text, encoding="utf-8")


def _make_way(file: Path) -> None:
    """Make the folder of a file, and do away with a link, whose goal is another's.

    Raises
    ------
    OSError
        The folder is a link: what it leads to would change before all is well.
    """
    if file.parent.is_symlink():
        raise OSError(errno.ELOOP, f"{file.parent.name} in it is a link")
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.is_symlink():
        file.unlink()


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
    _make_way(file)
    with file.open("w", encoding="utf-8", newline="") as output:
        output.write(comments)
        writer = csv.DictWriter(output, list(columns), restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
