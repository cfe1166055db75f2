"""Quotes to the offers, servers and regions of a catalog folder.

Zones fold into their region: of several prices of one server and kind in a region the
lowest is taken, which holds for one zone at one moment, and the offer's note says so.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from solver.catalog.bounds import bounds_of
from solver.catalog.load import complete_offer
from solver.catalog.schema import Offer, Region, Server
from solver.catalog.supply import standard_server
from solver.errors import InputError
from solver.importing.cards import card_of
from solver.importing.quotes import Findings, Quote, slug

if TYPE_CHECKING:
    from solver.catalog.load import Catalog

__all__ = ["Overlay", "Stamp", "overlay_of", "provider_id"]

PROVIDERS: Mapping[str, str] = {
    "lambdalabs": "lambda",
    "lambda-labs": "lambda",
    "lambda-cloud": "lambda",
    "vastai": "vast",
    "do": "digitalocean",
    "datacrunch": "verda",
    "crusoecloud": "crusoe",
}
"""What other tools call a provider of the catalog."""

MARKETPLACES = ("vast", "runpod", "hyperbolic", "primeintellect", "shadeform")
"""Beginnings of the ids of those who sell what belongs to others."""

_Key = tuple[str, str, str, float]
"""Region, server, purchase kind and hours of the term."""
_Listed = dict[_Key, list[tuple[Quote, "Stamp"]]]

UNSTATED = "unstated"
"""What stands for a region that is left blank."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """Where the figures of an import come from.

    Parameters
    ----------
    source
        For the column ``source``.
    as_of
        Their date.
    """

    source: str
    as_of: str


@dataclass(frozen=True, slots=True)
class Overlay:
    """Entries that go over those of the shipped catalog.

    Parameters
    ----------
    offers, servers, regions
        In order of their ids; servers and regions only where the catalog has none.
    """

    offers: tuple[Offer, ...]
    servers: tuple[Server, ...]
    regions: tuple[Region, ...]

    @property
    def providers(self) -> tuple[str, ...]:
        """Whose offers these are."""
        return tuple(sorted({offer.provider for offer in self.offers}))


def provider_id(name: str) -> str:
    """Return a provider's id as the catalog has it."""
    written = slug(name)
    return PROVIDERS.get(written, written)


def overlay_of(
    quotes: Iterable[tuple[Quote, Stamp]], catalog: Catalog, findings: Findings
) -> Overlay:
    """Return the entries that quotes make.

    Parameters
    ----------
    quotes
        The quotes, each with where it comes from.
    catalog
        Whose servers and regions are used where it has them.
    findings
        Takes a note of each quote without a GPU of the catalog, and of assumptions.
    """
    cleaned = list(_cleaned(quotes, findings))
    counts: dict[tuple[str, str], set[int]] = defaultdict(set)
    for quote, _ in cleaned:
        counts[quote.provider, quote.instance].add(quote.count)
    for quote, _ in cleaned:
        if quote.provider not in catalog.providers:
            file = quote.where.partition(":")[0]
            findings.assume(file, "new-provider", quote.provider)
    servers = _Servers(catalog, findings, counts)
    best: _Listed = defaultdict(list)
    regions: dict[str, Region] = {}
    for quote, stamp in cleaned:
        server = servers.of(quote, stamp)
        if server is not None:
            region = _region(quote, stamp, catalog, regions)
            key = (region, server.id, quote.purchase, quote.min_term_hours)
            best[key].append((quote, stamp))
    _drop_flexible_starts(best, findings)
    offers = [_offer(key, listed) for key, listed in best.items()]
    return Overlay(
        offers=tuple(sorted(offers, key=lambda offer: offer.id)),
        servers=tuple(servers.new[key] for key in sorted(servers.new)),
        regions=tuple(regions[key] for key in sorted(regions)),
    )


def _cleaned(
    quotes: Iterable[tuple[Quote, Stamp]], findings: Findings
) -> Iterator[tuple[Quote, Stamp]]:
    """Yield quotes with their providers as the catalog has them.

    One whose provider or server has no letter or digit of an id cannot be named.
    """
    for quote, stamp in quotes:
        provider = provider_id(quote.provider)
        if provider and slug(quote.instance):
            yield replace(quote, provider=provider), stamp
        else:
            what = f"{quote.provider} {quote.instance}"
            findings.skip(quote.where, "unreadable", what)


