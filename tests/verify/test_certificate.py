"""The certificate passes what the planner makes and rejects every change to it."""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from solver.catalog.load import Catalog
from solver.plan import LayoutPlan, Plan
from solver.planning.single_job import plan_job
from solver.ranges import Range
from solver.rules import RULE_IDS
from solver.scenario.scenario import Constraints, Quota, Scenario
from solver.verify import CHECKS, verify
from tests.planning.jobs import A100
from tests.planning.jobs import catalog as toy_catalog
from tests.planning.jobs import job as toy_job
from tests.verify.examples import (
    ADAPTERS,
    BOUGHT,
    MIXED,
    MONTHLY,
    OWNED,
    PLAIN,
    RICH,
    SPARED,
    SPOT,
    TIMED,
    Example,
    catalog,
    example,
    scenario_of,
)

EXAMPLES = (
    PLAIN,
    RICH,
    SPOT,
    MONTHLY,
    TIMED,
    SPARED,
    ADAPTERS,
    MIXED,
    BOUGHT,
    OWNED,
)

SAID_NOT_CHECKED = ("provenance", "warnings")
"""Sources and sentences: not promises that could be recomputed."""

Path = tuple[str | int, ...]


def _leaves(data: dict[str, Any], path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every value of a plan's JSON with its path; lists of layers as a whole."""
    for key, value in data.items():
        if isinstance(value, dict):
            yield from _leaves(value, (*path, key))
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            for place, item in enumerate(value):
                yield from _leaves(item, (*path, key, place))
        else:
            yield (*path, key), value


def _changed(plan: Plan, path: Path, value: Any) -> Plan:
    """The plan with one value replaced."""
    data = plan.as_dict()
    target: Any = data
    for key in path[:-1]:
        target = target[key]
    target[path[-1]] = value
    return Plan.from_dict(data)


def _other_values(value: Any) -> list[Any]:
    """Wrong values near a right one, and far from it."""
    if value is None:
        return [1.0, "other"]
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1, value * 2 + 1, -value - 1]
    if isinstance(value, float):
        return [value * 1.00001 + 1e-5, -value - 1.0, math.nan, math.inf]
    if isinstance(value, str):
        return [value + "x", ""]
    assert isinstance(value, list)
    return [value[1:], [*value[:-1], value[-1] + 1], [*value, 1]]


def _mutations() -> list[tuple[str, Path, Any]]:
    """Every value of all plans with each wrong value for it."""
    return [
        (text, path, other)
        for text in EXAMPLES
        for path, value in _leaves(example(text).plan.as_dict())
        if path[0] not in SAID_NOT_CHECKED
        for other in _other_values(value)
    ]


@pytest.mark.parametrize("text", EXAMPLES)
def test_a_plan_of_the_planner_passes(text: str) -> None:
    """Tests that what was planned is what its decisions come to."""
    assert verify(*example(text)) == []


@pytest.mark.parametrize("text", EXAMPLES)
def test_a_plan_passes_after_a_round_trip(text: str) -> None:
    """Tests that a plan read back from its JSON is still the same plan."""
    plan, scenario, catalog = example(text)
    assert verify(Plan.from_dict(plan.as_dict()), scenario, catalog) == []


def test_the_rich_example_uses_every_kind_of_figure() -> None:
    """Tests that the mutations below start from figures that are not zero."""
    plan = example(RICH).plan
    rented = {"compute", "storage", "egress", "serving"}
    assert {k for k, usd in plan.cost_parts_usd.items() if usd} == rented
    own = {k for k, usd in example(BOUGHT).plan.cost_parts_usd.items() if usd}
    assert rented | own == set(plan.cost_parts_usd)
    parts = {k for k, days in plan.duration_parts_days.items() if days > 0}
    assert parts >= {"training", "evaluation", "checkpoints", "failures", "queue"}
    assert parts >= {"transfer", "serving"}
    assert plan.nodes > 1
    assert plan.layout.tp > 1 < plan.layout.pp


def test_every_changed_value_is_rejected() -> None:
    """Tests that no decision and no figure of a plan can be changed unnoticed."""
    mutations = _mutations()
    assert len(mutations) > 800
    unnoticed = [
        (path, other)
        for text, path, other in mutations
        if not verify(_changed(example(text).plan, path, other), *example(text)[1:])
    ]
    assert unnoticed == []


