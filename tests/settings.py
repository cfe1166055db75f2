"""The toy job joined with offers, and all its candidates without any bound."""

from __future__ import annotations

from typing import Any

import numpy as np

from solver.candidates import CandidateTable, Rows, evaluate
from solver.performance.ramp import ramp_s
from solver.performance.step_time import step_time
from solver.setting import Setting, setting_of
from tests.planning.jobs import catalog, job


def toy(*offers: dict[str, Any], **keys: Any) -> Setting:
    """The setting of the toy job on these offers."""
    return setting_of(job(list(offers), **keys), catalog())


def rows_of(setting: Setting, index: int = 0) -> Rows:
    """All layouts of a hardware class that fit its memory and nodes, timed."""
    group = setting.classes[index]
    lattice = setting.space.lattice(group.node_kind, group.job)
    fits = lattice.memory_bytes <= group.capacity_bytes
    rows = np.flatnonzero(fits & (lattice.layouts.nodes <= group.max_nodes))
    layouts = lattice.layouts.take(rows)
    model = (setting.shape, group.job, setting.framework, group.hardware)
    seconds = step_time(*model, layouts).total
    whole = lattice.steps[rows] - lattice.ramp_steps[rows]
    below = ramp_s(group.job, layouts, lambda some: step_time(*model, some).total)
    training = seconds * whole + below
    found = Rows(
        layouts,
        seconds,
        training,
        setting.sigma(group, layouts.gpus, training),
        lattice.steps[rows],
        lattice.memory_bytes[rows],
        lattice.writer_nodes[rows],
        lattice.host_bytes[rows],
        lattice.drive_bytes[rows],
    )
    return found.take(np.flatnonzero(np.isfinite(seconds)))


def all_candidates(setting: Setting) -> CandidateTable:
    """Every candidate of every hardware class."""
    return CandidateTable.concatenate(
        [evaluate(setting, i, rows_of(setting, i)) for i in range(len(setting.classes))]
    )
