"""What was asked, kept with the answer: a plan can be acted on without other files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from solver.catalog.digest import catalog_digest

if TYPE_CHECKING:
    from solver.catalog.load import Catalog
    from solver.scenario.scenario import Scenario

__all__ = ["CatalogAsked", "Request", "request_of"]


@dataclass(frozen=True, slots=True)
class CatalogAsked:
    """A catalog: what tells it apart, and the folders over the shipped one.

    The folders are the user's, lowest precedence first.
    """

    digest: str
    folders: list[str]


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked: a scenario that names no other file, on what day, of what."""

    scenario: dict[str, Any]
    day: str
    catalog: CatalogAsked


def request_of(scenario: Scenario, catalog: Catalog) -> Request:
    """Return what an answer answers."""
    folders = [str(Path(str(f.root)).resolve()) for f in catalog.folders[1:]]
    asked = CatalogAsked(catalog_digest(catalog), folders)
    return Request(scenario.document, scenario.start_date.isoformat(), asked)
