"""Fit the constants of the step-time model to the published step times.

    python tools/fit_calibration.py [--folds 8] [--write] [--only megatron]

Robust least squares on the logarithm of predicted over measured step time of all good
rows of catalog/measurements, started from and drawn towards the priors of
tools/step_time_priors.py. Every source counts at most as much as ``SOURCE_WEIGHT``
rows, so that no large one dominates. No constant belongs to one model, run or source.
Folds leave whole sources out: their error is that of sources that the fit has not seen.

``--write`` puts the constants into catalog/calibration.yaml and catalog/frameworks,
and the spread of the residuals of the left-out sources into calibration.yaml
(tools/residual_spread.py).
"""

import argparse
import copy
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from residual_spread import Residual, generation_spreads, spreads, write_spreads
from scipy.optimize import least_squares
from step_time_priors import CONSTANTS, Constant

from solver.accuracy.cases import Case
from solver.accuracy.filling import case_from
from solver.accuracy.machines import hardware_of_machine
from solver.accuracy.predicting import predict
from solver.accuracy.scoring import RELIABLE_MFU, time_family
from solver.accuracy.stacks import framework_as_ran
from solver.accuracy.tables import SkippedRowError, read_tables
from solver.catalog.load import Catalog, load_catalog
from solver.hardware import calibration_for
from solver.spread import P90_Z, spread_of

FloatArray = NDArray[np.float64]

ROOT = Path(__file__).resolve().parents[1]
CALIBRATION = "calibration.yaml"

SOURCE_WEIGHT = 40
"""Rows that a source counts at most."""
LAUNCH_BOUND_WEIGHT = 0.05
"""Weight of runs below 15 % MFU, which the host and latency decide."""
ROBUST_SCALE = 0.08
"""Logarithmic residual from which on rows count less than by their square."""
EVERY = {"vTrain": 8, "nanotron": 2}
"""Of the largest sources every so many-th row is used."""


class Model:
    """The cases, and their predictions under other constants."""

    def __init__(self, catalog: Catalog, cases: Sequence[Case]) -> None:
        self.catalog = catalog
        self.generations = frozenset(catalog.calibration["generations"])
        self.cases = list(cases)
        self.measured = np.array([c.measured.step_time_s for c in cases], dtype=float)
        self.owners = [
            (calibration_for(c.machine.gpu, catalog.calibration).key, c.framework_id)
            for c in cases
        ]
        self.mfu = np.array([p.measured_mfu or 0.0 for p in predict(self.cases)])

    def ratios(
        self,
        constants: Sequence[Constant],
        values: FloatArray,
        rows: Sequence[int],
    ) -> FloatArray:
        """Logarithm of predicted over measured of ``rows``."""
        catalog = with_constants(self.catalog, constants, values)
        hardware: dict[object, Any] = {}
        frameworks: dict[object, Any] = {}
        cases = []
        for row in rows:
            case = self.cases[row]
            if case.hardware_key not in hardware:
                hardware[case.hardware_key] = hardware_of_machine(
                    catalog, case.machine, case.precision, case.year
                )
            if case.framework_key not in frameworks:
                framework_id, year, traits = case.framework_key
                frameworks[case.framework_key] = framework_as_ran(
                    catalog, framework_id, year, traits
                )
            cases.append(
                replace(
                    case,
                    hardware=hardware[case.hardware_key],
                    framework=frameworks[case.framework_key],
                )
            )
        times = np.array([p.step_time_s or np.nan for p in predict(cases)])
        return np.asarray(np.log(times / self.measured[list(rows)]))

    def touched(self, constant: Constant, rows: Sequence[int]) -> list[int]:
        """Positions in ``rows`` of the cases that a constant is part of."""
        which = 0 if constant.owner in self.generations else 1
        return [
            i for i, row in enumerate(rows) if self.owners[row][which] == constant.owner
        ]


