"""Whether the entries of a catalog fit together.

Each check yields the issues of one problem. Those whose codes are in `WARNINGS` point
at what may be right all the same; the others are faults.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from statistics import median
from typing import TYPE_CHECKING

from solver.catalog.bounds import FRAMEWORK_CONSTANTS
from solver.catalog.calibration_checks import check_calibration, generations_of
from solver.catalog.inventory import supply_faults
from solver.catalog.load import PARTS
from solver.catalog.measured_checks import (
    check_calibrated_matmuls,
    check_collective_rates,
    check_field_sources,
    check_matmul_rates,
    check_measured_tiers,
    check_region_sources,
)
from solver.catalog.physical_checks import (
    check_failure_rates,
    check_link_rates,
    check_measured_links,
    check_ratios,
    check_steps_of_egress,
)
from solver.catalog.references import missing
from solver.catalog.slice_checks import check_profiles, check_slice_servers
from solver.catalog.slices import card_id
from solver.dates import last_day
from solver.errors import Issue, nearest, shown

if TYPE_CHECKING:
    from solver.catalog.load import Catalog

__all__ = ["CHECKS", "WARNINGS", "check_catalog", "check_sources_of", "faults_of"]

WARNINGS = frozenset(
    (
        "free-offer",
        "no-standard-server",
        "parameter-count",
        "price-outlier",
        "spot-not-cheaper",
        "stale-price",
        "unused-entry",
    )
)
"""Codes of issues that may be right all the same."""

OUTLIER_FACTOR = 4.0
"""A price per GPU-hour so many times above or below its peers' median is told."""
MIN_PEERS = 4
_YEAR = re.compile(r"@[0-9]{4}$")
_ID = re.compile(r"[a-z0-9][a-z0-9.-]*")
_PLAIN_IDS = ("gpus", "servers", "intra_node", "networks", "storage", "frameworks")


def check_catalog(catalog: Catalog) -> list[Issue]:
    """Return what all checks find, in the order of `CHECKS`."""
    return [issue for check in CHECKS for issue in check(catalog)]


def faults_of(catalog: Catalog) -> list[Issue]:
    """Return what is certainly wrong where the user's folders are over the shipped one.

    The shipped catalog alone is checked by its tests, not at each run.
    """
    if len(catalog.folders) < 2:
        return []
    return [i for i in check_catalog(catalog) if i.code not in WARNINGS]


def check_unknown_references(catalog: Catalog) -> Iterator[Issue]:
    """Yield entries that name something that the catalog does not have."""
    for server in catalog.servers.values():
        gpu = card_id(server.gpu)
        yield from missing(catalog, "servers", server.id, "gpu", gpu, "gpus")
        yield from missing(
            catalog, "servers", server.id, "intra_node", server.intra_node, "intra_node"
        )
        if server.network is not None:
            yield from missing(
                catalog, "servers", server.id, "network", server.network, "networks"
            )
    for offer in catalog.offers.values():
        yield from missing(
            catalog, "offers", offer.id, "server", offer.server, "servers"
        )
        yield from missing(
            catalog, "offers", offer.id, "region", offer.region, "regions"
        )
        for tier in offer.storage or ():
            yield from missing(catalog, "offers", offer.id, "storage", tier, "storage")
    for optimizer in catalog.optimizers.values():
        for name in optimizer.frameworks:
            yield from missing(
                catalog, "optimizers", optimizer.id, "frameworks", name, "frameworks"
            )
    for region in catalog.regions.values():
        if region.country is not None:
            yield from missing(
                catalog, "regions", region.id, "country", region.country, "countries"
            )


def check_default_optimizers(catalog: Catalog) -> Iterator[Issue]:
    """Yield frameworks whose default optimizer the catalog does not have."""
    for framework in catalog.frameworks.values():
        yield from missing(
            catalog,
            "frameworks",
            framework.id,
            "default_optimizer",
            framework.default_optimizer,
            "optimizers",
        )


def check_generations(catalog: Catalog) -> Iterator[Issue]:
    """Yield GPUs of a generation that the calibration has no figures for."""
    known = generations_of(catalog.calibration)
    for gpu in catalog.gpus.values() if known else ():
        if gpu.generation not in known:
            message = (
                f"calibration.yaml has no generation {shown(gpu.generation)}: write "
                "one that is alike, or 'default'"
            )
            where = catalog.where("gpus", gpu.id, "generation")
            hint = nearest(gpu.generation, sorted(known))
            path = f"{gpu.id}.generation"
            yield Issue("unknown-reference", message, where, path, hint)


