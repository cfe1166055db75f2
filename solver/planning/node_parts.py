"""The nodes of one candidate, part by part: how many of which offer, and their bill.

Spare nodes count as nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from solver.candidates import CandidateTable
from solver.catalog.ownership import YEAR_HOURS
from solver.cost import UNIT_S, billed_seconds
from solver.geography import around
from solver.options import Option
from solver.performance.inputs import FloatArray, IntArray
from solver.setting import Setting
from solver.tariffs import base_nodes
from solver.units import HOUR

__all__ = [
    "NodePart",
    "cost_parts",
    "mean_usd_per_node_hour",
    "mix_of",
    "node_parts",
    "purchase_plan",
    "quota_count",
    "used_s",
]


@dataclass(frozen=True)
class NodePart:
    """Nodes of one offer, and for how long each is used and paid for."""

    option: Option
    nodes: int
    used_s: float
    """Expected seconds from the first paid one to the finish."""
    billed_s: float
    """Expected seconds paid for."""

    @property
    def usd_per_hour(self) -> float:
        """Rent of these nodes for an hour."""
        return self.nodes * self.option.usd_per_node_hour

    @property
    def rent_usd(self) -> float:
        """Expected rent of these nodes."""
        return self.usd_per_hour * self.billed_s / HOUR

    @property
    def unused_usd(self) -> float:
        """Rent paid for beyond the expected run: the rest of a term or of a unit."""
        unused_s = self.billed_s - self.used_s
        # what is billed by the second leaves nothing but float noise
        noise = unused_s <= 1e-9 * self.billed_s
        return 0.0 if noise else self.usd_per_hour * unused_s / HOUR


def node_parts(setting: Setting, one: CandidateTable) -> tuple[NodePart, ...]:
    """The nodes of a table's only candidate: all of one offer, or base and rest."""
    option = setting.options[int(one.option[0])]
    nodes = int(one.rented_nodes[0])
    base = int(base_nodes(setting.arrays.tariffs[one.option], one.rented_nodes)[0])
    counts = (nodes,) if option.mix is None else (base, nodes - base)
    used = used_s(setting, one)
    return tuple(
        NodePart(part, count, float(used[0]), float(_billed_s(setting, part, one)[0]))
        for part, count in zip(option.parts, counts, strict=True)
    )


def used_s(setting: Setting, one: CandidateTable) -> FloatArray:
    """Expected seconds on the nodes, which are paid for, (n,)."""
    beside = around(setting, one.option, one.tier)
    return np.asarray(one.duration_s - beside.unpaid_s)


def _billed_s(setting: Setting, part: Option, one: CandidateTable) -> FloatArray:
    fixed_s = around(setting, one.option, one.tier).paid_s
    active_s = used_s(setting, one) - fixed_s
    unit_s = np.full(len(active_s), UNIT_S[part.offer.billing_unit])
    return billed_seconds(active_s, fixed_s, unit_s, one.sigma, part.term_s)


def quota_count(setting: Setting, table: CandidateTable, place: int) -> IntArray:
    """What each candidate counts towards the quota at ``place``, (n,)."""
    nodes = table.rented_nodes
    base = base_nodes(setting.arrays.tariffs[table.option], nodes).astype(np.int64)
    parts = [(o.parts[0], o.parts[-1]) for o in setting.options]
    each = [[dict(part.quotas).get(place, 0) for part in pair] for pair in parts]
    of_base, of_rest = np.array(each, dtype=np.int64)[table.option].T
    return np.asarray(base * of_base + (nodes - base) * of_rest)


def mean_usd_per_node_hour(parts: tuple[NodePart, ...]) -> float:
    """Price of a node-hour, a mean over the nodes."""
    return sum(p.usd_per_hour for p in parts) / sum(p.nodes for p in parts)


def mix_of(parts: tuple[NodePart, ...]) -> tuple[dict[str, Any], ...] | None:
    """Base and rest of a mix as a plan shows them; None where all is of one offer."""
    if len(parts) == 1:
        return None
    return tuple(
        {
            "offer": part.option.offer.id,
            "purchase": part.option.offer.purchase,
            "nodes": part.nodes,
            "usd_per_node_hour": part.option.usd_per_node_hour,
            "billing_unit": part.option.offer.billing_unit,
            "min_term_hours": part.option.offer.min_term_hours,
            "compute_usd": part.rent_usd,
        }
        for part in parts
    )


def cost_parts(parts: tuple[NodePart, ...], one: CandidateTable) -> dict[str, float]:
    """The bill of a table's only candidate by part; they add up to its cost."""
    energy = sum(
        p.nodes * p.option.energy_usd_per_node_hour * p.used_s / HOUR for p in parts
    )
    return {
        "compute": float(one.compute_usd[0]),
        "energy": energy,
        "hosting": float(one.running_usd[0]) - energy,
        "storage": float(one.storage_usd[0]),
        "egress": float(one.egress_usd[0]),
        "serving": float(one.serving_usd[0]),
    }


def purchase_plan(parts: Sequence[NodePart]) -> dict[str, Any] | None:
    """What buying the nodes of a plan means; None where none are bought."""
    bought = [part for part in parts if part.option.offer.purchase == "bought"]
    if not bought:
        return None
    (part,) = bought
    option, offer = part.option, part.option.offer
    listed = offer.usd_per_node_hour
    paid = option.usd_per_node_hour / listed if listed else 1.0
    outlay = part.nodes * (offer.buy_usd_per_node or 0.0) * paid
    running = option.energy_usd_per_node_hour + option.hosting_usd_per_node_hour
    hourly = option.usd_per_node_hour + running
    return {
        "nodes": part.nodes,
        "outlay_usd": outlay,
        "years": offer.years,
        "resale_usd": outlay * offer.resale,
        "usd_per_year": part.nodes * hourly * YEAR_HOURS,
        "usd_per_gpu_hour": hourly / option.server.gpus_per_node,
        "charged_usd": part.rent_usd,
        "used_hours": part.used_s / HOUR,
        "break_even": None,
    }
