"""What may leave the GPU: `workload.offload` against what the framework can."""

from __future__ import annotations

from solver.catalog.schema import FrameworkEntry
from solver.scenario.reading import Reading
from solver.scenario.schema import WorkloadSpec
from solver.yaml_source import DataPath

OFFLOADS = (
    "none",
    "activations",
    "optimizer",
    "optimizer+activations",
    "parameters",
    "parameters+activations",
)
"""All that can be asked for; ``any`` means those that the framework can."""

_OFFLOAD: DataPath = ("workload", "offload")
_TO: DataPath = ("workload", "offload_to")


def moves_states(offload: str) -> bool:
    """Whether optimizer states leave the GPU, with the parameters or without."""
    return offload.startswith(("optimizer", "parameters"))


def framework_can(entry: FrameworkEntry, offload: str, device: str = "host") -> bool:
    """Whether a framework moves this there."""
    able = {
        "optimizer": bool(entry.offload_optimizer),
        "parameters": bool(entry.offload_parameters),
        "activations": entry.offload_activations,
        "none": True,
    }
    drives = device == "host" or not moves_states(offload) or entry.offload_nvme
    return drives and all(able[part] for part in offload.split("+"))


def resolve_offloads(
    spec: WorkloadSpec,
    framework: str | None,
    optimizers: tuple[str, ...],
    reading: Reading,
) -> tuple[tuple[str, str], ...]:
    """Return what may leave the GPU and where to, each pair once, as named.

    ``any`` stands for all that the framework can. Faults: what it can't, optimizers
    that no CPU runs, and a place for nothing.
    """
    named = tuple(dict.fromkeys(spec.offload)) or ("none",)
    devices = tuple(dict.fromkeys(spec.offload_to)) or ("host",)
    entry = reading.catalog.frameworks.get(framework or "")
    if entry is None:
        return (("none", "host"),)
    _check_places(named, reading)
    _check_framework(spec, entry, devices, reading)
    _check_optimizers(spec, optimizers, reading)
    every: dict[tuple[str, str], None] = {}
    for name in named:
        for offload in OFFLOADS if name == "any" else (name,):
            for device in devices if moves_states(offload) else ("host",):
                if framework_can(entry, offload, device):
                    every[offload, device] = None
    return tuple(every) or (("none", "host"),)


def _check_places(named: tuple[str, ...], reading: Reading) -> None:
    """Log a place where there are no states to put there."""
    if reading.value(_TO) is None or any(n == "any" or moves_states(n) for n in named):
        return
    message = (
        "only optimizer states and parameters can go there: say offload: optimizer, "
        "parameters or any, or leave offload_to out"
    )
    reading.fault("contradiction", message, _TO, key=True, depends_on=[_OFFLOAD])


def _check_framework(
    spec: WorkloadSpec,
    entry: FrameworkEntry,
    devices: tuple[str, ...],
    reading: Reading,
) -> None:
    """Log what the framework cannot move, and drives that it does not use."""
    depends: list[DataPath] = [("workload", "framework")]
    others = reading.catalog.frameworks.values()
    for place, name in reading.items(_OFFLOAD, spec.offload):
        if name == "any" or framework_can(entry, name):
            continue
        able = ", ".join(f.id for f in others if framework_can(f, name))
        message = f"{entry.id} cannot offload {name}; {able} can"
        reading.fault("offload-unsupported", message, place, depends_on=depends)
    for place, device in reading.items(_TO, spec.offload_to):
        if device == "nvme" and not entry.offload_nvme:
            able = ", ".join(f.id for f in others if f.offload_nvme)
            message = f"{entry.id} cannot offload to drives; {able} can"
            reading.fault("offload-unsupported", message, place, depends_on=depends)


def _check_optimizers(
    spec: WorkloadSpec, optimizers: tuple[str, ...], reading: Reading
) -> None:
    """Log an offload under which no optimizer of the job can run."""
    known = reading.catalog.optimizers
    if any(name not in known or known[name].on_host for name in optimizers):
        return
    able = ", ".join(o.id for o in known.values() if o.on_host)
    message = f"no CPU updates with {', '.join(optimizers)}; with {able} it does"
    depends: list[DataPath] = [("workload", "optimizer"), ("workload", "framework")]
    for place, name in reading.items(_OFFLOAD, spec.offload):
        if moves_states(name):
            reading.fault("offload-unsupported", message, place, depends_on=depends)
