"""Fit the constants of the step-time model to the published step times.

    python tools/fit_calibration.py [--folds 4] [--write] [--only megatron]

Robust least squares on the logarithm of predicted over measured step time of all good
rows of catalog/measurements, started from and drawn towards the values that the catalog
has. Every source counts at most as much as ``SOURCE_WEIGHT`` rows, so that no large one
dominates. No constant belongs to one model, run or source. Folds leave whole sources
out: their error is that of sources which the fit has not seen.

``--write`` puts the constants into catalog/calibration.yaml and catalog/frameworks,
and the spread of the residuals of the left-out sources into calibration.yaml.
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
from scipy.optimize import least_squares

from solver.accuracy.cases import Case
from solver.accuracy.filling import case_from
from solver.accuracy.machines import hardware_of_machine
from solver.accuracy.predicting import predict
from solver.accuracy.scoring import RELIABLE_MFU
from solver.accuracy.stacks import framework_as_ran
from solver.accuracy.tables import SkippedRowError, read_tables
from solver.catalog.load import Catalog, load_catalog
from solver.hardware import calibration_for

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


@dataclass(frozen=True)
class Constant:
    """One number of the catalog that is fitted."""

    place: str
    """generation or framework."""
    owner: str
    name: str
    prior: float
    """Spread of the logarithm that is believed beforehand."""
    least: float
    most: float

    @property
    def key(self) -> str:
        """How it is printed."""
        return f"{self.owner}.{self.name}"


def _generation(owner: str, prior: float, *names: str) -> list[Constant]:
    return [Constant("generation", owner, n, prior, 0.02, 0.95) for n in names]


def _shares(owner: str, prior: float, *names: str) -> list[Constant]:
    return [Constant("framework", owner, n, prior, 0.01, 1.0) for n in names]


def _amounts(owner: str, prior: float, *names: str) -> list[Constant]:
    return [Constant("framework", owner, n, prior, 1e-7, 100.0) for n in names]


CONSTANTS = [
    *_generation("volta", 0.1, "gemm_16bit"),
    *_generation("ampere", 0.1, "gemm_16bit", "attention"),
    *_generation("hopper", 0.1, "gemm_16bit", "gemm_fp8", "attention"),
    *_generation("hopper", 0.1, "attention@2024", "plain_rate"),
    *_generation("blackwell", 0.1, "gemm_16bit", "gemm_fp8", "gemm_mxfp8"),
    *_generation("blackwell", 0.1, "gemm_nvfp4", "attention"),
    *_generation("blackwell-ultra", 0.1, "gemm_16bit", "gemm_fp8", "gemm_mxfp8"),
    *_generation("blackwell-ultra", 0.1, "gemm_nvfp4"),
    *_amounts("megatron", 0.2, "elementwise", "elementwise@2022", "host_moe_layer_s"),
    *_amounts("megatron", 0.2, "host_layer_s@2022", "unfused_passes", "loss_bytes"),
    *_amounts("megatron", 0.2, "loss_bytes@2022", "cast_passes", "permute_passes"),
    *_amounts("megatron", 0.2, "accumulate_bytes", "ep_factor", "straggler"),
    *_shares("megatron", 0.3, "tp_exposed", "dp_exposed", "pp_exposed", "cp_exposed"),
    *_shares("megatron", 0.3, "pp_exposed@2022"),
    *_amounts("pytorch-fsdp", 0.2, "elementwise", "host_layer_s", "loss_bytes"),
    *_shares("pytorch-fsdp", 0.3, "fsdp_exposed"),
    *_amounts("hf-trainer", 0.2, "elementwise", "host_layer_s", "nf4_passes"),
    *_amounts("hf-trainer", 0.2, "lora_host"),
    *_amounts("deepspeed", 0.1, "elementwise"),
    *_shares("deepspeed", 0.3, "fsdp_exposed"),
    *_amounts("torchtitan", 0.2, "elementwise"),
    *_shares("torchtitan", 0.3, "fsdp_exposed", "tp_exposed", "cp_exposed"),
    *_amounts("nanotron", 1.0, "elementwise", "host_layer_s", "host_rank_s"),
    *_amounts("nanotron", 1.0, "host_pipeline_rank_s", "host_step_s"),
    *_shares("nanotron", 1.0, "tp_exposed", "dp_exposed", "pp_exposed"),
]


class Model:
    """The cases, and their predictions under other constants."""

    def __init__(self, catalog: Catalog, cases: Sequence[Case]) -> None:
        self.catalog = catalog
        self.cases = list(cases)
        self.measured = np.array([c.measured.step_time_s for c in cases], dtype=float)
        self.owners = [
            (calibration_for(c.machine.gpu, catalog.calibration).key, c.framework_id)
            for c in cases
        ]
        self.mfu = np.array([p.measured_mfu or 0.0 for p in predict(self.cases)])

    def start(self, constants: Sequence[Constant]) -> FloatArray:
        """The catalog's values."""
        return np.array([current(self.catalog, c) for c in constants])

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
        which = 0 if constant.place == "generation" else 1
        return [
            i for i, row in enumerate(rows) if self.owners[row][which] == constant.owner
        ]


