"""Tests of the charts of a page: geometry, colours of the page, and words as text."""

import re
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

pytest.importorskip("matplotlib")

from solver.messages import sentence
from solver.report.charts import WIDTH, Bar, bars, drawn, ink
from solver.report.charts_map import Place, world_map
from solver.report.figures import Section
from solver.report.html_charts import memory_chart, share_chart, step_chart
from solver.report.palette import LIGHT
from solver.report.plan_rows import plan_sections
from tests.report.examples import PLAN

SVG = "{http://www.w3.org/2000/svg}"


def sections() -> dict[str, Section]:
    """The sections of the example plan by id."""
    return {section.id: section for section in plan_sections(PLAN)}


def boxes(svg: str) -> list[tuple[str, float, float]]:
    """The filled rectangles of a chart: colour, left and width."""
    found = []
    for path in ET.fromstring(svg).iter(f"{SVG}path"):
        colour = re.search(r"fill: var\(--(\w+)\)", path.get("style", ""))
        if colour is not None:
            numbers = [float(n) for n in re.findall(r"-?[\d.]+", path.get("d", ""))]
            across = numbers[::2]
            found.append((colour[1], min(across), max(across) - min(across)))
    return found


def words(svg: str) -> list[str]:
    """The texts of a chart."""
    return [str(text.text) for text in ET.fromstring(svg).iter(f"{SVG}text")]


def test_bars_begin_and_end_where_they_should() -> None:
    """Tests a bar's place and length in pixels, on its pale ground."""
    svg = bars("k", "t", "d", [Bar("a", "1", 0.25, 0.75, "c3")])
    assert boxes(svg) == [("free", 0, WIDTH), ("c3", WIDTH / 4, WIDTH / 2)]


@pytest.mark.parametrize("end", [0.0, 1.0])
def test_a_bar_of_nothing_can_be_seen(end: float) -> None:
    """Tests that the least part is a line within the chart."""
    _, (_, left, width) = boxes(bars("k", "t", "d", [Bar("a", "0", end, end)]))
    assert width > 1
    assert left >= 0
    assert left + width <= WIDTH


def test_words_stay_text() -> None:
    """Tests that dollars are no formula, Chinese no boxes and markup no markup."""
    shown = ["$5 to $6", "存储", "<b>&amp;"]
    svg = bars("k", "t", "d", [Bar(word, "v", 0, 1) for word in shown])
    assert words(svg)[::2] == shown
    assert "<b>" not in svg


def test_colours_are_the_page_s() -> None:
    """Tests that no colour of matplotlib's is left in a chart."""
    svg = bars("k", "t", "d", [Bar("a", "1", 0, 1, "c1", (0.8, 0.9))])
    assert not re.search(r"#[0-9a-f]{6}\b", svg)
    assert set(re.findall(r"var\(--(\w+)\)", svg)) <= LIGHT.keys()


def test_every_colour_has_an_ink_of_its_own() -> None:
    """Tests that two colours are never taken for each other."""
    assert len({ink(name) for name in LIGHT}) == len(LIGHT)


def test_charts_of_a_page_have_ids_of_their_own() -> None:
    """Tests that what one chart refers to is in itself."""

    def draw(figure: object) -> None:
        axes = figure.add_axes((0, 0, 1, 1))  # type: ignore[attr-defined]
        axes.plot([0, 1], [0, 1], "o", color=ink("c0"))

    first, second = (drawn(key, "t", "d", (99, 99), draw) for key in ("a", "b"))
    ids = [set(re.findall(r'id="([^"]+)"', svg)) for svg in (first, second)]
    assert ids[0].isdisjoint(ids[1])
    for svg, own in zip((first, second), ids, strict=True):
        used = set(re.findall(r'(?:href="|url\()#([\w-]+)', svg))
        assert used
        assert used <= own


def test_a_chart_is_the_same_each_time() -> None:
    """Tests that nothing of the moment is in it."""
    rows = [Bar("a", "1", 0, 1)]
    assert bars("k", "t", "d", rows) == bars("k", "t", "d", rows)


def test_title_and_description_are_first() -> None:
    """Tests what those hear who do not see the chart."""
    root = ET.fromstring(bars("k", "Cost <1>", "Of all & sundry.", []))
    assert [child.text for child in root[:2]] == ["Cost <1>", "Of all & sundry."]
    assert root.get("aria-labelledby") == "k-title k-desc"
    assert root.get("role") == "img"
    assert root.get("width") is None


