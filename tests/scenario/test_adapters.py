"""Tests of reading what adapters train on."""

from __future__ import annotations

import pytest

from tests.scenario.reading import notice_ids, only_fault, read


def written(method: str, lora: str, more: str = "") -> str:
    """Return a scenario of adapters."""
    return (
        f"model: llama-2-7b\nworkload: {{tokens: 1B, method: {method}, "
        f"lora: {{{lora}}}{more}}}\n"
    )


@pytest.mark.parametrize(
    ("method", "lora", "told"),
    [
        ("lora", "rank: 8", ("lora", "")),
        ("lora", "base: bf16", ("lora", "")),
        ("qlora", "rank: 8", ("qlora", "")),
        ("qlora", "base: nf4", ("qlora", "nf4")),
        ("qlora", "base: nf4-plain", ("qlora", "nf4_plain")),
        ("qlora", "base: INT8", ("qlora", "int8")),
    ],
)
def test_bases(method: str, lora: str, told: tuple[str, str]) -> None:
    """Tests method and format of the base as written."""
    scenario = read(written(method, lora))
    work = scenario.workload
    assert (work.method, work.lora_base) == told
    assert "notice.lora.quantised" not in notice_ids(scenario)


def test_lora_on_a_quantised_base_is_qlora() -> None:
    """Tests that it is read as such, and said."""
    scenario = read(written("lora", "base: int8"))
    assert (scenario.workload.method, scenario.workload.lora_base) == ("qlora", "int8")
    assert "notice.lora.quantised" in notice_ids(scenario)


def test_qlora_on_16_bits_is_a_contradiction() -> None:
    """Tests that it is told at the base, with what would do."""
    issue = only_fault(written("qlora", "base: bf16"))
    assert (issue.code, issue.path) == ("contradiction", "workload.lora.base")
    assert "int8, nf4 or nf4_plain" in issue.message
    assert "method: lora" in issue.message


def test_a_framework_without_quantised_bases() -> None:
    """Tests that LoRA on int8 is refused where the framework only has plain LoRA."""
    issue = only_fault(written("lora", "base: int8", ", framework: megatron"))
    assert issue.code == "framework-lacks-method"


def test_a_misspelt_base_is_told_with_the_nearest() -> None:
    """Tests the hint."""
    issue = only_fault(written("qlora", "base: nf-4"))
    assert (issue.code, issue.hint) == ("wrong-value", "nf4")
