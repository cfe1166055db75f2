"""Tests that every number of a catalog has limits, which name their unit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
from pydantic import BaseModel, ValidationError

from solver.catalog.bounds import FRAMEWORK_CONSTANTS, Bounds, bounds_of
from solver.catalog.consistency import check_catalog
from solver.catalog.load import PARTS, load_catalog
from solver.catalog.schema import Delivery, Gpu
from solver.errors import InputError, Issue
from solver.performance.stack import Stack
from tests.catalog.small import copy_of_small, write
from tests.planning.jobs import catalog
from tests.project.source import ROOT

MODELS: tuple[type[BaseModel], ...] = (*(p.model for p in PARTS.values()), Delivery)


def bare_numbers(annotation: Any, limited: bool = False) -> Iterator[type]:
    """Yield the number types in an annotation that stand without limits."""
    marks = getattr(annotation, "__metadata__", ())
    limited = limited or any(isinstance(mark, Bounds) for mark in marks)
    if annotation in (int, float) and not limited:
        yield annotation
    for part in get_args(annotation):
        if isinstance(part, type) or get_args(part):
            yield from bare_numbers(part, limited)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_every_number_has_limits(model: type[BaseModel]) -> None:
    """Tests that no field of a record takes whatever number is written."""
    hints = get_type_hints(model, include_extras=True)
    bare = [f for f in model.model_fields if list(bare_numbers(hints[f]))]
    assert bare == []


@pytest.mark.parametrize("kind", sorted(PARTS))
def test_numbers_outside_are_refused(kind: str) -> None:
    """Tests each number of a shipped entry below and above its limits, and as true."""
    entry = next(iter(catalog().entries(kind).values()))
    data = entry.model_dump()
    model = PARTS[kind].model
    for field in model.model_fields:
        bounds = bounds_of(model, field)
        if bounds is None or isinstance(data[field], dict | tuple):
            continue
        for wrong in (bounds.high * 2, bounds.low - 1, float("nan"), True):
            with pytest.raises(ValidationError):
                model.model_validate(data | {field: wrong})
        for right in (bounds.low, bounds.high):
            model.model_validate(data | {field: right})


def test_limits_are_written_for_people() -> None:
    """Tests how limits are told."""
    assert str(Bounds(0.1, 1e6, "TFLOP/s")) == "0.1 to 1,000,000 TFLOP/s"
    assert str(Bounds(1, 64)) == "1 to 64"
    assert bounds_of(Gpu, "memory_gb") == Bounds(1, 1e5, "GB")
    assert bounds_of(Gpu, "vendor") is None


def test_limits_of_framework_constants() -> None:
    """Tests that every constant of the model of step times has limits."""
    assert {field.name for field in fields(Stack)} <= set(FRAMEWORK_CONSTANTS)
    for field in fields(Stack):
        assert FRAMEWORK_CONSTANTS[field.name].allows(float(str(field.default)))


def _faults(folder: Path) -> list[Issue]:
    """Return what is found wrong with a catalog folder over the shipped catalog."""
    try:
        return check_catalog(load_catalog([folder], environment={}))
    except InputError as error:
        return list(error.issues)


GPU = (ROOT / "catalog/gpus/h100-sxm-80gb.yaml").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("bf16_tflops", "1e9", "expected 0.1 to 1,000,000 TFLOP/s, not 1000000000.0"),
        ("memory_gb", "0", "expected 1 to 100,000 GB, not 0"),
        ("memory_gb", "true", "expected a number, not True"),
        ("pcie_lanes", "0", "expected 1 to 64, not 0"),
        ("tdp_w", "-700", "expected 0 to 100,000 W, not -700"),
    ],
)
def test_a_number_of_a_file(
    tmp_path: Path, field: str, value: str, expected: str
) -> None:
    """Tests that a number out of range is told at its line, with its unit."""
    text = re.sub(rf"(?m)^{field}:.*\n", "", GPU) + f"\n{field}: {value}\n"
    folder = write(tmp_path, "gpus/mine.yaml", text.replace("aliases:", "#"))
    issue = next(i for i in _faults(folder) if i.path == f"mine.{field}")
    assert issue.code in ("out-of-range", "wrong-type")
    assert issue.message == expected
    line = text.replace("aliases:", "#").splitlines().index(f"{field}: {value}") + 1
    assert str(issue.where).endswith(f"gpus/mine.yaml:{line}:{len(field) + 3}")


def test_a_number_of_a_table(tmp_path: Path) -> None:
    """Tests that a price out of range is told at its cell."""
    folder = copy_of_small(tmp_path)
    offers = folder / "offers" / "acme.csv"
    lines = offers.read_text(encoding="utf-8").splitlines()
    column = lines[0].split(",").index("usd_per_node_hour")
    cells = lines[1].split(",")
    cells[column] = "1e300"
    offers.write_text("\n".join([lines[0], ",".join(cells)]) + "\n", encoding="utf-8")
    issue = _faults(folder)[0]
    assert issue.code == "out-of-range"
    assert issue.message == "expected 0 to 1,000,000 USD per node-hour, not '1e300'"
    assert str(issue.where).startswith(f"{offers}:2:")


def test_a_generation_without_figures(tmp_path: Path) -> None:
    """Tests that a generation that calibration.yaml lacks is told with the nearest."""
    text = GPU.replace("generation: hopper", "generation: hoper", 1)
    folder = write(tmp_path, "gpus/mine.yaml", text.replace("aliases:", "#"))
    (issue,) = [i for i in _faults(folder) if i.path == "mine.generation"]
    assert (issue.code, issue.hint) == ("unknown-reference", "hopper")


@pytest.mark.parametrize(
    ("old", "new", "code", "path"),
    [
        ("gated_tensors: 3", "gated_tensors: -1", "out-of-range", "mine.gated_tensors"),
        ("weight_bytes: 2", "weight_bytes: -2", "out-of-range", "mine.weight_bytes"),
        (
            "zero_stages: [0, 1]",
            "zero_stages: [0, 5]",
            "out-of-range",
            "mine.zero_stages[1]",
        ),
        (
            "  straggler: ",
            "  straggler: -",
            "out-of-range",
            "mine.constants.straggler",
        ),
        (
            "  straggler: ",
            "  stragler: ",
            "unknown-key",
            "mine.constants.stragler",
        ),
        (
            "gated_tensors: 3",
            "gated_tensors: 3\ndefault_optimizer: adamm",
            "unknown-reference",
            "mine.default_optimizer",
        ),
    ],
)
def test_a_framework_of_ones_own(
    tmp_path: Path, old: str, new: str, code: str, path: str
) -> None:
    """Tests that bytes, stages, constants and the optimizer of a framework are held."""
    text = (ROOT / "catalog/frameworks/megatron.yaml").read_text(encoding="utf-8")
    assert old in text
    folder = write(tmp_path, "frameworks/mine.yaml", text.replace(old, new, 1))
    issue = next(i for i in _faults(folder) if i.path == path)
    assert issue.code == code
