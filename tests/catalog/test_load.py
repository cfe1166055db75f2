"""Tests of reading catalogs."""

import os
import random
from pathlib import Path

import pytest

from solver.catalog.load import ENVIRONMENT_VARIABLE, PARTS, load_catalog
from solver.catalog.schema import Offer
from solver.errors import InputError
from tests.catalog.small import OK_SMALL, copy_of_small, small_catalog, write

OFFER_HEADER = "region,server,purchase,usd_per_node_hour,source,as_of\n"


def _entries(catalog):
    return {
        kind: [entry.model_dump() for entry in catalog.entries(kind).values()]
        for kind in PARTS
    }


def _issues(folder, kind):
    with pytest.raises(InputError) as caught:
        load_catalog([folder], shipped=False).entries(kind)
    return caught.value.issues


def test_the_small_catalog_holds_what_it_should():
    """Tests that every form of part is read: folders, tables and mappings."""
    catalog = small_catalog()
    assert list(catalog.gpus) == ["small-a", "small-b"]
    assert list(catalog.servers) == ["8x-small-a", "8x-small-b"]
    assert catalog.servers["8x-small-b"].network_gbps == 3200
    assert list(catalog.intra_node) == ["none", "switched"]
    assert catalog.countries["US"].aliases == ("USA", "America")
    assert list(catalog.offers) == [
        "acme/east/8x-small-a/on_demand",
        "acme/east/8x-small-b/on_demand",
        "acme/island/8x-small-b/spot",
    ]
    spot = catalog.offers["acme/island/8x-small-b/spot"]
    assert (spot.provider, spot.max_nodes, spot.storage) == ("acme", None, None)
    assert catalog.regions["acme/island"].region == "island"
    assert catalog.architecture("toy-1b").layers == 16
    assert catalog.providers == ("acme",)


def test_nothing_is_read_before_it_is_asked_for(tmp_path):
    """Tests that a broken part does not stand in the way of another."""
    folder = write(copy_of_small(tmp_path), "offers/broken.csv", "nonsense\n1\n")
    catalog = load_catalog([folder], shipped=False)
    assert len(catalog.gpus) == 2
    with pytest.raises(InputError):
        _ = catalog.offers


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_rows_does_not_matter(tmp_path, seed):
    """Tests that shuffled tables and mappings give the same catalog."""
    folder = copy_of_small(tmp_path)
    for path in folder.rglob("*.csv"):
        header, *rows = path.read_text(encoding="utf-8").splitlines()
        random.Random(seed).shuffle(rows)
        path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    path = folder / "intra_node.yaml"
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join(reversed(lines)), encoding="utf-8")
    shuffled = load_catalog([folder], shipped=False)
    assert _entries(shuffled) == _entries(small_catalog())
    for kind in PARTS:
        assert list(shuffled.entries(kind)) == sorted(shuffled.entries(kind))


def test_a_later_folder_overrides_by_id(tmp_path):
    """Tests that entries of the same id are replaced and all others stay."""
    write(
        tmp_path,
        "offers/mine.csv",
        OFFER_HEADER + "acme/east,8x-small-a,on_demand,7,mine,2026-11\n",
    )
    catalog = load_catalog([OK_SMALL, tmp_path], shipped=False)
    assert len(catalog.offers) == 3
    assert catalog.offers["acme/east/8x-small-a/on_demand"].usd_per_node_hour == 7
    assert catalog.offers["acme/east/8x-small-b/on_demand"].usd_per_node_hour == 24
    reversed_order = load_catalog([tmp_path, OK_SMALL], shipped=False)
    assert reversed_order.offers["acme/east/8x-small-a/on_demand"].max_nodes == 16


