"""Ctrl-C that ends work where it can stop with an answer."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, current_thread, main_thread
from types import FrameType

__all__ = ["ended_as_stopped", "gently", "is_asked", "kept_handler", "remember"]

_ASKED = Event()


def is_asked() -> bool:
    """Whether the user asked to end with what is known, see `gently`."""
    return _ASKED.is_set()


@contextmanager
def gently() -> Iterator[None]:
    """Let the first Ctrl-C end searches with what they have, the second the process.

    Without it Ctrl-C between two searches would lose what both found. Where Ctrl-C is
    ignored or has a handler of the caller's, and beside the main thread, it does
    nothing.
    """
    usual = signal.default_int_handler
    known = signal.getsignal(signal.SIGINT)
    if known is not usual or current_thread() is not main_thread():
        yield
        return
    signal.signal(signal.SIGINT, _ask)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
        _ASKED.clear()


@contextmanager
def kept_handler() -> Iterator[None]:
    """Put the handler of Ctrl-C back after native code that replaces it.

    CP-SAT stops at Ctrl-C while it solves, and then leaves the system's own handler in
    place: the next Ctrl-C would end the process at once, whatever Python's would do.
    """
    try:
        yield
    finally:
        known = signal.getsignal(signal.SIGINT)  # what Python last set
        if known is not None and current_thread() is main_thread():
            signal.signal(signal.SIGINT, known)


def _ask(_signal: int, _frame: FrameType | None) -> None:
    """Remember it, and let the next one end the process."""
    _ASKED.set()
    signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def ended_as_stopped() -> Iterator[None]:
    """Let the signal that ends a process act as Ctrl-C: ``kill``, and batch systems.

    Beside the main thread, and where it is ignored or has a handler, it does nothing.
    """
    in_main = current_thread() is main_thread()
    if not in_main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def remember() -> None:
    """Let every Ctrl-C in this process be remembered, and end searches.

    For a worker that its caller ends: between two answers, Ctrl-C would else end it
    with a traceback, and everything that it has in hand.
    """
    signal.signal(signal.SIGINT, lambda _signal, _frame: _ASKED.set())
