"""Tests of choosing a language."""

import pytest

from solver.errors import InputError
from solver.languages import chosen, language, speaking, use_language


def test_english_is_spoken_unless_another_is_chosen() -> None:
    """Tests that the locale of the computer has no say."""
    assert language() == "en"
    assert chosen(None, {"LANG": "zh_CN.UTF-8", "LC_ALL": "zh_CN.UTF-8"}) == "en"


def test_the_option_goes_before_the_variable() -> None:
    """Tests who decides where both are given, and that an empty one does not."""
    assert chosen(None, {"GPUPLAN_LANG": "zh"}) == "zh"
    assert chosen("en", {"GPUPLAN_LANG": "zh"}) == "en"
    assert chosen(None, {"GPUPLAN_LANG": ""}) == "en"


@pytest.mark.parametrize(
    ("asked", "hint"),
    [
        ("zh-CN", "zh"),
        ("zh_CN", "zh"),
        ("chinese", "zh"),
        ("ZH", "zh"),
        ("English", "en"),
        ("en_US", "en"),
        ("zz9", None),
    ],
)
def test_a_wrong_language_is_refused(asked: str, hint: str | None) -> None:
    """Tests that the error names the languages and the one that was meant."""
    with pytest.raises(InputError) as told:
        chosen(asked, {})
    (issue,) = told.value.issues
    assert issue.where == "--lang"
    assert "en (English) or zh (Chinese)" in issue.message
    assert issue.hint == hint


def test_a_wrong_variable_is_told_under_its_name() -> None:
    """Tests that the user knows which of the two is wrong."""
    with pytest.raises(InputError) as told:
        chosen(None, {"GPUPLAN_LANG": "french"})
    assert told.value.issues[0].where == "GPUPLAN_LANG"


def test_a_language_is_spoken_for_a_while() -> None:
    """Tests that the language before comes back, also after an error."""
    with speaking("zh"):
        assert language() == "zh"
        with pytest.raises(InputError), speaking("en"):
            chosen("fr", {})
        assert language() == "zh"
    assert language() == "en"


def test_an_unknown_language_cannot_be_spoken() -> None:
    """Tests that a mistake of ours is noticed where it is made."""
    with pytest.raises(ValueError, match="fr"):
        use_language("fr")
    assert language() == "en"