@pytest.mark.parametrize("text", EXAMPLES)
def test_missing_and_additional_parts_are_rejected(text: str) -> None:
    """Tests that a part of memory, time or cost can't be left out or made up."""
    plan, scenario, catalog = example(text)
    for name, value in plan.as_dict().items():
        if not isinstance(value, dict) or name in (*SAID_NOT_CHECKED, "layout"):
            continue
        for part in value:
            less = {k: v for k, v in value.items() if k != part}
            broken = _changed(plan, (name,), less)
            assert verify(broken, scenario, catalog), (name, part)
        more = _changed(plan, (name,), value | {"other": 0.0})
        assert verify(more, scenario, catalog), name


@given(st.data())
def test_another_layout_never_passes(data: st.DataObject) -> None:
    """Tests layouts that may even be legal: their figures would be others."""
    plan, scenario, catalog = example(RICH)
    powers = st.sampled_from([1, 2, 4, 8, 16, 32])
    layout = replace(
        plan.layout,
        **{
            name: data.draw(powers, label=name)
            for name in ("tp", "pp", "cp", "dp", "micro_batch", "accumulation")
        },
    )
    layout = replace(layout, etp=layout.tp, sequence_parallel=layout.tp > 1)
    if layout == plan.layout:
        return
    assert verify(replace(plan, layout=layout), scenario, catalog)


@pytest.mark.parametrize("text", EXAMPLES)
def test_another_offer_never_passes(text: str) -> None:
    """Tests that a plan is one of its very offer: same figures elsewhere are wrong."""
    plan, scenario, catalog = example(text)
    others = [o for o in catalog.offers if "acme/" in o and o != plan.offer]
    assert len(others) >= 2
    for other in (*others, "no/such/offer"):
        assert verify(replace(plan, offer=other), scenario, catalog), other


def _user(**limits: Any) -> Callable[[Example], Example]:
    """The example with other limits of the user."""

    def change(given: Example) -> Example:
        user: Constraints = replace(given.scenario.constraints, **limits)
        return given._replace(scenario=replace(given.scenario, constraints=user))

    return change


def _quota(limit: int, unit: Any, **names: Any) -> Callable[[Example], Example]:
    """The example with a quota."""

    def change(given: Example) -> Example:
        quotas = (Quota(limit, unit, **names),)
        return given._replace(scenario=replace(given.scenario, quotas=quotas))

    return change


def _failures(**values: Any) -> Callable[[Example], Example]:
    """The example with other settings of failures."""

    def change(given: Example) -> Example:
        failures = replace(given.scenario.failures, **values)
        return given._replace(scenario=replace(given.scenario, failures=failures))

    return change


def _workload(**values: Any) -> Callable[[Example], Example]:
    """The example with another workload."""

    def change(given: Example) -> Example:
        work = replace(given.scenario.workload, **values)
        return given._replace(scenario=replace(given.scenario, workload=work))

    return change


def _entry(part: str, name: str, **values: Any) -> Callable[[Example], Example]:
    """The example with other figures in one entry of the catalog."""

    def change(given: Example) -> Example:
        key = {"servers": given.plan.server, "offers": given.plan.offer}.get(part, name)
        entry = given.catalog.entries(part)[key].model_copy(update=values)
        catalog: Catalog = given.catalog.with_entries(**{part: [entry]})
        return given._replace(catalog=catalog)

    return change


def _data(**values: Any) -> Callable[[Example], Example]:
    """The example with other training data."""

    def change(given: Example) -> Example:
        data = replace(given.scenario.data, **values)
        return given._replace(scenario=replace(given.scenario, data=data))

    return change


def _away(_: Example) -> Example:
    """States on drives, and the same offer with drives of a tenth of a gigabyte."""
    work = {"framework": "deepspeed", "offload": "optimizer", "offload_to": "nvme"}
    large, small = (
        toy_job([{**A100, "local_nvme_tb": size}], workload=work) for size in (1, 1e-4)
    )
    plan = plan_job(large, toy_catalog(), alternatives=0).plan
    assert plan is not None
    return Example(plan, small, toy_catalog())


