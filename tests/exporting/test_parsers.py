"""Tests with the real parsers of the programs; each is skipped where it is missing.

``make test-exports`` installs them into an environment of their own. Megatron-LM is no
package: ``MEGATRON_LM`` names a folder of it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from solver.exporting import deepspeed, fsdp, megatron, torchtitan, trainer
from solver.exporting.program import Command
from solver.exporting.run import Run
from tests.exporting.runs import laid_out, shipped_plans, shipped_run, worked
from tests.exporting.test_huggingface import PLANS, WRITERS, loaded
from tests.exporting.test_megatron import PLANS as MEGATRON_PLANS

OWN = {
    framework: [n for n in PLANS if shipped_plans()[n].framework == framework]
    for framework in WRITERS
}


@pytest.mark.parametrize("name", OWN["pytorch-fsdp"])
def test_accelerate_reads_its_config(name: str, tmp_path: Path) -> None:
    """Tests the YAML with accelerate's loader and the parser of its launch."""
    pytest.importorskip("accelerate", reason="accelerate is not installed")
    from accelerate.commands.config.config_args import load_config_from_file
    from accelerate.commands.launch import (
        _validate_launch_command,
        launch_command_parser,
    )

    run = shipped_run(name)
    command = fsdp.command(run)
    place = tmp_path / fsdp.CONFIG
    place.write_text(command.files[fsdp.CONFIG], encoding="utf-8")
    config = load_config_from_file(str(place))
    assert (config.num_processes, config.num_machines) == (run.gpus, run.nodes)
    words = ["--config_file", str(place), "train.py"]
    args, _, _ = _validate_launch_command(launch_command_parser().parse_args(words))
    assert args.use_fsdp == (run.layout.zero_stage > 1)
    if args.use_fsdp:
        assert args.fsdp_version == 2
        again = str(args.fsdp_reshard_after_forward).lower() == "true"
        assert again == (run.layout.zero_stage == 3)


@pytest.mark.parametrize("name", [*OWN["hf-trainer"], *OWN["pytorch-fsdp"]])
def test_transformers_takes_the_arguments(name: str, tmp_path: Path) -> None:
    """Tests TrainingArguments, LoraConfig and BitsAndBytesConfig with the real classes.

    A machine without a GPU has no bf16 there: that one check is turned off.
    """
    transformers = pytest.importorskip(
        "transformers", reason="transformers is not installed"
    )
    pytest.importorskip("torch", reason="PyTorch is not installed")
    run = shipped_run(name)
    asked = loaded(trainer.command(run), "run.json")
    arguments = asked["training_arguments"] | {"use_cpu": True}
    shares = arguments.pop("fsdp_config", None)
    arguments.pop("fsdp", None)
    made = transformers.TrainingArguments(
        output_dir=str(tmp_path), learning_rate=1e-4, seed=1, **arguments
    )
    assert made.max_steps == run.steps
    assert made.per_device_train_batch_size == run.layout.micro_batch
    assert made.gradient_accumulation_steps == run.layout.accumulation
    if shares is not None:
        made.fsdp, made.fsdp_config = True, dict(shares)
        plugin: dict[str, Any] = made._process_fsdp_args()
        assert plugin["fsdp_version"] == 2
        assert plugin["reshard_after_forward"] == (run.layout.zero_stage == 3)
    if asked["quantization"]:
        kept = transformers.BitsAndBytesConfig(**asked["quantization"])
        assert kept.load_in_4bit == run.layout.base.startswith("nf4")
    if asked["lora"]:
        peft = pytest.importorskip("peft", reason="PEFT is not installed")
        lora = peft.LoraConfig(lora_alpha=8, **asked["lora"])
        assert lora.r == run.workload.lora_rank


TINY = """
import sys
from datasets import Dataset
from transformers import LlamaConfig, LlamaForCausalLM
sizes = {"num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 4}
config = LlamaConfig(intermediate_size=128, vocab_size=100, **sizes)
LlamaForCausalLM(config).save_pretrained(sys.argv[1] + "/model")
rows = [[i % 100 for i in range(k, k + 16)] for k in range(64)]
Dataset.from_dict({"input_ids": rows}).save_to_disk(sys.argv[1] + "/data")
"""


def tiny_run(**layout: Any) -> Run:
    """A run of a model of two layers for four steps on two ranks."""
    usual = {
        "dp": 2,
        "shard_degree": 2,
        "micro_batch": 2,
        "accumulation": 2,
        "precision": "fp32",
        "recompute": "full",
    }
    sizes = {"layers": 2, "hidden": 64, "heads": 4}
    run = laid_out(shipped_run("full-7b-l40s"), sizes, **usual | layout)
    run = worked(run, sequence_length=16)
    return replace(run, plan=replace(run.plan, steps=4), checkpoint_steps=2)


