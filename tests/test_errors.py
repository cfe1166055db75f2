"""Tests of the exception tree and of the collector of issues."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from solver.errors import (
    GpuplanError,
    InputError,
    InternalError,
    Issue,
    IssueLog,
    PackagingError,
    escaped,
    nearest,
    shown,
    shown_path,
)


@pytest.mark.parametrize(
    ("issue", "line"),
    [
        (Issue("c", "no such key"), "no such key"),
        (Issue("c", "no such key", "a.yaml:3:1"), "a.yaml:3:1: no such key"),
        (Issue("c", "no such key", path="a.b"), "a.b: no such key"),
        (
            Issue("c", "no such key", "a.yaml:3:1", "constraints.deadlin", "deadline"),
            "a.yaml:3:1: constraints.deadlin: no such key (did you mean 'deadline'?)",
        ),
    ],
)
def test_issue_line(issue: Issue, line: str) -> None:
    """Tests that an issue shows what it has, in one order."""
    assert str(issue) == line


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("abc", "'abc'"),
        (1.5, "1.5"),
        ([1], "[1]"),
        ("a" * 61, f"'{'a' * 60}...'"),
        ("\x1b[31m\n\u202e", "'\\x1b[31m\\n\\u202e'"),
    ],
)
def test_a_value_that_a_message_repeats(value: object, text: str) -> None:
    """Tests that it is short, and nothing in it is obeyed by a terminal."""
    assert shown(value) == text
    assert shown(10**5000) == "a huge number"


@given(st.text())
def test_escaped_text_is_printable(text: str) -> None:
    """Tests that any text can be shown, and what can be shown is left alone."""
    assert escaped(text).isprintable()
    assert escaped(escaped(text)) == escaped(text)


def test_a_long_issue_is_shortened() -> None:
    """Tests that no place, path or word fills the screen; the line stays."""
    long = "x" * 5000
    told = str(Issue("c", f"no {long}", f"{long}.yaml:3:1", long))
    assert len(told) < 500
    assert ".yaml:3:1: " in told


def test_issue_as_dict_is_the_json_contract() -> None:
    """Tests that the keys of an issue are those of the JSON contract, in order."""
    issue = Issue("unknown-key", "no", "f.yaml:1:2", "a.b", "a.c")
    assert list(issue.as_dict()) == ["code", "message", "where", "path", "hint"]
    assert Issue(**issue.as_dict()) == issue  # type: ignore[arg-type]


def test_input_error_shows_every_issue() -> None:
    """Tests that an input error has one line an issue, in the order given."""
    error = InputError(Issue("c", text) for text in ("first", "second"))
    assert str(error) == "first\nsecond"
    assert [issue.message for issue in error.issues] == ["first", "second"]


def test_input_error_survives_pickling() -> None:
    """Tests that an input error can come back from another process."""
    error = InputError([Issue("c", "m", hint="h")])
    assert pickle.loads(pickle.dumps(error)).issues == error.issues


def test_input_error_without_issue_is_a_mistake() -> None:
    """Tests that an error that would show nothing cannot be made."""
    with pytest.raises(ValueError, match="at least one"):
        InputError([])


def test_tree() -> None:
    """Tests that user errors and bugs are told apart by their class."""
    assert issubclass(InputError, GpuplanError)
    assert issubclass(PackagingError, InternalError)
    assert not issubclass(InputError, InternalError)
    assert not issubclass(InternalError, InputError)


def test_log_collects_then_raises_once() -> None:
    """Tests that a log raises everything it was given, and nothing when empty."""
    log = IssueLog()
    log.raise_if_any()
    assert not log
    log.add("unknown-key", "no such key", path="a", hint="b")
    log.extend([Issue("wrong-type", "no")])
    assert log
    assert len(log) == 2
    with pytest.raises(InputError) as caught:
        log.raise_if_any()
    assert caught.value.issues == log.issues == tuple(log)


def test_log_takes_another_log() -> None:
    """Tests that the issues of one log can be put into another."""
    inner, outer = IssueLog(), IssueLog()
    inner.add("c", "m")
    outer.extend(inner)
    assert outer.issues == inner.issues


@pytest.mark.parametrize(
    ("name", "candidates", "expected"),
    [
        ("deadlin", ["budget", "deadline"], "deadline"),
        ("h100", ["A100", "H100"], "H100"),
        ("H100-SXM", ["h100-sxm-80gb", "h200-sxm-141gb"], "h100-sxm-80gb"),
        ("zebra", ["budget", "deadline"], None),
        ("", ["budget"], None),
        ("budget", [], None),
        ("ab", ["abc", "abd"], "abc"),
    ],
)
def test_nearest(name: str, candidates: list[str], expected: str | None) -> None:
    """Tests that the most similar name is found, or none if all are far off."""
    assert nearest(name, candidates) == expected


@given(st.lists(st.text(min_size=1), min_size=1), st.data())
def test_nearest_finds_what_is_there(names: list[str], data: st.DataObject) -> None:
    """Tests that a name that is among the candidates is its own nearest one."""
    name = data.draw(st.sampled_from(names))
    found = nearest(name, names)
    assert found is not None
    assert found.casefold() == name.casefold()


def test_a_long_path_keeps_its_end() -> None:
    """Tests that a file's own name is told however deep it lies."""
    assert shown_path("a/b.yaml") == "'a/b.yaml'"
    deep = "/".join(["folder"] * 60) + "/b.yaml"
    told = shown_path(deep)
    assert told.startswith("'...")
    assert told.endswith("/b.yaml'")
    assert len(told) < 260
