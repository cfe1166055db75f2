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
    "nearest",
]


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
        text = ": ".join(part for part in (self.where, self.path, self.message) if part)
        return text if self.hint is None else f"{text} (did you mean '{self.hint}'?)"

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
