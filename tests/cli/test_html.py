"""Tests of the pages that `--html` writes, read back as a browser reads them."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from solver.plan import Plan
from solver.report.figures import duration_text, gpu_name, percent
from solver.units import format_usd
from tests.cli.running import Ran, run
from tests.cli.test_phases import TEXT as PHASES
from tests.report.html_reading import Element, faults_of, loaded, read_page

pytest.importorskip("matplotlib")

PIPELINED = """\
name: <script>alert("x & y")</script>
model: llama-2-70b
workload: {tokens: 1B, sequence_length: 4096, global_batch_size: 64}
constraints: {deadline: 90 days, parallelism: {tp: 8, pp: 2}}
offers:
  - {name: "<b>mine", gpu: h100-sxm-80gb, gpus_per_node: 8, max_nodes: 16,
     network: {gbps_per_node: 3200, kind: infiniband}, usd_per_gpu_hour: 2, region: sg}
  - {name: other, gpu: h100-sxm-80gb, gpus_per_node: 8, max_nodes: 16,
     network: {gbps_per_node: 3200, kind: infiniband}, usd_per_gpu_hour: 3, region: us}
"""

PAGES = {
    "quickstart-7b": 0,
    "ppo-rlhf-34b": 0,
    "impossible-70b-full-one-node": 3,
    "two": 0,
}
"""Scenarios and the exit status of their answers; the last one is of two phases."""


def page_of(
    capsys: pytest.CaptureFixture[str], path: Path, *words: str | Path
) -> tuple[Ran, Element]:
    """The page that a command writes, and the run."""
    ran = run(capsys, *words, "--html", path)
    assert ran.err == ""
    return ran, read_page(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The pages of some shipped scenarios, by name: status, file, answer and tree."""
    from contextlib import redirect_stdout
    from io import StringIO

    from solver.cli.app import main

    folder = tmp_path_factory.mktemp("pages")
    found: dict[str, Any] = {}
    two = folder / "two.yaml"
    two.write_text(PHASES, encoding="utf-8")
    for name in PAGES:
        asked = two if name == "two" else name
        path, out = folder / f"{name}.html", StringIO()
        with redirect_stdout(out):
            status = main(["solve", str(asked), "--json", "-q", "--html", str(path)])
        text = path.read_text(encoding="utf-8")
        found[name] = (status, path, json.loads(out.getvalue()), read_page(text))
    return found


