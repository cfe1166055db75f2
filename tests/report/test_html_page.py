"""Tests of how blocks become a page: words escaped, forms kept, nothing empty."""

from typing import Any

import pytest

from solver.languages import speaking
from solver.plan import PlanResult, Proof
from solver.report.figures import Grid, Row, Section
from solver.report.html_asked import asked_block, footer_text
from solver.report.html_blocks import (
    Block,
    Chart,
    Document,
    Drawing,
    Facts,
    Lines,
    Source,
    Table,
    block_of,
    blocks_of,
    table_of,
)
from solver.report.html_layout import drawing
from solver.report.html_page import document_as_html
from tests.report.examples import PLAN
from tests.report.html_reading import Element, faults_of, loaded, read_page

NASTY = "<script>alert('x')</script> & \"quoted\""

SVG = (
    '<svg role="img" aria-labelledby="c-title c-desc"><title id="c-title">t</title>'
    '<desc id="c-desc">d</desc></svg>'
)

GRID = Grid(
    "section.alternatives", ("kind", "plan", "cost"), (("a", "b", "$1"),), right=(2,)
)
ROWS = Section("section.cost", (Row("compute", "$1", note="note"),), numeric=True)
SAID = Section("section.warnings", (Row("", "Mind the gap."), Row("", "And this.")))


def document(*blocks: Block, **more: Any) -> Document:
    """A page of some blocks."""
    usual: dict[str, Any] = {
        "title": "t",
        "eyebrow": "about",
        "headline": "the decision",
        "tone": "good",
        "status": "proved",
        "facts": Facts(()),
        "footer": "made",
    }
    return Document(blocks=blocks, **{**usual, **more})


def page_of(*blocks: Block, **more: Any) -> Element:
    """The page of some blocks, read back; it has to be sound."""
    page = read_page(document_as_html(document(*blocks, **more)))
    assert faults_of(page) == []
    assert loaded(page) == []
    return page


EVERY_KIND: dict[str, Block] = {
    "table": Table("a", NASTY, (NASTY,), ((NASTY,),)),
    "headless": Table("a", NASTY, (), ((NASTY, NASTY),)),
    "lines": Lines("a", NASTY, (NASTY, NASTY)),
    "code": Lines("a", NASTY, (NASTY,), code=True),
    "source": Source("a", NASTY, NASTY),
    "chart": Chart(
        "a",
        NASTY,
        SVG,
        (Table("b", NASTY, (), ((NASTY,),)),),
        NASTY,
        ((NASTY, NASTY),),
    ),
    "drawing": Drawing(
        "a", NASTY, NASTY, drawing(PLAN).bands, (NASTY,), table_of(ROWS)
    ),
}


@pytest.mark.parametrize("kind", EVERY_KIND)
def test_no_word_is_markup(kind: str) -> None:
    """Tests every kind of block with markup in every word of it."""
    page = page_of(EVERY_KIND[kind])
    assert page.all("script") == []
    assert NASTY in page.by_id("a").text


@pytest.mark.parametrize("part", ["title", "eyebrow", "headline", "status", "footer"])
def test_no_word_of_the_frame_is_markup(part: str) -> None:
    """Tests the words around the blocks."""
    page = page_of(**{part: NASTY})
    assert page.all("script") == []
    assert NASTY in page.text


def test_key_figures_are_a_list() -> None:
    """Tests that each figure has its name and, where there is one, its note."""
    facts = Facts((Row("Cost", "$1", note=NASTY), Row("MFU", "40%")))
    page = page_of(facts=facts)
    (found,) = page.all("dl")
    assert [e.text for e in found.all("dt")] == ["Cost", "MFU"]
    assert [e.text for e in found.all("strong")] == ["$1", "40%"]
    assert [e.text for e in found.all("small")] == [NASTY]


def test_a_page_without_figures_has_no_empty_list() -> None:
    """Tests that nothing is left where there is nothing to show."""
    page = page_of(status="")
    assert page.all("dl") == []
    assert "status" not in [e.attributes.get("class", "") for e in page.all("p")]


def test_warnings_are_linked_from_the_top() -> None:
    """Tests that their number leads to them."""
    page = page_of(block_of(SAID, wide=True), notices="2 things")
    (link,) = page.all("header")[0].all("a")
    assert link.attributes["href"] == "#section-warnings"
    items = page.by_id("section-warnings").all("li")
    assert [item.text for item in items] == ["Mind the gap.", "And this."]


@pytest.mark.parametrize("tone", ["good", "warn", "bad"])
def test_the_status_is_not_told_by_colour_alone(tone: str) -> None:
    """Tests that each tone has a sign and words of its own."""
    page = page_of(tone=tone)
    status = next(
        e for e in page.all("p") if e.attributes.get("class") == f"status {tone}"
    )
    sign = {"good": "✓", "warn": "!", "bad": "×"}[tone]
    assert status.text == f"{sign} proved"


