"""Tests that the certificate prices copies as the planner does, on its own."""

from __future__ import annotations

import pytest

from solver.catalog.egress import egress_steps, egress_usd
from solver.catalog.schema import EgressPrice
from solver.verify.moving import moved_usd
from tests.planning.jobs import catalog

STEPS = [
    EgressPrice(
        id=f"steps-{n}",
        origin="acme/*",
        destination="internet",
        from_gb=start,
        to_gb=end,
        usd_per_gb=price,
        free_gb_per_month=100.0,
        source="made up",
        as_of="2026-01",
    )
    for n, (start, end, price) in enumerate(
        [(0.0, 1_000.0, 0.10), (1_000.0, 5_000.0, 0.08), (5_000.0, None, 0.05)]
    )
]


@pytest.mark.parametrize(
    ("size_gb", "usd"),
    [
        (50.0, 0.0),
        (100.0, 0.0),
        (600.0, 50.0),
        (1_000.0, 90.0),
        (2_000.0, 170.0),
        (6_000.0, 90.0 + 320.0 + 50.0),
    ],
)
def test_steps_of_volume_by_hand(size_gb: float, usd: float) -> None:
    """Tests the free volume and each step against figures done in the head."""
    supply = catalog().with_entries(egress=STEPS)
    assert moved_usd(
        egress_steps(supply, "acme/here", "other/there"), size_gb
    ) == pytest.approx(usd)


@pytest.mark.parametrize("size_gb", [0.0, 99.0, 112.4, 5_000.0, 80_000.0])
@pytest.mark.parametrize(
    ("origin", "target"),
    [
        ("aws/us-east-1", "aws/us-west-2"),
        ("aws/us-east-1", "gcp/us-central1"),
        ("gcp/us-central1", "aws/us-east-1"),
        ("mine/nowhere", "aws/us-east-1"),
    ],
)
def test_both_ways_to_a_price_agree(origin: str, target: str, size_gb: float) -> None:
    """Tests shipped prices of egress, written twice."""
    expected = egress_usd(catalog(), origin, target, size_gb * 1e9)
    found = moved_usd(egress_steps(catalog(), origin, target), size_gb)
    assert found == pytest.approx(expected, rel=1e-12)
