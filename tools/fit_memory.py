"""Fit the constants of the memory model to the published peaks of memory.

    python tools/fit_memory.py [--folds 4] [--write] [--only hf-trainer]

Robust least squares on the logarithm of predicted over measured peak of all good rows
of catalog/measurements, drawn towards ``USUAL`` and ``OWN``. Each framework class is
fitted by itself. Repeats of one configuration count once, and every source at most as
much as ``SOURCE_WEIGHT`` rows, so that no large one dominates; reserved memory that
nears the card's size counts nothing. Rows that do not say whether tensor parallelism
came with sequence parallelism count by the nearer of both.

Folds leave whole sources out, and of a class with one large source whole models: their
error is that of sources, or models, which the fit has not seen. ``--write`` puts the
constants and their errors into catalog/frameworks, and the errors of what was left out
into catalog/measurements/left_out_memory.yaml.
"""

import argparse
import copy
import re
import sys
import textwrap
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

from solver.accuracy.cases import Case
from solver.accuracy.filling import case_from
from solver.accuracy.predicting import predict
from solver.accuracy.stacks import framework_as_ran
from solver.accuracy.tables import SkippedRowError, read_tables
from solver.catalog.load import Catalog, load_catalog
from solver.performance.inputs import Framework

FloatArray = NDArray[np.float64]

ROOT = Path(__file__).resolve().parents[1]
LEFT_OUT = ROOT / "catalog" / "measurements" / "left_out_memory.yaml"

SOURCE_WEIGHT = 40.0
"""Configurations that a source counts at most."""
ROBUST_SCALE = 0.08
"""Logarithmic residual from which on rows count less than by their square."""
FILLED = 0.85
"""Share of the card from which on reserved memory says what was free, not needed."""
STARTS = (-0.1, 0.0, 0.1)
"""Logarithms of where the minimiser starts over the priors: the nearer of two ways
changes with the constants, which makes several minima."""
ALONE = 0.9
"""Share of a class's rows from which on a source's models are left out instead."""


@dataclass(frozen=True)
class Constant:
    """One number of catalog/frameworks that is fitted."""

    owner: str
    name: str
    prior: float
    """Value that is believed beforehand: tensors as they are counted."""
    spread: float
    """Spread of its logarithm beforehand."""

    @property
    def key(self) -> str:
        """How it is printed."""
        return f"{self.owner}.{self.name}"


USUAL = """
logit_bytes 12 0.3
base_gib    1  0.5
"""
"""Name, value and spread before these measurements of the constants of every class:
logits in 16 bits and fp32, their gradients, the loss's own."""

OWN = """
megatron     activation_factor 1    0.15
torchtitan   activation_factor 1    0.15
nanotron     activation_factor 1.3  0.15
hf-trainer   activation_factor 1.3  0.15
pytorch-fsdp activation_factor 1.3  0.15
deepspeed    activation_factor 1.3  0.15
hf-trainer   gathered_layers   2    0.3
pytorch-fsdp gathered_layers   2    0.3
torchtitan   selective_factor  0.35 0.3
nanotron     whole_tensors     2    0.3
"""
"""The same of constants of one class. Activations are those tensors that are counted
where kernels are fused or compiled; eager PyTorch keeps some of norms, rotary embedding
and dropout besides."""

CLASSES = (
    "megatron",
    "nanotron",
    "hf-trainer",
    "pytorch-fsdp",
    "torchtitan",
    "deepspeed",
)


def constants_of(owner: str) -> list[Constant]:
    """The constants of a class with their priors."""
    lines = [line for line in OWN.strip().splitlines() if line.split()[0] == owner]
    lines += [f"{owner} {line}" for line in USUAL.strip().splitlines()]
    return [
        Constant(of, name, float(value), float(spread))
        for of, name, value, spread in map(str.split, lines)
    ]


class Model:
    """The cases of one class, and their predictions under other constants."""

    def __init__(self, catalog: Catalog, cases: Sequence[Case]) -> None:
        self.catalog = catalog
        self.cases = list(cases)
        self.measured = np.array([c.measured.peak_memory_gib for c in cases])
        self.repeats = Counter(map(configuration, self.cases))

    def ratios(
        self, constants: Sequence[Constant], values: FloatArray, rows: Sequence[int]
    ) -> tuple[FloatArray, FloatArray]:
        """Logarithm of predicted over measured of ``rows``, and of the nearer of both.

        The second takes sequence parallelism as it fits better where a row does not
        say.
        """
        catalog = with_constants(self.catalog, constants, values)
        frameworks: dict[object, Framework] = {}
        cases = []
        for row in rows:
            case = self.cases[row]
            if case.framework_key not in frameworks:
                framework_id, year, traits = case.framework_key
                frameworks[case.framework_key] = framework_as_ran(
                    catalog, framework_id, year, traits
                )
            framework = frameworks[case.framework_key]
            cases.append(replace(case, framework=framework))
        found = predict(cases)
        peaks = np.array([p.peak_memory_gib for p in found], dtype=float)
        others = np.array([p.other_memory_gib or np.nan for p in found], dtype=float)
        measured = self.measured[list(rows)]
        taken, other = np.log(peaks / measured), np.log(others / measured)
        nearer = np.where(np.abs(other) < np.abs(taken), other, taken)
        return taken, nearer

    def weights(self, rows: Sequence[int]) -> FloatArray:
        """Weight of each row: repeats together one, sources alike."""
        own = np.array([1 / self.repeats[configuration(self.cases[r])] for r in rows])
        total: dict[str, float] = defaultdict(float)
        for row, weight in zip(rows, own, strict=True):
            total[self.cases[row].source] += weight
        most = [min(1.0, SOURCE_WEIGHT / total[self.cases[r].source]) for r in rows]
        told = [0.0 if is_full(self.cases[r]) else 1.0 for r in rows]
        return own * np.array(most) * np.array(told)

    def fold_names(self) -> list[str]:
        """What each row is left out with: its source, or its model."""
        counts = Counter(case.source for case in self.cases)
        source, most = counts.most_common(1)[0]
        if most >= ALONE * len(self.cases):
            return [c.model if c.source == source else c.source for c in self.cases]
        return [c.source for c in self.cases]


