"""Tests of overlays: prices, and what is left of the offers."""

from __future__ import annotations

from pathlib import Path

import pytest

from solver.sweeps.definition import Overlay, PriceChange
from solver.sweeps.offers import changed
from solver.sweeps.question import scenario_at
from tests.sweeps.examples import prepared, shipped


def test_prices_of_listed_and_of_own_offers(tmp_path: Path) -> None:
    """Tests that factors multiply, on what they name, and leave what is owned alone."""
    ready = prepared(tmp_path)
    scenario = scenario_at(ready.question, ready.points.points[0], shipped())
    overlay = Overlay(
        "dear", (PriceChange(1.2), PriceChange(2.0, gpus=("h100-sxm-80gb",)))
    )
    told, catalog = changed(scenario, shipped(), overlay, 0.5)
    before = {o.id: o for o in (*shipped().offers.values(), *scenario.supply.offers)}
    after = {o.id: o for o in (*catalog.offers.values(), *told.supply.offers)}
    assert after.keys() == before.keys()
    servers = {s.id: s for s in scenario.supply.servers} | dict(shipped().servers)
    for key, offer in before.items():
        rented = offer.purchase not in ("owned", "bought")
        dear = servers[offer.server].gpu == "h100-sxm-80gb"
        factor = 1.2 * 0.5 * (2.0 if dear else 1.0) if rented else 1.0
        expected = offer.usd_per_node_hour * factor
        assert after[key].usd_per_node_hour == pytest.approx(expected)


@pytest.mark.parametrize(
    ("exclude", "field"),
    [
        ({"providers": ("aws",)}, "provider"),
        ({"regions": ("aws/us-east-1",)}, "region"),
        ({"purchase": ("spot",)}, "purchase"),
    ],
)
def test_what_is_left_out(
    exclude: dict[str, tuple[str, ...]], field: str, tmp_path: Path
) -> None:
    """Tests that offers are left out by what they are, and no others."""
    ready = prepared(tmp_path)
    scenario = scenario_at(ready.question, ready.points.points[0], shipped())
    _, catalog = changed(scenario, shipped(), Overlay("x", exclude=exclude), 1.0)
    ((_, (value,)),) = exclude.items()
    gone = shipped().offers.keys() - catalog.offers.keys()
    assert gone == {
        key for key, o in shipped().offers.items() if getattr(o, field) == value
    }
    assert gone


def test_without_a_gpu_or_a_country(tmp_path: Path) -> None:
    """Tests the sets that need a server or a region to be looked up."""
    ready = prepared(tmp_path)
    scenario = scenario_at(ready.question, ready.points.points[0], shipped())
    overlay = Overlay("x", exclude={"gpus": ("h100-sxm-80gb",), "countries": ("US",)})
    told, catalog = changed(scenario, shipped(), overlay, 1.0)
    assert [offer.id for offer in told.supply.offers] == ["slow"]
    for offer in catalog.offers.values():
        assert catalog.servers[offer.server].gpu != "h100-sxm-80gb"
        assert catalog.regions[offer.region].country != "US"
    nothing = Overlay("x", exclude={"gpus": ("h100-sxm-80gb", "a100-sxm-80gb")})
    told, catalog = changed(scenario, shipped(), nothing, 1.0)
    assert (told.supply.offers, len(catalog.offers)) == ((), 0)
