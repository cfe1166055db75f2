"""Numbers that only some frameworks keep so: gradients in bf16, weights in 8 bits."""

from __future__ import annotations

from solver.catalog.schema import FrameworkEntry
from solver.scenario.reading import Reading
from solver.scenario.scenario import Workload
from solver.yaml_source import DataPath

_DEPENDS: list[DataPath] = [("workload", "framework")]


def check_numerics(workload: Workload, reading: Reading) -> None:
    """Log gradients and weights that the framework, or the method, does not keep so."""
    entry = reading.catalog.frameworks.get(workload.framework)
    if entry is None:
        return
    _check_master_weights(workload, entry, reading)
    others = reading.catalog.frameworks.values()
    wanted = workload.gradient_precision
    path: DataPath = ("workload", "gradient_precision")
    if wanted and workload.method != "full":
        message = "adapters' gradients go with the adapters: leave it out"
        depends: list[DataPath] = [("workload", "method")]
        reading.fault("contradiction", message, path, key=True, depends_on=depends)
    elif wanted and wanted not in entry.gradient_precisions:
        able = ", ".join(f.id for f in others if wanted in f.gradient_precisions)
        message = f"{entry.id} leaves no choice of it; {able} can keep them in {wanted}"
        reading.fault("numerics-unsupported", message, path, depends_on=_DEPENDS)
    if not workload.fp8_weights:
        return
    path = ("workload", "fp8_weights")
    if not entry.fp8_weights:
        able = ", ".join(f.id for f in others if f.fp8_weights)
        message = f"{entry.id} does not keep weights in 8 bits; {able} does"
        reading.fault("numerics-unsupported", message, path, depends_on=_DEPENDS)
    elif not {"fp8", "mxfp8"} & set(workload.precisions):
        message = "weights are kept in 8 bits where linears compute in fp8 or mxfp8"
        depends = [("workload", "precision")]
        reading.fault("contradiction", message, path, depends_on=depends)
    elif workload.method != "full":
        message = "the base of adapters has its format in lora.base"
        depends = [("workload", "method")]
        reading.fault("contradiction", message, path, key=True, depends_on=depends)


def _check_master_weights(
    workload: Workload, entry: FrameworkEntry, reading: Reading
) -> None:
    """Log copies of weights that cannot be kept, or that nothing can do without."""
    if workload.master_weights == ("",):
        return
    path: DataPath = ("workload", "master_weights")
    if workload.method != "full":
        message = "adapters train, and the base needs no copy: leave it out"
        depends: list[DataPath] = [("workload", "method")]
        reading.fault("contradiction", message, path, key=True, depends_on=depends)
        return
    if "fp32" in workload.precisions:
        message = "weights in fp32 are their own copy: leave it out"
        depends = [("workload", "precision")]
        reading.fault("contradiction", message, path, key=True, depends_on=depends)
        return
    for place, wanted in reading.items(path, workload.master_weights):
        if wanted == "none" and not entry.pure_16bit:
            frameworks = reading.catalog.frameworks.values()
            able = ", ".join(f.id for f in frameworks if f.pure_16bit)
            message = (
                f"{entry.id} keeps an fp32 copy of 16-bit weights; {able} need not"
            )
            reading.fault("numerics-unsupported", message, place, depends_on=_DEPENDS)
        pure = [o for o in workload.optimizers if _is_pure(o, reading)]
        if wanted == "fp32" and pure:
            message = f"{pure[0]} updates weights in 16 bits and keeps no copy of them"
            depends = [("workload", "optimizer")]
            reading.fault("contradiction", message, place, depends_on=depends)


def _is_pure(optimizer: str, reading: Reading) -> bool:
    """Whether an optimizer keeps no fp32 copy of the weights."""
    entry = reading.catalog.optimizers.get(optimizer)
    return entry is not None and entry.master_bytes == 0
