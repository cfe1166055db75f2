"""Tests of what is written for torchtitan and for NeMo's Megatron-Bridge."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from solver.exporting import megatron, nemo, torchtitan
from solver.exporting.refusals import NotExpressibleError
from solver.exporting.run import Run
from solver.exporting.scripts import DEEPSPEED, NEMO, TORCHTITAN, TRAINER
from tests.exporting.runs import (
    laid_out,
    layout_of,
    shipped_plans,
    shipped_run,
    worked,
)
from tests.exporting.test_huggingface import known, loaded
from tests.exporting.test_megatron import PLANS as MEGATRON_PLANS

ADAPTERS = [name for name in shipped_plans() if "-lora-" in name and "70b" not in name]
SECTIONS = {
    "TrainingConfig": "train",
    "ValidationConfig": "validation",
    "OptimizerConfig": "optimizer",
    "SchedulerConfig": "scheduler",
    "DistributedDataParallelConfig": "ddp",
    "GPTDatasetConfig": "dataset",
    "TokenizerConfig": "tokenizer",
    "LoggerConfig": "logger",
    "CheckpointConfig": "checkpoint",
    "RNGConfig": "rng",
    "LoRA": "lora",
    "ConfigContainer": "container",
}
"""Classes that the recipe calls, and what of the list of keys they take."""


def calls(text: str) -> list[tuple[str, list[str]]]:
    """Each call of a program by name, with the names of its keyword arguments."""
    return [
        (node.func.id, [word.arg for word in node.keywords if word.arg])
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    ]


@pytest.mark.parametrize("text", [TRAINER, DEEPSPEED, TORCHTITAN, NEMO])
def test_programs_are_python(text: str) -> None:
    """Tests that what is written compiles, and that each program reads its plan."""
    compile(text, "train.py", "exec")
    assert 'with_name("run.json")' in text
    assert all(len(line) <= 88 for line in text.splitlines())


def test_the_recipe_calls_what_there_is() -> None:
    """Tests every keyword of the recipe against the fields of the real classes."""
    found = [(name, words) for name, words in calls(NEMO) if name in SECTIONS]
    assert {name for name, _ in found} == set(SECTIONS)
    for name, words in found:
        assert set(words) <= known(f"nemo {SECTIONS[name]}"), name


@pytest.mark.parametrize("name", [*MEGATRON_PLANS, *ADAPTERS])
def test_a_recipe_conserves_its_plan(name: str) -> None:
    """Tests ranks, stages, batch and length against the plan, and keys by the list."""
    run = shipped_run(name)
    layout = run.layout
    asked = loaded(nemo.command(run), "run.json")
    for section in ("model", "train", "optimizer", "ddp"):
        assert set(asked[section]) <= known(f"nemo {section}"), section
    model, train = asked["model"], asked["train"]
    tp, pp = model["tensor_model_parallel_size"], model["pipeline_model_parallel_size"]
    replicas = run.gpus // (tp * pp * model["context_parallel_size"])
    assert replicas == layout.dp
    batch = train["micro_batch_size"] * layout.accumulation * replicas
    assert batch == train["global_batch_size"]
    assert train["train_iters"] == run.steps
    assert asked["checkpoint_steps"] == (run.checkpoint_steps or run.steps)
    stages = model.get("pipeline_model_parallel_layout")
    if stages is not None:
        held = [stage.count("decoder") for stage in stages]
        own = [sum(held[stage::pp]) for stage in range(pp)]
        assert own == list(layout.layers_per_stage)
        assert (stages[0][0], stages[-1][-1]) == ("embedding", "loss")
    assert asked["ddp"]["use_distributed_optimizer"] == (layout.zero_stage == 1)
    assert bool(asked["lora"]) == (run.method == "lora")


def test_a_recipe_says_what_the_arguments_say() -> None:
    """Tests that both ways to Megatron Core refuse the same layouts."""
    run = shipped_run("quickstart-7b")
    changes: list[dict[str, Any]] = [
        {"zero_stage": 2},
        {"offload": "activations to host"},
        {"loss": "chunked"},
        {"master_weights": "none"},
        {"tp": 2},
    ]
    for change in changes:
        told = []
        for write in (megatron.command, nemo.command):
            with pytest.raises(NotExpressibleError) as error:
                write(layout_of(run, **change))
            told.append([i.message.partition(" ")[2] for i in error.value.issues])
        assert told[0] == told[1]


def test_adapters_of_a_recipe() -> None:
    """Tests fused linears by the plan's targets, and parts of one that are refused."""
    run = shipped_run("table-7b-lora-1x48gb")
    every = loaded(nemo.command(run), "run.json")["lora"]
    assert every["dim"] == run.workload.lora_rank
    assert every["target_modules"] == [
        *("linear_qkv", "linear_proj", "linear_fc1", "linear_fc2"),
    ]
    some = nemo.command(worked(run, lora_targets=("q", "k", "v", "down")))
    names = loaded(some, "run.json")["lora"]["target_modules"]
    assert names == ["linear_qkv", "linear_fc2"]
    with pytest.raises(NotExpressibleError, match="linear_qkv"):
        nemo.command(worked(run, lora_targets=("q", "v")))
    with pytest.raises(NotExpressibleError, match="quantised"):
        nemo.command(shipped_run("qlora-65b-one-card"))


