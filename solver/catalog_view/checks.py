"""All that `gpuplan catalog check` looks at, and what it found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date
from functools import partial

from solver.catalog.consistency import CHECKS, WARNINGS, check_sources_of
from solver.catalog.date_checks import (
    MAX_PRICE_AGE_DAYS,
    check_future_dates,
    check_stale_prices,
)
from solver.catalog.load import PARTS, Catalog
from solver.catalog.schema import Architecture, Entry
from solver.catalog.whole_checks import (
    check_architecture_names,
    check_free_offers,
    check_standard_server_of_gpus,
    check_unused_entries,
)
from solver.errors import InputError, Issue
from solver.performance.transformer import parameter_count
from solver.physics_inputs import shape_of

__all__ = [
    "PARAMETERS_WITHIN",
    "CheckReport",
    "agrees_with_published",
    "check_parameter_counts",
    "check_whole_catalog",
]

Check = Callable[[Catalog], Iterable[Issue]]

PARAMETERS_WITHIN = 0.005
"""Relative error of a counted number of parameters that needs no explanation."""


@dataclass(frozen=True)
class CheckReport:
    """What the checks of a catalog found.

    Parameters
    ----------
    errors
        Faults: what is certainly wrong.
    warnings
        What may be right all the same.
    checked
        Number of entries by part.
    """

    errors: tuple[Issue, ...]
    warnings: tuple[Issue, ...]
    checked: Mapping[str, int] = field(default_factory=dict)


def check_whole_catalog(
    catalog: Catalog, day: date, max_age_days: float = MAX_PRICE_AGE_DAYS
) -> CheckReport:
    """Return what is wrong with a catalog, and what is odd about it.

    Parameters
    ----------
    catalog
        The shipped one, with the user's folders over it.
    day
        Today.
    max_age_days
        Days from which a price is called old.

    Notes
    -----
    A part that cannot be read is an error, or several; checks that need it are left
    out then, all others are made.
    """
    found: list[Issue] = []
    parts: dict[str, Mapping[str, Entry]] = {}
    for kind in PARTS:
        try:
            parts[kind] = catalog.entries(kind)
        except InputError as error:
            found += error.issues
    try:
        _ = catalog.calibration
    except InputError as error:
        found += error.issues
    stale: Check = partial(check_stale_prices, day=day, max_age_days=max_age_days)
    for kind in parts:
        found += check_sources_of(catalog, kind)
    for check in (*CHECKS, *_WHOLE_CHECKS, stale):
        with suppress(InputError):  # it needs a part that could not be read: told above
            found += check(catalog)
    found += check_future_dates(catalog, parts, day)
    issues = tuple(dict.fromkeys(found))
    return CheckReport(
        errors=tuple(i for i in issues if i.code not in WARNINGS),
        warnings=tuple(i for i in issues if i.code in WARNINGS),
        checked={kind: len(entries) for kind, entries in parts.items()},
    )


def check_parameter_counts(catalog: Catalog) -> Iterator[Issue]:
    """Yield architectures whose sizes do not give the published parameters."""
    for entry in catalog.entries("architectures").values():
        assert isinstance(entry, Architecture)  # noqa: S101 - for the type checker
        stated = entry.reported_params_b
        if stated is None:
            continue
        count_b = parameter_count(shape_of(entry)) / 1e9
        if not agrees_with_published(count_b, stated):
            message = (
                f"the sizes give {count_b:,.4g} billion parameters, but {stated:,g} "
                "billion are published"
            )
            where = catalog.where("architectures", entry.id, "reported_params_b")
            path = f"{entry.id}.reported_params_b"
            yield Issue("parameter-count", message, where, path)


def agrees_with_published(count_b: float, stated_b: float) -> bool:
    """Return whether parameters are within 0.5 % of a published figure, or round to it.

    Parameters
    ----------
    count_b, stated_b
        Billions of parameters; the published figure has the decimals that it has.
    """
    decimals = len(repr(stated_b).removesuffix(".0").partition(".")[2])
    rounding = 0.5 * 10.0**-decimals
    apart = abs(count_b - stated_b)
    return apart <= max(PARAMETERS_WITHIN * stated_b, rounding + 1e-9)


_WHOLE_CHECKS: tuple[Check, ...] = (
    check_architecture_names,
    check_parameter_counts,
    check_free_offers,
    check_standard_server_of_gpus,
    check_unused_entries,
)
