"""Whether storage and loaders keep up with the GPUs, and what input costs if not.

Reading and decoding run side by side and ahead of the GPUs: the slower of both counts,
and only what it takes beyond the training is lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from solver.performance.inputs import FloatArray, IntArray
from solver.performance.storage_io import data_stall_s, decoding_rate

if TYPE_CHECKING:
    from solver.catalog.load import Catalog
    from solver.catalog.schema import Server
    from solver.options import Option
    from solver.scenario.scenario import Loading
    from solver.setting import Setting

__all__ = [
    "decode_rate",
    "host_threads",
    "input_stall_s",
    "samples_read",
    "usual_threads",
]


def usual_threads(catalog: Catalog) -> dict[str, float]:
    """Fewest host threads a GPU that any server of each GPU has."""
    found: dict[str, float] = {}
    for server in catalog.servers.values():
        if server.vcpus is not None:
            each = server.vcpus / server.gpus_per_node
            found[server.gpu] = min(each, found.get(server.gpu, each))
    return found


def host_threads(catalog: Catalog, options: Sequence[Option]) -> list[float]:
    """Host threads of the smallest node of each option.

    Where they are not known, the fewest a GPU that any server of that GPU has are
    taken, or of any server: who says nothing of his hosts gains nothing by it.
    """
    usual = usual_threads(catalog)
    least = min(usual.values(), default=0.0)

    def threads(server: Server) -> float:
        if server.vcpus is not None:
            return server.vcpus
        return usual.get(server.gpu, least) * server.gpus_per_node

    return [min(threads(part.server) for part in o.parts) for o in options]


def samples_read(setting: Setting) -> float:
    """Samples that the nodes load over the whole run."""
    return setting.job.tokens * setting.scenario.data.loading.samples_per_token


def decode_rate(
    setting: Setting,
    option: IntArray,
    nodes: IntArray,
    loading: Loading | None = None,
) -> FloatArray:
    """Samples/s that all nodes of each option decode; inf for nothing to do, (n,).

    ``loading`` takes the place of the scenario's.
    """
    how = setting.scenario.data.loading if loading is None else loading
    if how.decode == "none":
        return np.full(len(option), np.inf)
    sizes = np.array([o.server.gpus_per_node for o in setting.options])
    return decoding_rate(
        nodes,
        sizes[option],
        setting.arrays.host_threads[option],
        how.rate,
        how.workers,
        on_gpu=how.decode == "gpu",
    )


def input_stall_s(
    setting: Setting,
    option: IntArray,
    nodes: IntArray,
    read_bytes_per_s: FloatArray,
    training_s: FloatArray,
) -> FloatArray:
    """Seconds that GPUs wait for input over the run, (n,)."""
    reading = data_stall_s(setting.bytes_read, read_bytes_per_s, training_s)
    if setting.scenario.data.loading.decode == "none":
        return reading
    rate = decode_rate(setting, option, nodes)
    samples = samples_read(setting)
    return np.maximum(reading, data_stall_s(samples, rate, training_s))
