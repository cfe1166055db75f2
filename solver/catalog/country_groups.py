"""Groups of countries that laws on data name as one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

__all__ = ["COUNTRY_GROUPS", "grouped"]

_EU = (
    "AT", "BE", "BG", "CY", "CZ", "DE", "DK", "EE", "ES", "FI", "FR", "GR", "HR", "HU",
    "IE", "IT", "LT", "LU", "LV", "MT", "NL", "PL", "PT", "RO", "SE", "SI", "SK",
)  # fmt: skip

COUNTRY_GROUPS: Mapping[str, tuple[str, ...]] = {
    "EEA": tuple(sorted((*_EU, "IS", "LI", "NO"))),
    "EU": _EU,
}
"""Group to its members' codes, larger groups first: the European Economic Area and the
European Union, as of 2026-11 (members of the EU since 2020-02-01: European Union,
list of countries; EEA: EFTA, EEA Agreement)."""


def grouped(codes: Iterable[str]) -> tuple[str, ...]:
    """Return country codes with every whole group among them told by its name."""
    left = list(dict.fromkeys(codes))
    found: list[str] = []
    for name, members in COUNTRY_GROUPS.items():
        if set(members) <= set(left):
            found.append(name)
            left = [code for code in left if code not in members]
    return (*found, *left)
