"""Every requirement of a plan: one scenario that it allows, one that it forbids.

Of the one that is forbidden, the explanation has to name exactly that requirement, or
the smallest set that it is part of; the override that it prints has to open a plan, and
where it is a number, one step of print less has to open none.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from solver.plan import Explanation, PlanResult
from solver.planning.single_job import plan_job
from solver.rules import RULE_IDS
from solver.setting import setting_of
from solver.verify import verify
from tests.planning.jobs import A100, H100, catalog, job

Keys = dict[str, Any]
Less = Callable[[Keys], str]
"""A relaxation to the override that asks one step of print more than it."""


AWAY: Keys = {"framework": "deepspeed", "offload": "optimizer", "offload_to": "nvme"}
"""States of 0.25 billion parameters on drives: 4 GB."""


@dataclass(frozen=True)
class Case:
    """A requirement, met and not met."""

    rule: str
    holds: Keys
    breaks: Keys
    """What changes against ``holds``."""
    conflict: tuple[str, ...]
    """All that is in conflict, the rule among it."""
    kind: str = "constraints"
    less: Less | None = None
    """None: what is allowed is no number."""
    settable: bool = True
    """Whether the override is one that a scenario can state."""
    name: str = ""

    @property
    def broken(self) -> Keys:
        """The scenario without a plan."""
        return {**self.holds, **self.breaks}

    def __str__(self) -> str:
        """The case in the names of tests."""
        return f"{self.rule}{'-' if self.name else ''}{self.name}"


def under(**constraints: Any) -> Keys:
    """A scenario with these limits."""
    return {"constraints": constraints}


def sooner(found: Keys) -> str:
    """A tenth of the printed unit less than the deadline that opens."""
    number, unit = found["set"].removeprefix("constraints.deadline=").split()
    return f"constraints.deadline={float(number) - 0.1:.1f} {unit}"


def cheaper(found: Keys) -> str:
    """A dollar less, or a cent below a hundred."""
    usd = found["needed_value"]
    return f"constraints.budget={usd - (1 if usd >= 100 else 0.01):.2f}"


def digits(path: str, unit: str) -> Less:
    """One less in the last of three digits."""

    def less(found: Keys) -> str:
        value = found["needed_value"]
        step = 10.0 ** min(0, math.floor(math.log10(value)) - 2)
        return f"{path}={value - step:.15g} {unit}"

    return less


def gbytes(found: Keys) -> str:
    """A hundredth of a GB/s more than is read."""
    value = found["set"].split("=")[1].split(" ")[0]
    return f"constraints.storage.min_read={float(value) + 0.01:.2f} GB/s"


def number(path: str, step: float = 1, unit: str = "") -> Less:
    """The number that is needed and a step more, as an override."""
    return lambda found: f"{path}={found['needed_value'] + step:.15g}{unit}"


def rate(path: str) -> Less:
    """The rate in the override that opens and one more, in the same unit."""
    return lambda found: f"{path}={float(found['set'].split('=')[1]) + 1:.15g}"


DRIVE: Keys = {
    "name": "disk",
    "kind": "parallel_fs",
    "read": 5,
    "write": 5,
    "capacity": "30 TB",
}
ETHERNET: Keys = {
    **A100,
    "name": "e",
    "usd_per_gpu_hour": 9.0,
    "network": {"gbps_per_node": 2400, "kind": "ethernet"},
}
BUSY: Keys = {"tokens": "40B"}

CASES: tuple[Case, ...] = (
    Case(
        "memory",
        {
            "model": "llama-2-7b",
            "workload": {"start": "checkpoint"},
            **under(memory_headroom=0.5),
        },
        under(memory_headroom=0.97),
        ("memory",),
        "memory",
        less=number("constraints.memory_headroom", 0.001),
    ),
    Case(
        "divisibility",
        {"workload": {"framework": "pytorch-fsdp", "global_batch_size": 8}},
        {"workload": {"framework": "pytorch-fsdp", "global_batch_size": 3}},
        ("divisibility",),
        "layout",
        settable=False,
    ),
    Case(
        "parallelism",
        under(parallelism={"dp": 4}),
        under(parallelism={"dp": 3}),
        ("divisibility", "parallelism"),
        "layout",
    ),
    Case(
        "host",
        {"offers": [{**A100, "ram_gb": 2000}]},
        {"offers": [{**A100, "ram_gb": 8}]},
        ("host",),
        settable=False,
    ),
    Case(
        "drives",
        {"offers": [{**A100, "local_nvme_tb": 1}], "workload": AWAY},
        {"offers": [{**A100, "local_nvme_tb": 0.0001}]},
        ("drives",),
        settable=False,
    ),
    Case(
        "precision",
        {"offers": [A100], "workload": {"precision": "bf16"}},
        {"workload": {"precision": "fp8"}},
        ("precision",),
        "catalog",
    ),
    Case(
        "regions",
        {"offers": [A100], **under(regions=["sg"])},
        under(regions=["aws/us-east-1"]),
        ("regions",),
        "catalog",
    ),
    Case(
        "countries",
        under(countries=["SG"]),
        under(countries=["KR"]),
        ("countries",),
        "catalog",
    ),
    Case(
        "residency",
        {"data": {"residency": ["SG", "KR"]}},
        {"data": {"residency": "EU"}},
        ("residency",),
        "catalog",
    ),
    Case(
        "providers",
        under(providers=["a"]),
        under(providers=["aws"]),
        ("providers",),
        "catalog",
    ),
    Case(
        "gpu_types",
        under(gpus={"exclude": ["H100"]}),
        under(gpus={"types": ["H200"], "exclude": ["H100"]}),
        ("gpu_types",),
        "catalog",
    ),
    Case(
        "gpus",
        under(gpus={"max": 8}),
        under(gpus={"max": 7}),
        ("divisibility", "gpus"),
        "layout",
        less=number("constraints.gpus.max", -1),
        name="too few",
    ),
    Case(
        "gpus",
        {"offers": [A100], **under(gpus={"min": 32})},
        under(gpus={"min": 33}),
        ("divisibility", "gpus", "stock"),
        "layout",
        less=number("constraints.gpus.min"),
        name="too many",
    ),
    Case(
        "gpus",
        under(gpus={"per_node": [8]}),
        under(gpus={"per_node": [4]}),
        ("gpus",),
        "catalog",
        name="per node",
    ),
    Case(
        "intra_node",
        {"offers": [A100, H100], **under(intra_node={"min_gb_per_s": 400})},
        under(intra_node={"min_gb_per_s": 900}),
        ("intra_node",),
        "catalog",
        less=rate("constraints.intra_node.min_gb_per_s"),
    ),
    Case(
        "intra_node",
        under(intra_node={"kinds": ["nvswitch"]}),
        under(intra_node={"kinds": ["pcie"]}),
        ("intra_node",),
        "catalog",
        name="kinds",
    ),
    Case(
        "network",
        under(network={"min_gbps_per_gpu": 300}),
        under(network={"min_gbps_per_gpu": 800}),
        ("network",),
        "catalog",
        less=rate("constraints.network.min_gbps_per_gpu"),
    ),
    Case(
        "network",
        {
            "offers": [A100, H100, ETHERNET],
            **under(network={"min_gbps_per_gpu": 300, "kinds": ["ethernet"]}),
        },
        under(network={"min_gbps_per_gpu": 350, "kinds": ["ethernet"]}),
        ("network",),
        "catalog",
        less=rate("constraints.network.min_gbps_per_gpu"),
        name="rate of a kind",
    ),
    Case(
        "network",
        under(network={"kinds": ["infiniband"]}),
        under(network={"kinds": ["ethernet"]}),
        ("network",),
        "catalog",
        name="kinds",
    ),
    Case(
        "storage",
        under(storage={"min_read": "1 GB/s"}),
        under(storage={"min_read": "90 TB/s"}),
        ("storage",),
        less=gbytes,
    ),
    Case(
        "storage",
        under(storage={"kinds": ["local_nvme"]}),
        under(storage={"kinds": ["object_store"]}),
        ("storage",),
        "catalog",
        name="kinds",
    ),
    Case(
        "storage_capacity",
        {"offers": [{**A100, "storage": [DRIVE]}], "data": {"size": "10 TB"}},
        {"data": {"size": "100 TB"}},
        ("storage_capacity",),
        settable=False,
    ),
    Case(
        "purchase",
        under(purchase=["on_demand"]),
        under(purchase=["spot"]),
        ("purchase",),
        "catalog",
    ),
    Case(
        "stock",
        {
            "offers": [{**A100, "max_nodes": 4}],
            "workload": BUSY,
            "objective": "time",
            **under(deadline="9 hours"),
        },
        {"offers": [{**A100, "max_nodes": 1}]},
        ("stock", "deadline"),
        less=number("offers[0].max_nodes", -1),
        name="stated",
    ),
    Case(
        "stock",
        {
            "offers": [{**A100, "max_nodes": None}],
            "stock": {"unknown_nodes": 40},
            "workload": BUSY,
            "objective": "time",
            **under(deadline="9 hours"),
        },
        {"stock": {"unknown_nodes": 1}},
        ("stock", "deadline"),
        less=number("stock.unknown_nodes", -1),
        name="assumed",
    ),
    Case(
        "cluster",
        {"offers": [A100], "workload": BUSY, **under(deadline="9 hours")},
        {"offers": [{**A100, "max_nodes_per_cluster": 1}]},
        ("cluster", "deadline"),
        less=number("offers[0].max_nodes_per_cluster", -1),
    ),
    Case(
        "quota",
        {"offers": [A100], "stock": {"quota": [{"max_gpus": 8}]}},
        {"stock": {"quota": [{"max_gpus": 7}]}},
        ("quota",),
        "catalog",
        less=number("stock.quota[0].max_gpus", -1),
    ),
    Case(
        "spares",
        {"offers": [A100], "failures": {"spares": 3}},
        {"failures": {"spares": 4}},
        ("spares", "stock"),
        less=number("failures.spares"),
    ),
    Case(
        "lead_time",
        {"offers": [{**A100, "lead_time": "3 days"}], **under(deadline="10 days")},
        {"offers": [{**A100, "lead_time": "14 days"}]},
        ("lead_time", "deadline"),
        less=number("offers[0].lead_time", 1, " days"),
    ),
    Case(
        "term",
        {"offers": [{**A100, "min_term": "2 days"}], **under(budget=3000)},
        {"offers": [{**A100, "min_term": "1 year"}]},
        ("term", "budget"),
        less=number("offers[0].min_term", 1, " days"),
    ),
    Case(
        "throughput",
        under(min_tokens_per_s="1M"),
        under(min_tokens_per_s="800M"),
        ("throughput",),
        less=number("constraints.min_tokens_per_s", 2),
    ),
    Case(
        "deadline",
        under(deadline="1 day"),
        under(deadline="3 hours"),
        ("deadline",),
        less=sooner,
    ),
    Case(
        "deadline",
        {
            "offers": [A100, {**H100, "spot_usd_per_gpu_hour": 1}],
            "workload": {"tokens": "300B"},
            **under(deadline="20 days", confidence=0.9, purchase=["spot", "on_demand"]),
        },
        under(deadline="3 hours", confidence=0.9, purchase=["spot", "on_demand"]),
        ("deadline",),
        less=sooner,
        name="at confidence",
    ),
    Case("budget", under(budget=999), under(budget=12), ("budget",), less=cheaper),
    Case(
        "budget",
        {**under(budget=9999, confidence=0.9), "objective": "time"},
        under(budget=12, confidence=0.9),
        ("budget",),
        less=cheaper,
        name="at confidence",
    ),
    Case(
        "energy",
        under(max_energy="1 MWh"),
        under(max_energy="9 kWh"),
        ("energy",),
        less=digits("constraints.max_energy", "MWh"),
    ),
    Case(
        "energy",
        under(max_energy="1 MWh", confidence=0.9),
        under(max_energy="9 kWh", confidence=0.9),
        ("energy",),
        less=digits("constraints.max_energy", "MWh"),
        name="at confidence",
    ),
    Case(
        "carbon",
        under(max_carbon="1 t", confidence=0.9),
        under(max_carbon="9 kg", confidence=0.9),
        ("carbon",),
        less=digits("constraints.max_carbon", "t"),
    ),
    Case(
        "goodput",
        {"offers": [A100], "failures": {"gpu_mtbf": 10_000}},
        {"failures": {"gpu_mtbf": 0.5}},
        ("goodput",),
        settable=False,
    ),
)


def answer(keys: Keys, *overrides: str) -> PlanResult:
    """The answer without runners-up."""
    given = {k: v for k, v in keys.items() if v is not None}
    return plan_job(job(**given, overrides=overrides), catalog(), alternatives=0)


def refused(case: Case) -> Explanation:
    """Why there is no plan."""
    result = answer(case.broken)
    assert result.status == "infeasible"
    assert result.explanation is not None
    return result.explanation


def relaxed(case: Case) -> Keys:
    """What the explanation says that the rule would have to be."""
    told = refused(case).relaxations
    return next(r for r in told if r["constraint"] == case.rule)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_where_it_holds_there_is_a_plan(case: Case) -> None:
    """Tests that the requirement is met by a plan that is verified."""
    result = answer(case.holds)
    assert result.status == "optimal"
    assert result.plan is not None
    scenario = job(**case.holds)
    supply = setting_of(scenario, catalog()).catalog
    assert verify(result.plan, scenario, supply) == []


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_conflict_is_exactly_this(case: Case) -> None:
    """Tests that the 'no' names the requirement, and nothing that could be spared."""
    explanation = refused(case)
    assert case.rule in case.conflict
    assert set(explanation.conflict) == set(case.conflict)
    assert explanation.kind == case.kind
    assert explanation.summary


@pytest.mark.parametrize("case", [c for c in CASES if c.settable], ids=str)
def test_what_is_printed_opens_a_plan(case: Case) -> None:
    """Tests the override as it stands, and that the plan is no worse than was told."""
    found = relaxed(case)
    assert found["now"]
    assert found["needed"]
    result = answer(case.broken, found["set"])
    assert result.status == "optimal"
    assert result.plan is not None
    assert result.plan.cost_at_confidence_usd is not None
    told = found["opens"]
    assert result.plan.cost_at_confidence_usd <= told["cost_usd"] + 0.01


@pytest.mark.parametrize("case", [c for c in CASES if c.less], ids=str)
def test_a_step_of_print_less_opens_none(case: Case) -> None:
    """Tests that the number told is the least change, to its last digit."""
    assert case.less is not None
    assert answer(case.broken, case.less(relaxed(case))).status == "infeasible"


def test_every_rule_has_a_case() -> None:
    """Tests that no requirement can be added without one."""
    assert {case.rule for case in CASES} == set(RULE_IDS)
