"""Tests of planning DPO, PPO and GRPO: placement, rollout nodes, shares, proof."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import pytest
import yaml

from solver.errors import InputError
from solver.plan import Plan
from solver.planning.estimate import Estimate, EstimatePins, estimate
from solver.planning.phases import plan_phases
from solver.planning.single_job import plan_job
from solver.report.alignment_rows import alignment_section
from solver.report.estimate_rows import estimate_page
from solver.report.figures import Section
from solver.report.plan_rows import plan_sections
from solver.scenario.load import resolve_scenario
from solver.scenario.scenario import Scenario
from solver.verify.certificate import verify
from solver.yaml_source import load_yaml
from tests.planning.jobs import A100, TOY, catalog
from tests.scenario.reading import TODAY

LENGTHS = {
    "prompt_tokens": 128,
    "response_tokens": 384,
    "generation": {"max_response_tokens": 768},
}
FOUR = {**A100, "max_nodes": 4, "storage": ["local-nvme-gen4"]}
METHODS: dict[str, dict[str, Any]] = {
    "sft": {"sequence_length": 1024, "global_batch_size": 64},
    "dpo": {"sequence_length": 512, "global_batch_size": 64},
    "ppo": {"alignment": LENGTHS, "global_batch_size": 64},
    "grpo": {"alignment": {**LENGTHS, "group": 8}, "global_batch_size": 64},
}


def scenario_of(method: str, **keys: Any) -> Scenario:
    """The toy model under a method; ``workload`` changes that section."""
    work = {"method": method, "train": "full", "samples": "20k", **METHODS[method]}
    work |= keys.pop("workload", {})
    data = {"name": "toy", "model": TOY, "workload": work, "offers": [FOUR], **keys}
    text = yaml.safe_dump(data, sort_keys=False)
    return resolve_scenario(load_yaml(text, "toy.yaml"), catalog(), (), TODAY)


def with_alignment(method: str, **changes: Any) -> dict[str, Any]:
    """The workload of a method with other keys of the alignment."""
    return {"alignment": {**METHODS[method]["alignment"], **changes}}


def planned(scenario: Scenario) -> Plan:
    """The best plan, verified."""
    plan = plan_job(scenario, catalog(), alternatives=0).plan
    assert plan is not None
    assert verify(plan, scenario, catalog()) == []
    return plan


@cache
def plain(method: str) -> Plan:
    """The plan of a method as it stands."""
    return planned(scenario_of(method))


def alignment(plan: Plan | Estimate) -> dict[str, Any]:
    """The section of a plan, which must be there."""
    assert plan.alignment is not None
    return plan.alignment


def test_sft_says_nothing_of_alignment() -> None:
    """Tests that SFT is planned as fine-tuning is."""
    assert plain("sft").alignment is None
    assert set(plain("sft").step_time_parts_s).isdisjoint({"generation", "scoring"})


@pytest.mark.parametrize("method", ["dpo", "ppo", "grpo"])
def test_shares_add_up(method: str) -> None:
    """Tests that models, generation and moving weights make a step."""
    found = alignment(plain(method))
    shares = [model["time_share"] for model in found["models"]]
    whole = sum(shares) + found["generation_share"] + found["weight_sync_share"]
    assert whole == pytest.approx(1.0)
    assert all(share > 0 for share in shares)


def test_models_of_each_method() -> None:
    """Tests roles, what trains, and that each has a state."""
    roles = {
        method: {m["role"]: m for m in alignment(plain(method))["models"]}
        for method in ("dpo", "ppo", "grpo")
    }
    assert list(roles["dpo"]) == ["policy", "reference"]
    assert list(roles["ppo"]) == ["policy", "reference", "reward", "critic"]
    assert list(roles["grpo"]) == ["policy", "reference"]
    for models in roles.values():
        trained = {role for role, m in models.items() if m["trained"]}
        assert trained == {"policy", "critic"} & set(models)
        assert all(m["memory_gib"] > 0 for m in models.values())


def test_what_is_counted() -> None:
    """Tests pairs, prompts, responses and tokens generated over the run."""
    pairs, prompts = alignment(plain("dpo")), alignment(plain("grpo"))
    assert (pairs["samples_per_step"], pairs["sequences_per_step"]) == (64, 128)
    assert (prompts["samples_per_step"], prompts["sequences_per_step"]) == (8, 64)
    assert prompts["tokens_generated"] == pytest.approx(20_000 * 8 * 384)
    assert pairs["tokens_generated"] == 0
    assert pairs["generation"] is None
    assert plain("grpo").steps == 20_000 * 8 / 64
    assert plain("dpo").steps == -(-20_000 // 64)


def test_generation_is_a_part_of_a_step() -> None:
    """Tests its share, speed and time against each other."""
    plan = plain("grpo")
    found = alignment(plan)
    made = found["generation"]
    seconds = made["prefill_s"] + made["decode_s"]
    assert plan.step_time_parts_s["generation"] == pytest.approx(seconds)
    assert found["generation_share"] == pytest.approx(seconds / plan.step_time_s)
    assert made["tokens_per_s"] == pytest.approx(64 * 384 / seconds)
    assert 0.1 < found["generation_share"] < 1.0


def test_longer_responses_take_a_larger_share() -> None:
    """Tests that generation grows with its tokens."""
    lengths = {
        "response_tokens": 1536,
        "generation": {"max_response_tokens": 1536 * 2},
    }
    work = with_alignment("grpo", **lengths)
    long = alignment(planned(scenario_of("grpo", workload=work)))
    assert long["generation_share"] > alignment(plain("grpo"))["generation_share"]


def test_a_third_model_costs_memory_and_time() -> None:
    """Tests that a reward model of the policy's size is paid for."""
    work = with_alignment("grpo", reward_model="same")
    more = planned(scenario_of("grpo", workload=work))
    less = planned(scenario_of("grpo", workload=with_alignment("grpo")))
    assert more.cost_usd > less.cost_usd
    none = with_alignment("grpo", reference="none")
    assert planned(scenario_of("grpo", workload=none)).cost_usd < less.cost_usd


