"""Tests of reading YAML with places and without surprises."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from solver import yaml_source
from solver.errors import InputError, Issue
from solver.yaml_source import dotted, load_plain, load_yaml, load_yaml_file

SCENARIO = """\
# which cluster?
name: small
constraints:
  deadline: 30 days
  gpus:
    types: [H100, A100]
    min: 8
offers:
  - {name: mine, max_nodes: 4}
  -
    name: yours
stock:
"""


@pytest.fixture(params=["c", "python"], autouse=True)
def loader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run each test with libyaml's parser and with PyYAML's own."""
    if request.param == "python":
        limits = {
            name: value
            for name, value in vars(yaml_source._Loader).items()
            if not name.startswith("__") or name == "__init__"
        }
        _Python = type("_Python", (yaml.SafeLoader,), {})

        def init(self: Any, stream: str) -> None:
            self.nodes = self.depth = 0
            yaml.SafeLoader.__init__(self, stream)

        for name, value in {**limits, "__init__": init}.items():
            setattr(_Python, name, value)
        monkeypatch.setattr(yaml_source, "_Loader", _Python)


def issues_of(read: Callable[[], Any]) -> tuple[Issue, ...]:
    """Return the issues that reading raises."""
    with pytest.raises(InputError) as caught:
        read()
    return caught.value.issues


def the_issue(text: str) -> Issue:
    """Return the only issue of a text."""
    (issue,) = issues_of(lambda: load_yaml(text, "f.yaml"))
    return issue


@pytest.mark.parametrize(
    ("path", "key", "place"),
    [
        (("name",), False, "2:7"),
        (("name",), True, "2:1"),
        (("constraints",), False, "3:1"),
        (("constraints", "deadline"), False, "4:13"),
        (("constraints", "deadline"), True, "4:3"),
        (("constraints", "gpus", "types"), False, "6:5"),
        (("constraints", "gpus", "types", 1), False, "6:19"),
        (("offers", 0, "max_nodes"), False, "9:29"),
        (("offers", 1), False, "11:5"),
        (("offers", 1, "name"), False, "11:11"),
        (("stock",), False, "12:1"),
        (("constraints", "budget"), False, "3:1"),
        (("constraints", "gpus", "max", "deep", 3), True, "5:3"),
        ((), False, "2:1"),
        (("nothing",), False, "2:1"),
    ],
)
def test_where(path: tuple[str | int, ...], key: bool, place: str) -> None:
    """Tests that each key and value, or what is around it, is found in the text."""
    source = load_yaml(SCENARIO, "f.yaml")
    assert source.where(path, key=key) == f"f.yaml:{place}"


def test_light_path_reads_the_same() -> None:
    """Tests that reading without places gives the same data."""
    assert load_plain(SCENARIO, "f.yaml") == load_yaml(SCENARIO, "f.yaml").data


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e12", 1e12),
        ("1.0e+12", 1e12),
        ("12", 12),
        ("-3", -3),
        ("1_000", 1000),
        ("1.5", 1.5),
        (".5", 0.5),
        ("010", 10),
        ("true", True),
        ("False", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("yes", "yes"),
        ("no", "no"),
        ("NO", "NO"),
        ("on", "on"),
        ("Off", "Off"),
        ("y", "y"),
        ("12:30", "12:30"),
        ("2026-12-01", "2026-12-01"),
        ("2026-12-01T10:00:00Z", "2026-12-01T10:00:00Z"),
        ("0x1F", "0x1F"),
        ("0o17", "0o17"),
        (".inf", ".inf"),
        (".nan", ".nan"),
        ("1_", "1_"),
        ("1e", "1e"),
        ("-", [None]),
        ("+", "+"),
        (".", "."),
        ("=", "="),
        ("8 TB", "8 TB"),
        ("'12'", "12"),
        ('"true"', "true"),
        ("''", ""),
        ("|\n 12\n", "12\n"),
        ("[1, no]", [1, "no"]),
    ],
)
def test_scalars(text: str, value: Any) -> None:
    """Tests that scalars mean what they look like, against YAML 1.1's traps."""
    read = load_plain(f"a:\n {text}\n", "f.yaml")["a"]
    assert read == value
    assert type(read) is type(value)


@pytest.mark.parametrize(
    "key", ["no", "true", "12", "1e3", "2026-12-01", "null", "'~'"]
)
def test_keys_are_text(key: str) -> None:
    """Tests that keys stay as written."""
    assert list(load_plain(f"{key}: 1", "f.yaml")) == [key.strip("'")]


