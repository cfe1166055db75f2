"""Run the command line with ``python -m solver``."""

import sys

from solver.cli.app import main

if __name__ == "__main__":
    sys.exit(main())