def check_framework_constants(catalog: Catalog) -> Iterator[Issue]:
    """Yield constants of frameworks that no model of step times can take."""
    for framework in catalog.frameworks.values():
        for name, value in framework.constants.items():
            plain = _YEAR.sub("", name)
            bounds = FRAMEWORK_CONSTANTS.get(plain)
            if bounds is not None and bounds.allows(value):
                continue
            code, hint = "out-of-range", None
            message = f"expected {bounds}, not {shown(value)}"
            if bounds is None:
                code, hint = "unknown-key", nearest(plain, FRAMEWORK_CONSTANTS)
                message = f"there is no constant {shown(plain)}"
            where = catalog.where("frameworks", framework.id, "constants")
            yield Issue(code, message, where, f"{framework.id}.constants.{name}", hint)


def check_provider_of_offers(catalog: Catalog) -> Iterator[Issue]:
    """Yield offers whose provider is not that of their region or server."""
    for offer in catalog.offers.values():
        server = catalog.servers.get(offer.server)
        owners = {offer.region.partition("/")[0], server.provider if server else ""}
        if owners - {"", offer.provider}:
            message = (
                f"region or server belongs to another provider than {offer.provider}"
            )
            where = catalog.where("offers", offer.id)
            yield Issue("wrong-provider", message, where, offer.id)


def check_sources(catalog: Catalog) -> Iterator[Issue]:
    """Yield entries without a source, or with a date that is none."""
    for kind in PARTS:
        if kind != "architectures":  # only those in use are read
            yield from check_sources_of(catalog, kind)


def check_sources_of(catalog: Catalog, kind: str) -> Iterator[Issue]:
    """Yield entries of one part without a source, or with a date that is none."""
    for entry_id, entry in catalog.entries(kind).items():
        if not entry.source.strip():
            message = "every entry says where its figures come from"
            where = catalog.where(kind, entry_id, "source")
            yield Issue("missing-source", message, where, f"{entry_id}.source")
        if last_day(entry.as_of) is None:
            message = "expected the date of the figures: 2026-08-31, 2026-08 or 2026"
            where = catalog.where(kind, entry_id, "as_of")
            yield Issue("missing-date", message, where, f"{entry_id}.as_of")


def check_ids(catalog: Catalog) -> Iterator[Issue]:
    """Yield ids that are not in lower case with digits, dots and hyphens."""
    for kind in _PLAIN_IDS:
        for entry_id in catalog.entries(kind):
            if not _ID.fullmatch(entry_id):
                message = "an id has lower-case letters, digits, dots and hyphens"
                yield Issue(
                    "wrong-id", message, catalog.where(kind, entry_id), entry_id
                )


def check_ambiguous_aliases(catalog: Catalog) -> Iterator[Issue]:
    """Yield aliases that two entries share."""
    for kind in ("gpus", "intra_node", "networks", "optimizers"):
        owners: dict[str, str] = {}
        for entry_id, entry in catalog.entries(kind).items():
            for alias in getattr(entry, "aliases", ()):
                first = owners.setdefault(str(alias).casefold(), entry_id)
                if first != entry_id:
                    message = f"{shown(str(alias))} is an alias of {first} as well"
                    where = catalog.where(kind, entry_id, "aliases")
                    yield Issue(
                        "ambiguous-alias", message, where, f"{entry_id}.aliases"
                    )


def check_impossible_gpus(catalog: Catalog) -> Iterator[Issue]:
    """Yield GPUs whose figures contradict each other."""
    for gpu in catalog.gpus.values():
        # marketed GB may be 1e9 or 2**30 bytes
        most = gpu.memory_gb * 1.005
        if gpu.usable_memory_gib > most:
            message = f"more usable memory ({gpu.usable_memory_gib} GiB) than there is"
            where = catalog.where("gpus", gpu.id, "usable_memory_gib")
            yield Issue("impossible-value", message, where, gpu.id)
        rates = [gpu.bf16_tflops or gpu.fp16_tflops, gpu.fp8_tflops, gpu.fp4_tflops]
        known = [rate for rate in rates if rate]
        if known != sorted(known):
            message = "a narrower format is slower than a wider one"
            yield Issue(
                "impossible-value", message, catalog.where("gpus", gpu.id), gpu.id
            )
        if not (gpu.bf16_tflops or gpu.fp16_tflops):
            message = "no bf16 or fp16 rate: nothing can be planned on it"
            yield Issue(
                "impossible-value", message, catalog.where("gpus", gpu.id), gpu.id
            )


def check_impossible_servers(catalog: Catalog) -> Iterator[Issue]:
    """Yield servers whose figures contradict each other."""
    for server in catalog.servers.values():
        for message in _server_faults(catalog, server.id):
            where = catalog.where("servers", server.id)
            yield Issue("impossible-value", message, where, server.id)


