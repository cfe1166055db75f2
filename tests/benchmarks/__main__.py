"""Print how long each stage of each benchmark takes, and what is allowed.

Every figure is the least of a few runs, each in a process of its own, since other work
on the machine can only add to it. Where the machine is busy, look at the CPU seconds,
which suffer less. Nothing fails here for being slow.
"""

import argparse
import json
import resource
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from tests.benchmarks.registry import (
    BARE_IMPORT,
    BENCHMARKS,
    CATALOG_LOAD_S,
    PHYSICS_LAYOUTS,
    PHYSICS_S,
    Benchmark,
)

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Run:
    """One run of a Python process: seconds on the clock, of the CPU, and its output."""

    wall_s: float
    cpu_s: float
    output: str


def run(*words: str) -> Run:
    """Run a Python process in the checkout."""
    cpu_before = children_cpu_s()
    start = perf_counter()
    done = subprocess.run(
        [sys.executable, *words],
        cwd=ROOT,
        check=True,
        capture_output=True,
        encoding="utf-8",
    )
    wall_s = perf_counter() - start
    return Run(wall_s, children_cpu_s() - cpu_before, done.stdout)


def children_cpu_s() -> float:
    """Return the CPU seconds of all processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def least(repeats: int, *words: str) -> Run:
    """Return the least times of some runs of a Python process."""
    runs = [run(*words) for _ in range(repeats)]
    return Run(min(r.wall_s for r in runs), min(r.cpu_s for r in runs), "")


def measure(benchmark: Benchmark, repeats: int) -> dict[str, Any]:
    """Return the least seconds of each stage and the most memory of some runs."""
    command = ("-m", "tests.benchmarks.stages", benchmark.scenario)
    runs = [json.loads(run(*command).output) for _ in range(repeats)]
    answers = {(r["status"], r["cost_usd"], r["duration_days"]) for r in runs}
    if len(answers) != 1 or runs[0]["status"] != "optimal":
        raise SystemExit(f"{benchmark.scenario} has not one proved answer: {answers}")
    seconds = {
        stage: min(r["seconds"][stage] for r in runs) for stage in runs[0]["seconds"]
    }
    return {
        **runs[0],
        "seconds": seconds,
        "megabytes": max(r["megabytes"] for r in runs),
    }


def show(benchmark: Benchmark, repeats: int, bare: Run) -> None:
    """Print one benchmark."""
    measured = measure(benchmark, repeats)
    whole = least(repeats, "-m", "solver", "solve", benchmark.scenario)
    print(
        f"\n{benchmark.scenario}: {measured['status']}, ${measured['cost_usd']:,.0f}, "
        f"{measured['duration_days']:.1f} days"
    )
    for stage, seconds in measured["seconds"].items():
        print(line(f"  {stage}", seconds))
    print(line("  sum of the stages", sum(measured["seconds"].values())))
    print(line("  whole process", whole.wall_s, benchmark.limit_s(bare.wall_s)))
    print(line("  whole process, CPU", whole.cpu_s, benchmark.limit_s(bare.cpu_s)))
    print(
        f"{'  peak memory':<24}{measured['megabytes']:8.0f} MB"
        f"  (allowed {benchmark.megabytes:.0f} MB)"
    )


def show_catalog(repeats: int) -> None:
    """Print how long the catalog takes: all of it, and a list that needs one part."""
    command = ("-m", "tests.benchmarks.catalog_load")
    runs = [json.loads(run(*command).output) for _ in range(repeats)]
    parts = {part: min(seconds[part] for seconds in runs) for part in runs[0]}
    whole = min(sum(seconds.values()) for seconds in runs)
    print("\nthe catalog")
    for part, seconds in parts.items():
        print(line(f"  {part}", seconds))
    print(line("  every part", whole, CATALOG_LOAD_S))
    listing = least(repeats, "-m", "solver", "catalog", "list", "gpus")
    print(line("  catalog list gpus", listing.wall_s))


def show_physics(repeats: int) -> None:
    """Print how long memory and step time of many layouts take."""
    command = ("-m", "tests.benchmarks.physics")
    runs = [json.loads(run(*command).output) for _ in range(repeats)]
    print(f"\nphysics of {PHYSICS_LAYOUTS:,} layouts")
    for part in runs[0]:
        print(line(f"  {part}", min(seconds[part] for seconds in runs)))
    both = min(sum(seconds.values()) for seconds in runs)
    print(line("  both", both, PHYSICS_S))


def line(label: str, seconds: float, allowed_s: float | None = None) -> str:
    """Return a line with a time and, where there is one, its limit."""
    limit = "" if allowed_s is None else f"   (allowed {allowed_s:.3f} s)"
    return f"{label:<24}{seconds:8.3f} s{limit}"


def main() -> None:
    """Print every benchmark that was asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks")
    names = [benchmark.scenario for benchmark in BENCHMARKS]
    parser.add_argument("scenario", nargs="*", help=f"of {', '.join(names)}")
    parser.add_argument("--repeats", type=int, default=3, help="runs of each (3)")
    asked = parser.parse_args()
    unknown = set(asked.scenario) - set(names)
    if unknown:
        parser.error(f"no such benchmark: {', '.join(sorted(unknown))}")
    bare = least(asked.repeats, "-c", BARE_IMPORT)
    print(line("bare import", bare.wall_s))
    print(line("bare import, CPU", bare.cpu_s))
    print(line("gpuplan --help", least(asked.repeats, "-m", "solver", "--help").wall_s))
    if not asked.scenario:
        show_catalog(asked.repeats)
        show_physics(asked.repeats)
    for benchmark in BENCHMARKS:
        if not asked.scenario or benchmark.scenario in asked.scenario:
            show(benchmark, asked.repeats, bare)


if __name__ == "__main__":
    main()