def test_precedence_is_shipped_then_environment_then_folders(tmp_path):
    """Tests that --catalog wins over GPUPLAN_CATALOG, and that over the shipped one."""
    for name, price in (("first", 1), ("second", 2), ("given", 3)):
        row = f"aws/us-east-1,aws-p5.48xlarge,on_demand,{price},mine,2026-11\n"
        write(tmp_path / name, "offers/aws.csv", OFFER_HEADER + row)
    offer = "aws/us-east-1/p5.48xlarge/on_demand"
    both = os.pathsep.join(str(tmp_path / name) for name in ("first", "second"))
    environment = {ENVIRONMENT_VARIABLE: both}

    def price_of(folders, variables):
        catalog = load_catalog(folders, environment=variables)
        return catalog.offers[offer].usd_per_node_hour

    assert price_of([], {}) == pytest.approx(55.04, abs=0.01)
    assert price_of([], environment) == 2
    assert price_of([tmp_path / "given"], environment) == 3


def test_calibration_is_merged_value_by_value(tmp_path):
    """Tests that a later calibration.yaml replaces only what it states."""
    write(tmp_path / "low", "calibration.yaml", "a: {x: 1, y: 2}\nb: 3\n")
    write(tmp_path / "high", "calibration.yaml", "a: {y: 5}\nc: 6\n")
    catalog = load_catalog([tmp_path / "low", tmp_path / "high"], shipped=False)
    assert dict(catalog.calibration) == {"a": {"x": 1, "y": 5}, "b": 3, "c": 6}


def test_places_are_known():
    """Tests that entries and their fields are found by file, line and column."""
    catalog = small_catalog()
    name = str(OK_SMALL)
    spot = "acme/island/8x-small-b/spot"
    assert catalog.where("offers", spot) == f"{name}/offers/acme.csv:4:1"
    assert catalog.where("offers", spot, "purchase") == f"{name}/offers/acme.csv:4:24"
    assert catalog.where("gpus", "small-a") == f"{name}/gpus/small-a.yaml:1:1"
    assert catalog.where("gpus", "small-a", "tdp_w") == f"{name}/gpus/small-a.yaml:12:8"
    assert catalog.where("intra_node", "switched") == f"{name}/intra_node.yaml:2:1"
    assert catalog.where("architectures", "toy-1b") is not None


def test_all_faults_of_a_part_are_told_at_once(tmp_path):
    """Tests that each fault has code, place, path and nearest spelling."""
    folder = write(
        copy_of_small(tmp_path),
        "gpus/small-a.yaml",
        "vendor: Acme\nfamily: Small A\ngeneration: ampere\nmemory_gb: many\n"
        "usable_memory_gib: -1\nusable_memory_source: made up\n"
        "memory_bandwith_gb_per_s: 1500\nsource: made up\n",
    )
    write(folder, "gpus/small-c.yaml", "vendor: [Acme\n")
    issues = {(issue.code, issue.path): issue for issue in _issues(folder, "gpus")}
    place = f"{folder}/gpus/small-a.yaml"
    assert issues["wrong-type", "small-a.memory_gb"].where == f"{place}:4:12"
    assert issues["out-of-range", "small-a.usable_memory_gib"].where == f"{place}:5:20"
    unknown = issues["unknown-key", "small-a.memory_bandwith_gb_per_s"]
    assert unknown.where == f"{place}:7:1"
    assert unknown.hint == "memory_bandwidth_gb_per_s"
    missing = issues["missing-key", "small-a.memory_bandwidth_gb_per_s"]
    assert missing.where == f"{place}:1:1"
    assert ("yaml-syntax", None) in issues
    assert len(issues) == 5


def test_faults_of_a_table_have_line_and_column(tmp_path):
    """Tests that cells, rows and columns of a CSV table are pointed at."""
    folder = write(
        copy_of_small(tmp_path),
        "offers/acme.csv",
        OFFER_HEADER
        + '"acme/east",8x-small-a,on_demnd,8,"made, up",2026-01\n'
        + "acme/east,8x-small-a,spot,cheap,made up,2026-01\n"
        + "acme/east,8x-small-a,spot,1\n"
        + "acme/east,8x-small-b,spot,nan,made up,2026-01\n",
    )
    issues = _issues(folder, "offers")
    name = f"{folder}/offers/acme.csv"
    # the form of the table first, then what its cells hold
    assert [(issue.code, issue.where) for issue in issues] == [
        ("wrong-columns", f"{name}:4:1"),
        ("wrong-value", f"{name}:2:24"),
        ("wrong-type", f"{name}:3:27"),
        ("out-of-range", f"{name}:5:27"),
    ]
    assert issues[1].hint == "on_demand"


