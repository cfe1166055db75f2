"""Tests of prefill and decode: known sizes, published throughput, physical bounds."""

from __future__ import annotations

import csv
import heapq
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from solver.catalog.load import Catalog, load_catalog
from solver.hardware import hardware_of
from solver.performance.alignment_inputs import GenerationEngine, Lengths
from solver.performance.generation import (
    Replica,
    best_rollout,
    cache_bytes_per_token,
    concurrent_sequences,
    decode_step_s,
    prefill_s,
    replica_sizes,
    rollout,
    sequence_bytes,
    touched_parameters,
    weight_bytes,
)
from solver.performance.transformer import parameters
from solver.physics_inputs import engine_of, shape_of
from tests.performance.cases import (
    DEEPSEEK_V3,
    GIB,
    LLAMA2_7B,
    LLAMA2_70B,
    LLAMA3_8B,
    LLAMA31_405B,
    MIXTRAL,
    STARCODER,
)
from tests.performance.machines import A100, H100, L40S

PUBLISHED = Path(__file__).parents[1] / "data" / "generation_throughput.csv"

MEAN_ERROR, MEDIAN_ERROR = 0.13, 0.07
"""What was measured on the published rows: 12.3 % and 6.6 %."""

ONE = np.array([1])


@cache
def catalog() -> Catalog:
    """The shipped catalog, read once."""
    return load_catalog()


@cache
def engine() -> GenerationEngine:
    """The engine as the catalog has it."""
    return engine_of(catalog())


def replica(tp: int = 1, stages: int = 1) -> Replica:
    """One replica."""
    return Replica(np.array([tp]), np.array([stages]))


def published() -> list[dict[str, str]]:
    """Rows of the published throughput, comments left out."""
    lines = [r for r in PUBLISHED.read_text().splitlines() if not r.startswith("#")]
    return list(csv.DictReader(lines))


def predicted_tokens_per_s(row: dict[str, str]) -> float:
    """Output tokens a second of one published row on A100 80 GB."""
    shape = shape_of(catalog().architecture(row["model"]))
    hardware = hardware_of(catalog(), catalog().servers["8x-a100-sxm-80gb"], "bf16")
    batch, response = int(row["batch"]), int(row["response"])
    lengths = Lengths(int(row["prompt"]), response, response)
    one = replica(int(row["tp"]))
    free = 75 * GIB - weight_bytes(shape, one.gpus) - engine().workspace_bytes
    made = rollout(shape, engine(), hardware, lengths, one, ONE, batch, free)
    return float(batch * response / made.total_s[0])


def test_published_throughput() -> None:
    """Tests the error over all rows, and that no kind of row is far off."""
    ratios = np.array(
        [predicted_tokens_per_s(r) / float(r["tokens_per_s"]) for r in published()]
    )
    assert len(ratios) == 37
    errors = np.abs(ratios - 1.0)
    assert errors.mean() < MEAN_ERROR
    assert np.median(errors) < MEDIAN_ERROR
    assert ratios.min() > 0.85
    assert ratios.max() < 2.0


@pytest.mark.parametrize(
    ("shape", "tp", "size"),
    [
        (LLAMA2_7B, 1, 524_288),
        (LLAMA2_7B, 4, 131_072),
        (LLAMA3_8B, 1, 131_072),
        (LLAMA2_70B, 8, 40_960),
        (LLAMA2_70B, 16, 40_960),
        (DEEPSEEK_V3, 8, 70_272),
        (STARCODER, 4, 20_480),
    ],
)
def test_bytes_of_a_cached_token(shape: Any, tp: int, size: int) -> None:
    """Tests known sizes: all heads, grouped heads, one head, the latent cache."""
    assert cache_bytes_per_token(shape, np.array([tp]))[0] == size


def test_an_eight_bit_cache_is_half_as_large() -> None:
    """Tests that the size of an element counts."""
    half = replace(engine(), cache_bytes=1.0)
    lengths = Lengths(100, 100, 100)
    sizes = [sequence_bytes(LLAMA3_8B, e, lengths, replica()) for e in (engine(), half)]
    assert sizes[0][0] == 2 * sizes[1][0]


def test_a_window_bounds_the_cache() -> None:
    """Tests that tokens beyond the window take no memory."""
    windowed = replace(LLAMA3_8B, sliding_window=512)
    long = Lengths(4096, 4096, 4096)
    short = Lengths(256, 256, 256)
    assert (
        sequence_bytes(windowed, engine(), long, replica())[0]
        == sequence_bytes(LLAMA3_8B, engine(), short, replica())[0]
    )


