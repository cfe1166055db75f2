"""The checks of where data may lie, and of what is copied between regions."""

from __future__ import annotations

from collections.abc import Iterator

from solver.verify.evidence import Evidence
from solver.verify.figures import Figures
from solver.verify.violation import Violation


def check_residency(evidence: Evidence, _: Figures) -> Iterator[Violation]:
    """The nodes stand where the data may lie; a country not known is no such place."""
    allowed, country = evidence.scenario.data.residency, evidence.country
    if allowed is not None and country not in allowed:
        yield Violation("residency", "the data may not lie there", allowed, country)
