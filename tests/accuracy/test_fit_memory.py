"""The tool that fits the constants of memory: weights, folds, and what it writes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from solver.accuracy.cases import Case
from solver.accuracy.filling import case_from
from solver.accuracy.predicting import predict
from solver.accuracy.tables import TableRow
from solver.catalog.load import load_catalog
from tests.accuracy.tables import STEP, without
from tests.project.source import ROOT, tool

FIT = tool("fit_memory")
CATALOG = load_catalog(())


def case(**cells: str) -> Case:
    """Return a case of peak memory with some cells changed."""
    row = {**without(STEP, "step_time_s"), "peak_memory_gib": "40", **cells}
    return case_from(TableRow(row["id"], "t.csv:2", ("memory",), row), CATALOG)


def model(*cases: Case) -> Any:
    """Return the tool's model of some cases."""
    return FIT.Model(CATALOG, cases)


def many(source: str, count: int) -> list[Case]:
    """Return cases of one source that differ in their sequences."""
    return [case(source=source, seq=str(1024 + 8 * k)) for k in range(count)]


@pytest.mark.parametrize("owner", FIT.CLASSES)
def test_constants_are_those_of_the_entries(owner: str) -> None:
    """Tests that each has its class, is in its file, and is believed to be positive."""
    constants = FIT.constants_of(owner)
    assert {c.owner for c in constants} == {owner}
    assert {"logit_bytes", "base_gib"} < {c.name for c in constants}
    assert len({c.key for c in constants}) == len(constants)
    text = (ROOT / "catalog" / "frameworks" / f"{owner}.yaml").read_text()
    for constant in constants:
        assert constant.prior > 0 < constant.spread
        assert f"\n{constant.name}: " in text
        assert hasattr(CATALOG.frameworks[owner], constant.name)


def test_repeats_count_once() -> None:
    """Tests that runs of one configuration weigh together as much as one of another."""
    one = model(case(), case(id="again"), case(id="third"), case(mbs="2"))
    assert one.weights(range(4)) == pytest.approx([1 / 3, 1 / 3, 1 / 3, 1.0])


def test_no_source_dominates() -> None:
    """Tests that the configurations of a large source share its greatest weight."""
    large, small = many("large", 60), many("small", 3)
    weights = model(*large, *small).weights(range(63))
    assert sum(weights[:60]) == pytest.approx(FIT.SOURCE_WEIGHT)
    assert weights[60:] == pytest.approx([1.0] * 3)


@pytest.mark.parametrize(
    ("cells", "weight"),
    [
        ({"memory_kind": "reserved", "peak_memory_gib": "78"}, 0.0),
        ({"memory_kind": "reserved", "peak_memory_gib": "50"}, 1.0),
        ({"memory_kind": "allocated", "peak_memory_gib": "78"}, 1.0),
    ],
)
def test_a_full_card_tells_nothing(cells: dict[str, str], weight: float) -> None:
    """Tests that reserved memory near the card's size is not what was needed."""
    assert model(case(**cells)).weights([0]) == pytest.approx([weight])


def test_folds_are_sources_or_models_of_one() -> None:
    """Tests that models are left out where nearly all is of one source."""
    two = model(*many("a", 3), *many("b", 2))
    assert two.fold_names() == ["a"] * 3 + ["b"] * 2
    one = model(*many("a", 18), case(source="a", model="other"), case(source="b"))
    assert one.fold_names() == ["GPT 7B"] * 18 + ["other", "b"]


def test_what_is_left_out_is_not_fitted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that no fold sees a source that it is scored on, and all are scored."""
    whole = model(*many("a", 3), *many("b", 2), *many("c", 2), *many("d", 1))
    names = whole.fold_names()
    constants = FIT.constants_of("megatron")
    priors = np.array([c.prior for c in constants])
    fits: list[set[str]] = []

    def remembering(_: Any, __: Any, rows: Sequence[int], ___: int) -> Any:
        fits.append({names[row] for row in rows})
        return priors * len(fits)

    monkeypatch.setattr(FIT, "fit", remembering)
    out, nearer = FIT.left_out(whole, constants, 2, 1)
    assert len(fits) == 2
    assert fits[0] | fits[1] == set(names)
    for number, seen in enumerate(fits, start=1):
        rows = [row for row, name in enumerate(names) if name not in seen]
        told, _ = whole.ratios(constants, priors * number, rows)
        assert rows
        assert out[rows] == pytest.approx(told)
    assert np.isfinite(nearer).all()


def test_a_fit_finds_constants_that_made_the_data() -> None:
    """Tests that peaks made with other constants are met, though priors pull."""
    constants = FIT.constants_of("megatron")
    true = np.array([c.prior for c in constants]) * [0.9, 1.3, 2.0]
    cells = [{"mbs": mbs, "seq": seq} for mbs in "124" for seq in ("1024", "8192")]
    asked = model(*(case(**one) for one in cells))
    truth, _ = asked.ratios(constants, true, range(6))
    peaks = np.exp(truth) * asked.measured
    made = [
        case(**one, peak_memory_gib=f"{peak:.6f}")
        for one, peak in zip(cells, peaks, strict=True)
    ]
    found = FIT.fit(model(*made), constants, range(6), 12)
    logs, _ = model(*made).ratios(constants, found, range(6))
    assert np.abs(logs).max() < 0.02


def test_sequence_parallelism_counts_the_nearer_way() -> None:
    """Tests that a row that does not say it is held against both ways."""
    untold = case(tp="2", dp="4", sp="")
    told = case(tp="2", dp="4", sp="0")
    constants = FIT.constants_of("megatron")
    entry = CATALOG.frameworks["megatron"]
    values = np.array([getattr(entry, c.name) for c in constants])
    ways = [p.peak_memory_gib or 0.0 for p in predict([untold, told])]
    assert ways[0] < ways[1]
    peak = case(tp="2", dp="4", sp="", peak_memory_gib=str(ways[1]))
    taken, nearer = model(peak, told).ratios(constants, values, [0, 1])
    assert taken[0] == pytest.approx(np.log(ways[0] / ways[1]))
    assert nearer[0] == pytest.approx(0.0, abs=1e-9)
    assert nearer[1] == taken[1]


def test_errors_are_percentages() -> None:
    """Tests mean, median and bias of ratios 0.9, 1 and 1.2."""
    errors = FIT.errors_of(np.log([0.9, 1.0, 1.2]))
    assert errors.n == 3
    assert errors.mean == pytest.approx(10.0)
    assert errors.median == pytest.approx(10.0)
    assert errors.bias == pytest.approx(0.0)


def test_a_note_begins_with_the_last_fit() -> None:
    """Tests that what an earlier fit said is replaced and the rest of a note kept."""
    text = "name: x\nnote: >-\n  Memory fitted on 3 runs, 5.0 %. Kept 7 %.\naxes: 1\n"
    once = FIT.with_note(text, "Memory fitted on 4 runs, 2.5 %.")
    assert once == (
        "name: x\nnote: >-\n  Memory fitted on 4 runs, 2.5 %. Kept 7 %.\naxes: 1\n"
    )
    assert FIT.with_note(once, "Memory fitted on 4 runs, 2.5 %.") == once
    with pytest.raises(SystemExit):
        FIT.with_note("name: x\n", "Memory fitted.")
