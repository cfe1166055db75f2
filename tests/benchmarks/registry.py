"""What is timed, and what it is held against."""

from dataclasses import dataclass

BARE_IMPORT = "import numpy, pydantic, yaml; from ortools.sat.python import cp_model"
"""What a program that only loads its libraries runs."""

PHYSICS_LAYOUTS = 100_000
"""Layouts whose memory and step time are evaluated at once."""

PHYSICS_S = 0.3
"""Seconds that both may take on one core."""

CATALOG_LOAD_S = 0.25
"""Seconds that reading every part of the shipped catalog may take on one core."""

SWEEP_PER_POINT_S = 0.06
"""Seconds that a point of a sweep may take on two cores: 1,000 in a minute."""


@dataclass(frozen=True)
class Benchmark:
    """One scenario that is solved from start to end.

    Parameters
    ----------
    scenario
        Name of a shipped scenario.
    imports
        The whole process may take this many times as long as a bare import,
    seconds
        and so many seconds on top.
    megabytes
        Most memory that the process may reach.
    """

    scenario: str
    imports: float
    seconds: float
    megabytes: float

    def limit_s(self, bare_import_s: float) -> float:
        """Return what the whole process may take on two cores, seconds."""
        return self.imports * bare_import_s + self.seconds


BENCHMARKS = (
    Benchmark("quickstart-7b", imports=1.5, seconds=0.5, megabytes=1000),
    Benchmark("llama31-405b", imports=0.0, seconds=5.0, megabytes=1000),
)