class _Servers:
    """The servers of an import: those of the catalog, and new ones.

    Parameters
    ----------
    catalog, findings
        As for `overlay_of`.
    counts
        Numbers of cards that an instance of this name is listed with, by provider and
        instance.
    """

    def __init__(
        self,
        catalog: Catalog,
        findings: Findings,
        counts: Mapping[tuple[str, str], set[int]],
    ) -> None:
        self.catalog = catalog
        self.findings = findings
        self.counts = counts
        self.new: dict[str, Server] = {}

    def of(self, quote: Quote, stamp: Stamp) -> Server | None:
        """Return the server of a quote, None after noting why there is none."""
        name = f"{quote.provider}-{slug(quote.instance)}"
        several = len(self.counts[quote.provider, quote.instance]) > 1
        named = f"{name}.{quote.count}" if several else name
        known = self.catalog.servers.get(named)
        if known is not None and (not several or known.gpus_per_node == quote.count):
            if known.gpus_per_node != quote.count:
                what = f"{quote.instance}: {quote.count}, not {known.gpus_per_node}"
                self.findings.assume(quote.where, "count-of-catalog", what)
            return known
        if several and name in self.catalog.servers:
            plain = self.catalog.servers[name]
            if plain.gpus_per_node == quote.count:
                return plain
        if named not in self.new:
            server = self._made(named, quote, stamp)
            if server is None:
                return None
            self.new[named] = server
        return self.new[named]

    def _made(self, name: str, quote: Quote, stamp: Stamp) -> Server | None:
        """Return a server that the catalog does not have.

        Its network is not known, so that a job can use one node; how its cards are
        joined is taken from the usual server with such cards.
        """
        card = card_of(quote, self.catalog)
        if not card.gpu:
            memory = f" {quote.memory_gb:g} GB" if quote.memory_gb else ""
            what = f"{quote.gpu or 'no name'}{memory}"
            self.findings.skip(quote.where, card.reason, what)
            return None
        try:
            usual = standard_server(self.catalog, card.gpu, quote.count)
        except InputError:
            what = f"{quote.count} x {card.gpu}"
            self.findings.skip(quote.where, "impossible-node", what)
            return None
        notes = []
        if card.reason:
            self.findings.assume(quote.where, card.reason, f"{name}: {card.gpu}")
            notes.append("PCIe or SXM is assumed.")
        if quote.count > 1:
            notes.append("Links between the GPUs assumed as usual for them.")
        notes.append("Network between nodes not known.")
        self.findings.assume(quote.where, "one-node", name)
        return usual.model_copy(
            update={
                "id": name,
                "provider": quote.provider,
                "network": None,
                "network_gbps": 0.0,
                "vcpus": self._possible("vcpus", quote),
                "ram_gb": self._possible("ram_gb", quote),
                "local_nvme_tb": self._possible("local_nvme_tb", quote),
                "standard": False,
                "source": stamp.source,
                "as_of": stamp.as_of,
                "note": " ".join(notes),
            }
        )

    def _possible(self, field: str, quote: Quote) -> float | None:
        """Return a figure of a host, None after noting that no host has it."""
        value: float | None = getattr(quote, field)
        bounds = bounds_of(Server, field)
        if value is None or bounds is None or bounds.allows(value):
            return value
        self.findings.skip(quote.where, "unreadable", f"{field} {value:g}")
        return None


def _region(
    quote: Quote, stamp: Stamp, catalog: Catalog, new: dict[str, Region]
) -> str:
    """Return the id of a quote's region, adding it to the new ones if it is one."""
    region = f"{quote.provider}/{slug(quote.region) or UNSTATED}"
    if region not in catalog.regions and region not in new:
        country = quote.country if quote.country in catalog.countries else None
        new[region] = Region(
            id=region,
            provider=quote.provider,
            region=region.partition("/")[2],
            name=quote.region,
            country=country,
            source=stamp.source,
            as_of=stamp.as_of,
            note="" if country else "Country not stated by the source.",
        )
    return region


def _drop_flexible_starts(best: _Listed, findings: Findings) -> None:
    """Leave out on-demand prices of Google that are below spot: another product's.

    See `solver.importing.skypilot`; this catches what only shows in the whole server.
    """
    for key in [k for k in best if k[0].startswith("gcp/") and k[2] == "on_demand"]:
        spot = best.get((key[0], key[1], "spot", 0.0))
        if spot is None:
            continue
        lowest = min(quote.usd_per_hour for quote, _ in spot)
        kept = []
        for quote, stamp in best.pop(key):
            if quote.usd_per_hour < lowest:
                what = f"{quote.instance}, ${quote.usd_per_hour:g} (spot ${lowest:g})"
                findings.skip(quote.where, "flexible-start", what)
            else:
                kept.append((quote, stamp))
        if kept:
            best[key] = kept


def _offer(key: _Key, listed: list[tuple[Quote, Stamp]]) -> Offer:
    """Return the offer of the lowest of some prices of one server, place and kind."""
    region, server, purchase, min_term_hours = key
    ordered = sorted(listed, key=lambda item: (item[0].usd_per_hour, item[0].zone))
    quote, stamp = ordered[0]
    notes = [quote.note] if quote.note else []
    places = len({other.zone for other, _ in listed if other.zone})
    if len({other.usd_per_hour for other, _ in listed}) > 1:
        where = f"zone {quote.zone}" if quote.zone else "the lowest row"
        number = f"{places} zones" if places > 1 else f"{len(listed)} rows"
        notes.append(f"lowest of {number}: {where}")
    data: dict[str, Any] = {
        "region": region,
        "server": server,
        "purchase": purchase,
        "usd_per_node_hour": quote.usd_per_hour,
        "min_term_hours": min_term_hours,
        "marketplace": quote.marketplace or _sells_for_others(quote.provider),
        "one_moment": purchase == "spot",
        "source": stamp.source,
        "as_of": stamp.as_of,
        "note": "; ".join(notes),
    }
    complete_offer(data)
    return Offer.model_validate(data)


def _sells_for_others(provider: str) -> bool:
    """Return whether what a provider offers is a marketplace's or broker's quote."""
    return provider.startswith(MARKETPLACES)
