"""Tests of writing imported prices into a catalog folder."""

import filecmp
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from solver.catalog.load import load_catalog
from solver.dates import today
from solver.errors import InputError
from solver.importing.models import import_model
from solver.importing.prices import ImportOptions, import_prices
from tests.importing.lists import AWS, GCP, GPUHUNT, LAMBDA, VANTAGE, imported, write
from tests.project.source import ROOT

LISTS = {
    "skypilot": ("gcp/vms.csv", GCP),
    "gpuhunt": ("gcp.csv", GPUHUNT),
    "vantage": ("instances.json", VANTAGE),
}


@pytest.mark.parametrize("tool", LISTS)
def test_what_is_written_reads_back(tmp_path: Path, tool: str) -> None:
    """Tests that the folder holds the very offers, servers and regions."""
    done = imported(tmp_path, tool, *LISTS[tool])
    alone = load_catalog([tmp_path / "out"], shipped=False)
    assert tuple(alone.offers.values()) == done.overlay.offers
    assert tuple(alone.servers.values()) == done.overlay.servers
    assert tuple(alone.regions.values()) == done.overlay.regions
    over = load_catalog([tmp_path / "out"], environment={})
    assert {o.id for o in done.overlay.offers} <= over.offers.keys()


@pytest.mark.parametrize("tool", LISTS)
def test_twice_is_the_same(tmp_path: Path, tool: str) -> None:
    """Tests that the same files make the same bytes, also over themselves."""
    name, content = LISTS[tool]
    first = imported(tmp_path, tool, name, content)
    file = tmp_path / name
    import_prices(tool, [file], tmp_path / "again")
    import_prices(tool, [file], tmp_path / "again", ImportOptions(update=True))
    same, differ, odd = filecmp.cmpfiles(
        tmp_path / "out", tmp_path / "again", first.files, shallow=False
    )
    assert (sorted(same), differ, odd) == (sorted(first.files), [], [])


def test_source_and_date_of_every_row(tmp_path: Path) -> None:
    """Tests the source and date by default, and those that are given."""
    done = imported(tmp_path / "a", "skypilot", "aws/vms.csv", AWS)
    entries = (*done.overlay.offers, *done.overlay.servers)
    (source,) = {entry.source for entry in entries}
    assert source.startswith("skypilot aws/vms.csv sha256:")
    assert {entry.as_of for entry in entries} == {"2026-10-05"}
    given = {"source": "our broker", "as_of": "2026-10"}
    done = imported(tmp_path / "b", "skypilot", "aws/vms.csv", AWS, **given)
    assert {(o.source, o.as_of) for o in done.overlay.offers} == {
        ("our broker", "2026-10")
    }


def test_a_folder_is_not_overwritten_unasked(tmp_path: Path) -> None:
    """Tests that an existing folder is refused, and left as it was."""
    imported(tmp_path, "skypilot", "aws/vms.csv", AWS)
    before = (tmp_path / "out/offers/aws.csv").read_bytes()
    with pytest.raises(InputError, match="--update") as caught:
        imported(tmp_path, "skypilot", "aws/vms.csv", AWS.replace("55.04", "50.00"))
    assert caught.value.issues[0].code == "file-exists"
    assert (tmp_path / "out/offers/aws.csv").read_bytes() == before


def test_an_update_keeps_the_rest(tmp_path: Path) -> None:
    """Tests that a second list comes beside the first, and a newer one replaces it."""
    imported(tmp_path, "skypilot", "aws/vms.csv", AWS)
    imported(tmp_path, "skypilot", "lambda/vms.csv", LAMBDA, update=True)
    servers = tmp_path / "out/servers.csv"
    owned = servers.read_text(encoding="utf-8").replace("not known.", "ours.")
    servers.write_text(owned, encoding="utf-8")
    (tmp_path / "out/notes.txt").write_text("mine", encoding="utf-8")
    newer = "\n".join(AWS.splitlines()[:3]) + "\n"
    imported(tmp_path, "skypilot", "aws/vms.csv", newer, update=True)
    catalog = load_catalog([tmp_path / "out"], shipped=False)
    assert {o.provider for o in catalog.offers.values()} == {"aws", "lambda"}
    # yesterday's prices that are no longer listed are gone
    assert {o.server for o in catalog.offers.values() if o.provider == "aws"} == {
        "aws-p5.48xlarge"
    }
    assert servers.read_text(encoding="utf-8") == owned  # the owner's words stay
    assert (tmp_path / "out/notes.txt").read_text(encoding="utf-8") == "mine"


