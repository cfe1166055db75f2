"""Tests that long ids break at their joints."""

import re
from itertools import pairwise

import pytest
from rich.cells import cell_len

from solver.report.as_table import render
from solver.report.figures import Grid, Page
from solver.report.wrapping import break_points, line_starts

ID = "nebius-gpu-b200-sxm-a-8gpu-160vcpu-1792gb"


def broken(text: str, width: int) -> list[str]:
    """Return the lines of a text."""
    starts = [0, *line_starts(text, width), len(text)]
    return [text[a:b].rstrip() for a, b in pairwise(starts)]


@pytest.mark.parametrize("width", [6, 8, 10, 15, 20, 30, 50])
@pytest.mark.parametrize("text", [ID, f"8 x {ID} and more", f"aws/us-east-1/{ID}"])
def test_lines_fit_and_lose_nothing(text: str, width: int) -> None:
    """Tests that every line is short enough and that the text is still whole."""
    lines = broken(text, width)
    assert max(map(len, lines)) <= width
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")


def test_a_word_breaks_after_a_hyphen_or_slash() -> None:
    """Tests that no part of an id is cut where it has a joint in reach."""
    assert broken(ID, 20) == ["nebius-gpu-b200-sxm-", "a-8gpu-160vcpu-", "1792gb"]
    assert broken("aws/us-east-1.local", 9) == ["aws/us-", "east-1.", "local"]


def test_a_word_without_joints_is_cut() -> None:
    """Tests that what has no joint still fits."""
    assert break_points("a" * 25, 10) == [10, 20]
    assert break_points("short", 10) == []


def test_a_grid_breaks_ids_at_their_joints() -> None:
    """Tests a narrow column, where 'gpu-b200' was cut to 'gp' and 'u-b200'."""
    grid = Grid("section.alternatives", ("kind", "plan"), (("other GPU", ID),))
    page = Page("What", True, (grid,))
    for width in range(24, 60):
        lines = render(page, width=width).splitlines()
        first = next(i for i, line in enumerate(lines) if "other" in line)
        for line in lines[first:-1]:
            assert line.rstrip()[-1] in "-/.", (width, lines)


CHINESE = (
    "库存未知：方案需要 4 个节点，按有 64 个计（stock.unknown_nodes）。请向供应商确认。"
    "“市场”的报价按一个节点计，见 nebius-gpu-b200-sxm-a-8gpu-160vcpu-1792gb；价格"
    "（2026-12-01）为每 GPU 小时 $5.50，工期 1,062.6 天。"
)


@pytest.mark.parametrize("width", [8, 11, 20, 33, 58, 80])
def test_chinese_breaks_between_characters(width: int) -> None:
    """Tests the width in cells, the marks at line ends, and that nothing is lost."""
    lines = broken(CHINESE, width)
    assert "".join(lines).replace(" ", "") == CHINESE.replace(" ", "")
    assert [line for line in lines if cell_len(line) > width] == []
    assert [line for line in lines if line[0] in "，。；：、）”"] == []
    assert [line for line in lines if line[-1] in "（“"] == []
    counted = rf"(?<=\d) ({'|'.join(re.findall(r'(?<=[0-9] )[^ -~]', CHINESE))})"
    assert len(re.findall(counted, CHINESE)) == len(
        re.findall(counted, "\n".join(lines))
    )


def test_chinese_fills_its_lines() -> None:
    """Tests that a line ends where the next character would not fit."""
    assert line_starts("硬件与地点和并行布局", 8) == [4, 8]
    assert line_starts("硬件与地点。并行布局", 10) == [4, 9]
