"""Tests of runs: serial and parallel alike, killed and resumed, shared by processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import CancelledError, Executor, Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from solver import interruption
from solver.sweeps.prepare import Prepared
from solver.sweeps.process import this_process
from solver.sweeps.record import Record
from solver.sweeps.running import Outcome, run_points
from solver.sweeps.solving import Answers, solve_some
from solver.sweeps.store import Store
from solver.sweeps.workers import Here, Processes, Workers, workers_of
from tests.cli.running import ROOT
from tests.sweeps.examples import prepared, written


def run(ready: Prepared, place: Path, workers: Workers, **options: Any) -> Outcome:
    """Run a sweep into a file."""
    with closing(Store.open(str(place), create=True)) as store:
        store.describe(ready.facts)
        return run_points(
            ready.question, ready.points.points, store, workers, **options
        )


def answers(place: Path) -> list[Record]:
    """What is stored, without what differs from run to run."""
    with closing(Store.open(str(place))) as store:
        return [replace(r, wall_s=0.0, host="", solved_at="") for r in store.records()]


def test_serial_and_parallel_are_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests that it does not matter who answers, and that nothing is answered twice."""
    ready = prepared(tmp_path)
    seen: list[tuple[int, str]] = []
    patient = partial(solve_some, patience_s=float("inf"))  # however slow this computer
    monkeypatch.setattr("solver.sweeps.running.solve_some", patient)
    serial = run(
        ready,
        tmp_path / "1.db",
        Here(),
        watch=lambda o: seen.append((o.done, o.progress)),
    )
    assert (serial.complete, serial.new, serial.before) == (True, 12, 0)
    assert [done for done, _ in seen] == [2, 4, 6, 8, 10, 12]
    assert "12 of 12 points" in seen[-1][1]
    parallel = run(ready, tmp_path / "2.db", Processes(2))
    assert parallel.statuses == serial.statuses
    assert answers(tmp_path / "2.db") == answers(tmp_path / "1.db")
    again = run(ready, tmp_path / "2.db", Here())
    assert (again.complete, again.new, again.before) == (True, 0, 12)


def test_killed_and_resumed(tmp_path: Path) -> None:
    """Tests that kill -9 loses nothing stored, and that the same command completes."""
    ready = prepared(tmp_path)
    place = tmp_path / "r.db"
    command = [sys.executable, "-m", "solver", "sweep", "run"]
    words = [str(tmp_path / "sweep.yaml"), "--out", str(place), "--workers", "1"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        [*command, *words], env=environment, stdout=subprocess.DEVNULL
    )
    end = time.monotonic() + 60
    while time.monotonic() < end and process.poll() is None:
        if place.exists() and place.stat().st_size and 2 <= _stored(place) < 12:
            break
        time.sleep(0.02)
    process.kill()
    process.wait()
    before = answers(place)
    assert 2 <= len(before) <= 12
    done = subprocess.run(
        [*command, *words, "--json"], env=environment, capture_output=True, check=True
    )
    assert f'"stored_before": {len(before)}'.encode() in done.stdout
    after = answers(place)
    assert [r for r in after if r.id in {b.id for b in before}] == before
    assert len(after) == 12
    run(ready, tmp_path / "whole.db", Here())
    assert after == answers(tmp_path / "whole.db")


def _stored(place: Path) -> int:
    """Return how many points a file has that another process is making."""
    import sqlite3

    with closing(sqlite3.connect(place)) as connection:
        try:
            found = connection.execute("SELECT count(*) FROM gpuplan_points").fetchone()
        except sqlite3.OperationalError:
            return 0
    return int(found[0])


def test_two_processes_share_one_file(tmp_path: Path) -> None:
    """Tests that two commands at once answer each point once, and both end well."""
    deadlines = {"from": "3 hours", "to": "30 hours", "count": 10}
    written(tmp_path, axes={"constraints.deadline": deadlines})
    place = tmp_path / "r.db"
    words = ["sweep", "run", str(tmp_path / "sweep.yaml"), "--out", str(place)]
    started = [
        subprocess.Popen(
            [sys.executable, "-m", "solver", *words, "--workers", "1", "--json"],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
        )
        for _ in range(2)
    ]
    import json

    told = [json.loads(process.communicate(timeout=120)[0]) for process in started]
    assert [process.returncode for process in started] == [0, 0]
    assert all(each["complete"] for each in told)
    assert sum(each["answered"] for each in told) == 20
    assert len({r.id for r in answers(place)}) == 20