def is_full(case: Case) -> bool:
    """Whether reserved memory nears the card's: the allocator fills what is free."""
    peak = case.measured.peak_memory_gib or 0.0
    return case.measured.reserved and peak > FILLED * case.capacity_gib


def configuration(case: Case) -> tuple[object, ...]:
    """What repeats of one run share."""
    layout = tuple(sorted(case.layout.items()))
    return (case.source, case.model, case.job, case.framework_key, case.gpu, layout)


def with_constants(
    catalog: Catalog, constants: Sequence[Constant], values: Iterable[float]
) -> Catalog:
    """A catalog with other values of the constants."""
    own: dict[str, dict[str, float]] = defaultdict(dict)
    for constant, value in zip(constants, values, strict=True):
        own[constant.owner][constant.name] = float(value)
    frameworks = dict(catalog.frameworks)
    for name, numbers in own.items():
        frameworks[name] = frameworks[name].model_copy(update=numbers)
    changed = copy.copy(catalog)
    changed.__dict__ = {**catalog.__dict__, "frameworks": frameworks}
    return changed


def fit(
    model: Model, constants: Sequence[Constant], rows: Sequence[int], steps: int
) -> FloatArray:
    """Values of the constants that fit ``rows`` best."""
    start = np.array([c.prior for c in constants])
    spread = np.array([c.spread for c in constants])
    root = np.sqrt(model.weights(rows))

    def residuals(x: FloatArray) -> FloatArray:
        _, nearer = model.ratios(constants, start * np.exp(x), rows)
        return np.concatenate([root * nearer, ROBUST_SCALE * x / spread])

    found = [
        least_squares(
            residuals,
            np.full(len(start), shift),
            diff_step=0.02,
            x_scale=0.1,
            loss="cauchy",
            f_scale=ROBUST_SCALE,
            max_nfev=steps,
        )
        for shift in STARTS
    ]
    best = min(found, key=lambda result: float(result.cost))
    return np.asarray(start * np.exp(best.x))


def left_out(
    model: Model, constants: Sequence[Constant], folds: int, steps: int
) -> tuple[FloatArray, FloatArray]:
    """`Model.ratios` of every row, fitted without what its fold leaves out."""
    names = model.fold_names()
    kinds = sorted(set(names))
    order = np.random.default_rng(0).permutation(len(kinds))
    fold_of = {kinds[k]: i % folds for i, k in enumerate(order)}
    found = np.full((2, len(names)), np.nan)
    for fold in sorted(set(fold_of.values())):
        out = [i for i, name in enumerate(names) if fold_of[name] == fold]
        rest = [i for i, name in enumerate(names) if fold_of[name] != fold]
        values = np.array([c.prior for c in constants])
        if rest:
            values = fit(model, constants, rest, steps)
        found[:, out] = model.ratios(constants, values, out)
    return found[0], found[1]


def cases_of(catalog: Catalog) -> dict[str, list[Case]]:
    """The good peaks of memory by framework class."""
    rows, _ = read_tables(None)
    found: dict[str, list[Case]] = defaultdict(list)
    for row in rows:
        if "memory" not in row.metrics or row.text("quality") != "good":
            continue
        try:
            case = case_from(row, catalog)
        except SkippedRowError:
            continue
        if case.measured.peak_memory_gib is not None:
            found[case.framework_id].append(case)
    return found


@dataclass(frozen=True)
class Errors:
    """Errors of one group, per cent."""

    n: int
    mean: float
    median: float
    bias: float

    def __str__(self) -> str:
        """One line of the report."""
        return (
            f"n {self.n:5d}  mean {self.mean:5.1f}  median {self.median:5.1f}"
            f"  bias {self.bias:+5.1f}"
        )


def errors_of(logs: FloatArray) -> Errors:
    """Errors of logarithmic ratios."""
    error = 100.0 * np.abs(np.expm1(logs))
    bias = 100.0 * np.expm1(np.median(logs))
    return Errors(len(logs), float(error.mean()), float(np.median(error)), float(bias))


