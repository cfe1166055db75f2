"""The tiny catalog that everybody knows by heart, and changed copies of it."""

import shutil
from pathlib import Path

from solver.catalog.load import Catalog, load_catalog

OK_SMALL = Path(__file__).parents[1] / "data" / "ok_small"


def small_catalog() -> Catalog:
    """Return the catalog of tests/data/ok_small and nothing else."""
    return load_catalog([OK_SMALL], shipped=False)


def copy_of_small(folder: Path) -> Path:
    """Return a folder with the files of ok_small, free to be changed."""
    target = folder / "catalog"
    shutil.copytree(OK_SMALL, target)
    return target


def write(folder: Path, name: str, text: str) -> Path:
    """Write one file of a catalog folder, and return the folder."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return folder