def test_all_or_nothing(tmp_path: Path) -> None:
    """Tests that one unreadable file stops the import, every fault told."""
    good = write(tmp_path, "lambda/vms.csv", LAMBDA)
    short = write(
        tmp_path, "aws/vms.csv", "InstanceType,AcceleratorNam,Region\na,b,c\n"
    )
    torn = write(tmp_path, "oci/vms.csv", LAMBDA.replace("H200,2.0,", ""))
    quoted = write(tmp_path, "x/vms.csv", LAMBDA + '"open')
    missing = tmp_path / "none.csv"
    with pytest.raises(InputError) as caught:
        import_prices(
            "skypilot", [good, short, torn, quoted, missing], tmp_path / "out"
        )
    found = [(i.code, i.path, i.hint) for i in caught.value.issues]
    assert found == [
        ("missing-key", "AcceleratorName", "AcceleratorNam"),
        ("missing-key", "AcceleratorCount", None),
        ("missing-key", "Price", None),
        ("wrong-columns", None, None),
        ("csv-syntax", None, None),
        ("file-not-found", None, None),
    ]
    assert str(caught.value.issues[3].where).endswith("oci/vms.csv:4:1")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["aws", "lambda", "oci", "x"]


def test_warnings_are_those_of_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests that the odd prices of the shipped catalog are not told as ours."""
    monkeypatch.chdir(tmp_path)
    file = write(tmp_path, "aws/vms.csv", AWS)
    done = import_prices("skypilot", [file], Path("a"))
    assert [str(issue.where) for issue in done.warnings] == ["a/offers/aws.csv:3:36"]


def test_a_provider_that_is_new_is_told(tmp_path: Path) -> None:
    """Tests that a folder's name taken for a provider does not go unnoticed."""
    done = imported(tmp_path, "skypilot", "downloads/vms.csv", LAMBDA)
    told = [r.what for r in done.findings.assumed if r.reason == "new-provider"]
    assert told == ["downloads"]


def test_nothing_to_import(tmp_path: Path) -> None:
    """Tests that a list of CPU servers leaves no empty folder behind."""
    table = "\n".join([LAMBDA.splitlines()[0], LAMBDA.splitlines()[-1]]) + "\n"
    with pytest.raises(InputError, match="cpu-only 1") as caught:
        imported(tmp_path, "skypilot", "lambda/vms.csv", table)
    assert caught.value.issues[0].code == "nothing-to-import"
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "date", ["yesterday", "2026-13", "26-10-01", "", "2026-02-30", "0000"]
)
def test_dates(tmp_path: Path, date: str) -> None:
    """Tests that a date that is none is refused before anything is written."""
    with pytest.raises(InputError, match="expected 2026-08-31"):
        imported(tmp_path, "skypilot", "aws/vms.csv", AWS, as_of=date)
    assert not (tmp_path / "out").exists()


def test_a_date_to_come_and_a_blank_source(tmp_path: Path) -> None:
    """Tests that both are told before a folder is made that the checks would refuse."""
    given = {"as_of": "2990-01", "source": " "}
    with pytest.raises(InputError) as caught:
        imported(tmp_path, "skypilot", "aws/vms.csv", AWS, **given)
    assert [issue.code for issue in caught.value.issues] == [
        "future-date",
        "missing-source",
    ]
    assert not (tmp_path / "out").exists()


def test_a_file_from_the_future_is_of_today(tmp_path: Path) -> None:
    """Tests that a wrong clock makes no entry that the checks would refuse."""
    file = write(tmp_path, "aws/vms.csv", AWS)
    os.utime(file, (9_000_000_000, 9_000_000_000))
    done = import_prices("skypilot", [file], tmp_path / "out")
    assert {offer.as_of for offer in done.overlay.offers} == {today().isoformat()}


def test_a_broken_folder_is_left_alone(tmp_path: Path) -> None:
    """Tests that an update into a folder with faults tells them and changes nothing."""
    write(tmp_path, "out/offers/mine.csv", "region,server\nx,y\n")
    with pytest.raises(InputError) as caught:
        imported(tmp_path, "skypilot", "aws/vms.csv", AWS, update=True)
    assert {issue.code for issue in caught.value.issues} == {"missing-key"}
    assert [p.name for p in (tmp_path / "out/offers").iterdir()] == ["mine.csv"]


def test_a_link_stays_one(tmp_path: Path) -> None:
    """Tests that the folder which a link leads to is written, and the link is kept."""
    (tmp_path / "real").mkdir()
    (tmp_path / "out").symlink_to("real")
    imported(tmp_path, "skypilot", "aws/vms.csv", AWS)
    assert (tmp_path / "out").is_symlink()
    assert (tmp_path / "real/offers/aws.csv").is_file()


@pytest.mark.parametrize("out", [".", "../here"])
def test_the_current_folder_is_not_moved_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, out: str
) -> None:
    """Tests that the folder in which one stands is refused."""
    file = write(tmp_path, "aws/vms.csv", AWS)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    options = ImportOptions(update=True)
    with pytest.raises(InputError, match="current folder"):
        import_prices("skypilot", [file], Path(out), options)


@pytest.mark.parametrize("step", [1, 2])
def test_a_swap_that_fails_puts_the_folder_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    """Tests that a folder is as it was if either of the renames cannot be done."""
    imported(tmp_path, "skypilot", "aws/vms.csv", AWS)
    before = (tmp_path / "out/offers/aws.csv").read_bytes()
    monkeypatch.setattr("solver.importing.folder.exchanged", lambda *_: False)
    rename, calls = Path.rename, []

    def failing(path: Path, target: Path) -> Path:
        calls.append(path)
        if len(calls) == step:
            raise OSError(5, "Input/output error")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(InputError, match="Input/output error"):
        imported(tmp_path, "skypilot", "lambda/vms.csv", LAMBDA, update=True)
    assert (tmp_path / "out/offers/aws.csv").read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["aws", "lambda", "out"]


