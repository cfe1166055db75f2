"""Tests of what blanks of a row are filled with."""

from collections.abc import Mapping

import pytest

from solver.accuracy.cases import Case
from solver.accuracy.filling import case_from
from solver.accuracy.tables import SkippedRowError, TableRow
from solver.catalog.load import load_catalog
from tests.accuracy.tables import STEP, without

CATALOG = load_catalog(())


def case_of(cells: Mapping[str, str], *metrics: str) -> Case:
    """Return the case of one row."""
    wanted = metrics or ("step_time",)
    return case_from(TableRow("row", "t.csv:2", wanted, cells), CATALOG)


def test_nothing_is_assumed_where_all_is_stated() -> None:
    """Tests that a row that says everything has no assumptions."""
    case = case_of(STEP)
    assert case.assumed == {}
    assert case.layout["accumulation"] == 8
    assert case.layout["shard_degree"] == 8
    assert case.shape.layers == 32


@pytest.mark.parametrize(
    ("blank", "field", "value"),
    [
        ("tp", "tp", 1),
        ("mbs", "micro_batch", 4),
        ("gbs", "accumulation", 1),
        ("zero_stage", "zero_stage", 1),
        ("recompute", "recompute", 0),
        ("n_gpus", "dp", 8),
    ],
)
def test_a_blank_is_filled_and_listed(blank: str, field: str, value: int) -> None:
    """Tests that each blank has its rule and is named among the assumptions."""
    case = case_of(without(STEP, blank))
    assert case.layout[field] == value
    assert blank in case.assumed


@pytest.mark.parametrize("column", ["ffn", "heads", "kv_heads", "vocab", "gated"])
def test_sizes_that_follow_from_others(column: str) -> None:
    """Tests that a shape needs layers and hidden size only."""
    case = case_of(without(STEP, column))
    assert column in case.assumed
    assert case.shape.hidden == 4096


def test_a_shape_comes_from_the_models_name() -> None:
    """Tests that a catalog model's name is enough of a shape."""
    named = {**without(STEP, "layers", "hidden"), "model": "Llama-2-7B"}
    assert case_of(named).shape.ffn == 11008
    with pytest.raises(SkippedRowError, match="shape"):
        case_of({**named, "model": "Nobody's 7B"})
    with pytest.raises(SkippedRowError) as caught:
        case_of({**named, "model": "lama-2-7b"})
    assert "did you mean 'llama-2-7b'" in caught.value.what


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        ({"mbs": "", "gbs": ""}, "micro-batch"),
        ({"gpu": "Abacus 3000"}, "no GPU 'Abacus 3000'"),
        ({"step_time_s": ""}, "nothing was measured"),
        ({"step_time_s": "-4"}, "step_time_s '-4' is not a positive number"),
        ({"step_time_s": "fast"}, "step_time_s 'fast' is not a positive number"),
        ({"tp": "16"}, "more than the 8 GPUs"),
    ],
)
def test_rows_that_cannot_be_predicted(cells: dict[str, str], reason: str) -> None:
    """Tests that what is essential is asked for."""
    with pytest.raises(SkippedRowError, match=reason):
        case_of({**STEP, **cells})


@pytest.mark.parametrize(
    ("cells", "framework", "year"),
    [
        ({"framework": "Megatron-DeepSpeed", "year": ""}, "megatron", 2022.0),
        ({"framework": "Megatron-LM 2021", "year": ""}, "megatron", 2021.0),
        ({"framework": "NeMo 24.05", "year": "2024"}, "megatron", 2024.0),
        ({"framework": "litgpt (Fabric)", "year": ""}, "pytorch-fsdp", None),
        ({"framework": "", "tp": "2", "year": ""}, "megatron", None),
        ({"framework": "InternEvo"}, "megatron", 2025.0),
        ({"framework": "MosaicML llm-foundry"}, "pytorch-fsdp", 2025.0),
        ({"framework": "Hugging Face Trainer"}, "hf-trainer", 2025.0),
        ({"framework": "Hugging Face + DeepSpeed"}, "deepspeed", 2025.0),
        ({"framework": "AMD Primus"}, "megatron", 2025.0),
        (
            {"framework": "", "source": "MLPerf v5.1 (AMD)", "method": "lora"},
            "megatron",
            2025.0,
        ),
    ],
)
def test_software(cells: dict[str, str], framework: str, year: float | None) -> None:
    """Tests that free text leads to a framework class and a year."""
    case = case_of({**STEP, **cells})
    assert (case.framework_id, case.year) == (framework, year)


