"""What a format writes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from solver.plan import Message

__all__ = ["Files"]


@dataclass(frozen=True, slots=True)
class Files:
    """What was written of a run.

    Parameters
    ----------
    texts
        Name to text, in the order in which they are to be read; names are relative
        paths with ``/``.
    notes
        What the user should know before running them.
    """

    texts: Mapping[str, str]
    notes: tuple[Message, ...] = ()