@pytest.fixture
def pipelined(tmp_path: Path) -> Path:
    """A scenario whose names are markup, and whose plan has two stages."""
    path = tmp_path / "pipelined.yaml"
    path.write_text(PIPELINED, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_sound(written: dict[str, Any], name: str) -> None:
    """Tests structure, names of charts and tables behind them, and no loading."""
    status, path, _, page = written[name]
    assert status == PAGES[name]
    assert faults_of(page) == []
    assert loaded(page) == []
    assert path.stat().st_size < 300_000
    policy = [m.attributes for m in page.all("meta") if "http-equiv" in m.attributes]
    assert policy[0]["content"].startswith("default-src 'none'")


@pytest.mark.parametrize("name", ["ppo-rlhf-34b", "impossible-70b-full-one-node"])
def test_the_headline_is_that_of_the_terminal(
    written: dict[str, Any], capsys: pytest.CaptureFixture[str], name: str
) -> None:
    """Tests that page and terminal tell the same decision."""
    page = written[name][3]
    (h1,) = page.all("h1")
    told = run(capsys, "solve", name, "-q").out
    assert h1.text == " ".join(told.split())


def facts(page: Element) -> dict[str, str]:
    """The key figures by their label, with their notes."""
    (found,) = (e for e in page.all("dl"))
    return {
        row.all("dt")[0].text: row.all("dd")[0].text
        for row in found.children
        if isinstance(row, Element)
    }


@pytest.mark.parametrize("name", ["quickstart-7b", "ppo-rlhf-34b"])
def test_key_figures_are_those_of_the_plan(written: dict[str, Any], name: str) -> None:
    """Tests each figure at the top against the JSON object."""
    _, _, data, page = written[name]
    plan, told = Plan.from_dict(data["plan"]), facts(page)
    assert told["Cost"].startswith(format_usd(plan.cost_usd))
    assert told["Finish"].startswith(plan.finish.isoformat())
    assert duration_text(plan.duration_days) in told["Finish"]
    assert told["GPUs"].startswith(f"{plan.rented_nodes * plan.gpus_per_node:,} ")
    assert told["MFU"].startswith(percent(plan.mfu))
    assert told["Memory used"].startswith(percent(1 - plan.memory_headroom))
    assert told["Gap to the bound"].startswith(percent(data["proof"]["gap"]))


@pytest.mark.parametrize("name", ["quickstart-7b", "ppo-rlhf-34b"])
def test_tables_behind_charts_have_every_part(
    written: dict[str, Any], name: str
) -> None:
    """Tests that each part of cost, time, memory and step is in its chart's table."""
    _, _, data, page = written[name]
    plan = data["plan"]
    parts = {
        "cost": plan["cost_parts_usd"],
        "duration": plan["duration_parts_days"],
        "memory": {
            k: v
            for k, v in plan["memory_gib"].items()
            if k not in ("total", "capacity")
        },
        "step": plan["step_time_parts_s"],
    }
    for chart, sizes in parts.items():
        section = page.by_id(chart)
        rows = section.rows()
        told = sum(1 for size in sizes.values() if size)
        labels = [row[0] for row in rows[:told]]
        drawn = section.all("svg")[0].text
        assert "total" not in labels
        for row in rows[:told]:
            assert row[0] in drawn
            assert row[1] in drawn
    total = [row for row in page.by_id("cost").rows() if row[0] == "total"]
    assert total == [["total", format_usd(plan["cost_usd"])]]


def test_regions_and_frontier_hold_the_plan(written: dict[str, Any]) -> None:
    """Tests that what surrounds the plan agrees with it."""
    _, _, data, page = written["quickstart-7b"]
    cost = format_usd(data["plan"]["cost_usd"])
    regions = page.by_id("regions").rows()
    best = regions[1]
    assert best[0] == data["plan"]["region"] or cost in best
    points = page.by_id("frontier").rows()[1:]
    assert cost in [row[0] for row in points]
    assert gpu_name(data["plan"]["gpu"]) in page.by_id("frontier").text


def test_more_rows_are_counted(written: dict[str, Any]) -> None:
    """Tests that what is folded away is as much as is told."""
    page = written["quickstart-7b"][3]
    section = page.by_id("regions")
    tables = [table.rows() for table in section.all("table")]
    folded = len(tables[1]) - 1
    assert f"{folded} more rows" in section.text


def test_sources_and_question_are_there(written: dict[str, Any]) -> None:
    """Tests that every source is named, with versions and the scenario as asked."""
    _, _, data, page = written["quickstart-7b"]
    sources = page.by_id("section-provenance").rows()
    assert len(sources) == len(data["plan"]["provenance"]) + 1
    asked = page.by_id("asked").all("pre")[0]
    assert json.loads(asked.text) == data["request"]["scenario"]
    assert data["request"]["day"] in page.all("footer")[0].text
    for message in data["plan"]["warnings"]:
        assert " ".join(message["text"].split()) in page.text


def test_a_no_tells_what_opens_a_plan(written: dict[str, Any]) -> None:
    """Tests that relaxations are there with what is to be typed."""
    _, _, data, page = written["impossible-70b-full-one-node"]
    typed = [pre.text for pre in page.by_id("section-try").all("pre")]
    expected = [r["set"] for r in data["explanation"]["relaxations"] if r.get("set")]
    assert len(typed) == len(expected) > 0
    for option, wanted in zip(typed, expected, strict=True):
        assert wanted in option
    assert page.has("section-nearest")
    assert not page.all("svg")
    assert "bad" in page.all("p")[1].attributes["class"]


def test_phases_have_a_timeline(written: dict[str, Any]) -> None:
    """Tests that each phase and lease is drawn, and each layout."""
    _, _, data, page = written["two"]
    timeline = page.by_id("timeline")
    for phase in data["phases"]:
        assert phase["name"] in timeline.all("svg")[0].text
        assert f"Phase: {phase['name']}" in page.text
    assert len([e for e in page.walk() if e.attributes.get("class") == "bands"]) == 2
    assert facts(page)["Cost"].startswith(format_usd(data["total"]["cost_usd"]))


def test_names_are_text(
    pipelined: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tests that markup in a scenario is shown, not obeyed, charts included."""
    _, page = page_of(capsys, tmp_path / "p.html", "solve", pipelined, "-q")
    assert faults_of(page) == []
    assert not page.all("script")
    assert '<script>alert("x & y")</script>' in page.text
    assert not [b for b in page.all("b") if "mine" in b.text]
    assert "<b>mine" in page.text


def test_two_stages_are_drawn(
    pipelined: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tests that a pipelined plan has a band a stage and tells its letters."""
    _, page = page_of(capsys, tmp_path / "p.html", "solve", pipelined, "-q")
    drawn = page.by_id("layout-drawn")
    assert "Stage 1 of 2" in drawn.text
    assert "Stage 2 of 2" in drawn.text
    assert "T7" in drawn.text
    assert drawn.rows()[0][0] == "parallel"


@pytest.mark.parametrize(
    ("words", "anchor"),
    [
        (("compare", "--by", "region"), "compare"),
        (("pareto",), "frontier"),
        (("explain",), "section-binding"),
    ],
)
def test_other_commands_write_pages(
    pipelined: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    anchor: str,
) -> None:
    """Tests the pages of comparisons, frontiers and reasons."""
    command, *options = words
    ran, page = page_of(capsys, tmp_path / "p.html", command, pipelined, *options, "-q")
    assert ran.status == 0
    assert faults_of(page) == []
    assert loaded(page) == []
    assert page.has(anchor) or anchor == "section-binding"
    assert "<script>" in page.all("p")[0].text


def test_a_comparison_without_plans_has_a_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tests that no chart is drawn of nothing, and the reasons are there."""
    name = "impossible-70b-full-one-node"
    words = ("compare", name, "--by", "gpu", "-q")
    ran, page = page_of(capsys, tmp_path / "p.html", *words)
    assert ran.status == 3
    assert faults_of(page) == []
    assert not page.all("svg")


@pytest.mark.parametrize("command", ["solve", "pareto", "explain"])
def test_a_file_that_cannot_be_written_is_told_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    """Tests that nothing is solved in vain."""
    ran = run(capsys, command, "quickstart-7b", "--html", tmp_path / "no" / "p.html")
    assert ran.status == 2
    assert ran.out == ""
    assert "--html" in ran.err
    assert "no folder" in ran.err


def test_json_and_page_go_together(
    pipelined: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tests that the page does not disturb what is printed."""
    plain = run(capsys, "solve", pipelined, "--json").data
    ran, _ = page_of(capsys, tmp_path / "p.html", "solve", pipelined, "--json", "-q")
    assert ran.data["plan"] == plain["plan"]


def test_the_page_speaks_chinese(
    pipelined: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tests that language and words of the page follow `--lang`."""
    words = ("solve", pipelined, "-q", "--lang", "zh")
    _, page = page_of(capsys, tmp_path / "p.html", *words)
    assert page.all("html")[0].attributes["lang"] == "zh"
    assert "并行布局图" in page.text
    assert "Data of this chart" not in page.text
    assert faults_of(page) == []


CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
needs_chromium = pytest.mark.skipif(
    CHROMIUM is None, reason="there is no Chromium here"
)


def chromium(*words: str) -> None:
    """Run a headless Chromium that has nothing to do with the user's."""
    command = [str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", *words]
    subprocess.run(command, check=True, capture_output=True, timeout=120)


@needs_chromium
def test_a_plan_prints_on_two_pages(written: dict[str, Any], tmp_path: Path) -> None:
    """Tests the pages of paper that the first scenario of every user takes."""
    paper = tmp_path / "p.pdf"
    source = written["quickstart-7b"][1]
    chromium("--no-pdf-header-footer", f"--print-to-pdf={paper}", source.as_uri())
    assert 1 <= paper.read_bytes().count(b"/Type /Page\n") <= 2


@needs_chromium
@pytest.mark.parametrize("name", ["quickstart-7b", "impossible-70b-full-one-node"])
def test_a_phone_does_not_scroll_sideways(
    written: dict[str, Any], tmp_path: Path, name: str
) -> None:
    """Tests that nothing of a page is wider than a phone, tables in their box apart."""
    frame = tmp_path / "frame.html"
    inner = written[name][1].read_text(encoding="utf-8")
    page = tmp_path / "inner.html"
    script = "<script>document.title=document.documentElement.scrollWidth</script>"
    start = inner.index("<meta http-equiv")
    end = inner.index(">", start) + 1
    page.write_text(inner[:start] + inner[end:] + script, encoding="utf-8")
    measure = (
        f'<iframe src="{page.as_uri()}" style="width:390px;height:800px;border:0" '
        "onload=\"document.title='wide-'+this.contentDocument.title\"></iframe>"
    )
    frame.write_text(f"<title></title>{measure}", encoding="utf-8")
    done = subprocess.run(
        [
            str(CHROMIUM),
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--allow-file-access-from-files",
            "--virtual-time-budget=5000",
            "--dump-dom",
            frame.as_uri(),
        ],
        check=True,
        capture_output=True,
        timeout=120,
        text=True,
    )
    width = int(done.stdout.split("<title>wide-")[1].split("<")[0])
    assert 300 < width <= 390


def test_the_way_there_is_a_checklist_with_dates(
    written: dict[str, Any], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Tests that page and JSON have the same steps and dates, folded in the page."""
    _, _, data, page = written["quickstart-7b"]
    (section,) = (e for e in page.all("section") if e.attributes.get("id") == "route")
    tasks = [e for e in section.all("details") if e.attributes["class"] == "task"]
    steps = data["route"]["steps"]
    assert len(tasks) == len(steps) > 4
    for task, step in zip(tasks, steps, strict=True):
        assert step["start"] in task.all("p")[0].text
        items = [" ".join(e.text.split()) for e in task.all("li")]
        assert items == [" ".join(line["text"].split()) for line in step["checks"]]
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps(data), encoding="utf-8")
    ran, alone = page_of(capsys, tmp_path / "route.html", "plan", "route", plan)
    assert ran.status == 0
    assert faults_of(alone) == []
    assert loaded(alone) == []
    assert not alone.all("details")  # nothing is folded: it is to be printed
    for step in steps:
        for line in step["checks"]:
            text = line["text"].replace("PLAN.json", str(plan))
            assert " ".join(text.split()) in " ".join(alone.text.split())


@pytest.mark.parametrize("name", ["two", "impossible-70b-full-one-node"])
def test_a_chain_has_a_way_there_and_a_no_has_none(
    written: dict[str, Any], name: str
) -> None:
    """Tests that the checklist is there with a plan alone."""
    _, _, data, page = written[name]
    found = [e for e in page.all("section") if e.attributes.get("id") == "route"]
    assert bool(found) == (data["route"] is not None) == (name == "two")
