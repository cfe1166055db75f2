"""Whether a path is there, asked so that no path can make it fail.

Python's own ``is_file`` raises for some paths that no file can have, such as names
longer than the file system allows.
"""

from importlib.resources.abc import Traversable
from pathlib import Path

__all__ = ["is_file", "is_folder"]


def is_file(place: Traversable | Path) -> bool:
    """Return whether a path is a file, as far as one may look.

    Where looking is forbidden it is taken to be one: reading it tells the reason.
    """
    try:
        return place.is_file()
    except PermissionError:
        return True
    except (OSError, ValueError):
        return False


def is_folder(place: Traversable | Path) -> bool:
    """Return whether a path is a folder that can be looked into."""
    try:
        return place.is_dir()
    except (OSError, ValueError):
        return False
