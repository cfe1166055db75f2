"""Tests of the global batch: whole sequences, and every rounding told."""

import pytest

from tests.scenario.reading import notice_ids, only_fault, read


def scenario(batch: str, tokens: str = "2T", more: str = "") -> str:
    """Return a scenario with a batch."""
    return (
        f"model: llama-2-7b\nworkload: {{tokens: {tokens}, sequence_length: 4096, "
        f"global_batch_size: {batch}{more}}}\n"
    )


@pytest.mark.parametrize(
    ("batch", "expected"),
    [
        ("1024", (1024, 1024, 1024)),
        ("1k", (1000, 1000, 1000)),
        ("{sequences: 512}", (512, 512, 512)),
        ("{sequences: 1000, tolerance: 10%}", (900, 1000, 1100)),
        ("{sequences: 100, tolerance: 0.07}", (93, 100, 107)),
        ("{sequences: 1024, tolerance: 5%}", (973, 1024, 1075)),
        ("{min: 900, max: 1200}", (900, 1050, 1200)),
        ("{max: 8}", (1, 4, 8)),
        ("{sequences: 1000, min: 900, max: 1200}", (900, 1000, 1200)),
        ("{tokens: 4194304}", (1024, 1024, 1024)),
        ("{tokens: 4M, tolerance: 5%}", (928, 977, 1025)),
    ],
)
def test_batches(batch: str, expected: tuple[int, int, int]) -> None:
    """Tests each form of a batch."""
    workload = read(scenario(batch)).workload
    found = (workload.batch_min, workload.batch_target, workload.batch_max)
    assert found == expected


def test_rounding_is_told() -> None:
    """Tests that tokens that are no whole number of sequences are rounded openly."""
    found = read(scenario("{tokens: 4M}"))
    assert found.workload.batch_target == 977
    (notice,) = found.notices
    assert notice.id == "notice.batch.rounded"
    assert notice.values["taken"] == 977 * 4096
    assert "976.56" in notice.text
    assert read(scenario("{tokens: 4194304}")).notices == ()


def test_an_open_end_is_told() -> None:
    """Tests that a batch without upper limit gets one, and that it is said."""
    found = read(scenario("{min: 100}"))
    assert found.workload.batch_max == 400
    assert notice_ids(found) == ["notice.batch.open"]


@pytest.mark.parametrize(
    ("batch", "code"),
    [
        ("{tokens: 1k}", "batch-too-small"),
        ("{tokens: 4M, sequences: 3}", "conflicting-keys"),
        ("{tolerance: 5%}", "missing-key"),
        ("{}", "missing-key"),
        ("{sequences: 9, tolerance: 5%, max: 10}", "conflicting-keys"),
        ("{tokens: 6M, tolerance: 0.0001%}", "batch-too-small"),
        ("{min: 10, max: 9}", "contradiction"),
        ("{sequences: 9, min: 10, max: 20}", "contradiction"),
        ("{sequences: 1.5}", "wrong-type"),
        ("0", "out-of-range"),
        ("true", "wrong-type"),
        ("[1, 2]", "wrong-type"),
        ("{tokens: 4M, tolerance: 100%}", "out-of-range"),
    ],
)
def test_wrong_batches(batch: str, code: str) -> None:
    """Tests that a batch that makes no sense is one fault."""
    assert only_fault(scenario(batch)).code == code


def test_a_default_batch_fits_into_a_short_training() -> None:
    """Tests that the default is not larger than the whole training."""
    text = "model: llama-2-7b\nworkload: {tokens: 100k, sequence_length: 4096}\n"
    assert read(text).workload.batch_target == 24


def test_fine_tuning_has_a_smaller_default() -> None:
    """Tests the default from a checkpoint."""
    text = "model: llama-2-7b\nworkload: {tokens: 1B, start: checkpoint}\n"
    assert read(text).workload.batch_target == 128
