"""Storage tiers, with and without GPUDirect Storage."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from catalog_facts.writing import as_of, dump_entry, number, rows, slug

_IDS: Mapping[tuple[str, str], tuple[str, str]] = {
    # provider and tier of the facts: id, kind
    ("generic", "local NVMe Gen4 single U.2/U.3"): ("local-nvme-gen4", "local_nvme"),
    ("generic", "local NVMe Gen5 single"): ("local-nvme-gen5", "local_nvme"),
    ("generic", "NVMe RAID0 8xGen4 (DGX/HGX node)"): ("nvme-raid-8x-gen4", "nvme_raid"),
    ("generic", "NVMe RAID0 8x3.84TB (p5.48xlarge)"): (
        "nvme-raid-8x-3.84tb",
        "nvme_raid",
    ),
    ("generic", "NFS over 100GbE (single server)"): ("nfs-100gbe", "network_fs"),
    ("generic", "NFS over 10GbE"): ("nfs-10gbe", "network_fs"),
    ("generic", "Lustre (on-prem, per OSS pair)"): ("lustre", "parallel_fs"),
    ("generic", "WEKA (per 8-node cluster)"): ("weka", "parallel_fs"),
    ("generic", "VAST (per C-node/D-node block)"): ("vast-data", "parallel_fs"),
    ("generic", "GPFS/Storage Scale over NVMe"): ("gpfs-nvme", "parallel_fs"),
    ("aws", "S3 Standard"): ("aws-s3-standard", "object_store"),
    ("aws", "S3 Standard-IA"): ("aws-s3-standard-ia", "object_store"),
    ("aws", "S3 Express One Zone"): ("aws-s3-express", "object_store"),
    ("aws", "FSx for Lustre SCRATCH_2"): ("aws-fsx-lustre-scratch2", "parallel_fs"),
    ("aws", "FSx for Lustre PERSISTENT_2 125"): ("aws-fsx-lustre-125", "parallel_fs"),
    ("aws", "FSx for Lustre PERSISTENT_2 250"): ("aws-fsx-lustre-250", "parallel_fs"),
    ("aws", "FSx for Lustre PERSISTENT_2 500"): ("aws-fsx-lustre-500", "parallel_fs"),
    ("aws", "FSx for Lustre PERSISTENT_2 1000"): ("aws-fsx-lustre-1000", "parallel_fs"),
    ("aws", "EBS gp3"): ("aws-ebs-gp3", "block"),
    ("aws", "EBS io2 Block Express"): ("aws-ebs-io2", "block"),
    ("aws", "EFS Standard"): ("aws-efs-standard", "network_fs"),
    ("gcp", "Cloud Storage Standard"): ("gcp-cloud-storage-standard", "object_store"),
    ("gcp", "Cloud Storage Rapid (zonal bucket)"): (
        "gcp-cloud-storage-rapid",
        "object_store",
    ),
    ("gcp", "Filestore Zonal"): ("gcp-filestore-zonal", "network_fs"),
    ("gcp", "Filestore Basic SSD"): ("gcp-filestore-basic-ssd", "network_fs"),
    ("gcp", "Managed Lustre 125 MB/s/TiB"): ("gcp-lustre-125", "parallel_fs"),
    ("gcp", "Managed Lustre 1000 MB/s/TiB"): ("gcp-lustre-1000", "parallel_fs"),
    ("gcp", "Hyperdisk ML"): ("gcp-hyperdisk-ml", "block"),
    ("gcp", "Parallelstore (DAOS)"): ("gcp-parallelstore", "parallel_fs"),
    ("azure", "Blob Hot LRS"): ("azure-blob-hot", "object_store"),
    ("azure", "Azure Managed Lustre 40"): ("azure-lustre-40", "parallel_fs"),
    ("azure", "Azure Managed Lustre 125"): ("azure-lustre-125", "parallel_fs"),
    ("azure", "Azure Managed Lustre 250"): ("azure-lustre-250", "parallel_fs"),
    ("azure", "Azure Managed Lustre 500"): ("azure-lustre-500", "parallel_fs"),
    ("azure", "Premium SSD v2"): ("azure-premium-ssd-v2", "block"),
    ("azure", "Ultra Disk"): ("azure-ultra-disk", "block"),
    ("azure", "NetApp Files Ultra"): ("azure-netapp-files-ultra", "network_fs"),
    ("oci", "Object Storage Standard"): ("oci-object-storage-standard", "object_store"),
    ("oci", "Block Volume Balanced"): ("oci-block-volume-balanced", "block"),
    ("oci", "File Storage with Lustre"): ("oci-lustre-125", "parallel_fs"),
    ("lambda", "Filesystem (persistent)"): ("lambda-filesystem", "network_fs"),
    ("nebius", "Network SSD (non-replicated/IO M3)"): ("nebius-network-ssd", "block"),
    ("nebius", "Shared filesystem SSD"): ("nebius-shared-filesystem", "parallel_fs"),
    ("nebius", "Object storage standard"): (
        "nebius-object-storage-standard",
        "object_store",
    ),
    ("coreweave", "Distributed File Storage (VAST)"): (
        "coreweave-distributed-file-storage",
        "parallel_fs",
    ),
    ("coreweave", "AI Object Storage"): ("coreweave-ai-object-storage", "object_store"),
    ("crusoe", "Persistent disk / shared disk"): ("crusoe-shared-disk", "network_fs"),
    ("runpod", "Network volume"): ("runpod-network-volume", "network_fs"),
}

# figures that the facts leave open, or give per GPU: (read, write, why)
_ESTIMATES: Mapping[str, tuple[float, float, str]] = {
    "gpfs-nvme": (20, 10, "per-node rates are an estimate, as WEKA's"),
    "aws-s3-standard-ia": (10, 5, "rates as S3 Standard's (estimate)"),
    "gcp-cloud-storage-rapid": (10, 5, "rates as the standard class's (estimate)"),
    "gcp-hyperdisk-ml": (2.4, 1.2, "written only while one node has it (estimate)"),
    "oci-lustre-125": (10, 8, "per-node rates as other managed Lustre (estimate)"),
    "nebius-object-storage-standard": (2, 1, "write rate is an estimate"),
    "coreweave-distributed-file-storage": (
        8,
        4,
        "advertised 1 GB/s a GPU, so 8 a node of 8; write rate is an estimate",
    ),
    "coreweave-ai-object-storage": (16, 8, "2 GB/s a GPU; write rate is an estimate"),
    "crusoe-shared-disk": (2, 1, "write rate is an estimate"),
}

_NOTES: Mapping[str, str] = {
    "local-nvme-gen4": "One drive. Its price is in the server's.",
    "local-nvme-gen5": "One drive. Its price is in the server's.",
    "nvme-raid-8x-gen4": "Lost when the node stops. Its price is in the server's.",
    "nvme-raid-8x-3.84tb": "Instance store of a p5.48xlarge; lost when the node stops.",
    "nfs-100gbe": "Planning value of one server.",
    "lustre": "Aggregate grows with the number of server pairs.",
    "weka": "Planning value of a cluster of 8 storage nodes.",
    "vast-data": "Planning value of one block; reads far faster than writes.",
    "gpfs-nvme": "A 2.3 TB checkpoint was written by 384 ranks in 40 s.",
    "aws-s3-standard": "Price of the first 50 TB. About 5,500 reads a second a prefix.",
    "aws-s3-standard-ia": "Retrieval costs $0.01 a GB more.",
    "aws-s3-express": "Price since April 2025.",
    "aws-fsx-lustre-scratch2": "Bursts to 1,300 MB/s a TiB.",
    "aws-ebs-gp3": "3,000 operations and 125 MB/s a second are in the price.",
    "gcp-cloud-storage-standard": "One region; dual and multi-region cost more.",
    "gcp-cloud-storage-rapid": "Zonal class, below a millisecond. Price not recorded.",
    "gcp-filestore-zonal": "About 26 GB/s at 100 TiB.",
    "gcp-hyperdisk-ml": "Read-only once several nodes have it.",
    "gcp-parallelstore": "Followed by Managed Lustre.",
    "azure-blob-hot": "Price of the first 50 TB.",
    "oci-block-volume-balanced": "Performance units are charged on top: 0.0425 in all.",
    "oci-lustre-125": "Price not recorded.",
    "coreweave-ai-object-storage": "No egress fee.",
    "runpod-network-volume": "$0.05 above 1 TB.",
}

# with GPUDirect Storage: id of the tier without, read and write, why
_GPUDIRECT: Mapping[str, tuple[float, float, str]] = {
    "local-nvme-gen4": (6.5, 3.5, "the drive limits, not the path"),
    "local-nvme-gen5": (13, 6, "the drive limits, not the path"),
    "nvme-raid-8x-gen4": (50, 25, "40 GB/s and more without the host's copies"),
    "lustre": (20, 12, "estimate: two 100 Gb/s links a node instead of host copies"),
    "weka": (40, 20, "estimate: the node's two storage NICs instead of host copies"),
    "vast-data": (40, 10, "estimate: NFS over RDMA on two storage NICs"),
    "gpfs-nvme": (40, 20, "estimate, as WEKA's"),
    "aws-fsx-lustre-500": (40, 20, "estimate: over EFA; up to 150 GB/s is advertised"),
    "aws-fsx-lustre-1000": (40, 20, "estimate: over EFA; up to 150 GB/s is advertised"),
    "gcp-lustre-1000": (20, 12, "estimate"),
    "azure-lustre-500": (20, 12, "estimate"),
    "nebius-shared-filesystem": (24, 12, "estimate"),
}

DROPPED_KINDS = frozenset(("guidance", "rule"))


def build_storage(facts: Path, out: Path) -> dict[str, int]:
    """Write ``storage/<id>.yaml``; return how many rows were taken and left out."""
    (out / "storage").mkdir()
    dropped = 0
    for row in rows(facts, "storage.csv"):
        if row["kind"] in DROPPED_KINDS:
            dropped += 1
            continue
        storage_id, kind = _IDS[row["provider"], row["tier"]]
        entry = _entry(row, storage_id, kind)
        dump_entry(out / "storage" / f"{storage_id}.yaml", entry)
        if storage_id in _GPUDIRECT:
            path = out / "storage" / f"{storage_id}-gpudirect.yaml"
            dump_entry(path, _with_gpudirect(entry, storage_id))
    return {"taken": len(_IDS), "gpudirect": len(_GPUDIRECT), "dropped": dropped}


def _entry(row: dict[str, str], storage_id: str, kind: str) -> dict[str, Any]:
    """Return the entry of one row."""
    read, write = number(row["read_gbs_per_node"]), number(row["write_gbs_per_node"])
    note = _NOTES.get(storage_id, "")
    if storage_id in _ESTIMATES:
        read, write, why = _ESTIMATES[storage_id]
        note = f"{note} {why[0].upper()}{why[1:]}.".strip()
    local = kind in ("local_nvme", "nvme_raid")
    generic = row["provider"] == "generic"
    return {
        "name": row["tier"] if generic else f"{row['provider']} {row['tier']}",
        "provider": "" if generic else slug(row["provider"]),
        "kind": kind,
        "outlives_node": False if local else None,
        "usd_per_gb_month": 0 if local else number(row["usd_per_gb_month"]),
        "usd_per_mb_per_s_month": number(row["usd_per_mbps_month"]),
        "read_gb_per_s_per_node": read,
        "write_gb_per_s_per_node": write,
        "aggregate_read_gb_per_s": number(row["aggregate_read_gbs"]),
        "aggregate_write_gb_per_s": number(row["aggregate_write_gbs"]),
        "throughput_mb_per_s_per_tib": number(row["throughput_mbs_per_tib"]),
        "min_tib": number(row["min_tib"]),
        "latency_ms": number(row["latency_ms"]),
        "source": row["source"],
        "as_of": as_of(row["as_of"]),
        "note": note,
    }


def _with_gpudirect(entry: dict[str, Any], storage_id: str) -> dict[str, Any]:
    """Return the same tier read straight into GPU memory."""
    read, write, why = _GPUDIRECT[storage_id]
    result: dict[str, Any] = {}
    for key, value in entry.items():
        result[key] = value
        if key == "min_tib":
            result["gpudirect"] = True
    return result | {
        "name": f"{entry['name']}, GPUDirect Storage",
        "read_gb_per_s_per_node": read,
        "write_gb_per_s_per_node": write,
        "source": f"{entry['source']}; memory (GPUDirect rates)",
        "note": f"{entry['note']} {why[0].upper()}{why[1:]}.".strip(),
    }
