"""The model that is trained: from the catalog, a Hugging Face file, or its sizes."""

from __future__ import annotations

from importlib.resources.abc import Traversable
from pathlib import Path

from pydantic import ValidationError

from solver.catalog.bounds import bounds_of
from solver.catalog.schema import Architecture
from solver.errors import InputError, shown, shown_path
from solver.files import is_file, is_folder
from solver.scenario import lookup
from solver.scenario.model_schema import ModelSpec
from solver.scenario.reading import Reading
from solver.scenario.schema import ScenarioFile
from solver.yaml_source import DataPath

MODEL: DataPath = ("model",)


def resolve_model(
    file: ScenarioFile, base: Traversable | Path | None, reading: Reading
) -> Architecture | None:
    """Return the architecture, or None after logging why there is none.

    Parameters
    ----------
    file
        The scenario as written.
    base
        Folder that a path is relative to.
    reading
        Takes faults.
    """
    if reading.is_broken(MODEL) and file.model == "?":
        return None
    return named_model(file.model, MODEL, base, reading)


def named_model(
    written: str | ModelSpec,
    path: DataPath,
    base: Traversable | Path | None,
    reading: Reading,
) -> Architecture | None:
    """Return the architecture that is written at ``path``, as for `resolve_model`."""
    if isinstance(written, ModelSpec):
        return from_sizes(written, reading, path)
    if is_config_path(written):
        return _from_config(written, path, base, reading)
    return lookup.architecture(reading, written, path)


def is_config_path(written: str) -> bool:
    """Return whether a model is named by a file rather than by name."""
    return written.casefold().endswith(".json") or written.startswith(
        ("./", "../", "/")
    )


def _from_config(
    written: str,
    path: DataPath,
    base: Traversable | Path | None,
    reading: Reading,
) -> Architecture | None:
    """Return the architecture of a Hugging Face config.json."""
    from solver.scenario.huggingface import read_config  # only where it is needed

    file = (base or Path()) / written
    if is_folder(file):
        file = file / "config.json"
    if not is_file(file):
        reading.fault("file-not-found", f"no such file: {shown_path(file)}", path)
        return None
    try:
        return read_config(file, str(written))
    except InputError as error:
        reading.log.extend(error.issues)
        return None


def from_sizes(
    spec: ModelSpec, reading: Reading, path: DataPath = MODEL
) -> Architecture | None:
    """Return the architecture of a model given by its sizes at ``path``."""
    head_dim = spec.head_dim or spec.hidden // spec.heads or 1
    sizes = spec.model_dump(exclude={"kv_heads", "head_dim", "moe_ffn"})
    try:
        return Architecture(
            id="inline-model",
            source=f"stated in {reading.source.where(path)}",
            as_of=reading.today.isoformat(),
            kv_heads=spec.kv_heads or spec.heads,
            head_dim=head_dim,
            moe_ffn=spec.moe_ffn or (spec.ffn if spec.n_experts else 0),
            **sizes,
        )
    except ValidationError as error:
        for detail in error.errors(include_url=False):
            key = str(detail["loc"][0])
            bounds = bounds_of(Architecture, key)
            message = f"expected {bounds}, not {shown(detail['input'])}"
            reading.fault("out-of-range", message, (*path, key))
        return None