def test_wrong_columns_of_a_table(tmp_path):
    """Tests that unknown, repeated and missing columns are told once, not per row."""
    folder = write(
        copy_of_small(tmp_path),
        "offers/acme.csv",
        "region,server,purchase,usd_per_hour,source,source\n" + "a,b,spot,1,x,x\n" * 3,
    )
    issues = _issues(folder, "offers")
    assert [(issue.code, issue.path) for issue in issues] == [
        ("unknown-key", "usd_per_hour"),
        ("duplicate-key", "source"),
        ("missing-key", "usd_per_node_hour"),
    ]
    assert issues[0].hint == "usd_per_node_hour"


def test_duplicate_ids_are_refused(tmp_path):
    """Tests that an id stands only once in a folder, in whatever file."""
    folder = copy_of_small(tmp_path)
    row = "acme/east,8x-small-a,on_demand,9,made up,2026-01\n"
    write(folder, "offers/zeta.csv", OFFER_HEADER + row)
    (issue,) = _issues(folder, "offers")
    assert issue.code == "duplicate-id"
    assert issue.where == f"{folder}/offers/zeta.csv:2:1"
    assert f"{folder}/offers/acme.csv:2:1" in issue.message


def test_the_id_in_a_file_is_its_name(tmp_path):
    """Tests that a YAML entry cannot contradict the name of its file."""
    folder = copy_of_small(tmp_path)
    text = (folder / "gpus/small-a.yaml").read_text(encoding="utf-8")
    write(folder, "gpus/small-a.yaml", f"id: small-x\n{text}")
    (issue,) = _issues(folder, "gpus")
    assert (issue.code, issue.where) == (
        "wrong-value",
        f"{folder}/gpus/small-a.yaml:1:5",
    )


def test_folders_that_are_none_are_told(tmp_path):
    """Tests that a missing folder and a misspelled part are refused at once."""
    write(tmp_path / "typo", "offer/acme.csv", "region\n")
    write(tmp_path / "typo", "README.md", "mine\n")
    with pytest.raises(InputError) as caught:
        load_catalog([tmp_path / "nowhere", tmp_path / "typo"])
    codes = [(issue.code, issue.hint) for issue in caught.value.issues]
    assert codes == [("folder-not-found", None), ("unknown-catalog-part", "offers")]


def test_special_cells(tmp_path):
    """Tests that free storage, tiers, deliveries and quoted commas are understood."""
    folder = write(
        copy_of_small(tmp_path),
        "offers/acme.csv",
        "id,region,server,purchase,usd_per_node_hour,storage,available,source,as_of\n"
        'one,acme/east,8x-small-a,owned,0,free,2026-12-01:8;4,"a, b",2026-01\n'
        "two,acme/east,8x-small-a,spot,1,shared; local,,x,2026-01\n",
    )
    offers = load_catalog([folder], shipped=False).offers
    assert offers["one"].storage == ()
    assert offers["one"].source == "a, b"
    assert [
        (d.start and d.start.isoformat(), d.nodes) for d in offers["one"].available
    ] == [
        ("2026-12-01", 8),
        (None, 4),
    ]
    assert offers["two"].storage == ("shared", "local")


def test_a_list_where_an_entry_should_be(tmp_path):
    """Tests that the top of a file, and an entry of a mapping, have to hold keys."""
    folder = copy_of_small(tmp_path)
    write(folder, "gpus/small-a.yaml", "- vendor\n")
    write(folder, "optimizers.yaml", "adamw: 8\nlion: [4]\n")
    assert [issue.code for issue in _issues(folder, "gpus")] == ["wrong-type"]
    issues = _issues(folder, "optimizers")
    assert [(i.code, i.path) for i in issues] == [
        ("wrong-type", "adamw"),
        ("wrong-type", "lion"),
    ]


