"""Tests of `gpuplan catalog`."""

import csv
import json
from io import StringIO
from pathlib import Path

import pytest

from solver.catalog.load import ENVIRONMENT_VARIABLE
from solver.catalog_view.kinds import KINDS
from tests.catalog.small import OK_SMALL, write
from tests.cli.running import run, run_process

Capture = pytest.CaptureFixture[str]

HEAD = "region,server,purchase,usd_per_node_hour,source,as_of\n"


def offers(folder: Path, *rows: str) -> Path:
    """Write a price list of one's own, and return its folder."""
    return write(folder, "offers/mine.csv", HEAD + "".join(f"{row}\n" for row in rows))


@pytest.mark.parametrize("kind", KINDS)
def test_list_in_every_format(capsys: Capture, kind: str) -> None:
    """Tests that table, CSV and JSON of each kind have the same rows in one order."""
    as_json = run(capsys, "catalog", "list", kind, "--json")
    assert as_json.status == 0
    assert as_json.data["ok"] is True
    rows = as_json.data["rows"]
    assert len(rows) == as_json.data["total"] > 0
    as_csv = run(capsys, "catalog", "list", kind, "--csv")
    table = list(csv.DictReader(StringIO(as_csv.out)))
    assert [row["id"] for row in table] == [str(row["id"]) for row in rows]
    assert list(table[0]) == list(rows[0])
    page = run(capsys, "catalog", "list", kind, "--limit", "2")
    assert (page.status, page.err) == (0, "")
    assert page.out.startswith(f"2 of {len(rows):,} ")