def test_parts_of_the_cost_add_up() -> None:
    """Tests that each bar begins where the one before ends, to the end of the chart."""
    parts = [usd for usd in PLAN.cost_parts_usd.values() if usd]
    chart = share_chart(sections()["section.cost"], parts, "$1")
    found = [box for box in boxes(chart.svg) if box[0] != "free"]
    assert len(found) == len(parts)
    for (_, left, width), part in zip(found, parts, strict=True):
        assert width == pytest.approx(max(part / sum(parts) * WIDTH, 1.5), abs=0.01)
        assert left >= 0
    _, left, width = found[-1]
    assert left + width == pytest.approx(WIDTH, abs=0.01)


def test_memory_is_held_against_the_card() -> None:
    """Tests that used and free memory fill the card's bar, in their shares."""
    memory = PLAN.memory_gib
    chart = memory_chart(sections()["section.memory"], memory)
    names = [k for k in memory if k not in ("total", "capacity")]
    stack = boxes(chart.svg)[: len(names) + 1]
    for name, (_, _, width) in zip(names, stack, strict=False):
        share = memory[name] / memory["capacity"]
        assert width == pytest.approx(share * WIDTH, abs=0.01)
    assert stack[-1][0] == "line"
    free = 1 - memory["total"] / memory["capacity"]
    assert stack[-1][2] == pytest.approx(free * WIDTH, abs=0.01)
    assert chart.note == "64.00 GiB of 79.10 GiB used, 15.10 GiB free."
    assert sentence("html.free") in words(chart.svg)


def test_a_step_has_its_interval() -> None:
    """Tests that eight of ten steps are drawn around the total, and told."""
    plan = replace(PLAN, step_time_p10_s=20.0, step_time_p90_s=43.0)
    section = next(s for s in plan_sections(plan) if s.id == "section.step")
    chart = step_chart(section, plan)
    assert "eight of ten measured steps would take 20.0–43.0 s" in chart.note
    colour, left, width = boxes(chart.svg)[-1]
    assert (colour, left) == ("c6", 0)
    assert width == pytest.approx(WIDTH / 2, abs=0.01)
    lines = re.findall(r'd="M ([\d.]+) [\d.]+  L ([\d.]+) [\d.]+  "', chart.svg)
    ends = [(float(low), float(high)) for low, high in lines]
    assert (pytest.approx(20 / 43 * WIDTH, abs=0.01), WIDTH) in ends


def test_a_step_without_interval_is_told_so() -> None:
    """Tests that no interval is drawn where none is known."""
    chart = step_chart(sections()["section.step"], PLAN)
    assert "eight of ten" not in chart.note
    assert "21.5" in chart.note
    assert "L" not in "".join(re.findall(r'd="(M [^z"]+)"', chart.svg))


def test_tables_behind_charts_are_those_of_the_terminal() -> None:
    """Tests that chart and terminal cannot differ."""
    section = sections()["section.memory"]
    (table,) = memory_chart(section, PLAN.memory_gib).tables
    assert [row[:2] for row in table.rows] == [(r.label, r.value) for r in section.rows]
    assert table.title == section.title


def test_places_lie_where_they_are() -> None:
    """Tests the map at its middle and that the best place is drawn last."""
    places = [Place(0.0, 11.5, "best"), Place(90.0, 11.5, "none")]
    svg = world_map("m", "t", "d", places)
    used = re.findall(r'<use xlink:href="[^"]+" x="([\d.]+)" y="([\d.]+)"', svg)
    spots = [(float(x), float(y)) for x, y in used]
    assert spots[-1] == pytest.approx((360, 150), abs=0.5)
    assert spots[0] == pytest.approx((540, 150), abs=0.5)


def test_the_land_has_a_source() -> None:
    """Tests that the outline says where it comes from, and is whole."""
    from importlib.resources import files

    text = (files("solver.report") / "land_outline.csv").read_text("utf-8")
    assert "Natural Earth" in text
    assert "public domain" in text
    rows = [line.split(",") for line in text.splitlines() if line[0].isdigit()]
    assert len({row[0] for row in rows}) > 30
    assert all(-60 <= float(row[2]) <= 84 for row in rows)