def test_old_megatron_recomputes_all() -> None:
    """Tests that blanks are filled as the software of the time had them."""
    old = {**without(STEP, "recompute", "sp"), "year": "2021", "tp": "2"}
    case = case_of(old)
    assert case.layout["recompute"] == 2
    assert case.layout["sequence_parallel"] == 0
    new = case_of({**old, "year": "2025"})
    assert new.layout["recompute"] == 0
    assert new.layout["sequence_parallel"] == 1


def test_pure_bf16() -> None:
    """Tests that remarks decide on the bytes of weights and moments."""
    hf = {**STEP, "framework": "HF Trainer", "n_gpus": "1", "gbs": "4"}
    assert case_of(hf).job.optimizer.name == "adamw-bf16"
    assert case_of({**hf, "n_gpus": "8"}).job.optimizer.name == "adamw"
    amp = {**hf, "n_gpus": "8", "note": "HF Trainer AMP flag=False; liger"}
    case = case_of(amp)
    assert case.job.optimizer.name == "adamw-bf16"
    assert case.framework.logit_bytes == 0.0


@pytest.mark.parametrize(
    ("cells", "field", "value"),
    [
        ({"framework": "HF PEFT", "method": "qlora"}, "qlora_ends_bytes", 4.0),
        ({"framework": "HF + accelerated-peft-bnb"}, "qlora_ends_bytes", 2.0),
    ],
)
def test_what_a_program_does_to_memory(
    cells: dict[str, str], field: str, value: float
) -> None:
    """Tests that texts tell what is cast."""
    hf = {**STEP, "framework": "HF Trainer", **cells}
    assert getattr(case_of(hf).framework, field) == value


@pytest.mark.parametrize(
    ("cells", "offload"),
    [
        ({"framework": "Unsloth"}, "activations to host"),
        ({"framework": "HF Trainer"}, "none"),
        ({"note": "CPU param offload; dummy data"}, "parameters to host"),
        ({"note": "ZeRO-3 + optimizer CPU offload"}, "optimizer to host"),
        ({"optimizer": "CPU Adam"}, "optimizer to host"),
        ({"framework": "OpenRLHF adam_offload"}, "optimizer to host"),
    ],
)
def test_what_a_program_moves_to_the_host(cells: dict[str, str], offload: str) -> None:
    """Tests that texts tell what left the GPU, and that the CPU then runs AdamW."""
    job = case_of({**STEP, "framework": "HF Trainer", **cells}).job
    assert (str(job.offload), job.optimizer.name) == (offload, "adamw")


def test_embeddings_that_train_beside_adapters() -> None:
    """Tests that a remark tells of whole matrices beside adapters, in LoRA only."""
    hf = {**STEP, "framework": "HF Trainer", "note": "method LoRA (emb)"}
    assert case_of({**hf, "method": "lora"}).job.trains_ends
    assert not case_of({**hf, "method": "full"}).job.trains_ends
    assert not case_of({**hf, "method": "lora", "note": ""}).job.trains_ends


def test_quantised_training_recomputes() -> None:
    """Tests that PEFT's QLoRA and TRL recompute where a row does not say."""
    blank = {**without(STEP, "recompute"), "framework": "HF Trainer"}
    assert case_of({**blank, "method": "qlora"}).layout["recompute"] == 2
    assert case_of({**blank, "method": "lora"}).layout["recompute"] == 0
    assert case_of({**blank, "framework": "HF TRL"}).layout["recompute"] == 2


def test_layers_spread_over_gpus() -> None:
    """Tests that a device_map is a pipeline with one micro-batch in flight."""
    spread = {
        **without(STEP, "pp", "dp"),
        "framework": "HF PEFT",
        "n_gpus": "4",
        "gbs": "16",
        "note": "device_map layer split",
    }
    case = case_of(spread)
    assert (case.layout["pp"], case.layout["dp"]) == (4, 1)
    assert (case.layout["accumulation"], case.batch_scale) == (1, 16.0)


def test_remarks_on_a_mixtures_layers() -> None:
    """Tests that counts of dense layers and of shared experts are read."""
    mixture = {
        **STEP,
        "n_experts": "64",
        "topk": "8",
        "moe_ffn": "2048",
        "note": "1 dense + 31 MoE layers; shared expert FFN 4096",
    }
    shape = case_of(mixture).shape
    assert (shape.first_dense_layers, shape.shared_experts) == (1, 2)


def test_reserved_memory_is_told_from_allocated() -> None:
    """Tests what kind of peak a row holds."""
    peak = {**without(STEP, "step_time_s"), "peak_memory_gib": "40"}
    kinds = {
        kind: case_of({**peak, "memory_kind": kind}, "memory").measured.reserved
        for kind in ("reserved", "allocated", "nvidia-smi", "unknown")
    }
    assert kinds == {
        "reserved": True,
        "allocated": False,
        "nvidia-smi": True,
        "unknown": False,
    }