def current(catalog: Catalog, constant: Constant) -> float:
    """The catalog's value of a constant."""
    if constant.owner in catalog.calibration["generations"]:
        return float(catalog.calibration["generations"][constant.owner][constant.name])
    return float(catalog.frameworks[constant.owner].constants[constant.name])


def with_constants(
    catalog: Catalog, constants: Sequence[Constant], values: FloatArray
) -> Catalog:
    """A catalog with other values of the constants."""
    changed = copy.copy(catalog)
    changed.__dict__ = dict(catalog.__dict__)
    calibration = dict(catalog.calibration)
    calibration["generations"] = {
        key: dict(entry) for key, entry in calibration["generations"].items()
    }
    frameworks = dict(catalog.frameworks)
    own: dict[str, dict[str, float]] = defaultdict(dict)
    for constant, value in zip(constants, values, strict=True):
        if constant.owner in calibration["generations"]:
            calibration["generations"][constant.owner][constant.name] = float(value)
        else:
            own[constant.owner][constant.name] = float(value)
    for name, numbers in own.items():
        merged = {**frameworks[name].constants, **numbers}
        frameworks[name] = frameworks[name].model_copy(update={"constants": merged})
    changed.__dict__["calibration"] = MappingProxyType(calibration)
    changed.__dict__["frameworks"] = frameworks
    return changed


def source_weights(model: Model, rows: Sequence[int]) -> FloatArray:
    """Weight of each row, so that no source counts more than ``SOURCE_WEIGHT``."""
    counts = Counter(model.cases[row].source for row in rows)
    found = [min(1.0, SOURCE_WEIGHT / counts[model.cases[r].source]) for r in rows]
    return np.array(found)


def weights(model: Model, rows: Sequence[int]) -> FloatArray:
    """Weight of each row: equal sources, launch-bound rows less."""
    reliable = model.mfu[list(rows)] >= RELIABLE_MFU
    return source_weights(model, rows) * np.where(reliable, 1.0, LAUNCH_BOUND_WEIGHT)


def fit(
    model: Model, constants: Sequence[Constant], rows: Sequence[int], steps: int
) -> FloatArray:
    """Values of the constants that fit ``rows`` best."""
    rows = list(rows)
    start = np.array([c.prior for c in constants])
    root = np.sqrt(weights(model, rows))
    touched = [model.touched(c, rows) for c in constants]
    priors = np.array([c.spread for c in constants])
    upper = np.log(np.array([c.most for c in constants]) / start) + 1e-9
    lower = np.full(len(start), -5.0)

    def residuals(x: FloatArray) -> FloatArray:
        logs = model.ratios(constants, start * np.exp(x), rows)
        return np.concatenate([root * logs, ROBUST_SCALE * x / priors])

    def jacobian(x: FloatArray) -> FloatArray:
        found = np.zeros((len(rows) + len(x), len(x)))
        base = model.ratios(constants, start * np.exp(x), rows)
        for j, positions in enumerate(touched):
            moved = x.copy()
            moved[j] += 0.02
            some = [rows[i] for i in positions]
            if some:
                logs = model.ratios(constants, start * np.exp(moved), some)
                slope = (logs - base[positions]) / 0.02
                found[positions, j] = root[positions] * slope
            found[len(rows) + j, j] = ROBUST_SCALE / priors[j]
        return found

    def loss(z: FloatArray) -> FloatArray:
        """Cauchy's for the rows; priors keep their pull however far they are left."""
        rho = np.stack([z, np.ones_like(z), np.zeros_like(z)])
        data, size = z[: len(rows)], 1.0 + z[: len(rows)]
        rho[:, : len(data)] = np.log(size), 1.0 / size, -1.0 / size**2
        return rho

    result = least_squares(
        residuals,
        np.clip(np.zeros(len(start)), lower, upper),
        jac=jacobian,
        bounds=(lower, upper),
        loss=loss,
        f_scale=ROBUST_SCALE,
        max_nfev=steps,
    )
    return np.asarray(start * np.exp(result.x))


