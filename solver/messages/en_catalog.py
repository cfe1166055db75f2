"""The English texts of what is shown of the catalog."""

__all__ = ["CATALOG"]

CATALOG = {
    "headline.catalog.list": "{total:,} {kind}, sorted by {sort}",
    "headline.catalog.limited": "{shown:,} of {total:,} {kind}, sorted by {sort}",
    "headline.catalog.none": "No {kind} match",
    "headline.catalog.show": "{id}: {kind} of {file} in {folder}",
    "headline.catalog.check.good": (
        "{checked:,} entries checked: no errors, {warnings:,} "
        "{warnings:warning|warnings}"
    ),
    "headline.catalog.check.bad": (
        "{checked:,} entries checked: {errors:,} {errors:error|errors}, {warnings:,} "
        "{warnings:warning|warnings}"
    ),
    "section.catalog.list": "Entries",
    "section.catalog.fields": "Figures",
    "section.catalog.origin": "Where all that has no source of its own comes from",
    "section.catalog.slices": "MIG slices that it can be cut into",
    "section.catalog.servers": "Servers",
    "section.catalog.offers": "Cheapest offers",
    "column.catalog.field": "field",
    "column.catalog.value": "value",
    "column.catalog.from": "source",
    "section.catalog.errors": "Errors",
    "section.catalog.check-warnings": "Warnings: these may be right all the same",
    "section.catalog.checked": "Checked",
    "note.catalog.check.shipped": (
        "{count:,} are of the shipped catalog: 'gpuplan catalog check' lists them."
    ),
    "note.catalog.left-out": (
        "Left out for the width of the terminal: {columns}. --csv and --json have all."
    ),
    "note.catalog.stock": (
        "A price list is not stock: ask the provider. What a marketplace or broker "
        "quotes ('market') is one node."
    ),
    "note.catalog.spot": (
        "A spot price is a quote of its date: it moves, and nodes are taken back."
    ),
    "note.catalog.old": (
        "Prices marked 'old' were read more than {days:,} days ago: look up today's."
    ),
    "note.catalog.more": (
        "In all there are {total:,} offers: see 'gpuplan catalog list offers "
        "--{filter} {id}'."
    ),
    "note.catalog.entry.marketplace": (
        "A marketplace's or broker's quote: it counts as one node unless its stock is "
        "known."
    ),
    "note.catalog.entry.spot-quote": (
        "A spot price is a quote of its date: it moves, and nodes are taken back."
    ),
    "note.catalog.entry.estimate": "The price is an estimate: ask for a quote.",
    "note.catalog.entry.minimum-term": (
        "The whole term is paid, however short the job: {hours:,.0f} hours."
    ),
    "note.catalog.entry.old-price": (
        "The price is {days:,} days old at least: look up today's."
    ),
    "note.catalog.entry.stock-assumed": (
        "Its stock is not known: plans assume stock.unknown_nodes, and say so."
    ),
    "row.catalog.source": "source",
    "row.catalog.as_of": "as of",
    "row.catalog.note": "note",
    "row.catalog.replaces": "replaces that of",
    "value.catalog.default": "default: not stated",
    "value.catalog.none": "–",
    "catalog.kinds.gpus": "GPUs",
    "catalog.kinds.slices": "MIG slices",
    "catalog.kinds.intra_node": "links inside a node",
    "catalog.kinds.networks": "networks between nodes",
    "catalog.kinds.storage": "storage tiers",
    "catalog.kinds.egress": "prices of moving data out",
    "flag.marketplace": "market",
    "flag.spot-quote": "quote",
    "flag.old-price": "old",
    "flag.estimate": "estimate",
    "flag.minimum-term": "term",
    "catalog.part.gpus": "a GPU",
    "catalog.part.slices": "a MIG slice",
    "catalog.part.servers": "a server",
    "catalog.part.intra_node": "a link between the GPUs of a node",
    "catalog.part.networks": "a network between nodes",
    "catalog.part.storage": "a storage tier",
    "catalog.part.regions": "a region",
    "catalog.part.countries": "a country",
    "catalog.part.offers": "an offer",
    "catalog.part.egress": "a price of moving data out",
    "catalog.part.round_trips": "a network distance",
    "catalog.part.failure_rates": "a failure rate",
    "catalog.part.optimizers": "an optimizer",
    "catalog.part.frameworks": "a framework",
    "catalog.part.architectures": "an architecture",
    "column.catalog.memory_gb": "memory GB",
    "column.catalog.slices_per_card": "per card",
    "column.catalog.compute_slices": "compute slices",
    "column.catalog.memory_slices": "memory slices",
    "column.catalog.sm_count": "SMs",
    "column.catalog.usable_memory_gib": "usable GiB",
    "column.catalog.memory_bandwidth_gb_per_s": "memory GB/s",
    "column.catalog.bf16_tflops": "bf16 TFLOP/s",
    "column.catalog.fp8_tflops": "fp8 TFLOP/s",
    "column.catalog.nvlink_gb_per_s": "NVLink GB/s",
    "column.catalog.tdp_w": "TDP W",
    "column.catalog.gpu": "GPU",
    "column.catalog.gpus_per_node": "GPUs/node",
    "column.catalog.intra_node": "inside a node",
    "column.catalog.intra_node_gb_per_s": "inside GB/s",
    "column.catalog.network_gbps": "NICs Gb/s",
    "column.catalog.vcpus": "vCPUs",
    "column.catalog.ram_gb": "RAM GB",
    "column.catalog.local_nvme_tb": "NVMe TB",
    "column.catalog.gb_per_s": "GB/s",
    "column.catalog.latency_us": "latency µs",
    "column.catalog.bus_8_gb_per_s": "8-GPU bus GB/s",
    "column.catalog.as_of": "dated",
    "column.catalog.gbps_per_nic": "NIC Gb/s",
    "column.catalog.usd_per_gb_month": "USD/GB-month",
    "column.catalog.read_gb_per_s_per_node": "read GB/s/node",
    "column.catalog.write_gb_per_s_per_node": "write GB/s/node",
    "column.catalog.gpudirect": "GPUDirect",
    "column.catalog.grid_gco2_per_kwh": "grid gCO2/kWh",
    "column.catalog.name_zh": "Chinese",
    "column.catalog.usd_per_gpu_hour": "USD/GPU-h",
    "column.catalog.usd_per_node_hour": "USD/node-h",
    "column.catalog.billing_unit": "billed by",
    "column.catalog.max_nodes": "nodes",
    "column.catalog.marketplace": "marketplace",
    "column.catalog.from_gb": "from GB",
    "column.catalog.to_gb": "to GB",
    "column.catalog.usd_per_gb": "USD/GB",
    "column.catalog.free_gb_per_month": "free GB/month",
    "column.catalog.metro_a": "from",
    "column.catalog.metro_b": "to",
    "column.catalog.rtt_ms": "round trip ms",
    "column.catalog.applies_to": "of",
    "column.catalog.per_gpu_hour": "per GPU-hour",
    "column.catalog.per_node_hour": "per node-hour",
    "column.catalog.state_bytes": "state bytes/param",
    "column.catalog.master_bytes": "master bytes/param",
    "column.catalog.zero_stages": "ZeRO stages",
    "column.catalog.tensor_parallel": "TP",
    "column.catalog.pipeline_parallel": "PP",
    "column.catalog.context_parallel": "CP",
    "column.catalog.expert_parallel": "EP",
    "column.catalog.default_optimizer": "optimizer",
    "column.catalog.parameters_b": "parameters B",
    "column.catalog.kv_heads": "KV heads",
    "column.catalog.n_experts": "experts",
    "column.catalog.max_seq": "positions",
}
"""Message id to format string."""
