"""Print how long each phase of each benchmark takes, and what is allowed.

Every figure is the least of a few runs, each in a process of its own, since other work
on the machine can only add to it. Nothing fails here for being slow.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from time import perf_counter
from typing import Any

from tests.benchmarks.registry import BARE_IMPORT, BENCHMARKS, Benchmark

ROOT = Path(__file__).resolve().parents[2]


def run(*words: str) -> tuple[float, str]:
    """Return the wall time of a Python process, seconds, and what it printed."""
    start = perf_counter()
    done = subprocess.run(
        [sys.executable, *words],
        cwd=ROOT,
        check=True,
        capture_output=True,
        encoding="utf-8",
    )
    return perf_counter() - start, done.stdout


def least_s(repeats: int, *words: str) -> float:
    """Return the least wall time of some runs of a Python process, seconds."""
    return min(run(*words)[0] for _ in range(repeats))


def measure(benchmark: Benchmark, repeats: int) -> dict[str, Any]:
    """Return the least seconds of each phase and the most memory of some runs."""
    command = ("-m", "tests.benchmarks.phases", benchmark.scenario)
    runs = [json.loads(run(*command)[1]) for _ in range(repeats)]
    answers = {(r["status"], r["cost_usd"], r["duration_days"]) for r in runs}
    if len(answers) != 1 or runs[0]["status"] != "optimal":
        raise SystemExit(f"{benchmark.scenario} has not one proved answer: {answers}")
    seconds = {
        phase: min(r["seconds"][phase] for r in runs) for phase in runs[0]["seconds"]
    }
    return {
        **runs[0],
        "seconds": seconds,
        "megabytes": max(r["megabytes"] for r in runs),
    }


def show(benchmark: Benchmark, repeats: int, bare_s: float) -> None:
    """Print one benchmark."""
    measured = measure(benchmark, repeats)
    whole_s = least_s(repeats, "-m", "solver", "solve", benchmark.scenario)
    print(
        f"\n{benchmark.scenario}: {measured['status']}, ${measured['cost_usd']:,.0f}, "
        f"{measured['duration_days']:.1f} days"
    )
    for phase, seconds in measured["seconds"].items():
        print(f"  {phase:<20}{seconds:8.3f} s")
    print(f"  {'sum of the phases':<20}{sum(measured['seconds'].values()):8.3f} s")
    limit_s = benchmark.limit_s(bare_s)
    print(f"  {'whole process':<20}{whole_s:8.3f} s   (allowed {limit_s:.3f} s)")
    print(
        f"  {'peak memory':<20}{measured['megabytes']:8.0f} MB"
        f"  (allowed {benchmark.megabytes:.0f} MB)"
    )


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
    bare_s = least_s(asked.repeats, "-c", BARE_IMPORT)
    help_s = least_s(asked.repeats, "-m", "solver", "--help")
    print(f"{'bare import':<22}{bare_s:8.3f} s")
    print(f"{'gpuplan --help':<22}{help_s:8.3f} s")
    for benchmark in BENCHMARKS:
        if not asked.scenario or benchmark.scenario in asked.scenario:
            show(benchmark, asked.repeats, bare_s)


if __name__ == "__main__":
    main()
