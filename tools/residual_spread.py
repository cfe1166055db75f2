"""The spread of step times about their prediction, from sources left out of the fit.

Used by tools/fit_calibration.py; `solver.spread` has the rule that reads what is
written here.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from solver.spread import (
    LAUNCH_BOUND,
    LAUNCH_BOUND_MFU,
    P90_Z,
    kind_of,
    software,
    together,
)

FloatArray = NDArray[np.float64]

ENOUGH_RUNS = 10
"""Runs from which on a framework, a kind or a generation has its own spread."""
ENOUGH_TOGETHER = 20
"""Runs from which on a framework has one on a single GPU generation ..."""
ENOUGH_SOURCES = 3
"""... if they come from so many sources."""
BEST_KNOWN = "megatron"
"""The framework whose dense runs tell how well a generation is known."""
LEAST = 0.05
"""Repeats of one configuration differ by 3 to 4 per cent."""
NORMAL_MAD = 1.4826
"""Standard deviation over median absolute deviation of a normal distribution."""


@dataclass(frozen=True)
class Residual:
    """One measured step time and what was predicted without its source."""

    source: str
    generation: str
    framework: str
    moe: bool
    mfu: float
    """Predicted."""
    late: float
    """Logarithm of measured over predicted."""
    weight: float
    """So that no source dominates."""

    @property
    def kind(self) -> str:
        """dense, moe or launch-bound, by the prediction."""
        bound = self.mfu < LAUNCH_BOUND_MFU
        return LAUNCH_BOUND if bound else kind_of(moe=self.moe)


@dataclass(frozen=True)
class Measured:
    """The spread of a family of runs, and what it rests on."""

    sigma: float
    runs: int
    sources: int


def quantile(values: FloatArray, weights: FloatArray, share: float) -> float:
    """The weighted quantile, interpolated between the middles of the weights."""
    order = np.argsort(values)
    summed = np.cumsum(weights[order]) - 0.5 * weights[order]
    return float(np.interp(share, summed / weights.sum(), values[order]))


def late_spread(residuals: Sequence[Residual]) -> float:
    """The wider of the core's spread and of the one that the late tail asks for.

    Notes
    -----
    The core is 1.4826 times the median size of the logarithm; the tail its 90th
    percentile over that of a standard normal distribution, so that nine of ten runs end
    before ``prediction x e^(1.28 sigma)``.
    """
    late = np.array([r.late for r in residuals])
    weights = np.array([r.weight for r in residuals])
    core = NORMAL_MAD * quantile(np.abs(late), weights, 0.5)
    tail = quantile(late, weights, 0.9) / P90_Z
    return max(LEAST, core, tail)


def spreads(residuals: Iterable[Residual]) -> dict[str, Measured]:
    """Spread by key of `solver.spread`: of kinds, frameworks, and both on a GPU."""
    groups: dict[str, list[Residual]] = defaultdict(list)
    single: set[str] = set()
    for r in residuals:
        name = together(r.framework, r.kind, r.generation)
        for key in (r.kind, software(r.framework, r.kind), name):
            groups[key].append(r)
        single.add(name)
    found = {}
    for key, members in sorted(groups.items()):
        sources = len({r.source for r in members})
        enough = ENOUGH_TOGETHER if key in single else ENOUGH_RUNS
        if len(members) < enough or (key in single and sources < ENOUGH_SOURCES):
            continue
        found[key] = Measured(late_spread(members), len(members), sources)
    return found


def generation_spreads(residuals: Iterable[Residual]) -> dict[str, float]:
    """Spread of GPU generations, by the dense runs of the framework known best."""
    groups: dict[str, list[Residual]] = defaultdict(list)
    for r in residuals:
        if r.framework == BEST_KNOWN and r.kind == kind_of(moe=False):
            groups[r.generation].append(r)
    return {
        name: late_spread(members)
        for name, members in sorted(groups.items())
        if len(members) >= ENOUGH_RUNS
    }


def write_spreads(path: Path, found: Mapping[str, Measured]) -> None:
    """Replace the block ``spread`` of calibration.yaml."""
    lines = [
        f"  {key}: {{sigma: {m.sigma:.3f}, runs: {m.runs}, sources: {m.sources}}}\n"
        for key, m in found.items()
    ]
    text = path.read_text(encoding="utf-8")
    block = re.compile(r"(?m)^spread:\n(?: .*\n)*")
    if not block.search(text):
        raise SystemExit(f"{path.name}: no block 'spread'")
    text = block.sub("spread:\n" + "".join(lines), text)
    path.write_text(text, encoding="utf-8")
