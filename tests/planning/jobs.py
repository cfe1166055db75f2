"""Small scenarios for the tests of planning: a toy model on offers of one's own."""

from __future__ import annotations

from datetime import date
from functools import lru_cache
from typing import Any

import yaml

from solver.catalog.load import Catalog, load_catalog
from solver.scenario.load import resolve_scenario
from solver.scenario.scenario import Scenario
from solver.yaml_source import load_yaml

TOY = {
    "layers": 12,
    "hidden": 1024,
    "ffn": 4096,
    "heads": 16,
    "kv_heads": 4,
    "vocab": 32000,
    "gated": True,
}
"""About 0.25 billion parameters."""

A100: dict[str, Any] = {
    "name": "a",
    "gpu": "a100-sxm-80gb",
    "gpus_per_node": 8,
    "network": {"gbps_per_node": 1600, "kind": "infiniband"},
    "max_nodes": 4,
    "usd_per_gpu_hour": 2.0,
    "region": "sg",
}
H100: dict[str, Any] = {
    "name": "h",
    "gpu": "h100-sxm-80gb",
    "gpus_per_node": 8,
    "network": {"gbps_per_node": 3200, "kind": "infiniband"},
    "max_nodes": 2,
    "usd_per_gpu_hour": 4.5,
    "region": "jp",
}


@lru_cache
def catalog() -> Catalog:
    """The shipped catalog, read once."""
    return load_catalog()


def job(
    offers: list[dict[str, Any]] | None = None,
    constraints: dict[str, Any] | None = None,
    workload: dict[str, Any] | None = None,
    overrides: tuple[str, ...] = (),
    **keys: Any,
) -> Scenario:
    """A scenario on the toy model; ``keys`` are further top-level keys."""
    data = {
        "name": "toy",
        "model": TOY,
        "workload": {
            "tokens": "5B",
            "sequence_length": 2048,
            "global_batch_size": 64,
            **(workload or {}),
        },
        "constraints": constraints or {},
        "offers": [A100, H100] if offers is None else offers,
        **keys,
    }
    text = yaml.safe_dump(data, sort_keys=False)
    return resolve_scenario(
        load_yaml(text, "toy.yaml"), catalog(), overrides, date(2026, 12, 1)
    )
