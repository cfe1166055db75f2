"""Tests of the JSON contract: every key that is promised, with its type.

The tables below are the contract, word for word; keys may be added, never changed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import Ran, run

SCENARIO = """\
name: contract
model: llama-2-7b
workload: {method: lora, tokens: 10M, sequence_length: 1024, global_batch_size: 32}
offers:
  - {name: mine, gpu: a100-sxm-80gb, gpus_per_node: 8, usd_per_gpu_hour: 2.00,
     max_nodes: 2, region: sg, network: {gbps_per_node: 1600, kind: infiniband}}
  - {name: other, gpu: h100-sxm-80gb, gpus_per_node: 8, usd_per_gpu_hour: 2.10,
     max_nodes: 2, region: jp}
"""

NUMBER = (int, float)
MAYBE_TEXT = (str, type(None))
MAYBE_NUMBER = (int, float, type(None))
MAYBE_DICT = (dict, type(None))

Types = type | tuple[type, ...]

ANSWER: dict[str, Types] = {
    "ok": bool,
    "schema_version": int,
    "status": str,
    "objective": str,
    "plan": MAYBE_DICT,
    "alternatives": list,
    "proof": dict,
    "explanation": MAYBE_DICT,
    "versions": dict,
    "request": dict,
    "route": MAYBE_DICT,
}
PLAN: dict[str, Types] = {
    "provider": str,
    "region": str,
    "country": MAYBE_TEXT,
    "offer": str,
    "purchase": str,
    "gpu": str,
    "server": str,
    "start": MAYBE_TEXT,
    "nodes": int,
    "gpus": int,
    "gpus_per_node": int,
    "intra_node": str,
    "network": MAYBE_TEXT,
    "storage": MAYBE_TEXT,
    "framework": str,
    "layout": dict,
    "step_time_s": NUMBER,
    "step_time_parts_s": dict,
    "steps": int,
    "mfu": NUMBER,
    "tokens_per_s": NUMBER,
    "memory_gib": dict,
    "training_days": NUMBER,
    "duration_days": NUMBER,
    "duration_p90_days": MAYBE_NUMBER,
    "gpu_hours": NUMBER,
    "cost_usd": NUMBER,
    "cost_parts_usd": dict,
    "checkpoint_gb": NUMBER,
    "step_time_p10_s": MAYBE_NUMBER,
    "step_time_p90_s": MAYBE_NUMBER,
    "cost_p90_usd": MAYBE_NUMBER,
    "efficiency": NUMBER,
    "provenance": dict,
    "warnings": list,
}
LAYOUT: dict[str, Types] = {
    "tp": int,
    "pp": int,
    "cp": int,
    "ep": int,
    "etp": int,
    "dp": int,
    "virtual_stages": int,
    "layers_per_stage": list,
    "micro_batch": int,
    "accumulation": int,
    "global_batch_size": int,
    "zero_stage": int,
    "shard_degree": int,
    "sequence_parallel": bool,
    "recompute": str,
    "precision": str,
    "optimizer": str,
    "offload": str,
    "loss": str,
    "base": str,
}
MEMORY: dict[str, Types] = dict.fromkeys(
    (
        "weights",
        "gradients",
        "optimizer",
        "activations",
        "other",
        "total",
        "capacity",
    ),
    NUMBER,
)
COST: dict[str, Types] = dict.fromkeys(("compute", "storage", "egress"), NUMBER)
PROOF: dict[str, Types] = {
    "bound": MAYBE_NUMBER,
    "gap": MAYBE_NUMBER,
    "candidates": int,
    "pruned": int,
    "wall_time_s": NUMBER,
}
EXPLANATION: dict[str, Types] = {
    "kind": str,
    "summary": str,
    "conflict": list,
    "relaxations": list,
    "nearest_miss": MAYBE_DICT,
}
RELAXATION: dict[str, Types] = {
    "constraint": str,
    "now": MAYBE_TEXT,
    "needed": str,
    "unit": str,
}
BOUND: dict[str, Types] = {"now_value": NUMBER, "needed_value": NUMBER}
ERROR: dict[str, Types] = {
    "code": str,
    "message": str,
    "where": MAYBE_TEXT,
    "path": MAYBE_TEXT,
    "hint": MAYBE_TEXT,
}
ALTERNATIVE: dict[str, Types] = {
    "kind": str,
    "cost_change_usd": NUMBER,
    "duration_change_days": NUMBER,
    "plan": dict,
}


def check(data: dict[str, Any], contract: dict[str, Types]) -> None:
    """Assert that every key is there with its type; a bool is no number."""
    for key, kind in contract.items():
        assert key in data, key
        value = data[key]
        assert isinstance(value, kind), (key, value)
        if kind in (int, NUMBER, MAYBE_NUMBER):
            assert not isinstance(value, bool), key


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    """Return the path of a small scenario."""
    path = tmp_path / "contract.yaml"
    path.write_text(SCENARIO, encoding="utf-8")
    return path


def asked(capsys: pytest.CaptureFixture[str], scenario: Path, *overrides: str) -> Ran:
    """Solve with overrides, as JSON."""
    words = [word for text in overrides for word in ("--set", text)]
    return run(capsys, "solve", scenario, "--json", *words)


def check_plan(plan: dict[str, Any]) -> None:
    """Assert the whole of a plan."""
    check(plan, PLAN)
    check(plan["layout"], LAYOUT)
    check(plan["memory_gib"], MEMORY)
    check(plan["cost_parts_usd"], COST)
    assert all(isinstance(n, int) for n in plan["layout"]["layers_per_stage"])
    assert all(isinstance(v, NUMBER) for v in plan["step_time_parts_s"].values())
    assert all(isinstance(v, str) for v in plan["provenance"].values())


def test_optimal(scenario: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Tests an answer with a plan, its runners-up and its proof."""
    ran = asked(capsys, scenario)
    assert (ran.status, ran.err) == (0, "")
    data = ran.data
    check(data, ANSWER)
    assert (data["ok"], data["schema_version"], data["status"]) == (True, 1, "optimal")
    assert data["explanation"] is None
    check_plan(data["plan"])
    check(data["proof"], PROOF)
    assert data["proof"]["gap"] == 0
    assert data["alternatives"]
    for other in data["alternatives"]:
        check(other, ALTERNATIVE)
        check_plan(other["plan"])
    assert {"gpuplan", "ortools", "python"} <= set(data["versions"])


