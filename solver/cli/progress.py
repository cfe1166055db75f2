"""A progress line on standard error for what takes longer than two seconds."""

from __future__ import annotations

import sys
from threading import Lock, Timer
from types import TracebackType
from typing import TYPE_CHECKING, Self

from solver.messages import has_text, sentence

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

__all__ = ["ProgressLine"]

_PATIENCE_S = 2.0
"""A shorter wait needs no explanation."""


class ProgressLine:
    """Shows what is being done, from two seconds on; a context manager.

    Parameters
    ----------
    wanted
        Whether to show anything; nothing is shown where standard error is no terminal.
    """

    def __init__(self, *, wanted: bool = True, patience_s: float = _PATIENCE_S) -> None:
        self._phase = ""
        self._fraction = 0.0
        self._lock = Lock()
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._done = False
        self._timer: Timer | None = None
        if wanted and sys.stderr.isatty():
            self._timer = Timer(patience_s, self._show)
            self._timer.daemon = True

    def __enter__(self) -> Self:
        """Start the clock."""
        if self._timer is not None:
            self._timer.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Take the line away again."""
        with self._lock:
            self._done = True
            if self._timer is not None:
                self._timer.cancel()
            if self._bar is not None:
                self._bar.stop()

    def update(self, phase: str, fraction: float) -> None:
        """Say what is being done and how far it is.

        Parameters
        ----------
        phase
            What is being done: the end of a message id, or a few words.
        fraction
            How much of everything is done, in [0, 1]; negative where that is unknown.
        """
        message_id = f"progress.{phase}"
        told = sentence(message_id) if has_text(message_id) else phase
        with self._lock:
            self._phase, self._fraction = told, fraction
            self._draw()

    def _show(self) -> None:
        """Put the line on the terminal."""
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            Progress,
            SpinnerColumn,
            TextColumn,
            TimeElapsedColumn,
        )

        with self._lock:
            if self._done:
                return
            self._bar = Progress(
                SpinnerColumn(),
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                TimeElapsedColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            self._task = self._bar.add_task(self._phase, total=1.0)
            self._bar.start()
            self._draw()

    def _draw(self) -> None:
        """Bring the line up to date, if it is shown."""
        if self._bar is not None and self._task is not None:
            total = None if self._fraction < 0 else 1.0
            self._bar.update(
                self._task,
                description=self._phase,
                total=total,
                completed=max(self._fraction, 0.0),
            )
