"""Tests of models given by their sizes, and of counting parameters."""

import pytest

from solver.scenario.parameters import active_parameters
from tests.scenario.reading import faults, only_fault, read, shipped_catalog

SIZES = "layers: 32, hidden: 4096, ffn: 11008, heads: 32, vocab: 32000"
MIXTURE = "n_experts: 8, experts_topk: 2"


def model(sizes: str) -> str:
    """Return a scenario of an inline model."""
    return f"model: {{{sizes}}}\nworkload: {{tokens: 1T}}\n"


def test_sizes_and_their_defaults() -> None:
    """Tests a dense model of five sizes."""
    found = read(model(SIZES)).architecture
    assert (found.layers, found.hidden, found.ffn) == (32, 4096, 11008)
    assert (found.heads, found.kv_heads, found.head_dim) == (32, 32, 128)
    assert found.gated
    assert (found.n_experts, found.moe_ffn) == (0, 0)
    assert found.source == "stated in s.yaml:1:1"
    assert active_parameters(found) == pytest.approx(6.74e9, rel=0.005)


def test_a_mixture() -> None:
    """Tests that experts are as wide as the layer unless stated."""
    found = read(model(f"{SIZES}, {MIXTURE}, kv_heads: 8, name: mix")).architecture
    assert (found.n_experts, found.experts_topk, found.moe_ffn) == (8, 2, 11008)
    assert (found.name, found.kv_heads) == ("mix", 8)


@pytest.mark.parametrize(
    ("more", "code", "path"),
    [
        ("kv_heads: 5", "not-divisible", "model.kv_heads"),
        ("kv_heads: 64", "not-divisible", "model.kv_heads"),
        ("n_experts: 1", "contradiction", "model.n_experts"),
        ("experts_topk: 2", "contradiction", "model.experts_topk"),
        ("n_experts: 8", "contradiction", "model.experts_topk"),
        ("n_experts: 8, experts_topk: 9", "contradiction", "model.experts_topk"),
        (
            f"{MIXTURE}, first_dense_layers: 32",
            "contradiction",
            "model.first_dense_layers",
        ),
        ("gated: maybe", "wrong-type", "model.gated"),
        ("layer: 3", "unknown-key", "model.layer"),
        ("kv_lora_rank: 512, qk_nope_dim: 128, qk_rope_dim: 64", "missing-key",
         "model.v_head_dim"),
    ],
)  # fmt: skip
def test_wrong_sizes(more: str, code: str, path: str) -> None:
    """Tests that sizes that do not go together are told."""
    issue = only_fault(model(f"{SIZES}, {more}"))
    assert (issue.code, issue.path) == (code, path)


def test_heads_that_do_not_divide_the_width() -> None:
    """Tests that a head size has to be stated where it does not follow."""
    sizes = SIZES.replace("heads: 32", "heads: 31")
    assert only_fault(model(sizes)).path == "model.heads"
    assert read(model(f"{sizes}, head_dim: 128")).architecture.head_dim == 128


def test_missing_sizes() -> None:
    """Tests that every missing size is named."""
    found = faults(model("layers: 32"))
    assert {issue.path for issue in found} == {
        "model.hidden",
        "model.ffn",
        "model.heads",
        "model.vocab",
    }


def test_counts_agree_with_published_ones() -> None:
    """Tests that counting by sizes gives the catalog's published parameters."""
    catalog = shipped_catalog()
    for name in ("llama-2-7b", "llama-3-70b", "llama-3.1-405b", "qwen2-72b", "gpt2"):
        entry = catalog.architecture(name)
        counted = entry.model_copy(
            update={"reported_params_b": None, "active_params_b": None}
        )
        assert entry.reported_params_b is not None
        assert active_parameters(counted) == pytest.approx(
            entry.reported_params_b * 1e9, rel=0.01
        )


def test_active_parameters_of_mixtures() -> None:
    """Tests that only visited experts count."""
    catalog = shipped_catalog()
    for name, active in (("mixtral-8x7b-v0.1", 12.9e9), ("deepseek-v3", 37e9)):
        entry = catalog.architecture(name).model_copy(update={"active_params_b": None})
        assert active_parameters(entry) == pytest.approx(active, rel=0.03)