BROKEN: list[tuple[str, Callable[[Example], Example]]] = [
    ("memory", _user(memory_headroom=0.9)),
    ("divisibility", _workload(batch_min=500, batch_target=500, batch_max=500)),
    ("divisibility", _workload(framework="pytorch-fsdp")),
    ("parallelism", _user(parallelism={"tp": Range(values=(1, 4))})),
    ("parallelism", _user(parallelism={"pp": Range(max=1)})),
    ("parallelism", _user(recompute=("full",))),
    ("host", _entry("servers", "", ram_gb=8.0)),
    ("drives", _away),
    ("precision", _workload(precisions=("fp16",))),
    ("throughput", _workload(efficiency=0.9)),
    ("throughput", _workload(efficiency=1.05)),
    ("precision", _workload(precisions=("nvfp4",))),
    ("precision", _workload(optimizers=("adamw-8bit",))),
    ("regions", _user(regions=("acme/island",))),
    ("countries", _user(countries=("SG", "JP"))),
    ("residency", _data(residency=("SG", "JP"))),
    ("residency", _entry("regions", "acme/east", country=None)),
    ("deadline", _data(transfer_bytes_per_s=1e6)),
    ("deadline", _data(location=None)),
    ("budget", _data(storage=None)),
    ("budget", _entry("egress", "acme/*>internet>3", usd_per_gb=0.3)),
    ("budget", _entry("storage", "shared", usd_per_gb_retrieved=0.01)),
    ("providers", _user(providers=("aws",))),
    ("gpu_types", _user(gpu_types=("h100-sxm-80gb",))),
    ("gpu_types", _user(gpu_exclude=("small-a", "small-b"))),
    ("gpus", _user(gpus=Range(max=8))),
    ("gpus", _user(gpus=Range(min=65))),
    ("gpus", _user(gpus_per_node=Range(values=(4,)))),
    ("intra_node", _user(intra_node_kinds=("pcie",))),
    ("intra_node", _user(intra_node_min_gb_per_s=5_000.0)),
    ("network", _user(network_kinds=("efa",))),
    ("network", _user(network_min_gbps_per_gpu=900.0)),
    ("network", _entry("servers", "", network=None)),
    ("storage", _user(storage_kinds=("object_store",))),
    ("storage", _user(storage_min_read_bytes_per_s=1e15)),
    ("storage_capacity", _entry("storage", "shared", capacity_tb=1.0)),
    ("purchase", _user(purchase=("spot",), stated=frozenset({"purchase"}))),
    ("stock", _entry("offers", "", max_nodes=1)),
    ("stock", _entry("offers", "", min_nodes=9)),
    ("cluster", _entry("offers", "", max_nodes_per_cluster=1)),
    ("cluster", _entry("offers", "", max_nodes_per_cluster=99)),
    ("quota", _quota(1, "nodes")),
    ("quota", _quota(8, "gpus", gpus=("small-a", "small-b"))),
    ("quota", _quota(96, "vcpus", providers=("acme",))),
    ("quota", _quota(999, "nodes", regions=("acme/east",), purchase="on_demand")),
    ("lead_time", _entry("offers", "", lead_time_days=1)),
    ("term", _entry("offers", "", min_term_hours=2_000.0)),
    ("term", _entry("offers", "", min_term_hours=1.0)),
    ("throughput", _user(min_tokens_per_s=1e9)),
    ("deadline", _user(deadline_s=86_400.0)),
    ("deadline", _data(bytes_per_token=1e6)),
    ("budget", _user(budget_usd=100.0)),
    ("budget", _entry("offers", "", usd_per_node_hour=8.01)),
    ("energy", _user(max_energy_mwh=0.5)),
    ("energy", _entry("regions", "acme/east", pue=3.0)),
    ("carbon", _user(max_carbon_t=0.5)),
    ("carbon", _entry("regions", "acme/east", grid_gco2_per_kwh=3.0)),
    ("goodput", _entry("failure_rates", "ampere", per_gpu_hour=5.0)),
    ("goodput", _entry("failure_rates", "ampere", per_gpu_hour=1e-6)),
    ("goodput", _failures(gpu_mtbf_s=1e12)),
    ("goodput", _failures(checkpoint_interval_s=60.0)),
    ("goodput", _failures(restart_s=0.0)),
    ("goodput", _failures(replacement_s=86_400.0)),
    ("spares", _failures(spares=(1, 2))),
]


