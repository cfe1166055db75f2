"""A sweep after reading: a base scenario, and what is varied around it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from solver.sweeps.draws import Distribution
from solver.yaml_source import DataPath, Source

if TYPE_CHECKING:
    from solver.scenario.gallery import Found

__all__ = [
    "DRAW",
    "OVERLAY",
    "PRICE_FACTOR",
    "Axis",
    "Condition",
    "Draws",
    "Overlay",
    "PriceChange",
    "Sweep",
]

PRICE_FACTOR = "price_factor"
"""What is multiplied with all prices: a quantity of a sweep, not of a scenario."""
OVERLAY = "overlay"
DRAW = "draw"


@dataclass(frozen=True, slots=True)
class Axis:
    """What varies together: one key, or several of a zipped group.

    Parameters
    ----------
    keys
        Keys of the scenario, or ``price_factor``.
    rows
        Values of the keys, one tuple a step of the axis.
    places
        Where each value of each row stands in the sweep file.
    """

    keys: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    places: tuple[tuple[DataPath, ...], ...]


@dataclass(frozen=True, slots=True)
class PriceChange:
    """A factor on the prices of some offers; None matches all."""

    factor: float
    providers: tuple[str, ...] | None = None
    regions: tuple[str, ...] | None = None
    gpus: tuple[str, ...] | None = None
    purchase: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Overlay:
    """A change of what is on offer.

    Parameters
    ----------
    name
        What it is called in results.
    prices
        Changes of prices, all of which apply.
    exclude
        What is not on offer: ``gpus``, ``providers``, ``regions``, ``countries``,
        ``purchase`` to catalog ids.
    catalog
        A folder read over the catalog, as the user wrote it; None: no folder.
    folder
        That folder as a path to open.
    """

    name: str
    prices: tuple[PriceChange, ...] = ()
    exclude: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    catalog: str | None = None
    folder: str | None = None

    @property
    def changes_nothing(self) -> bool:
        """Whether it is what is on offer as listed."""
        return not (self.prices or self.exclude or self.catalog)

    def as_key(self) -> dict[str, Any]:
        """All of it but its name, as JSON can hold it."""
        return {
            "prices": [
                {k: getattr(change, k) for k in PriceChange.__slots__}
                for change in self.prices
            ],
            "exclude": {k: list(v) for k, v in sorted(self.exclude.items())},
            "catalog": self.catalog,
        }


@dataclass(frozen=True, slots=True)
class Draws:
    """How often quantities are drawn, and from what."""

    count: int
    seed: int
    distributions: tuple[Distribution, ...]


@dataclass(frozen=True, slots=True)
class Condition:
    """What the value of one quantity has to be for a point to be skipped.

    Parameters
    ----------
    key
        Key of an axis, ``overlay`` or a drawn quantity.
    values
        Any of these; empty: the bounds count.
    bounds
        ``below``, ``above``, ``at_least`` or ``at_most`` to a quantity.
    place
        Where it stands in the sweep file.
    """

    key: str
    values: tuple[Any, ...] = ()
    bounds: Mapping[str, Any] = field(default_factory=dict)
    place: DataPath = ()


@dataclass(frozen=True)
class Sweep:
    """A sweep, read and checked for its form; its values are not tried yet.

    Parameters
    ----------
    source
        The sweep file.
    name
        Its title.
    base
        The scenario file.
    base_source
        The data of that file.
    set_values
        Values that hold for all points, with their places.
    axes
        Axes in the order of the file; the last varies fastest.
    overlays
        Changes of the offers, one at least.
    draws
        Quantities drawn from distributions; None: nothing is drawn.
    skips
        Points that meet all conditions of any of these are left out.
    """

    source: Source
    name: str
    base: Found
    base_source: Source
    set_values: tuple[tuple[str, Any, DataPath], ...] = ()
    axes: tuple[Axis, ...] = ()
    overlays: tuple[Overlay, ...] = ()
    draws: Draws | None = None
    skips: tuple[tuple[Condition, ...], ...] = ()

    @property
    def keys(self) -> tuple[str, ...]:
        """Quantities that vary over listed values, in order; not those drawn."""
        return tuple(key for axis in self.axes for key in axis.keys)

    @property
    def drawn(self) -> tuple[str, ...]:
        """Quantities that are drawn."""
        draws = self.draws
        return () if draws is None else tuple(d.key for d in draws.distributions)

    @property
    def has_overlays(self) -> bool:
        """Whether the offers vary."""
        return len(self.overlays) > 1 or not self.overlays[0].changes_nothing
