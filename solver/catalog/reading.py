"""Catalog files to records: every fault is an Issue with its file, line and column.

A part of a catalog has one of three forms:

- ``folder``: ``gpus/<id>.yaml``, one entry a file; the file's name is the id
- ``mapping``: ``optimizers.yaml``, one file of ``id: {…}``
- ``table``: ``servers.csv``, or a folder of tables, ``offers/<provider>.csv``; one row
  an entry. An empty cell is a value left out; lists are separated by ``;``.
"""

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from io import StringIO
from typing import Any, Literal

from pydantic import ValidationError

from solver.catalog.bounds import bounds_of
from solver.catalog.schema import Entry
from solver.catalog.transformer_rules import SizeFault
from solver.errors import InputError, Issue, IssueLog, nearest, shown
from solver.files import is_file, is_folder
from solver.yaml_source import (
    MAX_BYTES,
    DataPath,
    dotted,
    load_plain,
    load_yaml,
    not_utf8,
)

__all__ = [
    "Folder",
    "Origin",
    "Part",
    "Record",
    "read_entry",
    "read_part",
    "read_text",
    "table_lines",
    "yaml_mapping",
]

MAX_TABLE_BYTES = 50_000_000

_LISTS = frozenset(("aliases", "storage", "available", "continents"))
"""Columns whose cells are lists."""


@dataclass(frozen=True, slots=True)
class Folder:
    """A catalog folder and what to call it in messages."""

    root: Traversable
    name: str


@dataclass(frozen=True, slots=True)
class Part:
    """One kind of entry: its file or folder, form and record class."""

    file: str
    form: Literal["folder", "mapping", "table", "tables"]
    model: type[Entry]
    complete: Callable[[dict[str, Any]], None] | None = None
    """Fills in keys that follow from others, before validation."""
    derived: frozenset[str] = frozenset()
    """The keys that ``complete`` fills in where they are left out."""
    check: Callable[[Any], Iterable[SizeFault]] | None = None
    """Tells which values of a valid entry do not go together."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an entry was read: a whole file, a key of it, or a line of a table."""

    file: Traversable
    name: str
    key: str | None = None
    line: int | None = None

    def where(self, path: DataPath = (), *, key: bool = False) -> str:
        """Return ``name:line:column`` of a value of the entry.

        Parameters
        ----------
        path
            Keys from the entry down to the value.
        key
            Point at the key rather than at its value.
        """
        if self.line is not None:
            column = self._column(str(path[0])) if path else 1
            return f"{self.name}:{self.line}:{column}"
        if self.key is None and not path:
            return f"{self.name}:1:1"
        source = load_yaml(read_text(self.file, self.name), self.name)
        start = () if self.key is None else (self.key,)
        return source.where(start + path, key=key or not path)

    def _column(self, field: str) -> int:
        """Return the column in which the cell of a field starts."""
        lines = table_lines(read_text(self.file, self.name, MAX_TABLE_BYTES))
        header = _header_row(csv.reader(lines))
        if field not in header or self.line is None or self.line > len(lines):
            return 1
        return _cell_column(lines[self.line - 1], header.index(field))


@dataclass(frozen=True, slots=True)
class Record:
    """A validated entry and where it was read."""

    entry: Entry
    origin: Origin


@dataclass(frozen=True, slots=True)
class _Raw:
    """An entry before validation."""

    id: str
    data: dict[str, Any]
    origin: Origin


def read_part(part: Part, folder: Folder, log: IssueLog) -> dict[str, Record]:
    """Return the records of one part of one folder, by id.

    Parameters
    ----------
    part, folder
        What to read and where; a folder need not have every part.
    log
        Takes every fault found; entries with faults are left out.
    """
    records: dict[str, Record] = {}
    for raw in _raw_entries(part, folder, log):
        if raw.id in records:
            first = records[raw.id].origin.where()
            message = f"{shown(raw.id)} is defined twice, first at {first}"
            log.add("duplicate-id", message, raw.origin.where(), raw.id)
            continue
        try:
            records[raw.id] = _record(part, raw)
        except InputError as error:
            log.extend(error.issues)
    return records


def _record(part: Part, raw: _Raw) -> Record:
    """Return an entry that is right in each of its values, and as a whole.

    Raises
    ------
    InputError
        What is wrong with it.
    """
    try:
        entry = part.model.model_validate(raw.data)
    except ValidationError as error:
        raise InputError(_issues(error, part.model, raw)) from None
    faults = () if part.check is None else tuple(part.check(entry))
    if faults:
        raise InputError(
            Issue(
                fault.code,
                fault.message,
                raw.origin.where((fault.field,), key=fault.key),
                dotted((raw.id, fault.field)),
            )
            for fault in faults
        )
    return Record(entry, raw.origin)