def test_power_limits_and_odd_names() -> None:
    """Tests that brackets are read as a power limit and odd sizes as the family."""
    case = case_of({**STEP, "gpu": "H100-96GB-HBM2e (500W)"})
    assert case.gpu == "h100-sxm-80gb"
    assert case.hardware_key[1] == 500.0
    whole = case_of({**STEP, "gpu": "H100"})
    assert case.hardware.gemm_efficiency < whole.hardware.gemm_efficiency


def test_torchtitan_names_the_batch_of_a_replica() -> None:
    """Tests that its pipeline divides that batch by the stages, and keeps weights."""
    titan = {**STEP, "framework": "torchtitan", "pp": "4", "mbs": "8", "gbs": "16"}
    case = case_of({**titan, "dp": "2", "zero_stage": "fsdp"})
    assert (case.layout["micro_batch"], case.layout["accumulation"]) == (2, 4)
    assert case.layout["zero_stage"] == 2
    few = case_of({**titan, "dp": "2", "mbs": "2", "gbs": "4"})
    assert (few.layout["micro_batch"], few.layout["accumulation"]) == (1, 2)


def test_a_batch_that_does_not_divide_is_scaled() -> None:
    """Tests that the prediction is of as many sequences as were measured."""
    case = case_of({**STEP, "gbs": "60", "mbs": "4"})
    assert case.layout["accumulation"] == 2
    assert case.batch_scale == pytest.approx(60 / 64)


@pytest.mark.parametrize(
    ("cells", "column", "told"),
    [
        ({"mbs": "16"}, "mbs", "8: the batch of a replica"),
        ({"dp": "4"}, "dp", "8: the GPUs over tp x pp x cp"),
        ({"gpus_per_node": "72"}, "gpus_per_node", "8: no node has 72 GPUs"),
    ],
)
def test_what_is_not_taken_as_written_is_told(
    cells: dict[str, str], column: str, told: str
) -> None:
    """Tests that a cell is never replaced in silence."""
    assert case_of({**STEP, **cells}).assumed[column].startswith(told)


@pytest.mark.parametrize(
    ("text", "stage", "ranks"),
    [
        ("2.0", 2, 16),
        ("zero-3", 3, 16),
        ("SHARD_GRAD_OP", 2, 16),
        ("NO_SHARD", 0, 1),
        ("FULL_SHARD", 3, 16),
        ("HYBRID_SHARD", 3, 8),
        ("hsdp", 3, 8),
    ],
)
def test_names_of_sharding(text: str, stage: int, ranks: int) -> None:
    """Tests that sharding is read by name, hybrid sharding within a node."""
    row = {**STEP, "n_gpus": "16", "dp": "16", "framework": "PyTorch FSDP"}
    layout = case_of({**row, "zero_stage": text}).layout
    assert (layout["zero_stage"], layout["shard_degree"]) == (stage, ranks)


def test_a_pipeline_shards_what_its_framework_can() -> None:
    """Tests that DeepSpeed's pipeline is not given ZeRO 3, which it refuses."""
    row = {**STEP, "framework": "DeepSpeed", "pp": "2", "dp": "4", "zero_stage": ""}
    assert case_of(row).layout["zero_stage"] == 1


@pytest.mark.parametrize(("text", "kind"), [("yes", 2), ("0", 0), ("full:uniform", 2)])
def test_words_for_recomputation(text: str, kind: int) -> None:
    """Tests that recomputation may be told with yes or no."""
    assert case_of({**STEP, "recompute": text}).layout["recompute"] == kind


@pytest.mark.parametrize(
    ("name", "gpu"),
    [
        ("8xH100", "h100-sxm-80gb"),
        ("8 x A100 40GB", "a100-sxm-40gb"),
        ("H200 x8", "h200-sxm-141gb"),
    ],
)
def test_names_with_a_number_of_gpus(name: str, gpu: str) -> None:
    """Tests that '8x' is no part of a GPU's name."""
    assert case_of({**STEP, "gpu": name}).gpu == gpu


@pytest.mark.parametrize(
    ("gpu", "precision", "taken"),
    [
        ("gaudi2", "fp32", "bf16"),
        ("v100-sxm-32gb", "bf16", "fp16"),
        ("a100-sxm-80gb", "mxfp4", "bf16"),
        ("h100-sxm-80gb", "nvfp4", "fp8"),
    ],
)
def test_what_a_gpu_lacks(gpu: str, precision: str, taken: str) -> None:
    """Tests that no pair of GPU and precision stops the rest."""
    case = case_of({**STEP, "gpu": gpu, "precision": precision})
    assert case.precision == taken
    assert case.assumed["precision"] == taken
    assert case.hardware.peak_precision > 0
