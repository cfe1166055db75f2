"""Accept the predictions of today as those that changes are compared with.

    python tools/accept_predictions.py [--flips]

Writes tests/data/predictions.csv: every so many-th good row with its prediction. A test
compares; what it prints is to be read before this is run. A layout that changes
between fitting and not fitting is only accepted with ``--flips``.
"""

import argparse
import csv
import sys
from collections.abc import Mapping
from pathlib import Path

from solver.accuracy.report import AccuracyReport, accuracy_report
from solver.accuracy.scoring import Outcome
from solver.catalog.load import load_catalog

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "tests" / "data" / "predictions.csv"

EVERY = {"step_time": 23, "memory": 17, "run": 3}
"""Of each metric every so many-th good row, by id."""

COLUMNS = ("id", "metric", "measured", "predicted", "verdict")


def chosen(report: AccuracyReport) -> list[Outcome]:
    """The fixed set of predictions."""
    found = []
    for metric, every in EVERY.items():
        rows = [
            o for o in report.outcomes if o.metric == metric and o.quality == "good"
        ]
        found += sorted(rows, key=lambda o: o.id)[::every]
    return found


def accepted() -> dict[tuple[str, str], dict[str, str]]:
    """The rows of the table, by metric and id."""
    if not TABLE.is_file():
        return {}
    with TABLE.open(encoding="utf-8", newline="") as file:
        return {(r["metric"], r["id"]): r for r in csv.DictReader(file)}


def flips(
    old: Mapping[tuple[str, str], Mapping[str, str]], new: list[Outcome]
) -> list[str]:
    """Rows whose verdict on memory changes to or from fitting."""
    found = []
    for o in new:
        before = old.get((o.metric, o.id), {}).get("verdict")
        fits = o.verdict != "impossible"
        if before and o.verdict and fits != (before != "impossible"):
            found.append(f"{o.id}: {before} -> {o.verdict}")
    return found


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--flips", action="store_true", help="accept flips too")
    arguments = parser.parse_args()
    rows = chosen(accuracy_report(None, load_catalog(())))
    changed = flips(accepted(), rows)
    if changed and not arguments.flips:
        sys.stdout.write("\n".join(changed) + "\n")
        raise SystemExit("these flip between fitting and not: accept with --flips")
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for o in rows:
            measured = "" if o.measured is None else f"{o.measured:.6g}"
            cells = (o.id, o.metric, measured, f"{o.predicted:.6g}", o.verdict or "")
            writer.writerow(cells)


if __name__ == "__main__":
    main()
