"""What the nodes of candidates cost: rent, energy and hosting, of one offer or a mix.

All arrays are (n,), one element a candidate, or (m,), one an option.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from solver.cost import UNIT_S, billed_seconds, rent_usd
from solver.performance.inputs import FloatArray
from solver.units import HOUR

if TYPE_CHECKING:
    from solver.options import Option
    from solver.setting import OptionArrays

__all__ = [
    "NodeBill",
    "Tariffs",
    "base_nodes",
    "cheapest_node_usd",
    "least_node_usd",
    "node_bill",
]


@dataclass(frozen=True)
class Tariffs:
    """What an option's nodes cost beside their rent, and the base of a mix, (m,) each.

    What concerns a base is 0 where an option is no mix.
    """

    running_usd_per_node_hour: FloatArray
    """Energy and hosting of nodes of one's own, for the time that they are used."""
    base_usd_per_node_hour: FloatArray
    base_running_usd_per_node_hour: FloatArray
    base_unit_s: FloatArray
    base_term_s: FloatArray
    base_min: FloatArray
    """Fewest nodes of the base."""
    base_max: FloatArray
    rest_min: FloatArray
    """Fewest nodes beside the base."""
    rest_max: FloatArray
    base_first: FloatArray
    """1 where as many nodes as possible are of the base, 0 where as few."""

    def __getitem__(self, rows: Any) -> Tariffs:
        """The options at ``rows``."""
        return Tariffs(**{f.name: getattr(self, f.name)[rows] for f in fields(self)})

    @staticmethod
    def of(options: Sequence[Option]) -> Tariffs:
        """The tariffs of options."""
        names = [f.name for f in fields(Tariffs)]
        rows = [_tariff(option) for option in options]
        columns = np.array(rows, dtype=np.float64).reshape(len(rows), len(names)).T
        return Tariffs(**dict(zip(names, columns, strict=True)))


def _tariff(option: Option) -> tuple[float, ...]:
    if option.mix is None:
        return (_running_usd(option), 0, 0, 0, 0, 0, 0, 0, 0, 0)
    mix, base = option.mix, option.mix.base
    return (
        _running_usd(mix.rest),
        base.usd_per_node_hour,
        _running_usd(base),
        UNIT_S[base.offer.billing_unit],
        base.term_s,
        mix.base_min,
        base.max_nodes,
        mix.rest_min,
        mix.rest.max_nodes,
        mix.base_first,
    )


def _running_usd(option: Option) -> float:
    return option.energy_usd_per_node_hour + option.hosting_usd_per_node_hour


def base_nodes(tariffs: Tariffs, nodes: Any) -> FloatArray:
    """Nodes of each job of ``nodes`` that are of the base, (n,); 0 where no mix is."""
    most = np.minimum(tariffs.base_max, nodes - tariffs.rest_min)
    least = np.maximum(tariffs.base_min, nodes - tariffs.rest_max)
    taken = np.where(tariffs.base_first > 0, most, least)
    return np.where(tariffs.base_max > 0, taken, 0.0)


@dataclass(frozen=True)
class NodeBill:
    """What the nodes of each job cost, (n,) each."""

    rent_usd: FloatArray
    """Rent, or depreciation of what is bought."""
    running_usd: FloatArray
    """Energy and hosting of nodes of one's own."""
    billed_s: FloatArray
    """Seconds paid for, a mean over the nodes."""


def node_bill(
    arrays: OptionArrays,
    nodes: Any,
    active_s: FloatArray,
    fixed_s: FloatArray | float,
    sigma: FloatArray,
) -> NodeBill:
    """Expected bill of the nodes of jobs, each part by its own unit and term.

    Parameters
    ----------
    arrays
        The option of each job.
    nodes
        Nodes of each job, (n,).
    active_s, fixed_s, sigma
        As in `billed_seconds`.
    """
    tariffs = arrays.tariffs
    used_s = active_s + fixed_s
    billed = billed_seconds(active_s, fixed_s, arrays.unit_s, sigma, arrays.term_s)
    base = base_nodes(tariffs, nodes)
    rest = nodes - base
    rent = rent_usd(rest, arrays.usd_per_node_hour, billed)
    running = rent_usd(rest, tariffs.running_usd_per_node_hour, used_s)
    if not base.any():
        return NodeBill(rent, running, billed)
    of_base = billed_seconds(
        active_s, fixed_s, tariffs.base_unit_s, sigma, tariffs.base_term_s
    )
    rent = rent + rent_usd(base, tariffs.base_usd_per_node_hour, of_base)
    running_price = tariffs.base_running_usd_per_node_hour
    running = running + rent_usd(base, running_price, used_s)
    return NodeBill(rent, running, (rest * billed + base * of_base) / nodes)


def least_node_usd(arrays: OptionArrays, nodes: Any, hours: Any) -> FloatArray:
    """What the nodes of jobs that take so many hours cost at least, (n,).

    A bill is at least the price for the term, and at least that for the hours.
    """
    tariffs = arrays.tariffs
    base = base_nodes(tariffs, nodes)
    rest_hours = np.maximum(hours, arrays.term_s / HOUR)
    base_hours = np.maximum(hours, tariffs.base_term_s / HOUR)
    of_rest = arrays.usd_per_node_hour * rest_hours
    of_rest = of_rest + tariffs.running_usd_per_node_hour * hours
    of_base = tariffs.base_usd_per_node_hour * base_hours
    of_base = of_base + tariffs.base_running_usd_per_node_hour * hours
    return np.asarray((nodes - base) * of_rest + base * of_base)


def cheapest_node_usd(
    arrays: OptionArrays, node_s: float, rounding: float
) -> FloatArray:
    """What so many seconds of nodes cost at least, (m,)."""
    tariffs = arrays.tariffs
    hours = np.maximum(node_s, arrays.term_s * rounding) / HOUR
    cost = arrays.usd_per_node_hour * hours
    cost = cost + tariffs.running_usd_per_node_hour * node_s / HOUR
    base_hours = np.maximum(node_s, tariffs.base_term_s * rounding) / HOUR
    of_base = tariffs.base_usd_per_node_hour * base_hours
    of_base = of_base + tariffs.base_running_usd_per_node_hour * node_s / HOUR
    return np.where(tariffs.base_max > 0, np.minimum(cost, of_base), cost)
