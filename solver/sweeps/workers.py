"""Where points are answered: in this process, in processes beside it, or on a cluster.

All are executors as `concurrent.futures` has them, so that one loop drives each.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import suppress
from threading import Thread
from typing import TYPE_CHECKING, Any, Protocol

from solver.errors import InputError, Issue
from solver.interruption import remember

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Here", "OnDask", "Processes", "Workers", "cores", "workers_of"]


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

    def hurry(self) -> None:
        """Ask the workers to hand over what they have, and to answer no more."""

    def stop(self) -> None:
        """End the workers, whatever they have in hand."""


def cores() -> int:
    """Cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # another system than Linux
        return os.cpu_count() or 1


def workers_of(count: int | None, scheduler: str | None = None) -> Workers:
    """The workers that a user asked for: a Dask cluster, or so many processes."""
    if scheduler is not None:
        return OnDask(scheduler)
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

    def hurry(self) -> None:
        """Nothing is in hand when nobody asks."""

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
            self._count, multiprocessing.get_context("spawn"), initializer=_begin
        )
        return self._pool

    def hurry(self) -> None:
        """Pass Ctrl-C on: it may have been sent to this process alone."""
        for child in multiprocessing.active_children():
            with suppress(OSError, TypeError):  # it has ended, or not begun
                os.kill(child.pid, signal.SIGINT)  # type: ignore[arg-type]

    def stop(self) -> None:
        """End the processes: leaving Python would wait for what they have in hand."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None
            for child in multiprocessing.active_children():
                child.kill()


def _silence() -> None:
    """Keep Dask from printing tracebacks: what goes wrong is told by us, once."""
    for name in ("distributed", "distributed.client", "tornado.application"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)


def _begin() -> None:
    """Prepare a process for its work: it ends with its parent, or when that says so.

    What ends a whole group of processes would else take the answers in hand along.
    """
    remember()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this process with the one that started it, even if that was killed.

    It would else wait for work for ever, and hold its memory.
    """
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


class OnDask:
    """A Dask cluster that runs already, by the address of its scheduler.

    Parameters
    ----------
    address
        Such as ``tcp://10.0.0.5:8786``.

    Raises
    ------
    InputError
        Dask is not installed, or nothing answers at that address.
    """

    def __init__(self, address: str) -> None:
        try:
            from distributed import Client
            from distributed.comm.addressing import get_address_host_port
        except ModuleNotFoundError:
            message = "a Dask cluster needs dask: pip install 'gpuplan[dask]'"
            raise InputError([Issue("bad-usage", message, "--scheduler")]) from None
        _silence()
        try:
            get_address_host_port(address)  # a client of none takes long to give up
            self._client = Client(address, timeout="10s", set_as_default=False)
        except (OSError, ValueError, ImportError) as error:
            message = f"no Dask scheduler answers at {address}: {error}"
            raise InputError([Issue("no-scheduler", message, "--scheduler")]) from None
        self._address = address

    @property
    def at_once(self) -> int:
        """Two for each thread of the cluster, as it is now."""
        threads = self._client.nthreads()
        return 2 * max(1, sum(int(count) for count in threads.values()))

    @property
    def described(self) -> str:
        """Where it is."""
        return f"Dask at {self._address}"

    def start(self) -> Executor:
        """The cluster as an executor."""
        executor: Executor = self._client.get_executor(pure=False)
        return executor

    def hurry(self) -> None:
        """Wait only: a cluster knows no Ctrl-C."""

    def stop(self) -> None:
        """Leave the cluster, which goes on."""
        self._client.close()
