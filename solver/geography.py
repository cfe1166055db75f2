"""Where data comes from and weights go: the time and the price of moving both.

A copy between regions runs at one rate. Into storage that nodes share it needs no
nodes: it runs while they are waited for, and weights leave after they are given back.
The nodes' own drives need the nodes, so that both copies are paid time there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from solver.catalog.egress import copies_usd
from solver.performance.inputs import FloatArray, IntArray
from solver.performance.transformer import parameter_count

if TYPE_CHECKING:
    from solver.catalog.load import Catalog
    from solver.performance.inputs import TransformerShape
    from solver.scenario.scenario import DataSpec, Scenario
    from solver.setting import Setting

__all__ = [
    "SERVED_BYTES",
    "Around",
    "around",
    "data_usd",
    "serving_s",
    "serving_usd",
    "transfer_s",
    "weight_bytes",
]

SERVED_BYTES = 2
"""Bytes of a parameter as it is served: 16 bits."""


def weight_bytes(shape: TransformerShape) -> float:
    """Bytes of the finished model, adapters merged, in 16 bits."""
    return float(parameter_count(shape)) * SERVED_BYTES


def transfer_s(data: DataSpec, region: str) -> float:
    """Seconds of copying the data set to a region; 0 where it lies there."""
    if data.location in (None, region):
        return 0.0
    return data.size_bytes / data.transfer_bytes_per_s


def data_usd(catalog: Catalog, data: DataSpec, region: str) -> float:
    """Price of bringing the data set to a region once, dollars.

    Egress, and what reading costs of the tier that it lies in.
    """
    usd = copies_usd(catalog, data.location, [region], data.size_bytes)
    tier = None if data.storage is None else catalog.storage[data.storage]
    read = (tier.usd_per_gb_retrieved or 0.0) if tier is not None else 0.0
    return usd + read * data.size_bytes / 1e9


def serving_s(scenario: Scenario, shape: TransformerShape, region: str) -> float:
    """Seconds until the weights are in every region that serves them.

    Copies to several regions run at once, each at the rate of a copy.
    """
    if all(target == region for target in scenario.serving):
        return 0.0
    return weight_bytes(shape) / scenario.data.transfer_bytes_per_s


def serving_usd(
    scenario: Scenario, catalog: Catalog, shape: TransformerShape, region: str
) -> float:
    """Price of copying the weights to every region that serves them, dollars."""
    if not scenario.serving:
        return 0.0
    return copies_usd(catalog, region, scenario.serving, weight_bytes(shape))


@dataclass(frozen=True)
class Around:
    """Time around the run that carries no uncertainty, seconds, (n,) each."""

    ready_s: FloatArray
    """Until nodes, and data that needs none, are there; unpaid."""
    unpaid_s: FloatArray
    """All that no node is paid for: `ready_s`, the queue, copies after the nodes."""
    paid_s: FloatArray
    """On the nodes: set-up, and copies from and to their own drives."""
    stored_s: FloatArray
    """For which storage is rented beside the run."""

    @property
    def all_s(self) -> FloatArray:
        """Everything but the run."""
        return self.unpaid_s + self.paid_s


def around(setting: Setting, option: IntArray, tier: IntArray) -> Around:
    """Time around the runs of candidates on options and tiers, given by index."""
    arrays, overheads = setting.arrays.take(option), setting.scenario.overheads
    local = setting.storage.local[tier] > 0
    copied, served = arrays.transfer_s, arrays.serving_s
    ready = np.where(local, arrays.wait_s, np.maximum(arrays.wait_s, copied))
    return Around(
        ready_s=ready,
        unpaid_s=overheads.queue_s + ready + np.where(local, 0.0, served),
        paid_s=overheads.setup_s + np.where(local, copied + served, 0.0),
        stored_s=overheads.setup_s + overheads.queue_s + copied + served,
    )
