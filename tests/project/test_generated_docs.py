"""Tests that generated pages are as new as what they are made from."""

import importlib.util
import re
from types import ModuleType

import pytest

from tests.project.source import ROOT


def build_docs() -> ModuleType:
    """Return tools/build_docs.py as a module."""
    path = ROOT / "tools" / "build_docs.py"
    spec = importlib.util.spec_from_file_location("build_docs", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def timeless(text: str) -> str:
    """Return a page without what differs between two runs or two installations."""
    return re.sub(
        r"(?m)^(  (?:time taken|versions) +).*(?:\n {19,}\S.*)*$", r"\1", text
    )


@pytest.mark.parametrize("name", build_docs().PAGES)
def test_page_has_not_drifted(name: str) -> None:
    """Tests that `make docs` would change nothing but times and versions."""
    written = (ROOT / name).read_text(encoding="utf-8")
    assert timeless(written) == timeless(build_docs().PAGES[name]()), "run `make docs`"


def test_every_command_and_key_is_described() -> None:
    """Tests that no row of the generated tables lacks its meaning."""
    for name in ("docs/cli.md", "docs/scenario-fields.md", "docs/catalog-fields.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        rows = [line for line in text.splitlines() if line.startswith("| `")]
        assert len(rows) > 30
        assert not [row for row in rows if row.rstrip("| ").endswith("|")]


def test_docs_lead_to_each_other() -> None:
    """Tests that the README names every page of docs/."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    pages = {path.name for path in (ROOT / "docs").glob("*.md")}
    assert {page for page in pages if f"docs/{page}" not in readme} == set()
