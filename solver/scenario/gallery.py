"""The shipped scenarios: find, list, show and copy them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from solver.errors import InputError, Issue, nearest
from solver.files import is_file, is_folder
from solver.resources import shipped_scenarios
from solver.yaml_source import Source, load_yaml, load_yaml_file

__all__ = [
    "GalleryEntry",
    "copy_scenario",
    "find_scenario",
    "list_scenarios",
    "scenario_schema",
    "shipped_names",
    "show_scenario",
]

SUFFIXES = (".yaml", ".yml")
MAX_NAME = 100
"""Characters of a name that is looked for among similar ones."""


@dataclass(frozen=True, slots=True)
class Found:
    """A scenario file that a path or name stands for.

    Parameters
    ----------
    file
        The file.
    name
        What to call it in messages.
    folder
        The folder that the files it names are relative to.
    shipped
        Whether it came with gpuplan.
    """

    file: Traversable | Path
    name: str
    folder: Traversable | Path
    shipped: bool

    @property
    def stem(self) -> str:
        """The file's name without its suffix."""
        return self.file.name.rsplit(".", 1)[0]

    def source(self) -> Source:
        """Return the file's data.

        Raises
        ------
        InputError
            It cannot be read.
        """
        if isinstance(self.file, Path) and not self.shipped:
            return load_yaml_file(self.file, self.name)
        return load_yaml(self.file.read_text(encoding="utf-8"), self.name)


@dataclass(frozen=True, slots=True)
class GalleryEntry:
    """A shipped scenario, as the list shows it."""

    name: str
    title: str
    question: str

    def as_dict(self) -> dict[str, str]:
        """Return the row of ``gpuplan scenarios list --json``."""
        return {"name": self.name, "title": self.title, "question": self.question}


def shipped_names() -> tuple[str, ...]:
    """Return the names of the shipped scenarios, sorted."""
    files = yaml_files(shipped_scenarios())
    return tuple(sorted(file.name.removesuffix(".yaml") for file in files))


def yaml_files(folder: Traversable) -> Iterator[Traversable]:
    """Yield the YAML files of a shipped folder."""
    for file in folder.iterdir():
        if file.name.endswith(".yaml") and not file.name.startswith("."):
            yield file


def find_scenario(path_or_name: str | Path) -> Found:
    """Return the scenario file that a path or the name of a shipped one stands for.

    Parameters
    ----------
    path_or_name
        A path with a suffix or a folder in it is a path; anything else is a name,
        unless a file is called so.

    Raises
    ------
    InputError
        There is no such scenario.
    """
    return find_shipped(path_or_name, shipped_scenarios(), "scenario")


def find_shipped(path_or_name: str | Path, folder: Traversable, what: str) -> Found:
    """Return the file that a path or a name stands for, as `find_scenario`.

    Parameters
    ----------
    path_or_name
        As the user wrote it.
    folder
        Where the shipped ones lie.
    what
        What they are called in messages.

    Raises
    ------
    InputError
        There is no such file.
    """
    written = str(path_or_name)
    path = Path(written)
    looks_like_path = (
        isinstance(path_or_name, Path)
        or path.suffix in SUFFIXES
        or len(path.parts) != 1
        or "\x00" in written
    )
    if looks_like_path or is_file(path):
        return Found(path, written, path.parent, shipped=False)
    name = written.strip().casefold().replace("_", "-")
    known = {file.name.removesuffix(".yaml"): file for file in yaml_files(folder)}
    if name in known:
        return Found(known[name], known[name].name, folder, shipped=True)
    hint = nearest(written[:MAX_NAME], sorted(known))
    message = f"no such file, and no shipped {what} of that name"
    raise InputError([Issue("file-not-found", message, written, None, hint)])


def list_scenarios() -> tuple[GalleryEntry, ...]:
    """Return the shipped scenarios with the question that each answers."""
    entries = []
    for name in shipped_names():
        found = find_scenario(name)
        text = found.file.read_text(encoding="utf-8")
        title = str(found.source().data.get("name", name))
        entries.append(GalleryEntry(name, title, question_of(text)))
    return tuple(entries)


def question_of(text: str) -> str:
    """Return the question that a scenario answers: its leading comment lines."""
    lines = []
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        lines.append(line.lstrip("#").strip())
        if lines[-1].endswith("?"):
            break
    return " ".join(lines)


def show_scenario(path_or_name: str | Path) -> str:
    """Return the text of a scenario.

    Raises
    ------
    InputError
        There is no such scenario, or it cannot be read.
    """
    found = find_scenario(path_or_name)
    found.source()
    return found.file.read_text(encoding="utf-8")


def copy_scenario(name: str, target: str | Path = ".") -> tuple[Path, ...]:
    """Copy a shipped scenario, and the table that it names, to start from.

    Parameters
    ----------
    name
        The scenario.
    target
        A folder, or the new file.

    Returns
    -------
    tuple of Path
        The files written.

    Raises
    ------
    InputError
        There is no such scenario, or a file is there already. Nothing is written then.
    """
    found = find_scenario(name)
    path = Path(target)
    if is_folder(path) or not path.suffix:
        path = path / found.file.name
    files = {path: found.file}
    table = found.source().data.get("offers")
    if isinstance(table, str):
        files[path.parent / table] = found.folder / table
    _refuse_existing(files)
    written: list[Path] = []
    try:
        for place, file in files.items():
            content = file.read_bytes()
            place.parent.mkdir(parents=True, exist_ok=True)
            with place.open("xb") as output:
                written.append(place)
                output.write(content)
    except (OSError, ValueError) as error:
        for place in written:
            place.unlink(missing_ok=True)
        message = f"cannot be written: {getattr(error, 'strerror', None) or error}"
        raise InputError([Issue("file-unwritable", message, str(target))]) from None
    return tuple(written)


def _refuse_existing(files: dict[Path, Any]) -> None:
    """Raise an error that names every file that is there already."""
    issues = [
        Issue(
            "file-exists", "a file is there already; it is not overwritten", str(place)
        )
        for place in files
        if is_file(place) or is_folder(place)
    ]
    if issues:
        raise InputError(issues)


def scenario_schema() -> dict[str, Any]:
    """Return the JSON Schema of scenario files, for editors."""
    from solver.scenario.schema import ScenarioFile  # pydantic, only where needed

    schema = ScenarioFile.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema"} | schema
