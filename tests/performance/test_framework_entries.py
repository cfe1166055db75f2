"""The shipped framework classes: what they map and what they promise."""

import re

import pytest

from solver.catalog.load import load_catalog
from tests.performance.cases import FRAMEWORK_NAMES, framework

TEXTS = {
    "nanotron (3D parallel, 1F1B)": "nanotron",
    "torchtitan + torchao": "torchtitan",
    "Megatron-LM 23e00ed + TE 2.11": "megatron",
    "Megatron-DeepSpeed": "megatron",
    "Megatron-DeepSpeed (Sailor fork)": "megatron",
    "Megatron-Bridge (NeMo 26.02 container)": "megatron",
    "NVIDIA NeMo Framework Release 24.04": "megatron",
    "NGC MXNet 23.09, NGC PyTorch 23.09": "megatron",
    "DeepSpeed+Megatron ZeRO3(mp=8)": "deepspeed",
    "HF Trainer + DeepSpeed": "deepspeed",
    "LLaMA-Factory ZeRO-3": "deepspeed",
    "ColossalAI (ColossalChat SFT)": "deepspeed",
    "xtuner (DeepSpeed ZeRO-3 + sequence parallel)": "deepspeed",
    "llm-foundry (Composer FSDP)": "pytorch-fsdp",
    "lit-gpt (Fabric)": "pytorch-fsdp",
    "litgpt + torch.compile inductor, FSDP2 ZeRO-2": "pytorch-fsdp",
    "torchtune FSDP2 + CPU offload": "pytorch-fsdp",
    "fsdp_qlora (PyTorch FSDP1)": "pytorch-fsdp",
    "PyTorch FSDP (AWS sample)": "pytorch-fsdp",
    "HF Trainer + fms-acceleration (accelerated-peft-bnb-foak)": "hf-trainer",
    "ms-swift (HF Trainer)": "hf-trainer",
    "HF accelerate FSDP": "hf-trainer",
    "LLaMA-Factory": "hf-trainer",
    "Unsloth": "hf-trainer",
}


@pytest.mark.parametrize(("text", "name"), TEXTS.items())
def test_each_text_has_one_class(text: str, name: str) -> None:
    """Tests that a measurement's framework belongs to one class, in any order."""
    matched = [
        entry_id
        for entry_id, entry in load_catalog().frameworks.items()
        if any(re.search(pattern, text) for pattern in entry.patterns)
    ]
    assert matched == [name]


def test_all_classes_are_shipped() -> None:
    """Tests that the catalog holds the six classes, each with source and date."""
    entries = load_catalog().frameworks
    assert set(FRAMEWORK_NAMES) <= set(entries)
    for entry in entries.values():
        assert entry.source
        assert entry.as_of


@pytest.mark.parametrize("name", FRAMEWORK_NAMES)
def test_axes_and_stages_agree(name: str) -> None:
    """Tests that a class with pipelines says how it shards them, and no other does."""
    traits = framework(name)
    assert bool(traits.zero_stages_with_pp) == traits.pipeline_parallel
    assert set(traits.zero_stages_with_pp) <= set(traits.zero_stages)
    assert traits.virtual_stages <= traits.pipeline_parallel
    assert traits.sequence_parallel <= traits.tensor_parallel
    if name in ("megatron", "deepspeed", "nanotron"):
        assert max(traits.zero_stages_with_pp) == 1
