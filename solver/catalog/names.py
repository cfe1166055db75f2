"""Names as people write them to ids of the catalog.

Names are matched without case, spaces and punctuation, and through aliases. Every
function returns the ids that a name stands for, or an `Issue` (without its place, which
the caller knows) that says what was expected and the nearest right spelling.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from solver.catalog.gpu_names import gpus_like
from solver.catalog.reading import read_text
from solver.catalog.slices import SliceName, card_id, slice_fault, slice_name
from solver.errors import Issue, nearest, shown

if TYPE_CHECKING:
    from solver.catalog.load import Catalog

__all__ = [
    "ambiguous",
    "compact",
    "most_usual_first",
    "provider_among",
    "resolve_architecture",
    "resolve_country",
    "resolve_framework",
    "resolve_gpu",
    "resolve_intra_node",
    "resolve_network",
    "resolve_optimizer",
    "resolve_provider",
    "resolve_region",
    "resolve_server",
    "resolve_storage",
]

MAX_SHOWN = 6
LISTED = {
    "optimizer": "gpuplan catalog list optimizers",
    "framework": "gpuplan catalog list frameworks",
}
"""Kinds so few that some are named where no name is near, and the command for all."""
MIN_PART = 3
"""Letters from which a name may be meant as a part of a longer one."""
_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+")
"""A model's name with its owner, as Hugging Face writes it."""
_DROPPED = re.compile(r"(?<!\d)\.|\.(?!\d)|[^\w.]|_")


def compact(name: str) -> str:
    """Return a name as it is compared: letters and digits, without case.

    A dot between digits stays: 1.3b is not 13b.
    """
    return _DROPPED.sub("", name.casefold())


def resolve_gpu(
    name: str, catalog: Catalog, *, allow_family: bool
) -> tuple[str, ...] | Issue:
    """Return the GPUs that a name stands for.

    Parameters
    ----------
    name
        Family, form factor and memory in any order and spelling: ``A100-SXM4-80GB``,
        ``NVIDIA A100 80GB SXM``, ``H100 SXM``, ``A100``. With a MIG profile it means
        slices: ``A100-SXM4-80GB MIG 3g.40gb``, ``3g.40gb``; with ``MIG`` all of them.
    allow_family
        Whether it may stand for several, as in a constraint. An offer has to name one.
    """
    asked = slice_name(name)
    if asked is None:
        found = _cards_like(name, catalog)
        if not found:
            hint = _nearest_name(name, catalog.gpus, _gpu_names(catalog))
            return _unknown("GPU", name, hint)
    else:
        slices = _slices_like(name, asked, catalog)
        if isinstance(slices, Issue):
            return slices
        found = slices
    if len(found) > 1 and not allow_family:
        return ambiguous(name, most_usual_first(found, catalog))
    return found


def _cards_like(name: str, catalog: Catalog) -> tuple[str, ...]:
    """Return the whole cards that a name can mean."""
    key = ("gpus_like", name)  # a table of offers names the same few again and again
    if key not in catalog.memo:
        catalog.memo[key] = gpus_like(name, catalog.gpus.values())
    found: tuple[str, ...] = catalog.memo[key]
    return found


def _slices_like(
    name: str, asked: SliceName, catalog: Catalog
) -> tuple[str, ...] | Issue:
    """Return the slices that a name can mean."""
    cards = _cards_like(asked.card, catalog) if asked.card else tuple(catalog.gpus)
    if not cards:
        hint = _nearest_name(asked.card, catalog.gpus, _gpu_names(catalog))
        return _unknown("GPU", asked.card, hint)
    found = tuple(
        part.id
        for part in catalog.slices.values()
        if part.card in cards and asked.profile in ("", part.profile)
    )
    if found:
        return found
    return slice_fault(name, asked.profile, [catalog.gpus[card] for card in cards])


def most_usual_first(gpus: Iterable[str], catalog: Catalog) -> tuple[str, ...]:
    """Return GPUs, SXM modules first, then those of most kinds of server.

    SXM is what training is done on; PCIe cards of a family are in more small servers.
    """
    count = Counter(card_id(server.gpu) for server in catalog.servers.values())
    return tuple(
        sorted(gpus, key=lambda gpu: ("-sxm" not in gpu, -count[card_id(gpu)], gpu))
    )