@pytest.mark.parametrize(
    ("override", "kind", "has_values"),
    [
        ("constraints.deadline=1 min", "constraints", True),
        ("constraints.countries=[KR]", "catalog", False),
        ("constraints.parallelism.dp=3", "layout", False),
        ("workload.global_batch_size=32", "memory", False),
    ],
)
def test_infeasible(
    override: str,
    kind: str,
    has_values: bool,
    scenario: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Tests a 'no' of each kind: exit status 3, no plan, and what would open one."""
    words = [override]
    if kind == "memory":
        words += [
            "model=llama-3.1-405b",
            "offers=[{name: x, gpu: l4, gpus_per_node: 1}]",
        ]
    ran = asked(capsys, scenario, *words)
    assert (ran.status, ran.err) == (3, "")
    data = ran.data
    check(data, ANSWER)
    assert (data["ok"], data["status"], data["plan"]) == (True, "infeasible", None)
    assert data["alternatives"] == []
    check(data["explanation"], EXPLANATION)
    assert data["explanation"]["kind"] == kind
    assert all(isinstance(rule, str) for rule in data["explanation"]["conflict"])
    for relaxation in data["explanation"]["relaxations"]:
        check(relaxation, RELAXATION)
        if has_values:
            check(relaxation, BOUND)
    check(data["proof"], PROOF)
    assert data["proof"]["bound"] is None


def test_no_answer_in_time(scenario: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Tests that a time limit before any plan is `unknown`, not a 'no'."""
    ran = asked(capsys, scenario, "limits.time=0.000001 s")
    assert (ran.status, ran.err) == (4, "")
    check(ran.data, ANSWER)
    found = {k: ran.data[k] for k in ("ok", "status", "plan", "explanation")}
    assert found == {"ok": True, "status": "unknown", "plan": None, "explanation": None}


def test_wrong_input(scenario: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Tests that faults come as one object, each with its place and hint."""
    text = SCENARIO.replace("model:", "modle:").replace("10M", "10 parsecs")
    scenario.write_text(text, encoding="utf-8")
    ran = asked(capsys, scenario)
    assert (ran.status, ran.err) == (2, "")
    assert ran.data["ok"] is False
    assert "plan" not in ran.data
    assert len(ran.data["errors"]) >= 2
    for error in ran.data["errors"]:
        check(error, ERROR)
    (found,) = [e for e in ran.data["errors"] if e["path"] == "modle"]
    assert (found["code"], found["hint"]) == ("unknown-key", "model")
    assert found["where"].endswith("contract.yaml:2:1")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("solve", "no-such-scenario"), "file-not-found"),
        (
            ("solve", "quickstart-7b", "--set", "constraints.deadlin=1 day"),
            "unknown-key",
        ),
        (("solve", "quickstart-7b", "--set", "model=llama-2-8b"), "unknown-name"),
        (("estimate", "quickstart-7b"), "missing-key"),
    ],
)
def test_wrong_words(
    words: tuple[str, ...], code: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tests that what was typed is refused as what is in a file."""
    ran = run(capsys, *words, "--json")
    assert (ran.status, ran.err) == (2, "")
    assert ran.data["ok"] is False
    assert code in {error["code"] for error in ran.data["errors"]}
    for error in ran.data["errors"]:
        check(error, ERROR)


def test_figures_agree_with_each_other(
    scenario: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tests the sums and products that readers of the JSON will rely on."""
    plan = asked(capsys, scenario).data["plan"]
    layout = plan["layout"]
    assert plan["gpus"] == plan["nodes"] * plan["gpus_per_node"]
    ranks = layout["tp"] * layout["pp"] * layout["cp"] * layout["dp"]
    assert plan["gpus"] == ranks
    batch = layout["dp"] * layout["micro_batch"] * layout["accumulation"]
    assert batch == layout["global_batch_size"]
    assert sum(layout["layers_per_stage"]) == 32
    assert sum(plan["step_time_parts_s"].values()) == pytest.approx(plan["step_time_s"])
    assert sum(plan["cost_parts_usd"].values()) == pytest.approx(plan["cost_usd"])
    days = plan["steps"] * plan["step_time_s"] / 86_400
    assert plan["training_days"] == pytest.approx(days)
    assert plan["duration_p90_days"] > plan["duration_days"] > plan["training_days"]


def test_overrides_change_the_answer(
    scenario: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tests `--set` on a number, a list and an objective, from end to end."""
    plain = asked(capsys, scenario).data["plan"]
    japan = asked(capsys, scenario, "constraints.countries=[JP]").data["plan"]
    assert (plain["country"], japan["country"]) == ("SG", "JP")
    twice = asked(capsys, scenario, "workload.tokens=20M").data["plan"]
    assert twice["steps"] == pytest.approx(2 * plain["steps"], abs=1)
    fast = asked(capsys, scenario, "objective=time").data
    assert fast["objective"] == "time"
    assert fast["plan"]["duration_days"] <= plain["duration_days"]


def test_estimate(scenario: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Tests that an estimate has layout, memory and time of one pinned layout."""
    ran = run(
        capsys, "estimate", scenario, "--gpu", "A100-SXM-80GB", "--gpus", "8", "--json"
    )
    assert (ran.status, ran.err) == (0, "")
    data = ran.data
    found = data.get("estimate", data)
    check(found["layout"], LAYOUT)
    check(found["memory_gib"], MEMORY)
    assert found["verdict"] in ("fits", "tight", "impossible")
    assert found["step_time_s"] > 0
