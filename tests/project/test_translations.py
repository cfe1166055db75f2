"""Tests that every translation says all that the English texts say."""

import re
from importlib import import_module
from string import Formatter

import pytest

from solver.languages import ENGLISH, LANGUAGES, speaking
from solver.messages import MESSAGES, sentence
from tests.project.source import python_files

TRANSLATIONS = {
    code: import_module(f"solver.messages.{code}").MESSAGES
    for code in LANGUAGES
    if code != ENGLISH
}
SAME = re.compile(
    r"(?:\{[^{}]*\}|GPUDirect|GPU|id|TP|PP|CP|EP|ETP|DP|ZeRO|MFU|PUE|p90|CO2|nanotron|GB/s"
    r"|MWh|t\b|gpuplan solve SCENARIO --catalog|--set model=|[ ×=+–\n]|vCPU)*"
)
"""Texts that are made of figures and of names that both languages use."""

WIDE = re.compile(r"[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]")


def fields(text: str) -> dict[str, set[str]]:
    """Return the fields of a text with their formats; plurals have none."""
    found: dict[str, set[str]] = {}
    for _, name, spec, _ in Formatter().parse(text):
        if name is not None:
            formats = found.setdefault(name, set())
            if spec and "|" not in spec:
                formats.add(spec)
    return found


@pytest.fixture(params=sorted(TRANSLATIONS))
def code(request: pytest.FixtureRequest) -> str:
    """Each language but English."""
    return str(request.param)


def test_every_message_is_translated(code: str) -> None:
    """Tests that no text is missing and none is left of what is no more."""
    texts = TRANSLATIONS[code]
    assert sorted(MESSAGES.keys() - texts.keys()) == []
    assert sorted(texts.keys() - MESSAGES.keys()) == []


def test_modules_are_twins(code: str) -> None:
    """Tests that a text is found in the file of its English one."""
    names = [path.stem for path in python_files("solver/messages")]
    english = {name.removeprefix("en") for name in names if name.startswith("en")}
    twins = {name.removeprefix(code) for name in names if name.startswith(code)}
    assert len(english) > 10
    assert english == twins


def test_fields_are_the_same(code: str) -> None:
    """Tests that a translation shows the same figures, in the same formats."""
    odd = {
        id_: (fields(MESSAGES[id_]), fields(text))
        for id_, text in TRANSLATIONS[code].items()
        if fields(text).keys() != fields(MESSAGES[id_]).keys()
        or any(
            formats - fields(MESSAGES[id_])[name]
            and not ("|" in MESSAGES[id_] and formats == {","})
            for name, formats in fields(text).items()
        )
    }
    assert odd == {}


def test_nothing_was_left_in_english(code: str) -> None:
    """Tests that only names and figures are the same in both languages."""
    same = [
        id_
        for id_, text in TRANSLATIONS[code].items()
        if text == MESSAGES[id_] and not SAME.fullmatch(text)
    ]
    assert same == []


def test_chinese_is_punctuated_as_such() -> None:
    """Tests that no English point, comma or colon stands in a Chinese sentence."""
    ascii_mark = re.compile(
        rf"{WIDE.pattern}\s?[,;:.!?()]|[,;:.!]\s?{WIDE.pattern}|\.$"
    )
    odd = [
        id_
        for id_, text in TRANSLATIONS["zh"].items()
        if ascii_mark.search(words_of(text))
    ]
    assert odd == []


def words_of(text: str) -> str:
    """Return a text with its fields, and marks that it speaks of, taken for a word."""
    return re.sub(r"\{[^{}]*\}|\([?!]\)| ; |\.[a-z]+", "X", text)


def test_lines_of_their_own_end_as_the_english_do(code: str) -> None:
    """Tests that a sentence ends with a full stop where the English one does."""
    odd = [
        id_
        for id_, text in TRANSLATIONS[code].items()
        if MESSAGES[id_].endswith(".") != text.endswith(("。", "."))
    ]
    assert odd == []


def test_texts_can_be_formatted(code: str) -> None:
    """Tests that each text takes the figures that the English one takes."""
    for id_, text in MESSAGES.items():
        values: dict[str, object] = {}
        for name, formats in fields(text).items():
            numeric = formats or re.search(rf"\{{{name}:[^}}]*\|", text)
            values[name] = 2 if numeric else "abc"
        with speaking(code):
            shown = sentence(id_, **values)
        assert "{" not in shown.replace("{max:", "")
        for name, value in values.items():
            assert not isinstance(value, str) or value in shown, (id_, name)
