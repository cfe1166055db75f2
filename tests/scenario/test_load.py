"""Tests of reading whole scenarios."""

from datetime import date
from pathlib import Path

import pytest

from solver.errors import InputError
from solver.ranges import Range
from solver.scenario.gallery import shipped_names
from solver.scenario.load import load_scenario
from solver.scenario.scenario import Limits, Objective, Overheads, PriceRule
from tests.scenario.reading import (
    SMALL,
    TODAY,
    faults,
    notice_ids,
    only_fault,
    read,
    shipped_catalog,
)

FULL = """\
name: everything
model: Llama-2-7B
workload:
  method: lora
  start: checkpoint
  samples: 52k
  epochs: 3
  sequence_length: 2048
  global_batch_size: {sequences: 1024, tolerance: 5%}
  precision: BF16
  optimizer: paged_adamw_8bit
  framework: HF-Trainer
  lora: {rank: 8, targets: [q, v]}
  efficiency: 85%
data: {size: 8 TB, bytes_per_token: 2, mean_document_tokens: 500,
       location: aws/us-east-1}
objective: {cost: 1, usd_per_day: 500}
constraints:
  deadline: 2026-12-30
  budget: $250k
  min_tokens_per_s: 1.2M tokens/s
  regions: [aws/us-east-1, us-west-2]
  countries: [US]
  providers: [aws]
  gpus: {types: [H100, A100-80GB], exclude: [h100-pcie-80gb], min: 8, max: 512,
         per_node: [8]}
  intra_node: {min_gb_per_s: 300, kinds: [nvswitch]}
  network: {min_gbps_per_gpu: 100, kinds: [efa]}
  storage: {kinds: [parallel-fs], min_read: 10 GB/s}
  purchase: [on-demand, spot]
  parallelism: {tp: 8, pp: {min: 1, max: 8}, cp: [2, 1], zero_stage: [0, 1],
                recompute: [none, selective]}
  memory_headroom: 5%
  confidence: 0.9
stock: {unknown_nodes: 32}
overheads: {setup: 2 hours, queue: 30 min, evaluation: 1%}
prices: [{provider: aws, discount: 20%}]
limits: {time: 10, gap: 1%, workers: 2, seed: 7}
"""


def test_the_shortest_scenario_has_the_documented_defaults() -> None:
    """Tests what a scenario of a model and tokens alone is read as."""
    scenario = read(SMALL)
    workload = scenario.workload
    assert (workload.method, workload.start) == ("full", "scratch")
    assert (workload.framework, workload.optimizer) == ("megatron", "adamw")
    assert (workload.precision, workload.sequence_length) == ("bf16", 4096)
    assert workload.efficiency == 1.0
    assert workload.batch_min == workload.batch_max == 1024  # of about 4M tokens
    assert scenario.objective == Objective("cost")
    assert scenario.constraints.purchase == ("on_demand",)
    assert scenario.constraints.memory_headroom == 0.1
    assert scenario.constraints.stated == frozenset()
    assert scenario.limits == Limits(60.0, 0.0, 1, 0)
    assert scenario.overheads == Overheads(4 * 3600.0, 0.0, 0.0)
    assert (scenario.stock_unknown_nodes, scenario.stock_stated) == (64, False)
    assert scenario.data.size_bytes == 8e12
    assert scenario.data.size_is_assumed
    assert scenario.start_date == TODAY
    assert notice_ids(scenario) == ["notice.sequence.default", "notice.batch.default"]


def test_every_key_is_read() -> None:
    """Tests a scenario that says everything."""
    scenario = read(FULL)
    assert scenario.name == "everything"
    assert scenario.architecture.id == "llama-2-7b"
    workload = scenario.workload
    assert (workload.method, workload.framework) == ("lora", "hf-trainer")
    assert workload.optimizer == "paged-adamw-8bit"
    assert workload.tokens == 52_000 * 3 * 500
    assert (workload.batch_min, workload.batch_target) == (973, 1024)
    assert workload.batch_max == 1075
    assert (workload.lora_rank, workload.lora_targets) == (8, ("q", "v"))
    assert workload.efficiency == 0.85
    assert scenario.data.size_bytes == 8e12
    assert not scenario.data.size_is_assumed
    assert scenario.data.location == "aws/us-east-1"
    assert scenario.objective == Objective("weighted", 1.0, 500.0)
    assert scenario.prices == (PriceRule(0.2, "aws"),)
    assert scenario.overheads == Overheads(7200.0, 1800.0, 0.01)
    assert scenario.limits == Limits(10.0, 0.01, 2, 7)
    assert (scenario.stock_unknown_nodes, scenario.stock_stated) == (32, True)


