"""YAML text to plain data, with the line and column of every key and value.

The rules for plain scalars are fewer than YAML 1.1's, so that nothing is turned into
something its writer did not mean:

- ``true`` and ``false`` (also ``True``, ``TRUE``) are booleans; ``yes``, ``no``, ``on``
  and ``off`` are strings, so that a country may be ``NO``
- ``null``, ``~`` and nothing at all are None
- ``12``, ``1_000``, ``1.5`` and ``1e12`` are numbers; ``010`` is ten, as in YAML 1.2
- everything else is a string: dates, ``12:30``, ``0x1F``, ``.inf``
- keys are strings, always, spelled as written

Refused: duplicate keys, tags, merge keys, text that is too large or nested too deep,
and aliases that unfold into far more than was written. Every fault is an `InputError`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any

import yaml
from yaml.composer import ComposerError

from solver.errors import InputError, Issue, IssueLog, nearest

try:
    from yaml import CSafeLoader as _BaseLoader
except ImportError:  # PyYAML built without libyaml
    from yaml import SafeLoader as _BaseLoader  # type: ignore[assignment]

__all__ = ["DataPath", "Source", "dotted", "load_plain", "load_yaml", "load_yaml_file"]

DataPath = tuple[str | int, ...]
"""Keys and list positions from the top of the data down to a value."""

Mark = tuple[int, int]
"""Line and column, both from 1."""

MAX_BYTES = 4_000_000
MAX_NODES = 250_000
MAX_DEPTH = 60
MAX_ALIAS_NODES = 10_000

_PLAIN = "plain"
_TEXT = "tag:yaml.org,2002:str"
_COLLECTION = "collection"

_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_NUMBER_START = frozenset("0123456789+-.")
_INTEGER = re.compile(r"[-+]?[0-9]+(?:_[0-9]+)*")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")


@dataclass(frozen=True)
class Source:
    """The data of one YAML text and where each part of it stands.

    Parameters
    ----------
    name
        What to call the text in messages, usually the path as the user gave it.
    data
        The plain data: dicts, lists, strings, ints, floats, booleans and None.
    marks
        Line and column, from 1, of each value. A mapping or list that is the value of
        a key is where its key stands, since that is the line to look at.
    key_marks
        Line and column, from 1, of the key of each value that has one.
    """

    name: str
    data: dict[str, Any]
    marks: Mapping[DataPath, Mark]
    key_marks: Mapping[DataPath, Mark] = field(default_factory=dict)

    def where(self, path: DataPath, *, key: bool = False) -> str:
        """Return ``name:line:column`` of a value, or of the nearest thing around it.

        Parameters
        ----------
        path
            Path of the value; parts that do not exist are dropped from the end.
        key
            Point at the key rather than at its value, as for an unknown key.
        """
        if key and path in self.key_marks:
            line, column = self.key_marks[path]
            return f"{self.name}:{line}:{column}"
        for length in range(len(path), -1, -1):
            mark = self.marks.get(path[:length])
            if mark is not None:
                return f"{self.name}:{mark[0]}:{mark[1]}"
        return self.name


def dotted(path: DataPath) -> str:
    """Return a path as people write it: ``constraints.gpus.types[0]``."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f".{part}" if text else part
    return text


def load_yaml_file(path: str | Path, name: str | None = None) -> Source:
    """Return the data of a YAML file with the place of each part.

    Parameters
    ----------
    path
        The file: UTF-8, at most 4 MB.
    name
        What to call it in messages; the path by default.

    Raises
    ------
    InputError
        The file cannot be read, or as for `load_yaml`.
    """
    name = str(path) if name is None else name
    return load_yaml(_read(Path(path), name), name)


