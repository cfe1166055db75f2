"""Tokens from text, samples and the rule of compute-optimal training."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from solver.physics_inputs import job_of
from solver.scenario.datasets import english_bytes_per_token
from solver.scenario.scenario import Scenario
from tests.scenario.reading import (
    faults,
    notice_ids,
    only_fault,
    read,
    shipped_catalog,
)


def scenario(
    workload: str, data: str = "{}", model: str = "llama-2-7b", more: str = ""
) -> str:
    """A scenario of that workload and data."""
    return f"model: {model}\nworkload: {{{workload}}}\ndata: {data}\n{more}"


def tokens_of(workload: str, data: str = "{}", model: str = "llama-2-7b") -> float:
    """The tokens that are read of it."""
    return read(scenario(workload, data, model)).workload.tokens


def notice(found: Scenario, prefix: str = "notice.tokens") -> str:
    """The one sentence about its tokens."""
    (text,) = [n.text for n in found.notices if n.id.startswith(prefix)]
    return text


def test_compute_optimal_is_chinchillas_own() -> None:
    """Tests the published pair of 70B parameters and 1.4T tokens (69.0B here)."""
    found = read(scenario("tokens: compute-optimal", model="llama-2-70b"))
    assert found.workload.tokens == pytest.approx(1.4e12, rel=0.015)
    assert notice(found).startswith("Compute-optimal: 20 tokens for each of ")


def test_compute_optimal_of_a_mixture_counts_what_a_token_passes() -> None:
    """Tests that idle experts ask for no tokens: Mixtral has 12.9B of 46.7B active."""
    found = tokens_of("tokens: compute-optimal", model="mixtral-8x7b")
    assert found == pytest.approx(20 * 12.9e9, rel=0.01)


def test_text_with_its_bytes_a_token() -> None:
    """Tests bytes of text over bytes a token, and passes over it."""
    workload = "tokens: {text: 2 TB, bytes_per_token: 4.2}"
    found = read(scenario(workload))
    assert found.workload.tokens == 2e12 / 4.2
    assert notice(found) == (
        "2,000 GB of text at 4.2 bytes a token, read 1 time, are 476,190,476,190 "
        "tokens."
    )
    assert tokens_of(f"{workload}, epochs: 3") == pytest.approx(3 * 2e12 / 4.2)
    assert found.data.size_bytes == pytest.approx(2e12 / 4.2 * 4)  # ids of 4 bytes


def test_text_without_them_is_english_and_says_so() -> None:
    """Tests the default by vocabulary, its source and its limit."""
    found = read(scenario("tokens: {text: 317 GB}"))  # a vocabulary of 32,000
    assert found.workload.tokens == pytest.approx(100e9)
    assert "3.17 bytes a token, English in a vocabulary of 32,000" in notice(found)
    assert "arXiv 2305.15425" in notice(found)
    large = read(scenario("tokens: {text: 394 GB}", model="llama-3-8b"))
    assert large.workload.tokens == pytest.approx(100e9)


@given(st.integers(1, 10**7), st.integers(1, 10**7))
def test_larger_vocabularies_take_more_text_a_token(one: int, other: int) -> None:
    """Tests that the default never falls with the vocabulary nor leaves its sources."""
    low, high = sorted((one, other))
    assert 3.17 <= english_bytes_per_token(low) <= english_bytes_per_token(high) <= 3.94


def test_samples_padded_pay_the_whole_sequence() -> None:
    """Tests tokens, useful share, bytes read and attention of padded samples."""
    work = "samples: 52k, epochs: 3, sequence_length: 2048, method: lora"
    data = "{mean_document_tokens: 512}"
    padded = read(scenario(f"{work}, packing: padded", data))
    packed = read(scenario(f"{work}, packing: packed", data))
    assert padded.workload.tokens == 52_000 * 3 * 2048
    assert packed.workload.tokens == 52_000 * 3 * 512
    assert (padded.data.useful_share, packed.data.useful_share) == (0.25, 1.0)
    assert "25.0% of them are data" in notice(padded)
    sizes = [s.data.size_bytes for s in (padded, packed)]
    assert sizes == [52_000 * 512 * 4] * 2  # padding is not stored
    spans = [job_of(s, shipped_catalog()).attention_span for s in (padded, packed)]
    assert spans == [0.0, 512.0]
    assert read(scenario(work, data)).workload == packed.workload


def test_padding_of_unknown_length_is_said() -> None:
    """Tests that the useful share is not guessed."""
    found = read(scenario("samples: 1M, packing: padded, sequence_length: 4096"))
    assert found.workload.tokens == 4096e6
    assert found.data.useful_share is None
    assert "is not known without data.mean_document_tokens" in notice(found)


@pytest.mark.parametrize(
    ("tokens", "data_tokens"),
    [
        ("1B", 1e9),
        ("{text: 4 GB, bytes_per_token: 4}", 1e9),
        ("compute-optimal", 20 * 6.738e9),
    ],
)
def test_stated_tokens_are_data_and_padding_is_on_top(
    tokens: str, data_tokens: float
) -> None:
    """Tests that the same tokens cost more where samples are padded."""
    work = f"tokens: {tokens}, sequence_length: 4096, packing: padded"
    found = read(scenario(work, "{mean_document_tokens: 1024}"))
    assert found.workload.tokens == pytest.approx(4 * data_tokens, rel=1e-3)
    assert "25.0% of them are data" in notice(found, "notice.tokens.padded")


def test_samples_longer_than_a_sequence_leave_no_padding() -> None:
    """Tests that what a sequence cuts off is not counted as padding."""
    work = "samples: 1M, packing: padded, sequence_length: 1024"
    found = read(scenario(work, "{mean_document_tokens: 9000}"))
    assert (found.workload.tokens, found.data.useful_share) == (1024e6, 1.0)


@given(
    samples=st.integers(1000, 10**7),
    mean=st.integers(1, 8192),
    length=st.integers(1, 8192),
)
def test_packing_never_costs_more(samples: int, mean: int, length: int) -> None:
    """Tests that padded tokens x useful share are the packed ones, of any samples."""
    work = f"samples: {samples}, sequence_length: {length}, global_batch_size: 1"
    work = f"{work}, start: checkpoint"
    text = scenario(work, f"{{mean_document_tokens: {mean}}}")
    packed = read(text)
    padded = read(text, ["workload.packing=padded"])
    assert packed.workload.tokens <= padded.workload.tokens
    useful = padded.data.useful_share or 0.0
    assert padded.workload.tokens * useful == pytest.approx(packed.workload.tokens)


@pytest.mark.parametrize(
    ("workload", "code", "path"),
    [
        ("tokens: {text: 2 TB}, samples: 3", "conflicting-keys", "workload.samples"),
        ("tokens: 2T, epochs: 3", "conflicting-keys", "workload.epochs"),
        ("tokens: {bytes_per_token: 4}", "missing-key", "workload.tokens.text"),
        ("tokens: {txt: 2 TB}", "unknown-key", "workload.tokens.txt"),
        ("tokens: {text: 2 XB}", "unknown-unit", "workload.tokens.text"),
        (
            "tokens: {text: 2 TB, bytes_per_token: 0}",
            "out-of-range",
            "workload.tokens.bytes_per_token",
        ),
        (
            "tokens: {text: 1e23 B, bytes_per_token: 1}",
            "out-of-range",
            "workload.tokens.text",
        ),
        ("tokens: [2T]", "wrong-type", "workload.tokens"),
        ("samples: 3M, packing: loose", "wrong-value", "workload.packing"),
        ("samples: 3M, packing: packed", "missing-key", "data.mean_document_tokens"),
        ("tokens: 3B, packing: padded", "missing-key", "data.mean_document_tokens"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(
    workload: str, code: str, path: str
) -> None:
    """Tests each fault of the data's amount by itself."""
    found = faults(scenario(workload))
    assert (code, path) in [(issue.code, issue.path) for issue in found]


def test_all_faults_are_told_at_once() -> None:
    """Tests that a text, a packing and a place that are wrong are told together."""
    text = scenario("tokens: {text: much}, packing: tight", "{location: nowhere}")
    assert len(faults(text)) == 3


def test_spellings_of_packing() -> None:
    """Tests that words are read in any case."""
    assert read(scenario("tokens: 2T, packing: Packed")).workload.packing == "packed"
    assert only_fault(scenario("tokens: 2T, packing: padde")).hint == "padded"


def test_phases_state_their_own_text() -> None:
    """Tests that a phase's tokens take the place of the text of the whole."""
    phases = "phases: [{name: a}, {name: b, workload: {tokens: 1B}}]\n"
    text = scenario("tokens: {text: 1 TB, bytes_per_token: 4}, epochs: 2", more=phases)
    first, second = (p.scenario.workload.tokens for p in read(text).phases)
    assert (first, second) == (5e11, 1e9)
    assert "notice.tokens.text.stated" in notice_ids(read(text).phases[0].scenario)
