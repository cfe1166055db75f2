"""Parameters and FLOPs against the papers' formulas and published sizes."""

import math
from dataclasses import replace

import pytest

from solver.catalog.load import load_catalog
from solver.performance import transformer
from solver.performance.inputs import TransformerShape
from solver.physics_inputs import shape_of
from tests.performance.cases import (
    BLOOM,
    CODELLAMA_34B,
    DEEPSEEK_V3,
    GPT3,
    LLAMA1_33B,
    LLAMA1_65B,
    LLAMA2_7B,
    LLAMA2_13B,
    LLAMA2_70B,
    LLAMA3_8B,
    LLAMA3_70B,
    LLAMA31_405B,
    MIXTRAL,
    PYTHIA_1B,
    STARCODER,
    job,
    plain,
)

PUBLISHED_BILLIONS = [
    (GPT3, 174.6, 0.05),
    (BLOOM, 176.25, 0.05),
    (PYTHIA_1B, 1.011, 0.002),
    (STARCODER, 15.5, 0.08),
    (LLAMA1_33B, 32.5, 0.05),
    (LLAMA1_65B, 65.2, 0.1),
    (LLAMA2_7B, 6.738, 0.001),
    (LLAMA2_13B, 13.016, 0.001),
    (LLAMA2_70B, 68.977, 0.002),
    (CODELLAMA_34B, 33.74, 0.01),
    (LLAMA3_8B, 8.03, 0.001),
    (LLAMA3_70B, 70.55, 0.01),
    (LLAMA31_405B, 405.85, 0.01),
    (MIXTRAL, 46.70, 0.01),
    (DEEPSEEK_V3, 671.03, 0.1),
]


@pytest.mark.parametrize(("shape", "billions", "tolerance"), PUBLISHED_BILLIONS)
def test_parameter_count(
    shape: TransformerShape, billions: float, tolerance: float
) -> None:
    """Tests that totals agree with the published sizes to their rounding."""
    count = transformer.parameter_count(shape) / 1e9
    assert count == pytest.approx(billions, abs=tolerance)


@pytest.mark.parametrize(
    ("shape", "billions"), [(MIXTRAL, 12.88), (DEEPSEEK_V3, 37.55), (LLAMA3_8B, 8.03)]
)
def test_active_parameters(shape: TransformerShape, billions: float) -> None:
    """Tests that a token's own parameters are the top-k experts and all the rest."""
    active = transformer.active_parameter_count(shape) / 1e9
    assert active == pytest.approx(billions, rel=0.002)


def test_plain_transformer_formula() -> None:
    """Tests equation 2 of Narayanan et al. 2021, apart from the final norm."""
    h, layers, vocab, s = GPT3.hidden, GPT3.layers, GPT3.vocab, 2048
    formula = 12 * layers * h**2 * (1 + 13 / (12 * h) + (vocab + s) / (12 * layers * h))
    assert transformer.parameter_count(GPT3) - 2 * h == pytest.approx(
        formula, rel=1e-12
    )
    assert formula / 1e9 == pytest.approx(174.6, abs=0.05)


@pytest.mark.parametrize("shape", [shape for shape, _, _ in PUBLISHED_BILLIONS])
def test_parts_add_up(shape: TransformerShape) -> None:
    """Tests that the parts of all layers and the ends make the whole."""
    parts = transformer.parameters(shape)
    layers = parts.dense_layers + parts.moe_layers
    assert layers == shape.layers
    total = layers * (parts.attention + parts.norms) + parts.dense_layers * parts.mlp
    total += parts.moe_layers * (parts.router + parts.shared_experts)
    total += parts.routed_experts
    total += parts.embedding + parts.positions + parts.head + parts.final_norm
    assert total == parts.total


LOOSELY_REPORTED = {
    "falcon-180b": "named 180B; 178.6 or 179.5 with the head's own matrix",
    "glm-4.5": "reported with its next-token-prediction layer",
    "glm-4.5-air": "reported in whole billions of another count",
    "gpt3-medium": "printed as 350M, 356M by its own table's sizes",
    "grok-1": "printed as 314B without what the config adds",
}
"""Architectures whose printed size is no rounding of their own shape."""


def test_shipped_architectures() -> None:
    """Tests that shipped sizes agree with the reported ones to 0.5 % or rounding."""
    catalog = load_catalog()
    checked = 0
    for name in catalog.architecture_files:
        entry = catalog.architecture(name)
        if entry.reported_params_b is None:
            continue
        count = transformer.parameter_count(shape_of(entry)) / 1e9
        reported = entry.reported_params_b
        digits = len(f"{reported:g}".partition(".")[2])
        rounding = 0.5 * 10**-digits
        share = 0.02 if name in LOOSELY_REPORTED else 0.005
        assert abs(count - reported) <= max(share * reported, rounding), name
        checked += 1
    assert checked > 20


def test_iteration_flops_formula() -> None:
    """Tests equation 3 of Narayanan et al. 2021 on GPT-3 with a batch of 1,536."""
    batch, s, h, layers, vocab = 1536, 2048, 12288, 96, 51200
    formula = 96 * batch * s * layers * h**2
    formula *= 1 + s / (6 * h) + vocab / (16 * layers * h)
    got = transformer.iteration_flops(GPT3, job(s), batch, "full", "full")
    assert got == pytest.approx(formula, rel=1e-12)


