"""The language in which gpuplan speaks: English unless another is chosen.

This is the lowest layer, so that the formats of units can follow it too; the sentences
themselves are in `solver.messages`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from solver.errors import InputError, Issue, nearest, shown

__all__ = [
    "ENGLISH",
    "LANGUAGES",
    "LANGUAGE_VARIABLE",
    "chosen",
    "language",
    "speaking",
    "use_language",
]

ENGLISH = "en"
LANGUAGES: Mapping[str, str] = {ENGLISH: "English", "zh": "简体中文"}
"""Code of a language, as ``--lang`` takes it, to its own name."""

LANGUAGE_VARIABLE = "GPUPLAN_LANG"
"""Environment variable with the language, where ``--lang`` does not say."""

_current: ContextVar[str] = ContextVar("language", default=ENGLISH)


def language() -> str:
    """Return the code of the language that is spoken now."""
    return _current.get()


def use_language(code: str) -> None:
    """Speak a language of `LANGUAGES` from now on, in this thread or task."""
    if code not in LANGUAGES:
        raise ValueError(f"no such language: {code}")
    _current.set(code)


@contextmanager
def speaking(code: str) -> Iterator[None]:
    """Speak a language of `LANGUAGES` for a while, then the one before again."""
    before = language()
    use_language(code)
    try:
        yield
    finally:
        use_language(before)


def chosen(option: str | None, environment: Mapping[str, str]) -> str:
    """Return the language that the user asks for.

    Parameters
    ----------
    option
        As typed after ``--lang``; None without it.
    environment
        The environment variables, of which ``GPUPLAN_LANG`` counts if there is no
        option. The locale (``LANG``) does not, so that what a script reads is the same
        on every computer.

    Raises
    ------
    InputError
        There is no such language.
    """
    asked, where = option, "--lang"
    if asked is None:
        asked, where = environment.get(LANGUAGE_VARIABLE) or ENGLISH, LANGUAGE_VARIABLE
    if asked in LANGUAGES:
        return asked
    known = " or ".join(f"{code} ({name})" for code, name in _NAMES.items())
    message = f"expected a language, {known}, not {shown(asked)}"
    raise InputError([Issue("unknown-name", message, where, None, _meant(asked))])


_NAMES = {"en": "English", "zh": "Chinese"}
"""Names of languages in errors, which are English and may be shown in ASCII."""

_ALIASES = {
    "en": ("english", "en-us", "en-gb", "en_us"),
    "zh": ("chinese", "zh-cn", "zh-hans", "zh_cn", "cn", "zh_cn.utf-8", "中文"),
}
"""What people write for a language, none of which is taken silently."""


def _meant(asked: str) -> str | None:
    """Return the language that was probably meant."""
    spellings = {word: code for code, words in _ALIASES.items() for word in words}
    spellings |= {code: code for code in LANGUAGES}
    found = nearest(asked, spellings, cutoff=0.5)
    return spellings[found] if found else None
