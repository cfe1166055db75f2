"""One entry of the catalog: every figure with its unit, source and date."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from solver.catalog import names
from solver.catalog.bounds import bounds_of
from solver.catalog.load import DERIVED, PARTS, Catalog
from solver.catalog.schema import Entry
from solver.catalog.slices import card_id, is_slice, slice_name
from solver.catalog_view.kinds import KINDS, Row
from solver.catalog_view.listing import Listing, kind_of, list_entries
from solver.errors import InputError, Issue, nearest, shown

__all__ = ["EntryDetails", "Figure", "entries_named", "figures_of"]

_ABOUT_ENTRY = frozenset(("id", "source", "sources", "as_of", "note"))
_SUFFIX = "_source"

_ALSO = {
    "latency_us": "efficiency_source",
    "bus_2_gb_per_s": "efficiency_source",
    "bus_4_gb_per_s": "efficiency_source",
    "bus_8_gb_per_s": "efficiency_source",
    "point_to_point_gb_per_s": "efficiency_source",
    "lat": "coordinate_source",
    "lon": "coordinate_source",
}
"""Fields whose source is not called like them: all that is measured of a link, and
where a region is."""

_SHARE = "(a share)"

Resolver = Callable[[], str | tuple[str, ...] | Issue]


@dataclass(frozen=True, slots=True)
class Figure:
    """One field of an entry.

    Parameters
    ----------
    field, value
        Its name and value.
    unit
        Unit of a number; empty for counts, words and ratios.
    stated
        False: the entry leaves it out, and this is the default.
    source, as_of
        Where the value was read and when; empty for a default.
    own_source
        Whether the source is of this field, not of the whole entry.
    """

    field: str
    value: Any
    unit: str
    stated: bool
    source: str
    as_of: str
    own_source: bool

    def as_dict(self) -> dict[str, Any]:
        """Return the field in the order of the JSON contract."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class EntryDetails:
    """One entry with all that is known about it.

    Parameters
    ----------
    part, entry
        Its kind and the entry.
    row
        Its row in a list, with what follows from other entries.
    figures
        Its fields.
    folder, file
        The catalog folder that it comes from, and the place in it, with the line.
    replaces
        Folders whose entry of this id is not used because of this one.
    related
        Servers and the cheapest offers that go with it.
    """

    part: str
    entry: Entry
    row: Row
    figures: tuple[Figure, ...]
    folder: str
    file: str
    replaces: tuple[str, ...]
    related: tuple[Listing, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the entry in the order of the JSON contract."""
        found = {listing.kind.part: list(listing.rows) for listing in self.related}
        return {
            "kind": KINDS[self.part.replace("_", "-")].name,
            "id": self.entry.id,
            "source": self.entry.source,
            "as_of": self.entry.as_of,
            "note": self.entry.note,
            "folder": self.folder,
            "file": self.file,
            "replaces": list(self.replaces),
            "fields": [figure.as_dict() for figure in self.figures],
            "values": self.row,
            "related": found,
        }


def entries_named(
    catalog: Catalog, name: str, day: date, *, kind: str | None = None, offers: int = 5
) -> tuple[EntryDetails, ...]:
    """Return the entries that a name stands for: several of different kinds at most.

    Parameters
    ----------
    catalog
        Where to look.
    name
        An id without regard to case, or else an alias.
    day
        Today, from which ages count.
    kind
        Look at entries of this kind only, as `KINDS` names it.
    offers
        Most offers to show with an entry.

    Raises
    ------
    InputError
        There is no entry of that name, or it stands for several of one kind.
    """
    parts = (*PARTS, *DERIVED) if kind is None else (kind_of(kind).part,)
    wanted = name.strip().casefold()
    found = [
        (part, entry_id)
        for part in parts
        for entry_id in _ids(catalog, part)
        if entry_id.casefold() == wanted
    ]
    found = found or _aliased(catalog, name, parts)
    return tuple(_details(catalog, part, key, day, offers) for part, key in found)


def _ids(catalog: Catalog, part: str) -> tuple[str, ...]:
    """Return the ids of a part; those of architectures are file names."""
    if part == "architectures":
        return tuple(catalog.architecture_files)
    return tuple(catalog.entries(part))


def _aliased(
    catalog: Catalog, name: str, parts: tuple[str, ...]
) -> list[tuple[str, str]]:
    """Return part and id of the entries that an alias stands for.

    Raises
    ------
    InputError
        It is no alias, or stands for several of one part.
    """
    resolvers: dict[str, Resolver] = {
        "gpus": lambda: names.resolve_gpu(name, catalog, allow_family=False),
        "slices": lambda: names.resolve_gpu(name, catalog, allow_family=False),
        "intra_node": lambda: names.resolve_intra_node(name, catalog),
        "networks": lambda: names.resolve_network(name, catalog),
        "storage": lambda: names.resolve_storage(name, catalog),
        "regions": lambda: _one_region(catalog, name),
        "countries": lambda: names.resolve_country(name, catalog),
        "optimizers": lambda: names.resolve_optimizer(name, catalog),
        "architectures": lambda: names.resolve_architecture(name, catalog),
    }
    resolvers.pop("gpus" if slice_name(name) else "slices")
    issues: list[Issue] = []
    found = _resolved(resolvers, parts, issues)
    if found:
        return found
    several = [issue for issue in issues if issue.code == "ambiguous-name"]
    if several:
        raise InputError(several)
    # a server's short name is last: it may be a GPU's with no more to it
    short = {"servers": lambda: names.resolve_server(name, catalog)}
    found = _resolved(short, parts, issues)
    if found:
        return found
    if slice_name(name) and "slices" in parts and issues[0].hint is not None:
        raise InputError([issues[0]])  # it says which slices there are
    known = [entry_id for part in parts for entry_id in _ids(catalog, part)]
    hint = nearest(name, [i.hint for i in issues if i.hint]) or nearest(name, known)
    message = f"the catalog has no entry {shown(name)}"
    raise InputError([Issue("unknown-name", message, hint=hint)])


def _resolved(
    resolvers: Mapping[str, Resolver], parts: tuple[str, ...], issues: list[Issue]
) -> list[tuple[str, str]]:
    """Return part and id of what some resolvers find; keep why others do not."""
    found = []
    for part, resolve in resolvers.items():
        result = resolve() if part in parts else None
        if isinstance(result, Issue):
            issues.append(result)
        elif result is not None:
            found.append((part, result if isinstance(result, str) else result[0]))
    return found


def _one_region(catalog: Catalog, name: str) -> str | Issue:
    """Return the region of a name that is that of one provider's."""
    found = names.resolve_region(name, catalog)
    if isinstance(found, Issue) or len(found) == 1:
        return found if isinstance(found, Issue) else found[0]
    return names.ambiguous(name, found)


def _details(
    catalog: Catalog, part: str, entry_id: str, day: date, offers: int
) -> EntryDetails:
    """Return one entry with where it comes from and what goes with it."""
    entry: Entry = (
        catalog.architecture(entry_id)
        if part == "architectures"
        else catalog.entries(part)[entry_id]
    )
    written, its_file = part, entry_id
    if is_slice(entry_id) and part in DERIVED:  # the file is that of its card
        written, its_file = "gpus", card_id(entry_id)
    *below, (folder, record) = catalog.definitions(written, its_file)
    place = record.origin.where().removeprefix(f"{folder.name}/")
    kind = KINDS[part.replace("_", "-")]
    return EntryDetails(
        part=part,
        entry=entry,
        row=kind.row(catalog, entry, day),
        figures=figures_of(entry),
        folder=folder.name,
        file=place.rsplit(":", 1)[0],
        replaces=tuple(under.name for under, _ in below),
        related=_related(catalog, part, entry_id, day, offers),
    )


_RELATED = {
    "gpus": (("servers", "gpu"), ("offers", "gpu"), ("slices", "gpu")),
    "slices": (("servers", "gpu"), ("offers", "gpu")),
    "servers": (("offers", "server"),),
    "regions": (("offers", "region"),),
}
"""Part to what is shown with its entries, and the filter that finds it."""


def _related(
    catalog: Catalog, part: str, entry_id: str, day: date, offers: int
) -> tuple[Listing, ...]:
    """Return what goes with an entry: all servers, the cheapest offers."""
    return tuple(
        list_entries(
            catalog,
            KINDS[name],
            day,
            filters={key: [entry_id]},
            limit=offers if name == "offers" else None,
        )
        for name, key in _RELATED.get(part, ())
    )


def figures_of(entry: Entry) -> tuple[Figure, ...]:
    """Return every field of an entry that is not about the entry as a whole."""
    fields = type(entry).model_fields
    return tuple(
        _figure(entry, name)
        for name in fields
        if name not in _ABOUT_ENTRY
        and not name.endswith(_SUFFIX)
        and not fields[name].exclude
    )


def _figure(entry: Entry, name: str) -> Figure:
    """Return one field with its unit and source."""
    stated = name in entry.model_fields_set
    bounds = bounds_of(type(entry), name)
    own = _own_source(entry, name) if stated else ""
    return Figure(
        field=name,
        value=getattr(entry, name),
        unit="" if bounds is None or bounds.unit == _SHARE else bounds.unit,
        stated=stated,
        source=(own or entry.source) if stated else "",
        as_of=entry.as_of if stated else "",
        own_source=bool(own),
    )


def _own_source(entry: Entry, name: str) -> str:
    """Return where a single field was read; empty if that is where the entry was."""
    listed: Mapping[str, str] = getattr(entry, "sources", {})
    return str(listed.get(name) or getattr(entry, source_field(entry, name) or "", ""))


def source_field(entry: Entry, name: str) -> str | None:
    """Return the field that holds the source of another one, if it has its own.

    ``grid_source`` is that of all fields that begin with ``grid_``.
    """
    fields = type(entry).model_fields
    if _ALSO.get(name) in fields:
        return _ALSO[name]
    for field in fields:
        stem = field.removesuffix(_SUFFIX)
        if stem != field and (name == stem or name.startswith(f"{stem}_")):
            return field
    return None
