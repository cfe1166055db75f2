"""Tests of what is written for Hugging Face's libraries, FSDP and DeepSpeed."""

from __future__ import annotations

import ast
import csv
import json
from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from solver.exporting import deepspeed, fsdp, trainer
from solver.exporting.program import Command
from solver.exporting.refusals import NotExpressibleError
from solver.exporting.run import Run
from solver.exporting.scripts import DEEPSPEED, TRAINER
from tests.exporting.listed import DATA
from tests.exporting.runs import (
    laid_out,
    layout_of,
    shipped_plans,
    shipped_run,
    worked,
)

WRITERS = {
    "deepspeed": deepspeed.command,
    "pytorch-fsdp": fsdp.command,
    "hf-trainer": trainer.command,
}
PLANS = [
    name
    for name, plan in shipped_plans().items()
    if plan.framework in WRITERS and not name.startswith(("dpo", "ppo"))
    if "rlhf" not in name and not name.startswith("image")
]


@cache
def known(config: str) -> set[str]:
    """Keys of a configuration, as its release has them."""
    text = (DATA / "config_keys.csv").read_text(encoding="utf-8").splitlines()
    rows = csv.DictReader(line for line in text if not line.startswith("#"))
    return {row["key"] for row in rows if row["config"] == config}


def loaded(command: Command, name: str) -> Any:
    """A file of a command, read."""
    read = yaml.safe_load if name.endswith(".yaml") else json.loads
    return read(command.files[name])


def own_command(name: str) -> tuple[Run, Command]:
    """A shipped run, and how its own framework is told."""
    run = shipped_run(name)
    return run, WRITERS[run.framework.id](run)


def check_keys(command: Command) -> None:
    """Check that every key is one that its release has."""
    asked = loaded(command, "run.json")
    arguments = asked.get("training_arguments", {})
    assert set(arguments) <= known("TrainingArguments")
    shares = arguments.get("fsdp_config", {})
    assert set(shares) <= known("TrainingArguments.fsdp_config")
    assert set(asked["lora"] or {}) | {"lora_alpha"} <= known("LoraConfig")
    assert set(asked["quantization"] or {}) <= known("BitsAndBytesConfig")
    if fsdp.CONFIG in command.files:
        config = loaded(command, fsdp.CONFIG)
        assert set(config) <= known("accelerate config")
        for part in ("fsdp_config", "parallelism_config"):
            assert set(config.get(part, {})) <= known(f"accelerate {part}")
    if "ds_config.json" in command.files:
        config = loaded(command, "ds_config.json")
        assert set(config) <= known("deepspeed")
        zero: Mapping[str, Any] = config["zero_optimization"]
        assert set(zero) <= known("deepspeed zero_optimization")
        for part in ("offload_optimizer", "offload_param"):
            assert set(zero.get(part, {})) <= known(f"deepspeed {part}")
        assert set(config.get("tensor_parallel", {})) <= known(
            "deepspeed tensor_parallel"
        )


def told_batch(command: Command, ranks: int) -> tuple[int, int, int]:
    """Micro-batch, accumulation and sequences of a step, as the files say them."""
    if "ds_config.json" in command.files:
        config = loaded(command, "ds_config.json")
        micro = config["train_micro_batch_size_per_gpu"]
        times = config["gradient_accumulation_steps"]
        replicas = ranks // config.get("tensor_parallel", {}).get("autotp_size", 1)
        assert config["train_batch_size"] == micro * times * replicas
        return micro, times, config["train_batch_size"]
    arguments = loaded(command, "run.json")["training_arguments"]
    micro = arguments["per_device_train_batch_size"]
    times = arguments["gradient_accumulation_steps"]
    shares = (
        loaded(command, fsdp.CONFIG).get("parallelism_config", {})
        if fsdp.CONFIG in command.files
        else {}
    )
    replicas = ranks // shares.get("parallelism_config_cp_size", 1)
    return micro, times, micro * times * replicas


@pytest.mark.parametrize("name", PLANS)
def test_shipped_plans_are_conserved(name: str) -> None:
    """Tests batch, steps and checkpoints of every plan that is not Megatron's."""
    run, command = own_command(name)
    layout = run.layout
    check_keys(command)
    wanted = (layout.micro_batch, layout.accumulation, layout.global_batch_size)
    assert told_batch(command, run.gpus) == wanted
    asked = loaded(command, "run.json")
    assert asked["model"]["sizes"]["num_hidden_layers"] == run.architecture.layers
    assert asked["sequence_length"] == run.sequence_length
    if "training_arguments" in asked:
        arguments = asked["training_arguments"]
        assert arguments["max_steps"] == run.steps
        assert arguments["save_steps"] == (run.checkpoint_steps or run.steps)
        assert arguments["bf16"]
    else:
        assert (asked["steps"], asked["checkpoint_steps"]) == (
            run.steps,
            run.checkpoint_steps or run.steps,
        )


