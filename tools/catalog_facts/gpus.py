"""GPUs: ids, aliases and usable memory."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from catalog_facts.writing import as_of, dump_entry, number, rows

GPU_IDS: Mapping[str, str] = {
    "V100-16-SXM": "v100-sxm-16gb",
    "V100-32-SXM": "v100-sxm-32gb",
    "V100-16-PCIe": "v100-pcie-16gb",
    "A100-40-SXM": "a100-sxm-40gb",
    "A100-80-SXM": "a100-sxm-80gb",
    "A100-40-PCIe": "a100-pcie-40gb",
    "A100-80-PCIe": "a100-pcie-80gb",
    "A800-80-SXM": "a800-sxm-80gb",
    "A800-80-PCIe": "a800-pcie-80gb",
    "H100-80-SXM": "h100-sxm-80gb",
    "H100-80-PCIe": "h100-pcie-80gb",
    "H100-NVL-94": "h100-nvl-94gb",
    "H800-80-SXM": "h800-sxm-80gb",
    "H20-96": "h20-sxm-96gb",
    "H200-141-SXM": "h200-sxm-141gb",
    "H200-NVL": "h200-nvl-141gb",
    "GH200-96": "gh200-96gb",
    "B200-SXM": "b200-sxm-180gb",
    "B300-SXM": "b300-sxm-288gb",
    "GB200-NVL72": "gb200-nvl72",
    "GB300-NVL72": "gb300-nvl72",
    "L4": "l4",
    "L40": "l40",
    "L40S": "l40s",
    "A10": "a10",
    "A10G": "a10g",
    "A30": "a30",
    "A40": "a40",
    "RTX-A6000": "rtx-a6000",
    "RTX-6000-Ada": "rtx-6000-ada",
    "RTX-PRO-6000": "rtx-pro-6000",
    "RTX-3090": "rtx-3090",
    "RTX-4090": "rtx-4090",
    "RTX-5090": "rtx-5090",
    "T4": "t4",
    "MI250X": "mi250x",
    "MI300X": "mi300x",
    "MI325X": "mi325x",
    "MI355X": "mi355x",
    "Gaudi2": "gaudi2",
    "Gaudi3": "gaudi3",
}
"""Id in the project's catalog of each GPU of the facts."""

_MEASURED = "gpu_memory_gib of published runs"
USABLE_GIB: Mapping[str, tuple[float, str]] = {
    "V100-32-SXM": (31.7, _MEASURED),
    "A100-40-SXM": (39.4, _MEASURED),
    "A100-40-PCIe": (39.4, _MEASURED),
    "A100-80-SXM": (79.2, _MEASURED),
    "A800-80-SXM": (79.2, _MEASURED),
    "H100-80-SXM": (79.1, _MEASURED),
    "H800-80-SXM": (79.1, _MEASURED),
    "H20-96": (94.56, _MEASURED),
    "H200-141-SXM": (139.8, _MEASURED),
    "B200-SXM": (179.0, _MEASURED),
    "A10": (22.1, _MEASURED),
    "A10G": (22.1, _MEASURED),
    "A40": (44.4, f"{_MEASURED} (ECC on)"),
    "RTX-A6000": (47.5, f"{_MEASURED} (ECC off, its default)"),
    "RTX-3090": (23.7, _MEASURED),
    "RTX-4090": (23.6, f"{_MEASURED} (ECC off, its default)"),
    "T4": (14.6, _MEASURED),
    "MI300X": (191.7, _MEASURED),
    "V100-16-SXM": (15.77, "memory: 16,160 MiB as the driver reports"),
    "V100-16-PCIe": (15.77, "memory: 16,160 MiB as the driver reports"),
    "A100-80-PCIe": (79.2, "memory: as the SXM card of the same memory"),
    "A800-80-PCIe": (79.2, "memory: as the SXM card of the same memory"),
    "H100-80-PCIe": (79.1, "memory: as the SXM card of the same memory"),
    "H100-NVL-94": (93.1, "memory: estimate, 99 % of 94 GiB"),
    "H200-NVL": (139.8, "memory: as the SXM card of the same memory"),
    "GH200-96": (94.5, "memory: estimate, as other 96 GB Hopper cards"),
    "B300-SXM": (268.6, "275,040 MiB as a cloud's instance page states"),
    "GB200-NVL72": (184.0, "memory: estimate, 99 % of 186 GiB"),
    "GB300-NVL72": (268.6, "memory: as B300, same memory stacks"),
    "L4": (22.0, "memory: ECC on; published runs print 22.0 for a 24 GB Ada card"),
    "L40": (44.4, "memory: as A40 and L40S with ECC on"),
    "L40S": (44.4, "memory: 48 GB with ECC on, as A40"),
    "A30": (23.5, "memory: estimate"),
    "RTX-6000-Ada": (47.5, "memory: as RTX A6000, ECC off by default"),
    "RTX-PRO-6000": (95.0, "memory: estimate, 97,887 MiB less the driver's share"),
    "RTX-5090": (31.4, "memory: estimate, 32,607 MiB less the driver's share"),
    "MI250X": (63.9, "memory: estimate, one of the two dies"),
    "MI325X": (255.7, "memory: estimate, as MI300X in proportion"),
    "MI355X": (287.7, "memory: estimate, as MI300X in proportion"),
    "Gaudi2": (94.6, "memory: estimate"),
    "Gaudi3": (126.0, "memory: estimate"),
}

