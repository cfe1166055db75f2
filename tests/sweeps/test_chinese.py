"""Tests that a sweep keeps English texts, and shows them in the language asked for."""

import json
from pathlib import Path

import pytest

from tests.cli.running import run
from tests.sweeps.examples import written


def test_what_is_stored_is_english(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tests a run in Chinese whose results another may go on with in English."""
    place = str(tmp_path / "results.db")
    words = ("sweep", "run", str(written(tmp_path)), "--out", place, "--workers", "1")
    ran = run(capsys, *words, "--lang", "zh")
    assert ran.status == 0
    assert "均已保存" in ran.out
    shown = run(capsys, "sweep", "show", place, "--lang", "zh")
    assert "各取值的最优" in shown.out
    english = run(capsys, "sweep", "show", place, "--json").out
    assert json.loads(english) == json.loads(
        run(capsys, "sweep", "show", place, "--json", "--lang", "zh").out
    )
    assert "\\u" not in english.replace("\\u00", "")
