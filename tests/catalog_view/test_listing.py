"""Tests of the lists of the catalog: columns, filters, order."""

from datetime import date
from pathlib import Path

import pytest

from solver.catalog.load import DERIVED, PARTS, Catalog, load_catalog
from solver.catalog_view.kinds import KINDS
from solver.catalog_view.listing import Listing, kind_of, list_entries
from solver.errors import InputError, Issue
from tests.catalog.small import copy_of_small, small_catalog, write

TODAY = date(2026, 11, 30)
SHIPPED = load_catalog(environment={})


def listed(
    kind: str,
    catalog: Catalog | None = None,
    /,
    sort: str | None = None,
    limit: int | None = None,
    **filters: str | list[str],
) -> Listing:
    """Return a list; filters are named as Python can."""
    return list_entries(
        catalog or SHIPPED,
        kind_of(kind),
        TODAY,
        filters={
            name.replace("_", "-"): [value] if isinstance(value, str) else value
            for name, value in filters.items()
        },
        sort=sort,
        limit=limit,
    )


def ids(listing: Listing) -> list[str]:
    """Return the ids of a list in order."""
    return [row["id"] for row in listing.rows]


def faults(kind: str, /, **keys: str) -> list[Issue]:
    """Return the faults of what was asked for."""
    with pytest.raises(InputError) as caught:
        listed(kind, **keys)
    return list(caught.value.issues)


def test_every_part_can_be_listed() -> None:
    """Tests that no part of a catalog was forgotten, and that all of it is listed."""
    assert {kind.part for kind in KINDS.values()} == PARTS.keys() | DERIVED.keys()
    for name, kind in KINDS.items():
        found = listed(name)
        assert found.total == len(found.rows) == len(SHIPPED.entries(kind.part))
        assert all(tuple(row) == found.columns for row in found.rows)


@pytest.mark.parametrize("name", KINDS)
def test_columns_order_and_filters_are_columns(name: str) -> None:
    """Tests that what a kind shows, sorts by and filters by are columns of its rows."""
    kind = KINDS[name]
    keys = set(kind.keys(SHIPPED))
    assert {column.key for column in kind.columns} <= keys
    assert {column.removeprefix("-") for column in kind.sort} <= keys
    assert set(kind.filters.values()) <= keys
    assert kind.columns[0].rank == 0 or kind.columns[1].rank == 0


@pytest.mark.parametrize("name", KINDS)
def test_columns_without_any_row(name: str, tmp_path: Path) -> None:
    """Tests that an empty part has its columns all the same, for the head of a CSV."""
    empty = load_catalog([tmp_path], shipped=False)
    found = listed(name, empty)
    assert (found.rows, found.total) == ((), 0)
    shown = {column.key for column in KINDS[name].columns}
    assert {"id", *shown} <= set(found.columns)


def test_an_offer_has_all_that_it_amounts_to() -> None:
    """Tests the columns of an offer that follow from its server and region."""
    row = listed("offers", small_catalog()).rows[0]
    assert row["id"] == "acme/east/8x-small-a/on_demand"
    assert (row["provider"], row["region"], row["country"]) == (
        "acme",
        "acme/east",
        "US",
    )
    assert (row["server"], row["gpu"], row["gpus_per_node"]) == (
        "8x-small-a",
        "small-a",
        8,
    )
    assert (row["usd_per_gpu_hour"], row["usd_per_node_hour"]) == (1.0, 8.0)
    assert (row["billing_unit"], row["stock"], row["max_nodes"]) == (
        "second",
        "known",
        16,
    )
    # January 2026 ended 303 days before the last of November
    assert (row["as_of"], row["age_days"], row["flags"]) == (
        "2026-01",
        303,
        ("old-price",),
    )


def test_spot_is_a_quote_and_its_stock_is_assumed() -> None:
    """Tests that a spot price is flagged, and stock that is not stated is assumed."""
    (row,) = listed("offers", small_catalog(), purchase="spot").rows
    assert row["flags"] == ("spot-quote", "old-price")
    assert (row["stock"], row["max_nodes"]) == ("assumed", None)