def test_a_grid_is_a_table_with_a_head() -> None:
    """Tests heads, names of rows and numbers on the right."""
    page = page_of(table_of(GRID))
    section = page.by_id("section-alternatives")
    assert section.rows() == [["kind", "plan", "cost"], ["a", "b", "$1"]]
    heads = section.all("th")
    assert [h.attributes["scope"] for h in heads] == ["col", "col", "col", "row"]
    right = [e.text for e in section.walk() if e.attributes.get("class") == "right"]
    assert right == ["cost", "$1"]


def test_notes_of_rows_follow_their_values() -> None:
    """Tests a section with labels."""
    assert table_of(ROWS).rows == (("compute", "$1 (note)"),)
    assert table_of(ROWS).right == (1,)


@pytest.mark.parametrize(
    ("rows", "first", "shown", "folded"),
    [(3, None, 3, 0), (8, 7, 8, 0), (9, 7, 7, 2), (30, 7, 7, 23)],
)
def test_long_tables_are_folded(
    rows: int, first: int | None, shown: int, folded: int
) -> None:
    """Tests that what is folded is counted, and that one row alone is not."""
    cells = tuple((f"row {number}",) for number in range(rows))
    page = page_of(Table("a", "t", ("h",), cells, first=first))
    tables = [len(table.rows()) - 1 for table in page.all("table")]
    assert tables == ([shown, folded] if folded else [shown])
    assert (f"{folded} more rows" in page.text) == bool(folded)


def test_the_best_row_stands_out() -> None:
    """Tests that its weight goes with words that say so."""
    page = page_of(Table("a", "t", ("h",), (("best",), ("other",)), strong=(0,)))
    strong = [e.text for e in page.all("tr") if e.attributes.get("class") == "strong"]
    assert strong == ["best"]


def test_wide_tables_of_a_chart_are_open() -> None:
    """Tests that a table that is to be read is not behind its chart."""
    narrow, wide = (
        Chart("a", "t", SVG, (Table("b", "t", (), (("x",),), wide=w),))
        for w in (False, True)
    )
    assert len(page_of(narrow).all("details")) == 1
    assert page_of(wide).all("details") == []


def test_blocks_keep_their_order_in_runs() -> None:
    """Tests that blocks of one form side by side are placed together."""
    chart = Chart("c", "t", SVG, (table_of(ROWS),))
    wide = block_of(SAID, wide=True)
    found = document(chart, table_of(GRID), wide, table_of(ROWS), chart).runs
    assert [form for form, _ in found] == ["pairs", "wide", "columns", "pairs"]
    assert [len(run) for _, run in found] == [2, 1, 1, 1]


def test_only_tables_of_many_columns_are_wide() -> None:
    """Tests that what is to be typed is code, and small tables share a line."""
    small = Grid("section.counts", ("a", "b"), (("x", "1"),))
    typed = Section("section.try", (Row("", "--set a=1"),))
    first, second, third = blocks_of((GRID, small, typed))
    assert [first.wide, second.wide, third.wide] == [True, False, False]
    assert isinstance(third, Lines)
    assert third.code


def result_of(request: dict[str, Any] | None) -> PlanResult:
    """An answer to a question."""
    proof = Proof(None, None, 0, 0, 0.0)
    versions = {"gpuplan": "1.2", "numpy": "2.0"}
    return PlanResult(
        "unknown", "cost", None, (), proof, None, versions, request=request
    )


def test_the_question_is_kept() -> None:
    """Tests that the scenario as asked, its day and its catalog are on the page."""
    request = {"scenario": {"name": "ä"}, "day": "2026-12-01"}
    result = result_of({**request, "catalog": {"digest": "abc", "folders": []}})
    (block,) = asked_block(result)
    assert block.text == '{\n  "name": "ä"\n}'
    told = footer_text(result)
    assert "2026-12-01" in told
    assert "abc" in told
    assert told.endswith("gpuplan 1.2, numpy 2.0.")


def test_without_a_question_only_versions_are_told() -> None:
    """Tests an answer that was made without one."""
    assert asked_block(result_of(None)) == ()
    assert footer_text(result_of(None)) == "gpuplan 1.2, numpy 2.0"


def test_the_page_names_its_language() -> None:
    """Tests that readers aloud know what they read."""
    with speaking("zh"):
        page = page_of(block_of(SAID))
    assert page.all("html")[0].attributes["lang"] == "zh"
    assert page_of().all("html")[0].attributes["lang"] == "en"
