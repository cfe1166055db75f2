"""Print how many points a second a sweep answers, and how that grows.

``python -m tests.benchmarks.sweep 1000 10000``: deadlines by budgets by countries by
prices of one architecture, on two processes. Nothing fails here for being slow.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.benchmarks.registry import SWEEP_PER_POINT_S

DEADLINES, COUNTRIES, PRICES = 10, 5, 2


def sweep_of(points: int) -> str:
    """Return a sweep file of so many points; more points are more budgets."""
    budgets = points // (DEADLINES * COUNTRIES * PRICES)
    return f"""\
base: llama3-70b-deadline
axes:
  constraints.deadline: {{from: 20 days, to: 65 days, count: {DEADLINES}}}
  constraints.budget: {{from: $850k, to: $4000k, count: {budgets}, spacing: geometric}}
  constraints.countries: [[US], [FI, NO, SE], [DE, FR, GB, NL], [JP, SG, KR], []]
  price_factor: [1.0, 1.2]
"""


def measure(points: int) -> str:
    """Run a sweep of so many points and return what it took, as a line."""
    from tests.benchmarks.__main__ import run

    with TemporaryDirectory() as name:
        file = Path(name) / "sweep.yaml"
        file.write_text(sweep_of(points), encoding="utf-8")
        words = ("sweep", "run", str(file), "--out", str(Path(name) / "r.db"))
        took = run("-m", "solver", *words, "--workers", "2", "--json")
    told = json.loads(took.output)
    return (
        f"{told['answered']:>7,} points {took.wall_s:8.1f} s {took.cpu_s:8.1f} CPU-s "
        f"{told['answered'] / took.wall_s:7.1f}/s, load {os.getloadavg()[0]:.1f}"
        f"  (allowed {points * SWEEP_PER_POINT_S:.0f} s)"
    )


if __name__ == "__main__":
    for count in map(int, sys.argv[1:] or ["1000"]):
        print(measure(count), flush=True)
