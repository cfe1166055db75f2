"""Tests of the progress line."""

import io
import sys
import threading
import time

import pytest

from solver.cli.progress import ProgressLine


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        """Return that it is one."""
        return True


def open_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Make standard error a terminal of a known kind, and return it.

    No fixture: pytest puts its own stream there when a test begins.
    """
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    return stream


def wait_for(stream: io.StringIO, text: str) -> None:
    """Wait until a text has been written, ten seconds at most."""
    end = time.monotonic() + 10
    while text not in stream.getvalue() and time.monotonic() < end:
        time.sleep(0.01)
    assert text in stream.getvalue()


def test_a_long_wait_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that after the patience is over the line says what is being done."""
    terminal = open_terminal(monkeypatch)
    with ProgressLine(patience_s=0.01) as line:
        line.update("evaluating layouts", 0.25)
        wait_for(terminal, "evaluating layouts")
        line.update("proving", -1.0)
        wait_for(terminal, "proving")


def test_a_short_wait_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that nothing flickers for what is over at once."""
    terminal = open_terminal(monkeypatch)
    with ProgressLine(patience_s=60) as line:
        line.update("evaluating layouts", 0.5)
    assert terminal.getvalue() == ""


def test_nothing_into_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that a log file gets no progress line."""
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    before = threading.active_count()
    with ProgressLine(patience_s=0.0) as line:
        line.update("evaluating layouts", 0.5)
        assert threading.active_count() == before
    assert stream.getvalue() == ""


def test_nothing_where_it_is_not_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that --quiet and --log have no progress line."""
    terminal = open_terminal(monkeypatch)
    with ProgressLine(wanted=False, patience_s=0.0) as line:
        line.update("evaluating layouts", 0.5)
        time.sleep(0.05)
    assert terminal.getvalue() == ""


def test_the_line_goes_away_on_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that an error ends the line and comes through."""
    terminal = open_terminal(monkeypatch)

    def fail() -> None:
        with ProgressLine(patience_s=0.01) as line:
            line.update("evaluating layouts", 0.5)
            wait_for(terminal, "evaluating layouts")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    after = terminal.getvalue()
    time.sleep(0.05)
    assert terminal.getvalue() == after
