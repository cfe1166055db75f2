"""Reading the facts' tables and writing YAML entries and CSV tables."""

import csv
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

ESTIMATED_AS_OF = "2026-11"
"""When the estimates (source 'memory') were written down."""

_PLAIN_TEXT = re.compile(r"[A-Za-z(/][A-Za-z0-9 ,.;()/+_=<>%@^×–'*-]*")
_WORDS = frozenset(("null", "true", "false", "yes", "no", "on", "off", "~"))


def rows(facts: Path, name: str) -> list[dict[str, str]]:
    """Return the rows of a table of the facts, cells stripped."""
    with (facts / name).open(encoding="utf-8", newline="") as file:
        return [{k: v.strip() for k, v in row.items()} for row in csv.DictReader(file)]


def number(text: str) -> float | int | None:
    """Return a cell's number, whole where it is; None where the cell is empty."""
    if not text:
        return None
    value = float(text)
    return int(value) if value == int(value) else value


def slug(text: str) -> str:
    """Return a text in lower case with only letters, digits, dots and hyphens."""
    return re.sub(r"[^a-z0-9.]+", "-", text.casefold()).strip("-.")


def shorten_source(text: str) -> str:
    """Return a source's name without the gatherers' remarks."""
    text = re.sub(r" \(no commit date stored[^)]*\)", "", text)
    return re.sub(
        r" src/gpuhunt/providers/crusoe.py GPU_PRICING \(hard-coded from "
        r"crusoe.ai/cloud/pricing\)",
        " crusoe.py (crusoe.ai pricing)",
        text,
    )


def as_of(text: str) -> str:
    """Return a date as precise as the facts have it: 2026-08, 2026, 2025/2026."""
    match = re.match(r"(\d{4}(?:-\d{2}(?:-\d{2})?)?)(?:-(\d{4}))?(?=$|[ (])", text)
    if match is None:
        return ESTIMATED_AS_OF
    first, last = match.groups()
    return f"{first}/{last}" if last else first


def dump_entry(path: Path, values: Mapping[str, Any]) -> None:
    """Write a YAML entry; values that are None or empty are left out."""
    path.write_text(yaml_text(values), encoding="utf-8")


def yaml_text(values: Mapping[str, Any], indent: str = "") -> str:
    """Return a mapping as YAML, nested mappings indented."""
    text = ""
    for key, value in values.items():
        if value is None or value in ("", (), [], {}):
            continue
        if isinstance(value, Mapping) and any(
            isinstance(v, Mapping) for v in value.values()
        ):
            text += f"{indent}{key}:\n{yaml_text(value, indent + '  ')}"
        elif isinstance(value, Mapping) and indent == "" and "source" in value:
            text += f"{indent}{key}:\n{yaml_text(value, indent + '  ')}"
        else:
            text += f"{indent}{key}: {_scalar(value)}\n"
    return text


def _scalar(value: Any) -> str:
    """Return a value in YAML's flow style."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return (
            repr(int(value))
            if value == int(value) and abs(value) < 1e15
            else repr(value)
        )
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Mapping):
        inner = ", ".join(f"{_scalar(k)}: {_scalar(v)}" for k, v in value.items())
        return "{" + inner + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_item(v) for v in value) + "]"
    text = str(value)
    plain = _PLAIN_TEXT.fullmatch(text) and not text.endswith((" ", ":"))
    if plain and text.casefold() not in _WORDS:
        return text
    return json.dumps(text, ensure_ascii=False)


def _item(value: Any) -> str:
    """Return an element of a flow list."""
    text = _scalar(value)
    if (
        not text.startswith('"')
        and isinstance(value, str)
        and not value.replace("-", "").replace(".", "").replace("_", "").isalnum()
    ):
        return json.dumps(value, ensure_ascii=False)
    return text


def dump_table(
    path: Path, columns: Sequence[str], table: Iterable[Mapping[str, Any]]
) -> None:
    """Write a CSV table."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        for row in table:
            writer.writerow([_table_cell(row.get(column)) for column in columns])


def _table_cell(value: Any) -> str:
    """Return a value as a CSV cell."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else ""
    if isinstance(value, float):
        return repr(int(value)) if value == int(value) else repr(value)
    if isinstance(value, (list, tuple)):
        return ";".join(str(item) for item in value)
    return str(value)
