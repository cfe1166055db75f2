"""``gpuplan catalog import hf``: a Hugging Face config.json as an entry."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from solver.catalog.load import load_catalog
from solver.catalog.schema import Architecture
from solver.errors import InputError, Issue
from solver.files import is_file, is_folder
from solver.importing.entries import entry_text
from solver.importing.folder import changed_folder, checked, write_entry
from solver.importing.prices import (
    DEFAULTS,
    ImportOptions,
    check_options,
    file_date,
)
from solver.importing.quotes import slug
from solver.performance.transformer import ParameterCount, parameters
from solver.physics_inputs import shape_of
from solver.scenario.huggingface import read_config

__all__ = ["ModelImport", "import_model"]

_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")


@dataclass(frozen=True, slots=True)
class ModelImport:
    """What an import of a model has written."""

    out: Path
    file: str
    architecture: Architecture
    count: ParameterCount
    replaces: bool
    """Whether the shipped catalog has an entry of this id."""

    def as_dict(self) -> dict[str, Any]:
        """Return the fields in the order of the JSON contract."""
        return {
            "tool": "hf",
            "out": str(self.out),
            "files": [self.file],
            "id": self.architecture.id,
            "parameters": self.count.total,
            "active_parameters": self.count.active,
            "replaces_shipped": self.replaces,
            "note": self.architecture.note,
        }


def import_model(
    config: Path,
    out: Path,
    name: str | None = None,
    options: ImportOptions = DEFAULTS,
) -> ModelImport:
    """Write the architecture of a config.json into a catalog folder.

    Parameters
    ----------
    config
        The file, or the folder that it is in.
    out
        The catalog folder; it may exist, the entry must not unless ``update`` is set.
    name
        The entry's id; by default the model's name, or that of the file's folder.
    options
        Source, date and whether an entry may be replaced.

    Raises
    ------
    InputError
        The file cannot be read or is of an unknown type, or nothing can be written.
    """
    check_options(options)
    file = config / "config.json" if is_folder(config) else config
    if not is_file(file):
        raise InputError([Issue("file-not-found", "no such file", str(file))])
    read = read_config(file, str(file))
    named = read.name != str(file)  # else it is called as the file: no name of its own
    hub_id = read.name if named and _HUB_ID.fullmatch(read.name) else ""
    entry_id = _id(name, hub_id, file)
    entry = read.model_copy(
        update={
            "id": entry_id,
            "name": hub_id.rpartition("/")[2] or name or entry_id,
            "hf_id": hub_id,
            "source": options.source or f"Hugging Face config.json ({file.name})",
            "as_of": options.as_of or file_date(file),
        }
    )
    place = f"architectures/{entry_id}.yaml"
    with changed_folder(out, update=True) as folder:
        write_entry(entry_text(entry), folder, place, update=options.update)
        checked(folder, str(out))
        written = load_catalog([folder], shipped=False).architecture(entry_id)
    shipped = load_catalog(environment={}).architecture_files
    count = parameters(shape_of(written))
    return ModelImport(out, place, written, count, entry_id in shipped)


def _id(name: str | None, hub_id: str, file: Path) -> str:
    """Return the id of an entry."""
    written = name or hub_id.rpartition("/")[2]
    if not written and file.stem.casefold() == "config":
        written = file.absolute().parent.name
    entry_id = slug(written or file.stem)
    if not entry_id:
        message = "what is the model called? Say --name"
        raise InputError([Issue("missing-key", message, str(file))])
    return entry_id
