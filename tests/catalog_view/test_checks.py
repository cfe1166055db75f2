"""Tests of the checks of a whole catalog: each kind of error and of warning."""

from datetime import date
from pathlib import Path

import pytest

from solver.catalog.consistency import WARNINGS
from solver.catalog.load import PARTS, load_catalog
from solver.catalog_view.checks import (
    CheckReport,
    agrees_with_published,
    check_whole_catalog,
)
from tests.catalog.small import copy_of_small, small_catalog, write

TODAY = date(2026, 2, 1)


def checked(folder: Path, day: date = TODAY, max_age_days: float = 180) -> CheckReport:
    """Return what is found in a folder alone."""
    return check_whole_catalog(load_catalog([folder], shipped=False), day, max_age_days)


def replaced(folder: Path, file: str, old: str, new: str) -> Path:
    """Change a file of a copy of the small catalog."""
    copy = copy_of_small(folder)
    text = (copy / file).read_text(encoding="utf-8")
    assert old in text
    return write(copy, file, text.replace(old, new, 1))


def test_the_small_catalog_is_right() -> None:
    """Tests that nothing is found where nothing is wrong, and all is counted."""
    report = check_whole_catalog(small_catalog(), TODAY)
    assert (report.errors, report.warnings) == ((), ())
    assert report.checked.keys() == PARTS.keys()
    assert report.checked["offers"] == 3


HEAD = "region,server,purchase,usd_per_node_hour,source,as_of\n"
ERRORS = [
    # file, text, replaced by, code, end of the place
    (
        "servers.csv",
        ",,small-a,8",
        ",,small-x,8",
        "unknown-reference",
        "servers.csv:2:13",
    ),
    ("offers/acme.csv", "acme/east", "acme/est", "unknown-reference", "acme.csv:2:1"),
    ("offers/acme.csv", ",16,made up", ",16,", "missing-key", "acme.csv:2:37"),
    ("offers/acme.csv", "2026-01", "2026-13", "missing-date", "acme.csv:2:45"),
    ("offers/acme.csv", "2026-01", "2027-01", "future-date", "acme.csv:2:45"),
    (
        "offers/acme.csv",
        "acme/east,8x-small-b",
        "acme/east,8x-small-a",
        "duplicate-id",
        "acme.csv:3:1",
    ),
    ("offers/acme.csv", ",8,16", ",eight,16", "wrong-type", "acme.csv:2:32"),
    ("offers/acme.csv", ",8,16", ",-8,16", "out-of-range", "acme.csv:2:32"),
    (
        "gpus/small-a.yaml",
        "gib: 39",
        "gib: 49",
        "impossible-value",
        "small-a.yaml:6:20",
    ),
    ("gpus/small-a.yaml", "vendor: Acme", "vendr: Acme", "unknown-key", "yaml:1:1"),
    ("regions.csv", "East,US", "East,UX", "unknown-reference", "regions.csv:2:16"),
    (
        "architectures/toy-1b.yaml",
        "as_of:",
        "as_of: soon # ",
        "missing-date",
        "toy-1b.yaml",
    ),
]


@pytest.mark.parametrize(("file", "old", "new", "code", "place"), ERRORS)
def test_error(tmp_path: Path, file, old, new, code, place) -> None:
    """Tests that each kind of fault is an error with its file and line."""
    report = checked(replaced(tmp_path, file, old, new))
    found = [issue for issue in report.errors if issue.code == code]
    assert found, report.errors
    assert place in (found[0].where or "")


def warned(folder: Path, day: date = TODAY, max_age_days: float = 180) -> list[str]:
    """Return code and place within the folder of each warning; there is no error."""
    report = checked(folder, day, max_age_days)
    assert report.errors == ()
    return [f"{i.code} {i.where}".replace(f"{folder}/", "") for i in report.warnings]


def test_odd_prices_are_warnings(tmp_path: Path) -> None:
    """Tests that a spot price above the other, and one of nothing, may be right."""
    rows = HEAD + "".join(
        f"acme/east,8x-small-a,{purchase},{price},made up,2026-01\n"
        for purchase, price in (("on_demand", 8), ("spot", 9), ("monthly", 0))
    )
    assert warned(write(copy_of_small(tmp_path), "offers/acme.csv", rows)) == [
        "spot-not-cheaper offers/acme.csv:3:27",
        "free-offer offers/acme.csv:4:30",
    ]


def test_a_price_far_from_its_peers_is_a_warning(tmp_path: Path) -> None:
    """Tests that cents among dollars are found."""
    rows = HEAD.replace("\n", ",id\n") + "".join(
        f"acme/east,8x-small-a,on_demand,{price},made up,2026-01,{price}\n"
        for price in (8, 9, 10, 11, 900)
    )
    found = warned(write(copy_of_small(tmp_path), "offers/acme.csv", rows))
    assert found == ["price-outlier offers/acme.csv:6:32"]


def test_old_prices_are_told_by_file_and_date() -> None:
    """Tests that the age counts from the end of the stated month, one line a file."""
    day = date(2026, 1, 31)
    assert check_whole_catalog(small_catalog(), day, 0).warnings == ()
    later = check_whole_catalog(small_catalog(), date(2026, 2, 10), 9).warnings
    assert [issue.code for issue in later] == ["stale-price"] * 3
    assert "3 prices are of 2026-01, 10 days old" in later[0].message
    assert (later[0].where or "").endswith("offers/acme.csv:2:1")
    assert "1 price is of 2026-01" in later[1].message  # of the storage
    assert "3 prices are of 2026-01" in later[2].message
    assert (later[2].where or "").endswith("egress.csv:4:1")
    assert check_whole_catalog(small_catalog(), date(2026, 2, 10), 10).warnings == ()


