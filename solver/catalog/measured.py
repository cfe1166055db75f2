"""Tables of measured rates: reference data that constants are held against.

They are read only where asked for; plans use the tiers and the calibration.
"""

from __future__ import annotations

from typing import Annotated, Literal

from solver.catalog import bounds
from solver.catalog.bounds import Bounds
from solver.catalog.schema import Entry

__all__ = ["Collective", "CollectiveRate", "MatmulRate"]

Collective = Literal[
    "all_reduce",
    "all_gather",
    "reduce_scatter",
    "all_to_all",
    "point_to_point",
    "host_to_device",
    "device_to_host",
]


class CollectiveRate(Entry):
    """A measured rate of one collective and message size over one tier.

    Notes
    -----
    The bus rate is NCCL's busbw: of a message of S bytes over n ranks in t seconds it
    is 2 (n-1)/n S/t for an all-reduce and (n-1)/n S/t for the others. It is no wire
    speed: with k nodes a GPU's share of the NICs carries busbw (k-1)/(n-1).
    """

    tier: str
    """Id of a tier inside the node or between nodes."""
    gpu: str = ""
    collective: Collective
    gpus: Annotated[int, Bounds(1, 1e6, "GPUs")]
    nodes: bounds.NodesOrMore = 1
    message_bytes: Annotated[float, Bounds(1, 1e15, "bytes")] | None = None
    """Size of the message that had the bus rate; None: large, not stated."""
    bus_gb_per_s: bounds.LinkRate | None = None
    latency_us: bounds.Microseconds | None = None
    """Time of a small message (512 B where the note says nothing else)."""
    software: str = ""


class MatmulRate(Entry):
    """What large matrix products reach on one GPU, measured; TFLOP/s of 2 m n k."""

    gpu: str
    precision: Literal["bf16", "fp8", "fp8-block", "nvfp4"]
    """fp8 scales by tensor, fp8-block by blocks of 128, nvfp4 by blocks of 16."""
    software: str
    """Library that brought the kernels, and how they were searched."""
    max_tflops: bounds.Tflops
    p90_tflops: bounds.Tflops | None = None
    median_tflops: bounds.Tflops | None = None
    max_shape: str = ""
    """m x n x k of the fastest product."""