def test_adapters_share_their_base() -> None:
    """Tests that LoRA's reference takes no memory, and its own copy does."""
    shared, own = (
        alignment(
            planned(
                scenario_of(
                    "dpo", workload={"train": "lora", "alignment": {"reference": r}}
                )
            )
        )
        for r in ("shared", "own")
    )
    memory = [
        next(m["memory_gib"] for m in found["models"] if m["role"] == "reference")
        for found in (shared, own)
    ]
    assert memory[0] == 0
    assert memory[1] > 0


def test_both_placements_are_as_good_as_the_better() -> None:
    """Tests the solver's choice against each placement alone, by cost and by time."""
    for objective, figure in (("cost", "cost_usd"), ("time", "duration_days")):
        found = {
            name: getattr(
                planned(
                    scenario_of(
                        "grpo",
                        objective=objective,
                        workload=with_alignment("grpo", placement=place),
                    )
                ),
                figure,
            )
            for name, place in (
                ("both", ["together", "apart"]),
                ("together", "together"),
                ("apart", "apart"),
            )
        }
        assert found["both"] == min(found["together"], found["apart"])


@cache
def apart(nodes: int = 1, *, behind: bool = False) -> Plan:
    """The plan with so many rollout nodes."""
    generation = {
        **LENGTHS["generation"],  # type: ignore[dict-item]
        "rollout_nodes": nodes,
        "one_step_behind": behind,
    }
    work = with_alignment("grpo", placement="apart", generation=generation)
    return planned(scenario_of("grpo", workload=work))


def test_rollout_nodes_are_rented() -> None:
    """Tests that they are in the bill, in GPU-hours and beside the layout."""
    plan = apart(2)
    assert plan.layout.rollout_nodes == 2
    assert plan.gpus == plan.nodes * 8
    assert plan.rented_nodes == plan.nodes + 2
    assert plan.gpu_hours == pytest.approx(
        plan.rented_nodes * 8 * plan.duration_days * 24
    )
    assert plan.cost_usd == pytest.approx(plan.gpu_hours * 2.0)
    found = alignment(plan)
    assert (found["placement"], found["rollout_nodes"]) == ("apart", 2)
    assert found["generation"]["gpus"] == 16
    assert "generation" not in found["memory_gib"]


def test_one_step_behind_is_never_slower() -> None:
    """Tests that overlapping hides the shorter of both."""
    turn, behind = apart(1), apart(1, behind=True)
    assert behind.step_time_s < turn.step_time_s
    assert alignment(behind)["one_step_behind"]


def test_limits_count_rollout_nodes() -> None:
    """Tests stock and the number of GPUs with nodes that only generate."""
    generation = {"rollout_nodes": 3}
    work = with_alignment("grpo", placement="apart", generation=generation)
    three = planned(
        scenario_of("grpo", workload=work, constraints={"gpus": {"max": 32}})
    )
    assert (three.nodes, three.layout.rollout_nodes) == (1, 3)
    for keys in (
        {"constraints": {"gpus": {"max": 24}}},
        {"offers": [{**FOUR, "max_nodes": 3}]},
    ):
        scenario = scenario_of("grpo", workload=work, **keys)
        assert plan_job(scenario, catalog()).status == "infeasible"
    pinned = {"gpus": {"min": 32, "max": 32}}
    whole = planned(scenario_of("grpo", workload=work, constraints=pinned))
    assert whole.rented_nodes == 4