def test_what_nothing_uses_is_a_warning(tmp_path: Path) -> None:
    """Tests that entries no plan can use are told, of each part that has them."""
    folder = copy_of_small(tmp_path)
    gpu = (folder / "gpus/small-a.yaml").read_text(encoding="utf-8")
    write(folder, "gpus/small-c.yaml", gpu.replace("[SA]", "[SC]"))
    tier = (folder / "networks/fabric-400.yaml").read_text(encoding="utf-8")
    write(folder, "networks/fabric-800.yaml", tier)
    links = (folder / "intra_node.yaml").read_text(encoding="utf-8")
    write(
        folder,
        "intra_node.yaml",
        links + links.splitlines()[1].replace("switched", "spare"),
    )
    shared = (folder / "storage/shared.yaml").read_text(encoding="utf-8")
    write(folder, "storage/far.yaml", shared.replace("acme", "faraway"))
    servers = (folder / "servers.csv").read_text(encoding="utf-8")
    spare = servers.splitlines()[1].replace("8x-small-a", "spare", 1)
    write(folder, "servers.csv", servers + spare.replace(",true,", ",,") + "\n")
    assert warned(folder) == [
        "no-standard-server gpus/small-c.yaml:1:1",
        "unused-entry gpus/small-c.yaml:1:1",
        "unused-entry intra_node.yaml:3:1",
        "unused-entry networks/fabric-800.yaml:1:1",
        "unused-entry servers.csv:4:1",
        "unused-entry storage/far.yaml:1:1",
    ]


def test_parameters_that_are_not_the_published_ones(tmp_path: Path) -> None:
    """Tests that the sizes of a model are held against its publisher's count."""
    folder = copy_of_small(tmp_path)
    file = "architectures/toy-1b.yaml"
    text = (folder / file).read_text(encoding="utf-8")
    write(folder, file, text + "reported_params_b: 7\n")
    assert warned(folder) == [f"parameter-count {file}:13:20"]


@pytest.mark.parametrize(
    ("count_b", "stated_b", "agrees"),
    [
        (6.74, 6.74, True),
        (7.2, 7.0, True),  # rounds to 7
        (7.6, 7.0, False),
        (405.85, 405.0, True),
        (180.8, 180.0, True),
        (181.0, 180.0, False),
        (1.237, 1.24, True),
        (1.23, 1.24, False),
    ],
)
def test_agreement(count_b: float, stated_b: float, agrees: bool) -> None:
    """Tests half a per cent, or the rounding of the published figure."""
    assert agrees_with_published(count_b, stated_b) is agrees


def test_two_architectures_of_one_name(tmp_path: Path) -> None:
    """Tests that an alias may not mean two models, whatever its case."""
    folder = copy_of_small(tmp_path)
    text = (folder / "architectures/toy-1b.yaml").read_text(encoding="utf-8")
    write(folder, "architectures/other.yaml", text.replace("[toy]", "[Toy-1B]"))
    (error,) = checked(folder).errors
    assert (error.code, error.path) == ("ambiguous-alias", "toy-1b.aliases")


def test_all_parts_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    """Tests that one broken file does not hide what is wrong in others."""
    folder = copy_of_small(tmp_path)
    write(folder, "gpus/small-a.yaml", "vendor: [")
    write(folder, "calibration.yaml", "a: b: c")
    write(folder, "architectures/bad.yaml", "layers: none")
    write(folder, "architectures/worse.yaml", "- a list")
    text = (folder / "regions.csv").read_text(encoding="utf-8")
    write(folder, "regions.csv", text.replace("East,US", "East,US,"))
    text = (folder / "storage/local.yaml").read_text(encoding="utf-8")
    write(folder, "storage/local.yaml", text.replace("source: made up", 'source: ""'))
    report = checked(folder)
    files = {
        str(i.where).replace(f"{folder}/", "").split(":")[0] for i in report.errors
    }
    assert files == {
        "gpus/small-a.yaml",
        "calibration.yaml",
        "architectures/bad.yaml",
        "architectures/worse.yaml",
        "regions.csv",
        "storage/local.yaml",
    }
    assert {"gpus", "architectures"}.isdisjoint(report.checked)
    assert len(report.errors) == len(set(report.errors))


def test_a_date_of_tomorrow_is_no_fault(tmp_path: Path) -> None:
    """Tests that it may be tomorrow already where a price was read."""
    folder = replaced(tmp_path, "offers/acme.csv", "2026-01", "2026-02-02")
    assert checked(folder, date(2026, 2, 1)).errors == ()
    (error,) = checked(folder, date(2026, 1, 31)).errors
    assert error.code == "future-date"


def test_warnings_are_those_that_may_be_right() -> None:
    """Tests that every code of a warning is told by some check of the shipped data."""
    report = check_whole_catalog(load_catalog(environment={}), date(2026, 11, 30))
    never = {"free-offer", "no-standard-server"}
    assert {issue.code for issue in report.warnings} | never == WARNINGS