@dataclass(frozen=True)
class Fitted:
    """One class: its constants, and the ratios fitted and left out."""

    model: Model
    constants: list[Constant]
    values: FloatArray
    logs: FloatArray
    out: FloatArray
    out_nearer: FloatArray


def fitted(
    catalog: Catalog, owner: str, cases: Sequence[Case], folds: int, steps: int
) -> Fitted:
    """Fit one class and print what came of it."""
    model, constants = Model(catalog, cases), constants_of(owner)
    rows = range(len(cases))
    entry = catalog.frameworks[owner]
    old = np.array([float(getattr(entry, c.name)) for c in constants])
    before, before_nearer = model.ratios(constants, old, rows)
    values = fit(model, constants, rows, steps)
    logs, nearer = model.ratios(constants, values, rows)
    out, out_nearer = np.full(len(cases), np.nan), np.full(len(cases), np.nan)
    if folds > 1:
        out, out_nearer = left_out(model, constants, folds, steps)
    lines = [owner]
    for name, taken, both in (
        ("before", before, before_nearer),
        ("fitted", logs, nearer),
        ("left out", out, out_nearer),
    ):
        if np.isfinite(taken).all():
            better = np.median(100.0 * np.abs(np.expm1(both)))
            lines += [f"  {name:10} {errors_of(taken)}  better way {better:5.1f}"]
    for constant, a, b in zip(constants, old, values, strict=True):
        lines += [f"  {constant.name:20} {a:8.4g} -> {b:8.4g}"]
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()
    return Fitted(model, constants, values, logs, out, out_nearer)


def write(owner: str, found: Fitted) -> None:
    """Put a class's constants and their errors into its file."""
    path = ROOT / "catalog" / "frameworks" / f"{owner}.yaml"
    text = path.read_text(encoding="utf-8")
    for constant, value in zip(found.constants, found.values, strict=True):
        line = rf"(?m)^({constant.name}: *)[-+.\deE]+"
        text, count = re.subn(line, rf"\g<1>{value:.3g}", text)
        if count != 1:
            raise SystemExit(f"{path.name}: no '{constant.name}'")
    path.write_text(with_note(text, sentence(found)), encoding="utf-8")


def sentence(found: Fitted) -> str:
    """What the note of a class says of its fit."""
    e = errors_of(found.logs)
    text = (
        f"Memory fitted on {e.n:,} published runs ({datetime.now(UTC):%Y-%m}), error "
        f"there median {e.median:.1f} %, mean {e.mean:.1f} %"
    )
    if np.isfinite(found.out).all():
        out = errors_of(found.out)
        text += f"; left out of the fit {out.median:.1f} %, {out.mean:.1f} %"
    return text + "."


def with_note(text: str, told: str) -> str:
    """A framework's YAML with its note beginning with ``told``."""
    match = re.search(r"(?m)^note: >-\n((?:  .*\n)+)", text)
    if match is None:
        raise SystemExit("no note")
    words = " ".join(match[1].split())
    rest = re.sub(r"^Memory fitted on .*? %\.(?= |$)", "", words).strip()
    block = textwrap.wrap(
        f"{told} {rest}".strip(),
        86,
        initial_indent="  ",
        subsequent_indent="  ",
        break_on_hyphens=False,
    )
    return text[: match.start(1)] + "\n".join(block) + "\n" + text[match.end(1) :]


def write_left_out(found: dict[str, Fitted]) -> None:
    """Write the errors of what was left out, for docs/accuracy.md."""
    groups: dict[str, list[FloatArray]] = defaultdict(list)
    for owner, one in found.items():
        unknown = np.array(["sp" in case.assumed for case in one.model.cases])
        groups[owner].append(one.out)
        groups["sequence parallelism stated or without effect"].append(
            one.out[~unknown]
        )
        groups["not stated: as assumed"].append(one.out[unknown])
        groups["not stated: the better"].append(one.out_nearer[unknown])
        groups["all"].append(one.out)
    lines = [
        "# Errors of peak memory of sources, or models of nanotron and Megatron, that",
        "# were left out of the fit, per cent (tools/fit_memory.py).",
    ]
    for name, logs in groups.items():
        e = errors_of(np.concatenate(logs))
        lines.append(
            f'"{name}": {{n: {e.n}, mean: {e.mean:.1f}, median: {e.median:.1f}, '
            f"bias: {e.bias:.1f}}}"
        )
    LEFT_OUT.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    """Fit, print errors and constants, and write them where asked."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--folds", type=int, default=4, help="0: no folds")
    parser.add_argument("--steps", type=int, default=12, help="of the minimiser")
    parser.add_argument("--only", default="", help="fit one framework class")
    parser.add_argument("--write", action="store_true", help="change the catalog")
    arguments = parser.parse_args()
    catalog = load_catalog(())
    cases = cases_of(catalog)
    found = {
        owner: fitted(catalog, owner, cases[owner], arguments.folds, arguments.steps)
        for owner in CLASSES
        if arguments.only in ("", owner)
    }
    if arguments.write:
        for owner, one in found.items():
            write(owner, one)
        if arguments.folds > 1 and not arguments.only:
            write_left_out(found)


if __name__ == "__main__":
    main()
