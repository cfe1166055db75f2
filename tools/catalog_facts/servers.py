"""Servers: those of the offers, and the usual one of each GPU."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from catalog_facts.gpus import GPU_IDS
from catalog_facts.reference_servers import STANDARD
from catalog_facts.writing import as_of, dump_table, number, shorten_source, slug

COLUMNS = (
    "id",
    "provider",
    "gpu",
    "gpus_per_node",
    "intra_node",
    "intra_node_kind",
    "intra_node_gb_per_s",
    "nvlink_pair_only",
    "nvlink_domain_gpus",
    "network",
    "network_gbps",
    "vcpus",
    "ram_gb",
    "local_nvme_tb",
    "standard",
    "source",
    "as_of",
    "note",
)

PCIE_GB_PER_S: Mapping[int, float] = {3: 15.75, 4: 31, 5: 63, 6: 121}
NVL72_GPUS = 72

_TIERS: Mapping[str, str] = {
    "none": "none",
    "pcie3": "pcie3",
    "pcie4": "pcie4",
    "nvlink2": "nvlink2",
    "nvswitch-nvlink3": "nvswitch-nvlink3",
    "nvswitch-nvlink4": "nvswitch-nvlink4",
    "nvswitch-nvlink5": "nvswitch-nvlink5",
    "nvlink3-bridge": "nvlink3-bridge",
    "nvlink4-bridge": "nvlink4-bridge",
    "nvl72-nvlink5": "nvl72-nvlink5",
    "infinity-fabric": "infinity-fabric",
    "gaudi2-roce": "gaudi-roce",
}

_PRIME = "primeintellect"


def provider_id(text: str) -> str:
    """Return a provider's id: ``primeintellect(nebius)`` is primeintellect-nebius."""
    return slug(text)


def instance_key(row: dict[str, str]) -> tuple[str, ...]:
    """Return what tells one server of the offers from another."""
    keys = (
        "provider",
        "instance_type",
        "gpu",
        "gpus_per_node",
        "vcpus",
        "ram_gb",
        "local_nvme_tb",
        "intra_node_link",
        "inter_node_network_gbps",
        "inter_node_type",
    )
    return tuple(row[key] for key in keys)


def server_ids(offers: list[dict[str, str]]) -> dict[tuple[str, ...], str]:
    """Return the id of every distinct server; memory tells namesakes apart."""
    by_name: dict[str, list[tuple[str, ...]]] = {}
    for row in offers:
        name = f"{provider_id(row['provider'])}-{slug(row['instance_type'])}"
        keys = by_name.setdefault(name, [])
        if instance_key(row) not in keys:
            keys.append(instance_key(row))
    ids = {}
    for name, keys in by_name.items():
        for key in keys:
            ram = f"{key[5]}gb" if key[5] else "unspecified"
            ids[key] = name if len(keys) == 1 else f"{name}-{ram}"
    return ids


def build_servers(
    offers: list[dict[str, str]],
    gpus: Mapping[str, dict[str, Any]],
    tiers: Mapping[str, dict[str, Any]],
    out: Path,
) -> dict[str, dict[str, Any]]:
    """Write ``servers.csv`` and return the servers by id."""
    servers: dict[str, dict[str, Any]] = {}
    ids = server_ids(offers)
    for row in offers:
        server_id = ids[instance_key(row)]
        servers.setdefault(server_id, _offered(server_id, row, gpus, tiers))
    for server in _standard(gpus, tiers):
        servers[server["id"]] = server
    order = sorted(servers.values(), key=lambda s: (s["provider"], s["id"]))
    dump_table(out / "servers.csv", COLUMNS, order)
    return servers


def _offered(
    server_id: str,
    row: dict[str, str],
    gpus: Mapping[str, dict[str, Any]],
    tiers: Mapping[str, dict[str, Any]],
) -> dict[str, Any]:
    """Return the server of an offer's row."""
    gpu_id, count = GPU_IDS[row["gpu"]], int(row["gpus_per_node"])
    tier = intra_node_tier(row["intra_node_link"], gpus[gpu_id])
    gbps = number(row["inter_node_network_gbps"])
    notes = []
    if row["intra_node_link"] == "pcie":
        notes.append("PCIe generation assumed to be the card's.")
    if "48GB mod" in row["instance_type"]:
        notes.append("Cards rebuilt to 48 GB; planned as 24 GB ones.")
    if row["provider"] == "vast":
        notes.append("vCPUs and RAM are the listing's bucket, a lower bound.")
    if gbps is None:
        notes.append("Network between nodes not known.")
    elif row["provider"] not in ("onprem",):
        notes.append("Network from well-known instance specifications (memory).")
    network = None if gbps is None else network_tier(row, float(gbps), count)
    return {
        "id": server_id,
        "provider": provider_id(row["provider"]),
        "gpu": gpu_id,
        "gpus_per_node": count,
        **intra_node(tier, gpus[gpu_id], tiers, count),
        "network": network,
        "network_gbps": gbps if network else None,
        "vcpus": number(row["vcpus"]),
        "ram_gb": number(row["ram_gb"]),
        "local_nvme_tb": number(row["local_nvme_tb"]),
        "standard": False,
        "source": shorten_source(row["source"]),
        "as_of": as_of(row["as_of"]),
        "note": " ".join(notes),
    }