def left_out(
    model: Model, constants: Sequence[Constant], folds: int, steps: int
) -> FloatArray:
    """Logarithmic ratio of every row, fitted without the sources of its fold."""
    sources = sorted({c.source for c in model.cases})
    order = np.random.default_rng(0).permutation(len(sources))
    fold_of = {sources[s]: i % folds for i, s in enumerate(order)}
    found = np.full(len(model.cases), np.nan)
    for fold in range(folds):
        out = [i for i, c in enumerate(model.cases) if fold_of[c.source] == fold]
        rest = [i for i, c in enumerate(model.cases) if fold_of[c.source] != fold]
        values = fit(model, constants, rest, steps)
        found[out] = model.ratios(constants, values, out)
    return found


def cases_of(catalog: Catalog) -> list[Case]:
    """The good step times that are fitted."""
    rows, _ = read_tables(None)
    seen: Counter[str] = Counter()
    cases = []
    for row in rows:
        if "step_time" not in row.metrics or row.text("quality") != "good":
            continue
        try:
            case = case_from(row, catalog)
        except SkippedRowError:
            continue
        if case.measured.step_time_s is None:
            continue
        every = next((n for w, n in EVERY.items() if w in case.source), 1)
        seen[case.source] += 1
        if seen[case.source] % every == 0 or every == 1:
            cases.append(case)
    return cases


@dataclass(frozen=True)
class Errors:
    """Errors of one group, per cent."""

    n: int
    mean: float
    median: float
    bias: float


def errors_of(logs: FloatArray) -> Errors:
    """Errors of logarithmic ratios."""
    error = 100.0 * np.abs(np.exp(logs) - 1.0)
    bias = 100.0 * (np.exp(np.median(logs)) - 1.0)
    return Errors(len(logs), error.mean(), float(np.median(error)), float(bias))


def members(model: Model) -> dict[str, list[int]]:
    """Rows by family, and by framework above 15 % MFU."""
    groups: dict[str, list[int]] = defaultdict(list)
    for i, (_, framework) in enumerate(model.owners):
        case = model.cases[i]
        family = time_family(
            framework, case.gpu, moe=case.shape.is_moe, mfu=model.mfu[i]
        )
        groups[family].append(i)
        if model.mfu[i] >= RELIABLE_MFU:
            groups[f"{framework}, {case.kind}"].append(i)
    return {name: groups[name] for name in sorted(groups)}


def families(model: Model, logs: FloatArray) -> dict[str, Errors]:
    """Errors by family, and by framework above 15 % MFU."""
    return {name: errors_of(logs[rows]) for name, rows in members(model).items()}


def report(title: str, model: Model, logs: FloatArray) -> None:
    """Print errors by family."""
    lines = [title]
    for name, e in families(model, logs).items():
        lines.append(
            f"  {name:32} n {e.n:5d}  mean {e.mean:5.1f}  median {e.median:5.1f}"
            f"  bias {e.bias:+5.1f}"
        )
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()


def residuals_of(model: Model, logs: FloatArray) -> list[Residual]:
    """What the predictions whose logarithmic ratios are ``logs`` missed by."""
    shares = source_weights(model, range(len(model.cases)))
    return [
        Residual(
            source=case.source,
            generation=generation,
            framework=framework,
            moe=case.shape.is_moe,
            mfu=float(model.mfu[i] * np.exp(-logs[i])),
            late=-float(logs[i]),
            weight=float(shares[i]),
        )
        for i, (case, (generation, framework)) in enumerate(
            zip(model.cases, model.owners, strict=True)
        )
    ]


def write(constants: Sequence[Constant], values: FloatArray, model: Model) -> None:
    """Put values into the catalog's files, remarks untouched."""
    for constant, value in zip(constants, values, strict=True):
        if constant.owner in model.generations:
            path, block = ROOT / "catalog" / CALIBRATION, constant.owner
        else:
            path = ROOT / "catalog" / "frameworks" / f"{constant.owner}.yaml"
            block = "constants"
        _replace(path, block, constant.name, f"{value:.3g}")


