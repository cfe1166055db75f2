"""Network tiers, intra-node tiers and storage tiers."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from catalog_facts.writing import dump_entry, rows, yaml_text

_SPEC = "stas00/ml-engineering network/README.md @744d01e"
_MEMORY = "memory"


def _network(
    name: str,
    kind: str,
    gbps: float,
    efficiency: float,
    latency_us: float,
    efficiency_source: str,
    source: str = f"{_MEMORY} (line rate)",
    aliases: tuple[str, ...] = (),
    note: str = "",
) -> dict[str, Any]:
    """Return the entry of a network tier."""
    return {
        "name": name,
        "aliases": list(aliases),
        "kind": kind,
        "gbps_per_nic": gbps,
        "efficiency": efficiency,
        "latency_us": latency_us,
        "efficiency_source": efficiency_source,
        "source": source,
        "as_of": "2026-08" if source == _SPEC else "2026-11",
        "note": note,
    }


_TCP = (
    "memory: estimate of NCCL over TCP sockets, copied through host memory, several "
    "streams"
)
_TCP_FAST = (
    "memory: estimate of NCCL over TCP sockets; one node's host copies limit it, so "
    "the share falls as the link gets faster"
)
_IB = (
    "memory: all-reduce busbw of {busbw} GB/s on many nodes of 8 GPUs; a GPU's NIC "
    "carries busbw x (k-1)/(n-1), which tends to busbw/8 = {rate} of {line} GB/s"
)
_EFA_V4 = (
    "measured: all-reduce of 16 GiB over 32 B200 in 4 nodes, busbw 381.8 GB/s; a GPU's "
    "NIC carries 381.8 x 3/31 = 36.9 of 50 GB/s"
)


def network_entries() -> dict[str, dict[str, Any]]:
    """Return the network tiers by id."""
    slow = "memory: estimate, older than HDR"
    hdr = _IB.format(busbw=185, rate=23.1, line=25)
    ndr = _IB.format(busbw=370, rate=46.3, line=50)
    entries = {
        "infiniband-fdr-56": _network(
            "InfiniBand FDR 56 Gb/s", "infiniband", 56, 0.85, 5, slow
        ),
        "infiniband-edr-100": _network(
            "InfiniBand EDR 100 Gb/s", "infiniband", 100, 0.88, 4, slow, _SPEC
        ),
        "infiniband-hdr-200": _network(
            "InfiniBand HDR 200 Gb/s", "infiniband", 200, 0.92, 4, hdr, _SPEC
        ),
        "infiniband-ndr-400": _network(
            "InfiniBand NDR 400 Gb/s", "infiniband", 400, 0.92, 3.5, ndr, _SPEC
        ),
        "infiniband-xdr-800": _network(
            "InfiniBand XDR 800 Gb/s",
            "infiniband",
            800,
            0.9,
            3.5,
            "memory: estimate, no published measurement; a little below NDR",
            _SPEC,
        ),
        "efa-v1-100": _network(
            "AWS EFA, 100 Gb/s NICs (P4d, P4de)",
            "efa",
            100,
            0.85,
            15,
            "read: about 340 of 400 Gb/s a node in all-reduce",
            _SPEC,
            ("efa-100",),
        ),
        "efa-v2-100": _network(
            "AWS EFA v2, 100 Gb/s NICs (P5, P5e)",
            "efa",
            100,
            0.74,
            15,
            f"memory: estimate, as EFA v4 ({_EFA_V4})",
            _SPEC,
            ("efa-v2",),
        ),
        "efa-v3-200": _network(
            "AWS EFA v3, 200 Gb/s NICs (P5en)",
            "efa",
            200,
            0.74,
            15,
            f"memory: estimate, as EFA v4 ({_EFA_V4}); one NIC alone wrote 193.7 of "
            "200 Gb/s",
            _SPEC,
            ("efa-v3",),
        ),
        "efa-v4-400": _network(
            "AWS EFA v4, 400 Gb/s NICs (P6)",
            "efa",
            400,
            0.74,
            15,
            _EFA_V4,
            _SPEC,
            ("efa-v4",),
        ),
        "efa-host-100": _network(
            "AWS EFA through host memory (P3dn, G5, G6, G6e)",
            "efa",
            100,
            0.7,
            20,
            "memory: estimate, without GPUDirect RDMA as on the G families",
        ),
        "gpudirect-tcpx-200": _network(
            "Google GPUDirect-TCPX, 200 Gb/s NICs (A3 High, A3 Edge)",
            "tcpx",
            200,
            0.75,
            30,
            "memory: estimate, TCP with payloads placed in GPU memory",
            _SPEC,
            ("gpudirect-tcpx", "tcpx"),
        ),
        "gpudirect-tcpxo-200": _network(
            "Google GPUDirect-TCPXO, 200 Gb/s NICs (A3 Mega)",
            "tcpx",
            200,
            0.82,
            25,
            "memory: estimate, TCPX with offload",
            _SPEC,
            ("gpudirect-tcpxo", "tcpxo"),
        ),
        "roce-100": _network(
            "RoCEv2 100 Gb/s",
            "roce",
            100,
            0.85,
            6,
            "memory: estimate, below InfiniBand",
        ),
        "roce-200": _network(
            "RoCEv2 200 Gb/s",
            "roce",
            200,
            0.86,
            5,
            "memory: estimate, below InfiniBand",
        ),
        "roce-400": _network(
            "RoCEv2 400 Gb/s",
            "roce",
            400,
            0.87,
            5,
            "memory: estimate, below InfiniBand",
        ),
        "roce-800": _network(
            "RoCEv2 800 Gb/s",
            "roce",
            800,
            0.85,
            5,
            "memory: estimate, below InfiniBand",
        ),
    }
    for gbps, efficiency, latency_us in (
        (10, 0.8, 50),
        (25, 0.75, 40),
        (40, 0.7, 40),
        (50, 0.7, 40),
        (100, 0.6, 35),
        (200, 0.5, 35),
    ):
        source = _TCP if gbps <= 25 else _TCP_FAST
        entries[f"ethernet-{gbps}"] = _network(
            f"Ethernet {gbps} Gb/s, TCP",
            "ethernet",
            gbps,
            efficiency,
            latency_us,
            source,
        )
    return entries


def build_networks(out: Path) -> set[str]:
    """Write ``networks/<id>.yaml`` and return the ids."""
    (out / "networks").mkdir()
    entries = network_entries()
    for network_id, entry in entries.items():
        dump_entry(out / "networks" / f"{network_id}.yaml", entry)
    return set(entries)


_NCCL = "fitted to NCCL times of ai-dynamo/aiconfigurator nccl_perf @095f58a ({gpu})"

# GPU whose measured collectives describe a tier
_MEASURED: Mapping[str, str] = {
    "nvswitch-nvlink3": "A100-80-SXM",
    "nvswitch-nvlink4": "H100-80-SXM",
    "nvswitch-nvlink5": "B200-SXM",
    "nvl72-nvlink5": "GB200-NVL72",
    "pcie4": "L40S",
    "pcie5": "RTX-PRO-6000",
}


def build_intra_node(facts: Path, out: Path) -> dict[str, dict[str, Any]]:
    """Write ``intra_node.yaml`` and return the tiers by id."""
    tiers = _intra_node_tiers()
    table = rows(facts, "collectives.csv")
    for tier_id, gpu in _MEASURED.items():
        tiers[tier_id] |= _measured(table, gpu, tiers[tier_id])
    half = {
        f"bus_{n}_gb_per_s": round(tiers["pcie4"][f"bus_{n}_gb_per_s"] / 2, 1)
        for n in (2, 4, 8)
    }
    tiers["pcie3"] |= half
    order = {key: _ordered(tier) for key, tier in sorted(tiers.items())}
    head = (
        "# How the GPUs of one node reach each other. Rates are per GPU and\n"
        "# direction, GB/s; bus_N is the all-reduce bus rate of a group of N\n"
        "# (NCCL's busbw).\n"
    )
    (out / "intra_node.yaml").write_text(head + yaml_text(order), encoding="utf-8")
    return tiers


def _ordered(tier: dict[str, Any]) -> dict[str, Any]:
    """Return the keys of a tier in the order of the schema."""
    keys = (
        "name",
        "aliases",
        "kind",
        "gb_per_s",
        "efficiency",
        "latency_us",
        "pair_only",
        "point_to_point_gb_per_s",
        "bus_2_gb_per_s",
        "bus_4_gb_per_s",
        "bus_8_gb_per_s",
        "efficiency_source",
        "source",
        "as_of",
        "note",
    )
    return {
        key: tier[key] for key in keys if tier.get(key) is not False and key in tier
    }


def _measured(
    table: list[dict[str, str]], gpu: str, tier: dict[str, Any]
) -> dict[str, Any]:
    """Return the constants fitted to a GPU's measured collectives."""
    times: dict[tuple[str, int], dict[int, float]] = {}
    for row in table:
        if row["gpu"] == gpu:
            # the table's sizes are fp16 elements
            size = 2 * int(row["message_size"])
            group = (row["collective"], int(row["num_gpus"]))
            times.setdefault(group, {})[size] = float(row["latency_ms"]) * 1e-3
    groups = sorted({group for _, group in times})
    largest = groups[-1]
    found: dict[str, Any] = {
        f"bus_{n}_gb_per_s": round(_bus(times["all_reduce", n], 2 * (n - 1) / n), 1)
        for n in groups
    }
    if tier["kind"] != "pcie":
        rates = [
            _bus(times[name, largest], (largest - 1) / largest)
            for name in ("all_gather", "reduce_scatter")
        ]
        found["efficiency"] = round(sum(rates) / 2 / tier["gb_per_s"], 3)
    small = times["all_reduce", largest]
    found["latency_us"] = round(small[min(small)] * 1e6, 1)
    found["efficiency_source"] = _NCCL.format(gpu=gpu)
    return found