def test_every_constraint_is_read() -> None:
    """Tests the limits of a scenario that says everything."""
    limits = read(FULL).constraints
    assert limits.deadline_s == 30 * 86_400
    assert (limits.budget_usd, limits.min_tokens_per_s) == (250_000, 1.2e6)
    assert limits.regions is not None
    assert {"aws/us-east-1", "aws/us-west-2"} <= set(limits.regions)
    assert (limits.countries, limits.providers) == (("US",), ("aws",))
    assert limits.gpu_types is not None
    assert {"h100-sxm-80gb", "a100-sxm-80gb"} <= set(limits.gpu_types)
    assert "a100-sxm-40gb" not in limits.gpu_types
    assert limits.gpu_exclude == ("h100-pcie-80gb",)
    assert (limits.gpus, limits.gpus_per_node) == (Range(8, 512), Range(values=(8,)))
    assert (limits.intra_node_min_gb_per_s, limits.intra_node_kinds) == (
        300,
        ("nvswitch",),
    )
    assert (limits.network_min_gbps_per_gpu, limits.network_kinds) == (100, ("efa",))
    assert limits.storage_kinds == ("parallel_fs",)
    assert limits.storage_min_read_bytes_per_s == 10e9
    assert limits.purchase == ("on_demand", "spot")
    assert limits.parallelism == {
        "tp": Range(values=(8,)),
        "pp": Range(1, 8),
        "cp": Range(values=(1, 2)),
        "zero_stage": Range(values=(0, 1)),
    }
    assert limits.recompute == ("none", "selective")
    assert (limits.memory_headroom, limits.confidence) == (0.05, 0.9)
    assert limits.stated >= {"deadline", "budget", "gpus", "gpu_types", "memory"}


@pytest.mark.parametrize("name", shipped_names())
def test_shipped_scenarios_can_be_read(name: str) -> None:
    """Tests that nothing is wrong with any shipped scenario."""
    scenario = load_scenario(name, shipped_catalog(), today=TODAY)
    assert scenario.file == f"{name}.yaml"
    assert scenario.name != name
    assert scenario.workload.tokens > 0


def test_quickstart() -> None:
    """Tests the figures of the scenario that everybody tries first."""
    scenario = load_scenario("quickstart-7b", shipped_catalog(), today=TODAY)
    assert scenario.workload.tokens == 2e12
    assert scenario.workload.batch_target == 1024
    assert scenario.constraints.deadline_s == 30 * 86_400
    assert scenario.notices == ()


def test_a_name_may_be_spelled_loosely() -> None:
    """Tests that case and underscores do not matter in the name of a scenario."""
    assert (
        load_scenario(" Quickstart_7B", shipped_catalog()).file == "quickstart-7b.yaml"
    )


def test_today_is_the_day_of_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests the default start of the plan."""
    monkeypatch.delenv("GPUPLAN_TODAY")
    before = date.today()
    scenario = load_scenario("quickstart-7b", shipped_catalog())
    assert before <= scenario.start_date <= date.today()


def test_unknown_scenario_has_a_hint() -> None:
    """Tests that a misspelled name is told with the nearest one."""
    with pytest.raises(InputError) as caught:
        load_scenario("quikstart-7b", shipped_catalog())
    (issue,) = caught.value.issues
    assert (issue.code, issue.hint) == ("file-not-found", "quickstart-7b")


def test_missing_file() -> None:
    """Tests that a path is not taken for a name."""
    with pytest.raises(InputError, match="no such file"):
        load_scenario("quickstart-7b.yaml", shipped_catalog())


def test_a_file_without_name_is_called_by_its_file(tmp_path: Path) -> None:
    """Tests the default of the scenario's name."""
    file = tmp_path / "my-run.yaml"
    file.write_text(SMALL, encoding="utf-8")
    scenario = load_scenario(file, shipped_catalog())
    assert (scenario.name, scenario.file) == ("my-run", str(file))


