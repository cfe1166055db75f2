"""Which process this is, and whether another one is still alive."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Owner", "is_dead", "this_process"]


@dataclass(frozen=True, slots=True)
class Owner:
    """A process that works on a sweep.

    Parameters
    ----------
    run
        Id of its run.
    host, pid
        Where it runs.
    started
        What tells it from a later process of the same number; empty where the system
        does not say.
    """

    run: str
    host: str
    pid: int
    started: str


def this_process(run: str) -> Owner:
    """The process that asks, as an owner of claims."""
    pid = os.getpid()
    return Owner(run, platform.node(), pid, _started(pid))


def is_dead(owner: Owner) -> bool:
    """Whether a process is known to have ended; those of other hosts never are."""
    if owner.host != platform.node():
        return False
    try:
        os.kill(owner.pid, 0)
    except ProcessLookupError:
        return True
    except OSError:  # somebody else's process: it lives
        return False
    return _started(owner.pid) != owner.started


def _started(pid: int) -> str:
    """When a process began, in clock ticks since the system did (Linux: proc(5))."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
    # the name, in brackets, may hold anything; the state and 18 more come before it
    return text.rpartition(")")[2].split()[19]
