"""Faults that only show when two things are held against each other.

Each function finds one kind of problem; `check_all` calls them in order. None stops
the next, so that all are told at once.
"""

from __future__ import annotations

from collections.abc import Iterator

from solver.catalog.schema import Architecture
from solver.catalog.transformer_rules import size_faults
from solver.scenario.model_schema import ModelSpec
from solver.scenario.range_schema import RangeSpec
from solver.scenario.reading import Reading
from solver.scenario.scenario import Workload
from solver.scenario.schema import ObjectiveSpec, ScenarioFile
from solver.yaml_source import DataPath


def check_all(
    file: ScenarioFile,
    architecture: Architecture | None,
    workload: Workload,
    reading: Reading,
) -> None:
    """Log every problem of a scenario whose parts are right each by itself."""
    if isinstance(file.model, ModelSpec) and architecture is not None:
        check_sizes(file.model, reading)
    check_too_few_tokens(workload, reading)
    check_lora(file, architecture, workload, reading)
    check_framework_method(workload, reading)
    check_framework_loss(workload, reading)
    check_framework_optimizer(workload, reading)
    check_ranges(file, reading)
    check_zero_stage(file, reading)
    check_nothing_allowed(file, reading)
    check_empty_objective(file, reading)


def check_sizes(
    model: ModelSpec, reading: Reading, path: DataPath = ("model",)
) -> None:
    """Log sizes of a model, written at ``path``, that do not go together."""
    for fault in size_faults(model.model_dump()):
        place = (*path, fault.field)
        reading.fault(fault.code, fault.message, place, key=fault.key)


def check_too_few_tokens(workload: Workload, reading: Reading) -> None:
    """Log a training that is shorter than one step."""
    needed = workload.batch_min * workload.sequence_length
    if workload.tokens < needed:
        message = (
            f"{workload.tokens:,.0f} tokens are less than one step of "
            f"{workload.batch_min:,} x {workload.sequence_length:,} = {needed:,}"
        )
        key = "tokens" if reading.value(("workload", "tokens")) else "samples"
        others: list[DataPath] = [
            ("workload", "global_batch_size"),
            ("workload", "sequence_length"),
        ]
        reading.fault("too-few-tokens", message, ("workload", key), depends_on=others)


def check_lora(
    file: ScenarioFile,
    architecture: Architecture | None,
    workload: Workload,
    reading: Reading,
) -> None:
    """Log adapters that are not trained, do not exist, or are no smaller."""
    spec = file.workload.lora
    path: DataPath = ("workload", "lora")
    if spec is None:
        return
    if workload.method == "full":
        how = "the method full" if workload.kind == "train" else "train: full"
        message = f"{how} trains no adapters: leave lora out, or say lora"
        reading.fault(
            "contradiction",
            message,
            path,
            key=True,
            depends_on=[("workload", "method"), ("workload", "train")],
        )
    if workload.method == "qlora" and spec.base == "bf16":
        message = (
            "the method qlora has a quantised base: say int8, nf4 or nf4_plain, or "
            "method: lora"
        )
        depends = [("workload", "method")]
        reading.fault("contradiction", message, (*path, "base"), depends_on=depends)
    if architecture is None:
        return
    if spec.rank > architecture.hidden:
        message = f"the rank is larger than the model's width {architecture.hidden:,}"
        reading.fault("out-of-range", message, (*path, "rank"))
    if "gate" in spec.targets and not architecture.gated:
        message = "the model's feed-forward layers have no gate"
        reading.fault("contradiction", message, (*path, "targets"))


def check_framework_method(workload: Workload, reading: Reading) -> None:
    """Log a method that the framework cannot run."""
    entry = reading.catalog.frameworks.get(workload.framework)
    if entry is None or workload.method in entry.methods:
        return
    able = [
        f.id
        for f in reading.catalog.frameworks.values()
        if workload.method in f.methods
    ]
    message = f"{entry.id} cannot run {workload.method}; {', '.join(able)} can"
    depends = [("workload", "method")]
    path: DataPath = ("workload", "framework")
    reading.fault("framework-lacks-method", message, path, depends_on=depends)


