"""Time and price of copies between regions, in plain arithmetic."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from solver.catalog.egress import egress_steps
from solver.catalog.schema import EgressPrice
from solver.performance.transformer import parameter_count
from solver.units import GB
from solver.verify.evidence import Evidence


@dataclass(frozen=True)
class Moving:
    """What is copied for a plan: the data to its nodes, the weights from them."""

    evidence: Evidence

    @cached_property
    def transfer_s(self) -> float:
        """Seconds of copying the data to the nodes' region."""
        data, target = self.evidence.scenario.data, self.evidence.offer.region
        if data.location is None or data.location == target:
            return 0.0
        return data.size_bytes / data.transfer_bytes_per_s

    @cached_property
    def weight_bytes(self) -> float:
        """Bytes of the finished weights, two a parameter."""
        return 2.0 * parameter_count(self.evidence.shape)

    @cached_property
    def serving_s(self) -> float:
        """Seconds until the weights are where they serve; copies run at once."""
        scenario, here = self.evidence.scenario, self.evidence.offer.region
        if not [target for target in scenario.serving if target != here]:
            return 0.0
        return self.weight_bytes / scenario.data.transfer_bytes_per_s

    @cached_property
    def egress_usd(self) -> float:
        """Price of copying the data to the nodes' region, once, and of reading it."""
        evidence, data = self.evidence, self.evidence.scenario.data
        if data.location is None:
            return 0.0
        size_gb = data.size_bytes / GB
        tier = evidence.catalog.storage[data.storage] if data.storage else None
        read = (tier.usd_per_gb_retrieved or 0.0) * size_gb if tier else 0.0
        if data.location == evidence.offer.region:
            return read
        steps = egress_steps(evidence.catalog, data.location, evidence.offer.region)
        return read + moved_usd(steps, size_gb)

    @cached_property
    def serving_usd_by_region(self) -> dict[str, float]:
        """Price of copying the weights to each region that serves them.

        Copies of one price are one volume, shared evenly.
        """
        evidence, here = self.evidence, self.evidence.offer.region
        targets = [t for t in dict.fromkeys(evidence.scenario.serving) if t != here]
        prices = [egress_steps(evidence.catalog, here, t) for t in targets]
        each_gb = self.weight_bytes / GB
        return {
            target: moved_usd(steps, each_gb * prices.count(steps))
            / prices.count(steps)
            for target, steps in zip(targets, prices, strict=True)
        }

    @property
    def serving_usd(self) -> float:
        """Price of copying the weights to where they serve."""
        return math.fsum(self.serving_usd_by_region.values())

    @property
    def usd(self) -> float:
        """Price of all copies."""
        return self.egress_usd + self.serving_usd


def moved_usd(steps: tuple[EgressPrice, ...], gigabytes: float) -> float:
    """Price of moving a volume, step by step of it."""
    total, free = 0.0, steps[0].free_gb_per_month if steps else 0.0
    for step in steps:
        end = gigabytes if step.to_gb is None else min(gigabytes, step.to_gb)
        start = max(step.from_gb, free)
        if end > start:
            total += (end - start) * (step.usd_per_gb or 0.0)
    return total
