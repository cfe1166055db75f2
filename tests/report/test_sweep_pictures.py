"""Tests of a sweep's pictures, its HTML page and its Parquet file."""

from __future__ import annotations

import json
import math
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from solver.errors import InputError
from solver.report.sweep_plot import KINDS, chosen_axes, draw_results
from solver.sweeps.results import results_of
from tests.cli.running import run, run_process
from tests.sweeps.examples import written
from tests.sweeps.test_summary import GRID, answer, results


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the results of the toy sweep."""
    folder = tmp_path_factory.mktemp("sweep")
    place = folder / "results.db"
    words = ("--out", place, "--workers", "1")
    assert run_process("sweep", "run", written(folder), *words).status == 0
    return place


def test_axes_are_chosen_by_name() -> None:
    """Tests that keys and their last words name axes, and wrong ones are told."""
    assert [d.name for d in chosen_axes(GRID, "heatmap", ())] == ["deadline", "price"]
    assert [d.name for d in chosen_axes(GRID, "lines", ("price", None))] == [
        "price",
        "deadline",
    ]
    with pytest.raises(InputError, match="did you mean 'price'"):
        chosen_axes(GRID, "lines", ("prise",))
    one = results([answer(0, 1.0, size=1), answer(1, 2.0, size=2)], ["size"])
    assert len(chosen_axes(one, "lines", ())) == 1
    with pytest.raises(InputError, match="needs 2 axes"):
        chosen_axes(one, "heatmap", ())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ending", ["png", "svg"])
def test_each_kind_is_drawn(kind: Any, ending: str, tmp_path: Path) -> None:
    """Tests that a file of the right format comes out, with the axes named."""
    pytest.importorskip("matplotlib")
    path = tmp_path / f"picture.{ending}"
    draw_results(GRID, path, kind, chosen_axes(GRID, kind, ()))
    content = path.read_bytes()
    if ending == "png":
        assert content.startswith(b"\x89PNG")
    else:
        assert b"deadline" in content
        assert b"<svg" in content


def test_a_heat_map_shows_the_best_of_each_pair() -> None:
    """Tests the figures in the cells, and that a pair without a plan says so."""
    pytest.importorskip("matplotlib")
    from solver.report.sweep_plot import _figure

    figure = _figure(GRID, "heatmap", chosen_axes(GRID, "heatmap", ()))
    canvas = figure.axes[0]
    cells = canvas.images[0].get_array().filled(math.nan).tolist()
    assert cells[0] == [100.0, 150.0]  # price 1
    assert cells[1][0] == 200.0
    assert math.isnan(cells[1][1])
    assert [text.get_text() for text in canvas.texts] == [
        "100",
        "150",
        "200",
        "no plan",
    ]


def test_a_tornado_moves_one_axis_alone() -> None:
    """Tests that bars go from least to largest, from the point in the middle."""
    pytest.importorskip("matplotlib")
    from solver.report.sweep_plot import _figure

    figure = _figure(GRID, "tornado", chosen_axes(GRID, "tornado", ()))
    bars = [(p.get_x(), p.get_x() + p.get_width()) for p in figure.axes[0].patches]
    # the median is 150: 5 days at price 1; at price 2 there is no plan
    assert bars == [(150.0, 150.0), (100.0, 150.0)]


def test_nothing_to_draw_is_no_fault(tmp_path: Path) -> None:
    """Tests pictures of results without any plan."""
    pytest.importorskip("matplotlib")
    none = results([answer(0, None, a=1, b=1), answer(1, None, a=2, b=1)], ["a", "b"])
    for kind in KINDS:
        draw_results(none, tmp_path / f"{kind}.svg", kind, chosen_axes(none, kind, ()))
        assert (tmp_path / f"{kind}.svg").stat().st_size > 1_000


class Links(HTMLParser):
    """Collects what a page loads, and its tags."""

    def __init__(self) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a tag, and what it loads."""
        self.tags.append(tag)
        self.loaded += [
            str(value)
            for key, value in attrs
            if key in ("src", "href", "xlink:href")
            and not str(value).startswith(("#", "data:"))
        ]


def test_the_html_page_needs_nothing_else(
    answered: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tests that pictures are inside and nothing is loaded from elsewhere."""
    pytest.importorskip("matplotlib")
    page = tmp_path / "page.html"
    ran = run(capsys, "sweep", "show", answered, "--html", page)
    assert (ran.status, ran.err) == (0, "")
    text = page.read_text(encoding="utf-8")
    found = Links()
    found.feed(text)
    assert found.loaded == []
    assert found.tags.count("svg") == len(KINDS)
    assert "script" not in found.tags
    for part in ("toy sweep", "The best of each value", "Where there is no plan"):
        assert part in text


def test_names_in_a_page_are_text() -> None:
    """Tests that a name is never taken for markup."""
    pytest.importorskip("matplotlib")
    from solver.report.html_page import document_as_html
    from solver.report.html_tables import results_document

    meta = {"name": "<script>x</script>", "groups": '[["<b>"]]', "points": "1"}
    found = results_of(meta, [answer(0, 5.0, **{"<b>": "<i>"})])
    text = document_as_html(results_document(found, 5))
    assert "<script>" not in text
    assert "<i>" not in text


def test_parquet_has_every_point(
    answered: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tests that all rows come back with their types and whole plans."""
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "r.parquet"
    ran = run(capsys, "sweep", "show", answered, "--parquet", path, "--json")
    table = parquet.read_table(path)
    assert table.num_rows == len(ran.data["rows"]) == 12
    for row, shown in zip(table.to_pylist(), ran.data["rows"], strict=True):
        assert row["cost_usd"] == shown["cost_usd"]
        assert row["constraints.deadline"] == shown["inputs"]["constraints.deadline"]
        assert row["gpus"] == shown["gpus"]
        plan = row["plan"] and json.loads(row["plan"])
        assert (plan and plan["cost_usd"]) == shown["cost_usd"]


def test_wrong_pictures_are_refused_first(
    answered: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tests that a wrong kind, axis or file is told with exit status 2."""
    pytest.importorskip("matplotlib")
    picture = tmp_path / "p.svg"
    for words, told in (
        (("--plot", picture, "--kind", "linse"), "did you mean 'lines'"),
        (("--plot", picture, "--x", "deadlin"), "deadline"),
        (("--plot", tmp_path / "p.xyz"), ".png, .svg"),
        (("--plot", tmp_path / "no" / "p.svg"), "no folder"),
    ):
        ran = run(capsys, "sweep", "show", answered, *words)
        assert (ran.status, told in ran.err) == (2, True), ran.err
    assert not picture.exists()