def read_entry(part: Part, file: Traversable, name: str) -> Record:
    """Return the entry of one YAML file whose name is the id.

    Raises
    ------
    InputError
        What is wrong with the file, all faults at once.
    """
    (raw,) = _yaml_entry(part, file, name, IssueLog())
    return _record(part, raw)


def read_text(file: Traversable, name: str, limit: int = MAX_BYTES) -> str:
    """Return the text of a UTF-8 file.

    Raises
    ------
    InputError
        It cannot be read, is no UTF-8, or is larger than ``limit`` bytes.
    """
    try:
        content = file.read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        message = f"the file cannot be read: {reason}"
        raise InputError([Issue("file-unreadable", message, name)]) from None
    if len(content) > limit:
        message = f"the file is larger than {limit // 1_000_000} MB"
        raise InputError([Issue("file-too-large", message, name)])
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError([not_utf8(error, name)]) from None


def yaml_mapping(file: Traversable, name: str) -> dict[str, Any]:
    """Return the keys and values at the top of a YAML file.

    Raises
    ------
    InputError
        The file cannot be read or holds something else.
    """
    text = read_text(file, name)
    data = load_plain(text, name)
    if isinstance(data, dict):
        return data
    return load_yaml(text, name).data  # raises, saying what stands there instead


def _raw_entries(part: Part, folder: Folder, log: IssueLog) -> Iterator[_Raw]:
    """Yield the entries of a part in order of file name and line."""
    place = folder.root / part.file
    name = f"{folder.name}/{part.file}"
    if part.form in ("folder", "tables"):
        suffix = ".yaml" if part.form == "folder" else ".csv"
        for file in _files(place, suffix):
            yield from _guarded(part, file, f"{name}/{file.name}", log)
    elif is_file(place):
        yield from _guarded(part, place, name, log)


def _files(place: Traversable, suffix: str) -> list[Traversable]:
    """Return the files of a folder with a suffix, sorted by name."""
    if not is_folder(place):
        return []
    files = (file for file in place.iterdir() if file.name.endswith(suffix))
    return sorted(files, key=lambda file: file.name)


def _guarded(part: Part, file: Traversable, name: str, log: IssueLog) -> list[_Raw]:
    """Return the entries of one file; log why it could not be read."""
    read = {"folder": _yaml_entry, "mapping": _yaml_entries}.get(part.form, _rows)
    try:
        return list(read(part, file, name, log))
    except InputError as error:
        log.extend(error.issues)
        return []


def _yaml_entry(
    part: Part, file: Traversable, name: str, _log: IssueLog
) -> Iterator[_Raw]:
    """Yield the entry of a YAML file whose name is the id."""
    data = yaml_mapping(file, name)
    entry_id = file.name.removesuffix(".yaml")
    origin = Origin(file, name)
    if data.setdefault("id", entry_id) != entry_id:
        message = f"the id has to be the file's name, '{entry_id}'"
        raise InputError([Issue("wrong-value", message, origin.where(("id",)), "id")])
    if part.complete is not None:
        part.complete(data)
    yield _Raw(entry_id, data, origin)


def _yaml_entries(
    part: Part, file: Traversable, name: str, log: IssueLog
) -> Iterator[_Raw]:
    """Yield the entries of a YAML file of ``id: {…}``."""
    for entry_id, data in yaml_mapping(file, name).items():
        origin = Origin(file, name, key=entry_id)
        if not isinstance(data, dict):
            message = "expected keys and their values"
            log.add("wrong-type", message, origin.where(), entry_id)
            continue
        data["id"] = entry_id
        if part.complete is not None:
            part.complete(data)
        yield _Raw(entry_id, data, origin)


def _rows(part: Part, file: Traversable, name: str, log: IssueLog) -> Iterator[_Raw]:
    """Yield the rows of a CSV table."""
    lines = table_lines(read_text(file, name, MAX_TABLE_BYTES))
    reader = csv.reader(lines, strict=True)
    try:
        header = [column.strip() for column in _header_row(reader)]
        _check_header(header, part, name, lines).raise_if_any()
        end = reader.line_num
        for row in reader:
            line, end = end + 1, reader.line_num
            if not any(row):
                continue
            if len(row) != len(header):
                message = f"{len(row)} cells, but the table has {len(header)} columns"
                log.add("wrong-columns", message, f"{name}:{line}:1")
                continue
            data: dict[str, Any] = {
                column: _cell(column, cell) if column in _LISTS else cell
                for column, cell in zip(header, row, strict=True)
                if cell
            }
            if part.complete is not None:
                part.complete(data)
            yield _Raw(data.get("id", ""), data, Origin(file, name, line=line))
    except csv.Error as error:
        message = f"not a CSV table: {error}"
        log.add("csv-syntax", message, f"{name}:{reader.line_num}:1")


