"""Tests that text can be read on every ground of both themes."""

import re
from importlib.resources import files

import pytest

from solver.report.palette import DARK, LIGHT, STAGES, TEXT_ON, contrast, variables

THEMES = {"light": LIGHT, "dark": DARK}
STYLE = (files("solver.report") / "templates" / "page.css.j2").read_text("utf-8")


@pytest.mark.parametrize(
    ("first", "second", "ratio"),
    [
        ("#000000", "#ffffff", 21.0),
        ("#ffffff", "#ffffff", 1.0),
        ("#777777", "#ffffff", 4.48),  # the grey that famously just fails
        ("#ff0000", "#ffffff", 4.0),
    ],
)
def test_contrast_is_that_of_the_guidelines(
    first: str, second: str, ratio: float
) -> None:
    """Tests ratios that the guidelines' own tools give, either way round."""
    assert contrast(first, second) == pytest.approx(ratio, abs=0.01)
    assert contrast(second, first) == contrast(first, second)


def test_themes_have_the_same_colours() -> None:
    """Tests that nothing that is drawn lacks a colour in one theme."""
    assert LIGHT.keys() == DARK.keys()
    for colours in THEMES.values():
        assert all(re.fullmatch("#[0-9a-f]{6}", value) for value in colours.values())


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize(("text", "ground"), TEXT_ON)
def test_text_has_contrast(theme: str, text: str, ground: str) -> None:
    """Tests the 4.5 to 1 that text of usual size needs."""
    colours = THEMES[theme]
    assert contrast(colours[text], colours[ground]) >= 4.5


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("bar", [f"c{number}" for number in range(7)])
def test_bars_stand_out(theme: str, bar: str) -> None:
    """Tests the 3 to 1 that shapes need against what they are drawn on."""
    colours = THEMES[theme]
    assert contrast(colours[bar], colours["surface"]) >= 3.0


def test_every_stage_has_a_colour_of_its_own() -> None:
    """Tests that stages which follow each other can be told apart."""
    for colours in THEMES.values():
        assert len({colours[f"s{number}"] for number in range(STAGES)}) == STAGES


def test_the_style_uses_known_colours_only() -> None:
    """Tests that no variable of the style sheet is left without a value."""
    used = set(re.findall(r"var\(--([\w-]+)\)", STYLE))
    assert used
    assert used <= LIGHT.keys()


def test_every_pair_of_the_style_is_tried() -> None:
    """Tests that text colours of the style sheet are among those with contrast."""
    texts = set(re.findall(r"(?<![\w-])color:var\(--([\w-]+)\)", STYLE))
    assert texts <= {text for text, _ in TEXT_ON}


def test_variables_are_css() -> None:
    """Tests the declarations that the page has."""
    assert (
        variables({"ink": "#000000", "s0": "#ffffff"}) == "--ink:#000000;--s0:#ffffff;"
    )


def test_the_style_is_for_paper_and_phones_too() -> None:
    """Tests that there are rules for print, for A4 and for narrow screens."""
    assert "@media print{" in STYLE
    assert "size:A4" in STYLE
    assert "@media screen and (max-width:" in STYLE
    assert "print-color-adjust:exact" in STYLE
    assert "http" not in STYLE
    assert "@import" not in STYLE


def test_the_style_is_balanced() -> None:
    """Tests that a brace that is missing does not swallow the rest."""
    assert STYLE.count("{") == STYLE.count("}")
