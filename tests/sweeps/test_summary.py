"""Tests of what results say, on figures made by hand."""

from __future__ import annotations

import json
from typing import Any

import pytest

from solver.messages import MESSAGES
from solver.sweeps.record import Record
from solver.sweeps.results import Results, label, results_of, short
from solver.sweeps.summary import (
    _ranks,
    best_by_value,
    correlations,
    effects,
    plan_map,
    scatters,
    status_counts,
    summary_dict,
)


def answer(number: int, cost: float | None, days: float = 1.0, **inputs: Any) -> Record:
    """A point with a plan of such cost and time, or without one."""
    draw = inputs.pop("draw", None)
    plan = {
        "cost_usd": cost,
        "duration_days": days,
        "gpus": 8,
        "nodes": 1,
        "gpus_per_node": 8,
        "spare_nodes": 0,
        "gpu": "a100-sxm-80gb",
        "provider": "mine",
        "region": "sg",
    }
    reasons = ({"id": "short.budget", "text": "dear", "values": {}},)
    return Record(
        id=str(number),
        number=number,
        inputs=inputs,
        overlay="as listed",
        draw=draw,
        status="infeasible" if cost is None else "optimal",
        version="1",
        catalog="c",
        sweep="s",
        reasons=reasons if cost is None else (),
        plan=None if cost is None else plan,
    )


def results(
    records: list[Record], keys: list[str], drawn: tuple[str, ...] = ()
) -> Results:
    """Results of a sweep over some keys."""
    meta = {
        "groups": json.dumps([[key] for key in keys]),
        "drawn": json.dumps(drawn),
        "points": str(len(records) + 1),
        "objective": "cost",
    }
    return results_of(meta, records)


GRID = results(
    [
        answer(0, 100.0, 10.0, deadline="10 days", price=1),
        answer(1, 200.0, 10.0, deadline="10 days", price=2),
        answer(2, 150.0, 5.0, deadline="5 days", price=1),
        answer(3, None, deadline="5 days", price=2),
    ],
    ["deadline", "price"],
)


def test_counts_tell_what_is_left() -> None:
    """Tests that points which are not answered yet are counted."""
    assert status_counts(GRID) == {"infeasible": 1, "optimal": 3, "unanswered": 1}


def test_the_best_of_each_value() -> None:
    """Tests count, best point and reason of each value, in the order of the sweep."""
    rows = best_by_value(GRID)
    told = [(r.dimension, r.value, r.points, r.planned) for r in rows]
    assert told == [
        ("deadline", "10 days", 2, 2),
        ("deadline", "5 days", 2, 1),
        ("price", "1", 2, 2),
        ("price", "2", 2, 1),
    ]
    assert [row.best and row.best.id for row in rows] == ["0", "2", "0", "1"]
    assert [row.reason for row in rows] == [None, "short.budget"] * 2


def test_effects_hold_all_else_fixed() -> None:
    """Tests the range along an axis: only points that differ in it alone count."""
    by_name = {effect.dimension: effect for effect in effects(GRID)}
    deadline, price = by_name["deadline"], by_name["price"]
    assert (deadline.groups, deadline.all_groups, deadline.opened) == (1, 2, 1)
    assert deadline.cost_median == pytest.approx(0.5)  # 150 over 100
    assert deadline.time_most == pytest.approx(1.0)  # 10 days over 5
    assert price.cost_median == pytest.approx(1.0)  # 200 over 100
    assert price.time_median == 0.0
    assert [effect.dimension for effect in effects(GRID)] == ["price", "deadline"]


def test_draws_scatter_and_correlate() -> None:
    """Tests percentiles and rank correlations over draws, within each combination."""
    drawn = [
        answer(
            10 * s + i,
            100.0 * (s + 1) + i * i,
            9.0 - i,
            size=s,
            factor=1 + i / 10,
            rate=(i * 7) % 5,
            draw=i,
        )
        for s in range(2)
        for i in range(5)
    ]
    found = results(drawn, ["size"], ("factor", "rate"))
    assert [s.coordinates for s in scatters(found)] == [("0",), ("1",)]
    assert scatters(found)[0].cost_usd == pytest.approx((100.4, 104.0, 113.2))
    by_key = {each.key: each for each in correlations(found)}
    assert by_key["factor"].cost == pytest.approx(1.0)
    assert by_key["factor"].time == pytest.approx(-1.0)
    assert abs(by_key["rate"].cost or 0.0) < 0.5
    assert correlations(found)[0].key == "factor"


def test_the_map_tells_where_there_is_no_plan() -> None:
    """Tests points, plans and reason by two axes; nothing where all have a plan."""
    found = plan_map(GRID)
    assert found is not None
    assert {found.down.name, found.across.name} == {"deadline", "price"}
    place = ("5 days", "2") if found.down.name == "deadline" else ("2", "5 days")
    assert found.cells[place] == (1, 0, "short.budget")
    assert sum(cell[1] for cell in found.cells.values()) == 3
    whole = results([answer(i, 1.0, x=i, y=1) for i in range(2)], ["x", "y"])
    assert plan_map(whole) is None
    assert plan_map(results([answer(0, None, x=1)], ["x"])) is None


def test_ranks_share_ties() -> None:
    """Tests ranks against their definition: equal values have the mean of theirs."""
    assert _ranks([3.0, 1.0, 3.0, 2.0, 3.0]).tolist() == [4.0, 1.0, 4.0, 2.0, 4.0]
    assert len(_ranks([float(i % 100) for i in range(50_000)])) == 50_000


def test_the_summary_is_json() -> None:
    """Tests that all of it can be written as JSON, without whole plans."""
    data = json.loads(json.dumps(summary_dict(GRID)))
    assert data["best_by_value"][0]["best"]["cost_usd"] == 100.0
    assert data["answered"] == 4
    empty = results([], ["deadline"])
    assert summary_dict(empty)["best_by_value"] == []


def test_labels_are_short_but_tell_values_apart() -> None:
    """Tests that tables round a computed value, and results never do."""
    assert label("21.4645362166 days") == "21.4645362166 days"
    assert short("21.4645362166 days") == "21.46 days"
    assert short("llama-2-7b") == "llama-2-7b"
    assert short("131072") == "131072"
    assert label(["A100", "H100"]) == "A100, H100"
    assert label([]) == "any"
    assert label({"min": 1}) == '{"min": 1}'


def test_every_reason_has_a_label() -> None:
    """Tests that no id of a message is shown where few words are wanted."""
    reasons = [key for key in MESSAGES if key.startswith("short.")]
    assert len(reasons) > 10
    assert [key for key in reasons if f"sweep_reason.{key}" not in MESSAGES] == []
