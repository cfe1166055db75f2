"""Which spread a prediction takes, and that what was measured is written down."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from solver.catalog.load import Catalog, load_catalog
from solver.spread import LAUNCH_BOUND_MFU, Spread, run_mfu, spread_of
from tests.planning.jobs import A100, H100
from tests.settings import all_candidates, toy


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load_catalog()


def known(**measured: float) -> dict[str, Any]:
    """A calibration in which hopper has a spread of 0.2, and these keys theirs."""
    return {
        "generations": {"hopper": {"sigma": 0.2}, "default": {"sigma": 0.4}},
        "spread": {
            key.replace("_", " "): {"sigma": sigma} for key, sigma in measured.items()
        },
    }


@pytest.mark.parametrize(
    ("measured", "moe", "wanted"),
    [
        # what was measured together wins, though others are larger
        ({"fsdp_dense_on_hopper": 0.05, "fsdp_dense": 0.3}, False, 0.05),
        # else the larger of generation and framework
        ({"fsdp_dense": 0.3}, False, 0.3),
        ({"fsdp_dense": 0.1, "dense": 0.5}, False, 0.2),
        # all frameworks stand in for one that was not measured
        ({"dense": 0.5}, False, 0.5),
        ({"dense": 0.1}, False, 0.2),
        # kinds are kept apart
        ({"fsdp_dense_on_hopper": 0.05, "fsdp_moe": 0.6}, True, 0.6),
        ({"fsdp_dense": 0.9, "moe": 0.25}, True, 0.25),
        ({}, True, 0.2),
    ],
)
def test_one_rule_picks_the_spread(
    catalog: Catalog, measured: dict[str, float], moe: bool, wanted: float
) -> None:
    """Tests the rule by hand: together, else the larger of the two."""
    gpu = catalog.gpus["h100-sxm-80gb"]
    assert spread_of(gpu, "fsdp", known(**measured), moe=moe).usual == wanted


def test_launch_bound_steps_are_never_surer(catalog: Catalog) -> None:
    """Tests that below 15 % MFU the larger of both spreads is taken."""
    gpu = catalog.gpus["h100-sxm-80gb"]
    tables = known(fsdp_dense=0.3), known(fsdp_dense=0.3)
    for table, sigma, wanted in zip(tables, (0.7, 0.1), (0.7, 0.3), strict=True):
        table["spread"]["fsdp launch-bound"] = {"sigma": sigma}
        spread = spread_of(gpu, "fsdp", table, moe=False)
        assert spread == Spread(0.3, wanted)
        mfu = np.array([LAUNCH_BOUND_MFU - 1e-6, LAUNCH_BOUND_MFU])
        assert list(spread.at(mfu)) == [wanted, 0.3]


def test_every_gpu_and_framework_has_one(catalog: Catalog) -> None:
    """Tests that nothing is taken for exact, and that MoE are not surer than dense."""
    for gpu in catalog.gpus.values():
        for framework in catalog.frameworks:
            dense, moe = (
                spread_of(gpu, framework, catalog.calibration, moe=moe)
                for moe in (False, True)
            )
            assert 0.03 < dense.usual <= dense.launch_bound < 2
            assert 0.03 < moe.usual <= moe.launch_bound < 2
    gpu = catalog.gpus["h100-sxm-80gb"]
    tuned = spread_of(gpu, "megatron", catalog.calibration, moe=False)
    plain = spread_of(gpu, "pytorch-fsdp", catalog.calibration, moe=False)
    mixture = spread_of(gpu, "megatron", catalog.calibration, moe=True)
    assert tuned.usual < plain.usual
    assert tuned.usual < mixture.usual


def test_the_least_factor_is_below_all() -> None:
    """Tests the bound that the search uses, early and late."""
    spread = Spread(0.1, 0.4)
    assert spread.least_factor(1.0) == pytest.approx(math.exp(0.1))
    assert spread.least_factor(-1.0) == pytest.approx(math.exp(-0.4))
    assert spread.least_factor(0.0) == 1.0


def test_slower_runs_on_the_same_gpus_are_never_surer() -> None:
    """Tests that the spread of candidates never falls with their training time."""
    setting = toy({**A100, "max_nodes": 64}, H100)
    table = all_candidates(setting)
    assert len(np.unique(table.sigma[table.group == 0])) == 2
    for group in np.unique(table.group):
        for nodes in np.unique(table.layouts.nodes):
            rows = np.flatnonzero(
                (table.group == group) & (table.layouts.nodes == nodes)
            )
            order = rows[np.argsort(table.training_s[rows])]
            assert (np.diff(table.sigma[order]) >= 0).all()


@pytest.mark.parametrize("efficiency", [0.4, 1.05])
def test_a_slow_team_is_not_launch_bound(efficiency: float) -> None:
    """Tests that the MFU that tells is the one of a well-tuned framework."""
    own = toy(A100, workload={"efficiency": efficiency})
    tuned = toy(A100)
    for setting in (own, tuned):
        assert len(setting.classes) == 1
    gpus, seconds = np.array([8]), np.array([1e5])
    found = [
        run_mfu(s.shape, s.job, s.classes[0].hardware, gpus, seconds / share)
        for s, share in ((own, efficiency), (tuned, 1.0))
    ]
    assert found[0] == pytest.approx(found[1])
