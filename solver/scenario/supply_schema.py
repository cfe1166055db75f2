"""The scenario's offers and prices as people write them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, GetJsonSchemaHandler, Tag, model_validator
from pydantic_core import CoreSchema

from solver.catalog.schema import NetworkKind, PurchaseKind, StorageKind
from solver.catalog.slices import slice_name
from solver.scenario.quantities import (
    Bytes,
    Day,
    DriveTb,
    HostGb,
    HostThreads,
    Kilowatts,
    LeadDays,
    NodeCount,
    NodeRate,
    PositiveGbps,
    PositiveWhole,
    Pue,
    Resale,
    Share,
    Stock,
    StockGpus,
    StockThreads,
    TermHours,
    Text,
    TotalRate,
    UsdPerGbMonth,
    UsdPerGpuHour,
    UsdPerKwh,
    UsdPerNode,
    UsdPerNodeHour,
    UsdPerNodeMonth,
    Years,
)
from solver.scenario.spec import AnyOf, Form, Spec, Spelled


class PriceSpec(Spec):
    """A negotiated price; it applies to every offer that all its keys match.

    Of several rules that match an offer the last applies.
    """

    provider: Text | None = None
    """Provider. Default: every one."""
    region: Text | None = None
    """Region. Default: every one."""
    gpu: Text | None = None
    """GPU. Default: every one."""
    purchase: Annotated[PurchaseKind, Spelled] | None = None
    """Purchase kind. Default: every one."""
    discount: Share
    """Part of the list price that is not paid, as `20%`."""


class OwnNetworkSpec(Spec):
    """The fabric between the nodes of an offer of one's own."""

    gbps_per_node: PositiveGbps
    """Sum of a node's NICs, Gb/s."""
    kind: Annotated[NetworkKind, Spelled]
    """infiniband, roce, efa, tcpx or ethernet."""


class OwnStorageSpec(Spec):
    """A storage tier of an offer of one's own."""

    name: Text
    """What to call it."""
    kind: Annotated[StorageKind, Spelled]
    """local_nvme, nvme_raid, parallel_fs, network_fs, block or object_store."""
    read: NodeRate
    """Reading rate of a node, as `10 GB/s`; a bare number is GB/s."""
    write: NodeRate
    """Writing rate of a node, as `5 GB/s`; a bare number is GB/s."""
    total_read: TotalRate | None = None
    """Reading rate of all nodes together. Default: no limit but the nodes'."""
    total_write: TotalRate | None = None
    """Writing rate of all nodes together. Default: no limit but the nodes'."""
    usd_per_gb_month: UsdPerGbMonth = 0.0
    """Price, USD per GB and month. Default: 0, it comes with the nodes."""
    capacity: Bytes | None = None
    """Capacity, of a node for local tiers. Default: as much as is needed."""
    gpudirect: bool = False
    """Whether reads land in GPU memory without the host (GPUDirect Storage)."""


class QuotaSpec(Spec):
    """Most that one account may have at once of all offers that the keys match.

    One of `max_nodes`, `max_gpus` and `max_vcpus` is needed; of several quotas that
    match an offer all hold.
    """

    provider: Text | None = None
    """Provider. Default: every one."""
    region: Text | None = None
    """Region: provider/region, or a bare name. Default: every one."""
    gpu: Text | None = None
    """GPU or family. Default: every one."""
    purchase: Annotated[PurchaseKind, Spelled] | None = None
    """Purchase kind. Default: every one."""
    max_nodes: Stock | None = None
    """Most nodes; 0: none are granted."""
    max_gpus: StockGpus | None = None
    """Most GPUs."""
    max_vcpus: StockThreads | None = None
    """Most vCPUs (host threads), as clouds count; servers whose vCPUs are not known are
    not held to it, which the plan says."""


class DeliverySpec(Spec):
    """Nodes that become available on a date."""

    start: Day | None = Field(default=None, alias="from")
    """Date. Default: now."""
    nodes: NodeCount
    """How many more."""