def current(catalog: Catalog, constant: Constant) -> float:
    """The catalog's value of a constant."""
    if constant.place == "generation":
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
        if constant.place == "generation":
            calibration["generations"][constant.owner][constant.name] = float(value)
        else:
            own[constant.owner][constant.name] = float(value)
    for name, numbers in own.items():
        merged = {**frameworks[name].constants, **numbers}
        frameworks[name] = frameworks[name].model_copy(update={"constants": merged})
    changed.__dict__["calibration"] = MappingProxyType(calibration)
    changed.__dict__["frameworks"] = frameworks
    return changed


def weights(model: Model, rows: Sequence[int]) -> FloatArray:
    """Weight of each row: equal sources, launch-bound rows less."""
    counts = Counter(model.cases[row].source for row in rows)
    found = [
        min(1.0, SOURCE_WEIGHT / counts[model.cases[row].source])
        * (1.0 if model.mfu[row] >= RELIABLE_MFU else LAUNCH_BOUND_WEIGHT)
        for row in rows
    ]
    return np.array(found)


def fit(
    model: Model, constants: Sequence[Constant], rows: Sequence[int], steps: int
) -> FloatArray:
    """Values of the constants that fit ``rows`` best."""
    rows = list(rows)
    start = model.start(constants)
    root = np.sqrt(weights(model, rows))
    touched = [model.touched(c, rows) for c in constants]
    priors = np.array([c.prior for c in constants])
    lower = np.log(np.array([c.least for c in constants]) / start) - 1e-9
    upper = np.log(np.array([c.most for c in constants]) / start) + 1e-9

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

    result = least_squares(
        residuals,
        np.clip(np.zeros(len(start)), lower, upper),
        jac=jacobian,
        bounds=(lower, upper),
        loss="cauchy",
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


def report(title: str, model: Model, logs: FloatArray) -> None:
    """Print errors by framework, generation and kind."""
    lines = [title]
    groups: dict[str, list[int]] = defaultdict(list)
    for i, (generation, framework) in enumerate(model.owners):
        good = model.mfu[i] >= RELIABLE_MFU
        groups["all"].append(i)
        groups[f"{framework}{'' if good else ', below 15 % MFU'}"].append(i)
        if good:
            groups[f"  {framework}, {generation}, {model.cases[i].kind}"].append(i)
    for name in sorted(groups):
        error = 100.0 * np.abs(np.exp(logs[groups[name]]) - 1.0)
        bias = 100.0 * (np.exp(np.median(logs[groups[name]])) - 1.0)
        lines.append(
            f"  {name:48} n {len(error):5d}  mean {error.mean():5.1f}"
            f"  median {np.median(error):5.1f}  bias {bias:+5.1f}"
        )
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()


def spread(logs: FloatArray) -> float:
    """Robust standard deviation about zero: 68th percentile of the size."""
    return float(np.percentile(np.abs(logs), 68.0))


def write(
    constants: Sequence[Constant], values: FloatArray, model: Model, logs: FloatArray
) -> None:
    """Put values and spreads into the catalog's files, remarks untouched."""
    for constant, value in zip(constants, values, strict=True):
        if constant.place == "generation":
            path, block = ROOT / "catalog" / CALIBRATION, constant.owner
        else:
            path = ROOT / "catalog" / "frameworks" / f"{constant.owner}.yaml"
            block = "constants"
        _replace(path, block, constant.name, f"{value:.3g}")
    by_owner: dict[tuple[int, str], list[int]] = defaultdict(list)
    for i, owners in enumerate(model.owners):
        if model.mfu[i] >= RELIABLE_MFU:
            for which, owner in enumerate(owners):
                by_owner[which, owner].append(i)
    path = ROOT / "catalog" / CALIBRATION
    for (which, owner), members in by_owner.items():
        value = f"{max(0.05, spread(logs[members])):.2f}"
        if which == 0:
            _replace(path, owner, "sigma", value)
            continue
        text = path.read_text(encoding="utf-8")
        line = rf"(?m)^(  {owner}: \{{sigma: )[\d.]+(, runs: )\d+"
        text = re.sub(line, rf"\g<1>{value}\g<2>{len(members)}", text)
        path.write_text(text, encoding="utf-8")


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
    parser.add_argument("--folds", type=int, default=4, help="0: no folds")
    parser.add_argument("--steps", type=int, default=6, help="of the minimiser")
    parser.add_argument("--only", default="", help="fit constants of one owner")
    parser.add_argument("--write", action="store_true", help="change the catalog")
    arguments = parser.parse_args()
    catalog = load_catalog(())
    model = Model(catalog, cases_of(catalog))
    constants = [c for c in CONSTANTS if arguments.only in ("", c.owner)]
    everything = range(len(model.cases))
    before = model.ratios(constants, model.start(constants), everything)
    report("before", model, before)
    values = fit(model, constants, everything, arguments.steps)
    logs = model.ratios(constants, values, everything)
    report("fitted on all", model, logs)
    for constant, old, new in zip(
        constants, model.start(constants), values, strict=True
    ):
        sys.stdout.write(f"  {constant.key:36} {old:10.4g} -> {new:10.4g}\n")
    if arguments.folds > 1:
        logs = left_out(model, constants, arguments.folds, arguments.steps)
        report("sources left out", model, logs)
    if arguments.write:
        write(constants, values, model, logs)


if __name__ == "__main__":
    main()
