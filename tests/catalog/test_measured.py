"""Tests of the tables of measured rates, and of the checks that use them."""

from collections import Counter

import pytest

from solver.catalog.consistency import check_catalog
from solver.catalog.generations import calibration_key
from solver.catalog.load import load_catalog
from tests.catalog.small import copy_of_small, write

CATALOG = load_catalog(environment={})

MATMULS = "id,gpu,precision,software,max_tflops,p90_tflops,median_tflops,source,as_of\n"
COLLECTIVES = (
    "id,tier,gpu,collective,gpus,message_bytes,bus_gb_per_s,latency_us,source,as_of\n"
)


def issues(folder, code):
    """Return the issues of one code of a catalog folder and nothing else."""
    found = check_catalog(load_catalog([folder], shipped=False))
    return [issue for issue in found if issue.code == code]


def test_what_was_measured_is_all_there():
    """Tests the number of rows by what they hold: the counts of the gathered tables."""
    matmuls = CATALOG.matmul_rates.values()
    assert Counter("mamf-finder" in rate.software for rate in matmuls) == {
        True: 20,  # the largest of a search over shapes
        False: 88,  # largest, 90th percentile and median of one library each
    }
    assert all(
        rate.median_tflops and rate.p90_tflops
        for rate in matmuls
        if "mamf-finder" not in rate.software
    )
    collectives = CATALOG.collective_rates.values()
    derived = [r for r in collectives if r.source.startswith("derived")]
    assert len(derived) == 142
    assert all(r.latency_us and r.bus_gb_per_s for r in derived)
    assert {r.nodes for r in collectives} == {1, 2, 4}


@pytest.mark.parametrize(
    ("rate", "field", "value"),
    [
        ("a100-sxm-80gb/bf16/trtllm-1.0.0", "median_tflops", 261.7),
        ("h100-sxm-80gb/bf16/mamf-finder-torch-2.7-cu126", "max_tflops", 794.5),
        ("mi300x/bf16/mamf-finder-rocm-6.3", "max_tflops", 668.4),
        ("b200-sxm-180gb/nvfp4/sglang-0.5.9", "p90_tflops", 5061.8),
    ],
)
def test_measured_matmuls_arrived_unchanged(rate, field, value):
    """Tests single figures of the sources."""
    assert getattr(CATALOG.matmul_rates[rate], field) == value


def test_every_measured_tier_has_its_rates():
    """Tests that tiers with measured figures have the measurements in the table."""
    measured = {rate.tier for rate in CATALOG.collective_rates.values()}
    tiers = [*CATALOG.intra_node.values(), *CATALOG.networks.values()]
    named = {
        t.id
        for t in tiers
        if t.efficiency_source.startswith(("measured", "fitted to NCCL"))
    }
    assert len(named) == 8
    assert named <= measured


def test_bus_rates_of_the_tiers_are_measured_ones():
    """Tests that a tier's rate of 2, 4 and 8 GPUs is that of some measured group."""
    rates = {}
    for rate in CATALOG.collective_rates.values():
        if rate.collective == "all_reduce" and rate.nodes == 1 and rate.bus_gb_per_s:
            rates.setdefault((rate.tier, rate.gpus), []).append(rate.bus_gb_per_s)
    checked = 0
    for tier in CATALOG.intra_node.values():
        for gpus in (2, 4, 8):
            used = getattr(tier, f"bus_{gpus}_gb_per_s")
            found = rates.get((tier.id, gpus), [])
            if used is not None and found:
                checked += 1
                assert min(abs(used / rate - 1) for rate in found) < 0.005, tier.id
    assert checked == 19


def test_more_bytes_are_faster():
    """Tests that the measured bus rate of the large fabric grows with the message."""
    sizes = sorted(
        (rate.message_bytes, rate.bus_gb_per_s)
        for rate in CATALOG.collective_rates.values()
        if rate.tier == "efa-v4-400"
    )
    assert len(sizes) == 8
    assert [rate for _, rate in sizes] == sorted(rate for _, rate in sizes)


@pytest.mark.parametrize(
    ("row", "code", "place"),
    [
        ("a,small-x,bf16,lib,100,,,me,2026", "unknown-reference", "2:3"),
        ("a,small-a,bf16,lib,9999,,,me,2026", "impossible-value", "2:20"),
        ("a,small-a,nvfp4,lib,10,,,me,2026", "impossible-value", "2:21"),
        ("a,small-a,bf16,lib,100,90,95,me,2026", "impossible-value", "2:20"),
    ],
)
def test_impossible_matmuls_are_told(tmp_path, row, code, place):
    """Tests a product of no GPU, above the peak, and percentiles out of order."""
    folder = copy_of_small(tmp_path)
    write(folder, "matmul_rates.csv", MATMULS + row + "\n")
    (issue,) = issues(folder, code)
    assert issue.where == f"{folder}/matmul_rates.csv:{place}"


