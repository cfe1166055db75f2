"""Time the physics of many layouts in this process: memory, and the time of a step."""

import json
from time import perf_counter

import numpy as np

from solver.performance.memory import peak_memory
from solver.performance.parallelism import LatticeLimits, enumerate_layouts
from solver.performance.step_time import step_time
from tests.benchmarks.registry import PHYSICS_LAYOUTS
from tests.performance.cases import LLAMA31_405B, framework, job
from tests.performance.machines import H100


def time_physics() -> dict[str, float]:
    """Return the seconds that memory and step time of a real lattice's layouts take."""
    work, stack = job(8192, batch=2048), framework("megatron")
    limits = LatticeLimits(max_nodes=2048, gpus_per_node=8)
    lattice = enumerate_layouts(LLAMA31_405B, work, stack, limits)
    rows = lattice.take(np.linspace(0, len(lattice) - 1, PHYSICS_LAYOUTS).astype(int))
    seconds = {}
    start = perf_counter()
    memory = peak_memory(LLAMA31_405B, work, stack, rows)
    seconds["peak memory"] = perf_counter() - start
    start = perf_counter()
    times = step_time(LLAMA31_405B, work, stack, H100, rows)
    seconds["step time"] = perf_counter() - start
    if len(memory.total) != PHYSICS_LAYOUTS or not np.all(times.total > 0):
        raise SystemExit("the physics of the layouts is not what it should be")
    return seconds


if __name__ == "__main__":
    print(json.dumps(time_physics()))
