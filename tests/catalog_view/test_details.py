"""Tests of what is shown of one entry."""

from datetime import date
from pathlib import Path

import pytest

from solver.catalog.load import PARTS, Catalog, load_catalog
from solver.catalog_view.details import (
    EntryDetails,
    Figure,
    entries_named,
    figures_of,
    source_field,
)
from solver.errors import InputError, Issue
from tests.catalog.small import OK_SMALL, small_catalog, write

TODAY = date(2026, 11, 30)
SHIPPED = load_catalog(environment={})


def one(name: str, catalog: Catalog = SHIPPED, kind: str | None = None) -> EntryDetails:
    """Return the one entry of a name."""
    (details,) = entries_named(catalog, name, TODAY, kind=kind)
    return details


def fault(name: str, kind: str | None = None) -> Issue:
    """Return why a name is none."""
    with pytest.raises(InputError) as caught:
        entries_named(SHIPPED, name, TODAY, kind=kind)
    return caught.value.issues[0]


def figure(details: EntryDetails, field: str) -> Figure:
    """Return one field of an entry."""
    (found,) = (figure for figure in details.figures if figure.field == field)
    return found


@pytest.mark.parametrize("part", PARTS)
def test_an_entry_of_every_part(part: str) -> None:
    """Tests that ids of every kind are found, with file, source and date."""
    entry_id = next(iter(SHIPPED.entries(part)))
    details = next(
        d for d in entries_named(SHIPPED, entry_id.upper(), TODAY) if d.part == part
    )
    assert details.entry.id == entry_id
    assert details.folder == "catalog"
    file = details.file.partition(":")[0]
    expected = PARTS[part].file
    assert file == expected or file.startswith(f"{expected}/")
    assert details.replaces == ()
    assert all(f.source and f.as_of for f in details.figures if f.stated)


def test_every_source_field_is_of_some_field() -> None:
    """Tests that no source of single figures is left out of what is shown."""
    for part in PARTS.values():
        fields = part.model.model_fields
        entry = part.model.model_construct()
        used = {source_field(entry, name) for name in fields}
        own = {name for name in fields if name.endswith("_source")}
        assert own <= used, part.file


def test_figures_have_units_and_sources() -> None:
    """Tests that a figure with a source of its own shows it, and others the entry's."""
    details = one("h100-sxm-80gb")
    usable = figure(details, "usable_memory_gib")
    assert (usable.value, usable.unit, usable.own_source) == (79.1, "GiB", True)
    assert usable.source == details.entry.usable_memory_source
    rate = figure(details, "bf16_tflops")
    assert (rate.value, rate.unit, rate.own_source) == (989, "TFLOP/s", False)
    assert (rate.source, rate.as_of) == (details.entry.source, details.entry.as_of)
    assert figure(details, "int8_tops").unit == "TOP/s"
    assert figure(details, "sm_count").unit == ""


def test_single_figures_have_the_source_that_the_entry_names() -> None:
    """Tests the mapping of sources, and the gazetteer's number for both coordinates."""
    details = one("b300-sxm-288gb")
    fp4 = figure(details, "fp4_tflops")
    assert fp4.own_source
    assert fp4.source == details.entry.sources["fp4_tflops"]
    assert not figure(details, "bf16_tflops").own_source
    assert "sources" not in {f.field for f in details.figures}
    place = one("aws/us-east-1")
    for field in ("lat", "lon"):
        assert figure(place, field).source == "GeoNames 4744870"


def test_measured_rates_of_a_link_have_the_source_of_the_measurement() -> None:
    """Tests that latency and bus rates are not of the vendor's data sheet."""
    details = one("nvswitch-nvlink4")
    for field in ("efficiency", "latency_us", "bus_8_gb_per_s"):
        found = figure(details, field)
        assert found.own_source
        assert found.source == details.entry.efficiency_source
    assert not figure(details, "gb_per_s").own_source


def test_a_default_has_no_source() -> None:
    """Tests that nobody takes a default for a figure of the source."""
    details = one("acme/east/8x-small-a/on_demand", small_catalog())
    unit = figure(details, "billing_unit")
    assert (unit.value, unit.stated, unit.source) == ("second", False, "")
    assert figure(details, "usd_per_node_hour").stated


def test_a_gpu_has_its_servers_and_cheapest_offers() -> None:
    """Tests what goes with a GPU."""
    servers, offers, slices = one("h100-sxm-80gb").related
    assert {row["gpu"] for row in servers.rows} == {"h100-sxm-80gb"}
    assert servers.total == len(servers.rows) > 20
    prices = [row["usd_per_gpu_hour"] for row in offers.rows]
    assert len(prices) == 5 < offers.total
    assert prices == sorted(prices)
    assert {row["card"] for row in slices.rows} == {"h100-sxm-80gb"}
    assert slices.total == len(slices.rows) == 6


@pytest.mark.parametrize("name", ["h100-sxm-80gb/3g.40gb", "H100 SXM MIG 3g.40gb"])
def test_a_slice_is_shown_as_its_card(name: str) -> None:
    """Tests that a slice is found by its names, with the file of its card."""
    details = one(name)
    assert (details.part, details.entry.id) == ("slices", "h100-sxm-80gb/3g.40gb")
    assert details.file == "gpus/h100-sxm-80gb.yaml:1"
    figures = {figure.field: figure.value for figure in details.figures}
    assert "whole" not in figures
    assert figures["sm_count"] == 60


