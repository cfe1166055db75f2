"""Tests of `gpuplan estimate`, on a shipped scenario and the shipped catalog."""

import pytest

from tests.cli.running import run

FITTING = ("estimate", "quickstart-7b", "--gpu", "h100-sxm-80gb", "--gpus", "64")


def test_page(capsys: pytest.CaptureFixture[str]) -> None:
    """Tests that a pinned layout is estimated, by part."""
    ran = run(capsys, *FITTING, "--tp", "2", "--pp", "1")
    assert (ran.status, ran.err) == (0, "")
    assert ran.out.startswith("8 × 8 H100 SXM 80GB: fits in memory; ")
    assert "TP 2 · PP 1 · CP 1 · DP 32" in ran.out


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    """Tests that the same comes as one object, and its parts add up."""
    ran = run(capsys, *FITTING, "--json")
    assert ran.status == 0
    answer = ran.data["estimate"]
    memory = dict(answer["memory_gib"])
    total = memory.pop("total")
    assert memory.pop("capacity") > total
    assert sum(memory.values()) == pytest.approx(total)
    parts = answer["step_time_parts_s"].values()
    assert sum(parts) == pytest.approx(answer["step_time_s"])
    layout = answer["layout"]
    assert layout["tp"] * layout["pp"] * layout["cp"] * layout["dp"] == 64


def test_more_gpus_are_faster(capsys: pytest.CaptureFixture[str]) -> None:
    """Tests that twice the GPUs train faster, though not twice as fast."""
    few, many = (
        run(capsys, *FITTING[:-1], gpus, "--json").data["estimate"]["training_days"]
        for gpus in ("64", "128")
    )
    assert few / 2 < many < few


def test_what_does_not_fit(capsys: pytest.CaptureFixture[str]) -> None:
    """Tests that a layout too large for its card ends with 3, and shows by how much."""
    words = ("--gpu", "h100-sxm-80gb", "--gpus", "8", "--tp", "1", "--zero-stage", "0")
    ran = run(capsys, "estimate", "llama31-405b", *words, "--pp", "1")
    assert ran.status == 3
    assert "does not fit in memory" in ran.out


@pytest.mark.parametrize(
    ("words", "place"),
    [
        (("--gpu", "H100-SMX"), "--gpu"),
        (("--gpu", "h100-sxm-80gb", "--gpus", "63"), "--gpus"),
        (("--gpu", "h100-sxm-80gb", "--gpus", "64", "--tp", "3"), "--tp"),
        (("--gpu", "h100-sxm-80gb"), "--gpus"),
        (("--offer", "nobody/nowhere"), "--offer"),
    ],
)
def test_pins_that_cannot_be(
    words: tuple[str, ...], place: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tests that a wrong pin is refused under the name of its option."""
    ran = run(capsys, "estimate", "quickstart-7b", *words)
    assert ran.status == 2
    assert place in ran.err
    assert ran.out == ""


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("--zero-stage", "3"), "--zero-stage: megatron has no ZeRO-3"),
        (("--micro-batch", "3"), "--micro-batch: a batch of 1024 does not divide"),
        (("--gpus", "12"), "--gpus: 12 GPUs are no whole number of nodes of 8"),
        (
            ("--recompute", "some"),
            "--recompute: expected none, selective or full, not 'some'",
        ),
        (
            ("--set", "constraints.parallelism.tp=3"),
            "constraints.parallelism.tp: TP 3 does not divide",
        ),
    ],
)
def test_faults_are_told_under_the_option_as_typed(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], line: str
) -> None:
    """Tests that an option is named once, with hyphens, and what it may be."""
    ran = run(capsys, *FITTING, *words)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith(line)


def test_several_kinds_of_node_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    """Tests that the question which node is meant comes with a few answers."""
    ran = run(capsys, "estimate", "quickstart-7b", "--gpus", "64")
    assert ran.status == 2
    assert ran.err.startswith("--gpu: ")
    assert "h100-sxm-80gb, " in ran.err
