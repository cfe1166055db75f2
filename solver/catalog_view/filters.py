"""Filters of a list: what the user wrote to the rows that are meant.

Names are matched as everywhere (`solver.catalog.names`): without case, through aliases,
a family for all its members.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from solver.catalog import names
from solver.catalog.load import PARTS, Catalog
from solver.catalog.names import compact
from solver.catalog.slices import card_id
from solver.catalog_view.kinds import KINDS, ListedKind, Row
from solver.errors import Issue, nearest, shown

__all__ = ["FILTERS", "chosen_rows", "wrong_filters"]

Values = Collection[Any]
Resolved = Values | str | Issue

FAMILY = "family"
"""Filter that also takes the beginning of an id."""


def wrong_filters(kind: ListedKind, asked: Iterable[str]) -> list[Issue]:
    """Return the issues of filters that make no sense for a kind of entry."""
    usable = [f"--{name}" for name in kind.filters]
    found = []
    for name in asked:
        if name not in kind.filters:
            meant = ", ".join(k.name for k in KINDS.values() if name in k.filters)
            message = f"{kind.name} have no {name}; this filter is for {meant}"
            hint = nearest(f"--{name}", usable)
            found.append(Issue("bad-usage", message, f"--{name}", hint=hint))
    return found


def chosen_rows(
    kind: ListedKind,
    rows: Sequence[Row],
    filters: Mapping[str, Sequence[str]],
    catalog: Catalog,
    log: list[Issue],
) -> list[Row]:
    """Return the rows that every filter lets through.

    Parameters
    ----------
    kind
        Kind of the rows.
    rows
        All rows.
    filters
        Name of a filter, of those the kind has, to values any of which will do.
    catalog
        Knows the names.
    log
        Takes the issue of each value that names nothing.
    """
    chosen = list(rows)
    for name, texts in filters.items():
        key = kind.filters[name]
        wanted: set[Any] = set()
        for text in texts:
            found = _resolved(name, text, kind, rows, catalog)
            if isinstance(found, Issue):
                log.append(replace(found, where=f"--{name} {text}"))
            else:
                wanted |= {found} if isinstance(found, str) else set(found)
        if name == FAMILY:
            key = "id"
        chosen = [row for row in chosen if _is_one_of(row[key], wanted)]
    return chosen


def _is_one_of(value: Any, wanted: set[Any]) -> bool:
    """Return whether a value, or one of several, or the card of a slice is wanted."""
    values = value if isinstance(value, tuple) else (value,)
    return any(one in wanted or _card(one) in wanted for one in values)


def _card(value: Any) -> Any:
    """Return the card of a value that is the id of a slice of one."""
    return card_id(value) if isinstance(value, str) else value


def _resolved(
    name: str, text: str, kind: ListedKind, rows: Sequence[Row], catalog: Catalog
) -> Resolved:
    """Return the values of a filter's column that a text stands for."""
    if name == "provider":
        return _provider(text, kind, rows, catalog)
    if name == FAMILY:
        return _family(text, rows)
    choices = _CHOICES.get(name)
    if choices is not None:
        return _word_of(name, text, choices(kind, rows))
    return FILTERS[name](text, catalog)


def _provider(
    text: str, kind: ListedKind, rows: Sequence[Row], catalog: Catalog
) -> Resolved:
    """Return the providers that a name stands for; all are read only if need be."""
    here = sorted({row["provider"] for row in rows if row["provider"]})
    found = names.provider_among(text, here)
    if found is not None or kind.part == "offers":
        return found or names.resolve_provider(text, catalog)
    return names.resolve_provider(text, catalog)


def _family(text: str, rows: Sequence[Row]) -> Resolved:
    """Return the ids of the architectures of a family, or that begin like the text."""
    wanted = compact(text)
    of_family = [row["id"] for row in rows if compact(row["family"]) == wanted]
    alike = [
        row["id"] for row in rows if wanted and compact(row["id"]).startswith(wanted)
    ]
    if of_family or alike:
        return {*of_family, *alike}
    hint = nearest(text, sorted({row["family"] for row in rows if row["family"]}))
    return Issue(
        "unknown-name", f"no architecture is of family {shown(text)}", hint=hint
    )


def _word_of(name: str, text: str, choices: Sequence[str]) -> str | Issue:
    """Return the one of a list of words that a text spells.

    Parameters
    ----------
    name
        What to call it in the message.
    text
        As written.
    choices
        The words.
    """
    spelled = {compact(choice): choice for choice in choices}
    if compact(text) in spelled:
        return spelled[compact(text)]
    listed = ", ".join(choices)
    message = f"there is no {name} {shown(text)}; expected one of {listed}"
    return Issue("wrong-value", message, hint=nearest(text, choices))


def _field_words(kind: ListedKind, name: str) -> list[str]:
    """Return the words that a field may be."""
    from typing import get_args

    field = PARTS[kind.part].model.model_fields[kind.filters[name]]
    return list(get_args(field.annotation))


_CHOICES: Mapping[str, Callable[[ListedKind, Sequence[Row]], list[str]]] = {
    "kind": lambda kind, _: _field_words(kind, "kind"),
    "purchase": lambda kind, _: _field_words(kind, "purchase"),
    "vendor": lambda _, rows: sorted({row["vendor"] for row in rows}),
}
"""Filter to the words that it may be."""


def _network(text: str, catalog: Catalog) -> Resolved:
    """Return the networks of a kind, or the one that a name stands for."""
    tiers = catalog.networks.values()
    wanted = compact(text)
    of_kind = [tier.id for tier in tiers if compact(tier.kind) == wanted]
    if of_kind:
        return of_kind
    found = names.resolve_network(text, catalog)
    if isinstance(found, Issue):
        spelled = [*sorted({tier.kind for tier in tiers}), *catalog.networks]
        return replace(found, hint=nearest(text, spelled))
    return found


def _whole(text: str, _catalog: Catalog) -> Resolved:
    """Return a number of GPUs."""
    if text.strip().isdecimal() and int(text) > 0:
        return {int(text)}
    message = f"expected a whole number of GPUs such as 8, not {shown(text)}"
    return Issue("wrong-value", message)


FILTERS: Mapping[str, Callable[[str, Catalog], Resolved]] = {
    "gpu": lambda text, catalog: names.resolve_gpu(text, catalog, allow_family=True),
    "region": names.resolve_region,
    "country": names.resolve_country,
    "server": names.resolve_server,
    "network": _network,
    "framework": names.resolve_framework,
    "gpus-per-node": _whole,
}
"""Filter to what a text stands for in its column."""