class OfferSpec(Spec):
    """An offer of one's own: a server, its price and where it stands."""

    name: Text
    """What to call it; each offer has its own name."""
    gpu: Text
    """One GPU of the catalog."""
    slice: Text | None = None
    """MIG profile of that GPU, such as `3g.40gb`: what is rented is one such slice, a
    node of its own that nothing joins to others. Prices, stock and host are those of
    a slice then. Default: the whole GPU."""
    gpus_per_node: PositiveWhole
    """GPUs of a server. Of a slice it may be left out: 1."""
    fractions: Annotated[tuple[PositiveWhole, ...], AnyOf] = ()
    """Numbers of GPUs of a node that are rented as well, as [1, 2, 4] of 8: at the
    same price a GPU, with their share of host, drives and NICs. Default: whole nodes
    alone."""
    network: OwnNetworkSpec | None = None
    """Fabric between nodes. Default: none is known, so a job uses one node."""
    min_nodes: NodeCount = 1
    """Fewest nodes that can be rented. Default: 1."""
    max_nodes: Stock | None = None
    """Nodes in stock; 0: sold out. Default: not known, see `stock.unknown_nodes`."""
    available: tuple[DeliverySpec, ...] = ()
    """Stock by date: [{nodes: 16}, {from: 2027-03-01, nodes: 32}] is 16 now and 32
    more from that day on. A job keeps the size that it starts with."""
    lead_time: LeadDays = 0
    """Whole days from the order until nodes can be used, as `14 days`; they count
    towards the deadline and are not billed. Default: 0."""
    max_nodes_per_cluster: NodeCount | None = None
    """Most nodes on one fabric: a job can use no more, whatever the stock. Default:
    all that are in stock."""
    purchase: Annotated[PurchaseKind, Spelled] | None = None
    """on_demand, reserved, monthly, spot, owned or bought. Default: monthly with a
    price a month, bought with a price to buy, owned without any price, else
    on_demand."""
    min_term: TermHours = 0.0
    """What is paid for at least, even if training is shorter: `30 days`, `3 months` of
    730 hours, `1 year`; a bare number is days. A reserved offer needs it. Default:
    0."""
    usd_per_gpu_hour: UsdPerGpuHour | None = None
    """On-demand price of a GPU, USD/h. Without any price the offer is owned and
    free."""
    usd_per_node_hour: UsdPerNodeHour | None = None
    """On-demand price of a node, USD/h."""
    usd_per_node_month: UsdPerNodeMonth | None = None
    """Price of a node for a month of 730 hours, USD; whole months are paid."""
    spot_usd_per_gpu_hour: UsdPerGpuHour | None = None
    """Spot price of a GPU, USD/h."""
    buy_usd_per_node: UsdPerNode | None = None
    """Price of a node that is bought, USD, with its share of racks and network. A plan
    is charged its straight-line depreciation for the time that it uses it."""
    years: Years | None = None
    """Years of use of a bought node; a bare number is years."""
    resale: Resale = 0.0
    """Part of its price that a bought node fetches after its years of use. Default:
    0."""
    charge: Annotated[Literal["used", "whole"], Spelled] | None = None
    """What a plan is charged of the price of a bought node, less resale: `used`, its
    part of the years of use, or `whole`, for who has no other use. Default: used."""
    hosting_usd_per_node_month: UsdPerNodeMonth = 0.0
    """Space, hands and insurance of an owned or bought node, USD a month of 730 hours,
    charged for the time that it is used. Default: 0."""
    usd_per_kwh: UsdPerKwh = 0.0
    """Price of the energy of an owned or bought node, USD per kWh; rent has it in it.
    Default: 0."""
    pue: Pue | None = None
    """Power of the site over that of its nodes. Default: the region's, else 1.58."""
    node_power: Kilowatts | None = None
    """Power that a node draws in training, kW, without cooling. Default: 1.5 x the
    power limits of its GPUs, an estimate."""
    intra_node: Text | None = None
    """Fabric inside a node: a tier such as nvswitch-nvlink4, or nvswitch, nvlink,
    pcie, none. Default: what the GPU's standard server has."""
    region: Text | None = None
    """Where it stands; free text. Two letters are read as the country, too."""
    country: Text | None = None
    """Country: a two-letter code or a name."""
    provider: Text | None = None
    """Who offers it. Default: `name`."""
    ram_gb: HostGb | None = None
    """Host memory of a node, GB."""
    vcpus: HostThreads | None = None
    """Host threads of a node."""
    local_nvme_tb: DriveTb | None = None
    """Local NVMe of a node, TB: the most that fits there; 0: none, and
    storage over the network is assumed. Default: enough."""
    storage: Annotated[
        tuple[
            Annotated[
                Annotated[Text, Tag("<value>")]
                | Annotated[OwnStorageSpec, Tag("<mapping>")],
                Form,
            ],
            ...,
        ],
        AnyOf,
    ] = ()
    """Storage tiers: names of the catalog, or {name, kind, read, write ...}. Default:
    local NVMe, free, of the size of `local_nvme_tb` or else large enough."""
    note: Text | None = None
    """Anything worth knowing."""

    @model_validator(mode="before")
    @classmethod
    def _count_slice(cls, data: Any) -> Any:
        """Fill in the GPUs of a slice, which is one."""
        if not isinstance(data, dict) or data.get("gpus_per_node") is not None:
            return data
        gpu = data.get("gpu")
        named = isinstance(gpu, str) and slice_name(gpu) is not None
        sliced = named or data.get("slice") is not None
        return {**data, "gpus_per_node": 1} if sliced else data

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Return the JSON Schema, in which a slice needs no number of GPUs."""
        described = super().__get_pydantic_json_schema__(schema, handler)
        described["required"].remove("gpus_per_node")
        return described