@pytest.mark.parametrize(("rule", "change"), BROKEN)
def test_each_rule_is_checked(rule: str, change: Callable[[Example], Example]) -> None:
    """Tests that a plan which breaks one rule is rejected under that rule's name."""
    broken = change(example(RICH))
    assert rule in {v.rule for v in verify(*broken)}


def test_layers_placed_by_cost() -> None:
    """Tests that a framework which fills its first stages is held to its own split."""
    text = RICH.replace("start: scratch", "start: scratch, framework: nanotron")
    plan, scenario, supply = example(
        text.replace("deadline: 7 days", "deadline: 90 days")
    )
    assert plan.layout.layers_per_stage == (9, 7)
    assert verify(plan, scenario, supply) == []
    equal = replace(plan.layout, layers_per_stage=(8, 8))
    broken = verify(replace(plan, layout=equal), scenario, supply)
    assert {v.rule for v in broken} == {"divisibility"}


def test_nodes_delivered_later_are_not_in_stock() -> None:
    """Tests that nodes of another day are used from that day on, and waited for."""
    text = MONTHLY.replace("max_nodes: 2", "available: [{from: 2099-01-01, nodes: 2}]")
    scenario = scenario_of(text)
    assert verify(example(MONTHLY).plan, scenario, catalog())[0].rule == "stock"
    plan = plan_job(scenario, catalog(), alternatives=0).plan
    assert plan is not None
    assert plan.start == "2099-01-01"
    wait = (date(2099, 1, 1) - scenario.start_date).days
    assert plan.duration_parts_days["delivery"] == wait
    assert verify(replace(plan, start=None), scenario, catalog())[0].rule == "stock"
    assert verify(replace(plan, start="2099-01-02"), scenario, catalog())


def test_a_reserved_year_is_waited_for_and_paid_in_full() -> None:
    """Tests the figures of a plan with a lead time, a term and a fabric by hand."""
    plan, scenario, _ = example(TIMED)
    assert (date.fromisoformat(plan.start or "") - scenario.start_date).days == 14
    assert plan.duration_parts_days["delivery"] == 14
    assert plan.gpu_hours == pytest.approx(8_760 * plan.gpus)
    assert plan.cost_parts_usd["compute"] == pytest.approx(2 * 8_760 * plan.gpus)
    used = plan.duration_days - 14
    unused = 2 * plan.gpus * (8_760 - 24 * used)
    assert plan.unused_term_usd == pytest.approx(unused)
    assert plan.nodes <= 3 == plan.quota_nodes < plan.cluster_nodes == 4
    assert "warning.quota-unknown" in {w.id for w in plan.warnings}
    gigabytes = 2 * plan.checkpoint_gb + scenario.data.size_bytes / 1e9
    months = used * 24 / 730
    assert plan.cost_parts_usd["storage"] == pytest.approx(gigabytes * months)


@pytest.mark.parametrize(
    ("rule", "change"),
    [
        ("cluster", {"cluster_nodes": None}),
        ("cluster", {"cluster_nodes": 5}),
        ("quota", {"quota_nodes": None}),
        ("quota", {"quota_nodes": 4}),
        ("lead_time", {"start": None}),
        ("lead_time", {"lead_time_days": 0}),
        ("lead_time", {"order_date": "2020-01-01"}),
        ("term", {"min_term_hours": 0.0}),
        ("term", {"unused_term_usd": 0.0}),
        ("term", {"gpu_hours": 10.0}),
    ],
)
def test_promises_on_terms_are_checked(rule: str, change: dict[str, Any]) -> None:
    """Tests that each promise of lead time, term and fabric falls under its rule."""
    plan, scenario, supply = example(TIMED)
    broken = verify(replace(plan, **change), scenario, supply)
    assert rule in {v.rule for v in broken}


