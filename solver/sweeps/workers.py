"""Where points are answered: in this process, or in processes beside it.

Both are executors as `concurrent.futures` has them, so that one loop drives them.
"""

from __future__ import annotations

import multiprocessing
import os
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from typing import TYPE_CHECKING, Any, Protocol

from solver.interruption import remember

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Here", "Processes", "Workers", "cores", "workers_of"]


class Workers(Protocol):
    """A place to answer points."""

    @property
    def at_once(self) -> int:
        """Points that are worth handing out at once."""

    @property
    def described(self) -> str:
        """What it is, for the results: ``2 processes``."""

    def start(self) -> Executor:
        """An executor; after workers have died, a new one."""

    def stop(self) -> None:
        """End the workers."""


def cores() -> int:
    """Cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # another system than Linux
        return os.cpu_count() or 1


def workers_of(count: int | None) -> Workers:
    """So many workers, by default one a core."""
    wanted = cores() if count is None else count
    return Here() if wanted == 1 else Processes(wanted)


class _AtOnce(Executor):
    """Answers when asked, in the asking thread."""

    def submit(
        self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any
    ) -> Future[Any]:
        """Return a future that is done already."""
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # told where the result is asked for
            future.set_exception(error)
        return future


class Here:
    """The process that asks, one point after the other."""

    at_once = 1
    described = "1 process"

    def start(self) -> Executor:
        """An executor that works when asked."""
        return _AtOnce()

    def stop(self) -> None:
        """Nothing to end."""


class Processes:
    """Processes of this computer.

    They are spawned, not forked: a fork would copy the locks of threads that do not
    live on in it.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._pool: ProcessPoolExecutor | None = None

    @property
    def at_once(self) -> int:
        """One in hand and one waiting for each process."""
        return 2 * self._count

    @property
    def described(self) -> str:
        """How many there are."""
        return f"{self._count} processes"

    def start(self) -> Executor:
        """A pool; one before it is let go of."""
        self.stop()
        self._pool = ProcessPoolExecutor(
            self._count, multiprocessing.get_context("spawn"), initializer=remember
        )
        return self._pool

    def stop(self) -> None:
        """Let the processes end after what they have in hand."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None