def intra_node_tier(link: str, gpu: Mapping[str, Any]) -> str:
    """Return the tier id of a link as the facts name it."""
    if link == "pcie":
        return f"pcie{min(gpu['pcie_generation'], 5)}"
    if link == "nvlink-bridge":
        return f"nvlink{gpu['nvlink_generation']}-bridge"
    return _TIERS[link]


def intra_node(
    tier: str,
    gpu: Mapping[str, Any],
    tiers: Mapping[str, dict[str, Any]],
    count: int,
) -> dict[str, Any]:
    """Return the columns that describe how a node's GPUs are joined."""
    kind = tiers[tier]["kind"]
    rate = {"none": None, "pcie": PCIE_GB_PER_S[gpu["pcie_generation"]]}.get(
        kind, gpu["nvlink_gb_per_s"]
    )
    if kind == "pcie":
        rate = min(float(rate or 0), tiers[tier]["gb_per_s"])
    return {
        "intra_node": tier,
        "intra_node_kind": kind,
        "intra_node_gb_per_s": rate,
        "nvlink_pair_only": tiers[tier].get("pair_only", False),
        "nvlink_domain_gpus": NVL72_GPUS if tier == "nvl72-nvlink5" else count,
    }


def network_tier(row: dict[str, str], gbps: float, count: int) -> str:
    """Return the network tier id of an offer's row."""
    kind, per_gpu = row["inter_node_type"], gbps / count
    if kind == "ib":
        return _at_least(
            {
                56: "fdr-56",
                100: "edr-100",
                200: "hdr-200",
                400: "ndr-400",
                800: "xdr-800",
            },
            gbps if gbps <= 100 else per_gpu,
            "infiniband-",
        )
    if kind == "roce":
        return _at_least(
            {100: "100", 200: "200", 400: "400", 800: "800"}, per_gpu, "roce-"
        )
    if kind == "gpudirect-tcpx":
        return "gpudirect-tcpxo-200" if gbps > 800 else "gpudirect-tcpx-200"
    if kind == "efa":
        return _efa(row["instance_type"])
    return _at_least(
        {10: "10", 25: "25", 40: "40", 50: "50", 100: "100", 200: "200"},
        gbps,
        "ethernet-",
    )


def _efa(instance: str) -> str:
    """Return the generation of EFA of an AWS instance type."""
    family = instance.split(".")[0]
    generations = {
        "p4d": "efa-v1-100",
        "p4de": "efa-v1-100",
        "p5": "efa-v2-100",
        "p5e": "efa-v2-100",
        "p5en": "efa-v3-200",
        "p6-b200": "efa-v4-400",
        "p6-b300": "efa-v4-400",
        "p6e-gb200": "efa-v3-200",
    }
    return generations.get(family, "efa-host-100")


def _at_least(names: Mapping[int, str], gbps: float, prefix: str) -> str:
    """Return the smallest tier that carries a rate, else the largest."""
    fitting = [rate for rate in names if rate >= gbps * 0.99]
    return prefix + names[min(fitting) if fitting else max(names)]


def _standard(
    gpus: Mapping[str, dict[str, Any]], tiers: Mapping[str, dict[str, Any]]
) -> list[dict[str, Any]]:
    """Return the usual server of each GPU."""
    servers = []
    for gpu_id, values in STANDARD.items():
        count, tier, network, gbps, vcpus, ram, nvme, source = values
        server = {
            "id": f"{count}x-{gpu_id}",
            "provider": "",
            "gpu": gpu_id,
            "gpus_per_node": count,
            **intra_node(tier, gpus[gpu_id], tiers, count),
            "network": network,
            "network_gbps": gbps,
            "vcpus": vcpus,
            "ram_gb": ram,
            "local_nvme_tb": nvme,
            "standard": True,
            "source": source,
            "as_of": "2026-11",
            "note": "Reference server; host figures are estimates.",
        }
        if gpu_id == "h200-nvl-141gb":
            server["nvlink_pair_only"] = False
            server["note"] += " Its bridge joins all four cards."
        servers.append(server)
    return servers
