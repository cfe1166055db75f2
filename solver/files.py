"""Whether a path is there, asked so that no path can make it fail; swaps and locks.

Python's own ``is_file`` raises for some paths that no file can have, such as names
longer than the file system allows.
"""

import ctypes
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.resources.abc import Traversable
from pathlib import Path

__all__ = ["exchanged", "is_file", "is_folder", "locked", "why_no_file"]

_HERE = -100
"""``AT_FDCWD``: paths are relative to the current folder."""
_EXCHANGE = 2
"""``RENAME_EXCHANGE`` of Linux."""


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


def why_no_file(place: Path) -> str:
    """Return why a path is not one of a file."""
    if is_folder(place):
        return "this is a folder; expected a file"
    return "this is no plain file" if os.path.lexists(place) else "no such file"


def exchanged(one: Path, other: Path) -> bool:
    """Swap two files or folders at once, and return whether the system can do that.

    Notes
    -----
    ``renameat2`` of Linux, see its manual page. Between two plain renames a process may
    be killed, and then neither is in its place.
    """
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):  # another system
        return False
    names = os.fsencode(one), os.fsencode(other)
    return bool(rename(_HERE, names[0], _HERE, names[1], _EXCHANGE) == 0)


@contextmanager
def locked(folder: Path) -> Iterator[bool]:
    """Wait until no other process has a folder locked, then lock it.

    The lock ends with the process, and leaves nothing behind. Yields whether there is
    one: not all systems can lock a folder.
    """
    try:
        import fcntl
    except ImportError:  # another system
        yield False
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        yield _is_locked(lambda: fcntl.flock(handle, fcntl.LOCK_EX))
    finally:
        os.close(handle)


def _is_locked(lock: Callable[[], None]) -> bool:
    """Return whether a lock could be had."""
    try:
        lock()
    except OSError:
        return False
    return True
