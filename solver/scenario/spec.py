"""What all mappings of a scenario file have in common."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    model_validator,
)

from solver.scenario.quantities import Text, any_of, word

Spelled = BeforeValidator(word)
"""A word of a fixed list, in any case and with spaces, hyphens or underscores."""
AnyOf = BeforeValidator(any_of)
"""A list that means any of its members; a single value is a list of one."""

Names = Annotated[tuple[Text, ...], AnyOf]


class Spec(BaseModel):
    """A mapping of the scenario file."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        use_attribute_docstrings=True,
        populate_by_name=False,
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
    def keys(cls) -> tuple[str, ...]:
        """Return the keys as they are written."""
        return tuple(f.alias or name for name, f in cls.model_fields.items())


def _form(value: Any) -> str:
    """Return which form a value has that may be written in several."""
    if isinstance(value, dict):
        return "<mapping>"
    return "<list>" if isinstance(value, list | tuple) else "<value>"


Form = Discriminator(_form)
