"""Tests of the files to fill in."""

import csv
from pathlib import Path

import pytest

from solver.accuracy.report import accuracy_report
from solver.catalog.consistency import check_catalog
from solver.catalog.fields import columns_of
from solver.catalog.load import PARTS, load_catalog
from solver.importing.templates import KINDS, offer_columns, template_of
from solver.scenario.csv_offers import read_offers
from solver.scenario.supply_schema import OfferSpec
from tests.scenario.reading import SMALL, read

PART_OF = {"prices": "offers"}


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"offers", "measurements"}))
def test_a_template_loads(tmp_path: Path, kind: str) -> None:
    """Tests that the example is right, alone over the shipped catalog."""
    template = template_of(kind)
    file = tmp_path / template.file
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(template.text, encoding="utf-8")
    part = PART_OF.get(kind, kind)
    (entry,) = load_catalog([tmp_path], shipped=False).entries(part).values()
    assert entry.source
    over = load_catalog([tmp_path], environment={})
    faults = [i for i in check_catalog(over) if str(tmp_path) in str(i.where)]
    assert faults == []


def test_a_table_of_measurements_loads(tmp_path: Path) -> None:
    """Tests that the example of one's own measurements is predicted, whole and read."""
    template = template_of("measurements")
    file = tmp_path / template.file
    header = next(csv.reader([template.text.splitlines()[-2]]))
    run = {"model": "llama-2-7b", "gpu": "H100-SXM", "tokens_b": "2000"}
    run |= {"gpu_hours": "90000", "n_gpus": "64", "id": "a whole run"}
    row = ",".join(run.get(column, "") for column in header)
    file.write_text(f"{template.text}{row}\n", encoding="utf-8")
    report = accuracy_report([file], load_catalog(environment={}))
    assert {o.metric for o in report.outcomes} == {"step_time", "memory", "run"}
    assert (report.skipped, report.unread) == ((), ())


def test_a_table_of_offers_loads(tmp_path: Path) -> None:
    """Tests that the example of one's own offers is one."""
    (tmp_path / "mine.csv").write_text(template_of("offers").text, encoding="utf-8")
    source = read_offers(tmp_path / "mine.csv", "mine.csv")
    (row,) = source.data["offers"]
    assert row["network"] == {"gbps_per_node": 3200, "kind": "infiniband"}
    scenario = read(f"{SMALL}offers: mine.csv\n", base=tmp_path)
    (offer,) = scenario.supply.offers
    assert (offer.id, offer.max_nodes) == ("acme-h100", 32)
    assert offer.usd_per_node_hour == pytest.approx(8 * 2.10)


@pytest.mark.parametrize("kind", KINDS)
def test_every_column_is_explained(kind: str) -> None:
    """Tests that each column has a meaning, and stands in the text."""
    template = template_of(kind)
    assert [c.name for c in template.columns if len(c.meaning) < 8] == []
    for column in template.columns:
        assert f"#   {column.name}" in template.text
    assert all(len(line) <= 88 for line in template.text.splitlines() if line[0] == "#")
    if template.file.endswith(".csv"):
        rows = [line for line in template.text.splitlines() if line[0] != "#"]
        header, example = csv.reader(rows)
        assert header == [column.name for column in template.columns]
        for column in template.columns:
            assert example[header.index(column.name)] or not column.needed


def test_columns_are_those_of_the_schema() -> None:
    """Tests that no column was forgotten, or made up."""
    for kind, part in PARTS.items():
        names = {column.name for column in columns_of(kind)}
        hidden = {"id"} if part.form in ("folder", "mapping") else set()
        assert names == set(part.model.model_fields) - hidden
    named = {column.name.partition(".")[0] for column in offer_columns()}
    assert named == set(OfferSpec.model_fields)
