"""Tests of the JSON contract."""

import json
from dataclasses import replace
from datetime import date

import numpy as np
import pytest

from solver.errors import InternalError, Issue
from solver.plan import Plan
from solver.report.as_json import (
    errors_as_json,
    object_as_json,
    result_as_json,
    rows_as_json,
)
from tests.report.examples import FEASIBLE, INFEASIBLE, OPTIMAL, PLAN, UNKNOWN

CONTRACT = {
    "": "ok schema_version status objective plan alternatives proof explanation "
    "versions",
    "plan": "provider region country offer purchase gpu server start nodes gpus "
    "gpus_per_node intra_node network storage framework layout step_time_s "
    "step_time_parts_s steps mfu tokens_per_s memory_gib training_days duration_days "
    "duration_p90_days gpu_hours cost_usd cost_parts_usd checkpoint_gb provenance "
    "warnings",
    "layout": "tp pp cp ep etp dp virtual_stages layers_per_stage micro_batch "
    "accumulation global_batch_size zero_stage shard_degree sequence_parallel "
    "recompute precision optimizer offload",
    "memory_gib": "weights gradients optimizer activations other total capacity",
    "proof": "bound gap candidates pruned wall_time_s",
    "explanation": "kind summary conflict relaxations nearest_miss",
}
"""Keys that were there in the first release and never go away."""


def test_keys_of_the_contract() -> None:
    """Tests that every key of the first release is still there."""
    answer = json.loads(result_as_json(OPTIMAL))
    refusal = json.loads(result_as_json(INFEASIBLE))
    places = {
        "": answer,
        "plan": answer["plan"],
        "layout": answer["plan"]["layout"],
        "memory_gib": answer["plan"]["memory_gib"],
        "proof": answer["proof"],
        "explanation": refusal["explanation"],
    }
    for place, keys in CONTRACT.items():
        assert set(keys.split()) <= places[place].keys(), place


def test_an_answer_is_ok_even_if_it_is_no() -> None:
    """Tests that ok tells wrong input from an answer, whatever the answer is."""
    for result in (OPTIMAL, FEASIBLE, INFEASIBLE, UNKNOWN):
        data = json.loads(result_as_json(result))
        assert data["ok"] is True
        assert data["status"] == result.status
        assert (data["plan"] is None) == (result.plan is None)


def test_plan_survives_the_round_trip() -> None:
    """Tests that a printed plan can be read back without loss."""
    data = json.loads(result_as_json(OPTIMAL))
    assert Plan.from_dict(data["plan"]) == PLAN


def test_text_is_ascii() -> None:
    """Tests that no terminal's encoding can spoil the object."""
    result = replace(OPTIMAL, plan=replace(PLAN, region="são-paulo"))
    text = result_as_json(result)
    assert text.isascii()
    assert json.loads(text)["plan"]["region"] == "são-paulo"


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), -float("inf")])
def test_figures_are_finite(wrong: float) -> None:
    """Tests that a figure that is none is a bug that names itself, not JSON's NaN."""
    parts = {**PLAN.step_time_parts_s, "compute": wrong}
    result = replace(OPTIMAL, plan=replace(PLAN, step_time_parts_s=parts))
    with pytest.raises(InternalError, match=r"plan\.step_time_parts_s\.compute"):
        result_as_json(result)


def test_numbers_of_numpy_are_numbers() -> None:
    """Tests that figures computed on arrays print like any other."""
    plan = replace(PLAN, steps=np.int64(12), mfu=np.float32(0.5))
    data = json.loads(result_as_json(replace(OPTIMAL, plan=plan)))
    assert (data["plan"]["steps"], data["plan"]["mfu"]) == (12, 0.5)


def test_what_json_lacks_is_a_bug() -> None:
    """Tests that an unknown type is named with its place."""
    with pytest.raises(InternalError, match=r"estimate\.odd holds a complex"):
        object_as_json("estimate", {"odd": 1j})


def test_dates_and_sets() -> None:
    """Tests that dates are ISO dates and sets come in order."""
    data = json.loads(object_as_json("x", {"d": date(2026, 12, 1), "s": {"b", "a"}}))
    assert data["x"] == {"d": "2026-12-01", "s": ["a", "b"]}


def test_rows_and_errors() -> None:
    """Tests the shape of listings and of faults."""
    assert json.loads(rows_as_json([{"name": "a"}])) == {
        "ok": True,
        "schema_version": 1,
        "rows": [{"name": "a"}],
    }
    issue = Issue("unknown-key", "unknown key", "a.yaml:1:2", "b.c", "d")
    data = json.loads(errors_as_json([issue]))
    assert data["ok"] is False
    assert data["errors"] == [
        {
            "code": "unknown-key",
            "message": "unknown key",
            "where": "a.yaml:1:2",
            "path": "b.c",
            "hint": "d",
        }
    ]