@pytest.mark.parametrize(
    ("row", "code"),
    [
        ("a,fabric-40,small-a,all_reduce,8,1e9,10,,me,2026", "unknown-reference"),
        ("a,switched,small-x,all_reduce,8,1e9,10,,me,2026", "unknown-reference"),
        ("a,switched,small-a,all_gather,8,1e9,451,,me,2026", "impossible-value"),
        ("a,switched,small-a,all_reduce,8,1e9,901,,me,2026", "impossible-value"),
        ("a,switched,small-a,all_gather,8,1e9,,,me,2026", "impossible-value"),
    ],
)
def test_impossible_collectives_are_told(tmp_path, row, code):
    """Tests unknown names, rates above the link's, and rows without a figure."""
    folder = copy_of_small(tmp_path)
    write(folder, "collective_rates.csv", COLLECTIVES + row + "\n")
    (issue,) = issues(folder, code)
    assert issue.where.startswith(f"{folder}/collective_rates.csv:2:")


def test_rates_inside_the_link_are_fine(tmp_path):
    """Tests that an all-reduce in the switch may pass the link's rate, up to twice."""
    folder = copy_of_small(tmp_path)
    row = "a,switched,small-a,all_reduce,8,1e9,600,,me,2026\n"
    write(folder, "collective_rates.csv", COLLECTIVES + row)
    assert check_catalog(load_catalog([folder], shipped=False)) == []


def test_a_tier_above_its_measurements_is_told(tmp_path):
    """Tests that a tier cannot claim more than the best that was measured on it."""
    folder = copy_of_small(tmp_path)
    tiers = (folder / "intra_node.yaml").read_text(encoding="utf-8")
    claim = tiers.replace("{name: A switch,", "{name: A switch, bus_8_gb_per_s: 250,")
    assert claim != tiers
    write(folder, "intra_node.yaml", claim)
    row = "a,switched,small-a,all_reduce,8,1e9,240,,me,2026\n"
    write(folder, "collective_rates.csv", COLLECTIVES + row)
    (issue,) = issues(folder, "above-measured")
    assert issue.path == "switched.bus_8_gb_per_s"


@pytest.mark.parametrize(("fraction", "told"), [(0.82, False), (0.85, True)])
def test_a_calibration_above_the_measured_is_told(tmp_path, fraction, told):
    """Tests the limit by hand: 0.8 of the peak was measured, 5 % more may be."""
    folder = copy_of_small(tmp_path)
    gpu = load_catalog([folder], shipped=False).gpus["small-a"]
    row = f"a,small-a,bf16,lib,{0.8 * gpu.bf16_tflops},,,me,2026\n"
    write(folder, "matmul_rates.csv", MATMULS + row)
    text = f"generations:\n  {gpu.generation}: {{gemm_16bit: {fraction}, sigma: 0.1}}\n"
    write(folder, "calibration.yaml", text)
    found = issues(folder, "above-measured")
    assert bool(found) == told
    if found:
        assert found[0].path == f"generations.{gpu.generation}.gemm_16bit"
        assert (
            found[0].where == f"{folder}/calibration.yaml:2:{len(gpu.generation) + 18}"
        )


def test_figures_of_regions_need_their_sources(tmp_path):
    """Tests a grid without a source and a place with half its coordinates."""
    folder = copy_of_small(tmp_path)
    head = "id,name,country,lat,grid_gco2_per_kwh,source,as_of\n"
    rows = "acme/east,East,US,1.5,300,me,2026\nacme/island,Island,SG,,,me,2026\n"
    write(folder, "regions.csv", head + rows)
    assert {issue.path for issue in issues(folder, "missing-source")} == {
        "acme/east.grid_source",
        "acme/east.coordinate_source",
    }
    assert [issue.path for issue in issues(folder, "impossible-value")] == ["acme/east"]


def test_sources_of_single_figures_name_them(tmp_path):
    """Tests that a source of no field, or an empty one, is told."""
    folder = copy_of_small(tmp_path)
    path = folder / "gpus/small-a.yaml"
    more = 'sources: {bf16_tflop: a sheet, memory_gb: " ", sm_count: a sheet}\n'
    path.write_text(path.read_text(encoding="utf-8") + more, encoding="utf-8")
    assert [i.path for i in issues(folder, "unknown-key")] == [
        "small-a.sources.bf16_tflop"
    ]
    assert [i.path for i in issues(folder, "missing-source")] == [
        "small-a.sources.memory_gb"
    ]


def test_narrower_entries_of_the_calibration_win():
    """Tests that a compute capability beats its generation, and default is the last."""
    gpus = CATALOG.gpus
    assert calibration_key(gpus["a100-sxm-80gb"], CATALOG.calibration) == "ampere"
    assert calibration_key(gpus["a40"], CATALOG.calibration) == "ampere-consumer"
    odd = gpus["a40"].model_copy(update={"generation": "tomorrow"})
    assert calibration_key(odd, CATALOG.calibration) == "default"
    assert calibration_key(odd, {"generations": {}}) is None