def test_nodes_without_a_network_generate_themselves() -> None:
    """Tests that weights can't reach rollout nodes without one."""
    alone = {k: v for k, v in FOUR.items() if k != "network"}
    plan = planned(scenario_of("grpo", offers=[{**alone, "max_nodes": 1}]))
    assert plan.layout.rollout_nodes == 0


def test_what_does_not_fit_is_explained() -> None:
    """Tests that a policy too large for its card is a question of memory."""
    big = scenario_of("ppo", model="llama-2-70b", offers=[{**FOUR, "max_nodes": 1}])
    result = plan_job(big, catalog())
    assert result.status == "infeasible"
    assert result.explanation is not None
    assert result.explanation.kind == "memory"


TAMPERED: list[tuple[str, Any]] = [
    ("kind", "ppo"),
    ("placement", "apart"),
    ("one_step_behind", True),
    ("reference", "none"),
    ("update_epochs", 2),
    ("samples_per_step", 9),
    ("sequences_per_step", 65),
    ("generation_share", 0.5),
    ("weight_sync_share", 0.0),
    ("tokens_generated", 1.0),
    ("models", []),
    ("generation", None),
]


@pytest.mark.parametrize(("key", "value"), TAMPERED)
def test_changed_figures_are_refused(key: str, value: Any) -> None:
    """Tests that the verifier recomputes the section."""
    plan = plain("grpo")
    changed = replace(plan, alignment={**alignment(plan), key: value})
    assert verify(changed, scenario_of("grpo"), catalog())


@pytest.mark.parametrize("key", ["tp", "replicas", "kv_cache_gib", "tokens_per_s"])
def test_a_changed_engine_is_refused(key: str) -> None:
    """Tests the figures of generation."""
    plan = plain("grpo")
    made = alignment(plan)["generation"]
    other = {**made, key: made[key] * 2}
    changed = replace(plan, alignment={**alignment(plan), "generation": other})
    assert verify(changed, scenario_of("grpo"), catalog())


def test_a_section_belongs_to_alignment_alone() -> None:
    """Tests a plan without its section, and one of SFT with one."""
    missing = replace(plain("grpo"), alignment=None)
    assert verify(missing, scenario_of("grpo"), catalog())
    odd = replace(plain("sft"), alignment=alignment(plain("dpo")))
    assert verify(odd, scenario_of("sft"), catalog())


def test_rollout_nodes_of_another_plan_are_refused() -> None:
    """Tests a number that the scenario does not allow."""
    plan = plain("grpo")
    changed = replace(plan, layout=replace(plan.layout, rollout_nodes=3))
    assert verify(changed, scenario_of("grpo"), catalog())


def test_plans_survive_json() -> None:
    """Tests that the section and the rollout nodes round-trip."""
    for plan in (plain("grpo"), apart(2)):
        assert Plan.from_dict(plan.as_dict()) == plan


def shown(sections: tuple[Section, ...]) -> dict[str, str]:
    """Label to value of the rows of all sections."""
    return {row.label: row.value for s in sections for row in s.rows}


def test_the_report_names_models_and_generation() -> None:
    """Tests the section in the terminal."""
    rows = shown(plan_sections(plain("ppo")))
    assert rows["method"] == "PPO"
    assert rows["generation on"] == "the nodes that train"
    assert {"policy", "reference", "reward model", "critic"} <= set(rows)
    assert "of a step" in rows["generation"]
    assert "tok/s" in rows["generation speed"]
    assert "rollout nodes" not in rows
    beside = shown(plan_sections(apart(2)))
    assert beside["rollout nodes"].startswith("2 nodes, 16 GPUs")
    assert beside["generation on"] == "2 nodes apart, in turn"
    behind = shown(plan_sections(apart(1, behind=True)))
    assert behind["generation on"] == "1 node apart, one step behind"
    pairs = shown(alignment_section(plain("dpo").alignment))
    assert "generation" not in pairs
    assert alignment_section(None) == ()