@pytest.mark.parametrize(
    ("parameters", "tokens", "gpus", "tflops", "days"),
    [(174.6e9, 300e9, 1024, 140, 34), (1e12, 450e9, 3072, 163, 84)],
)
def test_training_time_rule(
    parameters: float, tokens: float, gpus: int, tflops: float, days: float
) -> None:
    """Tests that eight FLOPs a parameter and token give the paper's training days."""
    shape = GPT3 if parameters < 1e12 else plain(128, 25600, 160, 51200, 2048)
    work = job(2048)
    per_token = transformer.model_flops_per_token(shape, work, "full")
    per_token += transformer.recompute_flops_per_token(shape, work, "full", "full")
    assert per_token == pytest.approx(8 * parameters, rel=0.06)
    seconds = 8 * parameters * tokens / (gpus * tflops * 1e12)
    assert seconds / 86400 == pytest.approx(days, abs=0.8)


def test_causal_half() -> None:
    """Tests that skipping masked blocks halves attention and nothing else."""
    half = transformer.forward_flops(LLAMA3_8B, 8192)
    full = transformer.forward_flops(LLAMA3_8B, 8192, causal="full")
    assert full.attention == 2 * half.attention
    assert full.linear == half.linear
    # 4 s d a a token and layer
    assert full.attention == 4 * 8192 * 128 * 32


def test_short_documents_need_less_attention() -> None:
    """Tests that a mean document of 2k at 32k brings 8B's FLOPs to two thirds."""
    whole = transformer.model_flops_per_token(LLAMA3_8B, job(32768))
    packed = transformer.model_flops_per_token(
        LLAMA3_8B, job(32768, attention_span=2048)
    )
    assert whole / packed == pytest.approx(1.5, abs=0.06)
    far = transformer.model_flops_per_token(LLAMA3_8B, job(131072))
    assert far / packed == pytest.approx(3.0, abs=0.2)


def test_sliding_window() -> None:
    """Tests the mean of the keys that a causal window lets each query see."""
    shape = replace(LLAMA3_8B, sliding_window=4)
    seen = [min(i + 0.5, 4) for i in range(16)]
    assert transformer.attended_tokens(shape, 16) == pytest.approx(
        sum(seen) / 16, abs=0.01
    )
    assert transformer.attended_tokens(shape, 4) == 2.0


def test_lora_flops_skip_frozen_weight_gradients() -> None:
    """Tests that LoRA costs about two thirds of full training, attention aside."""
    full = transformer.model_flops_per_token(LLAMA2_7B, job(512))
    lora = transformer.model_flops_per_token(LLAMA2_7B, job(512, "lora", rank=8))
    assert 0.64 < lora / full < 0.70


def test_adapter_parameters() -> None:
    """Tests the published size of adapters: 4.19M on q and v of Llama-2-7B."""
    adapters = transformer.adapter_parameters(LLAMA2_7B, 8, ("q", "v"))
    assert adapters == 4_194_304
    every = transformer.adapter_parameters(LLAMA2_7B, 8)
    by_hand = 32 * 8 * (4 * 2 * 4096 + 3 * (4096 + 11008))
    assert every == by_hand


def test_mixture_flops_use_top_k_experts() -> None:
    """Tests that a mixture's matmuls are those of its active parameters."""
    flops = transformer.forward_flops(MIXTRAL, 4096)
    active = transformer.active_parameter_count(MIXTRAL)
    embedding = MIXTRAL.vocab * MIXTRAL.hidden
    assert flops.linear + flops.head == pytest.approx(
        2 * (active - embedding), rel=1e-4
    )


@pytest.mark.parametrize(
    ("vocab", "tp", "padded"),
    [(50257, 1, 50304), (32000, 8, 32768), (128256, 8, 129024), (51200, 4, 51200)],
)
def test_padded_vocab(vocab: int, tp: int, padded: int) -> None:
    """Tests that the vocabulary is padded to a multiple of 128 x TP."""
    shape = plain(2, 64, 2, vocab, 16)
    assert transformer.padded_vocab(shape, tp) == padded
    assert padded % (128 * tp) == 0
    assert math.ceil(vocab / (128 * tp)) * 128 * tp == padded


def test_windows_in_some_layers() -> None:
    """Tests the mean keys of two layers with a window of 4 to one without, of 16."""
    shape = replace(LLAMA3_8B, layers=6, sliding_window=4, full_attention_every=3)
    assert shape.windowed_share == pytest.approx(2 / 3)
    near, everything = 4 - 4**2 / 32, 8.0
    assert transformer.attended_tokens(shape, 16) == pytest.approx(
        (2 * near + everything) / 3
    )
    assert transformer.attended_tokens(shape, 16, causal="full") == pytest.approx(
        (2 * 4 + 16) / 3
    )
    assert transformer.attended_tokens(shape, 4) == transformer.attended_tokens(
        LLAMA3_8B, 4
    )


def test_layers_that_no_full_one_falls_on_all_have_windows() -> None:
    """Tests 5 layers of which every sixth would look at everything."""
    shape = replace(LLAMA3_8B, layers=5, sliding_window=4, full_attention_every=6)
    assert shape.windowed_share == 1.0
    assert replace(shape, sliding_window=0).windowed_share == 0.0
