"""Scenario data to checked specifications, with every fault told in our own words.

pydantic finds the faults; here each becomes an `Issue` with its place, what was
expected and the nearest right spelling. The faulty parts are then left out, so that
the rest can be looked up in the catalog and its faults be told in the same go.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from solver.errors import MAX_SHOWN, InternalError, nearest, shown
from solver.scenario.reading import Reading, list_hint
from solver.scenario.schema import ScenarioFile
from solver.scenario.spec import Spec
from solver.scenario.synonyms import key_meant, meaning
from solver.units import QuantityError
from solver.yaml_source import DataPath

STAND_INS: dict[str, Any] = {
    "model": "?",
    "workload": {},
    "offers": {"name": "?", "gpu": "?", "gpus_per_node": 1},
    "prices": {"discount": 0},
}
"""What takes the place of a faulty required part, or of a faulty item of a list."""

ITEM_LISTS = ("offers", "prices")
"""Lists whose faulty items are replaced one by one; others are dropped whole."""

MAX_SHOWN_KEYS = 12
MAX_ATTEMPTS = 20
"""How often faulty parts are dropped before the faults found so far are told."""


def read_file(reading: Reading) -> ScenarioFile:
    """Return the specifications of a scenario, without its faulty parts.

    Parameters
    ----------
    reading
        Its log receives the faults, its ``broken`` their places.
    """
    data: Any = reading.source.data
    for attempt in range(MAX_ATTEMPTS):
        try:
            return ScenarioFile.model_validate(data)
        except ValidationError as error:
            details = error.errors(include_url=False)
        if attempt == 0:
            _log_all(details, reading)
            data = copy.deepcopy(data)
        faulty = [(located(d["loc"], data), d["type"]) for d in details]
        for path, kind in faulty:
            _drop(path, kind, data, reading.broken)
    reading.raise_if_faulty()
    raise InternalError("a scenario stays faulty, but no fault was logged")


def _log_all(details: Iterable[ErrorDetails], reading: Reading) -> None:
    """Log each fault that pydantic found, in the order of the file's keys."""
    for detail in details:
        path = located(detail["loc"], reading.source.data)
        code, message, hint = _told(detail, path, reading)
        if code != "unknown-key" and (meant := meaning(path, reading.value(path))):
            hint = meant.hint
            message = "; ".join(part for part in (message, meant.remark) if part)
        reading.fault(code, message, path, hint, key=code == "unknown-key")


def located(loc: Iterable[str | int], data: Any) -> DataPath:
    """Return a place that pydantic names as a path in the data.

    pydantic also names the form of a value that may have several, and the position of
    a single value that stands for a list; these are left out. A last part that is
    missing in the data is kept.
    """
    parts = list(loc)
    path: list[str | int] = []
    for number, part in enumerate(parts):
        if isinstance(data, dict) and part in data:
            data = data[part]
        elif isinstance(data, list) and isinstance(part, int) and part < len(data):
            data = data[part]
        elif not (isinstance(data, dict) and number == len(parts) - 1):
            continue
        elif str(part).startswith("<"):
            continue
        path.append(part)
    return tuple(path)


def _told(
    detail: ErrorDetails, path: DataPath, reading: Reading
) -> tuple[str, str, str | None]:
    """Return code, message and hint of a fault."""
    kind = detail["type"]
    context = detail.get("ctx", {})
    reason = context.get("error")
    several = None
    if _may_be_list(detail["loc"], path):
        several = list_hint(reading.value(path))
    if isinstance(reason, QuantityError):
        return reason.code, reason.message, several or reason.hint
    if kind == "extra_forbidden":
        return _unknown_key(path)
    if kind == "missing":
        return "missing-key", f"{shown(str(path[-1]))} is needed", None
    if kind == "literal_error":
        told = _unknown_value(reading.value(path), str(context["expected"]))
        return (*told[:2], several or told[2])
    if kind in ("model_type", "dict_type"):
        return "wrong-type", _expected_mapping(path), None
    if kind == "union_tag_invalid":
        return "wrong-type", _expected_form(path, context), None
    return "wrong-type", _EXPECTED.get(kind, _OTHERWISE), None


def _may_be_list(loc: Iterable[str | int], path: DataPath) -> bool:
    """Return whether a faulty single value might have been a list.

    pydantic names the position in a list that a single value stands for.
    """
    parts = tuple(loc)
    alone = isinstance(parts[-1], int) and path[-1:] != parts[-1:]
    return alone or path[:2] == ("constraints", "parallelism")


_EXPECTED = {
    "tuple_type": "expected a list",
    "bool_type": "expected true or false",
    "bool_parsing": "expected true or false",
}


_OTHERWISE = "the value is of another kind than expected"
_FORMS = {
    "<value>": "a single value",
    "<list>": "a list",
    "<mapping>": "keys and their values",
}
"""What the forms of `solver.scenario.spec.Form` are called."""


