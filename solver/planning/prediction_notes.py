"""How far the predicted step of a layout can be trusted, in sentences.

Shared by plans and estimates: an efficiency of one's own, steps that launches decide,
and what lies outside of the measurements.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from solver.catalog.slices import card_id
from solver.hardware import calibration_for
from solver.performance.efficiency import attained
from solver.plan import Message
from solver.provenance import is_estimate
from solver.spread import (
    LAUNCH_BOUND_MFU,
    P90_Z,
    combination,
    kind_of,
    run_mfu,
    spread_of,
)

if TYPE_CHECKING:
    from solver.catalog.schema import Gpu
    from solver.performance.inputs import Hardware, TrainingJob
    from solver.setting import Setting

__all__ = ["PredictedSteps"]


@dataclass(frozen=True)
class PredictedSteps:
    """The steps of one layout on so many GPUs."""

    setting: Setting
    job: TrainingJob
    gpu: Gpu
    hardware: Hardware
    gpus: int
    training_s: float

    @property
    def mfu(self) -> float:
        """MFU at the speed of a well-tuned framework."""
        setting = self.setting
        model = (setting.shape, self.job, self.hardware)
        return float(run_mfu(*model, self.gpus, self.training_s))

    @property
    def late_factor(self) -> float:
        """Step time that nine of ten runs keep, over the predicted one."""
        setting = self.setting
        spread = spread_of(
            self.gpu,
            setting.framework.name,
            setting.catalog.calibration,
            moe=setting.shape.is_moe,
        )
        return math.exp(P90_Z * float(spread.at(self.mfu)))

    def notes(self) -> list[Message]:
        """All that there is to say, most important first."""
        return [
            *self._efficiency(),
            *self._launches(),
            *self._engine(),
            *self._range(),
        ]

    def _efficiency(self) -> list[Message]:
        asked = self.job.efficiency
        taken = float(attained(self.job, self.hardware))
        if asked > taken:
            values = {"asked": _percent(asked), "taken": _percent(taken)}
            return [Message.of("warning.efficiency-held", gpu=self.gpu.id, **values)]
        if asked != 1.0:
            return [Message.of("warning.efficiency", percent=_percent(asked))]
        return []

    def _launches(self) -> list[Message]:
        how = self.job.alignment
        if how is not None and how.generates:
            percent, times = round(100 * how.loop_rate), round(self.late_factor, 2)
            values = {"method": how.kind, "percent": percent, "times": times}
            return [Message.of("warning.alignment.loop", **values)]
        if self.mfu >= LAUNCH_BOUND_MFU:
            return []
        percent, times = round(100 * self.mfu), round(self.late_factor, 2)
        return [Message.of("warning.low-mfu", percent=percent, times=times)]

    def _engine(self) -> list[Message]:
        """That nodes that train adapters hold their base a second time to generate."""
        how, trained = self.job.alignment, self.job.method
        if how is None or not how.generates or how.apart or trained == "full":
            return []
        return [Message.of("warning.alignment.engine-copy", train=trained)]

    def _range(self) -> list[Message]:
        """That a GPU, a combination or a number of GPUs was never measured."""
        calibration, gpu = self.setting.catalog.calibration, self.gpu
        if is_estimate(calibration_for(gpu, calibration).source):
            return [Message.of("warning.gpu-estimate", generation=gpu.generation)]
        measured = calibration.get("covered", {}).get(card_id(gpu.id))
        if not measured:
            values = {"gpu": gpu.id, "generation": gpu.generation}
            return [Message.of("warning.gpu-unmeasured", **values)]
        found = []
        kind = kind_of(moe=self.setting.shape.is_moe)
        framework, precision = self.setting.framework.name, self.job.precision
        if combination(framework, kind, precision) not in measured:
            values = {"framework": framework, "kind": kind, "precision": precision}
            found.append(
                Message.of("warning.combination-unmeasured", gpu=gpu.id, **values)
            )
        most = max(measured.values())
        if self.gpus > most:
            counts = {"gpus": self.gpus, "most": int(most)}
            found.append(Message.of("warning.scale-unmeasured", gpu=gpu.id, **counts))
        return found


def _percent(share: float) -> float:
    return round(100 * share, 1)
