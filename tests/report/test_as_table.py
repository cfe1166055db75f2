"""Tests of the page in the terminal."""

import re
from dataclasses import replace
from itertools import pairwise

import pytest

from solver.plan import LayoutPlan, PlanResult
from solver.report.answer_rows import headline, page
from solver.report.as_table import as_ascii, render
from solver.report.figures import Page, Row, Section, time_of_whole
from tests.report.examples import (
    FEASIBLE,
    INFEASIBLE,
    LAYOUT,
    OPTIMAL,
    PLAN,
    UNKNOWN,
)

ANSWERS = {
    "optimal": OPTIMAL,
    "feasible": FEASIBLE,
    "infeasible": INFEASIBLE,
    "unknown": UNKNOWN,
}
ANSI = re.compile(r"\x1b\[[0-9;]*m")

SECTIONS = [
    "Hardware and place",
    "Layout",
    "Memory per GPU, fullest stage",
    "One step",
    "Duration",
    "Cost",
    "Host of a node",
    "Proof",
    "Runners-up, and what each would change",
    "Warnings",
    "Where the figures come from",
]
"""Titles of a plan's page at 80 columns, in order."""


def titles(text: str) -> list[str]:
    """Return the lines of a page that follow an empty one."""
    lines = text.splitlines()
    return [line for above, line in pairwise(lines) if not above]


def line_of(text: str, label: str) -> str:
    """Return the first indented line with a label."""
    return next(
        line for line in text.splitlines() if re.match(rf" +{re.escape(label)} ", line)
    )


@pytest.mark.parametrize("width", [20, 40, 60, 80, 100, 112, 120, 140, 400])
@pytest.mark.parametrize("status", ANSWERS)
def test_no_line_is_too_long(status: str, width: int) -> None:
    """Tests that a page fits its terminal, narrow or wide."""
    text = render(page(ANSWERS[status]), width=width)
    assert max(map(len, text.splitlines())) <= min(width, 140)


def test_sections_of_a_plan() -> None:
    """Tests that a plan's page has all of its sections, in order."""
    assert titles(render(page(OPTIMAL), width=80)) == SECTIONS


STRUCTURE = """\
Hardware and place: servers, place, price, inside a node, between nodes, storage, \
nodes in stock
Layout: parallel, layers a stage, batch, sharding, recompute, numerics, framework
Memory per GPU, fullest stage: weights, gradients, optimizer, activations, other, \
total, usable
One step: compute, recompute, tensor parallel, pipeline bubble, data parallel, \
optimizer, overhead, total, MFU, throughput
Duration: training, checkpoints, failures, restarts, set-up, total, steps, \
a checkpoint, written every
Cost: compute, storage, total, GPU-hours
Host of a node: vCPUs, RAM, local NVMe, NICs
Proof: status, bound, searched, layouts, lattice, ties, time taken
Where the figures come from: price, step time, versions
"""
"""Sections and labels of a plan's page, without grids and warnings."""


def test_structure_of_a_page() -> None:
    """Tests that sections and labels are those above, figures aside."""
    blocks = render(page(OPTIMAL), width=100).split("\n\n")[1:]
    found = ""
    for block in blocks:
        title, *lines = block.splitlines()
        labels = [line[2:20].rstrip() for line in lines if line[2:3].strip()]
        if title in STRUCTURE:
            found += f"{title}: {', '.join(labels)}\n"
    assert found == STRUCTURE


def test_wide_pages_are_short() -> None:
    """Tests that two columns save lines where there is room, and lose nothing."""
    narrow, wide = (render(page(OPTIMAL), width=width) for width in (80, 120))
    assert wide.count("\n") < 0.75 * narrow.count("\n")
    assert all(title in wide for title in SECTIONS)