def load_yaml(text: str, name: str) -> Source:
    """Return the data of a YAML text with the place of each part.

    Raises
    ------
    InputError
        The text is not YAML, breaks a rule of this module, or is no mapping at its top.
    """
    marks: dict[DataPath, Mark] = {}
    key_marks: dict[DataPath, Mark] = {}
    data = _load(text, name, _MarkingBuilder(name, marks, key_marks))
    if not isinstance(data, dict):
        line, column = marks.get((), (1, 1))
        raise _refusal(
            "wrong-type",
            f"expected keys and their values at the top, not {_kind(data)}",
            f"{name}:{line}:{column}",
        )
    return Source(name, data, marks, key_marks)


def load_plain(text: str, name: str) -> Any:
    """Return only the data of a YAML text, whatever is at its top.

    Raises
    ------
    InputError
        The text is not YAML or breaks a rule of this module.
    """
    return _load(text, name, _Builder(name))


def _load(text: str, name: str, builder: "_Builder") -> Any:
    """Return the data of a text, built by the given builder."""
    # a character is at least a byte; the exact size of a file is checked on reading
    if len(text) > MAX_BYTES:
        raise _refusal("file-too-large", _TOO_LARGE, name)
    try:
        loader = _Loader(text)
        try:
            root = loader.get_single_node()
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        raise _syntax_error(error, text, name) from None
    except UnicodeError:
        raise _refusal("not-utf8", _NOT_UTF8, name) from None
    if root is None:
        return None
    builder.nodes_left = loader.nodes + MAX_ALIAS_NODES
    try:
        data = builder.build(root, ())
    except _UnfoldsTooFarError as error:
        message = "aliases unfold into more than this reader accepts"
        raise _refusal("yaml-too-complex", message, _at(name, error.mark)) from None
    builder.log.raise_if_any()
    return data


class _Loader(_BaseLoader):
    """Composes nodes, tagged only as plain, quoted or collection, within limits."""

    def __init__(self, stream: str) -> None:
        self.nodes = 0
        self.depth = 0
        super().__init__(stream)

    def resolve(self, kind: Any, value: Any, implicit: Any) -> str:
        """Return the tag of a node that has none of its own."""
        if kind is not yaml.ScalarNode:
            return _COLLECTION
        return _PLAIN if implicit[0] else _TEXT

    def descend_resolver(self, current_node: Any, current_index: Any) -> None:
        """Count a node that is about to be composed."""
        self.nodes += 1
        self.depth += 1
        if self.depth > MAX_DEPTH:
            reason = f"is nested deeper than {MAX_DEPTH} levels"
            raise _TooComplexError(reason, self._place(current_node))
        if self.nodes > MAX_NODES:
            reason = f"holds more than {MAX_NODES:,} keys and values"
            raise _TooComplexError(reason, self._place(current_node))

    @staticmethod
    def _place(parent: Any) -> Mark:
        """Return where the node starts that is being composed."""
        return (1, 1) if parent is None else _mark(parent)

    def ascend_resolver(self) -> None:
        """Count back the level of a node that has been composed."""
        self.depth -= 1


class _TooComplexError(yaml.YAMLError):
    """The text is past a limit of this module, reached at a place."""

    def __init__(self, reason: str, mark: Mark) -> None:
        super().__init__(reason)
        self.mark = mark


class _UnfoldsTooFarError(Exception):
    """Aliases make the data endless, or far larger than the text, at a place."""

    def __init__(self, mark: Mark) -> None:
        super().__init__()
        self.mark = mark


