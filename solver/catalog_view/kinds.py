"""The kinds of entry that can be listed: their columns, order and filters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from types import MappingProxyType
from typing import Any

from solver.catalog.date_checks import MAX_PRICE_AGE_DAYS
from solver.catalog.load import DERIVED, PARTS, Catalog
from solver.catalog.schema import EgressPrice, Offer
from solver.dates import age_days
from solver.provenance import is_estimate

__all__ = ["KINDS", "Column", "ListedKind", "Row"]

Row = dict[str, Any]
"""Values of one entry by column; the unit of a figure is part of the column's name."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table for people.

    Parameters
    ----------
    key
        Key of a `Row`.
    rank
        0: always shown. Where a terminal is narrow, the highest are left out first.
    decimals
        Digits after the point; None: as many as the figure has.
    """

    key: str
    rank: int = 0
    decimals: int | None = None


@dataclass(frozen=True, slots=True)
class ListedKind:
    """One kind of entry as it is listed.

    Parameters
    ----------
    part
        Its name in `solver.catalog.load.PARTS`, or `DERIVED`.
    columns
        What a table shows, left to right. JSON and CSV have these first, then all
        other fields of the entries.
    sort
        Columns to sort by unless others are asked for; with ``-``, largest first.
    filters
        Name of a filter to the column that it is about.
    derive
        Returns what follows from an entry and others of the catalog.
    """

    part: str
    columns: tuple[Column, ...]
    sort: tuple[str, ...]
    filters: Mapping[str, str] = field(default_factory=dict)
    derive: Callable[[Catalog, Any, date], Row] | None = None

    @property
    def name(self) -> str:
        """What the command line calls it: ``failure-rates``."""
        return self.part.replace("_", "-")

    def keys(self, catalog: Catalog) -> tuple[str, ...]:
        """Return the columns of JSON and CSV, all of which can be sorted by."""
        for entry in catalog.entries(self.part).values():
            return tuple(self.row(catalog, entry, date.min))
        own = ("id", *(column.key for column in self.columns))
        model = PARTS[self.part].model if self.part in PARTS else DERIVED[self.part]
        return tuple(dict.fromkeys((*own, *model.model_fields)))

    def row(self, catalog: Catalog, entry: Any, day: date) -> Row:
        """Return an entry as a row: id, the columns of the table, all other fields.

        Parameters
        ----------
        catalog, entry
            An entry of this kind in its catalog.
        day
            Today, from which ages count.
        """
        values = entry.model_dump()
        if self.derive is not None:
            values |= self.derive(catalog, entry, day)
        first = ("id", *(column.key for column in self.columns))
        return {key: values[key] for key in dict.fromkeys((*first, *values))}


def _offer(catalog: Catalog, offer: Offer, day: date) -> Row:
    """Return what an offer amounts to with its server and region."""
    server = catalog.servers.get(offer.server)
    region = catalog.regions.get(offer.region)
    gpus = server.gpus_per_node if server else None
    stock_known = offer.max_nodes is not None or bool(offer.available)
    age = age_days(offer.as_of, day)
    flags = {
        "marketplace": offer.marketplace,
        "spot-quote": offer.purchase == "spot",
        "old-price": age is not None and age > MAX_PRICE_AGE_DAYS,
        "estimate": is_estimate(offer.source),
        "minimum-term": offer.min_term_hours > 0,
    }
    return {
        "country": region.country if region else None,
        "gpu": server.gpu if server else None,
        "gpus_per_node": gpus,
        "network": server.network if server else None,
        "usd_per_gpu_hour": offer.usd_per_node_hour / gpus if gpus else None,
        "stock": "known" if stock_known else "assumed",
        "age_days": age,
        "flags": tuple(flag for flag, holds in flags.items() if holds),
    }


def _egress(_catalog: Catalog, price: EgressPrice, day: date) -> Row:
    """Return whose price of moving data out this is, and how old it is."""
    provider = price.origin.partition("/")[0]
    return {"provider": provider, "age_days": age_days(price.as_of, day)}


def _architecture(_catalog: Catalog, entry: Any, _day: date) -> Row:
    """Return the parameters that the sizes of an architecture amount to."""
    from solver.performance.transformer import parameter_count
    from solver.physics_inputs import shape_of

    return {"parameters_b": parameter_count(shape_of(entry)) / 1e9}


_ALL = (
    ListedKind(
        "gpus",
        (
            Column("id"),
            Column("vendor", 5),
            Column("generation", 3),
            Column("memory_gb"),
            Column("usable_memory_gib", 2),
            Column("memory_bandwidth_gb_per_s", 1),
            Column("bf16_tflops"),
            Column("fp8_tflops", 1),
            Column("nvlink_gb_per_s", 2),
            Column("tdp_w", 4),
            Column("release", 6),
        ),
        ("-bf16_tflops", "id"),
        {"gpu": "id", "vendor": "vendor"},
    ),
    ListedKind(
        "slices",
        (
            Column("id"),
            Column("slices_per_card"),
            Column("compute_slices", 3),
            Column("memory_slices", 3),
            Column("sm_count"),
            Column("usable_memory_gib", decimals=2),
            Column("memory_bandwidth_gb_per_s", 1, 0),
            Column("bf16_tflops", 1, 0),
            Column("tdp_w", 4, 0),
        ),
        ("card", "compute_slices", "memory_slices"),
        {"gpu": "id", "vendor": "vendor"},
    ),
    ListedKind(
        "servers",
        (
            Column("id"),
            Column("provider", 5),
            Column("gpu"),
            Column("gpus_per_node"),
            Column("intra_node", 2),
            Column("intra_node_gb_per_s", 4),
            Column("network", 1),
            Column("network_gbps", 1),
            Column("vcpus", 4),
            Column("ram_gb", 3),
            Column("local_nvme_tb", 3),
        ),
        ("gpu", "-gpus_per_node", "id"),
        {
            "gpu": "gpu",
            "provider": "provider",
            "network": "network",
            "gpus-per-node": "gpus_per_node",
        },
    ),
    ListedKind(
        "intra_node",
        (
            Column("id"),
            Column("kind"),
            Column("gb_per_s"),
            Column("efficiency"),
            Column("latency_us"),
            Column("bus_8_gb_per_s", 1),
            Column("as_of", 2),
        ),
        ("-gb_per_s", "id"),
        {"kind": "kind"},
    ),
    ListedKind(
        "networks",
        (
            Column("id"),
            Column("kind"),
            Column("gbps_per_nic"),
            Column("efficiency"),
            Column("latency_us"),
            Column("as_of", 1),
        ),
        ("-gbps_per_nic", "id"),
        {"kind": "kind", "network": "id"},
    ),
    ListedKind(
        "storage",
        (
            Column("id"),
            Column("provider", 4),
            Column("kind"),
            Column("usd_per_gb_month"),
            Column("read_gb_per_s_per_node"),
            Column("write_gb_per_s_per_node", 1),
            Column("gpudirect", 3),
            Column("as_of", 2),
        ),
        ("usd_per_gb_month", "id"),
        {"kind": "kind", "provider": "provider"},
    ),
    ListedKind(
        "regions",
        (
            Column("id"),
            Column("name", 2),
            Column("city", 3),
            Column("country"),
            Column("metro", 4),
            Column("lat", 5, 2),
            Column("lon", 5, 2),
            Column("grid_gco2_per_kwh", 1),
        ),
        ("id",),
        {"region": "id", "country": "country", "provider": "provider"},
    ),
    ListedKind(
        "countries",
        (Column("id"), Column("name"), Column("name_zh", 1)),
        ("id",),
        {"country": "id"},
    ),
    ListedKind(
        "offers",
        (
            Column("provider", 8),
            Column("region"),
            Column("country", 3),
            Column("server", 2),
            Column("gpu"),
            Column("gpus_per_node"),
            Column("purchase"),
            Column("usd_per_gpu_hour", decimals=2),
            Column("usd_per_node_hour", 4, 2),
            Column("billing_unit", 7),
            Column("stock", 3),
            Column("max_nodes", 6),
            Column("marketplace", 9),
            Column("as_of", 1),
            Column("flags"),
        ),
        ("usd_per_gpu_hour", "gpu", "id"),
        {
            "gpu": "gpu",
            "country": "country",
            "region": "region",
            "provider": "provider",
            "server": "server",
            "purchase": "purchase",
            "network": "network",
            "gpus-per-node": "gpus_per_node",
        },
        _offer,
    ),
    ListedKind(
        "egress",
        (
            Column("origin"),
            Column("destination"),
            Column("from_gb"),
            Column("to_gb"),
            Column("usd_per_gb"),
            Column("free_gb_per_month", 2),
            Column("as_of", 1),
        ),
        ("origin", "destination", "from_gb"),
        {"provider": "provider"},
        _egress,
    ),
    ListedKind(
        "round_trips",
        (Column("metro_a"), Column("metro_b"), Column("rtt_ms"), Column("as_of", 1)),
        ("metro_a", "metro_b"),
    ),
    ListedKind(
        "failure_rates",
        (
            Column("id"),
            Column("applies_to"),
            Column("per_gpu_hour"),
            Column("per_node_hour"),
            Column("low", 2),
            Column("high", 2),
            Column("as_of", 1),
        ),
        ("id",),
    ),
    ListedKind(
        "collective_rates",
        (
            Column("tier"),
            Column("gpu"),
            Column("collective"),
            Column("gpus"),
            Column("nodes", 2),
            Column("message_bytes", 1),
            Column("bus_gb_per_s"),
            Column("latency_us"),
            Column("software", 3),
            Column("as_of", 4),
        ),
        ("tier", "gpu", "collective", "gpus", "message_bytes"),
        {"gpu": "gpu"},
    ),
    ListedKind(
        "matmul_rates",
        (
            Column("gpu"),
            Column("precision"),
            Column("software", 1),
            Column("median_tflops"),
            Column("p90_tflops", 2),
            Column("max_tflops"),
            Column("max_shape", 3),
            Column("as_of", 4),
        ),
        ("gpu", "precision", "software"),
        {"gpu": "gpu"},
    ),
    ListedKind(
        "optimizers",
        (
            Column("id"),
            Column("name", 2),
            Column("state_bytes"),
            Column("master_bytes"),
            Column("paged", 1),
            Column("frameworks", 3),
        ),
        ("id",),
        {"framework": "frameworks"},
    ),
    ListedKind(
        "frameworks",
        (
            Column("id"),
            Column("name", 2),
            Column("methods"),
            Column("zero_stages"),
            Column("tensor_parallel", 1),
            Column("pipeline_parallel", 1),
            Column("context_parallel", 3),
            Column("expert_parallel", 3),
            Column("default_optimizer", 4),
        ),
        ("id",),
        {"framework": "id"},
    ),
    ListedKind(
        "architectures",
        (
            Column("id"),
            Column("family", 3),
            Column("parameters_b", decimals=2),
            Column("layers"),
            Column("hidden"),
            Column("heads", 1),
            Column("kv_heads", 1),
            Column("ffn", 2),
            Column("vocab", 2),
            Column("n_experts", 2),
            Column("max_seq", 4),
        ),
        ("parameters_b", "id"),
        {"family": "family"},
        _architecture,
    ),
)

KINDS: Mapping[str, ListedKind] = MappingProxyType({kind.name: kind for kind in _ALL})
"""Everything that can be listed, by its name on the command line."""