def test_estimates_show_the_same() -> None:
    """Tests `estimate`: section, parts and page, on one node and with rollouts."""
    work = with_alignment("grpo", placement="together")
    pins = EstimatePins(nodes=1)
    found = estimate(scenario_of("grpo", workload=work), catalog(), pins)
    both = estimate(scenario_of("grpo"), catalog(), pins)
    assert both.layout == found.layout
    assert alignment(found)["placement"] == "together"
    assert found.step_time_parts_s["generation"] > 0
    titles = [part.id for part in estimate_page(found).parts]
    assert "section.alignment" in titles
    assert found.as_dict()["alignment"]["kind"] == "grpo"


@pytest.mark.parametrize("placement", ["together", "apart"])
def test_an_estimate_of_what_holds_no_response(placement: str) -> None:
    """Tests a policy whose copy fits no node: timed all the same, and impossible."""
    work = {
        "alignment": {
            **METHODS["grpo"]["alignment"],
            "placement": placement,
            "reference": "none",
            **({"generation": {"rollout_nodes": 1}} if placement == "apart" else {}),
        }
    }
    large = scenario_of("grpo", model="llama-3.1-405b", workload=work)
    found = estimate(large, catalog(), EstimatePins(nodes=2))
    assert found.verdict == "impossible"
    assert 0 < found.step_time_s < 1e7
    assert alignment(found)["generation_share"] > 0


def test_rollout_nodes_need_a_network() -> None:
    """Tests an estimate of nodes that new weights can't reach."""
    alone = {k: v for k, v in FOUR.items() if k != "network"}
    generation = {"rollout_nodes": 1}
    work = with_alignment("grpo", placement="apart", generation=generation)
    scenario = scenario_of("grpo", workload=work, offers=[{**alone, "max_nodes": 1}])
    with pytest.raises(InputError):
        estimate(scenario, catalog(), EstimatePins(nodes=2))


def test_a_phase_with_rollout_nodes_is_one_lease_with_others() -> None:
    """Tests SFT and then GRPO on as many nodes, of which one generates then."""
    generation = {"rollout_nodes": 1}
    phases = [
        {
            "name": "sft",
            "workload": {"method": "sft", "samples": "20k", **METHODS["sft"]},
        },
        {
            "name": "grpo",
            "workload": {
                "method": "grpo",
                "samples": 2000,
                "sequence_length": 512,
                "global_batch_size": 64,
                **with_alignment("grpo", placement="apart", generation=generation),
            },
        },
    ]
    data = {
        "model": TOY,
        "workload": {"train": "full"},
        "offers": [FOUR],
        "phases": phases,
    }
    source = load_yaml(yaml.safe_dump(data, sort_keys=False), "phases.yaml")
    scenario = resolve_scenario(source, catalog(), (), TODAY)
    result = plan_phases(scenario, catalog())
    assert result.status == "optimal"
    first, second = (phase.plan for phase in result.phases)
    assert first.alignment is None
    assert second.layout.rollout_nodes == 1
    if len(result.leases) == 1:
        assert first.rented_nodes == second.rented_nodes


def test_an_estimate_pins_all_nodes() -> None:
    """Tests that nodes that only generate are among those that are pinned."""
    generation = {"rollout_nodes": 1}
    work = with_alignment("grpo", placement="apart", generation=generation)
    scenario = scenario_of("grpo", workload=work)
    found = estimate(scenario, catalog(), EstimatePins(nodes=2))
    assert (found.nodes, found.layout.rollout_nodes) == (1, 1)
    with pytest.raises(InputError) as caught:
        estimate(scenario, catalog(), EstimatePins(nodes=1))
    (issue,) = caught.value.issues
    assert (issue.where, issue.code) == ("--nodes", "contradiction")
    assert "beside 1 rollout node, 1 node in all" in issue.message


def test_mfu_counts_all_gpus_that_are_busy() -> None:
    """Tests the FLOPs of the policy's training over GPUs that train and generate."""
    here, beside = plain("grpo"), apart(2)
    assert here.layout.global_batch_size == beside.layout.global_batch_size
    work = here.mfu * here.step_time_s * here.gpus
    busy = beside.gpus + 2 * beside.gpus_per_node
    assert beside.mfu * beside.step_time_s * busy == pytest.approx(work)


@pytest.mark.parametrize("method", ["dpo", "ppo"])
def test_states_of_the_models_are_the_plans(method: str) -> None:
    """Tests that they add up, but for gradients of the one that waits."""
    plan = plain(method)
    state = [plan.memory_gib[name] for name in ("weights", "gradients", "optimizer")]
    models = sum(model["memory_gib"] for model in alignment(plan)["models"])
    waiting = plan.memory_gib["gradients"] if method == "ppo" else 0.0
    assert models == pytest.approx(sum(state) + waiting, rel=0.01)
