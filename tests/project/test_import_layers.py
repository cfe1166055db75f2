"""Tests of who may import whom, as docs and CONTRIBUTING draw it."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.project.source import ROOT, module_name, python_files, tree_of

LAYERS: list[set[str]] = [
    {
        "dates",
        "errors",
        "field_texts",
        "files",
        "interruption",
        "languages",
        "quantity",
        "ranges",
        "resources",
        "units",
    },
    {"messages", "plan", "provenance", "wording", "yaml_source"},
    {"rules", "catalog", "scenario"},
    {"performance", "cost"},
    {
        "candidates",
        "frontier",
        "leases",
        "catalog_view",
        "energy",
        "geography",
        "hardware",
        "host_rates",
        "input_pipeline",
        "layout_space",
        "mixes",
        "objective",
        "optimizer_states",
        "options",
        "physics_inputs",
        "relimited",
        "search",
        "setting",
        "spread",
        "tariffs",
        "verify",
    },
    {"cpsat"},
    {"acting", "planning", "accuracy", "importing"},
    {"exporting", "sweeps"},
    {"report"},
    {"cli"},
    {"__main__"},
]
"""Parts of the package, lowest first; each imports its own layer and lower ones."""

MODULES = {module_name(path): path for path in python_files("solver")}


def layer_of(module: str) -> int:
    """Return the layer of one of our modules."""
    part = module.split(".")[1]
    for number, parts in enumerate(LAYERS):
        if part in parts:
            return number
    pytest.fail(f"{module} is in no layer: add '{part}' to LAYERS")


def test_every_module_is_in_a_layer() -> None:
    """Tests that a new part of the package is given its place."""
    known = {part for parts in LAYERS for part in parts}
    found = {module.split(".")[1] for module in MODULES if module != "solver"}
    assert found <= known, f"add to LAYERS: {sorted(found - known)}"


def imported(path: Path) -> Iterator[tuple[str, int]]:
    """Yield each imported module and its line, `from a import b` as a and a.b."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno} imports relatively"
            assert node.module is not None
            yield node.module, node.lineno
            for alias in node.names:
                if f"{node.module}.{alias.name}" in MODULES:
                    yield f"{node.module}.{alias.name}", node.lineno


def ours(path: Path) -> Iterator[tuple[str, int]]:
    """Yield each module of ours that a file imports, and the line."""
    for name, line in imported(path):
        if name.startswith("solver."):
            yield name, line


def test_no_layer_imports_a_higher_one() -> None:
    """Tests that imports go down, never up."""
    wrong = [
        f"{path.relative_to(ROOT)}:{line} ({layer_of(module)}) "
        f"imports {name} ({layer_of(name)})"
        for module, path in MODULES.items()
        if module != "solver"
        for name, line in ours(path)
        if layer_of(name) > layer_of(module)
    ]
    assert not wrong, "\n".join(wrong)


def test_performance_stands_alone() -> None:
    """Tests that the performance model needs nothing but numpy, errors and units."""
    ours = {"solver.errors", "solver.ranges", "solver.units"}
    allowed = {*ours, "numpy", *sys.stdlib_module_names}
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path in python_files("solver/performance")
        for name, line in imported(path)
        if not name.startswith("solver.performance")
        and name not in allowed
        and name.split(".")[0] not in allowed - {"solver"}
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("package", "folders"),
    [
        ("ortools", ["solver/cpsat"]),
        (
            "yaml",
            [
                "solver/yaml_source.py",
                "solver/exporting/yaml_text.py",
                "solver/cli",
                "solver/report",
            ],
        ),
        ("typer", ["solver/cli"]),
        ("rich", ["solver/cli", "solver/report"]),
        ("sqlalchemy", ["solver/sweeps"]),
    ],
)
def test_a_library_stays_in_its_room(package: str, folders: list[str]) -> None:
    """Tests that only the folders that are about a library import it."""
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path in MODULES.values()
        if not path.relative_to(ROOT).as_posix().startswith(tuple(folders))
        for name, line in imported(path)
        if name.split(".")[0] == package
    ]
    assert not wrong, "\n".join(wrong)


def test_only_the_command_line_prints() -> None:
    """Tests that no other part writes to the terminal."""
    wrong = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in MODULES.values()
        if "cli" not in path.relative_to(ROOT).parts
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "print"
    ]
    assert not wrong, "\n".join(wrong)


def is_type_checking(node: ast.AST) -> bool:
    """Return whether a node is `if TYPE_CHECKING`."""
    return (
        isinstance(node, ast.If)
        and isinstance(node.test, ast.Name)
        and node.test.id == "TYPE_CHECKING"
    )


def needed(path: Path) -> set[str]:
    """Return the modules of ours that a file imports when it runs."""
    for_types = {
        line
        for node in ast.walk(tree_of(path))
        if is_type_checking(node)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    return {
        name for name, line in ours(path) if name in MODULES and line not in for_types
    }


def test_no_import_cycle() -> None:
    """Tests that no module needs itself, also through imports in functions."""
    graph = {module: needed(path) - {module} for module, path in MODULES.items()}
    done: set[str] = set()

    def visit(module: str, above: tuple[str, ...]) -> None:
        if module in above:
            pytest.fail(" -> ".join((*above[above.index(module) :], module)))
        if module not in done:
            for name in sorted(graph[module]):
                visit(name, (*above, module))
            done.add(module)

    for module in graph:
        visit(module, ())


def test_start_does_not_load_the_optimiser() -> None:
    """Tests that the command line starts without the 0.8 s that ortools takes."""
    code = "import sys, solver.cli.app; sys.exit('ortools' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
