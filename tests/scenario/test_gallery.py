"""Tests of the shipped scenarios as a gallery."""

from pathlib import Path

import pytest

from solver.errors import InputError
from solver.resources import shipped_scenarios
from solver.scenario.gallery import (
    copy_scenario,
    find_scenario,
    list_scenarios,
    question_of,
    scenario_schema,
    shipped_names,
    show_scenario,
)
from solver.scenario.load import load_scenario
from tests.project.source import ROOT
from tests.scenario.reading import shipped_catalog

PROMISED = {
    "full-70b-offload",
    "full-7b-l40s",
    "gpt3-175b-a100-34-days",
    "host-inventory",
    "impossible-70b-full-one-node",
    "llama3-70b-deadline",
    "llama3-8b-apac",
    "llama31-405b",
    "mixtral-8x7b-pretrain",
    "qlora-65b-one-card",
    "quickstart-7b",
    "qwen-32b-fastest-under-budget",
}


def test_every_promised_scenario_is_there() -> None:
    """Tests that the names by which documentation calls them exist."""
    assert set(shipped_names()) >= PROMISED


def test_each_answers_a_question_and_is_short() -> None:
    """Tests that the first line is the question and that files can be taken in."""
    for entry in list_scenarios():
        text = show_scenario(entry.name)
        assert text.startswith("# ")
        assert entry.question.endswith("?"), entry.name
        assert len(entry.question) < 100
        assert len(text.splitlines()) < 30
        assert entry.as_dict()["name"] == entry.name


def test_the_gallery_page_is_up_to_date() -> None:
    """Tests that `make docs` was run after a scenario changed."""
    page = (ROOT / "scenarios" / "README.md").read_text(encoding="utf-8")
    for entry in list_scenarios():
        assert f"| [{entry.name}]({entry.name}.yaml) | {entry.question} |" in page
    rows = [line for line in page.splitlines() if line.startswith("| [")]
    assert len(rows) == len(shipped_names())


def test_a_question_may_take_two_lines() -> None:
    """Tests where the question ends."""
    assert question_of("# What is\n# it?\n# More.\nname: x\n") == "What is it?"
    assert question_of("name: x\n") == ""


def test_a_file_wins_over_a_shipped_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests that a file of the user's own is taken, even without a suffix."""
    monkeypatch.chdir(tmp_path)
    assert find_scenario("quickstart-7b").shipped
    (tmp_path / "quickstart-7b").write_text("name: mine\n", encoding="utf-8")
    assert not find_scenario("quickstart-7b").shipped


@pytest.mark.parametrize("name", ["", "..", "a\x00b", "no/such", "x.yaml", "."])
def test_names_that_are_none(name: str) -> None:
    """Tests that nonsense is an input error, nothing else."""
    with pytest.raises(InputError):
        show_scenario(name)


def test_copy_takes_the_table_along(tmp_path: Path) -> None:
    """Tests that a copied scenario can be run where it is."""
    copied = copy_scenario("host-inventory", tmp_path)
    assert [path.name for path in copied] == [
        "host-inventory.yaml",
        "host-inventory.csv",
    ]
    scenario = load_scenario(copied[0], shipped_catalog())
    assert len(scenario.supply.offers) > 5


def test_copy_to_a_name(tmp_path: Path) -> None:
    """Tests that the new file may be named, in a new folder."""
    target = tmp_path / "new" / "mine.yaml"
    assert copy_scenario("quickstart-7b", target) == (target,)
    original = (shipped_scenarios() / "quickstart-7b.yaml").read_bytes()
    assert target.read_bytes() == original


def test_copy_never_overwrites(tmp_path: Path) -> None:
    """Tests that nothing is written if one of the files is there already."""
    (tmp_path / "host-inventory.csv").write_text("mine", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        copy_scenario("host-inventory", tmp_path)
    assert [issue.code for issue in caught.value.issues] == ["file-exists"]
    assert [path.name for path in tmp_path.iterdir()] == ["host-inventory.csv"]
    assert (tmp_path / "host-inventory.csv").read_text(encoding="utf-8") == "mine"


def test_copy_to_where_nothing_can_be(tmp_path: Path) -> None:
    """Tests that a failure of the file system is told, and leaves nothing."""
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        copy_scenario("quickstart-7b", tmp_path / "file" / "below.yaml")
    assert [issue.code for issue in caught.value.issues] == ["file-unwritable"]
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_the_schema_describes_every_key() -> None:
    """Tests that an editor can help with each key of each mapping."""
    schema = scenario_schema()
    mappings = [schema, *schema["$defs"].values()]
    mute = [
        f"{mapping.get('title')}.{key}"
        for mapping in mappings
        for key, field in mapping.get("properties", {}).items()
        if not field.get("description") and "$ref" not in str(field)
    ]
    assert not mute
    assert all(mapping.get("description") for mapping in mappings)
    assert {"model", "workload"} == set(schema["required"])
    assert all(
        mapping["additionalProperties"] is False
        for mapping in mappings
        if "properties" in mapping
    )
