"""Tests of MIG slices: their share of a card, their names, and what is refused."""

from dataclasses import replace as changed
from pathlib import Path

import pytest

from solver.catalog.consistency import check_catalog
from solver.catalog.load import load_catalog
from solver.catalog.names import most_usual_first, resolve_gpu
from solver.catalog.slices import slice_name, slice_of, slices_of
from solver.catalog.supply import standard_server
from solver.errors import InputError, Issue
from solver.hardware import hardware_for, hardware_of
from solver.performance.inputs import Hardware
from tests.catalog.small import write

CATALOG = load_catalog(environment={})

GUIDE = {
    "a30": "1g.6gb:4 2g.12gb:2 4g.24gb:1",
    "a100-sxm-40gb": "1g.5gb:7 1g.10gb:4 2g.10gb:3 3g.20gb:2 4g.20gb:1 7g.40gb:1",
    "a100-sxm-80gb": "1g.10gb:7 1g.20gb:4 2g.20gb:3 3g.40gb:2 4g.40gb:1 7g.80gb:1",
    "h100-sxm-80gb": "1g.10gb:7 1g.20gb:4 2g.20gb:3 3g.40gb:2 4g.40gb:1 7g.80gb:1",
    "h100-pcie-80gb": "1g.10gb:7 1g.20gb:4 2g.20gb:3 3g.40gb:2 4g.40gb:1 7g.80gb:1",
    "h100-nvl-94gb": "1g.12gb:7 1g.24gb:4 2g.24gb:3 3g.47gb:2 4g.47gb:1 7g.94gb:1",
    "gh200-96gb": "1g.12gb:7 1g.24gb:4 2g.24gb:3 3g.48gb:2 4g.48gb:1 7g.96gb:1",
    "h200-sxm-141gb": "1g.18gb:7 1g.35gb:4 2g.35gb:3 3g.71gb:2 4g.71gb:1 7g.141gb:1",
    "b200-sxm-180gb": "1g.23gb:7 1g.45gb:4 2g.45gb:3 3g.90gb:2 4g.90gb:1 7g.180gb:1",
    "rtx-pro-6000": "1g.24gb:4 2g.48gb:2 4g.96gb:1",
}
"""Instances by profile, as the tables of the MIG user guide have them."""

MEMORY_EIGHTHS = {"1g.10gb": 1, "1g.20gb": 2, "2g.20gb": 2, "3g.40gb": 4, "7g.80gb": 8}
"""Fraction of memory of the profiles of an 80 GB card, by the same guide."""


@pytest.mark.parametrize("card", GUIDE)
def test_profiles_are_those_of_the_guide(card: str) -> None:
    """Tests which profiles a card has, and how many of each fit on it."""
    wanted = dict(pair.split(":") for pair in GUIDE[card].split())
    found = {s.profile: str(s.slices_per_card) for s in slices_of(CATALOG.gpus[card])}
    assert found == wanted


@pytest.mark.parametrize(("profile", "eighths"), MEMORY_EIGHTHS.items())
def test_memory_and_bandwidth_go_by_memory_slices(profile: str, eighths: int) -> None:
    """Tests that 20 GB of 80 are two memory slices, and bring a quarter of the rate."""
    for card in ("a100-sxm-80gb", "h100-sxm-80gb"):
        part = CATALOG.slices[f"{card}/{profile}"]
        assert part.memory_slices == eighths
        whole = CATALOG.gpus[card].memory_bandwidth_gb_per_s
        assert part.memory_bandwidth_gb_per_s == pytest.approx(whole * eighths / 8)


@pytest.mark.parametrize(
    ("name", "sms", "gib"),
    [
        # as drivers list them: 40,192 MiB, 14 multiprocessors a compute slice
        ("a100-sxm-80gb/3g.40gb", 42, 39.25),
        ("a100-sxm-80gb/7g.80gb", 98, 78.5),
        ("a100-sxm-40gb/1g.5gb", 14, 4.75),
        ("a30/2g.12gb", 28, 11.4),
        # three compute slices of an H100 have more than three times one
        ("h100-sxm-80gb/1g.10gb", 16, 9.75),
        ("h100-sxm-80gb/3g.40gb", 60, 39.5),
        ("gh200-96gb/2g.24gb", 32, 23.0),
        ("h200-sxm-141gb/1g.18gb", 16, 16.0),
    ],
)
def test_known_slices(name: str, sms: int, gib: float) -> None:
    """Tests multiprocessors and memory of slices against what drivers list."""
    part = CATALOG.slices[name]
    assert (part.sm_count, part.usable_memory_gib) == (sms, gib)
    card = CATALOG.gpus[part.card]
    assert part.bf16_tflops == pytest.approx(card.bf16_tflops * sms / card.sm_count)