def test_variables_are_those_that_the_programs_ask_for() -> None:
    """Tests that programs read what scripts ask for, and nothing else."""
    for name, text in (
        ("qlora-65b-one-card", TRAINER),
        ("full-70b-offload", DEEPSPEED),
    ):
        _, command = own_command(name)
        asked = {
            str(node.args[0].value)
            for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.Call)
            and getattr(node.func, "id", "") == "said"
            and isinstance(node.args[0], ast.Constant)
        }
        variables = {one.name for one in command.variables}
        assert variables <= asked
        assert asked - variables <= {"LORA_ALPHA", "NVME_PATH"}


degrees = st.integers(1, 8)


@given(
    dp=degrees,
    cp=st.sampled_from([1, 2, 4]),
    replicas=degrees,
    micro_batch=degrees,
    accumulation=degrees,
    zero_stage=st.sampled_from([2, 3]),
)
def test_any_fsdp_layout_is_conserved(
    dp: int,
    cp: int,
    replicas: int,
    micro_batch: int,
    accumulation: int,
    zero_stage: int,
) -> None:
    """Tests groups that share weights, and sequences divided over ranks."""
    run = laid_out(
        shipped_run("full-7b-l40s"),
        dp=dp * replicas,
        cp=cp,
        zero_stage=zero_stage,
        shard_degree=dp * cp,
        micro_batch=micro_batch,
        accumulation=accumulation,
    )
    command = fsdp.command(run)
    check_keys(command)
    config = loaded(command, fsdp.CONFIG)
    sizes = config.get("parallelism_config", {})
    shards = sizes.get("parallelism_config_dp_shard_size", run.gpus)
    copies = sizes.get("parallelism_config_dp_replicate_size", 1)
    assert config["num_processes"] == run.gpus == shards * copies * (cp if sizes else 1)
    assert shards * (cp if sizes else 1) == run.layout.shard_degree
    assert config["fsdp_config"]["fsdp_reshard_after_forward"] == (zero_stage == 3)
    assert told_batch(command, run.gpus)[2] == run.layout.global_batch_size


@given(dp=degrees, tp=st.sampled_from([1, 2, 4]), micro_batch=degrees, times=degrees)
def test_any_deepspeed_layout_is_conserved(
    dp: int, tp: int, micro_batch: int, times: int
) -> None:
    """Tests DeepSpeed's arithmetic: micro-batch x accumulation x replicas."""
    run = laid_out(
        shipped_run("full-70b-offload"),
        dp=dp,
        tp=tp,
        micro_batch=micro_batch,
        accumulation=times,
        shard_degree=dp,
    )
    command = deepspeed.command(run)
    check_keys(command)
    assert told_batch(command, run.gpus)[2] == run.layout.global_batch_size


@pytest.mark.parametrize(
    ("base", "wanted"),
    [
        ("nf4", {"bnb_4bit_quant_type": "nf4", "bnb_4bit_use_double_quant": True}),
        ("nf4_plain", {"bnb_4bit_use_double_quant": False}),
        ("int8", {"load_in_8bit": True}),
        ("bf16", None),
    ],
)
def test_quantised_bases(base: str, wanted: dict[str, object] | None) -> None:
    """Tests how each base is loaded, and that a sharded one is stored in 16 bits."""
    run = layout_of(shipped_run("qlora-70b-two-24gb"), base=base)
    found = loaded(trainer.command(run), "run.json")["quantization"]
    if wanted is None:
        assert found is None
        return
    assert wanted.items() <= found.items()
    sharded = found.get("bnb_4bit_quant_storage")
    assert sharded == ("bfloat16" if base.startswith("nf4") else None)


def test_adapters_have_rank_and_targets() -> None:
    """Tests the rank, all linears by default, and linears by their names."""
    run = shipped_run("qlora-70b-two-24gb")
    lora = loaded(trainer.command(run), "run.json")["lora"]
    assert (lora["r"], lora["target_modules"]) == (run.workload.lora_rank, "all-linear")
    some = worked(run, lora_targets=("q", "v"), lora_rank=64)
    lora = loaded(trainer.command(some), "run.json")["lora"]
    assert (lora["r"], lora["target_modules"]) == (64, ["q_proj", "v_proj"])
    own = [one for one in trainer.command(run).variables if one.name == "LORA_ALPHA"]
    assert len(own) == 1


