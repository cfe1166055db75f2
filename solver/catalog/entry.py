"""What every record of a catalog has: a name, a source and a date."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

__all__ = ["Entry"]


class Entry(BaseModel):
    """A catalog record: it knows where its figures come from and how old they are."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=False,
        allow_inf_nan=False,
        defer_build=True,  # a command reads few of the kinds
    )

    id: str
    """Its name in other entries and on the command line."""
    source: str
    """Where the figures were read; 'memory' means general knowledge, an estimate."""
    as_of: str = ""
    """Date of the figures, as precise as the source gives it."""
    note: str = ""
    """What else has to be known about the figures."""