def test_layers_without_the_window_keep_everything() -> None:
    """Tests a model in which every fourth of 32 layers looks back at all tokens."""
    mixed = replace(LLAMA3_8B, sliding_window=512, full_attention_every=4)
    long = Lengths(4096, 4096, 4096)
    size = sequence_bytes(mixed, engine(), long, replica())[0]
    each = cache_bytes_per_token(LLAMA3_8B, ONE)[0]
    assert size == pytest.approx(each * (8192 / 4 + 512 * 3 / 4))


def test_a_group_shares_its_prompt() -> None:
    """Tests the memory of a sequence in a group, and the prefill of groups."""
    alone, grouped = Lengths(800, 200, 200), Lengths(800, 200, 200, group=8)
    one = sequence_bytes(LLAMA3_8B, engine(), alone, replica())[0]
    shared = sequence_bytes(LLAMA3_8B, engine(), grouped, replica())[0]
    assert one / shared == pytest.approx(1000 / 300)
    times = [
        rollout(
            LLAMA3_8B, engine(), A100, each, replica(), ONE, 64, 40 * GIB
        ).prefill_s[0]
        for each in (alone, grouped)
    ]
    assert times[0] / times[1] == pytest.approx(8.0, rel=0.02)


def test_experts_that_a_step_reads() -> None:
    """Tests one token's top-k experts, and that a large batch reads all of them."""
    count = parameters(MIXTRAL)
    outside = count.total - count.routed_experts - count.embedding
    one = touched_parameters(count, np.array([1.0]))[0]
    assert one == pytest.approx(outside + count.routed_experts * 2 / 8)
    many = touched_parameters(count, np.array([512.0]))[0]
    assert many == pytest.approx(outside + count.routed_experts)
    dense = parameters(LLAMA3_8B)
    assert touched_parameters(dense, np.array([1.0]))[0] == touched_parameters(
        dense, np.array([64.0])
    )


def test_tied_embeddings_are_read_as_the_head() -> None:
    """Tests that a tied model reads as much as one that has a head of its own."""
    tied = replace(LLAMA3_8B, tied_embeddings=True)
    both = [touched_parameters(parameters(s), ONE)[0] for s in (tied, LLAMA3_8B)]
    assert both[0] == both[1]


@pytest.mark.parametrize("shape", [LLAMA2_7B, LLAMA2_70B, MIXTRAL, DEEPSEEK_V3])
@pytest.mark.parametrize("hardware", [A100, H100, L40S])
@pytest.mark.parametrize("tp", [1, 2, 8])
def test_no_step_passes_the_hardware(shape: Any, hardware: Any, tp: int) -> None:
    """Tests decode against memory bandwidth and prefill against the peak."""
    one, batch = replica(tp), np.array([1.0, 16.0, 300.0, 4000.0])
    rows = Replica(one.tp.repeat(4), one.stages.repeat(4))
    step = decode_step_s(shape, engine(), hardware, rows, batch, 2000.0)
    count = parameters(shape)
    read = 2.0 * touched_parameters(count, batch) / tp
    cache = batch * 2000 * cache_bytes_per_token(shape, rows.tp)
    assert (step > (read + cache) / hardware.hbm_bytes_per_s).all()
    active = count.active - count.outside_layers
    assert (step > 2.0 * active * batch / tp / hardware.peak_16bit).all()
    fill = prefill_s(shape, engine(), hardware, rows, batch, 1000.0)
    assert (fill > 2.0 * active * batch * 1000 / tp / hardware.peak_16bit).all()
    assert (np.diff(step) > 0).all()
    assert (np.diff(fill) > 0).all()


def test_more_memory_is_never_slower() -> None:
    """Tests throughput over the memory that keys and values may fill."""
    lengths = Lengths(500, 1500, 3000)
    free = np.linspace(1, 60, 60) * GIB
    many = Replica(np.full(60, 2), np.full(60, 1))
    made = rollout(LLAMA3_8B, engine(), H100, lengths, many, 4, 2048, free)
    assert (np.diff(made.total_s) <= 1e-9 * made.total_s[:-1]).all()
    assert (np.diff(made.concurrent) >= 0).all()
    assert (made.cache_bytes <= free).all()


def test_nothing_fits() -> None:
    """Tests that a replica without room for one sequence never ends."""
    lengths = Lengths(1000, 1000, 1000)
    size = float(sequence_bytes(LLAMA2_7B, engine(), lengths, replica())[0])
    room = np.array([0.99 * size, 1.01 * size, -5.0])
    three = Replica(np.ones(3, int), np.ones(3, int))
    fitting = concurrent_sequences(LLAMA2_7B, engine(), lengths, three, room)
    assert fitting.tolist() == [0.0, 1.0, 0.0]
    made = rollout(LLAMA2_7B, engine(), A100, lengths, three, 1, 64, room)
    assert np.isinf(made.total_s).tolist() == [True, False, True]


