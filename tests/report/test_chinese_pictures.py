"""Tests of pictures with Chinese labels, with and without a font for them."""

import warnings
from pathlib import Path

import pytest

from solver.languages import speaking
from solver.report import pictures
from solver.report.sweep_plot import chosen_axes, draw_results, results_as_svg
from tests.cli.running import run
from tests.sweeps.test_summary import GRID

pytest.importorskip("matplotlib")


def svg_in(code: str) -> str:
    """Return a picture whose text stays text, with warnings as errors."""
    import matplotlib as mpl

    text_stays = mpl.rc_context({"svg.fonttype": "none"})
    with speaking(code), text_stays, warnings.catch_warnings():
        warnings.simplefilter("error")
        return results_as_svg(GRID, "lines", chosen_axes(GRID, "lines", ()))


def test_labels_are_chinese_where_a_font_has_the_letters() -> None:
    """Tests that no glyph is missing, which matplotlib would warn of."""
    with speaking("zh"):
        if not pictures.has_letters():
            pytest.skip("no font with Chinese letters is installed")
    assert "最低成本" in svg_in("zh")
    assert "least cost" in svg_in("en")


def test_labels_are_english_where_no_font_has_the_letters(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Tests that no empty boxes are drawn, and that the language is kept."""
    monkeypatch.setattr(pictures, "_fonts", lambda _: ())
    assert "least cost" in svg_in("zh")
    with speaking("zh"):
        assert not pictures.has_letters()
    assert pictures.has_letters()


def test_the_command_says_that_letters_are_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests that the page is Chinese all the same."""
    monkeypatch.setattr(pictures, "_fonts", lambda _: ())
    picture = tmp_path / "frontier.svg"
    words = ("pareto", "quickstart-7b", "--plot", str(picture))
    ran = run(capsys, *words, "--lang", "zh")
    assert ran.status == 0
    assert "帕累托前沿" in ran.out
    assert "no font here has the letters of 'zh'" in ran.err
    assert picture.exists()


@pytest.mark.parametrize("ending", ["png", "pdf"])
def test_other_formats_are_drawn(ending: str, tmp_path: Path) -> None:
    """Tests that a font of any kind can be put into the file."""
    path = tmp_path / f"picture.{ending}"
    with speaking("zh"), warnings.catch_warnings():
        warnings.simplefilter("error")
        draw_results(GRID, path, "heatmap", chosen_axes(GRID, "heatmap", ()))
    assert path.stat().st_size > 1000