def test_a_recipe_ramps_its_batch() -> None:
    """Tests that a growing batch is told by samples."""
    run = shipped_run("quickstart-7b")
    ramp = {"from": 128, "step": 128, "samples": 5_000_000.0}
    run = replace(run, plan=replace(run.plan, batch_ramp=ramp), sequences=488_281_250)
    train = loaded(nemo.command(run), "run.json")["train"]
    assert train["rampup_batch_size"] == [128, 128, 5_000_000]
    assert (train["train_samples"], "train_iters" in train) == (488_281_250, False)


def titan(run: Run) -> dict[str, Any]:
    """What torchtitan reads of a run, its keys checked by the list."""
    asked: dict[str, Any] = loaded(torchtitan.command(run), "run.json")
    for section in ("training", "parallelism"):
        assert set(asked[section]) <= known(f"torchtitan {section}")
    return asked


degrees = st.sampled_from([1, 2, 3, 4])


@given(
    tp=degrees,
    pp=degrees,
    cp=st.sampled_from([1, 2]),
    shard=degrees,
    replicas=degrees,
    virtual=st.integers(1, 3),
    each=st.integers(1, 3),
    ends=st.booleans(),
    times=st.integers(1, 5),
)
def test_any_torchtitan_layout_is_conserved(
    tp: int,
    pp: int,
    cp: int,
    shard: int,
    replicas: int,
    virtual: int,
    each: int,
    ends: bool,
    times: int,
) -> None:
    """Tests ranks, batch and every layer in its place."""
    virtual = virtual if pp > 1 else 1
    stages = [each * virtual] * pp
    if ends:
        assume(pp > 1 and each > 1)
        stages[0] -= 1
        stages[-1] -= 1
    run = laid_out(
        shipped_run("full-7b-l40s"),
        {"layers": sum(stages)},
        tp=tp,
        pp=pp,
        cp=cp,
        dp=shard * replicas,
        virtual_stages=virtual,
        layers_per_stage=tuple(stages),
        zero_stage=2,
        shard_degree=shard * cp,
        micro_batch=2,
        accumulation=times * pp * virtual,
        sequence_parallel=tp > 1,
    )
    asked = titan(run)
    ways, training = asked["parallelism"], asked["training"]
    copies = ways["data_parallel_replicate_degree"]
    shards = ways["data_parallel_shard_degree"]
    assert copies * shards * cp * tp * pp == run.gpus
    assert shards * cp == run.layout.shard_degree
    rest = training["global_batch_size"] % (
        training["local_batch_size"] * copies * shards
    )
    assert rest == 0
    if pp == 1:
        return
    whole = training["local_batch_size"] // ways["pipeline_parallel_microbatch_size"]
    assert whole == run.layout.accumulation
    parts = ways["module_fqns_per_model_part"]
    assert [name for part in parts for name in part] == [
        "tok_embeddings",
        *(f"layers.{number}" for number in range(run.architecture.layers)),
        "norm",
        "lm_head",
    ]
    held = [sum(n.startswith("layers") for n in part) for part in parts]
    own = [sum(held[stage::pp]) for stage in range(pp)]
    assert own == list(run.layout.layers_per_stage)


def test_torchtitan_is_told_the_rest() -> None:
    """Tests ZeRO stages, number formats, recomputation, loss and offload."""
    run = shipped_run("full-7b-l40s")
    asked = titan(run)
    assert asked["parallelism"]["fsdp_reshard_after_forward"] == "always"
    assert asked["training"]["dtype"] == "float32"
    assert (asked["recompute"], asked["loss_chunks"]) == ("full", 0)
    other = titan(
        layout_of(
            run,
            zero_stage=2,
            master_weights="none",
            loss="chunked",
            offload="parameters to host",
        )
    )
    assert other["parallelism"]["fsdp_reshard_after_forward"] == "never"
    assert other["training"]["dtype"] == "bfloat16"
    assert other["loss_chunks"] == 8
    assert other["training"]["enable_cpu_offload"]


@pytest.mark.parametrize(
    ("name", "changes", "part"),
    [
        ("mixtral-8x7b-pretrain", {}, "experts"),
        ("gpt3-175b-a100-34-days", {}, "LayerNorm"),
        ("qwen-32b-fastest-under-budget", {}, "biases"),
        ("quickstart-7b", {}, "ZeRO-1"),
        ("full-7b-l40s", {"shard_degree": 3}, "groups of 3"),
        ("full-7b-l40s", {"optimizer": "muon"}, "muon"),
        ("full-7b-l40s", {"precision": "fp8"}, "fp8"),
        ("full-7b-l40s", {"offload": "optimizer to host"}, "optimizer to host"),
        ("table-7b-lora-1x48gb", {}, "lora"),
        ("sft-8b", {"pp": 4, "dp": 1, "accumulation": 2}, "micro-batches"),
    ],
)
def test_what_torchtitan_cannot_say(
    name: str, changes: dict[str, Any], part: str
) -> None:
    """Tests the reasons for which nothing is written."""
    with pytest.raises(NotExpressibleError) as told:
        torchtitan.command(layout_of(shipped_run(name), **changes))
    assert part in "\n".join(issue.message for issue in told.value.issues)