@pytest.mark.parametrize(
    ("offload", "optimizer", "parts"),
    [
        ("optimizer to host", "adamw", {"offload_optimizer": "cpu"}),
        (
            "parameters to nvme",
            "adamw",
            {"offload_optimizer": "nvme", "offload_param": "nvme"},
        ),
        ("activations to host", "paged-adamw-8bit", {}),
    ],
)
def test_offload_of_deepspeed(
    offload: str, optimizer: str, parts: dict[str, str]
) -> None:
    """Tests what leaves the GPU, where to, and who asks for a folder of drives."""
    run = layout_of(
        shipped_run("full-70b-offload"), offload=offload, optimizer=optimizer
    )
    command = deepspeed.command(run)
    config = loaded(command, "ds_config.json")
    zero = config["zero_optimization"]
    found = {k: v["device"] for k, v in zero.items() if k.startswith("offload")}
    assert found == parts
    assert ("activation_checkpointing" in config) == ("activations" in offload)
    asks = "NVME_PATH" in [one.name for one in command.variables]
    assert asks == ("nvme" in offload)


def test_weights_keep_the_type_that_memory_is_counted_for() -> None:
    """Tests fp32 weights under mixed precision, and 16 bits without an fp32 copy."""
    full = shipped_run("full-7b-l40s")
    assert loaded(fsdp.command(full), "run.json")["model"]["dtype"] == "float32"
    short = fsdp.command(layout_of(full, master_weights="none"))
    assert loaded(short, "run.json")["model"]["dtype"] == "bfloat16"
    assert loaded(short, fsdp.CONFIG)["mixed_precision"] == "no"
    half = loaded(deepspeed.command(full), "run.json")
    assert half["model"]["dtype"] == "bfloat16"


REFUSED = [
    ("hf-trainer", "full-7b-l40s", {"zero_stage": 1}, "ZeRO-1"),
    ("hf-trainer", "full-7b-l40s", {"shard_degree": 2}, "groups of 2"),
    ("hf-trainer", "full-7b-l40s", {"offload": "activations to host"}, "activations"),
    ("hf-trainer", "full-7b-l40s", {"optimizer": "muon"}, "muon"),
    ("hf-trainer", "full-7b-l40s", {"precision": "fp8"}, "fp8"),
    ("hf-trainer", "full-7b-l40s", {"recompute": "selective"}, "selectively"),
    ("hf-trainer", "quickstart-7b", {}, "ZeRO-1"),
    ("hf-trainer", "dpo-8b", {}, "DPO"),
    ("hf-trainer", "image-text-starved", {}, "image"),
    ("pytorch-fsdp", "full-7b-l40s", {"shard_degree": 3}, "groups of 3"),
    ("pytorch-fsdp", "full-7b-l40s", {"offload": "optimizer to host"}, "optimizer"),
    (
        "pytorch-fsdp",
        "full-7b-l40s",
        {"offload": "activations to host", "zero_stage": 0},
        "ZeRO-0",
    ),
    ("pytorch-fsdp", "mixtral-8x7b-pretrain", {}, "EP 8"),
    ("deepspeed", "llama3-70b-deadline", {}, "PP 2"),
    ("deepspeed", "full-7b-l40s", {"shard_degree": 2}, "groups of 2"),
    ("deepspeed", "full-7b-l40s", {"master_weights": "none"}, "fp32 copy"),
    ("deepspeed", "full-7b-l40s", {"loss": "chunked"}, "chunks"),
    ("deepspeed", "full-7b-l40s", {"optimizer": "galore-adamw"}, "galore-adamw"),
    (
        "deepspeed",
        "full-70b-offload",
        {"offload": "optimizer to host"},
        "paged-adamw-8bit",
    ),
    (
        "deepspeed",
        "full-70b-offload",
        {"offload": "parameters to host", "zero_stage": 2, "optimizer": "adamw"},
        "ZeRO-3 alone",
    ),
]


@pytest.mark.parametrize(("framework", "name", "changes", "part"), REFUSED)
def test_what_cannot_be_said_is_refused(
    framework: str, name: str, changes: dict[str, Any], part: str
) -> None:
    """Tests that nothing of a layout is left out in silence."""
    with pytest.raises(NotExpressibleError) as told:
        WRITERS[framework](layout_of(shipped_run(name), **changes))
    assert part in "\n".join(issue.message for issue in told.value.issues)


def test_a_growing_batch_is_refused_by_all() -> None:
    """Tests that a ramp is not left out."""
    from dataclasses import replace

    run = shipped_run("full-7b-l40s")
    ramp = {"from": 16, "step": 16, "samples": 1000.0}
    run = replace(run, plan=replace(run.plan, batch_ramp=ramp))
    for write in WRITERS.values():
        with pytest.raises(NotExpressibleError, match="grows"):
            write(run)


def test_experts_with_adapters_are_refused() -> None:
    """Tests that adapters of experts, which are no linears, are not left out."""
    run = laid_out(
        shipped_run("table-7b-lora-1x48gb"), {"n_experts": 8, "experts_topk": 2}
    )
    with pytest.raises(NotExpressibleError, match="experts"):
        trainer.command(run)