class Dying(Executor):
    """An executor whose worker dies of some points, and takes others along."""

    def __init__(self, deadly: set[int], innocent: list[int]) -> None:
        self.deadly, self.innocent = deadly, innocent

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Answer, or die."""
        future: Future[Any] = Future()
        numbers = {point.number for point in args[1]}
        if numbers & self.deadly or numbers & set(self.innocent[:1]):
            self.innocent[:] = self.innocent[1:]
            future.set_exception(BrokenProcessPool("gone"))
        else:
            future.set_result(fn(*args, **kwargs))
        return future


class DyingWorkers(Here):
    """Workers that die of the third point, and once by chance."""

    at_once = 3

    def __init__(self) -> None:
        self.started = 0
        self.innocent = [5]

    def start(self) -> Executor:
        """Start anew."""
        self.started += 1
        return Dying({2}, self.innocent)


def test_a_worker_that_dies_loses_nothing(tmp_path: Path) -> None:
    """Tests that what died with a worker is answered, and what kills it is told."""
    ready = prepared(tmp_path)
    workers = DyingWorkers()
    outcome = run(ready, tmp_path / "r.db", workers)
    assert outcome.complete
    assert workers.started > 1
    failed = [r for r in answers(tmp_path / "r.db") if r.status == "error"]
    assert [r.number for r in failed] == [2]
    assert "died" in str(failed[0].error)
    run(ready, tmp_path / "whole.db", Here())
    rest = [r for r in answers(tmp_path / "whole.db") if r.number != 2]
    assert [r for r in answers(tmp_path / "r.db") if r.number != 2] == rest


class Ended(Executor):
    """An executor whose worker was asked to end amid its first chunk."""

    def __init__(self, workers: EndingWorkers) -> None:
        self.workers = workers

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Answer all points, or but the first where the worker ends."""
        future: Future[Any] = Future()
        found = fn(*args, **kwargs)
        ended = Answers(found.records[:1], ended=True)
        future.set_result(found if self.workers.started > 1 else ended)
        return future


class EndingWorkers(Here):
    """Workers of which the first was asked to end, and this process was not."""

    at_once = 2

    def __init__(self) -> None:
        self.started = 0

    def start(self) -> Executor:
        """Start anew."""
        self.started += 1
        return Ended(self)


def test_a_worker_that_is_asked_to_end_leaves_no_gap(tmp_path: Path) -> None:
    """Tests that points a worker leaves out are answered by the next."""
    ready = prepared(tmp_path)
    workers = EndingWorkers()
    outcome = run(ready, tmp_path / "r.db", workers)
    assert (outcome.complete, outcome.new, outcome.failed) == (True, 12, 0)
    assert workers.started == 2
    assert len(answers(tmp_path / "r.db")) == 12


def test_killing_a_process_of_the_pool(tmp_path: Path) -> None:
    """Tests a real worker process that is killed while it answers."""
    ready = prepared(tmp_path)
    killed: list[int] = []

    def kill_one(outcome: Outcome) -> None:
        children = Path(f"/proc/self/task/{os.getpid()}/children")
        if not killed and children.exists():
            for pid in map(int, children.read_text(encoding="ascii").split()):
                command = Path(f"/proc/{pid}/cmdline").read_bytes()
                if b"spawn_main" in command:
                    os.kill(pid, signal.SIGKILL)
                    killed.append(pid)
                    return

    outcome = run(ready, tmp_path / "r.db", Processes(2), watch=kill_one)
    if not killed:
        pytest.skip("this system does not list the children of a process")
    assert outcome.complete
    assert outcome.failed == 0
    assert len(answers(tmp_path / "r.db")) == 12


def test_ctrl_c_ends_cleanly(tmp_path: Path) -> None:
    """Tests that what is answered is stored, and that the rest is given back."""
    ready = prepared(tmp_path)

    def ask(outcome: Outcome) -> None:
        if outcome.new == 4:
            os.kill(os.getpid(), signal.SIGINT)

    with interruption.gently():
        outcome = run(ready, tmp_path / "r.db", Here(), watch=ask)
    assert not interruption.is_asked()
    assert (outcome.complete, outcome.new) == (False, 4)
    with closing(Store.open(str(tmp_path / "r.db"))) as store:
        assert store.claims() == 0
    assert run(ready, tmp_path / "r.db", Here()).before == 4