def test_unknown_architectures_are_no_part():
    """Tests that an architecture is asked for by its id."""
    with pytest.raises(KeyError):
        small_catalog().architecture("toy-2b")
    with pytest.raises(KeyError):
        small_catalog().entries("gpu")


def test_entries_can_be_added():
    """Tests that own entries come on top, or alone, and leave the original as it is."""
    catalog = small_catalog()
    own = Offer(
        id="mine",
        provider="me",
        region="me/home",
        server="8x-small-a",
        purchase="owned",
        usd_per_node_hour=0,
        source="mine",
    )
    assert len(catalog.with_entries(offers=[own]).offers) == 4
    assert "me" in catalog.with_entries(offers=[own]).providers
    alone = catalog.with_entries(alone=["offers"], offers=[own])
    assert list(alone.offers) == ["mine"]
    assert alone.where("offers", "mine") is None
    assert alone.servers == catalog.servers
    assert len(catalog.offers) == 3
    with pytest.raises(TypeError):
        catalog.offers["mine"] = own


def test_paths_may_be_relative(monkeypatch):
    """Tests that folders are found from where the user stands."""
    monkeypatch.chdir(OK_SMALL.parent)
    catalog = load_catalog([Path("ok_small")], shipped=False)
    assert catalog.where("gpus", "small-b") == "ok_small/gpus/small-b.yaml:1:1"


def test_terms_in_a_price_list(tmp_path: Path) -> None:
    """Tests that a term is part of an offer's id, so that two of them can stand."""
    write(
        tmp_path,
        "offers/acme.csv",
        "region,server,purchase,usd_per_node_hour,min_term_hours,lead_time_days,"
        "max_nodes_per_cluster,source,as_of\n"
        "acme/east,8x-small-a,reserved,6,8760,14,16,made up,2026-01\n"
        "acme/east,8x-small-a,reserved,5,26280,,,made up,2026-01\n"
        "acme/east,8x-small-b,monthly,9,2190,,,made up,2026-01\n"
        "acme/island,8x-small-b,monthly,9,720,,,made up,2026-01\n",
    )
    offers = load_catalog([OK_SMALL, tmp_path], shipped=False).offers
    first = offers["acme/east/8x-small-a/reserved-1y"]
    assert (first.min_term_hours, first.lead_time_days) == (8760, 14)
    assert first.max_nodes_per_cluster == 16
    assert offers["acme/east/8x-small-a/reserved-3y"].lead_time_days == 0
    assert "acme/east/8x-small-b/monthly-3m" in offers
    assert "acme/island/8x-small-b/monthly-30d" in offers


@pytest.mark.parametrize(
    ("column", "cell", "code"),
    [
        ("min_term_hours", "-1", "out-of-range"),
        ("min_term_hours", "1 year", "wrong-type"),
        ("min_term_hours", "nan", "out-of-range"),
        ("lead_time_days", "1.5", "wrong-type"),
        ("lead_time_days", "99999", "out-of-range"),
        ("max_nodes_per_cluster", "0", "out-of-range"),
        ("min_term_hour", "1", "unknown-key"),
    ],
)
def test_wrong_terms_in_a_price_list(
    tmp_path: Path, column: str, cell: str, code: str
) -> None:
    """Tests that each wrong cell is told with its file and line."""
    write(
        tmp_path,
        "offers/acme.csv",
        f"region,server,purchase,usd_per_node_hour,{column},source,as_of\n"
        f"acme/east,8x-small-a,monthly,6,{cell},made up,2026-01\n",
    )
    with pytest.raises(InputError) as caught:
        _ = load_catalog([OK_SMALL, tmp_path], shipped=False).offers
    (issue,) = caught.value.issues
    assert issue.code == code
    assert "offers/acme.csv:" in (issue.where or "")
    assert issue.hint == ("min_term_hours" if code == "unknown-key" else None)
