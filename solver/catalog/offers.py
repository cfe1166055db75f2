"""What is on offer: nodes of a server in a region, and what having them costs."""

from __future__ import annotations

from datetime import date
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from solver.catalog import bounds
from solver.catalog.entry import Entry

__all__ = ["Delivery", "Offer", "PurchaseKind"]

PurchaseKind = Literal["on_demand", "spot", "reserved", "monthly", "owned", "bought"]


class Delivery(BaseModel):
    """Nodes that become available on a date (None: now)."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    start: date | None = Field(default=None, alias="from")
    nodes: bounds.Nodes


class Offer(Entry):
    """A price for a server in a region, of one purchase kind; id is unique."""

    provider: str
    """Who sells it; read from the region where it is left out."""
    region: str
    """Region id ``provider/region``."""
    server: str
    """Id of the server."""
    purchase: PurchaseKind
    """on_demand, spot, reserved, monthly, owned or bought."""
    usd_per_node_hour: bounds.UsdPerNodeHour
    """Price of the whole node, USD per hour; of a bought node its straight-line
    depreciation."""
    billing_unit: Literal["second", "hour", "month"] = "second"
    """Whole units are paid (clouds bill GPU nodes by the second or minute); a month is
    730 hours and costs 730 x usd_per_node_hour."""
    max_nodes: bounds.Nodes | None = None
    """Known stock, nodes; None: not known."""
    min_nodes: bounds.NodesOrMore = 1
    """Fewest nodes that can be rented."""
    max_nodes_per_cluster: bounds.NodesOrMore | None = None
    """Most nodes on one fabric, which is what a job can use, whatever the stock; None:
    not known to be limited."""
    available: tuple[Delivery, ...] = ()
    """Nodes by date on top of earlier ones, as 2027-01-01:16."""
    lead_time_days: bounds.LeadDays = 0
    """Days from the order until nodes can be used; they are not billed."""
    min_term_hours: bounds.TermHours = 0.0
    """Hours that are paid for at least, as committed to: 730 a month, 8,760 a year,
    26,280 three years."""
    marketplace: bool = False
    """A marketplace's or broker's quote: one node unless stock is known."""
    one_moment: bool = False
    """A quote of one moment, the least of the region's zones: prices that move."""
    storage: tuple[str, ...] | None = None
    """Storage tier ids; None: the provider's (else generic) tiers; (): free local."""
    buy_usd_per_node: bounds.UsdPerNode | None = None
    """Price of a bought node, USD, its share of racks and network included."""
    years: bounds.Years | None = None
    """Years of use of a bought node, after which it is sold or scrapped."""
    resale: bounds.Resale = 0.0
    """Part of the price that a bought node fetches after its years of use."""
    hosting_usd_per_node_month: bounds.UsdPerNodeMonth = 0.0
    """Space, hands and insurance of an owned or bought node, USD a month of 730 hours,
    for the time that it is used."""
    usd_per_kwh: bounds.UsdPerKwh = 0.0
    """Price of the energy of an owned or bought node; rent has it in it."""
    pue: bounds.Pue | None = None
    """Power of the site over that of its nodes; None: the region's, else an average."""
    node_power_kw: bounds.Kilowatts | None = None
    """Power that a node draws in training, kW, without cooling; None: an estimate from
    the power limits of its GPUs."""
