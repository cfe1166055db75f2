"""Tests of what a scenario allows to leave the GPU."""

from __future__ import annotations

import pytest

from solver.errors import InputError
from tests.planning.jobs import job


def offloads(**work: object) -> tuple[tuple[str, str], ...]:
    """The pairs that a workload allows."""
    return job(workload=dict(work)).workload.offloads


def test_nothing_leaves_by_default() -> None:
    """Tests the default, and what a framework cannot do left out of any."""
    assert offloads() == (("none", "host"),)
    assert offloads(framework="nanotron", offload="any") == (("none", "host"),)
    assert offloads(offload="any") == (("none", "host"), ("optimizer", "host"))


def test_lists_keep_their_order() -> None:
    """Tests names and places, each pair once; activations only go to the host."""
    work = {"framework": "deepspeed", "offload_to": ["nvme", "host"]}
    assert offloads(offload=["parameters", "activations"], **work) == (
        ("parameters", "nvme"),
        ("parameters", "host"),
        ("activations", "host"),
    )
    assert len(offloads(offload=["none", "any"], **work)) == 2 + 4 * 2


@pytest.mark.parametrize(
    ("work", "path", "text"),
    [
        (
            {"offload": "parameters"},
            "workload.offload",
            "megatron cannot offload parameters; deepspeed, hf-trainer, pytorch-fsdp, "
            "torchtitan can",
        ),
        (
            {"framework": "deepspeed", "offload": ["none", "parametres"]},
            "workload.offload[1]",
            "parameters",
        ),
        (
            {
                "framework": "pytorch-fsdp",
                "offload": "parameters",
                "offload_to": "nvme",
            },
            "workload.offload_to",
            "pytorch-fsdp cannot offload to drives; deepspeed can",
        ),
        (
            {"framework": "deepspeed", "offload_to": "nvme"},
            "workload.offload_to",
            "say offload: optimizer",
        ),
        (
            {
                "framework": "deepspeed",
                "optimizer": "adamw-8bit",
                "offload": "optimizer",
            },
            "workload.offload",
            "no CPU updates with adamw-8bit",
        ),
    ],
)
def test_what_cannot_be_is_told(work: dict[str, object], path: str, text: str) -> None:
    """Tests one fault at its place, with what would do."""
    with pytest.raises(InputError) as raised:
        job(workload=work)
    (issue,) = raised.value.issues
    assert issue.path == path
    assert text in f"{issue.message} {issue.hint}"