def test_marketplaces_and_estimates_are_flagged() -> None:
    """Tests that a quote of a marketplace says so, and so does a price from memory."""
    rows = listed("offers", provider="vast").rows
    assert rows
    assert all("marketplace" in row["flags"] for row in rows)
    for row in listed("offers").rows:
        assert ("estimate" in row["flags"]) == row["source"].startswith("memory")


def test_offers_are_sorted_by_price_of_a_gpu_hour() -> None:
    """Tests the default order of offers, and that a limit keeps the cheapest."""
    found = listed("offers", gpu="H100", limit=10)
    prices = [row["usd_per_gpu_hour"] for row in found.rows]
    assert prices == sorted(prices)
    assert len(prices) == 10 < found.total
    every = [row["usd_per_gpu_hour"] for row in listed("offers", gpu="H100").rows]
    assert prices[0] == min(every)


def test_a_family_stands_for_its_members() -> None:
    """Tests that H100 means all its cards, in any case, and an alias one."""
    family = {row["gpu"] for row in listed("offers", gpu="h100").rows}
    assert family == {"h100-sxm-80gb", "h100-pcie-80gb", "h100-nvl-94gb"}
    assert set(ids(listed("gpus", gpu="H100"))) == family
    one = listed("gpus", gpu="A100-SXM4-80GB")
    assert ids(one) == ["a100-sxm-80gb"]


@pytest.mark.parametrize(
    ("kind", "filters", "key", "expected"),
    [
        ("offers", {"country": "Singapore"}, "country", {"SG"}),
        ("offers", {"country": ["SG", "japan"]}, "country", {"SG", "JP"}),
        ("offers", {"provider": "AWS"}, "provider", {"aws"}),
        ("offers", {"purchase": "on-demand"}, "purchase", {"on_demand"}),
        ("offers", {"server": "p5.48xlarge"}, "server", {"aws-p5.48xlarge"}),
        ("offers", {"region": "aws/us-east-1"}, "region", {"aws/us-east-1"}),
        ("offers", {"gpus_per_node": ["1", "2"]}, "gpus_per_node", {1, 2}),
        ("offers", {"network": "efa-v2"}, "network", {"efa-v2-100"}),
        ("servers", {"gpu": "B200", "provider": "aws"}, "provider", {"aws"}),
        ("networks", {"kind": "InfiniBand"}, "kind", {"infiniband"}),
        ("storage", {"kind": "parallel fs"}, "kind", {"parallel_fs"}),
        ("storage", {"provider": "aws"}, "provider", {"aws"}),
        ("intra-node", {"kind": "pcie"}, "kind", {"pcie"}),
        ("regions", {"country": "Japan"}, "country", {"JP"}),
        ("countries", {"country": "日本"}, "id", {"JP"}),
        ("egress", {"provider": "gcp"}, "provider", {"gcp"}),
        ("gpus", {"vendor": "amd"}, "vendor", {"AMD"}),
        ("frameworks", {"framework": "megatron-lm"}, "id", {"megatron"}),
    ],
)
def test_filter(kind, filters, key, expected) -> None:
    """Tests that each filter leaves what was asked for, and something."""
    found = listed(kind, **filters)
    assert {row[key] for row in found.rows} == expected
    assert 0 < found.total < len(SHIPPED.entries(found.kind.part))


def test_filters_add_up() -> None:
    """Tests that all filters have to hold, and any value of one will do."""
    rows = listed("offers", gpu=["H100", "A100"], country="SG", purchase="spot").rows
    assert {row["country"] for row in rows} == {"SG"}
    assert {row["purchase"] for row in rows} == {"spot"}
    assert {row["gpu"][:4] for row in rows} == {"h100", "a100"}