class _Builder:
    """Turns nodes into plain data and logs the faults it meets.

    Parameters
    ----------
    name
        What to call the text in messages.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.log = IssueLog()
        self.nodes_left = 0

    def build(self, node: yaml.Node, path: DataPath) -> Any:
        """Return the data of a node that stands at a path."""
        self.nodes_left -= 1
        if self.nodes_left < 0 or len(path) > MAX_DEPTH:
            raise _UnfoldsTooFarError(_mark(node))
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node, path)
        if node.tag != _COLLECTION:
            self._refuse_tag(node, path)
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path)
        return [
            self.build(item, (*path, position))
            for position, item in enumerate(node.value)
        ]

    def _scalar(self, node: yaml.ScalarNode, path: DataPath) -> Any:
        """Return the value of a scalar node."""
        text: str = node.value
        if node.tag == _PLAIN:
            try:
                return _plain_value(text)
            except (ValueError, OverflowError):
                self._add("out-of-range", "the number is too large", node, path)
        elif node.tag != _TEXT:
            self._refuse_tag(node, path)
        return text

    def _mapping(self, node: yaml.MappingNode, path: DataPath) -> dict[str, Any]:
        """Return the dict of a mapping node."""
        data: dict[str, Any] = {}
        lines: dict[str, int] = {}
        for key_node, value_node in node.value:
            key = self._key(key_node, path)
            if key is None:
                continue
            if key in data:
                message = f"the key is given twice, first in line {lines[key]}"
                self._add("duplicate-key", message, key_node, (*path, key))
                continue
            lines[key] = key_node.start_mark.line + 1
            data[key] = self._entry(key_node, value_node, (*path, key))
        return data

    def _key(self, node: yaml.Node, path: DataPath) -> str | None:
        """Return the text of a key, or None after logging why it is none."""
        if not isinstance(node, yaml.ScalarNode):
            message = "a key has to be a word or a number"
        elif node.tag not in (_PLAIN, _TEXT):
            self._refuse_tag(node, path)
            return None
        elif node.tag == _PLAIN and not node.value:
            message = "a key is missing before ':'"
        elif node.tag == _PLAIN and node.value == "<<":
            message = "merge keys (<<) are not supported; write the keys out"
        else:
            return str(node.value)
        self._add("yaml-syntax", message, node, path)
        return None

    def _entry(self, key_node: yaml.Node, node: yaml.Node, path: DataPath) -> Any:
        """Return the data of a key's value."""
        return self.build(node, path)

    def _refuse_tag(self, node: yaml.Node, path: DataPath) -> None:
        """Log that a node has a tag."""
        tag = str(node.tag).replace("tag:yaml.org,2002:", "!!")
        self._add("yaml-syntax", f"tags such as {tag} are not supported", node, path)

    def _add(self, code: str, message: str, node: yaml.Node, path: DataPath) -> None:
        """Log a fault of a node."""
        line, column = _mark(node)
        where = f"{self.name}:{line}:{column}"
        self.log.add(code, message, where, dotted(path) or None)


class _MarkingBuilder(_Builder):
    """A builder that also notes where each key and value stands.

    Parameters
    ----------
    name
        What to call the text in messages.
    marks, key_marks
        Filled by building, as described at `Source`.
    """

    def __init__(
        self,
        name: str,
        marks: dict[DataPath, Mark],
        key_marks: dict[DataPath, Mark],
    ) -> None:
        super().__init__(name)
        self.marks = marks
        self.key_marks = key_marks

    def build(self, node: yaml.Node, path: DataPath) -> Any:
        """Return the data of a node that stands at a path, and note the place."""
        if path not in self.marks:
            self.marks[path] = _mark(node)
        return super().build(node, path)

    def _entry(self, key_node: yaml.Node, node: yaml.Node, path: DataPath) -> Any:
        """Return the data of a key's value, and note the place of the key."""
        mark = _mark(key_node)
        self.key_marks[path] = mark
        if not isinstance(node, yaml.ScalarNode) or not node.value:
            self.marks[path] = mark
        return self.build(node, path)


def _plain_value(text: str) -> str | int | float | bool | None:
    """Return what an unquoted scalar means.

    Raises
    ------
    ValueError, OverflowError
        It is a number too large to hold.
    """
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _NUMBER_START:
        return text
    if _INTEGER.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text):
        number = float(text)
        if not isfinite(number):
            raise OverflowError(text)
        return number
    return text


def _mark(node: yaml.Node) -> Mark:
    """Return where a node starts."""
    mark = node.start_mark
    return mark.line + 1, mark.column + 1