def test_a_wrong_slice_is_told_with_the_right_ones() -> None:
    """Tests that a profile which the card lacks lists those that it has."""
    with pytest.raises(InputError) as caught:
        one("a30/3g.18gb")
    assert "it has 1g.6gb (4 a card), 2g.12gb" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "column"), [("aws-p5.48xlarge", "server"), ("aws/us-east-1", "region")]
)
def test_servers_and_regions_have_their_offers(name: str, column: str) -> None:
    """Tests what goes with a server and with a region."""
    (offers,) = one(name).related
    assert {row[column] for row in offers.rows} == {name}


@pytest.mark.parametrize(
    ("name", "part", "entry_id"),
    [
        ("A100-SXM4-80GB", "gpus", "a100-sxm-80gb"),
        ("p5.48xlarge", "servers", "aws-p5.48xlarge"),
        ("efa-v2", "networks", "efa-v2-100"),
        ("meta-llama/Llama-2-70b-hf", "architectures", "llama-2-70b"),
        ("singapore", "countries", "SG"),
        ("ap-singapore-1", "regions", "oci/ap-singapore-1"),
        ("aws EBS gp3", "storage", "aws-ebs-gp3"),
    ],
)
def test_aliases(name: str, part: str, entry_id: str) -> None:
    """Tests that entries are found by other names, as elsewhere."""
    details = one(name)
    assert (details.part, details.entry.id) == (part, entry_id)


def test_an_id_of_several_kinds_shows_all() -> None:
    """Tests that a name may be of two kinds, of which --kind picks one."""
    both = entries_named(SHIPPED, "opt-175b", TODAY)
    assert [d.part for d in both] == ["failure_rates", "architectures"]
    assert one("opt-175b", kind="architectures").part == "architectures"


def test_a_family_has_to_be_told_apart() -> None:
    """Tests that a family shows none of its members by chance."""
    found = fault("H100")
    assert (found.code, found.hint) == ("ambiguous-name", "h100-sxm-80gb")
    assert fault("us-east-1").code == "ambiguous-name"


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("llama-2-70", "llama-2-70b"),
        ("aws/us-esat-1", "aws/us-east-1"),
        ("efa-v2-10", "efa-v2-100"),
        ("zzzzzz", None),
    ],
)
def test_an_unknown_name_has_a_hint(name: str, hint: str | None) -> None:
    """Tests that the nearest id of any kind is told."""
    found = fault(name)
    assert (found.code, found.hint) == ("unknown-name", hint)


def test_an_unknown_kind() -> None:
    """Tests that --kind is checked."""
    assert fault("h100-sxm-80gb", kind="gpu").hint == "gpus"
    assert fault("h100-sxm-80gb", kind="regions").code == "unknown-name"


def test_an_overlay_says_what_it_replaces(tmp_path: Path) -> None:
    """Tests that an own entry names its file and the folder it is laid over."""
    head = "region,server,purchase,usd_per_node_hour,source,as_of\n"
    row = "aws/us-east-1,aws-p5.48xlarge,on_demand,7,our contract,2026-11\n"
    mine = write(tmp_path / "mine", "offers/aws.csv", head + row)
    other = write(tmp_path / "other", "gpus/mi300x.yaml", _gpu("mi300x"))
    catalog = load_catalog([mine, other], environment={})
    details = one("aws/us-east-1/p5.48xlarge/on_demand", catalog)
    assert (details.folder, details.file) == (str(mine), "offers/aws.csv:2")
    assert details.replaces == ("catalog",)
    assert figure(details, "usd_per_node_hour").source == "our contract"
    gpu = one("mi300x", catalog)
    assert (gpu.folder, gpu.file) == (str(other), "gpus/mi300x.yaml:1")
    assert gpu.replaces == ("catalog",)
    untouched = one("h100-sxm-80gb", catalog)
    assert (untouched.folder, untouched.replaces) == ("catalog", ())


def test_several_layers_are_told_lowest_first(tmp_path: Path) -> None:
    """Tests that every folder whose entry is not used is named."""
    folders = [
        write(tmp_path / name, "gpus/mi300x.yaml", _gpu("mi300x")) for name in "ab"
    ]
    details = one("mi300x", load_catalog(folders, environment={}))
    assert details.replaces == ("catalog", str(folders[0]))


def _gpu(name: str) -> str:
    """Return the file of a shipped GPU, changed a little."""
    file = Path(__file__).parents[2] / "catalog" / "gpus" / f"{name}.yaml"
    return file.read_text(encoding="utf-8") + "# mine\n"


def test_details_as_a_dict() -> None:
    """Tests the keys of the JSON contract."""
    data = one("small-a", load_catalog([OK_SMALL], shipped=False)).as_dict()
    assert list(data) == [
        "kind",
        "id",
        "source",
        "as_of",
        "note",
        "folder",
        "file",
        "replaces",
        "fields",
        "values",
        "related",
    ]
    assert list(data["related"]) == ["servers", "offers", "slices"]
    assert len(data["fields"]) == len(figures_of(SHIPPED.gpus["mi300x"]))
