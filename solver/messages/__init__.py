"""Every sentence and label that gpuplan shows in a report, by its id.

The English texts are in `solver.messages.en`. A translation adds one module beside it
that maps the same ids to its own texts, with the same fields in braces.
"""

from string import Formatter
from typing import Any

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


def sentence(message_id: str, /, **values: object) -> str:
    """Return the text of a message with its values filled in.

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
    return _SENTENCES.vformat(MESSAGES[message_id], (), values)


def has_text(message_id: str) -> bool:
    """Return whether there is a message of this id."""
    return message_id in MESSAGES