def write_spread(residuals: Sequence[Residual]) -> None:
    """Put the spread of left-out sources into calibration.yaml."""
    path = ROOT / "catalog" / CALIBRATION
    write_spreads(path, spreads(residuals))
    for generation, sigma in generation_spreads(residuals).items():
        _replace(path, generation, "sigma", f"{sigma:.3f}")


def below_p90(residuals: Sequence[Residual], model: Model) -> FloatArray:
    """1 where a run ended before the 90th percentile that the catalog now predicts."""
    calibration = load_catalog(()).calibration
    found = []
    for case, r in zip(model.cases, residuals, strict=True):
        spread = spread_of(case.machine.gpu, r.framework, calibration, moe=r.moe)
        found.append(float(r.late <= P90_Z * spread.at(r.mfu)))
    return np.array(found)


def write_left_out(model: Model, logs: FloatArray) -> None:
    """Write the errors of left-out sources, for docs/accuracy.md."""
    below = below_p90(residuals_of(model, logs), model)
    shares = {name: below[rows].mean() for name, rows in members(model).items()}
    lines = [
        "# Errors of step times whose sources were left out of the fit, per cent",
        "# (tools/fit_calibration.py); below_p90: share that the predicted 90th",
        "# percentile covers.",
        *(
            f'"{name}": {{n: {e.n}, mean: {e.mean:.1f}, median: {e.median:.1f}, '
            f"bias: {e.bias:.1f}, below_p90: {100 * shares[name]:.0f}}}"
            for name, e in families(model, logs).items()
        ),
    ]
    path = ROOT / "catalog" / "measurements" / "left_out.yaml"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _replace(path: Path, block: str, name: str, value: str) -> None:
    """Replace one number within an indented block of a YAML file."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    inside, indent = False, 0
    for number, line in enumerate(lines):
        depth = len(line) - len(line.lstrip())
        if re.match(rf"\s*{re.escape(block)}:", line):
            inside, indent = True, depth
            continue
        if inside and line.strip() and not line.lstrip().startswith("#"):
            if depth <= indent:
                inside = False
            elif re.match(rf"\s*{re.escape(name)}:", line):
                pattern = rf"^(\s*{re.escape(name)}: *)[-+.\deE]+"
                lines[number] = re.sub(pattern, rf"\g<1>{value}", line)
                path.write_text("".join(lines), encoding="utf-8")
                return
    raise SystemExit(f"{path.name}: no '{name}' under '{block}'")


def main() -> None:
    """Fit, print errors and constants, and write them where asked."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--folds", type=int, default=8, help="0: no folds")
    parser.add_argument("--steps", type=int, default=6, help="of the minimiser")
    parser.add_argument("--only", default="", help="fit constants of one owner")
    parser.add_argument("--write", action="store_true", help="change the catalog")
    arguments = parser.parse_args()
    catalog = load_catalog(())
    model = Model(catalog, cases_of(catalog))
    constants = [c for c in CONSTANTS if arguments.only in ("", c.owner)]
    everything = range(len(model.cases))
    old_values = np.array([current(catalog, c) for c in constants])
    report("before", model, model.ratios(constants, old_values, everything))
    values = fit(model, constants, everything, arguments.steps)
    logs = model.ratios(constants, values, everything)
    report("fitted on all", model, logs)
    for constant, old, new in zip(constants, old_values, values, strict=True):
        sys.stdout.write(f"  {constant.key:36} {old:10.4g} -> {new:10.4g}\n")
    if arguments.folds > 1:
        logs = left_out(model, constants, arguments.folds, arguments.steps)
        report("sources left out", model, logs)
    if arguments.write:
        write(constants, values, model)
        if arguments.folds > 1 and not arguments.only:
            write_spread(residuals_of(model, logs))
            write_left_out(model, logs)


if __name__ == "__main__":
    main()
