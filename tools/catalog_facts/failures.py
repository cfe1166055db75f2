"""Failure rates and spot interruptions, per GPU-hour and node-hour."""

from pathlib import Path
from typing import Any

from catalog_facts.writing import dump_table

HOURS_PER_MONTH = 730
# id: applies to, per GPU-hour, per node-hour, low, high, source, as of, note
_LLAMA = 419 / (16384 * 54 * 24)
_OPT = 105 / (992 * 60 * 24)
_RSC1 = 6.5 / 1000 / 24
_RSC2 = 2.34 / 1000 / 24
_RSC1_JOBS = 1 / (7.9 * 1024)
_BLOOM = 1.5 / (7 * 24) / 384
_C4 = 19 / (30 * 24) / 2400
_RATES: tuple[tuple[Any, ...], ...] = (
    (
        "default",
        "default",
        _RSC1 / 8,
        None,
        _LLAMA,
        _RSC1_JOBS,
        "derived: RSC-1 node failures; spread from Llama 3 405B and RSC-1's jobs of "
        "1,024 GPUs",
        "2024-10",
        "mean time between interruptions of N GPUs is 29,538 h / N",
    ),
    (
        "hopper",
        "hopper",
        _LLAMA,
        None,
        _LLAMA / 1.5,
        _RSC1_JOBS,
        "derived: Llama 3 405B, 419 interruptions of 16,384 GPUs in 54 days "
        "(memory: arXiv 2407.21783)",
        "2024-07",
        "50,679 h / N",
    ),
    (
        "ampere",
        "ampere",
        _RSC1 / 8,
        None,
        _BLOOM,
        _RSC1_JOBS,
        "derived: RSC-1, 6.5 node failures in 1,000 node-days (memory: arXiv "
        "2410.21680)",
        "2024-10",
        "29,538 h / N",
    ),
    (
        "llama-3-405b",
        "run:h100-sxm-80gb",
        _LLAMA,
        None,
        None,
        None,
        "memory: arXiv 2407.21783",
        "2024-07",
        "419 unexpected interruptions in 54 days",
    ),
    (
        "opt-175b",
        "run:a100-sxm-80gb",
        _OPT,
        None,
        None,
        None,
        "memory: arXiv 2205.01068",
        "2022-05",
        "about 105 restarts of 992 GPUs in 60 days",
    ),
    (
        "rsc-1-nodes",
        "run:a100-sxm-80gb",
        _RSC1 / 8,
        _RSC1,
        None,
        None,
        "memory: arXiv 2410.21680",
        "2024-10",
        "16,384 GPUs, 11 months",
    ),
    (
        "rsc-2-nodes",
        "run:a100-sxm-80gb",
        _RSC2 / 8,
        _RSC2,
        None,
        None,
        "memory: arXiv 2410.21680",
        "2024-10",
        "8,192 GPUs, 11 months",
    ),
    (
        "rsc-1-jobs-8",
        "run:a100-sxm-80gb",
        1 / (1144.8 * 8),
        None,
        None,
        None,
        "memory: arXiv 2410.21680",
        "2024-10",
        "jobs of 8 GPUs",
    ),
    (
        "rsc-1-jobs-1024",
        "run:a100-sxm-80gb",
        _RSC1_JOBS,
        None,
        None,
        None,
        "memory: arXiv 2410.21680",
        "2024-10",
        "jobs of 1,024 GPUs: 8,090 h / N",
    ),
    (
        "rsc-1-jobs-16384",
        "run:a100-sxm-80gb",
        1 / (1.8 * 16384),
        None,
        None,
        None,
        "memory: arXiv 2410.21680",
        "2024-10",
        "projection",
    ),
    (
        "rsc-1-jobs-131072",
        "run:a100-sxm-80gb",
        1 / (0.23 * 131072),
        None,
        None,
        None,
        "memory: arXiv 2410.21680",
        "2024-10",
        "projection",
    ),
    (
        "bloom-176b",
        "run:a100-sxm-80gb",
        _BLOOM,
        None,
        None,
        None,
        "memory: BigScience; stas00/ml-engineering fault-tolerance",
        "2022",
        "1 to 2 GPU failures a week of 384",
    ),
    (
        "pai-c4",
        "run:a100-h800",
        _C4,
        None,
        None,
        None,
        "memory: arXiv 2406.04594",
        "2024-06",
        "19 crashes a month of a 2,400-GPU job; low confidence",
    ),
)
# id: applies to, interruptions a month, source, note
_SPOT: tuple[tuple[str, str, float, str, str], ...] = (
    (
        "spot-default",
        "spot:default",
        0.25,
        "memory: estimate",
        "no figure known; taken as the band above 20 % a month",
    ),
    (
        "spot-aws",
        "spot:aws",
        0.25,
        "memory: AWS Spot Advisor band above 20 % a month (p4d, p5)",
        "0.25 a month is an estimate within the band",
    ),
    (
        "spot-aws-g5",
        "spot:aws-g5",
        0.125,
        "memory: AWS Spot Advisor band 5 to 20 % a month",
        "middle of the band",
    ),
    (
        "spot-aws-g6",
        "spot:aws-g6",
        0.125,
        "memory: AWS Spot Advisor band 5 to 20 % a month",
        "middle of the band",
    ),
    (
        "spot-gcp",
        "spot:gcp",
        0.25,
        "memory: estimate; no figure published",
        "30 s notice, no cap on run time",
    ),
    (
        "spot-azure",
        "spot:azure",
        0.25,
        "memory: band 5 to above 20 % a month",
        "30 s notice",
    ),
    (
        "spot-runpod",
        "spot:runpod",
        0.25,
        "memory: estimate; no figure published",
        "5 s notice",
    ),
)


def build_failure_rates(out: Path) -> int:
    """Write ``failure_rates.csv``; return the number of rows."""
    table: list[dict[str, Any]] = []
    for name, applies, gpu, node, low, high, source, date, note in _RATES:
        table.append(
            {
                "id": name,
                "applies_to": applies,
                "per_gpu_hour": _short(gpu),
                "per_node_hour": _short(node),
                "low": _short(low),
                "high": _short(high),
                "source": source,
                "as_of": date,
                "note": note,
            }
        )
    for name, applies, monthly, source, note in _SPOT:
        table.append(
            {
                "id": name,
                "applies_to": applies,
                "per_node_hour": _short(monthly / HOURS_PER_MONTH),
                "source": source,
                "as_of": "2026-11",
                "note": note,
            }
        )
    dump_table(
        out / "failure_rates.csv",
        (
            "id",
            "applies_to",
            "per_gpu_hour",
            "per_node_hour",
            "low",
            "high",
            "source",
            "as_of",
            "note",
        ),
        table,
    )
    return len(table)


def _short(value: float | None) -> float | None:
    """Return a rate to five digits."""
    return None if value is None else float(f"{value:.5g}")