MANY = """\
model: llama-2-7c
workload:
  tokens: 2TT
  squence_length: 4096
  precision: BF17
  optimizer: adamx
  lora: {rank: 4}
deadline: 3 days
constraints:
  deadlin: 30 days
  gpus: {types: [H101, A100], max: 8, min: 16}
  regions: [aws/us-east-9]
  parallelism: {tp: [4, x], zero_stage: 7}
  purchase: [on-demand, spott]
offers:
  - {name: a, gpu: h100-sxm-80gb}
  - {name: A, gpu: h102, gpus_per_node: 8, network: {kind: ib, gbps_per_node: 12}}
  - 7
prices: [{provider: awz, discount: 20%}]
"""


def test_all_faults_are_told_at_once_with_their_places() -> None:
    """Tests that faults of form, of names and of sense come together, by line."""
    found = [(issue.code, issue.where, issue.hint) for issue in faults(MANY)]
    assert found == [
        ("unknown-name", "s.yaml:1:8", "llama-2-7b"),
        ("unknown-unit", "s.yaml:3:11", None),
        ("unknown-key", "s.yaml:4:3", "sequence_length"),
        ("wrong-value", "s.yaml:5:14", "bf16"),
        ("unknown-name", "s.yaml:6:14", "adam"),
        ("contradiction", "s.yaml:7:3", None),
        ("unknown-key", "s.yaml:8:1", "constraints.deadline"),
        ("unknown-key", "s.yaml:10:3", "deadline"),
        ("unknown-name", "s.yaml:11:18", "H100"),
        ("contradiction", "s.yaml:11:44", None),
        ("unknown-name", "s.yaml:12:13", "aws/us-east-1"),
        ("wrong-type", "s.yaml:13:25", None),
        ("out-of-range", "s.yaml:13:41", None),
        ("wrong-value", "s.yaml:14:25", "spot"),
        ("missing-key", "s.yaml:16:5", None),
        ("duplicate-name", "s.yaml:17:12", None),
        ("unknown-name", "s.yaml:17:20", "H100"),
        ("wrong-value", "s.yaml:17:60", None),
        ("wrong-type", "s.yaml:18:5", None),
        ("unknown-name", "s.yaml:19:21", "aws"),
    ]


def test_a_part_that_is_wrong_is_not_said_to_be_missing() -> None:
    """Tests that one mistake gives one fault."""
    assert only_fault("model: llama-2-7b\nworkload: {tokens: many}\n").code == (
        "wrong-type"
    )
    assert only_fault("model: llama-2-7b\nworkload: 3\n").code == "wrong-type"
    assert only_fault("model: [a]\nworkload: {tokens: 2T}\n").path == "model"


def test_both_required_keys() -> None:
    """Tests that a file without either is told of both."""
    found = faults("name: nothing\n")
    assert [(issue.code, issue.path) for issue in found] == [
        ("missing-key", "model"),
        ("missing-key", "workload"),
    ]


@pytest.mark.parametrize(
    ("text", "value"),
    [("1e12", 1e12), ("2_000_000_000_000", 2e12), ("1.5T", 1.5e12), ("'2T'", 2e12)],
)
def test_yaml_numbers(text: str, value: float) -> None:
    """Tests that numbers mean what they look like, unlike in YAML 1.1."""
    scenario = read(f"model: llama-2-7b\nworkload: {{tokens: {text}}}\n")
    assert scenario.workload.tokens == value


def test_norway_is_a_country() -> None:
    """Tests that `NO` is not taken for false."""
    assert read(f"{SMALL}constraints: {{countries: [NO]}}\n").constraints.countries == (
        "NO",
    )


