"""What all mappings of a scenario file have in common."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    model_validator,
)
from pydantic_core import CoreSchema, core_schema

from solver.field_texts import field_texts
from solver.scenario.quantities import Text, any_of, word


class _Spelled:
    """Annotation of a word of a fixed list, after which an ending means nothing."""

    def __init__(self, ending: str = "") -> None:
        self._ending = ending

    def _word(self, value: Any) -> Any:
        """Return a word in its canonical spelling, without the ending."""
        spelled = word(value)
        return spelled.removesuffix(self._ending) if isinstance(spelled, str) else value

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Return the schema that takes every spelling."""
        return core_schema.no_info_before_validator_function(
            self._word, handler(source)
        )

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Return the JSON Schema: the words, and how else each may be spelled."""
        described = handler(schema)
        words = described.get("enum", [described.get("const")])
        spelled = "|".join(_spellings(str(known)) for known in words)
        if self._ending:
            spelled = f"({spelled})({_spellings(self._ending)})?"
        return {"anyOf": [described, {"type": "string", "pattern": f"^({spelled})$"}]}


class _AnyOf:
    """Annotation of a list whose only member may stand alone."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Return the schema that takes a single value as a list of one."""
        return core_schema.no_info_before_validator_function(any_of, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Return the JSON Schema: a member, or a list of them."""
        described = handler(schema)
        return {"anyOf": [described["items"], described]}


def _spellings(known: str) -> str:
    """Return a pattern of all that `word` reads as a word, for any regex dialect."""
    letters = (
        "[-_ ]"
        if letter == "_"
        else f"[{letter.upper()}{letter.lower()}]"
        if letter.isalpha()
        else re.escape(letter)
        for letter in known
    )
    return "".join(letters)


Spelled = _Spelled()
"""A word of a fixed list, in any case and with spaces, hyphens or underscores."""
SpelledModule = _Spelled("_proj")
"""The same of linear layers, as PEFT names them (``q_proj``) or without the ending."""
AnyOf = _AnyOf()
"""A list that means any of its members; a single value is a list of one."""

Names = Annotated[tuple[Text, ...], AnyOf]


class Spec(BaseModel):
    """A mapping of the scenario file."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        populate_by_name=False,
        defer_build=True,  # most keys of most scenarios are left out
    )

    @model_validator(mode="before")
    @classmethod
    def _without_empty(cls, data: Any) -> Any:
        """Leave out known keys that have no value."""
        if not isinstance(data, dict):
            return data
        known = set(cls.keys())
        return {k: v for k, v in data.items() if v is not None or k not in known}

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Return the JSON Schema, in which a key may be without a value."""
        described = handler.resolve_ref_schema(handler(schema))
        needed = described.get("required", ())
        texts = field_texts(cls)
        names = {f.alias or name: name for name, f in cls.model_fields.items()}
        for key, field in described.get("properties", {}).items():
            if text := texts.get(names[key]):
                field.setdefault("description", text)
            if key not in needed:
                _allow_empty(field)
        return described

    @classmethod
    def keys(cls) -> tuple[str, ...]:
        """Return the keys as they are written."""
        return tuple(f.alias or name for name, f in cls.model_fields.items())


def _allow_empty(field: dict[str, Any]) -> None:
    """Change the JSON Schema of a key so that it also takes no value."""
    help_keys = ("description", "title", "default")
    said = {key: field.pop(key) for key in help_keys if key in field}
    forms = field.pop("anyOf", None) or [dict(field)]
    field.clear()
    if {"type": "null"} not in forms:
        forms = [*forms, {"type": "null"}]
    field.update({"anyOf": forms, **said})


def _form(value: Any) -> str:
    """Return which form a value has that may be written in several."""
    if isinstance(value, dict):
        return "<mapping>"
    return "<list>" if isinstance(value, list | tuple) else "<value>"


Form = Discriminator(_form)