def test_a_swap_that_was_killed_is_put_back(tmp_path: Path) -> None:
    """Tests that the next import finds the folder that a killed one had moved away."""
    imported(tmp_path, "skypilot", "aws/vms.csv", AWS)
    place = tmp_path / ".out.import-12345678"
    place.mkdir()
    (tmp_path / f"{place.name}-new").mkdir()
    (tmp_path / "out").rename(place / "old")
    imported(tmp_path, "skypilot", "lambda/vms.csv", LAMBDA, update=True)
    offers = sorted(p.name for p in (tmp_path / "out/offers").iterdir())
    assert offers == ["aws.csv", "lambda.csv"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["aws", "lambda", "out"]


def test_links_in_a_folder_lead_where_they_did(tmp_path: Path) -> None:
    """Tests that a linked table is read, and not written when it is replaced."""
    imported(tmp_path / "b", "skypilot", "aws/vms.csv", AWS)
    table = tmp_path / "b/out/offers/aws.csv"
    shared = write(tmp_path, "shared/aws.csv", table.read_text(encoding="utf-8"))
    table.unlink()
    table.symlink_to("../../../shared/aws.csv")
    config = ROOT / "tests/data/configs/llama-3.1-8b.json"
    import_model(config, tmp_path / "b/out", "mine")
    assert table.resolve() == shared
    before = shared.read_bytes()
    imported(tmp_path / "b", "skypilot", "aws/vms.csv", AWS, source="x", update=True)
    assert not table.is_symlink()
    assert shared.read_bytes() == before != table.read_bytes()


def test_a_linked_part_is_not_written(tmp_path: Path) -> None:
    """Tests that what lies outside the folder is left alone, and the reason told."""
    imported(tmp_path, "skypilot", "aws/vms.csv", AWS)
    (tmp_path / "out/offers").rename(tmp_path / "elsewhere")
    (tmp_path / "out/offers").symlink_to("../elsewhere")
    before = (tmp_path / "elsewhere/aws.csv").read_bytes()
    with pytest.raises(InputError, match="offers in it is a link"):
        imported(tmp_path, "skypilot", "aws/vms.csv", AWS, source="x", update=True)
    assert (tmp_path / "elsewhere/aws.csv").read_bytes() == before


def test_imports_at_once_all_count(tmp_path: Path) -> None:
    """Tests that none of several imports into a folder is lost."""
    names = [f"m{number}" for number in range(6)]
    config = ROOT / "tests/data/configs/llama-3.1-8b.json"
    with ThreadPoolExecutor(len(names)) as pool:
        done = pool.map(
            lambda name: import_model(config, tmp_path / "out", name), names
        )
        assert [one.architecture.id for one in done] == names
    found = sorted(p.stem for p in (tmp_path / "out/architectures").iterdir())
    assert found == names


def test_folders_that_lead_to_the_target_go_again(tmp_path: Path) -> None:
    """Tests that an import that is refused leaves no folders behind."""
    table = "\n".join([LAMBDA.splitlines()[0], LAMBDA.splitlines()[-1]]) + "\n"
    file = write(tmp_path, "lambda/vms.csv", table)
    with pytest.raises(InputError, match="nothing to import"):
        import_prices("skypilot", [file], tmp_path / "a/b/out")
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize("kind", ["pipe", "nowhere", "circle", "below"])
def test_what_is_there_and_no_folder_is_left_alone(tmp_path: Path, kind: str) -> None:
    """Tests that a pipe, a device or a link without a goal is not moved away."""
    out = tmp_path / "out"
    if kind == "pipe":
        os.mkfifo(out)
    else:
        out.symlink_to(tmp_path / "none" if kind == "nowhere" else out)
    before = out.lstat()
    file = write(tmp_path, "aws/vms.csv", AWS)
    target = out / "x" if kind == "below" else out
    with pytest.raises(InputError) as caught:
        import_prices("skypilot", [file], target, ImportOptions(update=True))
    wanted = "file-unwritable" if kind == "below" else "file-exists"
    assert [issue.code for issue in caught.value.issues] == [wanted]
    assert out.lstat() == before
    assert not (tmp_path / "none").exists()


def test_a_target_that_is_no_folder(tmp_path: Path) -> None:
    """Tests that a file, or a place that cannot be written, is refused."""
    write(tmp_path, "out", "a file")
    with pytest.raises(InputError, match="this is a file"):
        imported(tmp_path, "skypilot", "aws/vms.csv", AWS)
    with pytest.raises(InputError, match="cannot be written"):
        import_prices("skypilot", [tmp_path / "aws/vms.csv"], tmp_path / "out/below/it")