def test_duplicate_keys_are_all_told() -> None:
    """Tests that each repeated key is told with its place and that of the first."""
    text = "a: 1\nb: {c: 1, c: 2}\na: 2\n'a': 3\n"
    issues = issues_of(lambda: load_yaml(text, "f.yaml"))
    assert [(issue.code, issue.where, issue.path) for issue in issues] == [
        ("duplicate-key", "f.yaml:2:11", "b.c"),
        ("duplicate-key", "f.yaml:3:1", "a"),
        ("duplicate-key", "f.yaml:4:1", "a"),
    ]
    assert "line 1" in issues[1].message


@pytest.mark.parametrize(
    ("text", "code", "where", "words"),
    [
        ("", "wrong-type", "f.yaml:1:1", "nothing"),
        ("# only a comment", "wrong-type", "f.yaml:1:1", "nothing"),
        ("- a\n- b", "wrong-type", "f.yaml:1:1", "a list"),
        ("word", "wrong-type", "f.yaml:1:1", "a single value"),
        ("a:\n\t- b", "yaml-syntax", "f.yaml:2:1", "use spaces"),
        ("a: b\n c: d", "yaml-syntax", "f.yaml:2:3", "mapping values"),
        ("a: 'b", "yaml-syntax", None, "quoted scalar"),
        ("a: [1, 2", "yaml-syntax", None, "flow sequence"),
        ("a: *b", "yaml-syntax", "f.yaml:1:4", "alias"),
        ("a: 1\n---\nb: 1", "yaml-syntax", None, "more than one document"),
        ("a: !!int 3", "yaml-syntax", "f.yaml:1:4", "!!int"),
        ("a: !!python/object:os.system {}", "yaml-syntax", "f.yaml:1:4", "tags"),
        ("!x y: 1", "yaml-syntax", "f.yaml:1:1", "!x"),
        ("a: &b {c: 1}\nd:\n  <<: *b", "yaml-syntax", "f.yaml:3:3", "merge"),
        ("? [a, b]\n: 1", "yaml-syntax", "f.yaml:1:3", "a word"),
        ("a: \x00", "yaml-syntax", "f.yaml:1:4", "not"),
        ("a: 1e999", "out-of-range", "f.yaml:1:4", "too large"),
        ("a: " + "9" * 5000, "out-of-range", "f.yaml:1:4", "too large"),
    ],
)
def test_faults(text: str, code: str, where: str | None, words: str) -> None:
    """Tests that each fault is told with its place and in words."""
    issue = the_issue(text)
    assert issue.code == code
    assert words in issue.message
    if where is None:
        assert str(issue.where).startswith("f.yaml:")
    else:
        assert issue.where == where


@pytest.mark.parametrize(
    "text",
    [
        "a: " + "[" * 900 + "]" * 900,
        "{a: " * 900 + "}" * 900,
        "- " * 900,
        "a: &a [*a]",
        "\n".join(
            [
                "a0: &a0 [x, x, x, x, x, x, x, x, x]",
                *(
                    f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]"
                    for i in range(1, 9)
                ),
            ]
        ),
    ],
    ids=["lists", "mappings", "blocks", "itself", "bomb"],
)
def test_bombs_are_refused(text: str) -> None:
    """Tests that text made to exhaust the reader is refused at once."""
    assert the_issue(text).code == "yaml-too-complex"


def test_very_deep_text_is_refused() -> None:
    """Tests that nesting past what any parser takes ends in an issue."""
    assert the_issue("[" * 100_000).code in ("yaml-too-complex", "yaml-syntax")


