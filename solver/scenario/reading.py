"""What the steps of reading a scenario share: the data, the catalog and the faults."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date
from typing import TypeVar

from solver.catalog.load import Catalog
from solver.errors import InputError, Issue, IssueLog
from solver.messages import sentence
from solver.plan import Message
from solver.scenario.overrides import ScenarioSource
from solver.scenario.scenario import InlineSupply
from solver.yaml_source import DataPath, dotted

T = TypeVar("T")

_PLACE = re.compile(r"(.*):([0-9]+):([0-9]+)")


@dataclass
class Reading:
    """A scenario on its way from data to a `Scenario`.

    Parameters
    ----------
    source
        The data and the place of each part.
    catalog
        What names are looked up in.
    today
        Day 0 of the plan.
    log
        Receives every fault.
    notices
        Receives every repair made openly.
    broken
        Paths whose fault is already logged; what stands there now is a stand-in, so
        that faults about it would be false.
    supply
        The user's own offers, once read.
    """

    source: ScenarioSource
    catalog: Catalog
    today: date
    log: IssueLog = field(default_factory=IssueLog)
    notices: list[Message] = field(default_factory=list)
    broken: set[DataPath] = field(default_factory=set)
    supply: InlineSupply = field(default_factory=InlineSupply)

    def fault(
        self,
        code: str,
        message: str,
        path: DataPath,
        hint: str | None = None,
        *,
        key: bool = False,
        depends_on: Iterable[DataPath] = (),
    ) -> None:
        """Log a fault, unless something it speaks of is known to be faulty.

        Parameters
        ----------
        code, message, hint
            As for `solver.errors.Issue`.
        path
            The place in the data.
        key
            Point at the key rather than at its value.
        depends_on
            Other places that the fault speaks of.
        """
        if any(self.is_broken(place) for place in (path, *depends_on)):
            return
        where = self.source.where(path, key=key)
        written = self.source.shown(path)
        self.log.add(code, message, where, dotted(written) or None, hint)

    def is_broken(self, path: DataPath) -> bool:
        """Return whether a value, or what it is part of, has a logged fault."""
        return any(path[: len(bad)] == bad for bad in self.broken)

    def raise_if_faulty(self) -> None:
        """Raise an `InputError` with every fault, in the order of the file's lines."""
        if self.log:
            told_once = dict.fromkeys(self.log)  # phases share what stands at the top
            raise InputError(sorted(told_once, key=_place))

    def items(
        self, path: DataPath, values: Iterable[T]
    ) -> Iterator[tuple[DataPath, T]]:
        """Yield the values of a list with the path of each in the data.

        A single value may stand for a list of one; its path is the list's own.
        """
        written = self.value(path)
        for position, value in enumerate(values):
            yield (*path, position) if isinstance(written, list) else path, value

    def value(self, path: DataPath) -> object:
        """Return what is written at a path, None if nothing is."""
        data: object = self.source.data
        for part in path:
            if isinstance(data, dict):
                data = data.get(part)
            elif isinstance(data, list) and isinstance(part, int) and part < len(data):
                data = data[part]
            else:
                return None
        return data

    def notice(self, message_id: str, **values: object) -> None:
        """Add a sentence for the user about what was assumed or repaired."""
        text = sentence(message_id, **values)
        self.notices.append(Message(message_id, dict(values), text))


def list_hint(written: object) -> str | None:
    """Return the list that text with commas is meant as: ``[SG, JP]`` of ``SG,JP``."""
    if not isinstance(written, str) or "," not in written:
        return None
    parts = [part.strip() for part in written.strip(" []").split(",")]
    meant = f"[{', '.join(part for part in parts if part)}]"
    return None if meant == written.strip() else meant


def _place(issue: Issue) -> tuple[str, int, int]:
    """Return file, line and column of a fault, to sort by."""
    match = _PLACE.fullmatch(issue.where or "")
    if match is None:
        return (issue.where or "", 0, 0)
    return (match[1], int(match[2]), int(match[3]))
