"""Every sentence and label that gpuplan shows in a report, by its id.

The English texts are in `solver.messages.en`, the Chinese in `solver.messages.zh`. A
translation maps the same ids to its own texts, with the same fields in braces; it is
loaded when it is first spoken (docs/languages.md).
"""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from string import Formatter
from typing import Any

from solver.languages import ENGLISH, language
from solver.messages.en import MESSAGES

__all__ = ["MESSAGES", "has_text", "sentence"]


class _Sentences(Formatter):
    """Formats as `str.format`, and chooses between ``{nodes:node|nodes}`` by number."""

    def format_field(self, value: Any, format_spec: str) -> str:
        """Return a value as its format says, or the form of a word that it needs."""
        one, bar, many = format_spec.partition("|")
        if not bar:
            return str(super().format_field(value, format_spec))
        return one if value == 1 else many


_SENTENCES = _Sentences()


@cache
def _texts(code: str) -> Mapping[str, str]:
    """Return the texts of a language by their ids."""
    if code == ENGLISH:
        return MESSAGES
    # what a translation lacks, which a test refuses, is better told in English
    return {**MESSAGES, **import_module(f"solver.messages.{code}").MESSAGES}


def sentence(message_id: str, /, **values: object) -> str:
    """Return the text of a message with its values, in the language that is spoken.

    Parameters
    ----------
    message_id
        Key of `MESSAGES`, such as ``headline.optimal``.
    **values
        The fields that the text names; numbers are formatted by the text itself, and
        ``{gpus:GPU|GPUs}`` is the form of the word that goes with the number.

    Raises
    ------
    KeyError
        There is no such message, or a field of it has no value.
    """
    return _SENTENCES.vformat(_texts(language())[message_id], (), values)


def has_text(message_id: str) -> bool:
    """Return whether there is a message of this id."""
    return message_id in MESSAGES
