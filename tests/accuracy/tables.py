"""Small tables of measurements, written row by row."""

from collections.abc import Mapping
from pathlib import Path

STEP: Mapping[str, str] = {
    "id": "run-1",
    "source": "ours",
    "model": "GPT 7B",
    "layers": "32",
    "hidden": "4096",
    "ffn": "16384",
    "heads": "32",
    "kv_heads": "32",
    "vocab": "51200",
    "gated": "0",
    "seq": "2048",
    "gpu": "A100-80-SXM",
    "n_gpus": "8",
    "gpus_per_node": "8",
    "precision": "bf16",
    "tp": "1",
    "pp": "1",
    "cp": "1",
    "dp": "8",
    "mbs": "1",
    "gbs": "64",
    "recompute": "none",
    "zero_stage": "1",
    "framework": "Megatron-LM",
    "year": "2025",
    "method": "full",
    "step_time_s": "4.0",
    "quality": "good",
}
"""A run of which everything is stated."""


def write_table(path: Path, *rows: Mapping[str, str]) -> Path:
    """Write rows as a CSV table with the columns of all of them."""
    columns = list(dict.fromkeys(column for row in rows for column in row))
    lines = [",".join(columns)]
    lines += [",".join(row.get(column, "") for column in columns) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def without(row: Mapping[str, str], *columns: str) -> dict[str, str]:
    """Return a row with some cells left blank."""
    return {k: "" if k in columns else v for k, v in row.items()}