def test_figures_stand_with_their_labels() -> None:
    """Tests that a few figures of each section come out, rounded and with units."""
    text = render(page(OPTIMAL), width=80)
    assert "32 × 8 H100 SXM 80GB = 256 GPUs, on demand" in line_of(text, "servers")
    assert "nebius, eu-north1 (FI)" in line_of(text, "place")
    assert "$2.20 a GPU-hour, $17.60 a node-hour" in line_of(text, "price")
    assert "64, assumed" in line_of(text, "nodes in stock")
    assert "9 + 6×10 + 11" in line_of(text, "layers a stage")
    assert "TP 8 · PP 8 · CP 1 · DP 4" in line_of(text, "parallel")
    assert "32.80 GiB" in line_of(text, "gradients")
    assert "79.10 GiB" in line_of(text, "usable")
    assert re.search(r"16\.00 s +74% █+", line_of(text, "compute"))
    assert "41.2%" in line_of(text, "MFU")
    assert "29.66 days" in line_of(text, "training")
    assert "1,600 GB, 245 GB needed" in line_of(text, "RAM")
    assert "not known" in line_of(text, "local NVMe")
    assert "$412,346 (gap 0%)" in line_of(text, "bound")
    assert "41,280 candidates, 40,312 of them pruned" in line_of(text, "searched")
    assert "TP 1, 2, 4, 8 · micro-batch 1, 2, 4, 8" in line_of(text, "lattice")
    assert "+$20,100  -4.2" in line_of(text, "other GPU")


def test_parts_that_are_zero_are_left_out() -> None:
    """Tests that a dense model's page does not speak of experts, nor of no egress."""
    text = render(page(OPTIMAL), width=80)
    assert "expert parallel" not in text
    assert "egress" not in text


def test_parts_of_a_section_have_the_same_decimals() -> None:
    """Tests that a column of figures can be added up by eye."""
    text = render(page(OPTIMAL), width=80)
    block = text.split("One step\n")[1].split("\n  MFU")[0]
    assert {len(number) for number in re.findall(r"\.(\d+) s", block)} == {2}


def test_tiny_shares_are_not_rounded_to_nothing() -> None:
    """Tests that a part of 0.02% is shown as less than one per cent, not as none."""
    step = render(page(OPTIMAL), width=80).split("One step\n")[1]
    assert "<1%" in line_of(step, "optimizer")


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (
            OPTIMAL,
            "Rent 32 × 8 H100 SXM 80GB at nebius in eu-north1: $412,346, 30.4 days – "
            "cheapest, proved optimal",
        ),
        (replace(OPTIMAL, objective="time"), "fastest, proved optimal"),
        (replace(OPTIMAL, objective="weighted"), "trade of cost and time, proved"),
        (FEASIBLE, "not proved: gap 3%"),
        (
            INFEASIBLE,
            "No plan fulfils this scenario (proved): no candidate keeps the deadline "
            "within the stock",
        ),
        (UNKNOWN, "No plan found within the time limit; one may still exist"),
    ],
)
def test_first_line(result: PlanResult, expected: str) -> None:
    """Tests that the first line says what to do and how that is known."""
    assert expected in headline(result)
    first = " ".join(render(page(result), width=140).splitlines()[0:1])
    assert expected in first


def test_owned_servers_are_used_not_rented() -> None:
    """Tests that nobody is told to rent what is theirs."""
    own = replace(PLAN, purchase="owned", usd_per_gpu_hour=0.0, nodes=1, gpus=8)
    result = replace(OPTIMAL, plan=own)
    assert headline(result).startswith("Use 8 H100 SXM 80GB of nebius in eu-north1")
    text = render(page(result), width=80)
    assert "none: the servers are owned" in text
    assert "8 H100 SXM 80GB, one node, owned" in text


@pytest.mark.parametrize(
    ("gap", "shown"), [(0.0, "0%"), (0.00001, "0.1%"), (0.0421, "4.3%"), (1.0, "100%")]
)
def test_gaps_are_rounded_up(gap: float, shown: str) -> None:
    """Tests that a gap is never understated, least of all as 0%."""
    result = replace(FEASIBLE, proof=replace(FEASIBLE.proof, gap=gap))
    assert headline(result).endswith(f"gap {shown}")


def test_an_unproved_plan_without_bound_says_so() -> None:
    """Tests that a missing gap is not shown as one of zero."""
    proof = replace(FEASIBLE.proof, bound=None, gap=None)
    result = replace(FEASIBLE, proof=proof)
    assert headline(result).endswith("not proved")
    assert "  bound  " not in render(page(result), width=80)