@pytest.mark.parametrize("width", ["40", "80", "120", "200"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_list_fits_the_terminal(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, kind: str, width: str
) -> None:
    """Tests that no line is longer than the terminal is wide, however narrow it is."""
    monkeypatch.setenv("COLUMNS", width)
    lines = run(capsys, "catalog", "list", kind, "--limit", "25").out.splitlines()
    assert max(map(len, lines)) <= int(width)


def test_columns_without_room_are_named(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests that nothing is left out unsaid, and a wide terminal shows it."""
    monkeypatch.setenv("COLUMNS", "80")
    narrow = run(capsys, "catalog", "list", "gpus", "--gpu", "H100").out
    assert "Left out for the width of the terminal: vendor" in narrow
    assert "NVIDIA" not in narrow
    monkeypatch.setenv("COLUMNS", "140")
    wide = run(capsys, "catalog", "list", "gpus", "--gpu", "H100").out
    assert "Left out" not in wide
    assert "NVIDIA" in wide


def test_a_list_of_offers(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests the table that a buyer looks at first: what, where, how much, how sure."""
    monkeypatch.setenv("COLUMNS", "100")
    ran = run(capsys, "catalog", "list", "offers", "--catalog", OK_SMALL, "--gpu", "SB")
    lines = ran.out.splitlines()
    assert lines[0] == "2 offers, sorted by usd_per_gpu_hour, gpu, id"
    words = [line.split() for line in lines if "small-b" in line]
    assert words[0][:3] == ["acme/island", "SG", "8x-small-b"]
    assert words[0][-5:] == ["1.50", "assumed", "2026-01", "quote,", "old"]
    assert words[1][-4:] == ["3.00", "known", "2026-01", "old"]
    assert "A price list is not stock" in ran.out
    assert "A spot price is a quote of its date" in ran.out


def test_a_marketplace_says_so(capsys: Capture) -> None:
    """Tests that a marketplace's offers are told from a cloud's."""
    ran = run(capsys, "catalog", "list", "offers", "--provider", "vast", "--limit", "3")
    assert ran.out.count("market") >= 4  # the rows and the note
    cloud = run(capsys, "catalog", "list", "offers", "--provider", "aws", "--json")
    assert not any(row["marketplace"] for row in cloud.data["rows"])


def test_nothing_matches(capsys: Capture) -> None:
    """Tests that an empty list is an answer, in each format."""
    words = ("catalog", "list", "storage", "--provider", "vast")
    page = run(capsys, *words)
    assert (page.status, page.out) == (0, "No storage tiers match\n")
    assert run(capsys, *words, "--json").data["rows"] == []
    head = run(capsys, *words, "--csv").out
    assert head.startswith("id,provider,kind,")
    assert head.count("\n") == 1


def test_cells_of_a_table(capsys: Capture) -> None:
    """Tests that lists, truth and what is not known are written as tables read them."""
    ran = run(capsys, "catalog", "list", "optimizers", "--csv", "--sort", "id")
    rows = {row["id"]: row for row in csv.DictReader(StringIO(ran.out))}
    assert rows["adamw-8bit"]["frameworks"].split(";") != [""]
    assert (rows["adamw"]["paged"], rows["adamw"]["master_bytes"]) == ("false", "")
    gpus = run(capsys, "catalog", "list", "gpus", "--gpu", "h100 sxm", "--csv").out
    (gpu,) = csv.DictReader(StringIO(gpus))
    assert (gpu["memory_gb"], gpu["usable_memory_gib"]) == ("80", "79.1")
    assert json.loads(gpu["mig_profiles"])["7g.80gb"] == 1


def test_a_table_of_offers_can_be_read_again(capsys: Capture, tmp_path: Path) -> None:
    """Tests a round trip: some columns of the CSV are a price list of one's own."""
    words = ("catalog", "list", "offers", "--provider", "oci")
    rows = list(csv.DictReader(StringIO(run(capsys, *words, "--csv").out)))
    columns = HEAD.strip().split(",")
    lines = [",".join(f'"{row[c]}"' for c in columns) for row in rows]
    folder = offers(tmp_path, *lines)
    again = run(capsys, *words, "--csv", "--catalog", folder)
    key = ("id", "usd_per_gpu_hour", "as_of")
    found = [[row[k] for k in key] for row in csv.DictReader(StringIO(again.out))]
    assert found == [[row[k] for k in key] for row in rows]


def test_all_faults_of_a_list_at_once(capsys: Capture) -> None:
    """Tests that wrong filters and columns are told together, with status 2."""
    words = ("--gpu", "H10", "--country", "Sinapore", "--sort", "usd", "--vendor", "x")
    ran = run(capsys, "catalog", "list", "offers", *words)
    assert (ran.status, ran.out) == (2, "")
    assert [line.split(":")[0] for line in ran.err.splitlines()] == [
        "--vendor",
        "--sort usd",
        "--gpu H10",
        "--country Sinapore",
    ]
    as_json = run(capsys, "catalog", "list", "offers", *words, "--json")
    assert as_json.status == 2
    assert [error["hint"] for error in as_json.data["errors"]] == [
        "--server",
        "usd_per_gpu_hour",
        "H100",
        "Singapore",
    ]


@pytest.mark.parametrize(
    "words",
    [
        ("list", "gpu"),
        ("list", "gpus", "--limit", "0"),
        ("list", "gpus", "--catalog", "no/such/folder"),
        ("list",),
        ("show", "no-such-entry"),
        ("show", "H100"),
        ("show", "h100-sxm-80gb", "--kind", "gpu"),
        ("check", "no/such/folder"),
        ("check", "--max-age", "soon"),
        ("check", "--max-age", "-1 days"),
    ],
)
def test_bad_input(capsys: Capture, words: tuple[str, ...]) -> None:
    """Tests that what makes no sense ends with status 2 and a reason."""
    ran = run(capsys, "catalog", *words)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err
    assert "Traceback" not in ran.err
    as_json = run(capsys, "catalog", *words, "--json")
    assert (as_json.status, as_json.data["ok"]) == (2, False)


def test_one_format_at_a_time(capsys: Capture) -> None:
    """Tests that CSV and JSON exclude each other."""
    ran = run(capsys, "catalog", "list", "gpus", "--csv", "--json")
    assert (ran.status, ran.data["errors"][0]["code"]) == (2, "bad-usage")


def test_show_a_gpu(capsys: Capture) -> None:
    """Tests that figures, units, sources and what goes with a card are on the page."""
    ran = run(capsys, "catalog", "show", "H100-SXM5-80GB")
    assert ran.status == 0
    assert ran.out.startswith(
        "h100-sxm-80gb: a GPU of gpus/h100-sxm-80gb.yaml:1 in catalog\n"
    )
    lines = [line.split() for line in ran.out.splitlines()]
    assert ["bf16_tflops", "989", "TFLOP/s"] in lines
    assert any(line[:3] == ["usable_memory_gib", "79.1", "GiB"] for line in lines)
    assert "gpu_memory_gib of" in ran.out  # the source of usable memory
    assert "Where all that has no source of its own comes from" in ran.out
    assert ["as", "of", "2026-08"] in lines
    assert "aws-p5.48xlarge" in ran.out
    assert "catalog list offers --gpu h100-sxm-80gb" in " ".join(ran.out.split())


def test_show_what_is_not_sure(capsys: Capture) -> None:
    """Tests that a marketplace, a quote, an estimate and an old price say so."""
    rows = run(capsys, "catalog", "list", "offers", "--json").data["rows"]
    told = {
        "marketplace": "it counts as one node",
        "spot-quote": "A spot price is a quote of its date",
        "estimate": "The price is an estimate",
        "old-price": "days old at least",
    }
    for flag, text in told.items():
        offer = next(row["id"] for row in rows if flag in row["flags"])
        page = " ".join(run(capsys, "catalog", "show", offer).out.split())
        assert text in page, flag


def test_a_term_is_told(capsys: Capture, tmp_path: Path) -> None:
    """Tests that a price that holds for a year only is flagged in lists and shown."""
    head = HEAD.replace("source", "min_term_hours,source")
    row = "aws/us-east-1,aws-p5.48xlarge,reserved,20,8760,our contract,2026-11\n"
    folder = write(tmp_path, "offers/mine.csv", head + row)
    words = ("--purchase", "reserved", "--catalog", folder, "--sort", "-as_of")
    listed = run(capsys, "catalog", "list", "offers", *words, "--limit", "1")
    (line,) = (text for text in listed.out.splitlines() if "us-east-1" in text)
    assert line.endswith("  term")
    name = "aws/us-east-1/p5.48xlarge/reserved-1y"
    page = run(capsys, "catalog", "show", name, "--catalog", folder).out
    assert "The whole term is paid, however short the job: 8,760 hours." in page


def test_show_as_json(capsys: Capture) -> None:
    """Tests that every field has its unit, source and date."""
    (entry,) = run(capsys, "catalog", "show", "aws/us-east-1", "--json").data["rows"]
    assert (entry["kind"], entry["folder"]) == ("regions", "catalog")
    assert entry["file"].startswith("regions.csv:")
    fields = {field["field"]: field for field in entry["fields"]}
    grid = fields["grid_gco2_per_kwh"]
    assert (grid["unit"], grid["own_source"]) == ("g/kWh", True)
    assert all(f["source"] and f["as_of"] for f in fields.values() if f["stated"])
    assert {row["region"] for row in entry["related"]["offers"]} == {"aws/us-east-1"}


def test_show_several(capsys: Capture) -> None:
    """Tests that an id of two kinds shows both, with a line between them."""
    ran = run(capsys, "catalog", "show", "opt-175b")
    assert "opt-175b: a failure rate of failure_rates.csv" in ran.out
    assert "\n\nopt-175b: an architecture of architectures/opt-175b.yaml" in ran.out
    one = run(capsys, "catalog", "show", "opt-175b", "--kind", "architectures").out
    assert "failure rate" not in one


def test_an_overlay_is_listed_and_shown(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests by option and by environment: the entry, its file, what it replaces."""
    row = "aws/us-east-1,aws-p5.48xlarge,on_demand,7.2,our contract,2026-11"
    folder = offers(tmp_path, row)
    name = "aws/us-east-1/p5.48xlarge/on_demand"
    ran = run(capsys, "catalog", "show", name, "--catalog", folder, "--json")
    (entry,) = ran.data["rows"]
    assert (entry["file"], entry["folder"]) == ("offers/mine.csv:2", str(folder))
    assert entry["replaces"] == ["catalog"]
    assert entry["values"]["usd_per_gpu_hour"] == pytest.approx(0.9)
    page = run(capsys, "catalog", "show", name, "--catalog", folder).out
    assert "replaces that of   catalog" in page
    monkeypatch.setenv(ENVIRONMENT_VARIABLE, str(folder))
    words = ("offers", "--server", "p5.48xlarge", "--purchase", "on_demand")
    first = run(capsys, "catalog", "list", *words, "--json").data["rows"][0]
    assert (first["id"], first["source"]) == (name, "our contract")


def test_the_shipped_catalog_has_no_fault(capsys: Capture) -> None:
    """Tests that warnings about odd prices are no fault, and all parts are counted."""
    ran = run(capsys, "catalog", "check")
    assert ran.status == 0
    assert "no errors" in ran.out.splitlines()[0]
    assert "spot is not cheaper" in " ".join(ran.out.split())
    assert "\nErrors\n" not in ran.out
    as_json = run(capsys, "catalog", "check", "--json").data
    assert (as_json["ok"], as_json["errors"]) == (True, [])
    assert as_json["checked"]["gpus"] > 40
    assert all(w["code"] and w["where"] for w in as_json["warnings"])


def test_faults_of_a_folder_are_told_with_their_lines(
    capsys: Capture, tmp_path: Path
) -> None:
    """Tests that errors and warnings stand apart, and errors make the status 2."""
    folder = offers(
        tmp_path,
        "aws/us-east-1,no-such-server,on_demand,10,me,2026-11",
        "aws/us-east-1,aws-p5.48xlarge,monthly,0,me,2026-11",
    )
    ran = run(capsys, "catalog", "check", folder)
    assert ran.status == 2
    assert ran.out.splitlines()[0].endswith("warnings")
    assert "1 error," in ran.out.splitlines()[0]
    errors, warnings = ran.out.split("\nWarnings", 1)
    joined = "".join(errors.split())
    assert f"{folder}/offers/mine.csv:2:15" in joined
    assert "mine.csv:3:" in "".join(warnings.split())
    assert "catalog/offers/" not in "".join(warnings.split())
    assert "are of the shipped catalog" in " ".join(warnings.split())
    data = run(capsys, "catalog", "check", folder, "--json").data
    assert (data["ok"], len(data["errors"])) == (False, 1)
    assert data["errors"][0]["code"] == "unknown-reference"


def test_warnings_alone_are_no_fault(capsys: Capture, tmp_path: Path) -> None:
    """Tests that an old price leaves the status 0, and that --max-age decides."""
    row = "aws/us-east-1,aws-p5.48xlarge,on_demand,60,me,2026-09-01"
    folder = offers(tmp_path, row)
    place = f"{folder}/offers/mine.csv:2:1"

    def stale(*words: str) -> bool:
        ran = run(capsys, "catalog", "check", folder, "--json", *words)
        assert ran.status == 0
        return place in {
            w["where"] for w in ran.data["warnings"] if w["code"] == "stale-price"
        }

    assert not stale()
    assert stale("--max-age", "30 days")
    assert not stale("--max-age", "4 months")


def test_today_can_be_stated(tmp_path: Path) -> None:
    """Tests that GPUPLAN_TODAY is the day from which ages count, in a process too."""
    row = "aws/us-east-1,aws-p5.48xlarge,on_demand,60,me,2026-09-01"
    folder = offers(tmp_path, row)
    words = ("catalog", "list", "offers", "--server", "p5.48xlarge", "--json")
    ages = {}
    for today in ("2026-09-02", "2027-09-01"):
        ran = run_process(*words, "--catalog", folder, GPUPLAN_TODAY=today)
        (row_found,) = (r for r in ran.data["rows"] if r["source"] == "me")
        ages[today] = (row_found["age_days"], "old-price" in row_found["flags"])
    assert ages == {"2026-09-02": (1, False), "2027-09-01": (365, True)}
    wrong = run_process("catalog", "list", "gpus", GPUPLAN_TODAY="tomorrow")
    assert (wrong.status, wrong.out) == (2, "")
    assert "GPUPLAN_TODAY: expected a date" in wrong.err


def test_a_list_does_not_load_what_it_does_not_need() -> None:
    """Tests that a list of GPUs starts without numpy and the optimiser."""
    code = (
        "import sys; from solver.cli.app import main;"
        "main(['catalog', 'list', 'gpus']);"
        "sys.exit(bool({'numpy', 'ortools', 'scipy'} & set(sys.modules)))"
    )
    assert run_process(code=code).status == 0
