"""Tests of the global batch: whole sequences, and every rounding told."""

import pytest

from solver.scenario.batch import power_of_two_in, well_dividing_near
from tests.scenario.reading import faults, notice_ids, only_fault, read


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
    assert notice.id == "notice.batch.rounded-badly"
    assert notice.values["taken"] == 977 * 4096
    assert "976.56" in notice.text
    assert "1,024 sequences, 4,194,304 tokens, divide well" in notice.text
    assert "'tolerance: 5%'" in notice.text
    well = read(scenario("{tokens: 4.2M}"))
    assert well.workload.batch_target == 1025
    assert notice_ids(read(scenario("{tokens: 4190000}"))) == [
        "notice.batch.rounded-badly"
    ]
    assert notice_ids(read(scenario("{tokens: 4194000}"))) == ["notice.batch.rounded"]
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
    assert read(text).workload.batch_target == 16


@pytest.mark.parametrize(
    ("length", "sequences"), [(512, 8192), (2048, 2048), (4096, 1024), (3000, 1024)]
)
def test_the_default_batch_divides_well(length: int, sequences: int) -> None:
    """Tests that what nobody asked for is a power of two near to 4M tokens."""
    text = "model: {layers: 4, hidden: 512, ffn: 2048, heads: 8, vocab: 32000}\n"
    text += f"workload: {{tokens: 2T, sequence_length: {length}}}\n"
    found = read(text)
    assert found.workload.batch_target == sequences
    assert "notice.batch.default" in notice_ids(found)


@pytest.mark.parametrize("target", [*range(1, 200), 977, 1025, 2441, 4999])
def test_the_batch_that_is_advised(target: int) -> None:
    """Tests that it is within the tolerance that is advised, and divides better."""
    near = well_dividing_near(target)
    assert abs(near - target) <= max(1, 0.05 * target)
    assert power_of_two_in(near) >= power_of_two_in(target)
    others = range(max(1, target - 1), target + 2)
    assert power_of_two_in(near) >= max(map(power_of_two_in, others))


@pytest.mark.parametrize(
    "batch",
    ["4M", "'4 M'", "2B", "1T", "0.5M", "4 million", "4000000", "{min: 3M, max: 5M}"],
)
def test_tokens_are_not_taken_for_sequences(batch: str) -> None:
    """Tests that a batch of millions without a unit is asked back."""
    found = faults(scenario(batch))
    assert {issue.code for issue in found} == {"ambiguous-unit"}
    assert "{tokens: " in found[0].message


def test_sequences_may_be_said_with_a_suffix() -> None:
    """Tests that a number with its unit is no question."""
    assert read(scenario("{sequences: 2M}", "200T")).workload.batch_target == 2_000_000
    assert read(scenario("16k")).workload.batch_target == 16_000


def test_fine_tuning_has_a_smaller_default() -> None:
    """Tests the default from a checkpoint."""
    text = "model: llama-2-7b\nworkload: {tokens: 1B, start: checkpoint}\n"
    assert read(text).workload.batch_target == 128
