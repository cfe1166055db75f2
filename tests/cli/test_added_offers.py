"""Tests of ``--offers``, ``--only`` and ``catalog template``."""

from pathlib import Path

import pytest

from tests.cli.running import run
from tests.importing.lists import write


@pytest.fixture
def table(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Path:
    """Return the template of offers, as a user would save it, at a low price."""
    text = run(capsys, "catalog", "template", "offers").out
    return write(tmp_path, "mine.csv", text.replace(",2.10,", ",0.10,"))


def test_offers_of_ones_own(capsys: pytest.CaptureFixture[str], table: Path) -> None:
    """Tests that the cheapest is taken, on top and alone, and that estimate can."""
    for extra in ((), ("--only",)):
        words = ("solve", "quickstart-7b", "--offers", table, "--json", *extra)
        plan = run(capsys, *words).data["plan"]
        assert (plan["offer"], plan["country"]) == ("acme-h100", "SG")
    words = ("estimate", "quickstart-7b", "--offers", table, "--only", "--json")
    estimate = run(capsys, *words, "--offer", "acme-h100", "--nodes", "2")
    assert estimate.data["estimate"]["gpus"] == 16


def test_only_needs_offers(capsys: pytest.CaptureFixture[str], table: Path) -> None:
    """Tests what is wrong to ask for."""
    done = run(capsys, "solve", "quickstart-7b", "--only")
    assert (done.status, done.err) == (2, "--only needs --offers FILE.csv\n")
    missing = table.with_name("none.csv")
    done = run(capsys, "solve", "quickstart-7b", "--offers", missing, "--json")
    assert [error["code"] for error in done.data["errors"]] == ["file-not-found"]


def test_templates(capsys: pytest.CaptureFixture[str]) -> None:
    """Tests a template as JSON, and a kind that there is none of."""
    done = run(capsys, "catalog", "template", "servers", "--json")
    template = done.data["template"]
    assert template["file"] == "servers.csv"
    assert template["columns"][0]["needed"] is True
    done = run(capsys, "catalog", "template", "server")
    assert done.status == 2
    assert "did you mean 'servers'" in done.err