def _kind(data: Any) -> str:
    """Return a word for data that is no mapping."""
    if data is None:
        return "nothing"
    if isinstance(data, list):
        return "a list"
    return "a single value"


_TOO_LARGE = f"the file is larger than {MAX_BYTES // 1_000_000} MB"
_NOT_UTF8 = "the file is not UTF-8 text"


def _refusal(
    code: str, message: str, where: str, hint: str | None = None
) -> InputError:
    """Return the error of a single fault."""
    return InputError([Issue(code, message, where, hint=hint)])


def _syntax_error(error: yaml.YAMLError, text: str, name: str) -> InputError:
    """Return the error for text that YAML's own reader refuses."""
    if isinstance(error, _TooComplexError):
        message = f"the file {error}"
        return _refusal("yaml-too-complex", message, _at(name, error.mark))
    if not isinstance(error, yaml.MarkedYAMLError):
        return _unacceptable_character(error, text, name)
    if isinstance(error, ComposerError) and "another document" in str(error.problem):
        message = "more than one document ('---') in the file"
    else:
        message = ", ".join(part for part in (error.problem, error.context) if part)
    mark = error.problem_mark or error.context_mark
    if mark is None:
        return _refusal("yaml-syntax", f"not YAML: {message}", name)
    lines = text.splitlines()
    line = lines[mark.line] if mark.line < len(lines) else ""
    if line[mark.column : mark.column + 1] == "\t":
        message = "a tab cannot indent a line; use spaces"
    where = f"{name}:{mark.line + 1}:{mark.column + 1}"
    return _refusal("yaml-syntax", f"not YAML: {message}", where)


_UNACCEPTABLE = re.compile(
    "[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
)
"""Characters that YAML does not allow (YAML 1.1, section 5.1)."""


def _unacceptable_character(error: yaml.YAMLError, text: str, name: str) -> InputError:
    """Return the error of a text with a character that YAML does not allow."""
    found = _UNACCEPTABLE.search(text)
    if found is None:
        reason = getattr(error, "reason", None) or "it holds unacceptable characters"
        return _refusal("yaml-syntax", f"not YAML: {reason}", name)
    before = text[: found.start()]
    mark = before.count("\n") + 1, found.start() - before.rfind("\n")
    message = f"not YAML: the character U+{ord(found[0]):04X} is not allowed"
    return _refusal("yaml-syntax", message, _at(name, mark))


def _at(name: str, mark: Mark) -> str:
    """Return a place in a text as messages have it."""
    return f"{name}:{mark[0]}:{mark[1]}"


def _read(path: Path, name: str) -> str:
    """Return the text of a file."""
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        hint = _similar_file(path)
        raise _refusal("file-not-found", "no such file", name, hint) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        message = f"the file cannot be read: {reason}"
        raise _refusal("file-unreadable", message, name) from None
    if len(content) > MAX_BYTES:
        raise _refusal("file-too-large", _TOO_LARGE, name)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError([not_utf8(error, name)]) from None


def not_utf8(error: UnicodeDecodeError, name: str) -> Issue:
    """Return the fault of a file whose bytes are no UTF-8, at the first such byte."""
    before = error.object[: error.start]
    line = before.count(b"\n") + 1
    start = before.rpartition(b"\n")[2].decode("utf-8", "replace")
    byte = error.object[error.start]
    message = f"{_NOT_UTF8}: byte 0x{byte:02x} has no meaning in it"
    return Issue("not-utf8", message, f"{name}:{line}:{len(start) + 1}")


def _similar_file(path: Path) -> str | None:
    """Return the YAML file beside a missing one whose name is most like it."""
    try:
        names = sorted(p.name for p in path.parent.iterdir() if p.suffix == ".yaml")
    except OSError:
        return None
    similar = nearest(path.name, names)
    return None if similar is None else str(path.with_name(similar))
