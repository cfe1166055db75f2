"""What can go wrong, and how it is told.

::

    Exception
    └── GpuplanError          everything gpuplan raises on purpose
        ├── InputError        the user's input is wrong; holds Issues; exit status 2
        └── InternalError     a bug of ours; exit status 1
            └── PackagingError    shipped data is missing from the installation

That a scenario cannot be fulfilled is an answer, not an exception.

All faults of an input are collected in an `IssueLog` and reported at once. Each is
an `Issue` with a stable code in kebab-case; ``docs/errors.md`` explains the codes.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

__all__ = [
    "GpuplanError",
    "InputError",
    "InternalError",
    "Issue",
    "IssueLog",
    "PackagingError",
    "escaped",
    "nearest",
    "shown",
]

MAX_SHOWN = 60
"""Characters of a value that a message repeats."""
MAX_PLACE = 300
_MAX_BITS = 256
_LONGEST_PATH = 240
_LONG_WORD = re.compile(r"\S{200,}")


def escaped(text: str) -> str:
    """Return text with the characters that a terminal would obey as codes."""
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode() for c in text
    )


def shortened(text: str, limit: int = MAX_SHOWN) -> str:
    """Return the start of a text, with dots where there is more."""
    return text if len(text) <= limit else f"{text[:limit]}..."


def shown(value: object) -> str:
    """Return a value as a message repeats it: short, text in quotes."""
    if isinstance(value, int) and value.bit_length() > _MAX_BITS:
        return "a huge number"  # Python refuses to write out the hugest
    if isinstance(value, str):
        return f"'{escaped(shortened(value))}'"
    return escaped(shortened(str(value)))


def shown_path(path: object) -> str:
    """Return a file's path as a message repeats it: a long one loses its beginning."""
    text = str(path)
    if len(text) > _LONGEST_PATH:
        text = f"...{text[-_LONGEST_PATH:]}"
    return f"'{escaped(text)}'"


@dataclass(frozen=True, slots=True)
class Issue:
    """One fault of an input, as told to the user.

    Parameters
    ----------
    code
        Stable name of the kind of fault, kebab-case: ``unknown-key``.
    message
        What is wrong and what was expected, one sentence without a final stop.
    where
        Place in the file: ``scenario.yaml:12:5`` (line and column from 1).
    path
        Place in the data: ``constraints.deadlin``.
    hint
        The nearest right spelling.
    """

    code: str
    message: str
    where: str | None = None
    path: str | None = None
    hint: str | None = None

    def __str__(self) -> str:
        """Return the line shown to the user."""
        path = None if self.path is None else shortened(self.path, 2 * MAX_SHOWN)
        message = _LONG_WORD.sub(lambda word: shortened(word[0]), self.message)
        text = ": ".join(part for part in (self._place(), path, message) if part)
        if self.hint is not None:
            text = f"{text} (did you mean '{self.hint}'?)"
        return escaped(text)

    def _place(self) -> str | None:
        """Return the place, the middle of a very long one left out."""
        if self.where is None or len(self.where) <= MAX_PLACE:
            return self.where
        return f"{self.where[:MAX_SHOWN]}...{self.where[-MAX_SHOWN:]}"

    def as_dict(self) -> dict[str, str | None]:
        """Return the fields in the order of the JSON contract."""
        return {
            "code": self.code,
            "message": self.message,
            "where": self.where,
            "path": self.path,
            "hint": self.hint,
        }


class GpuplanError(Exception):
    """Base of everything that gpuplan raises on purpose."""


class InputError(GpuplanError):
    """The user's input is wrong; carries every fault found.

    Parameters
    ----------
    issues
        The faults, at least one, in the order in which they are shown.
    """

    def __init__(self, issues: Iterable[Issue]) -> None:
        self.issues: tuple[Issue, ...] = tuple(issues)
        if not self.issues:
            raise ValueError("an InputError needs at least one issue")
        super().__init__(self.issues)

    def __str__(self) -> str:
        """Return one line an issue."""
        return "\n".join(str(issue) for issue in self.issues)


class InternalError(GpuplanError):
    """A bug of ours: a state that no input should be able to reach."""


class PackagingError(InternalError):
    """Shipped data is missing from this installation."""


class IssueLog:
    """Collects issues, so that all are reported at once; truthy when it holds any."""

    def __init__(self) -> None:
        self._issues: list[Issue] = []

    def __bool__(self) -> bool:
        """Return whether anything was logged."""
        return bool(self._issues)

    def __len__(self) -> int:
        """Return the number of issues."""
        return len(self._issues)

    def __iter__(self) -> Iterator[Issue]:
        """Iterate over the issues in order."""
        return iter(self._issues)

    @property
    def issues(self) -> tuple[Issue, ...]:
        """The issues logged so far, in order."""
        return tuple(self._issues)

    def add(
        self,
        code: str,
        message: str,
        where: str | None = None,
        path: str | None = None,
        hint: str | None = None,
    ) -> None:
        """Log one issue; the parameters are those of `Issue`."""
        self._issues.append(Issue(code, message, where, path, hint))

    def extend(self, issues: Iterable[Issue]) -> None:
        """Log several issues, for instance those of a caught `InputError`."""
        self._issues.extend(issues)

    def raise_if_any(self) -> None:
        """Raise an `InputError` that holds every issue, if there is one."""
        if self._issues:
            raise InputError(self._issues)


def nearest(name: str, candidates: Iterable[str], cutoff: float = 0.6) -> str | None:
    """Return the candidate spelled most like the name, or None.

    Parameters
    ----------
    name
        What the user wrote.
    candidates
        The right names. Of equally near ones the first wins.
    cutoff
        Least similarity in [0, 1], as `difflib.SequenceMatcher.ratio` counts it.

    Notes
    -----
    Case does not count: ``h100`` is as near to ``H100`` as can be.
    """
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(name.casefold())
    best, best_ratio = None, cutoff
    for candidate in candidates:
        matcher.set_seq1(candidate.casefold())
        if (
            matcher.real_quick_ratio() < best_ratio
            or matcher.quick_ratio() < best_ratio
        ):
            continue
        ratio = matcher.ratio()
        if ratio > best_ratio or (best is None and ratio >= best_ratio):
            best, best_ratio = candidate, ratio
    return best
