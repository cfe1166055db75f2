"""Convert gathered measurements into catalog/measurements.

    python tools/build_measurements.py --facts FACTS --out catalog/measurements

Every row is kept, with its quality and its source. Remarks that the gatherers made
several times over in one note are kept once.
"""

import argparse
import csv
import sys
from pathlib import Path

TABLES = {
    "measurements.csv": "step_times.csv",
    "memory.csv": "memory.csv",
    "runs.csv": "runs.csv",
}
"""Table of the facts to the catalog's table."""

NOTES = ("note", "notes")


def main() -> None:
    """Run the conversion and print the number of rows of each table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--facts", type=Path, required=True, help="folder of the facts")
    parser.add_argument("--out", type=Path, required=True, help="folder to write")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name, target in TABLES.items():
        count = convert(arguments.facts / name, arguments.out / target)
        sys.stdout.write(f"{target}: {count} rows\n")


def convert(facts: Path, target: Path) -> int:
    """Write one table and return the number of its rows."""
    with facts.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        columns = list(reader.fieldnames or ())
        rows = [{c: tidy(c, row[c]) for c in columns} for row in reader]
    with target.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return len(rows)


def tidy(column: str, cell: str) -> str:
    """Return a cell without spaces around it; a note without repeated remarks."""
    cell = " ".join(cell.split())
    if column not in NOTES:
        return cell
    remarks = [part.strip() for part in cell.replace(" | ", "; ").split(";")]
    return "; ".join(dict.fromkeys(part for part in remarks if part))


if __name__ == "__main__":
    main()
