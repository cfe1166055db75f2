"""Answers and errors as the one JSON object that ``--json`` prints.

The keys are the public contract, described in docs/json.md.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import date
from math import isfinite
from typing import TYPE_CHECKING, Any

from solver.errors import InternalError, Issue
from solver.plan import SCHEMA_VERSION, PlanResult

if TYPE_CHECKING:
    from solver.planning.insight import Insight

__all__ = [
    "check_as_json",
    "errors_as_json",
    "fields_as_json",
    "insight_as_json",
    "object_as_json",
    "result_as_json",
    "rows_as_json",
]


def result_as_json(result: PlanResult) -> str:
    """Return the answer to one scenario."""
    return _dump(result.as_dict())


def insight_as_json(insight: Insight) -> str:
    """Return the answer to one scenario and the reasons for it."""
    return _dump(insight.as_dict())


def object_as_json(name: str, data: dict[str, Any]) -> str:
    """Return one named object of a command that is no solve."""
    return _dump({"ok": True, "schema_version": SCHEMA_VERSION, name: data})


def rows_as_json(rows: Iterable[dict[str, Any]]) -> str:
    """Return the rows of a command that lists."""
    return _dump({"ok": True, "schema_version": SCHEMA_VERSION, "rows": list(rows)})


def fields_as_json(data: dict[str, Any]) -> str:
    """Return several named objects of a command that is no solve."""
    return _dump({"ok": True, "schema_version": SCHEMA_VERSION, **data})


def errors_as_json(issues: Iterable[Issue]) -> str:
    """Return the faults of an input, or a bug of ours, told as issues."""
    errors = [issue.as_dict() for issue in issues]
    return _dump({"ok": False, "schema_version": SCHEMA_VERSION, "errors": errors})


def check_as_json(
    errors: Iterable[Issue], warnings: Iterable[Issue], checked: Mapping[str, int]
) -> str:
    """Return what the checks of a catalog found; ``ok``: no error is among it."""
    found = [issue.as_dict() for issue in errors]
    data = {
        "errors": found,
        "warnings": [issue.as_dict() for issue in warnings],
        "checked": dict(checked),
    }
    return _dump({"ok": not found, "schema_version": SCHEMA_VERSION, **data})


def _dump(data: dict[str, Any]) -> str:
    """Return an object as ASCII text, so that no terminal's encoding can spoil it."""
    return json.dumps(_plain(data, ""), indent=2, allow_nan=False) + "\n"


def _plain(value: Any, path: str) -> Any:
    """Return a value as JSON knows it.

    Parameters
    ----------
    value
        Anything that a plan may hold; numpy's scalars become Python's.
    path
        Where it stands, for the message.

    Raises
    ------
    InternalError
        A number is not finite, or the value has no JSON form.
    """
    if value is None or isinstance(value, bool | str | int):
        return value
    if isinstance(value, float):
        if not isfinite(value):
            raise InternalError(f"the figure {path or 'at the top'} is {value}")
        return float(value)
    if isinstance(value, dict):
        return {str(k): _plain(v, f"{path}.{k}".lstrip(".")) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, f"{path}[{i}]") for i, item in enumerate(value)]
    if isinstance(value, set | frozenset):
        return [_plain(item, path) for item in sorted(value)]
    if isinstance(value, date):
        return value.isoformat()
    if hasattr(value, "item"):
        return _plain(value.item(), path)
    raise InternalError(f"{path} holds a {type(value).__name__}, which JSON lacks")