def _server_faults(catalog: Catalog, server_id: str) -> Iterator[str]:
    """Yield what is impossible about a server."""
    server = catalog.servers[server_id]
    tier = catalog.intra_node.get(server.intra_node)
    if tier is not None and tier.kind != server.intra_node_kind:
        kind = server.intra_node_kind
        yield f"{server.intra_node} is of kind {tier.kind}, not {kind}"
    if server.gpus_per_node > 1 and server.intra_node_kind == "none":
        yield "several GPUs and nothing that joins them"
    if server.gpus_per_node > 1 and server.intra_node_gb_per_s <= 0:
        yield "several GPUs and no rate between them"
    if server.nvlink_domain_gpus < server.gpus_per_node:
        yield "fewer GPUs in the NVLink domain than in the node"
    if (server.network is None) != (server.network_gbps <= 0):
        yield "a network needs a rate, and a rate a network"


def check_price_outliers(catalog: Catalog) -> Iterator[Issue]:
    """Yield prices per GPU-hour far from those of the same GPU and purchase kind."""
    prices: dict[tuple[str, str], dict[str, float]] = {}
    for offer in catalog.offers.values():
        server = catalog.servers.get(offer.server)
        if server is not None and offer.usd_per_node_hour > 0:
            price = offer.usd_per_node_hour / server.gpus_per_node
            prices.setdefault((server.gpu, offer.purchase), {})[offer.id] = price
    for (gpu, purchase), peers in prices.items():
        if len(peers) < MIN_PEERS:
            continue
        middle = median(peers.values())
        for offer_id, price in peers.items():
            if not middle / OUTLIER_FACTOR <= price <= middle * OUTLIER_FACTOR:
                message = (
                    f"${price:.2f} a GPU-hour, but the median of {gpu} {purchase} is "
                    f"${middle:.2f}"
                )
                where = catalog.where("offers", offer_id, "usd_per_node_hour")
                yield Issue("price-outlier", message, where, offer_id)


def check_spot_prices(catalog: Catalog) -> Iterator[Issue]:
    """Yield spot prices that are not below the on-demand price of the same server."""
    on_demand = {
        (offer.region, offer.server): offer.usd_per_node_hour
        for offer in catalog.offers.values()
        if offer.purchase == "on_demand"
    }
    for offer in catalog.offers.values():
        price = on_demand.get((offer.region, offer.server))
        if offer.purchase == "spot" and price and offer.usd_per_node_hour >= price:
            message = f"spot is not cheaper than on demand (${price:.2f})"
            where = catalog.where("offers", offer.id, "usd_per_node_hour")
            yield Issue("spot-not-cheaper", message, where, offer.id)


def check_offer_terms(catalog: Catalog) -> Iterator[Issue]:
    """Yield offers whose nodes and terms contradict each other."""
    for offer in catalog.offers.values():
        for field, message in supply_faults(offer):
            where = catalog.where("offers", offer.id, field)
            yield Issue("impossible-value", message, where, f"{offer.id}.{field}")


def check_standard_servers(catalog: Catalog) -> Iterator[Issue]:
    """Yield GPUs with two standard servers of one size."""
    seen: dict[tuple[str, int], str] = {}
    for server in catalog.servers.values():
        if server.standard:
            first = seen.setdefault((server.gpu, server.gpus_per_node), server.id)
            if first != server.id:
                message = f"{first} is the standard server of this GPU and size already"
                where = catalog.where("servers", server.id)
                yield Issue("duplicate-standard", message, where, server.id)


def check_storage(catalog: Catalog) -> Iterator[Issue]:
    """Yield storage tiers whose figures contradict each other."""
    for tier in catalog.storage.values():
        pairs: Mapping[str, tuple[float, float | None]] = {
            "read": (tier.read_gb_per_s_per_node, tier.aggregate_read_gb_per_s),
            "write": (tier.write_gb_per_s_per_node, tier.aggregate_write_gb_per_s),
        }
        for verb, (node, total) in pairs.items():
            if total is not None and node > total:
                message = f"one node {verb}s faster than all together"
                where = catalog.where("storage", tier.id)
                yield Issue("impossible-value", message, where, tier.id)


CHECKS: tuple[Callable[[Catalog], Iterable[Issue]], ...] = (
    check_calibration,
    check_ids,
    check_unknown_references,
    check_default_optimizers,
    check_generations,
    check_framework_constants,
    check_provider_of_offers,
    check_sources,
    check_ambiguous_aliases,
    check_impossible_gpus,
    check_profiles,
    check_impossible_servers,
    check_slice_servers,
    check_standard_servers,
    check_offer_terms,
    check_storage,
    check_ratios,
    check_link_rates,
    check_measured_links,
    check_failure_rates,
    check_steps_of_egress,
    check_region_sources,
    check_field_sources,
    check_matmul_rates,
    check_calibrated_matmuls,
    check_collective_rates,
    check_measured_tiers,
    check_spot_prices,
    check_price_outliers,
)
"""All checks, faults before warnings."""
