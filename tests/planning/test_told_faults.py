"""Tests that what does not divide is told in the language that is spoken."""

import re

import pytest

from solver.messages import MESSAGES
from tests.cli.running import run
from tests.project.source import ROOT


def test_every_fault_of_a_layout_has_a_text() -> None:
    """Tests that no code was left out, and that none is left of one that is gone."""
    source = (ROOT / "solver/performance/divisibility.py").read_text(encoding="utf-8")
    codes = set(re.findall(r'"([a-z]+(?:-[a-z]+)+)"', source))
    told = {key.removeprefix("divides.") for key in MESSAGES if key[:8] == "divides."}
    assert len(codes) > 10
    assert told == codes - {"kebab-case"}


def test_a_fault_is_told_in_both_languages(capsys: pytest.CaptureFixture[str]) -> None:
    """Tests the summary: in Chinese the kind of fault, its figures in brackets."""
    words = ("solve", "quickstart-7b", "--set", "constraints.parallelism.tp=3")
    english = run(capsys, *words)
    assert english.status == 3
    told = english.out.replace("\n", " ")
    assert "no layout divides as asked: TP 3 does not divide 32 heads" in told
    chinese = re.sub(r"\s", "", run(capsys, *words, "--lang", "zh").out)
    told = "没有布局能按要求整除：注意力头、KV头或MLP不能按TP整除（TP3doesnotdivide"
    assert told in chinese
