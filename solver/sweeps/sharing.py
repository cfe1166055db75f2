"""What points of a sweep have in common, and what a worker keeps of it.

A worker keeps the catalog under each overlay; lattices of layouts with their memory and
step times, which prices, deadlines, budgets and regions have no part in; and the offers
joined with a scenario, which deadlines and budgets have no part in.
"""

from __future__ import annotations

import platform
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from solver import __version__
from solver.catalog.digest import catalog_digest
from solver.errors import InputError, Issue
from solver.layout_space import LatticeStore
from solver.relimited import under
from solver.setting import Setting, setting_of
from solver.sweeps.offers import catalog_under, changed, folders_of, own_changed
from solver.sweeps.points import Point, digest
from solver.sweeps.question import Question, scenario_at

if TYPE_CHECKING:
    from solver.catalog.load import Catalog

__all__ = ["Shared", "chunks_of", "offers_key", "physics_key", "shared_of"]

T = TypeVar("T")

COMMERCIAL = (
    "constraints.deadline",
    "constraints.budget",
    "constraints.regions",
    "constraints.countries",
    "constraints.providers",
    "constraints.purchase",
    "constraints.confidence",
    "constraints.max_energy",
    "constraints.max_carbon",
    "constraints.min_tokens_per_s",
    "data.location",
    "data.residency",
    "failures",
    "limits",
    "objective",
    "overheads",
    "price_factor",
    "prices",
    "serving",
    "stock",
)
"""Keys that layouts, their memory and their step times do not depend on."""

LIMITS = ("constraints.deadline", "constraints.budget")
"""Keys that play no part in which offers there are."""

LIMIT_ON = {"cost": "constraints.budget", "time": "constraints.deadline"}
"""What is minimised to the key of the limit on it."""

MOST_AT_ONCE = 32
"""Points of one solve that a worker answers before it hands them over."""

MOST_KEPT = 3
"""Kinds of physics, and joined offers, that a worker keeps of each."""


def physics_key(point: Point) -> tuple[Any, ...]:
    """What points have to have in common for their layouts to be the same."""
    touching = (
        (key, repr(value))
        for key, value in sorted(point.values.items())
        if not key.startswith(COMMERCIAL)
    )
    return (point.overlay.folder, *touching)


def offers_key(point: Point) -> str:
    """What points have to have in common for the same offers to be joined."""
    values = {k: v for k, v in point.values.items() if k not in LIMITS}
    return digest([point.overlay.as_key(), values])


def chunks_of(points: Iterable[Point], objective: str) -> list[tuple[Point, ...]]:
    """Points in the order in which they share most, those of one solve together.

    Points that differ in the limit on what is minimised alone have one best plan,
    or none: see `solver.sweeps.loosening`.
    """
    shared = LIMIT_ON.get(objective)
    groups: dict[tuple[Any, ...], list[Point]] = {}
    for point in points:
        rest = (repr(v) for k, v in point.values.items() if k != shared)
        key = (repr(physics_key(point)), offers_key(point), *rest)
        groups.setdefault(key, []).append(point)
    first = {key[:2]: group[0].number for key, group in reversed(groups.items())}
    ordered = sorted(groups.items(), key=lambda item: (item[0][0], first[item[0][:2]]))
    return [
        tuple(group[start : start + MOST_AT_ONCE])
        for _, group in ordered
        for start in range(0, len(group), MOST_AT_ONCE)
    ]


@dataclass
class Shared:
    """What a worker keeps between the points of one question."""

    key: str
    catalogs: dict[Hashable, Catalog] = field(default_factory=dict)
    stores: OrderedDict[Hashable, LatticeStore] = field(default_factory=OrderedDict)
    settings: OrderedDict[Hashable, Setting] = field(default_factory=OrderedDict)

    def setting(self, question: Question, point: Point) -> Setting:
        """The scenario of a point, joined with its offers.

        Raises
        ------
        InputError
            The scenario of the point contradicts itself.
        """
        catalog = self._catalog(question, point)
        overlay, factor = point.overlay, point.price_factor
        asked = scenario_at(question, point, catalog)

        def joined() -> Setting:
            scenario, offered = changed(asked, catalog, overlay, factor)
            store = _kept(self.stores, physics_key(point), LatticeStore)
            return setting_of(scenario, offered, store)

        known = _kept(self.settings, offers_key(point), joined)
        return under(known, own_changed(asked, catalog, overlay, factor))

    def _catalog(self, question: Question, point: Point) -> Catalog:
        """The catalog at a point without its price changes."""
        folders = folders_of(point.overlay, question.folders)
        if folders not in self.catalogs:
            self.catalogs[folders] = catalog_under(folders)
        return self.catalogs[folders]


def _kept(kept: OrderedDict[Hashable, T], key: Hashable, make: Callable[[], T]) -> T:
    """What is kept for a key, made if need be; what was used longest ago goes."""
    found = kept.pop(key, None)
    kept[key] = make() if found is None else found
    while len(kept) > MOST_KEPT:
        kept.popitem(last=False)
    return kept[key]


_KEPT = threading.local()
"""Each thread has its own: catalogs and lattices are filled as they are used."""


def shared_of(question: Question) -> Shared:
    """What this worker keeps for a question; for another one it starts anew.

    Raises
    ------
    InputError
        The worker has another version of gpuplan, or another catalog.
    """
    kept: Shared | None = getattr(_KEPT, "shared", None)
    if kept is None or kept.key != question.key:
        if question.version != __version__:
            raise _mismatch(f"gpuplan {__version__}, not {question.version}")
        catalog = catalog_under(question.folders)
        if catalog_digest(catalog) != question.catalog:
            raise _mismatch("another catalog")
        kept = _KEPT.shared = Shared(question.key, {question.folders: catalog})
    return kept


def _mismatch(what: str) -> InputError:
    message = f"the worker on {platform.node()} has {what}; results would be mixed"
    return InputError([Issue("results-mixed", message)])