def test_bound_has_the_unit_of_the_objective() -> None:
    """Tests that a bound on time is shown as a time."""
    for unit, bound in (
        ("days", "28.2 days"),
        ("USD", "$28.25"),
        ("MWh", "28.2 MWh"),
        ("t CO2", "28.2 t CO2"),
    ):
        proof = replace(OPTIMAL.proof, bound=28.25, unit=unit)
        text = render(page(replace(OPTIMAL, proof=proof)), width=80)
        assert f"{bound} (gap 0%)" in line_of(text, "bound")


def test_energy_and_carbon_are_shown() -> None:
    """Tests both with what they follow from, and carbon that is not known."""
    assert OPTIMAL.plan is not None
    figures = {"energy_mwh": 53.2, "node_power_kw": 8.4, "pue": 1.58}
    known = replace(OPTIMAL.plan, **figures, carbon_t=0.5, grid_gco2_per_kwh=380.0)
    text = render(page(replace(OPTIMAL, plan=known)), width=80)
    assert "53.2 MWh  8.4 kW a node × PUE 1.58" in line_of(text, "energy")
    assert "500 kg CO2  380 g a kWh" in line_of(text, "carbon")
    unknown = replace(OPTIMAL.plan, **figures)
    text = render(page(replace(OPTIMAL, plan=unknown)), width=80)
    assert "not known" in line_of(text, "carbon")


def test_an_infeasible_answer_explains_itself() -> None:
    """Tests that conflict, relaxation, nearest miss and counts are all shown."""
    text = render(page(INFEASIBLE), width=80)
    assert titles(text) == [
        "Why there is no plan",
        "What would open a plan, each alone",
        "The nearest miss",
        "Memory per GPU, fullest stage",
        "Offers that each requirement removes",
        "Proof",
    ]
    assert "deadline, nodes in stock" in line_of(text, "in conflict")
    assert re.search(r"30 days +34\.2 days", line_of(text, "deadline"))
    assert "107%" in line_of(text, "total")
    assert "31,000" in line_of(text, "peak memory fits the card")


def test_long_axes_are_shortened() -> None:
    """Tests that the lattice line gives limits, not every value, nor conditions."""
    lattice = {
        "nodes": [1, 64],
        "micro_batch": [1, 2, 4, 8, 16],
        "batch": [1024, 1024, 1024],
        "cap": 1_000,
        "whole_nodes_only": True,
        "dp": "what divides",
        "ep": [],
    }
    result = replace(OPTIMAL, proof=replace(OPTIMAL.proof, lattice=lattice))
    line = line_of(render(page(result), width=100), "lattice")
    assert line.endswith("nodes 1–64 · micro-batch 1–16 · batch 1024 · cap 1,000")


def test_a_region_that_is_not_stated() -> None:
    """Tests that a price list without regions does not make one up."""
    result = replace(OPTIMAL, plan=replace(PLAN, region="unstated", country=None))
    assert "at nebius: $" in headline(result)
    assert "nebius, region not stated" in render(page(result), width=80)


def test_color_only_where_it_is_wanted() -> None:
    """Tests that colour adds escape codes and changes no character besides."""
    plain = render(page(OPTIMAL), width=80)
    colored = render(page(OPTIMAL), width=80, color=True)
    assert "\x1b" not in plain
    assert "\x1b[" in colored
    without = [line.rstrip() for line in ANSI.sub("", colored).splitlines()]
    assert without == plain.splitlines()


def test_old_terminals_get_ascii() -> None:
    """Tests that an ASCII page keeps its columns and its figures."""
    text = as_ascii(render(page(OPTIMAL), width=80))
    assert text.isascii()
    assert "?" not in text
    assert not re.search(r"(?m) $", text)
    assert "32 x 8 H100 SXM 80GB" in text
    assert re.search(r"16\.00 s +74% #+", text)


