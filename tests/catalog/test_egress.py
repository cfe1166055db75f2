"""Tests of prices of moving data."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from solver.catalog.egress import egress_steps, egress_usd
from solver.catalog.load import load_catalog

CATALOG = load_catalog(environment={})


@pytest.mark.parametrize(
    ("origin", "destination", "gigabytes", "usd"),
    [
        (None, "aws/us-east-1", 1e6, 0),
        ("aws/us-east-1", "aws/us-east-1", 1e6, 0),
        ("aws/us-east-1", "aws/us-west-2", 1_000, 20),
        ("aws/ap-northeast-1", "aws/us-west-2", 1_000, 90),
        # 100 GB free, 9,900 at 0.09, 40,000 at 0.085, 10,000 at 0.07
        ("aws/us-west-2", "gcp/us-central1", 60_000, 891 + 3_400 + 700),
        # 10 TB free in a month
        ("oci/us-ashburn-1", "aws/us-east-1", 20_000, 85),
        ("gcp/us-central1", "gcp/asia-northeast1", 1_000, 80),
        ("lambda/us-east-1", "aws/us-east-1", 1e5, 0),
        ("azure/japaneast", "azure/koreacentral", 1_000, 80),
        # inside North America 0.02, to another continent 0.05; Australia is no US
        ("azure/eastus", "azure/westus2", 1_000, 20),
        ("azure/eastus", "azure/canadacentral", 1_000, 20),
        ("azure/eastus", "azure/japaneast", 1_000, 50),
        ("azure/westeurope", "azure/swedencentral", 1_000, 20),
        ("azure/australiaeast", "azure/eastus", 1_000, 80),
        ("azure/brazilsouth", "azure/eastus", 1_000, 160),
        # the free 10 TB hold for every region of OCI
        ("oci/ap-tokyo-1", "aws/us-east-1", 20_000, 250),
        # Tokyo: 9,900 at 0.114, 40,000 at 0.089, 10,000 at 0.086
        ("aws/ap-northeast-1", "gcp/us-central1", 60_000, 1_128.6 + 3_560 + 860),
        # the way back costs what the way there does
        ("gcp/asia-northeast1", "gcp/us-central1", 1_000, 80),
        ("gcp/europe-west4", "gcp/us-central1", 1_000, 50),
        ("gcp/northamerica-northeast1", "gcp/us-central1", 1_000, 20),
    ],
)
def test_egress(origin, destination, gigabytes, usd):
    """Tests prices by hand, with their steps and free volume."""
    assert egress_usd(CATALOG, origin, destination, gigabytes * 1e9) == pytest.approx(
        usd
    )


def test_egress_that_is_not_known():
    """Tests that an unknown price counts as 0 and can be told from a free one."""
    assert egress_steps(CATALOG, "verda/fin-01", "aws/us-east-1") == ()
    assert egress_steps(CATALOG, "lambda/us-east-1", "aws/us-east-1") != ()
    assert egress_usd(CATALOG, "verda/fin-01", "aws/us-east-1", 1e15) == 0


@given(st.floats(0, 1e6), st.floats(0, 1e6))
def test_more_egress_never_costs_less(first, second):
    """Tests that the price of moving data grows with its volume."""
    prices = [
        egress_usd(CATALOG, "aws/us-east-1", "gcp/us-central1", gigabytes * 1e9)
        for gigabytes in sorted((first, second))
    ]
    assert prices[0] <= prices[1]


def test_a_price_by_continent_needs_to_know_them(tmp_path):
    """Tests that a region of no known country takes the price for all regions."""
    (tmp_path / "regions.csv").write_text(
        "id,name,source,as_of\nazure/nowhere,Nowhere,made up,2026-11\n"
    )
    catalog = load_catalog([tmp_path], environment={})
    (step,) = egress_steps(catalog, "azure/eastus", "azure/nowhere")
    assert (step.reach, step.usd_per_gb) == ("any", 0.02)


def test_steps_of_a_price_follow_each_other():
    """Tests that the steps of each price start at 0 and leave no gap and no end."""
    prices = {}
    for step in CATALOG.egress.values():
        key = (step.origin, step.destination, step.continents, step.reach)
        prices.setdefault(key, []).append(step)
    for key, steps in prices.items():
        steps.sort(key=lambda step: step.from_gb)
        ends = [step.to_gb for step in steps]
        assert [step.from_gb for step in steps] == [0, *ends[:-1]], key
        assert ends[-1] is None, key
        assert len({step.free_gb_per_month for step in steps}) == 1, key