def table_lines(text: str) -> list[str]:
    """Return the lines of a table, with their ends, split at line feeds only.

    A line that starts with ``#``, outside of a quoted cell, is a comment: empty.
    """
    lines = list(StringIO(text, newline=""))
    if not (text.startswith("#") or "\n#" in text):
        return lines
    quoted = False
    for number, line in enumerate(lines):
        if not quoted and line.startswith("#"):
            lines[number] = "\n"
        elif line.count('"') % 2:
            quoted = not quoted
    return lines


def _header_row(reader: Iterator[list[str]]) -> list[str]:
    """Return the first row that is not empty."""
    return next((row for row in reader if row), [])


def _header_line(lines: list[str]) -> int:
    """Return the number, from 1, of a table's first line that is not empty."""
    return next((n for n, line in enumerate(lines, start=1) if line.strip()), 1)


def _check_header(
    header: list[str], part: Part, name: str, lines: list[str]
) -> IssueLog:
    """Return the faults of a table's header."""
    log = IssueLog()
    fields = part.model.model_fields
    line = _header_line(lines)
    for index, column in enumerate(header):
        where = f"{name}:{line}:{_cell_column(lines[line - 1], index)}"
        if column not in fields:
            hint = nearest(column, fields)
            log.add("unknown-key", "no such column", where, column, hint)
        elif column in header[:index]:
            log.add("duplicate-key", "the column stands here twice", where, column)
    required = {key for key, field in fields.items() if field.is_required()}
    for column in sorted(required - part.derived - set(header)):
        where = f"{name}:{line}:1"
        log.add("missing-key", "the table needs this column", where, column)
    return log


def _cell(column: str, text: str) -> Any:
    """Return the list that a cell holds."""
    parts = [part.strip() for part in text.split(";") if part.strip()]
    if column == "available":
        return [
            dict(zip(("from", "nodes"), _pair(part), strict=True)) for part in parts
        ]
    # storage: 'free' says that there is nothing to rent
    return [] if column == "storage" and parts == ["free"] else parts


def _pair(text: str) -> tuple[str | None, str]:
    """Return date and nodes of ``2026-12-01:16``, or of ``16`` (now)."""
    start, separator, nodes = text.rpartition(":")
    return (start, nodes) if separator else (None, nodes)


def _cell_column(line: str, index: int) -> int:
    """Return the column, from 1, in which a cell of a CSV line starts."""
    quoted = False
    for position, character in enumerate(line):
        if index == 0:
            return position + 1
        if character == '"':
            quoted = not quoted
        elif character == "," and not quoted:
            index -= 1
    return len(line) + 1 if index == 0 else 1


_NUMBERS = ("float_", "int_", "bool_", "decimal_", "number_")


def _issues(error: ValidationError, model: type[Entry], raw: _Raw) -> Iterable[Issue]:
    """Return what pydantic found wrong, in our words."""
    for fault in error.errors(include_url=False):
        path: DataPath = fault["loc"]
        kind, context = fault["type"], fault.get("ctx", {})
        label = dotted((raw.id, *path) if raw.id else path)
        at_key = kind == "extra_forbidden"
        where = raw.origin.where(path, key=at_key)
        yield Issue(
            *_words(kind, context, fault, model), where, label, _hint(fault, model)
        )


def _words(
    kind: str, context: Mapping[str, Any], fault: Mapping[str, Any], model: type[Entry]
) -> tuple[str, str]:
    """Return the code and message of a fault."""
    written = shown(fault["input"])
    if kind == "missing":
        return "missing-key", "this has to be stated"
    if kind == "extra_forbidden":
        return "unknown-key", f"a {model.__name__} has no such key"
    if kind == "literal_error":
        return "wrong-value", f"expected {context['expected']}, not {written}"
    if kind.startswith(("greater_than", "less_than")):
        return "out-of-range", f"{_limits(fault, model)}, not {written}"
    if kind == "finite_number":
        return "out-of-range", f"expected a finite number, not {written}"
    message = str(fault["msg"]).removeprefix("Value error, ")
    message = message.replace("Input should be", "expected", 1)
    code = (
        "wrong-type" if kind.startswith(_NUMBERS) or "_type" in kind else "wrong-value"
    )
    return code, f"{message}, not {written}"


def _limits(fault: Mapping[str, Any], model: type[Entry]) -> str:
    """Return what is expected of a number that is out of range."""
    bounds = bounds_of(model, str(fault["loc"][0]))
    if bounds is not None:
        return f"expected {bounds}"
    return str(fault["msg"]).replace("Input should", "it has to")


def _hint(fault: Mapping[str, Any], model: type[Entry]) -> str | None:
    """Return the nearest right spelling of a key or value."""
    if fault["type"] == "extra_forbidden":
        return nearest(str(fault["loc"][-1]), model.model_fields)
    if fault["type"] == "literal_error":
        choices = str(fault["ctx"]["expected"]).replace(" or ", ", ").split(", ")
        return nearest(str(fault["input"]), [c.strip("'") for c in choices])
    return None