@pytest.mark.parametrize(
    ("rule", "change"),
    [
        ("spares", {"spare_nodes": 4}),
        ("spares", {"spare_nodes": -1}),
        ("spares", {"spare_nodes": 2.0}),
        ("goodput", {"spare_nodes": 1}),
        ("budget", {"spare_nodes": 1}),
        ("goodput", {"goodput": None}),
        ("goodput", {"goodput": 0.9}),
        ("goodput", {"checkpoint_interval_s": 3_000.0}),
    ],
)
def test_promises_on_failures_are_checked(rule: str, change: dict[str, Any]) -> None:
    """Tests that spares, interval and goodput each fall under their rule."""
    plan, scenario, supply = example(SPARED)
    broken = verify(replace(plan, **change), scenario, supply)
    assert rule in {v.rule for v in broken}


def test_spares_are_paid_and_waited_without_by_hand() -> None:
    """Tests the figures of a plan with spares: rent, interval, waits and goodput."""
    plan, scenario, _ = example(SPARED)
    assert plan.spare_nodes == 2
    assert plan.checkpoint_interval_s == 3_600
    rented = plan.nodes + plan.spare_nodes
    assert rented == plan.stock_nodes == 4 < plan.quota_nodes == 10
    hours = plan.duration_days * 24
    assert plan.gpu_hours == pytest.approx(rented * 8 * hours)
    rent = plan.gpu_hours * plan.usd_per_gpu_hour
    assert plan.cost_parts_usd["compute"] == pytest.approx(rent)
    assert plan.goodput == pytest.approx(plan.training_days / plan.duration_days)
    parts = plan.duration_parts_days
    setup_days = scenario.overheads.setup_s / 86_400
    running = plan.duration_days - parts["replacement"] - setup_days
    failures = running * 24 * plan.gpus / 300
    assert failures > 3
    load = plan.gpus / 300 * 18
    terms = [load**k / math.factorial(k) for k in range(plan.spare_nodes + 1)]
    each = terms[-1] / sum(terms) * 18 / (plan.spare_nodes + 1)
    assert parts["replacement"] * 24 == pytest.approx(failures * each)


def test_every_rule_has_a_check_and_an_example() -> None:
    """Tests that no rule is left without a check, nor a check without a test."""
    assert tuple(CHECKS) == RULE_IDS
    assert {rule for rule, _ in BROKEN} == set(RULE_IDS)


LIMITS: list[tuple[str, str, Callable[[Plan], float], float]] = [
    ("deadline", "deadline_s", lambda p: p.duration_days * 86_400, 1.0),
    ("budget", "budget_usd", lambda p: p.cost_usd, 1.0),
    ("throughput", "min_tokens_per_s", lambda p: p.tokens_per_s, -1.0),
    ("energy", "max_energy_mwh", lambda p: p.energy_mwh or 0.0, 1.0),
    ("carbon", "max_carbon_t", lambda p: p.carbon_t or 0.0, 1.0),
]


@pytest.mark.parametrize(("rule", "name", "value", "sign"), LIMITS)
def test_limits_are_kept_to_the_last_digits(
    rule: str, name: str, value: Callable[[Plan], float], sign: float
) -> None:
    """Tests that the plan's own figure is a limit it keeps, and a hair less is not."""
    plan, scenario, catalog = example(PLAIN)

    def limited(limit: float) -> Scenario:
        user = replace(scenario.constraints, **{name: limit})
        return replace(scenario, constraints=user)

    assert verify(plan, limited(value(plan)), catalog) == []
    tight = limited(value(plan) * (1 - sign * 1e-6))
    assert {v.rule for v in verify(plan, tight, catalog)} == {rule}


LAYOUTS: list[dict[str, Any]] = [
    {"layers_per_stage": (16, 0)},
    {"layers_per_stage": (9, 7)},
    {"layers_per_stage": (8, 9)},
    {"tp": 0},
    {"tp": 2.0},
    {"dp": True},
    {"virtual_stages": 5},
    {"zero_stage": 3},
    {"shard_degree": 3},
    {"sequence_parallel": False},
    {"offload": "cpu"},
    {"ep": 2},
    {"recompute": "sometimes"},
]


@pytest.mark.parametrize("change", LAYOUTS, ids=str)
def test_impossible_layouts_are_rejected(change: dict[str, Any]) -> None:
    """Tests layouts that nobody could run."""
    plan, scenario, catalog = example(RICH)
    layout: LayoutPlan = replace(plan.layout, **change)
    assert verify(replace(plan, layout=layout), scenario, catalog)
