"""Tests of what surrounds a plan: its frontier and its GPU in other regions."""

from dataclasses import replace

import pytest

from solver.catalog.load import Catalog, load_catalog
from solver.plan import Plan
from solver.planning import surroundings as module
from solver.planning.single_job import plan_job
from solver.planning.surroundings import MOST_SECONDS, surroundings
from solver.scenario.load import load_scenario
from solver.scenario.scenario import Scenario

TEXT = """\
name: toy
model: {layers: 12, hidden: 1024, ffn: 4096, heads: 16, kv_heads: 4, vocab: 32000}
workload: {tokens: 2B, sequence_length: 1024, global_batch_size: 64}
constraints: {deadline: 9 days}
offers:
  - {name: slow, gpu: a100-sxm-80gb, gpus_per_node: 8, usd_per_gpu_hour: 1.50,
     max_nodes: 2, region: sg, network: {gbps_per_node: 1600, kind: infiniband}}
  - {name: dear, gpu: a100-sxm-80gb, gpus_per_node: 8, usd_per_gpu_hour: 2.50,
     max_nodes: 2, region: us, network: {gbps_per_node: 1600, kind: infiniband}}
  - {name: quick, gpu: h100-sxm-80gb, gpus_per_node: 8, usd_per_gpu_hour: 9.10,
     max_nodes: 2, region: jp, network: {gbps_per_node: 3200, kind: infiniband}}
"""

Asked = tuple[Scenario, Catalog, Plan]


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Asked:
    """The toy job on three offers, with its plan."""
    path = tmp_path_factory.mktemp("toy") / "toy.yaml"
    path.write_text(TEXT, encoding="utf-8")
    catalog = load_catalog(())
    scenario = load_scenario(str(path), catalog, [])
    plan = plan_job(scenario, catalog).plan
    assert plan is not None
    return scenario, catalog, plan


def test_the_plan_is_the_cheapest_point(asked: Asked) -> None:
    """Tests that the plan lies on the frontier, at its end."""
    around = surroundings(*asked)
    assert around.frontier.status == "optimal"
    first = around.frontier.points[0].plan
    assert first.cost_usd == asked[2].cost_usd
    assert first.duration_days == asked[2].duration_days


def test_only_the_plan_s_gpu_is_asked_for(asked: Asked) -> None:
    """Tests that each region has the same GPU, and that the plan's own is best."""
    plan = asked[2]
    regions = surroundings(*asked).regions
    assert plan.gpu == "a100-sxm-80gb"
    planned = [row.plan for row in regions.planned if row.plan is not None]
    assert {found.gpu for found in planned} == {plan.gpu}
    assert [found.country for found in planned] == ["SG", "US"]
    assert planned[0].cost_usd == plan.cost_usd
    assert planned[1].cost_usd > plan.cost_usd


@pytest.mark.parametrize(("limit", "given"), [(5.0, 5.0), (600.0, MOST_SECONDS)])
def test_both_questions_have_a_time_of_their_own(
    asked: Asked, monkeypatch: pytest.MonkeyPatch, limit: float, given: float
) -> None:
    """Tests that a long limit of the scenario is not taken twice again."""
    scenario, catalog, plan = asked
    seen: list[float] = []

    def watched(question: Scenario, *_args: object, **_options: object) -> None:
        seen.append(question.limits.time_s)

    monkeypatch.setattr(module, "pareto", watched)
    monkeypatch.setattr(module, "compare", watched)
    limits = replace(scenario.limits, time_s=limit)
    surroundings(replace(scenario, limits=limits), catalog, plan)
    assert seen == [given, given]


def test_progress_is_told(asked: Asked) -> None:
    """Tests that both questions move the bar."""
    told: list[tuple[str, float]] = []
    surroundings(*asked, progress=lambda label, part: told.append((label, part)))
    assert told
    assert all(0 <= part <= 1 for _, part in told)
