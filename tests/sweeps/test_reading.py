"""Tests of sweep files: what they hold, and that every fault is told with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from solver.errors import InputError
from solver.sweeps.definition import PriceChange
from solver.sweeps.points import points_of
from tests.sweeps.examples import issues, prepared, read

WHOLE = """\
name: whole
base: base.yaml
set: {limits.time: 20 s}
axes:
  constraints.deadline: {from: 1 days, to: 3 days, step: 1 days}
zip:
  - {workload.tokens: [1B, 2B], workload.sequence_length: [512, 1024]}
overlays:
  - {name: as listed}
  - {name: dear, price_factor: {factor: 120%, providers: [AWS], gpus: [H100]}}
  - {name: no H200, exclude: {gpus: [H200], countries: [EU], purchase: [spot]}}
draws: {count: 2, seed: 1, failures.gpu_mtbf: {uniform: [20000 hours, 50000 hours]}}
skip:
  - {workload.tokens: 1B, constraints.deadline: {below: 40 hours}}
"""


def test_a_sweep_with_everything(tmp_path: Path) -> None:
    """Tests that each part is read, and that points are all their combinations."""
    sweep = read(tmp_path, WHOLE)
    assert sweep.name == "whole"
    assert sweep.keys == (
        "constraints.deadline",
        "workload.tokens",
        "workload.sequence_length",
    )
    assert sweep.drawn == ("failures.gpu_mtbf",)
    names = [overlay.name for overlay in sweep.overlays]
    assert names == ["as listed", "dear", "no H200"]
    (change,) = sweep.overlays[1].prices
    assert isinstance(change, PriceChange)
    assert (change.factor, change.providers) == (1.2, ("aws",))
    assert set(change.gpus or ()) >= {"h100-sxm-80gb", "h100-pcie-80gb"}
    assert "DE" in sweep.overlays[2].exclude["countries"]
    found = points_of(sweep)
    assert found.skipped == 1 * 1 * 3 * 2
    assert len(found.points) == 3 * 2 * 3 * 2 - found.skipped
    assert [point.number for point in found.points] == list(range(len(found.points)))
    assert len({point.id for point in found.points}) == len(found.points)
    first = found.points[0]
    assert first.values["constraints.deadline"] == "1 days"
    assert first.values["workload.sequence_length"] == 1024  # 1B in a day is skipped


def test_ids_tell_questions_apart_not_names(tmp_path: Path) -> None:
    """Tests that what asks the same is answered once, and that names do not count."""
    text = "base: base.yaml\naxes: {constraints.budget: [$1k, $1k, $2k]}\n"
    found = points_of(read(tmp_path, text))
    assert (len(found.points), found.duplicates) == (2, 1)
    renamed = text + "overlays: [{name: mine}, {name: same}]\n"
    again = points_of(read(tmp_path, renamed))
    assert {p.id for p in again.points} == {p.id for p in found.points}
    fixed = points_of(read(tmp_path, text + "set: {limits.time: 9 s}\n"))
    assert not {p.id for p in fixed.points} & {p.id for p in found.points}


FAULTS = [
    ("base:\naxes: {constraints.budget: [1]}", "missing-key", "base", None),
    ("base: nowhere.yaml\naxes: {model: [a]}", "file-not-found", "base", None),
    (
        "base: quickstart-7\naxes: {model: [a]}",
        "file-not-found",
        "base",
        "quickstart-7b",
    ),
    ("axis: {}", "unknown-key", "axis", "axes"),
    ("name: x", "missing-key", "axes", None),
    ("axes: [1]", "wrong-type", "axes", None),
    ("axes: {a..b: [1]}", "wrong-value", "axes.a..b", None),
    (
        "axes: {constraint.deadline: [1]}",
        "unknown-key",
        "axes.constraint.deadline",
        "constraints.deadline",
    ),
    (
        "axes: {constraints.budget: {form: 1, to: 2, count: 2}}",
        "unknown-key",
        "axes.constraints.budget.form",
        "from",
    ),
    ("axes: {constraints.budget: 3}", "wrong-type", "axes.constraints.budget", None),
    ("axes: {constraints.budget: []}", "wrong-type", "axes.constraints.budget", None),
    (
        "set: {limits.seed: 1}\naxes: {limits.seed: [1]}",
        "duplicate-key",
        "axes.limits.seed",
        None,
    ),
    (
        "set: {price_factor: 1}\naxes: {constraints.budget: [1]}",
        "wrong-value",
        "set.price_factor",
        None,
    ),
    ("zip: [{limits.seed: [1, 2], limits.gap: [1]}]", "contradiction", "zip[0]", None),
    ("overlays: [{price_factor: 2}]", "missing-key", "overlays[0].name", None),
    ("overlays: [{name: a}, {name: a}]", "duplicate-key", "overlays[1].name", None),
    (
        "overlays: [{name: a, price_factor: 0}]",
        "out-of-range",
        "overlays[0].price_factor",
        None,
    ),
    (
        "overlays: [{name: a, price_factor: {providers: [aws]}}]",
        "missing-key",
        "overlays[0].price_factor.factor",
        None,
    ),
    (
        "overlays: [{name: a, exclude: {gpus: [h10]}}]",
        "unknown-name",
        "overlays[0].exclude.gpus[0]",
        None,
    ),
    (
        "overlays: [{name: a, exclude: {purchase: on-demnd}}]",
        "wrong-value",
        "overlays[0].exclude.purchase",
        "on_demand",
    ),
    (
        "overlays: [{name: a, catalog: ./no}]",
        "folder-not-found",
        "overlays[0].catalog",
        None,
    ),
    (
        "draws: {seed: 1, price_factor: {uniform: [1, 2]}}",
        "missing-key",
        "draws.count",
        None,
    ),
    (
        "draws: {count: 0, price_factor: {uniform: [1, 2]}}",
        "out-of-range",
        "draws.count",
        None,
    ),
    ("draws: {count: 3}", "missing-key", "draws", None),
    (
        "draws: {count: 3, price_factor: {unifrm: [1, 2]}}",
        "unknown-key",
        "draws.price_factor",
        "uniform",
    ),
    (
        "axes: {limits.seed: [1]}\nskip: [{limits.sed: 1}]",
        "unknown-key",
        "skip[0].limits.sed",
        "limits.seed",
    ),
    (
        "axes: {limits.seed: [1]}\nskip: [{limits.seed: {under: 1}}]",
        "unknown-key",
        "skip[0].limits.seed.under",
        None,
    ),
    ("axes: {limits.seed: [1]}\nskip: [{}]", "missing-key", "skip[0]", None),
    ("name: [1]\naxes: {limits.seed: [1]}", "wrong-type", "name", None),
    ("overlays: [a]", "wrong-type", "overlays[0]", None),
    (
        "overlays: [{name: a, price_factor: +20%}]",
        "wrong-value",
        "overlays[0].price_factor",
        None,
    ),
    (
        "axes: {limits.seed: [1], limits: [{gap: 1%}]}",
        "duplicate-key",
        "axes.limits",
        None,
    ),
    (
        "axes: {constraints.budget: {from: '1', to: '1e999999999', count: 3}}",
        "wrong-type",
        "axes.constraints.budget",
        None,
    ),
]


@pytest.mark.parametrize(("text", "code", "path", "hint"), FAULTS)
def test_faults(
    text: str, code: str, path: str | None, hint: str | None, tmp_path: Path
) -> None:
    """Tests that a fault is told with code, place and the nearest right spelling."""
    whole = text if text.startswith("base:") else f"base: base.yaml\n{text}"
    told = issues(tmp_path, whole)
    found = [i for i in told if i.code == code and i.path == path]
    assert found, [str(issue) for issue in told]
    assert hint is None or found[0].hint == hint
    assert (found[0].where or "").split(":")[0].endswith(".yaml")


@pytest.mark.parametrize(
    "text",
    [
        "axes: {limits.seed: 3}",
        "zip: 3",
        "draws: {count: 3}",
        "overlays: [a]",
        "overlays: []",
        "axes: {limits.seed: {from: 1, to: 9, count: 0}}",
    ],
)
def test_one_fault_is_told_once(text: str, tmp_path: Path) -> None:
    """Tests that a fault of all that varies is not told as nothing that varies too."""
    assert len(issues(tmp_path, f"base: base.yaml\n{text}")) == 1


def test_a_whole_may_be_set_and_a_part_varied(tmp_path: Path) -> None:
    """Tests that only what replaces a given value is refused, not what refines it."""
    text = "set: {limits: {gap: 1%}}\naxes: {limits.seed: [1, 2]}"
    assert issues(tmp_path, f"base: base.yaml\n{text}") == ()


@pytest.mark.parametrize(
    ("condition", "path", "hint"),
    [
        ("{limits.seed: 3}", "skip[0].limits.seed", None),
        ("{overlay: listd}", "skip[0].overlay", "listed"),
        ("{limits.seed: {above: $3 days}}", "skip[0].limits.seed", None),
    ],
)
def test_conditions_that_no_point_meets(
    condition: str, path: str, hint: str | None, tmp_path: Path
) -> None:
    """Tests that a slip in a condition is told with its place."""
    text = f"base: base.yaml\naxes: {{limits.seed: [1]}}\nskip: [{condition}]\n"
    text += "overlays: [{name: listed}]\n"
    with pytest.raises(InputError) as caught:
        points_of(read(tmp_path, text))
    (issue,) = caught.value.issues
    assert (issue.path, issue.hint) == (path, hint)
    assert str(issue.where).startswith("sweep.yaml:3:")


def test_all_faults_at_once(tmp_path: Path) -> None:
    """Tests that nobody has to correct a file one fault at a time."""
    text = "base: base.yaml\naxis: {}\naxes: {model: 3}\ndraws: {count: x}\n"
    paths = {issue.path for issue in issues(tmp_path, text)}
    assert paths >= {"axis", "axes.model", "draws.count"}


def test_conditions_that_compare_nothing(tmp_path: Path) -> None:
    """Tests that a bound on a word is refused, not taken as never met."""
    text = "base: base.yaml\naxes: {model: [llama-2-7b]}\n"
    bound = text + "skip: [{model: {below: 3}}]\n"
    with pytest.raises(InputError, match="a number and its unit"):
        points_of(read(tmp_path, bound))
    nothing = text + "skip: [{model: llama-2-7b}]\n"
    with pytest.raises(InputError, match="leave no point"):
        points_of(read(tmp_path, nothing))


def test_values_are_tried_before_anything_runs(tmp_path: Path) -> None:
    """Tests that a value no scenario takes is refused, in the sweep file's place."""
    axes = {
        "constraints.deadline": ["3 hours", "3 huors"],
        "constraints.gpus.maxx": [8, 16],
        "price_factor": [1.0, -1],
    }
    with pytest.raises(InputError) as caught:
        prepared(tmp_path, axes=axes, overlays=None)
    told = {(i.path, i.code): i for i in caught.value.issues}
    assert told["constraints.gpus.maxx", "unknown-key"].hint == "max"
    assert ("price_factor", "wrong-value") in told
    for issue in told.values():
        assert "sweep.yaml:" in (issue.where or "")


def test_a_wrong_value_beside_right_ones(tmp_path: Path) -> None:
    """Tests that one wrong value of an axis is found among good ones."""
    axes = {"constraints.deadline": ["3 hours", "3 huors"], "constraints.budget": [1]}
    with pytest.raises(InputError) as caught:
        prepared(tmp_path, axes=axes)
    (issue,) = caught.value.issues
    assert (issue.code, issue.path) == ("unknown-unit", "constraints.deadline")


def test_combinations_may_contradict_themselves(tmp_path: Path) -> None:
    """Tests that values which are good somewhere are not refused as wrong."""
    axes = {"constraints.gpus.min": [1, 32], "constraints.gpus.max": [8, 64]}
    assert len(prepared(tmp_path, axes=axes).points.points) == 8
