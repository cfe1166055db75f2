"""Tests of offers in a CSV table."""

from pathlib import Path

import pytest

from solver.errors import InputError
from solver.scenario.csv_offers import read_offers
from solver.scenario.load import load_scenario
from tests.scenario.reading import SMALL, TODAY, faults, read, shipped_catalog

HEADER = "name,gpu,gpus_per_node,network.kind,network.gbps_per_node,usd_per_gpu_hour"


def table(folder: Path, *lines: str) -> str:
    """Write a table and return a scenario that names it."""
    (folder / "mine.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return f"{SMALL}offers: mine.csv\n"


def test_rows_are_offers(tmp_path: Path) -> None:
    """Tests that each row is an offer, empty cells left out."""
    text = table(
        tmp_path,
        "# invented",
        HEADER,
        "a,l40s,8,roce,400,0.95",
        "",
        'b,"h100-sxm-80gb",8,,,',
    )
    scenario = read(text, base=tmp_path)
    first, second = scenario.supply.offers
    assert (first.id, first.usd_per_node_hour) == ("a", pytest.approx(7.6))
    assert (second.id, second.purchase) == ("b", "owned")
    assert scenario.supply.servers[1].network is None
    assert first.source == "stated in mine.csv:3:1"


def test_lists_in_cells(tmp_path: Path) -> None:
    """Tests that stock by date and storage stand in one cell each."""
    text = table(
        tmp_path,
        "name,gpu,gpus_per_node,available,storage",
        "a,l40s,8,4; 2027-01-01:16,lustre; weka",
    )
    (offer,) = read(text, base=tmp_path).supply.offers
    assert [delivery.nodes for delivery in offer.available] == [4, 16]
    assert offer.storage == ("lustre", "weka")


def test_faults_point_into_the_table(tmp_path: Path) -> None:
    """Tests that a wrong cell is told with its own file, line and column."""
    text = table(
        tmp_path, HEADER, "a,l40s,8,roce,400,cheap", "b,l40t,8,,,", "c,l40s,eight,,,"
    )
    found = [(i.code, i.where, i.path) for i in faults(text, base=tmp_path)]
    assert found == [
        ("wrong-type", "mine.csv:2:19", "offers[0].usd_per_gpu_hour"),
        ("unknown-name", "mine.csv:3:3", "offers[1].gpu"),
        ("wrong-type", "mine.csv:4:8", "offers[2].gpus_per_node"),
    ]


def test_unknown_columns(tmp_path: Path) -> None:
    """Tests that a misspelled column is an unknown key with a hint."""
    text = table(tmp_path, "name,gpu,gpus_per_nod,gpus_per_node", "a,l40s,8,8")
    (issue,) = faults(text, base=tmp_path)
    assert (issue.code, issue.hint) == ("unknown-key", "gpus_per_node")


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        (["name,gpu"], "missing-key"),
        (["name,gpu,", "a,b,c"], "missing-key"),
        (["name,name", "a,b"], "duplicate-key"),
        (["name,gpu", "a"], "wrong-columns"),
        (["name,gpu", 'a,"b'], "csv-syntax"),
        (["# nothing"], "missing-key"),
    ],
)
def test_wrong_tables(tmp_path: Path, lines: list[str], code: str) -> None:
    """Tests that what is no table of offers is told."""
    file = tmp_path / "mine.csv"
    file.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_offers(file, "mine.csv")
    assert [issue.code for issue in caught.value.issues] == [code]


def test_a_missing_table(tmp_path: Path) -> None:
    """Tests that a table that is not there is one fault, and the rest is checked."""
    text = f"{SMALL}offers: mine.csv\nprices: [{{provider: awz, discount: 5%}}]\n"
    assert [i.code for i in faults(text, base=tmp_path)] == [
        "file-not-found",
        "unknown-name",
    ]


def test_an_override_may_name_a_table_or_change_a_row(tmp_path: Path) -> None:
    """Tests `--set offers=FILE` and `--set offers[0].key=value`."""
    table(tmp_path, HEADER, "a,l40s,8,,,1")
    scenario = read(SMALL, ["offers=mine.csv"], base=tmp_path)
    assert [offer.id for offer in scenario.supply.offers] == ["a"]
    changed = read(
        f"{SMALL}offers: mine.csv\n", ["offers[0].max_nodes=3"], base=tmp_path
    )
    assert changed.supply.offers[0].max_nodes == 3


def test_the_shipped_inventory() -> None:
    """Tests the invented inventory: five countries, and labelled as invented."""
    scenario = load_scenario("host-inventory", shipped_catalog(), today=TODAY)
    supply = scenario.supply
    assert set(supply.countries.values()) == {"US", "SG", "JP", "HK", "KR"}
    assert {offer.note for offer in supply.offers} == {"invented"}
    assert not supply.with_catalog
    assert all(offer.max_nodes for offer in supply.offers)


@pytest.mark.parametrize(
    ("separator", "name"), [(";", "semicolon"), ("\t", "tab"), ("|", "bar")]
)
def test_other_separators_are_one_fault(
    tmp_path: Path, separator: str, name: str
) -> None:
    """Tests that a spreadsheet's export is recognised, and told once."""
    rows = (["name", "gpu", "gpus_per_node"], ["a", "l40s", "8"], ["b", "l4", "1,5"])
    text = table(tmp_path, *(separator.join(row) for row in rows))
    (issue,) = faults(text, base=tmp_path)
    assert issue.code == "csv-syntax"
    assert f"{name}-separated" in issue.message


def test_terms_in_cells(tmp_path: Path) -> None:
    """Tests lead time, fabric, purchase kind and term, with and without units."""
    text = table(
        tmp_path,
        "name,gpu,gpus_per_node,usd_per_gpu_hour,lead_time,max_nodes_per_cluster,"
        "purchase,min_term",
        "a,l40s,8,1,14,8,reserved,1 year",
        "b,l40s,8,1,2 weeks,,,",
    )
    first, second = read(text, base=tmp_path).supply.offers
    assert (first.lead_time_days, second.lead_time_days) == (14, 14)
    assert (first.max_nodes_per_cluster, second.max_nodes_per_cluster) == (8, None)
    assert (first.purchase, first.min_term_hours) == ("reserved", 8760.0)


def test_faults_of_terms_point_into_the_table(tmp_path: Path) -> None:
    """Tests file, line and column of a wrong term."""
    text = table(
        tmp_path, "name,gpu,gpus_per_node,usd_per_gpu_hour,min_term", "a,l40s,8,1,1 yr!"
    )
    (issue,) = faults(text, base=tmp_path)
    assert (issue.where, issue.path) == ("mine.csv:2:12", "offers[0].min_term")
