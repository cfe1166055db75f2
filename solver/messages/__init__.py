"""Every sentence and label that gpuplan shows in a report, by its id.

The English texts are in `solver.messages.en`. A translation adds one module beside it
that maps the same ids to its own texts, with the same fields in braces.
"""

from solver.messages.en import MESSAGES

__all__ = ["MESSAGES", "has_text", "sentence"]


def sentence(message_id: str, /, **values: object) -> str:
    """Return the text of a message with its values filled in.

    Parameters
    ----------
    message_id
        Key of `MESSAGES`, such as ``headline.optimal``.
    **values
        The fields that the text names; numbers are formatted by the text itself.

    Raises
    ------
    KeyError
        There is no such message, or a field of it has no value.
    """
    return MESSAGES[message_id].format(**values)


def has_text(message_id: str) -> bool:
    """Return whether there is a message of this id."""
    return message_id in MESSAGES