def test_a_kind_of_network_stands_for_its_tiers() -> None:
    """Tests that servers can be asked for by the kind of their network."""
    found = listed("servers", network="infiniband")
    kinds = {SHIPPED.networks[row["network"]].kind for row in found.rows}
    assert kinds == {"infiniband"}


def test_a_family_of_architectures() -> None:
    """Tests that a family or the beginning of an id is found."""
    assert ids(listed("architectures", family="llama-3.1")) == [
        "llama-3.1-8b",
        "llama-3.1-70b",
        "llama-3.1-405b",
    ]
    assert "mixtral-8x7b-v0.1" in ids(listed("architectures", family="Mixtral"))


def test_optimizers_of_a_framework() -> None:
    """Tests that a filter finds a value among several."""
    found = listed("optimizers", framework="hf")
    assert found.rows
    assert all("hf-trainer" in row["frameworks"] for row in found.rows)


def test_parameters_are_counted() -> None:
    """Tests that an architecture's parameters are those of its sizes."""
    rows = {row["id"]: row for row in listed("architectures").rows}
    assert rows["llama-2-70b"]["parameters_b"] == pytest.approx(68.98, abs=0.01)


def test_a_provider_without_rows_is_no_fault() -> None:
    """Tests that a provider that the catalog knows may have no storage of its own."""
    assert listed("storage", provider="vast").rows == ()


def test_a_broker_stands_for_the_clouds_behind_it() -> None:
    """Tests that primeintellect means all offers that it brokers."""
    providers = {
        row["provider"] for row in listed("offers", provider="primeintellect").rows
    }
    assert len(providers) == 8


@pytest.mark.parametrize(
    ("kind", "keys", "where", "hint"),
    [
        ("gpus", {"gpu": "H10"}, "--gpu H10", "H100"),
        ("offers", {"country": "Sinapore"}, "--country Sinapore", "Singapore"),
        ("offers", {"provider": "awz"}, "--provider awz", "aws"),
        ("storage", {"provider": "awz"}, "--provider awz", "aws"),
        ("offers", {"purchase": "spott"}, "--purchase spott", "spot"),
        ("offers", {"server": "p5.48xlrge"}, "--server p5.48xlrge", "p5.48xlarge"),
        ("networks", {"kind": "infinband"}, "--kind infinband", "infiniband"),
        ("servers", {"network": "ethernt"}, "--network ethernt", "ethernet"),
        ("servers", {"gpus_per_node": "eight"}, "--gpus-per-node eight", None),
        ("servers", {"gpus_per_node": "0"}, "--gpus-per-node 0", None),
        ("architectures", {"family": "Lama"}, "--family Lama", "Llama"),
        ("architectures", {"family": "-"}, "--family -", None),
        ("gpus", {"vendor": "nvidea"}, "--vendor nvidea", "NVIDIA"),
        ("gpus", {"sort": "memory"}, "--sort memory", "memory_gb"),
        ("gpus", {"sort": ""}, "--sort ", None),
        ("gpus", {"sort": "-"}, "--sort -", None),
    ],
)
def test_what_names_nothing(kind, keys, where, hint) -> None:
    """Tests that a value that names nothing is a fault with the nearest spelling."""
    (fault,) = faults(kind, **keys)
    assert fault.where == where
    if hint is not None:
        assert fault.hint == hint


def test_filters_that_make_no_sense() -> None:
    """Tests that a filter of another kind is refused, and says what it is for."""
    (fault,) = faults("gpus", country="SG")
    assert (fault.code, fault.where) == ("bad-usage", "--country")
    assert "regions, countries, offers" in fault.message
    (fault,) = faults("regions", vendor="NVIDIA")
    assert fault.where == "--vendor"


def test_all_faults_at_once() -> None:
    """Tests that nothing is told only after another fault is mended."""
    found = faults("offers", gpu="H10", country="Sinapore", sort="usd", vendor="x")
    assert [fault.where for fault in found] == [
        "--vendor",
        "--sort usd",
        "--gpu H10",
        "--country Sinapore",
    ]


