"""What the host of a node has, what the job needs of it, and what is usual."""

from __future__ import annotations

from solver.options import Option
from solver.performance.checkpoints import host_bytes_needed
from solver.performance.inputs import Layouts, TrainingJob
from solver.performance.offload import away_on_drives
from solver.plan import Message
from solver.setting import Setting
from solver.units import GB

__all__ = ["RAM_RULE", "host_notes", "host_of"]

RAM_RULE = (1.5, 2.0)
"""Host memory that is usual for a node, times its GPU memory."""


def host_of(
    setting: Setting, job: TrainingJob, option: Option, layouts: Layouts
) -> dict[str, float | None]:
    """Threads, memory, drives and NICs of a node beside what is needed and usual."""
    server, model = option.server, (setting.shape, job, setting.framework)
    need = host_bytes_needed(*model, layouts)
    low, high = (times * _gpu_gb(option) for times in RAM_RULE)
    return {
        "vcpus": server.vcpus,
        "ram_gb": server.ram_gb,
        "local_nvme_tb": server.local_nvme_tb,
        "nic_gbps": server.network_gbps if server.network else None,
        "ram_needed_gb": float(need[0] / GB),
        "nvme_needed_gb": float(away_on_drives(*model, layouts)[0] / GB),
        "ram_usual_low_gb": low,
        "ram_usual_high_gb": high,
    }


def host_notes(option: Option) -> list[Message]:
    """Host memory that is not known, or less than is usual for the GPUs."""
    ram = option.server.ram_gb
    if ram is None:
        return [Message.of("warning.host-unknown")]
    if ram >= RAM_RULE[0] * _gpu_gb(option):
        return []
    times = round(ram / _gpu_gb(option), 1)
    return [Message.of("warning.host-ram", ram=round(ram), times=times)]


def _gpu_gb(option: Option) -> float:
    """Memory of all GPUs of a node, GB."""
    return option.gpu.memory_gb * option.server.gpus_per_node