def test_unknown_figures_are_estimates_and_say_so() -> None:
    """Tests a card of which drivers' lists are not known: 91 % of the share, 16 SMs."""
    part = CATALOG.slices["h20-sxm-96gb/3g.48gb"]
    assert part.usable_memory_gib == pytest.approx(94.56 / 2 * 0.91)
    assert part.usable_memory_source.startswith("estimate")
    assert part.sm_count == 24  # 3 x 8: 78 are 9.75 an eighth
    assert part.sources["sm_count"].startswith("estimate")
    # the rule gives what drivers list where that is known
    for card, sms in (("h100-sxm-80gb", 16), ("b200-sxm-180gb", 18), ("a30", 14)):
        bare = CATALOG.gpus[card].model_copy(update={"mig_sm_counts": {}})
        first = next(iter(bare.mig_profiles))
        assert slice_of(bare, first).sm_count == sms


def test_nothing_joins_slices() -> None:
    """Tests that no slice has NVLink or slices of its own."""
    for part in CATALOG.slices.values():
        assert part.nvlink_gb_per_s == 0
        assert not part.nvlink_generation
        assert not part.mig_profiles


def node(gpu: str, *, stated: bool = True) -> Hardware:
    """Return the hardware of one GPU alone, in bf16, its host stated or not."""
    server = standard_server(CATALOG, gpu, 1)
    if not stated:
        server = server.model_copy(update={"vcpus": None})
    return hardware_of(CATALOG, server, "bf16")


def test_no_slice_beats_its_share_of_the_card() -> None:
    """Tests every slice: no rate above its share of the card's, all slices together.

    What a slice sustains is at most what its multiprocessors are of the card's; all
    that fit on a card have no more memory, bandwidth or host link than the card.
    """
    for part in CATALOG.slices.values():
        mine, whole = node(part.id), node(part.card)
        count, card = part.slices_per_card, CATALOG.gpus[part.card]
        share = part.sm_count / card.sm_count
        assert share * count <= 1.0
        flops = mine.peak_16bit * mine.gemm_efficiency_16bit
        most = whole.peak_16bit * whole.gemm_efficiency_16bit
        assert flops <= most * share * (1 + 1e-9), part.id
        assert mine.attention_efficiency <= whole.attention_efficiency
        assert mine.memory_bytes * count <= whole.memory_bytes * (1 + 1e-9), part.id
        assert mine.hbm_bytes_per_s * count <= whole.hbm_bytes_per_s * (1 + 1e-9)
        assert mine.host_bytes_per_s * count <= whole.host_bytes_per_s * (1 + 1e-9)
        assert mine.host_cores * count <= whole.host_cores * 1.001  # rounded
        most = whole.host_memory_bytes_per_s * 1.001
        assert mine.host_memory_bytes_per_s * count <= most
        assert part.tdp_w * count <= card.tdp_w * (1 + 1e-9)
        assert mine.sm_count == part.sm_count
        assert (mine.intra_bytes_per_s, mine.inter_bytes_per_s) == (0, 0)
        bare, all_of_it = (node(n, stated=False) for n in (part.id, part.card))
        assert bare.host_cores * count <= all_of_it.host_cores * (1 + 1e-9)
        assert (mine.gpus_per_node, mine.nvlink_domain_gpus) == (1, 1)


def test_a_slice_sustains_what_its_card_does() -> None:
    """Tests that the share of the peak is the card's, also where power decides it."""
    for name in ("h100-pcie-80gb/3g.40gb", "b200-sxm-180gb/1g.23gb"):
        mine, whole = node(name), node(name.partition("/")[0])
        assert mine.gemm_efficiency_16bit == whole.gemm_efficiency_16bit


def test_the_host_of_a_slice_is_its_share() -> None:
    """Tests RAM, threads and drives of the node, and that it has no network."""
    card = standard_server(CATALOG, "a100-sxm-80gb", 1)
    part = standard_server(CATALOG, "a100-sxm-80gb/3g.40gb", 1)
    assert part.ram_gb == pytest.approx(card.ram_gb * 3 / 7, abs=1e-3)
    assert part.vcpus == pytest.approx(card.vcpus * 3 / 7, abs=1e-3)
    assert part.network is None
    assert part.network_gbps == 0
    assert part.intra_node_kind == "none"