def test_an_unknown_kind_has_a_hint() -> None:
    """Tests that kinds are told with the nearest name."""
    with pytest.raises(InputError) as caught:
        kind_of("gpu")
    assert caught.value.issues[0].hint == "gpus"
    assert kind_of("Failure_Rates").part == "failure_rates"


def test_sorting() -> None:
    """Tests several columns, largest first, and that what is not known comes last."""
    found = listed("gpus", sort="-memory_gb,id")
    sizes = [(-row["memory_gb"], row["id"]) for row in found.rows]
    assert sizes == sorted(sizes)
    rates = [row["fp8_tflops"] for row in listed("gpus", sort="fp8_tflops").rows]
    known = [rate for rate in rates if rate is not None]
    assert known == sorted(known)
    assert rates == known + [None] * (len(rates) - len(known))
    backwards = [r["fp8_tflops"] for r in listed("gpus", sort="-fp8_tflops").rows]
    assert backwards == known[::-1] + [None] * (len(rates) - len(known))


@pytest.mark.parametrize("name", KINDS)
def test_every_column_can_be_sorted_by(name: str) -> None:
    """Tests that no column holds what cannot be compared."""
    for key in KINDS[name].keys(SHIPPED):
        found = listed(name, sort=f"-{key}")
        assert len(found.rows) == found.total


def test_order_does_not_depend_on_the_order_of_files(tmp_path: Path) -> None:
    """Tests that offers of one price are in order of their ids."""
    folder = copy_of_small(tmp_path)
    rows = "region,server,purchase,usd_per_node_hour,source,as_of,id\n"
    for name in ("c", "a", "b"):
        rows += f"acme/east,8x-small-a,on_demand,8,made up,2026-01,{name}\n"
    write(folder, "offers/acme.csv", rows)
    catalog = load_catalog([folder], shipped=False)
    assert ids(listed("offers", catalog)) == ["a", "b", "c"]


def test_an_offer_of_an_unknown_server_is_listed(tmp_path: Path) -> None:
    """Tests that a folder with a fault can be looked at, to find the fault."""
    folder = copy_of_small(tmp_path)
    rows = "region,server,purchase,usd_per_node_hour,source,as_of\n"
    rows += "acme/nowhere,none-such,on_demand,8,made up,2026-01\n"
    write(folder, "offers/acme.csv", rows)
    (row,) = listed("offers", load_catalog([folder], shipped=False)).rows
    assert (row["gpu"], row["usd_per_gpu_hour"], row["country"]) == (None, None, None)


@pytest.mark.parametrize(
    ("kind", "filters", "parts"),
    [
        ("gpus", {}, {"gpus"}),
        ("gpus", {"gpu": "H100"}, {"gpus"}),
        ("servers", {"provider": "aws"}, {"servers"}),
        ("regions", {"provider": "aws"}, {"regions"}),
        ("regions", {"country": "SG"}, {"regions", "countries"}),
        ("networks", {}, {"networks"}),
        ("storage", {"provider": "aws"}, {"storage"}),
        ("offers", {}, {"offers", "servers", "regions"}),
        ("architectures", {}, set()),
    ],
)
def test_only_what_is_needed_is_read(kind, filters, parts) -> None:
    """Tests that a list of GPUs reads no offers, and so on."""
    catalog = load_catalog(environment={})
    listed(kind, catalog, **filters)
    assert catalog.records.keys() == parts


def test_slices_are_found_by_card_and_by_name() -> None:
    """Tests that a family, a card and a profile each find their slices."""
    assert len(ids(listed("slices", gpu="a30"))) == 3
    assert ids(listed("slices", gpu="a30 4g.24gb")) == ["a30/4g.24gb"]
    assert {i.partition("/")[2] for i in ids(listed("slices", gpu="1g.10gb"))} == {
        "1g.10gb"
    }
    assert len(ids(listed("slices", gpu=["A30", "B200"]))) == 9
