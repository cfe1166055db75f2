"""A small sweep for tests: a toy model on two offers, a few deadlines and budgets."""

from __future__ import annotations

from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from solver.catalog.load import Catalog, load_catalog
from solver.errors import InputError, Issue
from solver.sweeps.definition import Sweep
from solver.sweeps.prepare import Prepared, prepare
from solver.sweeps.reading import read_sweep
from solver.yaml_source import load_yaml

TODAY = date(2026, 11, 30)

BASE = """\
name: toy
model: {layers: 12, hidden: 1024, ffn: 4096, heads: 16, kv_heads: 4, vocab: 32000,
  gated: true}
workload: {tokens: 2B, sequence_length: 1024, global_batch_size: 64}
constraints: {gpus: {max: 16}}
offers:
  - {name: slow, gpu: a100-sxm-80gb, gpus_per_node: 8, usd_per_gpu_hour: 1.50,
     max_nodes: 2, region: sg, network: {gbps_per_node: 1600, kind: infiniband}}
  - {name: quick, gpu: h100-sxm-80gb, gpus_per_node: 8, usd_per_gpu_hour: 6.10,
     max_nodes: 2, region: jp, network: {gbps_per_node: 3200, kind: infiniband}}
"""

SWEEP: dict[str, Any] = {
    "name": "toy sweep",
    "base": "base.yaml",
    "axes": {
        "constraints.deadline": ["3 hours", "5 hours", "2 days"],
        "constraints.budget": ["$10", "$1k"],
    },
    "overlays": [{"name": "listed"}, {"name": "dear", "price_factor": 1.5}],
}
"""Twelve points, of which some have no plan."""


@lru_cache
def shipped() -> Catalog:
    """The shipped catalog, read once."""
    return load_catalog()


def written(folder: Path, scenario: str = BASE, **keys: Any) -> Path:
    """A sweep file and its base in a folder; None leaves a key out."""
    (folder / "base.yaml").write_text(scenario, encoding="utf-8")
    data = {k: v for k, v in {**SWEEP, **keys}.items() if v is not None}
    file = folder / "sweep.yaml"
    file.write_text(yaml.safe_dump(data, sort_keys=False), encoding="utf-8")
    return file


def prepared(folder: Path, scenario: str = BASE, **keys: Any) -> Prepared:
    """A sweep, read and tried."""
    return prepare(str(written(folder, scenario, **keys)), (), TODAY)


def read(folder: Path, text: str) -> Sweep:
    """A sweep from its text, whose base is the toy."""
    (folder / "base.yaml").write_text(BASE, encoding="utf-8")
    return read_sweep(load_yaml(text, "sweep.yaml"), shipped(), folder, "sweep")


def issues(folder: Path, text: str) -> tuple[Issue, ...]:
    """The faults of a sweep's text; none: it can be read."""
    try:
        read(folder, text)
    except InputError as error:
        return error.issues
    return ()