def _gpu_names(catalog: Catalog) -> dict[str, str]:
    """Return families and aliases of the GPUs; what to write for each is itself."""
    names = {gpu.family: gpu.family for gpu in catalog.gpus.values()}
    for gpu in catalog.gpus.values():
        names |= dict.fromkeys(gpu.aliases, gpu.id)
    return names


def resolve_region(name: str, catalog: Catalog) -> tuple[str, ...] | Issue:
    """Return region ids: of ``provider/region`` one, else of each provider."""
    wanted = name.strip().casefold()
    regions = catalog.regions.values()
    if wanted in catalog.regions:
        return (wanted,)
    provider, slash, region = wanted.rpartition("/")
    own = [r for r in regions if not slash or compact(r.provider) == compact(provider)]
    found = [r.id for r in own if r.region.casefold() == region]
    found = found or [r.id for r in own if compact(r.region) == compact(region)]
    if found and compact(region):
        return tuple(found)
    bare = {r.region: r.region for r in regions}
    return _unknown("region", name, _nearest_name(name, catalog.regions, bare))


def resolve_country(name: str, catalog: Catalog) -> str | Issue:
    """Return the ISO code of a country given by code, English or Chinese name."""
    names = {
        compact(written): country.id
        for country in catalog.countries.values()
        for written in (country.id, country.name, country.name_zh, *country.aliases)
        if written
    }
    code = names.get(compact(name))
    if code is not None:
        return code
    # a short name is as near to every code as to the next
    spelled = {country.name: country.id for country in catalog.countries.values()}
    hint = nearest(name, spelled) if len(name.strip()) > 3 else None
    return _unknown("country", name, hint)


def resolve_provider(name: str, catalog: Catalog) -> tuple[str, ...] | Issue:
    """Return a provider's id; of a broker's name those of all clouds behind it."""
    found = provider_among(name, catalog.providers)
    if found is not None:
        return found
    return _unknown("provider", name, _nearest_name(name, catalog.providers, {}))


def provider_among(name: str, providers: Iterable[str]) -> tuple[str, ...] | None:
    """Return those of some providers that a name stands for; None: it is none's."""
    wanted, known = compact(name), tuple(providers)
    exact = tuple(p for p in known if compact(p) == wanted)
    behind = tuple(p for p in known if compact(p.partition("-")[0]) == wanted)
    return exact or behind or None


def resolve_server(name: str, catalog: Catalog) -> str | Issue:
    """Return the id of a server, whose provider may be left out: ``p5.48xlarge``."""
    short = {
        server.id.removeprefix(f"{server.provider}-"): server.id
        for server in catalog.servers.values()
    }
    return _one("server", name, short | {entry: entry for entry in catalog.servers})


def resolve_optimizer(name: str, catalog: Catalog) -> str | Issue:
    """Return an optimizer's id."""
    return _one("optimizer", name, _aliased(catalog.optimizers))


def resolve_network(name: str, catalog: Catalog) -> str | Issue:
    """Return the id of a network tier."""
    return _one("network tier", name, _aliased(catalog.networks))


def resolve_intra_node(name: str, catalog: Catalog) -> str | Issue:
    """Return the id of a tier between the GPUs of a node."""
    return _one("intra-node tier", name, _aliased(catalog.intra_node))


def resolve_storage(name: str, catalog: Catalog) -> str | Issue:
    """Return the id of a storage tier given by id or name."""
    names = {
        written: tier.id
        for tier in catalog.storage.values()
        for written in (tier.name, tier.id)
    }
    return _one("storage tier", name, names)


def resolve_framework(name: str, catalog: Catalog) -> str | Issue:
    """Return the framework class of an id, or of a framework's free-text name.

    Free text is matched with the classes' patterns; the class whose match covers most
    of it wins, and of equal ones the first by id.
    """
    names = {
        written: entry.id
        for entry in catalog.frameworks.values()
        for written in (entry.name, entry.id)
    }
    exact = {compact(written): entry for written, entry in names.items()}
    if compact(name) in exact:
        return exact[compact(name)]
    best, longest = None, 0
    for entry in catalog.frameworks.values():
        for pattern in entry.patterns:
            match = re.search(pattern, name, re.IGNORECASE)
            length = max(1, match.end() - match.start()) if match else 0
            if length > longest:
                best, longest = entry.id, length
    if best is not None:
        return best
    hint = _nearest_name(name, catalog.frameworks, {})
    return _unknown("framework", name, hint, () if hint else tuple(catalog.frameworks))


