"""How far step times lie from predicted ones, by what is run on what.

Spreads are those of sources that were left out of the fit (``spread`` of
catalog/calibration.yaml, written by tools/fit_calibration.py).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from solver.hardware import calibration_for
from solver.performance.efficiency import attained
from solver.performance.inputs import (
    FloatArray,
    Hardware,
    TrainingJob,
    TransformerShape,
)
from solver.performance.transformer import model_flops_per_token

if TYPE_CHECKING:
    from solver.catalog.schema import Gpu

__all__ = [
    "LAUNCH_BOUND",
    "LAUNCH_BOUND_MFU",
    "P90_Z",
    "Spread",
    "combination",
    "kind_of",
    "run_mfu",
    "software",
    "spread_of",
    "together",
]

LAUNCH_BOUND_MFU = 0.15
"""Predicted MFU below which the host and latency decide."""

LAUNCH_BOUND = "launch-bound"
"""The kind of a run below that, dense or not."""

P90_Z = NormalDist().inv_cdf(0.9)
"""Standard normal quantile of 0.9."""


@dataclass(frozen=True, slots=True)
class Spread:
    """Standard deviation of the logarithm of measured over predicted step time."""

    usual: float
    launch_bound: float
    """Below ``LAUNCH_BOUND_MFU``; never less than ``usual``."""

    def at(self, mfu: Any) -> FloatArray:
        """The spread at a predicted MFU, (n,)."""
        return np.where(mfu < LAUNCH_BOUND_MFU, self.launch_bound, self.usual)

    def least_factor(self, z: float) -> float:
        """Smallest time at quantile ``z`` over the prediction, whatever the MFU."""
        return math.exp(z * (self.usual if z >= 0 else self.launch_bound))


def run_mfu(
    shape: TransformerShape,
    job: TrainingJob,
    hardware: Hardware,
    gpus: Any,
    training_s: Any,
) -> FloatArray:
    """MFU of whole runs at the speed of a well-tuned framework, (n,).

    It tells launch-bound runs. Of two runs on the same GPUs the faster one has the
    larger MFU, so that it is never the less sure.
    """
    flops = model_flops_per_token(shape, job) * job.tokens
    tuned_s = training_s * attained(job, hardware)
    return np.asarray(flops / (gpus * hardware.peak_precision * tuned_s))


def kind_of(*, moe: bool) -> str:
    """Which kind of run this is where nothing is bound by launches."""
    return "moe" if moe else "dense"


def software(framework_id: str, kind: str) -> str:
    """Key of the spread of a framework's runs of a kind, on all GPUs."""
    return f"{framework_id} {kind}"


def together(framework_id: str, kind: str, generation: str) -> str:
    """Key of the spread of a framework's runs of a kind on one GPU generation."""
    return f"{software(framework_id, kind)} on {generation}"


def combination(framework_id: str, kind: str, precision: str) -> str:
    """Key of what was measured on a GPU (``covered`` of calibration.yaml)."""
    return f"{software(framework_id, kind)} {precision}"


def spread_of(
    gpu: Gpu, framework_id: str, calibration: Mapping[str, Any], *, moe: bool
) -> Spread:
    """Spread of the step times predicted for a GPU, a framework and a kind of model.

    Notes
    -----
    One rule for each kind (dense, mixture of experts, launch-bound): what was measured
    of this framework on this GPU generation, where there is enough of it; else the
    larger of the generation's spread and the framework's, the one of all frameworks
    taking the place of a framework that was not measured.
    """
    usual = _spread(gpu, framework_id, kind_of(moe=moe), calibration)
    bound = _spread(gpu, framework_id, LAUNCH_BOUND, calibration)
    return Spread(usual, max(usual, bound))


def _spread(
    gpu: Gpu, framework_id: str, kind: str, calibration: Mapping[str, Any]
) -> float:
    measured: Mapping[str, Any] = calibration.get("spread", {})
    generation = calibration_for(gpu, calibration)
    entry = measured.get(together(framework_id, kind, generation.key))
    if entry is not None:
        return float(entry["sigma"])
    entry = measured.get(software(framework_id, kind)) or measured.get(kind, {})
    return max(generation.sigma, float(entry.get("sigma", 0.0)))