def _bus(times: Mapping[int, float], factor: float) -> float:
    """Return the bus rate of the largest message, GB/s."""
    size = max(times)
    return factor * size / times[size] / 1e9


def _intra(
    name: str, kind: str, gb_per_s: float, source: str, **more: Any
) -> dict[str, Any]:
    """Return an intra-node tier before measured values are put in."""
    tier = {
        "name": name,
        "kind": kind,
        "gb_per_s": gb_per_s,
        "efficiency": 0.7,
        "latency_us": 20.0,
        "efficiency_source": "memory: estimate",
        "source": source,
        "as_of": "2026-08" if source == _SPEC else "2026-11",
    }
    return tier | more


def _intra_node_tiers() -> dict[str, dict[str, Any]]:
    """Return the tiers with what data sheets and estimates say."""
    pcie_note = (
        "Groups of 4 and 8 cross sockets and share the host's links, so the bus rate "
        "falls far below the link's."
    )
    return {
        "none": _intra(
            "One GPU",
            "none",
            0,
            _MEMORY,
            efficiency=1.0,
            latency_us=0,
            efficiency_source="nothing to measure",
        ),
        "pcie3": _intra(
            "PCIe Gen3 x16",
            "pcie",
            15.75,
            _MEMORY,
            efficiency=0.79,
            latency_us=90.3,
            efficiency_source="memory: half of the measured PCIe Gen4 bus "
            "rates; link 12.5 of 15.75 GB/s",
            note=pcie_note,
        ),
        "pcie4": _intra(
            "PCIe Gen4 x16",
            "pcie",
            31,
            _SPEC,
            efficiency=0.8,
            note=pcie_note,
            aliases=["pcie"],
        ),
        "pcie5": _intra(
            "PCIe Gen5 x16", "pcie", 63, _SPEC, efficiency=0.88, note=pcie_note
        ),
        "nvlink2": _intra(
            "NVLink 2, hybrid cube mesh",
            "nvlink",
            150,
            _SPEC,
            efficiency=0.65,
            latency_us=25,
            point_to_point_gb_per_s=25,
            efficiency_source="memory: estimate, below NVSwitch",
            note="Each pair is joined by one or two of a GPU's six links, "
            "25 GB/s each, or by none.",
        ),
        "nvswitch-nvlink3": _intra(
            "NVLink 3 through NVSwitch", "nvswitch", 300, _SPEC, aliases=["nvlink3"]
        ),
        "nvswitch-nvlink4": _intra(
            "NVLink 4 through NVSwitch",
            "nvswitch",
            450,
            _SPEC,
            aliases=["nvlink4"],
            note="In-switch reduction lifts the all-reduce of more "
            "than 4 GPUs; other collectives do not gain by it.",
        ),
        "nvswitch-nvlink5": _intra(
            "NVLink 5 through NVSwitch",
            "nvswitch",
            900,
            _SPEC,
            aliases=["nvlink5"],
            note="In-switch reduction lifts the all-reduce of more than 5 GPUs.",
        ),
        "nvl72-nvlink5": _intra(
            "NVLink 5 across a rack of 72 GPUs",
            "nvswitch",
            900,
            _SPEC,
            aliases=["nvl72"],
            note="Measured inside one tray of 4.",
        ),
        "nvlink3-bridge": _intra(
            "NVLink 3 bridge between two cards",
            "nvlink",
            300,
            _MEMORY,
            efficiency=0.75,
            pair_only=True,
            efficiency_source="memory: estimate; a pair of A100 "
            "reached 274 of 300 GB/s point to point",
        ),
        "nvlink4-bridge": _intra(
            "NVLink 4 bridge between two cards",
            "nvlink",
            300,
            _MEMORY,
            efficiency=0.75,
            pair_only=True,
            note="H100: 300 GB/s. H200 NVL bridges join 2 or 4 cards at 450 GB/s.",
        ),
        "infinity-fabric": _intra(
            "AMD Infinity Fabric, all-to-all mesh",
            "nvlink",
            448,
            _SPEC,
            efficiency=0.7,
            latency_us=20,
            point_to_point_gb_per_s=64,
            bus_2_gb_per_s=47.7,
            bus_8_gb_per_s=312.9,
            efficiency_source="measured: all-reduce busbw of 4 GiB, "
            "8 x MI300X 312.9 of 448 GB/s, 2 x MI300X 47.7 of 64",
            note="A pair has only its own link; small groups are slow.",
        ),
        "gaudi-roce": _intra(
            "Intel Gaudi all-to-all RoCE",
            "nvlink",
            262.5,
            _SPEC,
            efficiency=0.8,
            latency_us=20,
            point_to_point_gb_per_s=37.5,
            note="21 of a card's 24 links stay in the server.",
        ),
    }
