"""Tests of the frontier's points: order, knee, price of a day, statuses, JSON."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solver.plan import Plan
from solver.planning.pareto import Frontier, knee_of, pareto, usd_per_day_saved
from solver.setting import setting_of
from solver.verify import verify
from tests.planning.jobs import A100, H100, catalog, job


def of_job(third: Any = None, **keys: Any) -> Frontier:
    """The frontier of a small job."""
    return pareto(job(**keys), catalog(), third=third)


def placeless(found: Frontier) -> list[Plan]:
    """The plans, without the lines of the file that their prices come from."""
    return [replace(point.plan, provenance={}) for point in found.points]


def points(*pairs: tuple[float, float]) -> np.ndarray:
    """Points of a frontier, dollars and days."""
    return np.array([(usd, days * 86_400, 0.0) for usd, days in pairs])


def test_cheapest_first_and_sooner_each_time() -> None:
    """Tests the order, and what a day saved costs, against the plans."""
    found = of_job()
    assert found.status == "optimal"
    assert len(found.points) > 2
    assert found.points[0].usd_per_day_saved is None
    for above, point in zip(found.points, found.points[1:], strict=False):
        usd = point.plan.cost_usd - above.plan.cost_usd
        days = above.plan.duration_days - point.plan.duration_days
        assert usd > 0
        assert days > 0
        assert point.usd_per_day_saved == pytest.approx(usd / days, rel=1e-6)


def test_every_point_passes_the_certificate() -> None:
    """Tests the plans with the independent check."""
    scenario = job()
    supply = setting_of(scenario, catalog()).catalog
    for point in pareto(scenario, catalog(), third="memory_headroom").points:
        assert verify(point.plan, scenario, supply) == []


def test_limits_cut_the_frontier() -> None:
    """Tests that a budget and a deadline leave the points within them."""
    whole = placeless(of_job())
    middle = whole[len(whole) // 2]
    budget = of_job(constraints={"budget": middle.cost_usd})
    assert placeless(budget) == whole[: len(whole) // 2 + 1]
    hours = f"{middle.duration_days * 24 + 1e-6:.6f} hours"
    deadline = of_job(constraints={"deadline": hours})
    assert placeless(deadline) == whole[len(whole) // 2 :]
    assert deadline.deadline_days == pytest.approx(middle.duration_days)


def test_the_objective_plays_no_part() -> None:
    """Tests that the same points come whatever is minimised."""
    plans = [p.plan for p in of_job().points]
    for objective in ("time", ["carbon", "cost"], {"cost": 1, "usd_per_day": 100}):
        assert [p.plan for p in of_job(objective=objective).points] == plans


def test_carbon_as_the_aim_leaves_no_offer_out() -> None:
    """Tests that offers on unknown grids are points unless carbon counts."""
    nowhere = {**A100, "name": "x", "region": "somewhere", "usd_per_gpu_hour": 0.5}
    found = of_job(offers=[A100, nowhere], objective="carbon")
    assert {point.plan.offer for point in found.points} == {"x"}


def test_a_third_figure_adds_points() -> None:
    """Tests that all points of cost and time stay, and that leaner ones come."""
    two = {point.plan.cost_usd for point in of_job().points}
    three = of_job("memory_headroom")
    assert two < {point.plan.cost_usd for point in three.points}
    most = max(point.plan.memory_headroom for point in three.points)
    assert most > max(point.plan.memory_headroom for point in of_job().points)
    assert all(point.usd_per_day_saved is None for point in three.points)


def test_carbon_leaves_out_what_is_not_known() -> None:
    """Tests that with carbon only offers on known grids are points."""
    nowhere = {**A100, "name": "x", "region": "somewhere", "usd_per_gpu_hour": 0.5}
    found = of_job("carbon", offers=[A100, nowhere])
    assert found.points
    assert {point.plan.offer for point in found.points} == {"a"}
    assert all(point.plan.carbon_t for point in found.points)


def test_knee_is_the_least_sum() -> None:
    """Tests the knee of an elbow, whatever the units."""
    elbow = points((100, 10), (105, 4), (150, 3.5), (400, 3))
    assert knee_of(elbow) == 1
    assert knee_of(elbow * (1000, 0.01, 1)) == 1


def test_no_knee() -> None:
    """Tests a straight line, a bulge, two points and one: no compromise stands out."""
    assert knee_of(points((1, 3), (2, 2), (3, 1))) is None
    assert knee_of(points((1, 3), (2.9, 2.9), (3, 1))) is None
    assert knee_of(points((1, 3), (3, 1))) is None
    assert knee_of(points((1, 3))) is None


@given(
    st.lists(
        st.tuples(st.integers(1, 50), st.integers(1, 50)),
        min_size=3,
        max_size=12,
        unique_by=(lambda p: p[0], lambda p: p[1]),
    )
)
def test_knee_is_farthest_below_the_line(pairs: list[tuple[int, int]]) -> None:
    """Tests the knee against distances from the straight line between the ends."""
    usd = sorted(pair[0] for pair in pairs)
    days = sorted((pair[1] for pair in pairs), reverse=True)
    figures = points(*zip(usd, days, strict=True))
    x = (figures[:, 0] - figures[0, 0]) / (figures[-1, 0] - figures[0, 0])
    y = (figures[:, 1] - figures[-1, 1]) / (figures[0, 1] - figures[-1, 1])
    below = 1 - x - y
    knee = knee_of(figures)
    if below.max() <= 1e-9:
        assert knee is None
    else:
        assert knee is not None
        assert below[knee] == pytest.approx(below.max())


def test_price_of_a_day() -> None:
    """Tests dollars over days, by hand."""
    assert usd_per_day_saved(points((100, 10), (150, 8), (190, 6))) == pytest.approx(
        [25, 20]
    )


def test_infeasible_is_explained() -> None:
    """Tests that without a plan the answer is that of a solve."""
    found = of_job(constraints={"deadline": "1 min"})
    assert (found.status, found.points) == ("infeasible", ())
    assert found.explanation is not None
    assert found.explanation.conflict == ("deadline",)
    assert found.as_dict()["reason"].startswith("no candidate")


def test_no_time_is_not_infeasible() -> None:
    """Tests that a time limit before any plan proves nothing."""
    found = of_job(limits={"time": "0.000001 s"})
    assert (found.status, found.points, found.explanation) == ("unknown", (), None)


def test_json_rows() -> None:
    """Tests the keys that the contract promises."""
    data = of_job(offers=[A100, H100]).as_dict()
    assert (data["status"], data["third"], data["reason"]) == ("optimal", None, None)
    for row in data["rows"]:
        assert row["cost_usd"] == row["plan"]["cost_usd"]
        assert row["duration_days"] == row["plan"]["duration_days"]
        assert 0 < row["memory_headroom"] < 1
        assert isinstance(row["knee"], bool)
