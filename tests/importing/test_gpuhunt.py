"""Tests of reading gpuhunt's catalogs."""

from pathlib import Path

from tests.importing.lists import GPUHUNT, imported, prices, skipped


def test_a_row_is_one_kind_of_price(tmp_path: Path) -> None:
    """Tests that zones fold, memory tells cards apart, and Google's trap is seen."""
    done = imported(tmp_path, "gpuhunt", "gcp.csv", GPUHUNT)
    assert prices(done) == {
        "gcp/us-central1/a2-highgpu-8g/on_demand": 29.38,
        "gcp/us-central1/a2-highgpu-8g/spot": 14.69,
        "gcp/us-central1/a2-ultragpu-8g/spot": 22.3,
        "gcp/us-central1/x1-b300/on_demand": 60.0,
        "gcp/us-central1/x1-h100nvl/on_demand": 10.0,
    }
    assert skipped(done) == {
        "tpu": ["v5litepod-8"],
        "cpu-only": ["e2-medium"],
        "unreadable": ["spot maybe"],
        "unknown-memory": ["A100 64 GB"],
        "flexible-start": ["a2-ultragpu-8g, $21.5 (spot $22.3)"],
    }
    assert {s.id: s.gpu for s in done.overlay.servers} == {
        "gcp-x1-b300": "b300-sxm-288gb",
        "gcp-x1-h100nvl": "h100-nvl-94gb",
    }


def test_the_file_names_the_provider(tmp_path: Path) -> None:
    """Tests the tool's names of providers, and that one may be given."""
    table = GPUHUNT.replace("us-central1-a", "FIN-01").replace("us-central1-b", "FIN-1")
    done = imported(tmp_path / "a", "gpuhunt", "datacrunch.csv", table)
    assert done.overlay.providers == ("verda",)
    assert {o.region for o in done.overlay.offers} == {"verda/fin-01", "verda/fin-1"}
    done = imported(tmp_path / "b", "gpuhunt", "x.csv", table, provider="Acme Cloud")
    assert done.overlay.providers == ("acme-cloud",)


def test_older_tables(tmp_path: Path) -> None:
    """Tests a table from before vendor, flags and architecture were listed."""
    rows = [line.split(",")[:9] for line in GPUHUNT.splitlines()[:3]]
    table = "\n".join(",".join(row) for row in rows) + "\n"
    done = imported(tmp_path, "gpuhunt", "gcp.csv", table)
    assert list(prices(done)) == ["gcp/us-central1/a2-highgpu-8g/on_demand"]