def test_too_many_values_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that the number of keys and values is limited."""
    monkeypatch.setattr(yaml_source, "MAX_NODES", 100)
    assert the_issue("a: [" + "1, " * 200 + "]").code == "yaml-too-complex"


def test_aliases_may_be_used_sensibly() -> None:
    """Tests that an alias stands for a copy of its anchor, told at the anchor."""
    source = load_yaml("a: &x {b: 1}\nc: *x\n", "f.yaml")
    assert source.data == {"a": {"b": 1}, "c": {"b": 1}}
    assert source.data["a"] is not source.data["c"]
    assert source.where(("c", "b")) == "f.yaml:1:11"


def test_file(tmp_path: Path) -> None:
    """Tests that a file is read, with or without a byte order mark."""
    path = tmp_path / "a.yaml"
    path.write_bytes(b"\xef\xbb\xbfname: caf\xc3\xa9\r\n")
    source = load_yaml_file(path)
    assert source.data == {"name": "caf\u00e9"}
    assert source.where(("name",)) == f"{path}:1:7"
    assert load_yaml_file(path, "short").name == "short"


def test_file_faults(tmp_path: Path) -> None:
    """Tests that a file that cannot be read is told by code, not by traceback."""
    big, latin, good = (tmp_path / f"{name}.yaml" for name in ("big", "latin", "good"))
    big.write_bytes(b"a: " + b"x" * 4_000_000)
    latin.write_bytes(b"name: caf\xe9")
    good.write_text("a: 1")
    expected = {
        big: "file-too-large",
        latin: "not-utf8",
        tmp_path: "file-unreadable",
        tmp_path / "goood.yaml": "file-not-found",
        tmp_path / "no" / "such.yaml": "file-not-found",
        Path("nul\0.yaml"): "file-unreadable",
    }
    found = {path: issues_of(lambda p=path: load_yaml_file(p)) for path in expected}
    assert {path: issues[0].code for path, issues in found.items()} == expected
    assert found[tmp_path / "goood.yaml"][0].hint == str(good)


def test_large_or_odd_text_is_refused() -> None:
    """Tests that text that no file could hold is refused as a file would be."""
    assert the_issue("x" * 4_000_001).code == "file-too-large"
    assert the_issue("a: \ud800").code in ("not-utf8", "yaml-syntax")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ((), ""),
        (("a",), "a"),
        (("constraints", "gpus", "types", 0), "constraints.gpus.types[0]"),
        (("offers", 2, "name"), "offers[2].name"),
        ((0, "a"), "[0].a"),
    ],
)
def test_dotted(path: tuple[str | int, ...], text: str) -> None:
    """Tests that a path is written as in the documentation."""
    assert dotted(path) == text


scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(10**12), 10**12)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8", exclude_categories=["C"]), max_size=8)
)
documents = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.from_regex(r"\A[a-z_]{1,6}\Z"), inner, max_size=3)
    ),
    max_leaves=12,
)


class Quoting(yaml.SafeDumper):
    """Writes every string in quotes: PyYAML and we differ in which need them."""


Quoting.add_representer(
    str,
    lambda dumper, text: dumper.represent_scalar(
        "tag:yaml.org,2002:str", text, style='"'
    ),
)


@given(st.dictionaries(st.from_regex(r"\A[a-z]{1,6}\Z"), documents, max_size=4))
def test_what_is_written_is_read(data: dict[str, Any]) -> None:
    """Tests that data written as YAML comes back, each part with its place."""
    text = yaml.dump(data, Dumper=Quoting, allow_unicode=True)
    source = load_yaml(text, "f.yaml")
    assert source.data == data
    assert load_plain(text, "f.yaml") == data
    lines = text.splitlines()
    for path, (line, column) in source.key_marks.items():
        assert lines[line - 1][column - 1 :].lstrip("?'\" ").startswith(str(path[-1]))


@given(st.text(max_size=60) | st.text("ab:-[]{}&*!|>'\"#%@`,? \n\t0.1e", max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    """Tests that no text whatever ends in anything but data or an input error."""
    try:
        load_yaml(text, "f.yaml")
    except InputError as error:
        assert all(str(issue.where).startswith("f.yaml") for issue in error.issues)


@pytest.mark.parametrize(
    ("text", "code", "where"),
    [
        ("a: 1\nb: \x1b[31m\n", "yaml-syntax", "f.yaml:2:4"),
        ("a:\n  b: " + "[" * 70 + "]" * 70, "yaml-too-complex", "f.yaml:2:63"),
        ("a: 1\nb: &x [*x]", "yaml-too-complex", "f.yaml:2:4"),
    ],
)
def test_limits_are_told_where_they_are_passed(
    text: str, code: str, where: str
) -> None:
    """Tests that control characters, depth and endless aliases have a place."""
    issue = the_issue(text)
    assert (issue.code, issue.where) == (code, where)


@pytest.mark.parametrize(
    ("content", "place"), [(b"a: 1\nb: \xe4", "2:4"), (b"\xef\xbb\xbfa: \xff", "1:4")]
)
def test_a_byte_that_is_no_utf8_has_a_place(
    tmp_path: Path, content: bytes, place: str
) -> None:
    """Tests that the first such byte is pointed at."""
    path = tmp_path / "f.yaml"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        load_yaml_file(path, "f.yaml")
    assert caught.value.issues[0].where == f"f.yaml:{place}"