def test_a_time_of_day_is_no_number() -> None:
    """Tests that `12:30` is refused rather than read as 750."""
    issue = only_fault(f"{SMALL}constraints: {{deadline: 12:30}}\n")
    assert issue.path == "constraints.deadline"


def test_keys_without_value_are_as_good_as_left_out() -> None:
    """Tests that a key may be left empty, but not a wrong key."""
    assert read(f"{SMALL}constraints:\n  deadline:\nobjective:\n").constraints == (
        read(SMALL).constraints
    )
    assert only_fault(f"{SMALL}constraints:\n  deadlin:\n").code == "unknown-key"
    assert [issue.path for issue in faults("model:\nworkload:\n")] == [
        "model",
        "workload",
    ]


def test_empty_lists_are_no_limit() -> None:
    """Tests that an empty list does not forbid everything."""
    limits = read(f"{SMALL}constraints: {{regions: [], purchase: []}}\n").constraints
    assert (limits.regions, limits.purchase) == (None, ("on_demand",))
    assert limits.stated == frozenset()


def test_a_single_value_may_stand_for_a_list() -> None:
    """Tests that brackets can be left out, and that faults point at the value."""
    limits = read(
        f"{SMALL}constraints: {{countries: SG, purchase: spot}}\n"
    ).constraints
    assert (limits.countries, limits.purchase) == (("SG",), ("spot",))
    issue = only_fault(f"{SMALL}constraints: {{countries: Singapoor}}\n")
    assert (issue.path, issue.where) == ("constraints.countries", "s.yaml:3:26")


def test_long_sequences_are_told_not_refused() -> None:
    """Tests that a sequence beyond the model's positions is a notice."""
    text = "model: llama-3-8b\nworkload: {tokens: 2T, sequence_length: 16384}\n"
    assert "notice.sequence.too-long" in notice_ids(read(text))


@pytest.mark.parametrize(
    ("model", "tokens"), [("llama-2-7b", 20 * 6.74e9), ("llama-3-70b", 1.4e12)]
)
def test_compute_optimal(model: str, tokens: float) -> None:
    """Tests Chinchilla's rule: 20 a parameter, 1.4T for 70B; and that it is told."""
    scenario = read(f"model: {model}\nworkload: {{tokens: compute-optimal}}\n")
    assert scenario.workload.tokens == pytest.approx(tokens, rel=0.02)
    assert "notice.tokens.compute-optimal" in notice_ids(scenario)


@pytest.mark.parametrize(
    ("workload", "framework"),
    [
        ("{tokens: 1B}", "megatron"),
        ("{tokens: 1B, start: checkpoint}", "pytorch-fsdp"),
        ("{tokens: 1B, method: lora}", "hf-trainer"),
        ("{tokens: 1B, method: qlora}", "hf-trainer"),
    ],
)
def test_default_framework(workload: str, framework: str) -> None:
    """Tests that the way it is run follows from what is trained."""
    scenario = read(f"model: llama-2-7b\nworkload: {workload}\n")
    assert scenario.workload.framework == framework


def test_an_overhead_may_be_a_bare_number_of_hours() -> None:
    """Tests the units of bare numbers: hours, days and seconds."""
    scenario = read(
        f"{SMALL}overheads: {{setup: 2}}\nconstraints: {{deadline: 3}}\n"
        "limits: {time: 5}\n"
    )
    assert scenario.overheads.setup_s == 7200
    assert scenario.constraints.deadline_s == 3 * 86_400
    assert scenario.limits.time_s == 5


def test_a_family_in_a_discount_means_each_member() -> None:
    """Tests that names of several in a price rule become a rule each."""
    scenario = read(f"{SMALL}prices: [{{gpu: A100, discount: 10%}}]\n")
    assert len(scenario.prices) >= 4
    assert {rule.discount for rule in scenario.prices} == {0.1}
    assert all((rule.gpu or "").startswith("a100-") for rule in scenario.prices)


def test_a_location_is_one_region() -> None:
    """Tests that the data cannot lie in several providers' regions at once."""
    issue = only_fault(f"{SMALL}data: {{location: us-east-1}}\n")
    assert issue.code == "ambiguous-name"