def trained(command: Command, folder: Path, **arguments: Any) -> list[str]:
    """Train the model of two layers on two CPU ranks; what lies beside the result."""
    subprocess.run([sys.executable, "-c", TINY, str(folder)], check=True)
    for name, text in command.files.items():
        (folder / name).write_text(text, encoding="utf-8")
    asked = json.loads(command.files["run.json"])
    asked.get("training_arguments", {}).update(arguments)
    (folder / "run.json").write_text(json.dumps(asked), encoding="utf-8")
    said = {"MODEL": "model", "DATA_PATH": "data", "CHECKPOINT_DIR": "checkpoints"}
    values = {name: str(folder / place) for name, place in said.items()}
    torchrun = (sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2")
    for _ in range(2):  # the second time there is nothing left to do
        done = subprocess.run(
            [*torchrun, "--standalone", "--max-restarts", "0", command.program],
            cwd=folder,
            env={**os.environ, **values, "LR": "1e-3", "SEED": "1"},
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr[-3000:]
    return sorted(path.name for path in (folder / "checkpoints").iterdir())


def test_trainer_trains(tmp_path: Path) -> None:
    """Tests the program for Trainer from data to checkpoints, and once more."""
    for package in ("torch", "transformers", "datasets"):
        pytest.importorskip(package, reason=f"{package} is not installed")
    command = trainer.command(tiny_run(zero_stage=0, shard_degree=1))
    found = trained(command, tmp_path, use_cpu=True)
    assert found == ["checkpoint-2", "checkpoint-4", "final"]


def test_deepspeed_trains(tmp_path: Path) -> None:
    """Tests the program for DeepSpeed with ZeRO-3 and SGD, which compiles nothing."""
    for package in ("deepspeed", "transformers", "datasets"):
        pytest.importorskip(package, reason=f"{package} is not installed")
    command = deepspeed.command(tiny_run(zero_stage=3, optimizer="sgd"))
    found = trained(command, tmp_path)
    assert {"global_step2", "global_step4", "latest"} <= set(found)
    assert "global_step6" not in found


class Replicas:
    """Stands in for the model-parallel unit that tells DeepSpeed its replicas."""

    def __init__(self, replicas: int) -> None:
        self._replicas = replicas

    def get_data_parallel_world_size(self) -> int:
        """Return the number of replicas."""
        return self._replicas


@pytest.mark.parametrize(
    "name", [*OWN["deepspeed"], *OWN["pytorch-fsdp"], *OWN["hf-trainer"]]
)
def test_deepspeed_takes_its_config(name: str) -> None:
    """Tests the JSON with DeepSpeedConfig, which checks the batch's arithmetic."""
    found = pytest.importorskip("deepspeed", reason="DeepSpeed is not installed")
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", "29511")
    found.init_distributed("gloo", auto_mpi_discovery=False, rank=0, world_size=1)
    from deepspeed.runtime.config import DeepSpeedConfig

    run = shipped_run(name)
    layout = run.layout
    config = json.loads(deepspeed.command(run).files["ds_config.json"])
    read = DeepSpeedConfig(config, mpu=Replicas(layout.dp))
    assert read.train_batch_size == layout.global_batch_size
    assert read.train_micro_batch_size_per_gpu == layout.micro_batch
    assert read.gradient_accumulation_steps == layout.accumulation
    assert int(read.zero_config.stage) == layout.zero_stage
    assert read.tensor_parallel_config.autotp_size == (
        layout.tp if layout.tp > 1 else 0
    )
    with pytest.raises(AssertionError):
        DeepSpeedConfig(config, mpu=Replicas(layout.dp + 1))


@pytest.mark.parametrize(
    ("name", "parameters"), [("full-7b-l40s", 6_738_415_616), ("sft-8b", 8_030_261_248)]
)
def test_torchtitan_takes_its_configuration(
    name: str, parameters: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests planned.py with torchtitan's manager, its ranks, and the model's size."""
    titan = pytest.importorskip(
        "torchtitan.config", reason="torchtitan is not installed"
    )
    import torch
    from torchtitan.distributed import ParallelDims

    run = shipped_run(name)
    command = torchtitan.command(run)
    for file, text in command.files.items():
        (tmp_path / file).write_text(text, encoding="utf-8")
    for one in command.variables:
        monkeypatch.setenv(one.name, one.default or "1")
    monkeypatch.syspath_prepend(tmp_path)
    sys.modules.pop("planned", None)
    read = titan.ConfigManager().parse_args(list(command.arguments))
    ways = read.parallelism
    ParallelDims(
        dp_replicate=ways.data_parallel_replicate_degree,
        dp_shard=ways.data_parallel_shard_degree,
        cp=ways.context_parallel_degree,
        tp=ways.tensor_parallel_degree,
        pp=ways.pipeline_parallel_degree,
        ep=ways.expert_parallel_degree,
        world_size=run.gpus,
    )
    assert read.training.steps == run.steps
    with torch.device("meta"):
        model = read.model_spec.model.build()
    assert sum(part.numel() for part in model.parameters()) == parameters


READ = """
import argparse, json, sys, typing
import typing_extensions
typing.override = typing_extensions.override  # of Python 3.12
sys.path.insert(0, sys.argv[1])
from megatron.training.arguments import add_megatron_arguments
parser = argparse.ArgumentParser(allow_abbrev=False)
add_megatron_arguments(parser)
told = [vars(parser.parse_args(words)) for words in json.load(sys.stdin)]
names = ("num_layers", "global_batch_size", "moe_layer_freq")
print(json.dumps([{name: one[name] for name in names} for one in told]))
"""


def test_megatron_takes_its_arguments() -> None:
    """Tests every shipped plan's arguments with Megatron-LM's own parser."""
    folder = os.environ.get("MEGATRON_LM")
    if not folder:
        pytest.skip("MEGATRON_LM names no folder of Megatron-LM")
    pytest.importorskip("torch", reason="PyTorch is not installed")
    runs = [shipped_run(name) for name in MEGATRON_PLANS]
    words = [
        ["7" if word.startswith("${") else word for word in command.arguments]
        for command in map(megatron.command, runs)
    ]
    done = subprocess.run(
        [sys.executable, "-c", READ, folder],
        input=json.dumps(words),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    told = json.loads(done.stdout.splitlines()[-1])
    for run, one in zip(runs, told, strict=True):
        assert one["num_layers"] == run.architecture.layers
        assert one["global_batch_size"] == run.layout.global_batch_size
