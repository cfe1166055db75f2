"""Tests of offers given beside a scenario."""

from pathlib import Path

import pytest

from solver.errors import InputError
from solver.scenario.added_offers import AddedOffers
from solver.scenario.load import resolve_scenario
from solver.scenario.scenario import Scenario
from solver.yaml_source import load_yaml
from tests.scenario.reading import SMALL, TODAY, shipped_catalog

HEADER = "name,gpu,gpus_per_node,usd_per_gpu_hour,max_nodes\n"
OWN = SMALL + "offers:\n  - {name: mine, gpu: l40s, gpus_per_node: 8}\n"


def added(
    folder: Path, text: str, *rows: str, only: bool = False, sets: tuple[str, ...] = ()
) -> Scenario:
    """Return a scenario with the rows of a table beside it."""
    file = folder / "more.csv"
    file.write_text(HEADER + "\n".join(rows) + "\n", encoding="utf-8")
    return resolve_scenario(
        load_yaml(text, "scenario.yaml"),
        shipped_catalog(),
        sets,
        TODAY,
        added=AddedOffers((file,), only),
    )


def names(scenario: Scenario) -> list[str]:
    """Return the names of a scenario's own offers."""
    return [offer.id for offer in scenario.supply.offers]


def test_on_top_of_the_catalog(tmp_path: Path) -> None:
    """Tests a scenario without offers: the catalog's take part as well."""
    scenario = added(tmp_path, SMALL, "a,l40s,8,0.95,4", "b,h100-sxm-80gb,8,2,")
    assert names(scenario) == ["a", "b"]
    assert scenario.supply.with_catalog


@pytest.mark.parametrize("include", [False, True])
def test_on_top_of_the_scenarios_own(tmp_path: Path, include: bool) -> None:
    """Tests that the scenario decides whether the catalog takes part."""
    text = OWN + ("catalog: include\n" if include else "")
    scenario = added(tmp_path, text, "a,l40s,8,0.95,4")
    assert names(scenario) == ["mine", "a"]
    assert scenario.supply.with_catalog == include


def test_alone(tmp_path: Path) -> None:
    """Tests that --only leaves neither the catalog's nor the scenario's offers."""
    for text in (SMALL, OWN, OWN + "catalog: include\n", SMALL + "offers: none.csv\n"):
        try:
            scenario = added(tmp_path, text, "a,l40s,8,0.95,4", only=True)
        except InputError as error:  # a table that is not there is still told
            assert [issue.code for issue in error.issues] == ["file-not-found"]
            assert text.endswith("none.csv\n")
            continue
        assert names(scenario) == ["a"]
        assert not scenario.supply.with_catalog


def test_faults_point_into_the_table(tmp_path: Path) -> None:
    """Tests the places of cells that are wrong, below rows of the scenario's own."""
    with pytest.raises(InputError) as caught:
        added(tmp_path, OWN, "a,l40s,8,cheap,4", "mine,l40t,8,,")
    found = [
        (i.code, str(i.where).rpartition("/")[2], i.path) for i in caught.value.issues
    ]
    assert found == [
        ("wrong-type", "more.csv:2:10", "offers[1].usd_per_gpu_hour"),
        ("duplicate-name", "more.csv:3:1", "offers[2].name"),
        ("unknown-name", "more.csv:3:6", "offers[2].gpu"),
    ]


def test_overrides_reach_the_rows(tmp_path: Path) -> None:
    """Tests that --set can change a row, by its position in the whole list."""
    scenario = added(tmp_path, OWN, "a,l40s,8,1,4", sets=("offers[1].max_nodes=7",))
    assert [offer.max_nodes for offer in scenario.supply.offers] == [None, 7]


def test_files_that_are_none(tmp_path: Path) -> None:
    """Tests that a missing and a torn table are both told."""
    torn = tmp_path / "torn.csv"
    torn.write_text(HEADER + "a,l40s\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        resolve_scenario(
            load_yaml(SMALL, "scenario.yaml"),
            shipped_catalog(),
            added=AddedOffers((tmp_path / "none.csv", torn)),
        )
    codes = [issue.code for issue in caught.value.issues]
    assert codes == ["file-not-found", "wrong-columns"]
