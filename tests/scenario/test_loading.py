"""How samples are loaded: sizes, rates and their defaults, and what is wrong."""

from __future__ import annotations

import math

import pytest

from solver.scenario.scenario import Loading, Scenario
from tests.scenario.reading import faults, notice_ids, read


def scenario(data: str, work: str = "tokens: 1B") -> str:
    """A fine-tuning with that data."""
    return (
        "model: llama-2-7b\nworkload: {start: checkpoint, sequence_length: 2048, "
        f"global_batch_size: 64, {work}}}\ndata: {{{data}}}\n"
    )


def loaded(data: str, work: str = "tokens: 1B") -> Scenario:
    """What is read of it."""
    return read(scenario(data, work))


def test_text_needs_no_decoding() -> None:
    """Tests that token ids are 4 bytes each and nothing is decoded."""
    found = loaded("kind: text")
    assert found.data.bytes_per_token == 4.0
    assert found.data.loading == Loading(samples_per_token=1 / 2048)
    assert loaded("bytes_per_token: 3").data.bytes_per_token == 3.0


def test_images_have_sourced_defaults_that_are_told() -> None:
    """Tests size, decoder and rate of images that say nothing else."""
    found = loaded("kind: Image, mean_document_tokens: 640")
    assert found.data.bytes_per_token == pytest.approx(117e3 / 640)
    assert found.data.loading == Loading("image", "cpu", 219.0, 1 / 640)
    assert "notice.decode-rate.cpu" in notice_ids(found)
    on_gpu = loaded("kind: image, decode: gpu")
    assert on_gpu.data.loading == Loading("image", "gpu", 6000.0, 1 / 2048)
    assert "notice.decode-rate.gpu" in notice_ids(on_gpu)


def test_what_is_stated_is_taken() -> None:
    """Tests every key, and that no default is told beside it."""
    keys = "kind: video, sample_bytes: 3 MB, decode_rate: 12.5, workers: 6"
    found = loaded(f"{keys}, mean_document_tokens: 1000")
    assert found.data.loading == Loading("video", "cpu", 12.5, 1 / 1000, 6)
    assert found.data.bytes_per_token == 3000.0
    assert not [i for i in notice_ids(found) if "decode" in i]
    plain = loaded("kind: audio, decode: none, bytes_per_token: 50")
    assert plain.data.loading.rate == math.inf


def test_a_padded_sample_fills_a_sequence() -> None:
    """Tests samples and bytes a computed token where each sample is padded."""
    data = "kind: image, sample_bytes: 2048 B, mean_document_tokens: 512"
    padded = loaded(data, "samples: 1M, packing: padded")
    packed = loaded(data, "samples: 1M")
    for found, per_sample in ((padded, 2048), (packed, 512)):
        samples = found.workload.tokens * found.data.loading.samples_per_token
        assert samples == pytest.approx(1e6)
        assert found.data.bytes_per_token == pytest.approx(2048 / per_sample)
        assert found.data.size_bytes == pytest.approx(2048e6)


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ("kind: pictures", [("wrong-value", "kind")]),
        ("kind: image, decode: dali", [("wrong-value", "decode")]),
        (
            "kind: image, sample_bytes: 1 kB, bytes_per_token: 4",
            [("conflicting-keys", "sample_bytes")],
        ),
        (
            "decode_rate: 5, workers: 3",
            [("contradiction", "decode_rate"), ("contradiction", "workers")],
        ),
        (
            "kind: image, decode: gpu, workers: 3",
            [("contradiction", "workers")],
        ),
        (
            "kind: audio",
            [("missing-key", "decode_rate"), ("missing-key", "sample_bytes")],
        ),
        ("decode: cpu", [("missing-key", "decode_rate")]),
        ("kind: image, workers: 0", [("out-of-range", "workers")]),
        ("kind: image, decode_rate: -1", [("out-of-range", "decode_rate")]),
        ("kind: image, sampl_bytes: 1 kB", [("unknown-key", "sampl_bytes")]),
    ],
)
def test_all_that_is_wrong_is_told_with_its_place(
    data: str, told: list[tuple[str, str]]
) -> None:
    """Tests each fault, and that those of one section come together."""
    found = sorted((i.code, i.path) for i in faults(scenario(data)))
    assert found == sorted((code, f"data.{key}") for code, key in told)