def resolve_architecture(name: str, catalog: Catalog) -> str | Issue:
    """Return the id of a transformer given by id, name, Hugging Face id or alias.

    Of ``owner/model`` the model alone is looked for where nothing has the whole name:
    models move between owners, and copies have the same sizes.

    Notes
    -----
    Ids are file names, so that most names need no file to be read. For an alias the
    files' text is searched, and only files that hold the alias are parsed.
    """
    wanted = compact(name)
    if not wanted:
        return _unknown("model", name, None)
    ids = {compact(entry_id): entry_id for entry_id in catalog.architecture_files}
    if wanted in ids:
        return ids[wanted]
    found = []
    for entry_id, text in _architecture_texts(catalog).items():
        if wanted in text:
            entry = catalog.architecture(entry_id)
            if wanted in map(compact, (entry.name, entry.hf_id, *entry.aliases)):
                found.append(entry_id)
    if len(found) == 1:
        return found[0]
    if found:
        return ambiguous(name, tuple(found))
    short = name.rpartition("/")[2]
    if _HUB_ID.fullmatch(name):
        meant = resolve_architecture(short, catalog)
        if isinstance(meant, str):
            return meant
    hint = _nearest_name(short, catalog.architecture_files, {})
    return _unknown("model", name, hint)


def _architecture_texts(catalog: Catalog) -> dict[str, str]:
    """Return the text of every architecture's file as it is searched, by id."""
    key = "architecture_texts"
    if key not in catalog.memo:
        files = catalog.architecture_files.items()
        catalog.memo[key] = {
            entry_id: compact(read_text(file, label))
            for entry_id, (file, label) in files
        }
    texts: dict[str, str] = catalog.memo[key]
    return texts


def _aliased(entries: Mapping[str, object]) -> dict[str, str]:
    """Return ids by written name, aliases first so that an id wins over an alias."""
    names = {
        alias: entry_id
        for entry_id, entry in entries.items()
        for alias in getattr(entry, "aliases", ())
    }
    return names | {entry_id: entry_id for entry_id in entries}


def _one(kind: str, name: str, names: Mapping[str, str]) -> str | Issue:
    """Return the id of a name among ids and aliases."""
    found = {compact(written): entry_id for written, entry_id in names.items()}
    if compact(name) in found:
        return found[compact(name)]
    hint = _nearest_name(name, names, {})
    some = sorted(set(names.values())) if kind in LISTED else ()
    return _unknown(kind, name, hint, () if hint else some)


def _nearest_name(
    name: str, ids: Iterable[str], others: Mapping[str, str]
) -> str | None:
    """Return the nearest of ids and other names, None where nothing is near.

    A name that others begin with, or have in them, is near to the shortest of these.
    """
    known = [*ids, *others]
    hint = nearest(name, known)
    wanted = compact(name)
    if hint is not None or len(wanted) < MIN_PART:
        return hint
    longer = [other for other in known if wanted in compact(other)]
    return min(
        longer,
        key=lambda other: (not compact(other).startswith(wanted), len(other), other),
        default=None,
    )


def _unknown(kind: str, name: str, hint: str | None, some: Sequence[str] = ()) -> Issue:
    """Return the issue of a name that the catalog does not have, with some it has."""
    message = f"the catalog has no {kind} {shown(name)}"
    if some:
        message += f", but {', '.join(some[:MAX_SHOWN])}"
    if len(some) > MAX_SHOWN:
        message += f" and {len(some) - MAX_SHOWN} more: `{LISTED[kind]}`"
    return Issue("unknown-name", message, hint=hint)


def ambiguous(name: str, found: tuple[str, ...]) -> Issue:
    """Return the issue of a name that stands for several entries."""
    listed = ", ".join(found[:MAX_SHOWN])
    if len(found) > MAX_SHOWN:
        listed += f" and {len(found) - MAX_SHOWN} more"
    message = f"{shown(name)} can mean {listed}; name one of them"
    return Issue("ambiguous-name", message, hint=found[0])