@pytest.mark.parametrize(("count", "tier"), [(2, None), (1, "nvswitch-nvlink4")])
def test_slices_are_alone(count: int, tier: str | None) -> None:
    """Tests that several slices are no node, and that nothing joins them."""
    with pytest.raises(InputError, match="one GPU of its own"):
        standard_server(CATALOG, "h100-sxm-80gb/1g.10gb", count, tier)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("a100-sxm-80gb/3g.40gb", "a100-sxm-80gb/3g.40gb"),
        ("NVIDIA A100-SXM4-80GB MIG 3g.40gb", "a100-sxm-80gb/3g.40gb"),
        ("A100-SXM4-80GB-MIG-3g.40gb", "a100-sxm-80gb/3g.40gb"),
        ("NVIDIA H100 80GB HBM3 MIG 1g.10gb", "h100-sxm-80gb/1g.10gb"),
        ("NVIDIA B300 SXM6 AC MIG 1g.34gb", "b300-sxm-288gb/1g.34gb"),
        ("a30/1G.6GB", "a30/1g.6gb"),
        ("mig-4g.24gb", "a30/4g.24gb"),
        ("nvidia.com/mig-4g.24gb", "a30/4g.24gb"),
        ("h200_sxm_3g-71gb", "h200-sxm-141gb/3g.71gb"),
        ("b200 1g.23gb", "b200-sxm-180gb/1g.23gb"),
    ],
)
def test_names_of_slices(written: str, meant: str) -> None:
    """Tests the spellings of drivers, clusters and marketplaces."""
    assert resolve_gpu(written, CATALOG, allow_family=False) == (meant,)


def test_wide_names_of_slices() -> None:
    """Tests that a profile alone is that of all cards, and MIG all profiles."""
    found = resolve_gpu("3g.40gb", CATALOG, allow_family=True)
    assert {name.partition("/")[2] for name in found} == {"3g.40gb"}
    assert "h800-sxm-80gb/3g.40gb" in found
    every = resolve_gpu("A30 MIG", CATALOG, allow_family=True)
    assert every == ("a30/1g.6gb", "a30/2g.12gb", "a30/4g.24gb")
    assert len(resolve_gpu("MIG", CATALOG, allow_family=True)) == len(CATALOG.slices)
    narrow = resolve_gpu("A100 3g.40gb", CATALOG, allow_family=False)
    assert isinstance(narrow, Issue)
    assert narrow.code == "ambiguous-name"
    assert narrow.hint == "a100-sxm-80gb/3g.40gb"


@pytest.mark.parametrize("written", ["A100", "a100-sxm-80gb", "migration", "8g"])
def test_names_of_cards_mean_no_slices(written: str) -> None:
    """Tests that a name without a profile is that of whole cards."""
    assert slice_name(written) is None


@pytest.mark.parametrize(
    ("written", "hint", "told"),
    [
        ("a100-sxm-80gb/3g.41gb", "3g.40gb", "3g.40gb (2 a card), 4g.40gb (1 a card)"),
        ("a100-sxm-40gb 1g.20gb", "1g.10gb", "1g.5gb (7 a card)"),
        ("H100 1g.10gb+me", "1g.10gb", "the nearest are 1g.10gb (7 a card)"),
        ("mig-9g.90gb", "3g.90gb", "no GPU has MIG profile '9g.90gb'"),
        ("rtx-4090 1g.6gb", None, "rtx-4090 cannot be cut into MIG slices"),
        ("Z900 1g.5gb", None, "the catalog has no GPU 'z900'"),
    ],
)
def test_wrong_profiles(written: str, hint: str | None, told: str) -> None:
    """Tests that a wrong profile is refused with the nearest right ones."""
    fault = resolve_gpu(written, CATALOG, allow_family=True)
    assert isinstance(fault, Issue)
    assert told in fault.message
    assert fault.hint == hint


def test_most_usual_card_first_among_slices() -> None:
    """Tests that of slices those of SXM cards come first."""
    names = ("a100-pcie-80gb/3g.40gb", "a100-sxm-80gb/3g.40gb")
    assert most_usual_first(names, CATALOG)[0] == "a100-sxm-80gb/3g.40gb"


def faults(folder: Path) -> list[Issue]:
    """Return what the checks find about the entries of a folder."""
    catalog = load_catalog([folder], environment={})
    here = str(folder)
    return [i for i in check_catalog(catalog) if i.where and here in i.where]


