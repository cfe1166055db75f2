"""Numbers that only some frameworks keep so: gradients in bf16, weights in 8 bits."""

from __future__ import annotations

from solver.scenario.reading import Reading
from solver.scenario.scenario import Workload
from solver.yaml_source import DataPath

_DEPENDS: list[DataPath] = [("workload", "framework")]


def check_numerics(workload: Workload, reading: Reading) -> None:
    """Log gradients and weights that the framework, or the method, does not keep so."""
    entry = reading.catalog.frameworks.get(workload.framework)
    if entry is None:
        return
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
