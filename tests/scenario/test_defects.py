"""Tests of the files in tests/data/defects: one for each error code.

Beside ``<code>.yaml`` stands ``<code>.txt``, the lines that the user is shown. A first
comment ``# --set key=value`` is an override.
"""

import ast
from pathlib import Path

import pytest

from solver.errors import InputError
from solver.scenario.load import resolve_scenario
from solver.yaml_source import load_yaml_file
from tests.project.source import ROOT, python_files, tree_of
from tests.project.test_docs import documented_codes
from tests.scenario.reading import TODAY, shipped_catalog

DEFECTS = Path(__file__).resolve().parents[1] / "data" / "defects"

ELSEWHERE = {
    "file-exists": "tests/scenario/test_gallery.py",
    "file-too-large": "tests/test_yaml_source.py",
    "file-unreadable": "tests/test_yaml_source.py",
    "file-unwritable": "tests/scenario/test_gallery.py",
    "missing-unit": "tests/test_units.py",
}
"""Codes that no scenario file here can have, and where they are tested."""

READERS = ("solver/scenario", "solver/yaml_source.py", "solver/units.py")
"""What reads scenarios; the other parts test their own codes."""


def told(code: str) -> str:
    """Return what the user of a defect file is told, one line a fault."""
    path = DEFECTS / f"{code}.yaml"
    first = path.read_bytes().splitlines()[0].decode("latin-1")
    overrides = [first.removeprefix("# --set ")] if "--set" in first else []
    with pytest.raises(InputError) as caught:
        resolve_scenario(
            load_yaml_file(path, path.name),
            shipped_catalog(),
            overrides,
            TODAY,
            base=DEFECTS,
        )
    assert [issue.code for issue in caught.value.issues] == [code]
    return str(caught.value).replace(f"{DEFECTS}/", "")


@pytest.mark.parametrize("path", sorted(DEFECTS.glob("*.yaml")), ids=lambda p: p.stem)
def test_a_defect_is_told(path: Path) -> None:
    """Tests that a wrong file gives the message that stands beside it."""
    expected = path.with_suffix(".txt").read_text(encoding="utf-8")
    assert told(path.stem) == expected.rstrip("\n")


def codes_of_readers() -> set[str]:
    """Return the documented codes that occur in what reads scenarios."""
    constants = {
        node.value
        for path in python_files("solver")
        if path.relative_to(ROOT).as_posix().startswith(READERS)
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    return constants & documented_codes()


def test_every_code_has_a_defect_file() -> None:
    """Tests that docs/errors.md, the files and the list of exceptions agree."""
    files = {path.stem for path in DEFECTS.glob("*.yaml")}
    assert not files & ELSEWHERE.keys()
    assert codes_of_readers() <= files | ELSEWHERE.keys()
    assert files <= documented_codes()
