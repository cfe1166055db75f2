"""Run the command line with ``python -m solver``."""

import sys

from solver.cli.entry import run

if __name__ == "__main__":
    sys.exit(run())
