"""Tests that sentences and the places that use them fit together."""

import ast
import re
from collections.abc import Iterator

import pytest

from solver.messages import MESSAGES, has_text, sentence
from solver.rules import RULES
from tests.project.source import ROOT, python_files, tree_of

TAKES_AN_ID = {
    "Grid",
    "Message",
    "Section",
    "message_section",
    "note",
    "notice",
    "of",
    "sentence",
}
"""Functions and classes whose first argument is a message id."""

ID = re.compile(r"[a-z][a-z_0-9-]*(?:\.[a-z_0-9-]*[a-z0-9])+")


def sources() -> Iterator[ast.AST]:
    """Yield every node of the package outside the messages themselves."""
    for path in python_files("solver"):
        if "messages" not in path.relative_to(ROOT).parts:
            yield from ast.walk(tree_of(path))


def ids_in_calls() -> Iterator[str]:
    """Yield each message id that is written out where a message is made."""
    for node in sources():
        if not isinstance(node, ast.Call) or not node.args:
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if name in TAKES_AN_ID:
            for constant in ast.walk(node.args[0]):
                if isinstance(constant, ast.Constant) and isinstance(
                    constant.value, str
                ):
                    yield constant.value


def families() -> set[str]:
    """Return the beginnings of ids whose rest is only known at run time."""
    known = set()
    for node in sources():
        if isinstance(node, ast.JoinedStr) and isinstance(node.values[0], ast.Constant):
            known.add(str(node.values[0].value))
        call = isinstance(node, ast.Call) and getattr(node.func, "id", "") == "label"
        if call and isinstance(node.args[0], ast.Constant):
            known.add(f"{node.args[0].value}.")
    return {start for start in known if re.match(r"[a-z_]+\.", start)}


def test_every_id_has_a_text() -> None:
    """Tests that no sentence is missing."""
    used = {message_id for message_id in ids_in_calls() if ID.fullmatch(message_id)}
    assert len(used) > 50
    assert used <= MESSAGES.keys(), sorted(used - MESSAGES.keys())


def test_every_text_is_used() -> None:
    """Tests that no sentence has been left behind."""
    constants = {
        node.value
        for node in sources()
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    dynamic = tuple(families())
    unused = [
        message_id
        for message_id in MESSAGES
        if message_id not in constants and not message_id.startswith(dynamic)
    ]
    assert not unused


def test_warnings_and_notices_are_sentences() -> None:
    """Tests that what stands as a line of its own starts and ends like one."""
    lines = {
        id_: text
        for id_, text in MESSAGES.items()
        if id_.startswith(("warning.", "notice.", "note."))
    }
    odd = [
        id_
        for id_, text in lines.items()
        if not re.match(r"[A-Z]|\{\w+:,(\.0f)?\}", text) or not text.endswith(".")
    ]
    assert len(lines) > 20
    assert not odd


@pytest.mark.parametrize(
    ("number", "text"), [(1, "ZeRO-3 over 1 GPU"), (2, "ZeRO-3 over 2 GPUs")]
)
def test_words_follow_their_number(number: int, text: str) -> None:
    """Tests that one GPU is not called 'GPUs'."""
    assert sentence("value.zero", stage=3, degree=number) == text


def test_a_choice_may_hold_the_number_itself() -> None:
    """Tests the sentence whose two forms have little in common."""
    one = sentence("why.catalog", total=1, rule="stock")
    many = sentence("why.catalog", total=1200, rule="stock")
    assert one == "the only offer is not allowed; it fails on: stock"
    assert many == "none of the 1,200 offers is allowed; most fail on: stock"


def test_no_number_has_a_fixed_plural() -> None:
    """Tests that a count of GPUs or nodes chooses the form of its word."""
    fixed = [
        id_
        for id_, text in MESSAGES.items()
        if re.search(r"\{(gpus|nodes|degree|count)(:,)?\} (GPUs|nodes|layouts)", text)
    ]
    # offers of several nodes only
    assert fixed == ["notice.offer.one-node"]


def test_ids_are_well_formed() -> None:
    """Tests that ids look alike: a family, then words, joined by points."""
    odd = [message_id for message_id in MESSAGES if not ID.fullmatch(message_id)]
    assert not odd


def test_a_missing_value_is_noticed() -> None:
    """Tests that a sentence is never shown with a hole in it."""
    assert sentence("value.place", provider="a", region="b") == "a, b"
    with pytest.raises(KeyError):
        sentence("value.place", provider="a")
    with pytest.raises(KeyError):
        sentence("value.nonsense")
    assert not has_text("value.nonsense")


def test_requirements_have_one_title() -> None:
    """Tests that a requirement is called the same in the rules and in sentences."""
    titles = {f"rule.{rule.id}": rule.title for rule in RULES}
    told = {id_: text for id_, text in MESSAGES.items() if id_.startswith("rule.")}
    assert told == titles
