"""Where the shipped catalog and scenarios are, however gpuplan was installed.

A wheel holds them in ``solver/_data/``. A checkout and an editable install have them at
the root of the repository, beside ``solver/``. Neither need be real files: read them as
`importlib.resources.abc.Traversable`, with ``.read_text(encoding="utf-8")``.
"""

from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from solver.errors import PackagingError

__all__ = ["shipped", "shipped_catalog", "shipped_scenarios", "shipped_sweeps"]


def shipped_catalog() -> Traversable:
    """Return the folder of the shipped catalog."""
    return shipped("catalog")


def shipped_scenarios() -> Traversable:
    """Return the folder of the shipped scenarios."""
    return shipped("scenarios")


def shipped_sweeps() -> Traversable:
    """Return the folder of the shipped sweeps."""
    return shipped("scenarios") / "sweeps"


def shipped(name: str) -> Traversable:
    """Return a folder of shipped data.

    Parameters
    ----------
    name
        ``catalog`` or ``scenarios``.

    Raises
    ------
    PackagingError
        The folder is neither in the package nor beside it.
    """
    packaged = files("solver") / "_data" / name
    if packaged.is_dir():
        return packaged
    root = Path(__file__).resolve().parent.parent
    # without pyproject.toml this is site-packages, where a folder is anybody's
    if (root / "pyproject.toml").is_file() and (root / name).is_dir():
        return root / name
    raise PackagingError(f"the shipped '{name}' is missing from this installation")
