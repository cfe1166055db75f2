"""Whole numbers as people limit them: a value, a list, or smallest and largest."""

from __future__ import annotations

from typing import Annotated

from pydantic import Tag

from solver.scenario.quantities import Degree, DegreeOrZero, SpareCount
from solver.scenario.spec import Form, Spec


class RangeSpec(Spec):
    """Limits of a whole number."""

    min: DegreeOrZero | None = None
    """Smallest value."""
    max: DegreeOrZero | None = None
    """Largest value."""


Degrees = Annotated[
    Annotated[Degree, Tag("<value>")]
    | Annotated[tuple[Degree, ...], Tag("<list>")]
    | Annotated[RangeSpec, Tag("<mapping>")],
    Form,
]
"""8, or [4, 8], or {min: 1, max: 8}."""
Stages = Annotated[
    Annotated[DegreeOrZero, Tag("<value>")]
    | Annotated[tuple[DegreeOrZero, ...], Tag("<list>")]
    | Annotated[RangeSpec, Tag("<mapping>")],
    Form,
]
"""As `Degrees`, and zero is allowed."""


class SparesSpec(Spec):
    """Limits of the number of spare nodes."""

    min: SpareCount | None = None
    """Fewest spare nodes. Default: 0."""
    max: SpareCount | None = None
    """Most spare nodes. Default: 8 more than `min`."""


Spares = Annotated[
    Annotated[SpareCount, Tag("<value>")]
    | Annotated[tuple[SpareCount, ...], Tag("<list>")]
    | Annotated[SparesSpec, Tag("<mapping>")],
    Form,
]
"""2, or [0, 2, 4], or {min: 0, max: 4}."""