CARD = """
vendor: NVIDIA
family: X1
generation: hopper
memory_gb: 80
usable_memory_gib: 79
usable_memory_source: data sheet
memory_bandwidth_gb_per_s: 3000
bf16_tflops: 900
sm_count: 132
source: data sheet
as_of: "2026-11"
"""


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ('mig_profiles: {"3g40": 2}', "expected a profile such as 3g.40gb"),
        ('mig_profiles: {"3g.40gb": 3}', "3 of them are more memory than 80 GB"),
        ('mig_sm_counts: {"3g.40gb": 60}', "mig_profiles has no '3g.40gb'"),
        (
            'mig_profiles: {"3g.40gb": 2}\nmig_sm_counts: {"3g.40gb": 70}',
            "more multiprocessors than the card's 132",
        ),
        (
            'mig_profiles: {"3g.40gb": 2}\nmig_memory_gib: {"3g.40gb": 40}',
            "more memory than the card's 79 GiB",
        ),
    ],
)
def test_checks_of_profiles(tmp_path: Path, lines: str, told: str) -> None:
    """Tests that impossible profiles of a card of one's own are told."""
    folder = write(tmp_path / "mine", "gpus/x1.yaml", f"{CARD}{lines}\n")
    found = [issue for issue in faults(folder) if issue.code == "impossible-value"]
    assert [issue.message for issue in found] == [told]


SERVERS = (
    "id,gpu,gpus_per_node,intra_node,intra_node_kind,intra_node_gb_per_s,"
    "nvlink_domain_gpus,network,network_gbps,source,as_of\n"
)


def test_a_catalog_can_rent_slices(tmp_path: Path) -> None:
    """Tests that a server of a slice is a right entry, and found by its card."""
    row = "acme-a30-half,a30/2g.12gb,1,none,none,0,1,,,ours,2026-11-01\n"
    folder = write(tmp_path / "mine", "servers.csv", SERVERS + row)
    assert [i for i in faults(folder) if i.code != "unused-entry"] == []
    catalog = load_catalog([folder], environment={})
    assert catalog.gpu(catalog.servers["acme-a30-half"].gpu).sm_count == 28


@pytest.mark.parametrize(
    ("row", "path"),
    [
        ("s,a30/3g.18gb,1,none,none,0,1,,,ours,2026-11-01", "s.gpu"),
        ("s,a31/2g.12gb,1,none,none,0,1,,,ours,2026-11-01", "s.gpu"),
        ("s,a30/2g.12gb,2,pcie4,pcie,20,2,,,ours,2026-11-01", "s.gpus_per_node"),
        (
            "s,a30/2g.12gb,1,none,none,0,1,ethernet-100g,100,ours,2026-11-01",
            "s.network",
        ),
    ],
)
def test_checks_of_servers_of_slices(tmp_path: Path, row: str, path: str) -> None:
    """Tests that slices that do not exist, or that are joined, are told."""
    folder = write(tmp_path / "mine", "servers.csv", SERVERS + row + "\n")
    assert path in {issue.path for issue in faults(folder)}


def test_slices_follow_cards_of_other_folders(tmp_path: Path) -> None:
    """Tests that a card of one's own has slices, and a copy with entries as well."""
    text = f'{CARD}mig_profiles: {{"1g.10gb": 7, "7g.80gb": 1}}\n'
    folder = write(tmp_path / "mine", "gpus/x1.yaml", text)
    catalog = load_catalog([folder], environment={})
    assert catalog.slices["x1/1g.10gb"].sm_count == 16
    bigger = catalog.gpus["x1"].model_copy(update={"sm_count": 264})
    assert catalog.with_entries(gpus=[bigger]).gpu("x1/1g.10gb").sm_count == 32


def test_hardware_of_a_slice_and_its_card_differ_in_nothing_else() -> None:
    """Tests that constants of the generation are the card's."""
    card = CATALOG.gpus["h100-sxm-80gb"]
    server = standard_server(CATALOG, card.id, 1)
    args = (server, None, None, CATALOG.calibration, "bf16")
    whole = hardware_for(card, *args)
    part = hardware_for(slice_of(card, "7g.80gb"), *args)
    # slices have no groups that could talk over PCIe
    buses = {f"pcie_bus_{n}": getattr(part, f"pcie_bus_{n}") for n in (2, 4, 8)}
    assert part == changed(whole, **buses)
