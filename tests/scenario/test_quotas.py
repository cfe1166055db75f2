"""Tests of quotas as written: what they cover, and what is wrong with them."""

from __future__ import annotations

import pytest

from solver.scenario.quotas import covers
from tests.scenario.reading import (
    SMALL,
    faults,
    notice_ids,
    only_fault,
    read,
    shipped_catalog,
)

UNUSED = "notice.quota.unused"
OWN = "offers: [{name: mine, gpu: l40s, gpus_per_node: 8, usd_per_gpu_hour: 1}]\n"


def stocked(*quotas: str, more: str = "") -> str:
    """Return a scenario with quotas."""
    return f"{SMALL}{more}stock: {{quota: [{', '.join(quotas)}]}}\n"


def test_no_quota_is_no_limit() -> None:
    """Tests that quotas are none unless stated."""
    assert read(SMALL).quotas == ()
    assert read(stocked()).quotas == ()


@pytest.mark.parametrize(
    ("written", "limit", "unit"),
    [
        ("max_nodes: 0", 0, "nodes"),
        ("max_nodes: 16", 16, "nodes"),
        ("max_gpus: 1k", 1000, "gpus"),
        ("max_vcpus: 1,920", 1920, "vcpus"),
    ],
)
def test_limits_and_their_units(written: str, limit: int, unit: str) -> None:
    """Tests that a quota counts nodes, GPUs or vCPUs, and may be 0."""
    text = (
        stocked(f"{{{written}}}")
        if "," not in written
        else stocked('{max_vcpus: "1,920"}')
    )
    (quota,) = read(text).quotas
    assert (quota.limit, quota.unit) == (limit, unit)


@pytest.mark.parametrize(
    ("written", "covered"),
    [
        ("provider: aws", {"aws/us-east-1", "aws/us-west-2"}),
        ("provider: AWS, region: us-east-1", {"aws/us-east-1"}),
        ("region: aws/us-east-1", {"aws/us-east-1"}),
        ("gpu: H100", {"aws/us-east-1", "aws/us-west-2"}),
        ("gpu: A100", set()),
        ("purchase: on demand", {"aws/us-east-1", "aws/us-west-2"}),
        ("purchase: spot", set()),
    ],
)
def test_what_a_quota_covers(written: str, covered: set[str]) -> None:
    """Tests names, families and bare regions on two offers of H100s on demand."""
    (quota,) = read(stocked(f"{{{written}, max_nodes: 4}}")).quotas
    offers = [
        shipped_catalog().offers[f"{region}/p5.48xlarge/on_demand"]
        for region in ("aws/us-east-1", "aws/us-west-2")
    ]
    found = {o.region for o in offers if covers(quota, o, "h100-sxm-80gb")}
    assert found == covered


@pytest.mark.parametrize(
    ("written", "code", "path", "hint"),
    [
        ("provider: aws", "missing-key", "stock.quota[0]", None),
        (
            "max_nodes: 1, max_gpus: 8",
            "conflicting-keys",
            "stock.quota[0].max_gpus",
            None,
        ),
        ("max_nodes: -1", "out-of-range", "stock.quota[0].max_nodes", None),
        ("max_gpus: 2.5", "wrong-type", "stock.quota[0].max_gpus", None),
        ("max_vcpus: 1e12", "out-of-range", "stock.quota[0].max_vcpus", None),
        ("max_node: 1", "unknown-key", "stock.quota[0].max_node", "max_nodes"),
        (
            "provider: awss, max_nodes: 1",
            "unknown-name",
            "stock.quota[0].provider",
            "aws",
        ),
        (
            "region: us-eest-1, max_nodes: 1",
            "unknown-name",
            "stock.quota[0].region",
            "us-east-1",
        ),
        ("gpu: H1000, max_nodes: 1", "unknown-name", "stock.quota[0].gpu", "H100"),
        (
            "purchase: spott, max_nodes: 1",
            "wrong-value",
            "stock.quota[0].purchase",
            "spot",
        ),
    ],
)
def test_wrong_quotas(written: str, code: str, path: str, hint: str | None) -> None:
    """Tests that each wrong quota is told once, with its place and right spelling."""
    issue = only_fault(stocked(f"{{{written}}}"))
    assert (issue.code, issue.path) == (code, path)
    assert (issue.where or "").startswith("s.yaml:3:")
    if hint is not None:
        assert (issue.hint or "").casefold() == hint.casefold()


def test_a_quota_that_is_no_list() -> None:
    """Tests that a mapping in place of a list is told."""
    issue = only_fault(f"{SMALL}stock: {{quota: {{max_nodes: 3}}}}\n")
    assert (issue.code, issue.path) == ("wrong-type", "stock.quota")


@pytest.mark.parametrize(
    ("written", "more", "told"),
    [
        ("provider: aws", "", False),
        ("provider: aws", OWN, True),
        ("provider: mine", OWN, False),
        ("gpu: l4", OWN, True),
        ("provider: aws", f"{OWN}catalog: include\n", False),
        ("provider: gcp, purchase: monthly", "", True),
    ],
)
def test_a_quota_that_matches_no_offer_is_told(
    written: str, more: str, told: bool
) -> None:
    """Tests that a quota on nothing is a notice: its name may be meant otherwise."""
    found = read(stocked(f"{{{written}, max_nodes: 4}}", more=more))
    assert (UNUSED in notice_ids(found)) == told


def test_all_faults_of_a_quota_at_once() -> None:
    """Tests that a wrong name is told beside a limit that is missing."""
    text = stocked("{provider: awss}", "{gpu: H1000, max_node: 3}")
    found = {(issue.code, issue.path) for issue in faults(text)}
    assert found == {
        ("missing-key", "stock.quota[0]"),
        ("unknown-name", "stock.quota[0].provider"),
        ("unknown-key", "stock.quota[1].max_node"),
        ("unknown-name", "stock.quota[1].gpu"),
    }
