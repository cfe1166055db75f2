"""How parts of a text are put together in the language that is spoken."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any

from solver.messages import sentence

__all__ = ["clauses", "day_text", "listed", "pair", "sentences", "told_again"]


def listed(words: Iterable[str]) -> str:
    """Return words in a row: ``a, b``."""
    return sentence("list.words").join(words)


def clauses(parts: Iterable[str]) -> str:
    """Return parts of a sentence in a row: ``this is so; that is so``."""
    return sentence("list.clauses").join(parts)


def pair(first: str, second: str) -> str:
    """Return two facts of one thing in a row: ``aws us-east-1, spot``."""
    return sentence("list.pair", first=first, second=second)


def sentences(texts: Iterable[str]) -> str:
    """Return whole sentences in a row."""
    return sentence("list.sentences").join(texts)


def day_text(day: date | str) -> str:
    """Return a date as it is written in the language; a text is one in ISO 8601."""
    of = date.fromisoformat(day) if isinstance(day, str) else day
    return sentence("value.day", year=of.year, month=of.month, day=of.day)


def told_again(message_id: str, values: Mapping[str, Any], text: str) -> str:
    """Return a message that was kept, in the language that is spoken.

    Parameters
    ----------
    message_id, values, text
        Of the message; the text stays where the id is of another version, or the values
        do not fill its sentence. Values that are texts themselves stay as they are.
    """
    try:
        return sentence(message_id, **values)
    except (KeyError, ValueError, TypeError):
        return text
