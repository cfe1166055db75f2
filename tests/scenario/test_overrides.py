"""Tests of `--set`."""

import pytest

from solver.errors import IssueLog
from solver.scenario.overrides import (
    apply_overrides,
    parse_path,
    scenario_source,
)
from solver.yaml_source import load_yaml
from tests.scenario.reading import SMALL, faults, only_fault, read

OFFERS = """\
model: llama-2-7b
workload: {tokens: 2T}
offers:
  - {name: mine, gpu: l40s, gpus_per_node: 8, usd_per_gpu_hour: 1}
"""


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("constraints.deadline", ("constraints", "deadline")),
        ("offers[0].max_nodes", ("offers", 0, "max_nodes")),
        ("offers.0.max_nodes", ("offers", 0, "max_nodes")),
        ("name", ("name",)),
        ("", None),
        (".", None),
        ("a.", None),
        ("[0]", None),
        ("a..b", None),
        ("a[x]", None),
    ],
)
def test_paths(text: str, path: tuple[str | int, ...] | None) -> None:
    """Tests how places are written, and that nonsense is none."""
    assert parse_path(text) == path


def test_a_value_is_read_as_in_the_file() -> None:
    """Tests that overrides are YAML: text, numbers, lists and mappings."""
    scenario = read(
        SMALL,
        [
            "constraints.deadline=20 days",
            "constraints.countries=[SG, JP]",
            "workload.global_batch_size={sequences: 512}",
            "workload.tokens=1e12",
            ("constraints.budget", 1000),
        ],
    )
    assert scenario.constraints.deadline_s == 20 * 86_400
    assert scenario.constraints.countries == ("SG", "JP")
    assert scenario.constraints.budget_usd == 1000
    assert (scenario.workload.batch_target, scenario.workload.tokens) == (512, 1e12)
    assert scenario.constraints.stated == {"deadline", "countries", "budget"}


def test_later_overrides_win() -> None:
    """Tests the order of overrides, also where one sets what is around another."""
    assert read(SMALL, ["name=a", "name=b"]).name == "b"
    scenario = read(SMALL, ["constraints.budget=1", "constraints={deadline: 3 days}"])
    assert scenario.constraints.budget_usd is None


def test_an_empty_value_takes_a_key_away() -> None:
    """Tests that a limit of the file can be lifted."""
    text = f"{SMALL}constraints: {{deadline: 3 days}}\n"
    assert read(text, ["constraints.deadline="]).constraints.deadline_s is None


def test_an_item_of_a_list() -> None:
    """Tests that one offer of several can be changed."""
    scenario = read(OFFERS, ["offers[0].max_nodes=3"])
    assert scenario.supply.offers[0].max_nodes == 3


def test_faults_name_the_override() -> None:
    """Tests that a wrong value or key is told with the number of its override."""
    found = faults(SMALL, ["name=x", "constraints.deadlin=3 days", "limits.time=x"])
    assert [(issue.code, issue.where, issue.path) for issue in found] == [
        ("unknown-key", "--set #2", "constraints.deadlin"),
        ("wrong-type", "--set #3", "limits.time"),
    ]
    assert found[0].hint == "deadline"


def test_what_stands_in_the_file_keeps_its_place() -> None:
    """Tests that an override beside a fault does not hide where the fault is."""
    text = f"{SMALL}constraints: {{deadlin: 3 days}}\n"
    issue = only_fault(text, ["constraints.budget=100"])
    assert issue.where == "s.yaml:3:15"


@pytest.mark.parametrize(
    ("override", "code"),
    [
        ("constraints.deadline", "override-syntax"),
        ("=3", "override-syntax"),
        ("a..b=3", "override-syntax"),
        ("name=[1, 2", "yaml-syntax"),
        ("model.layers=3", "override-path"),
        ("offers[7].name=x", "override-path"),
        ("offers.name=x", "override-path"),
        ("workload[0]=x", "override-path"),
    ],
)
def test_wrong_overrides(override: str, code: str) -> None:
    """Tests that an override that cannot be set is told."""
    assert only_fault(OFFERS, [override]).code == code


def test_text_that_is_no_yaml_is_text() -> None:
    """Tests that a name with characters that YAML reserves needs no quotes."""
    assert read(SMALL, ["name=@home"]).name == "@home"


def test_the_file_is_not_changed() -> None:
    """Tests that overrides leave the data that was read alone."""
    source = load_yaml(OFFERS, "s.yaml")
    changed = scenario_source(source)
    apply_overrides(changed, ["offers[0].name=yours", "name=x"], IssueLog())
    assert changed.data["offers"][0]["name"] == "yours"
    assert source.data["offers"][0]["name"] == "mine"
    assert "name" not in source.data


def test_the_place_is_what_the_user_typed() -> None:
    """Tests that no line and column are added to the number of an override."""
    issue = only_fault(SMALL, ["constraints.gpus.types=[a, {b"])
    assert (issue.code, issue.where) == ("yaml-syntax", "--set #1")


def test_an_item_of_a_list_that_is_not_there() -> None:
    """Tests that a list is not made up from one of its items."""
    issue = only_fault(SMALL, ["offers.0.name=x"])
    assert (issue.code, issue.path) == ("override-path", "offers[0].name")
    assert issue.message == "there is no list 'offers' to change: set all of it"
