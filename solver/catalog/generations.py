"""Which entry of calibration.yaml a GPU takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from solver.catalog.schema import Gpu

__all__ = ["calibration_key"]

DEFAULT = "default"


def calibration_key(gpu: Gpu, calibration: Mapping[str, Any]) -> str | None:
    """Return the name of a GPU's entry; that of ``default`` if no other is its own.

    Entries name a generation and may name compute capabilities within it; the
    narrower entry wins. None: there is not even a default.
    """
    entries: Mapping[str, Any] = calibration.get("generations", {})
    chosen, rank = DEFAULT, -1
    for key, entry in entries.items():
        capabilities = [str(c) for c in entry.get("compute_capability", ())]
        if entry.get("generation", key) != gpu.generation:
            continue
        if capabilities and gpu.compute_capability not in capabilities:
            continue
        if (score := 1 if capabilities else 0) > rank:
            chosen, rank = key, score
    return chosen if chosen in entries else None