class Impatient(Here):
    """A worker that hands over each answer as soon as it has it."""

    def start(self) -> Executor:
        """Start anew."""
        return OneByOne()


class OneByOne(Executor):
    """An executor that is out of patience before it begins."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Answer the first point."""
        future: Future[Any] = Future()
        future.set_result(fn(*args, patience_s=-1.0, **kwargs))
        return future


def test_answers_are_stored_before_the_next_is_there(tmp_path: Path) -> None:
    """Tests that points of one solve do not wait for each other to be stored."""
    ready = prepared(tmp_path)
    seen: list[int] = []
    place = tmp_path / "r.db"
    outcome = run(
        ready, place, Impatient(), watch=lambda o: seen.append(_stored(place))
    )
    assert (outcome.complete, seen) == (True, list(range(1, 13)))
    run(ready, tmp_path / "whole.db", Here())
    assert answers(place) == answers(tmp_path / "whole.db")


def test_who_comes_late_catches_up_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests that what others have answered is passed over without waiting for each."""
    ready = prepared(tmp_path)
    run(ready, tmp_path / "whole.db", Here())
    rest = answers(tmp_path / "whole.db")

    def others(_: Outcome) -> None:
        with closing(Store.open(str(tmp_path / "r.db"))) as store:
            store.add(rest, this_process("other"))

    monkeypatch.setattr("solver.sweeps.running.time.sleep", pytest.fail)
    outcome = run(ready, tmp_path / "r.db", Here(), watch=others)
    assert (outcome.complete, outcome.new, outcome.elsewhere) == (True, 2, 10)


class Hanging(Executor):
    """An executor that never answers."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Begin, press Ctrl-C, and go on for ever."""
        future: Future[Any] = Future()
        future.set_running_or_notify_cancel()
        signal.raise_signal(signal.SIGINT)
        return future


class HangingWorkers(Here):
    """Workers that do not end by themselves."""

    hurried = 0

    def start(self) -> Executor:
        """Start anew."""
        return Hanging()

    def hurry(self) -> None:
        """Take note."""
        self.hurried += 1


def test_ctrl_c_does_not_wait_for_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests that workers are asked to end, and left alone if they do not."""
    monkeypatch.setattr("solver.sweeps.running._GRACE_S", 0.1)
    ready, workers = prepared(tmp_path), HangingWorkers()
    with interruption.gently():
        outcome = run(ready, tmp_path / "r.db", workers)
    assert (outcome.complete, outcome.done, workers.hurried) == (False, 0, 1)


def test_ctrl_c_after_the_last_answer(tmp_path: Path) -> None:
    """Tests that a run that has stored everything says so, however it ended."""
    ready = prepared(tmp_path)

    def ask(outcome: Outcome) -> None:
        if outcome.new == 12:
            signal.raise_signal(signal.SIGINT)

    with interruption.gently():
        outcome = run(ready, tmp_path / "r.db", Here(), watch=ask)
    assert (outcome.complete, outcome.new) == (True, 12)


ORPHAN = """
import os, signal
from solver.sweeps.workers import Processes
if __name__ == "__main__":
    pool = Processes(2).start()
    print(pool.submit(os.getpid).result(), flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_workers_end_with_a_run_that_is_killed(tmp_path: Path) -> None:
    """Tests that kill -9 leaves no processes behind that wait for work for ever."""
    file = tmp_path / "orphan.py"
    file.write_text(ORPHAN, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, file],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        timeout=120,  # a worker that lives on would keep the pipe open
        check=False,
    )
    pid = int(done.stdout)
    end = time.monotonic() + 60
    while time.monotonic() < end and Path(f"/proc/{pid}/fd").exists():
        time.sleep(0.05)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_workers_that_are_busy_are_ended(tmp_path: Path) -> None:
    """Tests that nobody waits for an answer that nobody wants any more."""
    workers = Processes(1)
    future = workers.start().submit(time.sleep, 600)
    while not future.running():
        time.sleep(0.01)
    workers.stop()
    with pytest.raises((BrokenProcessPool, CancelledError)):
        future.result(timeout=60)


def test_workers_by_number() -> None:
    """Tests that one worker is this process, and more are processes."""
    assert isinstance(workers_of(1), Here)
    assert workers_of(3).at_once == 6
    assert workers_of(3).described == "3 processes"
