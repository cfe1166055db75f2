"""A map of the world with marked places as a chart of a page (needs matplotlib)."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import files
from itertools import groupby
from typing import Any

from solver.report.charts import drawn, ink

__all__ = ["Place", "world_map"]

_WIDTH, _HEIGHT = 720, 300

_SOUTH, _NORTH = -57.0, 80.0
"""Degrees of latitude that are shown; longitude is stretched to fit."""

_DATE_LINE = 180.0

_MARKS = {
    "best": ("*", 15.0, "good"),
    "plan": ("o", 7.0, "c0"),
    "none": ("x", 6.0, "muted"),
}
"""Kind of a place to its shape, size and colour."""


@dataclass(frozen=True, slots=True)
class Place:
    """A place on the map: ``kind`` is best, plan or none."""

    lon: float
    lat: float
    kind: str


def world_map(key: str, title: str, text: str, places: Iterable[Place]) -> str:
    """Return the outline of the land and the places on it, the best one last."""
    ordered = sorted(places, key=lambda place: list(_MARKS).index(place.kind))

    def draw(figure: Any) -> None:
        from matplotlib.patches import Polygon

        axes = figure.add_axes((0, 0, 1, 1))
        axes.set(xlim=(-180, 180), ylim=(_SOUTH, _NORTH))
        axes.set_axis_off()
        for ring in _land():
            axes.add_patch(Polygon(ring, facecolor=ink("land"), edgecolor="none"))
        for place in reversed(ordered):
            mark, size, colour = _MARKS[place.kind]
            axes.plot(
                place.lon,
                place.lat,
                mark,
                markersize=size,
                color=ink(colour),
                markeredgecolor=ink(colour if mark == "x" else "surface"),
                markeredgewidth=1.5 if mark == "x" else 1.0,
            )

    return drawn(key, title, text, (_WIDTH, _HEIGHT), draw)


def _land() -> list[list[tuple[float, float]]]:
    """Return the outline of the land, a ring of longitudes and latitudes each.

    What reaches over the date line is there twice, once at either side.
    """
    text = (files("solver.report") / "land_outline.csv").read_text(encoding="utf-8")
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    rows = csv.DictReader(lines)
    rings = [
        [(float(row["lon"]), float(row["lat"])) for row in ring]
        for _, ring in groupby(rows, key=lambda row: row["ring"])
    ]
    again = [
        [(lon - math.copysign(360.0, far), lat) for lon, lat in ring]
        for ring in rings
        if abs(far := max((lon for lon, _ in ring), key=abs)) > _DATE_LINE
    ]
    return rings + again