_FAMILIES: Mapping[str, str] = {
    "RTX-A6000": "RTX A6000",
    "RTX-6000-Ada": "RTX 6000 Ada",
    "RTX-PRO-6000": "RTX PRO 6000",
    "RTX-3090": "RTX 3090",
    "RTX-4090": "RTX 4090",
    "RTX-5090": "RTX 5090",
}

_GENERATIONS: Mapping[str, str] = {"Blackwell Ultra": "blackwell"}

# names that the vendors and the price lists use, beside what is understood from
# family, form factor and memory in any order
_ALIASES: Mapping[str, tuple[str, ...]] = {
    "V100-16-SXM": ("Tesla V100-SXM2-16GB",),
    "V100-16-PCIe": ("Tesla V100-PCIE-16GB",),
    "A100-40-SXM": ("A100-SXM4-40GB",),
    "A100-80-SXM": ("A100-SXM4-80GB",),
    "H100-80-SXM": ("H100-MEGA", "H100-SXM5-80GB", "H100 80GB HBM3"),
    "H200-141-SXM": ("H200-SXM5-141GB",),
    "GH200-96": ("GH200 480GB",),
    "GB200-NVL72": ("NVL72-GB200",),
    "GB300-NVL72": ("NVL72-GB300",),
    "RTX-A6000": ("Quadro RTX A6000",),
    "RTX-6000-Ada": ("RTX 6000 Ada Generation", "RTX6000-Ada"),
    "RTX-PRO-6000": (
        "RTXPRO6000",
        "RTX PRO 6000 Blackwell Server Edition",
        "RTX_PRO_6000_S",
    ),
    "MI250X": ("Instinct MI250X",),
    "MI300X": ("Instinct MI300X", "MI300X-192GB"),
    "MI325X": ("Instinct MI325X",),
    "MI355X": ("Instinct MI355X",),
    "Gaudi2": ("HL-225", "Gaudi HL-225"),
    "Gaudi3": ("HL-325",),
}

_NOTES: Mapping[str, str] = {
    "V100-16-SXM": "No bf16 or TF32 tensor cores. 300 W by NVIDIA's data sheet.",
    "V100-32-SXM": "No bf16.",
    "A100-80-SXM": "Boards with custom cooling go to 500 W.",
    "A800-80-SXM": "Export version of A100 with 8 of 12 NVLink links.",
    "A800-80-PCIe": "Export version of A100. Another source says 250 W.",
    "H800-80-SXM": "Export version of H100: NVLink and FP64 cut.",
    "H20-96": "Export version of Hopper with cut compute; a 141 GB one exists.",
    "H200-141-SXM": "Another source gives 4,890 GB/s of memory bandwidth.",
    "H100-NVL-94": "Configurable from 350 to 400 W.",
    "GH200-96": "A 144 GB HBM3e version has 4.8 TB/s.",
    "B200-SXM": "180 GB usable of 192 GB physical.",
    "B300-SXM": "Sources disagree: FP4 dense 12.6 to 14 PFLOP/s, INT8 4,500 or 153.5 "
    "TOPS (the low one is taken), bandwidth 7.75 or 8 TB/s, 1,000 to 1,400 W.",
    "GB200-NVL72": "Figures per GPU; a node is a tray of 4 in a rack of 72.",
    "GB300-NVL72": "Figures per GPU. INT8 is cut on Blackwell Ultra; sources disagree.",
    "A10G": "AWS only. Dense bf16 half of the A10's tensor rate; sources disagree on "
    "fp32 (31.5 or 35) and power (150 or 300 W).",
    "RTX-3090": "GeForce: rate with fp32 accumulation, half of that with fp16.",
    "RTX-4090": "GeForce: rates with fp32 accumulation. Has ECC, off by default.",
    "RTX-5090": "GeForce: rates with fp32 accumulation. No ECC.",
    "RTX-PRO-6000": "Server edition; the workstation edition has 1,790 GB/s. Measured "
    "bf16 matmuls reach 437 to 459 TFLOP/s.",
    "MI250X": "One of the module's two dies, since each is a device of its own to "
    "software: half of the module's memory, rates, links and power. A server with 4 "
    "modules has 8 of these.",
    "MI300X": "FP8 is the FNUZ kind. 448 GB/s only to all seven others together; a "
    "pair has 64 GB/s.",
    "MI325X": "448 GB/s only to all seven others together; a pair has 64 GB/s.",
    "MI355X": "535.5 GB/s only to all seven others together; a pair has 76.5 GB/s.",
    "Gaudi2": "3 of 24 links of 100 GbE a card leave the server. Number of compute "
    "units not stated (the default is used).",
    "Gaudi3": "Parts run at 1,600 MHz; the white paper's 1,835 TFLOP/s are at 1,750. "
    "Number of compute units not stated (the default is used).",
}