def check_framework_loss(workload: Workload, reading: Reading) -> None:
    """Log ways to take the loss that the framework lacks."""
    catalog, path = reading.catalog, ("workload", "loss")
    entry = catalog.frameworks.get(workload.framework)
    for place, loss in reading.items(path, workload.losses):
        if entry is None or loss in entry.losses:
            continue
        able = ", ".join(f.id for f in catalog.frameworks.values() if loss in f.losses)
        message = f"{entry.id} takes no {loss} loss; {able} can"
        depends = [("workload", "framework"), ("workload", "method")]
        reading.fault("framework-lacks-loss", message, place, depends_on=depends)


def check_framework_optimizer(workload: Workload, reading: Reading) -> None:
    """Log the optimizers that the framework cannot run."""
    path: DataPath = ("workload", "optimizer")
    for place, optimizer in reading.items(path, workload.optimizers):
        _check_optimizer(optimizer, place, workload, reading)


def _check_optimizer(
    optimizer: str, path: DataPath, workload: Workload, reading: Reading
) -> None:
    catalog = reading.catalog
    entry = catalog.optimizers.get(optimizer)
    framework = workload.framework
    if entry is None or framework not in catalog.frameworks:
        return
    if not entry.frameworks or framework in entry.frameworks:
        return
    able = [
        f.id
        for f in catalog.frameworks.values()
        if f.id in entry.frameworks and workload.method in f.methods
    ]
    names = ", ".join(able) or "no framework that runs this method"
    message = f"{framework} cannot run {entry.id}; {names} can: say it as framework"
    if reading.value(("workload", "framework")) is not None:
        message = f"{framework} cannot run {entry.id}; {names} can"
    reading.fault(
        "optimizer-unsupported",
        message,
        path,
        depends_on=[("workload", "framework"), ("workload", "method")],
    )


def _ranges(file: ScenarioFile) -> Iterator[tuple[DataPath, int | None, int | None]]:
    """Yield path, smallest and largest value of every range in the constraints."""
    gpus = file.constraints.gpus
    yield ("constraints", "gpus"), gpus.min, gpus.max
    for axis in type(file.constraints.parallelism).model_fields:
        written = getattr(file.constraints.parallelism, axis)
        if isinstance(written, RangeSpec):
            yield ("constraints", "parallelism", axis), written.min, written.max


def check_ranges(file: ScenarioFile, reading: Reading) -> None:
    """Log ranges that hold nothing."""
    for path, low, high in _ranges(file):
        if low is not None and high is not None and low > high:
            message = f"min {low:,} is more than max {high:,}"
            reading.fault("contradiction", message, (*path, "min"))


def check_zero_stage(file: ScenarioFile, reading: Reading) -> None:
    """Log ZeRO stages that do not exist."""
    written = file.constraints.parallelism.zero_stage
    path: DataPath = ("constraints", "parallelism", "zero_stage")
    if isinstance(written, RangeSpec):
        stages = {(*path, "min"): written.min or 0, (*path, "max"): written.max or 0}
    elif isinstance(written, int):
        stages = {path: written}
    else:
        stages = dict(reading.items(path, written or ()))
    for place, stage in stages.items():
        if stage > 3:
            message = f"expected a ZeRO stage of 0 to 3, not {stage}"
            reading.fault("out-of-range", message, place)


def check_nothing_allowed(file: ScenarioFile, reading: Reading) -> None:
    """Log GPUs that are allowed by name and excluded by the same name."""
    gpus = file.constraints.gpus
    excluded = {name.casefold() for name in gpus.exclude}
    if gpus.types and all(name.casefold() in excluded for name in gpus.types):
        message = "every GPU that types allows is excluded"
        reading.fault("contradiction", message, ("constraints", "gpus", "exclude"))


def check_empty_objective(file: ScenarioFile, reading: Reading) -> None:
    """Log an objective that every plan fulfils alike, or that says a thing twice."""
    objective, path = file.objective, ("objective",)
    if isinstance(objective, ObjectiveSpec):
        weights = objective.cost, objective.usd_per_day, objective.usd_per_tonne_co2
        if not any(weights):
            message = (
                "all weights are zero; expected cost, usd_per_day or "
                "usd_per_tonne_co2 above zero"
            )
            reading.fault("contradiction", message, path)
    elif not isinstance(objective, str):
        for place, aim in enumerate(objective):
            if aim in objective[:place]:
                message = f"'{aim}' stands twice; the first decides already"
                reading.fault("contradiction", message, (*path, place))