def _expected_form(path: DataPath, context: dict[str, Any]) -> str:
    """Return in which forms a value may be written, and in which it is."""
    tags = [tag for tag in _FORMS if tag in str(context["expected_tags"])]
    expected = " or ".join(_FORMS[tag] for tag in tags)
    if path == ("offers",):
        expected = "a list of offers, or the name of a CSV file"
    return f"expected {expected}, not {_FORMS[str(context['tag'])]}"


def _unknown_key(path: DataPath) -> tuple[str, str, str | None]:
    """Return code, message and hint of a key that does not exist."""
    key = str(path[-1])
    spec = spec_at(path[:-1])
    keys = () if spec is None else spec.keys()
    hint = key_meant(path) or nearest(key, keys)
    if hint is None:
        hint = _elsewhere(key)
    if hint is not None:
        return "unknown-key", "unknown key", hint
    return "unknown-key", f"unknown key; expected one of {', '.join(keys)}", None


def _unknown_value(value: Any, expected: str) -> tuple[str, str, str | None]:
    """Return code, message and hint of a word that is not in its list."""
    words = expected.replace("'", "")
    if not isinstance(value, str):
        return "wrong-type", f"expected {words}", None
    choices = words.replace(" or ", ", ").split(", ")
    message = f"expected {words}, not {shown(value)}"
    return "wrong-value", message, nearest(value[:MAX_SHOWN], choices)


def _expected_mapping(path: DataPath) -> str:
    """Return what a mapping should hold."""
    spec = spec_at(path)
    keys = () if spec is None else spec.keys()
    shown = ", ".join(keys[:MAX_SHOWN_KEYS])
    more = " ..." if len(keys) > MAX_SHOWN_KEYS else ""
    return f"expected a mapping with keys such as {shown}{more}"


def spec_at(path: DataPath) -> type[Spec] | None:
    """Return the specification of the mapping at a path, if there is one."""
    spec: type[Spec] | None = ScenarioFile
    for part in path:
        if spec is None:
            return None
        if isinstance(part, str):
            spec = _field_spec(spec, part)
    return spec


def _field_spec(spec: type[Spec], key: str) -> type[Spec] | None:
    """Return the specification of a key's value, where that may be a mapping."""
    for name, info in spec.model_fields.items():
        if key in (name, info.alias):
            return next(_specs_in(info.annotation), None)
    return None


def _specs_in(annotation: Any) -> Iterator[type[Spec]]:
    """Yield the specifications that an annotation mentions."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        if issubclass(annotation, Spec):
            yield annotation
        return
    for part in get_args(annotation):
        yield from _specs_in(part)


def _elsewhere(key: str) -> str | None:
    """Return the full path of a key that exists in another place."""
    top = ScenarioFile.keys()
    sections = [(name, spec_at((name,))) for name in top]
    for name, spec in sections:
        if spec is not None and name not in ("offers", "prices", "model", "phases"):
            hint = nearest(key, spec.keys(), cutoff=0.85)
            if hint is not None:
                return f"{name}.{hint}"
    return nearest(key, top, cutoff=0.85)


def _drop(
    path: DataPath, kind: str, data: dict[str, Any], broken: set[DataPath]
) -> None:
    """Take a faulty part out of the data and note its place.

    Parameters
    ----------
    path
        The place of the fault.
    kind
        What pydantic calls the fault.
    data
        Changed in place.
    broken
        Receives the places of what is taken out.
    """
    if kind == "extra_forbidden":
        _remove(path, data)
        return
    broken.add(path)
    if kind == "missing":
        if len(path) == 1:
            data[str(path[0])] = copy.deepcopy(STAND_INS[str(path[0])])
            return
        path = path[:-1]
    top = str(path[0])
    if top in ITEM_LISTS and len(path) > 1 and isinstance(path[1], int):
        _drop_of_item(path, data)
        broken.add(path)
        return
    indices = [i for i, part in enumerate(path) if isinstance(part, int)]
    path = path[: indices[0]] if indices else path
    broken.add(path)
    if path == (top,) and top in ("model", "workload"):
        data[top] = copy.deepcopy(STAND_INS[top])
    else:
        _remove(path, data)


def _drop_of_item(path: DataPath, data: dict[str, Any]) -> None:
    """Take a faulty part out of an item of a list, or the item if that is faulty."""
    item = data[str(path[0])][path[1]]
    required = STAND_INS[str(path[0])]
    if len(path) > 2 and isinstance(item, dict):
        if path[2] in required:
            item[path[2]] = required[path[2]]
        else:
            item.pop(path[2], None)
    elif isinstance(item, dict):
        for key, value in required.items():
            if item.get(key) is None:
                item[key] = value
    else:
        data[str(path[0])][path[1]] = copy.deepcopy(required)


def _remove(path: DataPath, data: Any) -> None:
    """Remove the value at a path, if it is still there."""
    for part in path[:-1]:
        if isinstance(data, dict):
            data = data.get(str(part))
        elif isinstance(data, list) and isinstance(part, int) and part < len(data):
            data = data[part]
    if isinstance(data, dict):
        data.pop(path[-1], None)
