"""Tests of gradients and weights that only some frameworks keep so."""

from __future__ import annotations

import pytest

from solver.errors import InputError
from tests.planning.jobs import job


@pytest.mark.parametrize(
    ("work", "path", "text"),
    [
        (
            {"framework": "pytorch-fsdp", "gradient_precision": "bf16"},
            "workload.gradient_precision",
            "pytorch-fsdp leaves no choice of it; deepspeed, megatron can keep them in",
        ),
        (
            {"gradient_precision": "fp8"},
            "workload.gradient_precision",
            "bf16",
        ),
        (
            {"method": "lora", "framework": "megatron", "gradient_precision": "fp32"},
            "workload.gradient_precision",
            "adapters",
        ),
        (
            {"framework": "deepspeed", "precision": "fp8", "fp8_weights": True},
            "workload.fp8_weights",
            "deepspeed does not keep weights in 8 bits; megatron does",
        ),
        ({"fp8_weights": True}, "workload.fp8_weights", "compute in fp8 or mxfp8"),
    ],
)
def test_what_cannot_be_is_told(work: dict[str, object], path: str, text: str) -> None:
    """Tests one fault at its place, with what would do."""
    with pytest.raises(InputError) as raised:
        job(workload=work)
    (issue,) = raised.value.issues
    assert issue.path == path
    assert text in f"{issue.message} {issue.hint}"