def build_gpus(facts: Path, out: Path) -> dict[str, dict[str, Any]]:
    """Write ``gpus/<id>.yaml`` and return the entries by id."""
    (out / "gpus").mkdir(parents=True)
    entries = {}
    for row in rows(facts, "gpus.csv"):
        entry = _entry(row)
        gpu_id = GPU_IDS[row["gpu"]]
        dump_entry(out / "gpus" / f"{gpu_id}.yaml", entry)
        entries[gpu_id] = entry
    return entries


def _entry(row: dict[str, str]) -> dict[str, Any]:
    """Return the entry of one row."""
    name = row["gpu"]
    family = _FAMILIES.get(name, name.split("-")[0])
    usable, usable_source = USABLE_GIB[name]
    half = 0.5 if name == "MI250X" else 1.0  # one of two dies
    entry: dict[str, Any] = {
        "aliases": _aliases(row, family),
        "vendor": row["vendor"],
        "family": family,
        "generation": _GENERATIONS.get(row["arch"], row["arch"].casefold()),
        "compute_capability": row["compute_capability"].replace("n/a", ""),
        "memory_gb": _scaled(row["memory_gb"], half),
        "usable_memory_gib": usable,
        "usable_memory_source": usable_source,
        "memory_type": row["memory_type"],
        "memory_bandwidth_gb_per_s": _scaled(row["mem_bw_gbs"], half),
    }
    for rate in ("fp32", "tf32", "fp16", "bf16", "fp8", "fp4"):
        entry[f"{rate}_tflops"] = _scaled(row[f"{rate}_tflops"], half)
    entry |= {
        "int8_tops": _scaled(row["int8_tops"], half),
        "nvlink_generation": row["nvlink_gen"],
        "nvlink_gb_per_s": _scaled(row["nvlink_gbs_per_dir"], half) or None,
        "nvlink_note": row["nvlink_note"].replace(
            "; 2 GCDs of 64 GB each appear as 2 devices", ""
        ),
        "pcie_generation": number(row["pcie_gen"]),
        "pcie_lanes": number(row["pcie_lanes"]),
        "tdp_w": _scaled(row["tdp_w"], half),
        "ecc": row["ecc"] == "yes",
        "mig_profiles": _mig_profiles(row["mig_profiles"]),
        "sm_count": _scaled(row["sm_count"], half),
        "release": row["release"],
        "source": row["source"],
        "as_of": as_of(row["as_of"]),
        "note": _NOTES.get(name, ""),
    }
    return entry


def _scaled(text: str, factor: float) -> float | int | None:
    """Return a cell's number times a factor."""
    value = number(text)
    return value if value is None or factor == 1 else number(str(value * factor))


def _aliases(row: dict[str, str], family: str) -> list[str]:
    """Return the names that mean this GPU and no other."""
    given = [name for name in row["aliases"].split(";") if name]
    # a bare family or family and memory may mean several cards: not an alias
    ambiguous = {
        "V100",
        "V100-32GB",
        "A100",
        "A100-80GB",
        "A800",
        "H100",
        "H200",
        "H20",
    }
    names = [row["gpu"], *(n for n in given if n not in ambiguous)]
    names += _ALIASES.get(row["gpu"], ())
    gpu_id = GPU_IDS[row["gpu"]]
    seen: dict[str, str] = {}
    for name in names:
        key = re.sub(r"[^a-z0-9]", "", name.casefold())
        if key not in (re.sub(r"[^a-z0-9]", "", gpu_id), *seen):
            seen[key] = name
    return list(seen.values())


def _mig_profiles(text: str) -> dict[str, int]:
    """Return slices by profile from ``1g.5gb:7;2g.10gb:3``."""
    pairs = (part.split(":") for part in text.split(";") if ":" in part)
    return {profile: int(count) for profile, count in pairs}
