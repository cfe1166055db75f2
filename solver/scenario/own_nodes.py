"""What a scenario states of nodes that are one's own: price to buy, energy, hosting."""

from __future__ import annotations

from typing import Any

from solver.catalog.ownership import YEAR_HOURS, depreciation_usd_per_hour
from solver.scenario.reading import Reading
from solver.scenario.supply_schema import OfferSpec
from solver.yaml_source import DataPath

__all__ = ["check_charge", "own_depreciation", "own_figures", "own_term_hours"]


def own_figures(spec: OfferSpec) -> dict[str, Any]:
    """Return the fields of a catalog offer that are about nodes of one's own."""
    return {
        "buy_usd_per_node": spec.buy_usd_per_node,
        "years": spec.years,
        "resale": spec.resale,
        "hosting_usd_per_node_month": spec.hosting_usd_per_node_month,
        "usd_per_kwh": spec.usd_per_kwh,
        "pue": spec.pue,
        "node_power_kw": spec.node_power,
    }


def own_depreciation(spec: OfferSpec) -> float:
    """Return what a bought node loses an hour; 0 where price or years are missing."""
    if spec.buy_usd_per_node is None or spec.years is None:
        return 0.0
    return depreciation_usd_per_hour(spec.buy_usd_per_node, spec.years, spec.resale)


def own_term_hours(spec: OfferSpec, kind: str) -> float:
    """Return what is paid for at least, hours.

    To charge the whole price of a bought node is to pay for all its years of use.
    """
    if kind == "bought" and spec.charge == "whole" and spec.years is not None:
        return spec.years * YEAR_HOURS
    return spec.min_term


def check_charge(spec: OfferSpec, kind: str, path: DataPath, reading: Reading) -> None:
    """Log a way to charge the price of what is not bought, or a term besides it."""
    if kind != "bought" and spec.charge is not None:
        message = f"what is {kind} is not bought, so its price is not charged"
        reading.fault("contradiction", message, (*path, "charge"))
    if kind == "bought" and spec.min_term and spec.charge == "whole":
        message = "a bought node has no term but its years of use"
        reading.fault("contradiction", message, (*path, "min_term"))
