"""Tests that what is written about the code is true of the code."""

import ast
import re
from collections.abc import Iterator

from tests.project.source import ROOT, functions, python_files, tree_of

CODE = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)+")

CODE_ARGUMENT = {
    "Issue": 0,
    "PydanticCustomError": 0,
    "_refusal": 0,
    "add": 0,
    "_add": 0,
    "QuantityError": 1,
    "fault": 0,
}
"""Position of the code among the arguments of the calls that take one."""


def documented_codes() -> set[str]:
    """Return the codes that docs/errors.md has a heading for."""
    text = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
    return set(re.findall(r"^### `([^`]+)`$", text, re.MULTILINE))


def code_arguments(call: ast.Call) -> Iterator[ast.expr]:
    """Yield the argument of a call that is an error code."""
    name = getattr(call.func, "attr", getattr(call.func, "id", ""))
    position = CODE_ARGUMENT.get(name)
    if position is None or len(call.args) + len(call.keywords) < 2:
        return
    yield from call.args[position : position + 1]
    yield from (word.value for word in call.keywords if word.arg == "code")


def used_codes() -> dict[str, str]:
    """Return each error code of the source and a place where it is used."""
    return {
        constant.value: f"{path.relative_to(ROOT)}:{constant.lineno}"
        for path in python_files("solver")
        for call in ast.walk(tree_of(path))
        if isinstance(call, ast.Call)
        for argument in code_arguments(call)
        for constant in ast.walk(argument)
        if isinstance(constant, ast.Constant)
        and isinstance(constant.value, str)
        and CODE.fullmatch(constant.value)
    }


def test_every_error_code_is_documented() -> None:
    """Tests that a user who is shown an error code can read up on it."""
    documented = documented_codes()
    missing = [
        f"{place}: `{code}` has no heading in docs/errors.md"
        for code, place in used_codes().items()
        if code not in documented
    ]
    assert not missing, "\n".join(missing)


def test_every_documented_code_exists() -> None:
    """Tests that docs/errors.md has no codes that are no longer used."""
    constants = {
        node.value
        for path in python_files("solver")
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    assert documented_codes() <= constants, documented_codes() - constants


def test_the_error_codes_are_found() -> None:
    """Tests that the search for codes finds those of each kind of call."""
    assert {"duplicate-key", "file-not-found", "unknown-unit"} <= set(used_codes())


def test_docstrings_of_tests() -> None:
    """Tests that every test says what it tests."""
    mute = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"
        for path in python_files("tests")
        for node in functions(tree_of(path))
        if node.name.startswith("test_")
        and not (ast.get_docstring(node) or "").startswith("Tests ")
    ]
    assert not mute, "\n".join(mute)


def test_changelog_has_a_place_for_the_next_change() -> None:
    """Tests that a change can be noted."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert "\n## [Unreleased]\n" in text


def test_links_to_files_lead_somewhere() -> None:
    """Tests that relative links in our pages lead to a file."""
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("*/README.md")]
    broken = [
        f"{page.relative_to(ROOT)}: {link}"
        for page in pages
        for link in re.findall(
            r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")
        )
        if not (page.parent / link).exists()
    ]
    assert not broken, "\n".join(broken)


def test_every_column_of_an_offer_is_documented() -> None:
    """Tests that docs/inventory.md has all columns of a price list, and own names."""
    from solver.catalog.schema import Offer
    from solver.scenario.supply_schema import QuotaSpec

    text = (ROOT / "docs" / "inventory.md").read_text(encoding="utf-8")
    own = ("lead_time", "min_term", "available", "purchase", "network.gbps_per_node")
    names = {*Offer.model_fields, *own, *QuotaSpec.keys()} - {"region", "gpu"}
    missing = [n for n in sorted(names) if f"`{n}`" not in text and f"{n}:" not in text]
    assert missing == []
