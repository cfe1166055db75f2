"""What the reader of a plan has to know of what leaves the GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solver.messages import sentence
from solver.performance.checkpoints import host_bytes_needed
from solver.performance.offload import away_in_host, away_on_drives
from solver.performance.step_time import step_time
from solver.plan import Message
from solver.units import GB

if TYPE_CHECKING:
    from solver.candidates import CandidateTable
    from solver.catalog.schema import Server
    from solver.options import Option
    from solver.performance.inputs import Layouts
    from solver.setting import Setting

BUFFER_FACTOR = 1.5
"""DeepSpeed's estimate of host memory times this, for buffers (its default of
additional_buffer_factor)."""

SLOW_SHARE = 0.25
"""From this share of a step on offload is worth a word."""


def offload_notes(
    setting: Setting, option: Option, one: CandidateTable
) -> list[Message]:
    """Whether host memory is scarce, and whether offload slows the step much."""
    group = setting.classes[int(one.group[0])]
    if not group.job.offload:
        return []
    model = (setting.shape, group.job, setting.framework)
    need = float(away_in_host(*model, one.layouts)[0]) / GB
    every = float(host_bytes_needed(*model, one.layouts)[0]) / GB
    have = option.server.ram_gb
    found: list[Message] = []
    if have is not None and every + (BUFFER_FACTOR - 1) * need > have:
        found.append(_note("warning.offload-host", need=need, have=have))
    time = step_time(*model, group.hardware, one.layouts)
    share = float(time.offload[0] / time.total[0])
    if share >= SLOW_SHARE:
        found.append(_note("warning.offload-slow", share=share))
    return found


def host_notes(setting: Setting, server: Server, one: Layouts) -> list[Message]:
    """What a node lacks of memory or drives for what is offloaded."""
    if not setting.job.offload:
        return []
    model = (setting.shape, setting.job, setting.framework)
    memory = float(host_bytes_needed(*model, one)[0]) / GB
    drives = float(away_on_drives(*model, one)[0]) / GB
    found: list[Message] = []
    if server.ram_gb is not None and memory > server.ram_gb:
        found.append(_note("note.offload-memory", need=memory, have=server.ram_gb))
    have = (server.local_nvme_tb or 0.0) * 1000.0
    if drives > have:
        found.append(_note("note.offload-drives", need=drives, have=have))
    return found


def _note(message_id: str, **values: float) -> Message:
    return Message(message_id, dict(values), sentence(message_id, **values))