def test_markup_in_names_is_text() -> None:
    """Tests that brackets in a user's names are shown, not obeyed."""
    result = replace(OPTIMAL, plan=replace(PLAN, server="[bold]mine[/bold]"))
    assert "[bold]mine[/bold]" in render(page(result), width=80)


@pytest.mark.parametrize(
    ("layers", "expected"),
    [
        ((32,), "32"),
        ((10, 11, 11, 10), "10 + 2×11 + 10"),
        ((8,) * 16, "16×8"),
    ],
)
def test_layers_in_short(layers: tuple[int, ...], expected: str) -> None:
    """Tests that equal neighbouring stages are counted, not listed."""
    layout: LayoutPlan = replace(LAYOUT, layers_per_stage=layers)
    result = replace(OPTIMAL, plan=replace(PLAN, layout=layout))
    text = render(page(result), width=80)
    assert line_of(text, "layers a stage").split(maxsplit=3)[3] == expected


def test_bars_never_overflow() -> None:
    """Tests that a share above one is a full bar, and below none an empty one."""
    rows = tuple(Row(str(s), "1", share=s) for s in (-0.5, 0.0, 1.0, 7.0))
    memory = Section("section.memory", rows, numeric=True)
    lines = render(Page("x", True, (memory,)), width=80).splitlines()
    bars = [line.count("█") for line in lines[3:]]
    assert bars[0] == bars[1] == 0
    assert bars[2] == bars[3] > 20


@pytest.mark.parametrize("region", ["default", "local", "unstated"])
def test_what_is_no_region_is_not_named(region: str) -> None:
    """Tests that placeholders of price lists and of own offers are not shown."""
    plan = replace(PLAN, region=region, country=None)
    others = tuple(replace(a, plan=plan) for a in OPTIMAL.alternatives)
    text = render(page(replace(OPTIMAL, plan=plan, alternatives=others)), width=100)
    assert "at nebius: $412,346" in text
    assert "nebius, region not stated" in line_of(text, "place")
    assert f"in {region}" not in text
    assert f"nebius {region}" not in text


@pytest.mark.parametrize(
    ("unit", "shown"),
    [
        ("second", "$2.20 a GPU-hour, $17.60 a node-hour"),
        ("hour", "$2.20 a GPU-hour, $17.60 a node-hour, whole hours"),
        ("month", "$12,848 a node-month, whole months; $2.20 a GPU-hour"),
    ],
)
def test_the_price_says_how_it_is_billed(unit: str, shown: str) -> None:
    """Tests that a month of 730 hours is not shown as a price by the hour."""
    result = replace(OPTIMAL, plan=replace(PLAN, billing_unit=unit))
    assert line_of(render(page(result), width=100), "price").endswith(shown)


@pytest.mark.parametrize(
    ("days", "part", "shown"),
    [
        (30.4, 0.1, "0.10 days"),
        (30.4, 0.03, "43.2 min"),
        (30.4, 0.0002, "17.3 s"),
        (1.5, 0.5, "12.00 hours"),
        (1.5, 0.0054, "7.8 min"),
        (0.03, 0.02, "28.8 min"),
    ],
)
def test_short_times_have_a_unit_that_shows_them(
    days: float, part: float, shown: str
) -> None:
    """Tests that nothing lasts 0.13 hours or 0.00 days."""
    assert time_of_whole(part, days) == shown


def test_a_small_difference_of_durations_is_shown() -> None:
    """Tests that half an hour is not '+0.0' days."""
    (first, *_) = OPTIMAL.alternatives
    for days, shown in ((0.02, "+28.8 min"), (-0.02, "-28.8 min"), (-4.2, "-4.2")):
        other = (replace(first, duration_change_days=days),)
        text = render(page(replace(OPTIMAL, alternatives=other)), width=100)
        assert shown in text


def test_unverified_figures_are_called_so() -> None:
    """Tests that a source 'memory' cannot be taken for gigabytes."""
    plan = replace(PLAN, provenance={"network": "memory (2026-11)", "memory": "a note"})
    text = render(page(replace(OPTIMAL, plan=plan)), width=100)
    assert "general knowledge, unverified (2026-11)" in line_of(text, "network")
    assert "a note" in line_of(text, "memory per GPU")