def steps_of_continuous_batching(lengths: np.ndarray, slots: int) -> int:
    """Decode steps until all responses are done, each slot refilled at once."""
    ends = [0] * slots
    for tokens in lengths:
        heapq.heappush(ends, heapq.heappop(ends) + int(tokens))
    return max(ends)


@pytest.mark.parametrize(("count", "slots"), [(256, 256), (512, 64), (1024, 32)])
@pytest.mark.parametrize("spread", [0.0, 0.4, 0.8])
def test_steps_of_a_batch(count: int, slots: int, spread: float) -> None:
    """Tests the rule of waves and tail against a simulation of the slots."""
    rng = np.random.default_rng(1)
    tokens = np.rint(500 * (1 + spread * rng.uniform(-1, 1, count)))
    mean, longest = tokens.mean(), tokens.max()
    simulated = steps_of_continuous_batching(tokens, slots)
    rule = mean * max(count / slots, 1.0) + (longest - mean)
    assert simulated == pytest.approx(rule, rel=0.06)


def test_the_longest_response_is_waited_for() -> None:
    """Tests that a tail adds its steps at least at the cost of reading the weights."""
    free, few = 40 * GIB, 8
    made = [
        rollout(
            LLAMA3_8B, engine(), H100, Lengths(100, 500, m), replica(), ONE, few, free
        )
        for m in (500, 4000)
    ]
    extra = float(made[1].decode_s[0] - made[0].decode_s[0])
    reading = weight_bytes(LLAMA3_8B, ONE)[0] / H100.hbm_bytes_per_s
    assert extra > 3500 * 0.8 * reading
    assert made[1].decode_s[0] > 2 * made[0].decode_s[0]


def test_replicas_fit_the_domain_first() -> None:
    """Tests TP inside a domain that divides heads, and stages over domains."""
    assert replica_sizes(LLAMA3_8B, 8, 8) == [(1, 1), (2, 1), (4, 1), (8, 1)]
    sizes = replica_sizes(LLAMA31_405B, 8, 32)
    assert sizes[-2:] == [(8, 2), (8, 4)]
    odd = replace(LLAMA3_8B, heads=28)
    assert replica_sizes(odd, 8, 8) == [(1, 1), (2, 1), (4, 1), (4, 2)]
    assert replica_sizes(LLAMA3_8B, 1, 4) == [(1, 1), (1, 2), (1, 4)]


def test_the_best_replica_is_no_slower_than_any() -> None:
    """Tests the choice against every size by hand."""
    lengths, usable = Lengths(300, 700, 1400), 70 * GIB
    gpus = np.array([8, 16, 24, 32])
    best = best_rollout(LLAMA3_8B, engine(), H100, lengths, gpus, 1024, usable)
    for tp in (1, 2, 4, 8):
        size = Replica(np.full(4, tp), np.ones(4, int))
        free = usable - weight_bytes(LLAMA3_8B, size.gpus) - engine().workspace_bytes
        one = rollout(LLAMA3_8B, engine(), H100, lengths, size, gpus // tp, 1024, free)
        assert (best.total_s <= one.total_s * (1 + 1e-12)).all()
    assert (best.replicas * best.tp * best.stages <= gpus).all()
    assert (np.diff(best.total_s) <= 0).all()


def test_stages_only_where_one_domain_is_too_small() -> None:
    """Tests that 405B needs two nodes of 80 GB in 16 bits, and 70B does not."""
    lengths, gpus = Lengths(500, 500, 500), np.array([32])
    large = best_rollout(LLAMA31_405B, engine(), H100, lengths, gpus, 64, 70 * GIB)
    assert (int(large.tp[0]), int(large.stages[0])) == (8, 2)
    small = best_rollout(LLAMA2_70B, engine(), H100, lengths, gpus, 64, 70 * GIB)
    assert int(small.stages[0]) == 1
    none = best_rollout(LLAMA31_405B, engine(), H100, lengths, ONE * 8, 64, 70 * GIB)
    assert np.isinf(none.total_s[0])


def test_hardware_by_row() -> None:
    """Tests that scalars and arrays of hardware give the same seconds."""
    both = replace(
        A100,
        hbm_bytes_per_s=np.array([A100.hbm_bytes_per_s, H100.hbm_bytes_per_s]),
        peak_16bit=np.array([A100.peak_16bit, H100.peak_16bit]),
        intra_bytes_per_s=np.array([A100.intra_bytes_per_s, H100.intra_bytes_per_s]),
    )
    two = Replica(np.array([4, 4]), np.array([1, 1]))
    one = replica(4)
    together = decode_step_s(LLAMA2_70B, engine(), both, two, 64.0, 1000.0)
    apart = [
        decode_step_s(LLAMA2_70B, engine(), hw, one, 64.0, 1000.0)[0]
        for hw in (A100, H100)
    ]
    assert together.tolist() == pytest.approx(apart)
