"""Tests of what a scenario states of nodes that are one's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from solver.catalog.ownership import depreciation_usd_per_hour
from solver.catalog.schema import Offer
from solver.errors import InputError
from solver.scenario.scenario import Scenario
from tests.scenario.reading import SMALL, faults, read

NODE = "name: mine, gpu: l40s, gpus_per_node: 8"
BOUGHT = f"{NODE}, buy_usd_per_node: $120k, years: 4"


def offering(*offers: str) -> str:
    """Return a scenario with offers."""
    return f"{SMALL}offers:\n" + "".join(f"  - {{{offer}}}\n" for offer in offers)


def own(offer: str) -> tuple[Scenario, Offer]:
    """Return the scenario of an offer, and the offer."""
    scenario = read(offering(offer))
    return scenario, scenario.supply.offers[0]


def test_bought_nodes() -> None:
    """Tests every key of a bought offer, and what it is charged an hour."""
    scenario, offer = own(
        f"{BOUGHT}, resale: 15%, hosting_usd_per_node_month: $400, usd_per_kwh: 0.09, "
        "pue: 1.25, node_power: 3.6 kW, lead_time: 60 days"
    )
    assert (offer.purchase, offer.billing_unit) == ("bought", "second")
    assert (offer.buy_usd_per_node, offer.years, offer.resale) == (120_000, 4, 0.15)
    assert offer.usd_per_node_hour == pytest.approx(120_000 * 0.85 / (4 * 8_760))
    assert (offer.hosting_usd_per_node_month, offer.usd_per_kwh) == (400, 0.09)
    assert (offer.pue, offer.node_power_kw) == (1.25, 3.6)
    assert (offer.min_term_hours, offer.lead_time_days) == (0, 60)
    assert scenario.constraints.purchase == ("on_demand", "bought")


def test_the_whole_price_is_a_term_of_all_years() -> None:
    """Tests that to charge the whole price is to pay for every year of use."""
    _, offer = own(f"{BOUGHT}, resale: 0.2, charge: whole")
    assert offer.min_term_hours == 4 * 8_760
    paid = offer.min_term_hours * offer.usd_per_node_hour
    assert paid == pytest.approx(120_000 * 0.8)
    assert own(f"{BOUGHT}, charge: used")[1].min_term_hours == 0


@pytest.mark.parametrize(
    ("written", "kw"), [("3.6", 3.6), ("3.6 kW", 3.6), ("'3,600 W'", 3.6), ("4kw", 4)]
)
def test_power(written: str, kw: float) -> None:
    """Tests the units of power; a bare number is kW."""
    assert own(f"{NODE}, node_power: {written}")[1].node_power_kw == kw


@pytest.mark.parametrize(("written", "years"), [("3", 3), ("3 years", 3)])
def test_years(written: str, years: float) -> None:
    """Tests years of use; a bare number is years."""
    offer = own(f"{NODE}, buy_usd_per_node: 9e4, years: {written}")[1]
    assert offer.years == years


@pytest.mark.parametrize(
    ("keys", "code", "path", "part"),
    [
        (f"{NODE}, buy_usd_per_node: $120k", "missing-key", "years", "years of use"),
        (
            f"{NODE}, purchase: bought, years: 4",
            "missing-key",
            "buy_usd_per_node",
            "the price of a node",
        ),
        (f"{BOUGHT}, purchase: monthly", "contradiction", "buy_usd_per_node", ""),
        (f"{NODE}, years: 4", "contradiction", "years", "buy_usd_per_node"),
        (f"{NODE}, resale: 10%", "contradiction", "resale", "buy_usd_per_node"),
        (
            f"{NODE}, usd_per_gpu_hour: 2, usd_per_kwh: 0.1",
            "contradiction",
            "usd_per_kwh",
            "part of the rent",
        ),
        (
            f"{NODE}, usd_per_gpu_hour: 2, hosting_usd_per_node_month: 10",
            "contradiction",
            "hosting_usd_per_node_month",
            "part of the rent",
        ),
        (
            f"{NODE}, spot_usd_per_gpu_hour: 1, usd_per_kwh: 0.1",
            "contradiction",
            "usd_per_kwh",
            "part of the rent",
        ),
        (f"{BOUGHT}, min_term: 1 year", "contradiction", "min_term", "no term"),
        (
            f"{BOUGHT}, charge: whole, min_term: 1 year",
            "contradiction",
            "min_term",
            "no term",
        ),
        (f"{NODE}, charge: whole", "contradiction", "charge", "not bought"),
        (
            f"{BOUGHT}, usd_per_gpu_hour: 2",
            "conflicting-keys",
            "buy_usd_per_node",
            "one price",
        ),
        (
            f"{NODE}, buy_usd_per_node: 9e4, years: 0",
            "out-of-range",
            "years",
            "0.1 to 10 years",
        ),
        (
            f"{NODE}, buy_usd_per_node: 9e4, years: 11 years",
            "out-of-range",
            "years",
            "0.1 to 10 years",
        ),
        (
            f"{NODE}, buy_usd_per_node: -5, years: 4",
            "out-of-range",
            "buy_usd_per_node",
            "negative",
        ),
        (
            f"{NODE}, buy_usd_per_node: 0, years: 4",
            "out-of-range",
            "buy_usd_per_node",
            "USD per node",
        ),
        (f"{BOUGHT}, resale: 100%", "out-of-range", "resale", "0 to 0.99"),
        (f"{BOUGHT}, resale: -1", "out-of-range", "resale", "negative"),
        (f"{NODE}, usd_per_kwh: 90", "out-of-range", "usd_per_kwh", "0 to 10"),
        (f"{NODE}, pue: 0.9", "out-of-range", "pue", "1 to 10"),
        (f"{NODE}, node_power: 0", "out-of-range", "node_power", "0.01 to 1,000 kW"),
        (f"{NODE}, node_power: 5 hp", "unknown-unit", "node_power", "hp"),
        (f"{BOUGHT}, charge: half", "wrong-value", "charge", "used"),
    ],
)
def test_what_is_refused(keys: str, code: str, path: str, part: str) -> None:
    """Tests code, place and words of each fault, and that it is the only one."""
    found = faults(offering(keys))
    assert [(f.code, f.path) for f in found] == [(code, f"offers[0].{path}")]
    assert part in f"{found[0].message} {found[0].hint}"
    assert (found[0].where or "").startswith("s.yaml:4:")


def test_all_faults_are_told_at_once() -> None:
    """Tests that no fault of one offer hides those of another."""
    found = faults(
        offering(
            f"{NODE}, usd_per_gpu_hour: 2, usd_per_kwh: 0.1",
            "name: other, gpu: l40s, gpus_per_node: 8, buy_usd_per_node: 1e5",
            "name: third, gpu: l40s, gpus_per_node: 8, pue: 0.5",
        )
    )
    assert {f.path for f in found} >= {"offers[2].pue"}
    fewer = faults(
        offering(
            f"{NODE}, usd_per_gpu_hour: 2, usd_per_kwh: 0.1",
            "name: other, gpu: l40s, gpus_per_node: 8, buy_usd_per_node: 1e5",
        )
    )
    assert [f.path for f in fewer] == ["offers[0].usd_per_kwh", "offers[1].years"]


def test_a_table_states_the_same(tmp_path: Path) -> None:
    """Tests the columns of a table of offers, and where its faults are."""
    table = tmp_path / "nodes.csv"
    head = "name,gpu,gpus_per_node,buy_usd_per_node,years,resale,usd_per_kwh,node_power"
    table.write_text(f"{head}\nmine,l40s,8,$90k,3 years,10%,0.08,3.5 kW\n")
    offer = read(f"{SMALL}offers: {table}\n").supply.offers[0]
    assert offer.usd_per_node_hour == depreciation_usd_per_hour(90_000, 3, 0.1)
    assert (offer.usd_per_kwh, offer.node_power_kw) == (0.08, 3.5)
    table.write_text(f"{head}\nmine,l40s,8,$90k,,,,\n")
    with pytest.raises(InputError) as caught:
        read(f"{SMALL}offers: {table}\n")
    assert [i.path for i in caught.value.issues] == ["offers[0].years"]
    assert str(table) in (caught.value.issues[0].where or "")
