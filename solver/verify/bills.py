"""What the nodes of one offer cost in a plan, in plain arithmetic."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import TYPE_CHECKING

from solver.energy import offer_power_kw, offer_pue
from solver.units import HOUR, MONTH_HOURS
from solver.verify.evidence import Evidence, Part

if TYPE_CHECKING:
    from datetime import date

SLICES = 33
"""Equally likely finishes over which a bill in whole units is averaged."""


@dataclass(frozen=True)
class Bill:
    """The bill of a part's nodes; dollars and hours."""

    evidence: Evidence
    part: Part
    fixed_s: float
    """Seconds on the nodes beside the run: set-up, copies."""
    active_s: float
    """Expected seconds of work with failures and checkpoints."""
    sigma: float
    """Spread of the logarithm of those."""

    @cached_property
    def usd_per_node_hour(self) -> float:
        """Price after the discount of the last rule that matches."""
        evidence, discount = self.evidence, 0.0
        offer = self.part.offer
        for rule in evidence.scenario.prices:
            pairs = (
                (rule.provider, offer.provider),
                (rule.region, offer.region),
                (rule.gpu, evidence.gpu.id),
                (rule.purchase, offer.purchase),
            )
            if all(wanted is None or wanted == got for wanted, got in pairs):
                discount = rule.discount
        return offer.usd_per_node_hour * (1.0 - discount)

    @cached_property
    def usd_per_hour(self) -> float:
        """Rent of all nodes of the part for an hour."""
        return self.part.nodes * self.usd_per_node_hour

    def billed_hours(self, factors: tuple[float, ...]) -> float:
        """Mean hours paid for where active time is stretched by each of ``factors``.

        Waiting is not paid; a billing unit once begun is paid whole, and one at least;
        so is the term. Without units the factors are scaled to a mean of one.
        """
        offer = self.part.offer
        size = {"second": 0, "hour": 1, "month": MONTH_HOURS}[offer.billing_unit]
        scale = 1.0 if size else math.fsum(factors) / len(factors)
        stretched = len(factors) == 1  # a finish of its own, not a spread around one
        total = 0.0
        for factor in factors:
            by = factor if stretched else factor / scale
            hours = (self.fixed_s + self.active_s * by) / HOUR
            if size:
                hours = max(1, math.ceil(hours / size - 1e-9)) * size
            total += max(hours, offer.min_term_hours)
        return total / len(factors)

    def used_hours(self, stretch: float = 1.0) -> float:
        """Hours from the first paid one to the finish of a stretched run."""
        return (self.fixed_s + self.active_s * stretch) / HOUR

    @cached_property
    def expected_hours(self) -> float:
        """Expected hours paid for: the mean of whole units, not units of the mean."""
        offer = self.part.offer
        plain = offer.billing_unit == "second" and not offer.min_term_hours
        if plain or self.sigma <= 0:
            return self.billed_hours((1.0,))
        normal = NormalDist()
        quantiles = [normal.inv_cdf((i + 0.5) / SLICES) for i in range(SLICES)]
        return self.billed_hours(tuple(math.exp(self.sigma * z) for z in quantiles))

    @cached_property
    def unused_usd(self) -> float:
        """Rent of hours that are paid for and not used."""
        unused = self.expected_hours - self.used_hours()
        return self.usd_per_hour * unused if unused > 1e-9 * self.expected_hours else 0

    def energy_usd(self, stretch: float = 1.0) -> float:
        """Energy of nodes of one's own and of what cools them, while they run."""
        offer = self.part.offer
        if offer.purchase not in ("owned", "bought") or not offer.usd_per_kwh:
            return 0.0
        power_kw = offer_power_kw(offer, self.part.server, self.evidence.gpu)
        power_kw *= offer_pue(self.evidence.catalog, offer) * self.part.nodes
        return power_kw * self.used_hours(stretch) * offer.usd_per_kwh

    def hosting_usd(self, stretch: float = 1.0) -> float:
        """Hosting of nodes of one's own, while they run."""
        months = self.used_hours(stretch) / MONTH_HOURS
        return self.part.nodes * self.part.offer.hosting_usd_per_node_month * months

    def at(self, stretch: float) -> float:
        """All that the nodes cost in a run that is stretched so."""
        rent = self.usd_per_hour * self.billed_hours((stretch,))
        return rent + self.energy_usd(stretch) + self.hosting_usd(stretch)

    def stock(self, day: date) -> tuple[int, bool]:
        """Nodes of the offer on a day, and whether that is known.

        A price list says nothing of stock: then a marketplace has one node and others
        what the scenario assumes. Without a fabric one node is all that a job can use.
        """
        offer, scenario = self.part.offer, self.evidence.scenario
        nodes = offer.max_nodes
        if offer.available:
            there = sum(
                delivery.nodes
                for delivery in offer.available
                if delivery.start is None or delivery.start <= day
            )
            nodes = there if nodes is None else min(nodes, there)
        known = nodes is not None
        if nodes is None:
            nodes = 1 if offer.marketplace else scenario.stock_unknown_nodes
        return (nodes if self.evidence.network else min(nodes, 1)), known
