"""Tests of the names that the package offers."""

import ast
import importlib
import inspect
from importlib.metadata import version

import pytest

import solver
from tests.project.source import MODULE_NAMES, ROOT, python_files, tree_of


@pytest.mark.parametrize("module", MODULE_NAMES)
def test_all_names_exist(module: str) -> None:
    """Tests that a module can be imported and has what its __all__ promises, once."""
    imported = importlib.import_module(module)
    names = getattr(imported, "__all__", [])
    assert len(names) == len(set(names))
    missing = [name for name in names if not hasattr(imported, name)]
    assert not missing


def test_public_names_are_documented() -> None:
    """Tests that everything offered at the top has a docstring and its own name."""
    assert "__version__" in solver.__all__
    for name in solver.__all__:
        thing = getattr(solver, name)
        if inspect.isclass(thing) or inspect.isfunction(thing):
            assert inspect.getdoc(thing), name
            assert thing.__name__ == name


def test_version_is_that_of_the_distribution() -> None:
    """Tests that the version is written down once, in the package."""
    assert version("gpuplan") == solver.__version__
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f'"{solver.__version__}"' not in text


def test_every_module_says_what_it_is() -> None:
    """Tests that each module opens with a docstring."""
    mute = [
        str(path.relative_to(ROOT))
        for path in python_files("solver")
        if tree_of(path).body and ast.get_docstring(tree_of(path)) is None
    ]
    assert not mute
