"""Answer the points of a sweep that are not stored yet, and store each as it comes."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from solver.errors import InputError, Issue
from solver.interruption import is_asked
from solver.messages import sentence
from solver.sweeps.process import Owner, this_process
from solver.sweeps.record import Record
from solver.sweeps.sharing import chunks_of
from solver.sweeps.solving import Answers, described, solve_some
from solver.sweeps.store import LEASE_S, Store
from solver.units import format_duration_s

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from solver.sweeps.points import Point
    from solver.sweeps.question import Question
    from solver.sweeps.workers import Workers

__all__ = ["Outcome", "Watcher", "run_points"]

LOST = ("BrokenProcessPool", "KilledWorker")
"""Errors that tell of a worker that died, by name: Dask need not be installed."""
GONE = ("CancelledError", "CommClosedError", "FutureCancelledError", "SchedulerClosed")
"""Errors that tell of a Dask scheduler that has gone."""

Chunk = tuple["Point", ...]
"""Points that are answered together."""

_LOOK_S = 1.0
"""How long to wait for an answer before looking at leases and Ctrl-C."""

_GRACE_S = 3.0
"""How long workers have after Ctrl-C to hand over what they have answered."""


@dataclass
class Outcome:
    """How far a run came.

    Parameters
    ----------
    total
        Points of the sweep.
    before
        Points that were stored when it began.
    statuses
        Status to the number of points that this run answered.
    elsewhere
        Points that other processes answered in the meantime.
    complete
        Whether all points are stored.
    seconds
        How long it took.
    """

    total: int
    before: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    elsewhere: int = 0
    complete: bool = False
    seconds: float = 0.0

    @property
    def new(self) -> int:
        """Points that this run answered."""
        return self.statuses.total()

    @property
    def done(self) -> int:
        """Points that are stored."""
        return self.before + self.new + self.elsewhere

    @property
    def rate(self) -> float:
        """Points a second that this run answered."""
        return self.new / self.seconds if self.seconds else 0.0

    @property
    def failed(self) -> int:
        """Points of this run that ended in an error."""
        return self.statuses["error"]

    @property
    def progress(self) -> str:
        """How far it is, with rate, time left and failures, in a line."""
        left_s = (self.total - self.done) / self.rate if self.rate else 0.0
        return sentence(
            "progress.sweep",
            done=self.done,
            total=self.total,
            rate=self.rate,
            left=format_duration_s(left_s),
            failed=self.failed,
        )

    def as_dict(self) -> dict[str, Any]:
        """The outcome as the JSON contract has it."""
        return {
            "complete": self.complete,
            "points": self.total,
            "stored_before": self.before,
            "answered": self.new,
            "answered_elsewhere": self.elsewhere,
            "statuses": dict(sorted(self.statuses.items())),
            "failed": self.failed,
            "wall_time_s": self.seconds,
            "points_per_s": self.rate,
        }


Watcher = Callable[[Outcome], None]


def run_points(
    question: Question,
    points: tuple[Point, ...],
    store: Store,
    workers: Workers,
    watch: Watcher | None = None,
) -> Outcome:
    """Answer all points that are not stored yet.

    Ctrl-C, caught by `solver.interruption.gently`, ends it with all that is answered
    stored; what is not is left to the next run.

    Parameters
    ----------
    question, points
        What is asked.
    store
        Where answers go; other processes may add to it at the same time.
    workers
        Who answers.
    watch
        Called after each answer.

    Raises
    ------
    InputError
        The results cannot be written, or the workers cannot answer this question.
    """
    owner = this_process(uuid4().hex)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    store.begin_run(owner, now, question.version, workers.described)
    run = _Run(question, store, workers, owner, watch, Outcome(len(points)))
    try:
        run.go(points)
    finally:
        workers.stop()
        store.release(owner)
    return run.outcome


@dataclass
class _Run:
    """A run in progress."""

    question: Question
    store: Store
    workers: Workers
    owner: Owner
    watch: Watcher | None
    outcome: Outcome
    pending: deque[Chunk] = field(default_factory=deque)
    """Points that nobody is known to answer, in the order of sharing."""
    ready: deque[Chunk] = field(default_factory=deque)
    """Points that are claimed and not handed out."""
    active: dict[Future[Answers], Chunk] = field(default_factory=dict)
    suspects: deque[Point] = field(default_factory=deque)
    """Points one of which a worker died of: each is tried alone."""
    alone: Chunk = ()
    """The point under suspicion that was handed out last."""
    broken: bool = False
    """Whether workers died and new ones are needed."""
    most: int = 1
    """Chunks that are handed out at once."""
    renewed: float = field(default_factory=time.monotonic)
    began: float = field(default_factory=time.monotonic)

    def go(self, points: tuple[Point, ...]) -> None:
        """Answer until nothing is left, or the user wants to end."""
        stored = self.store.stored()
        left = [point for point in points if point.id not in stored]
        self.pending.extend(chunks_of(left, self.question.objective))
        self.outcome.before = len(points) - len(left)
        if not left:
            self.outcome.complete = True
            return
        executor = self.workers.start()
        while not is_asked():
            self._take()
            executor = self._hand_out(executor)
            if self.active:
                self._collect()
            elif self.pending:
                time.sleep(_LOOK_S)  # all that is left is in other processes' hands
            elif not self.ready and not self.suspects:
                self.outcome.complete = True
                break
            self._renew()
        self._finish()

    def _take(self) -> None:
        """Claim more points when few are left to hand out.

        What other processes have in hand goes to the end of the queue; once all of it
        has been looked at, there is nothing to claim for now.
        """
        if len(self.ready) >= self.most or not self.pending:
            return
        self.most = self.workers.at_once  # a cluster may have grown
        left = len(self.pending)
        while left > 0 and len(self.ready) < self.most:
            some = [self.pending.popleft() for _ in range(min(self.most, left))]
            left -= len(some)
            if not self._claim(some):  # others are ahead: see at once how far
                left = min(left, self._drop_stored())

    def _claim(self, some: list[Chunk]) -> bool:
        """Claim points that nobody has in hand; whether there were any."""
        ids = [point.id for chunk in some for point in chunk]
        claimed, stored = map(set, self.store.claim(ids, self.owner))
        self.outcome.elsewhere += len(stored)
        for chunk in some:
            ours = tuple(point for point in chunk if point.id in claimed)
            theirs = tuple(p for p in chunk if p.id not in claimed | stored)
            self.ready.extend([ours] if ours else [])
            self.pending.extend([theirs] if theirs else [])
        return bool(claimed)

    def _drop_stored(self) -> int:
        """Leave out what other processes have stored; how many chunks are left."""
        stored = self.store.stored()
        left = [tuple(p for p in chunk if p.id not in stored) for chunk in self.pending]
        self.outcome.elsewhere += sum(map(len, self.pending)) - sum(map(len, left))
        self.pending = deque(chunk for chunk in left if chunk)
        return len(self.pending)

    def _hand_out(self, executor: Executor) -> Executor:
        """Hand out points; those under suspicion one at a time, alone."""
        if self.active and (self.suspects or self.broken):
            return executor
        if self.suspects:
            self.alone = (self.suspects.popleft(),)
            return self._submit(executor, self.alone)
        while self.ready and len(self.active) < self.most:
            executor = self._submit(executor, self.ready.popleft())
            if self.broken or self.most == 1:
                break
        return executor

    def _submit(self, executor: Executor, chunk: Chunk) -> Executor:
        if self.broken:
            executor, self.broken = self.workers.start(), False
        try:
            future = executor.submit(solve_some, self.question, chunk)
        except Exception as error:
            if type(error).__name__ not in LOST:
                raise
            self.broken = True
            self.suspects.extend(chunk)
            return executor
        self.active[future] = chunk
        return executor

    def _collect(self) -> None:
        """Store what is answered; keep in mind which workers died of what."""
        done, _ = wait(self.active, timeout=_LOOK_S, return_when=FIRST_COMPLETED)
        answers: list[Record] = []
        for future in done:
            chunk = self.active.pop(future)
            error = CancelledError() if future.cancelled() else future.exception()
            if type(error).__name__ in GONE:
                raise _no_scheduler(error)
            if type(error).__name__ in LOST:
                self.broken = True
                if chunk is self.alone:
                    answers += [self._killed(point) for point in chunk]
                else:
                    self.suspects.extend(chunk)
            elif error is not None:
                raise error
            else:
                found = future.result()
                answers += found.records
                rest = chunk[len(found.records) :]
                self.broken |= found.ended  # that worker answers no more
                self.ready.extendleft([rest] if rest else [])
        self._store(answers)

    def _store(self, records: list[Record]) -> None:
        new = self.store.add(records, self.owner) if records else set()
        self.outcome.statuses.update(r.status for r in records if r.id in new)
        self.outcome.elsewhere += len(records) - len(new)
        self.outcome.seconds = time.monotonic() - self.began
        if records and self.watch is not None:
            self.watch(self.outcome)

    def _killed(self, point: Point) -> Record:
        """The record of a point that ends its worker."""
        return Record(
            **described(self.question, point),
            status="error",
            error="the worker process died while it answered this point",
            solved_at=datetime.now(UTC).isoformat(timespec="seconds"),
        )

    def _renew(self) -> None:
        """Renew the claims before others may take them."""
        if time.monotonic() - self.renewed > LEASE_S / 4:
            self.store.renew(self.owner)
            self.renewed = time.monotonic()

    def _finish(self) -> None:
        """After Ctrl-C: drop what has not begun, store what comes within seconds."""
        for future in list(self.active):
            if future.cancel():
                del self.active[future]
        if self.active:
            self.workers.hurry()
        end = time.monotonic() + _GRACE_S
        while self.active and (left := end - time.monotonic()) > 0:
            done, _ = wait(self.active, timeout=left, return_when=FIRST_COMPLETED)
            answers: list[Record] = []
            for future in done:
                del self.active[future]
                failed = future.cancelled() or future.exception() is not None
                answers += [] if failed else future.result().records
            self._store(answers)
        self.outcome.seconds = time.monotonic() - self.began
        self.outcome.complete = self.outcome.done >= self.outcome.total


def _no_scheduler(error: BaseException | None) -> InputError:
    """The fault of a cluster that has gone; what is stored stays."""
    reason = "" if error is None or isinstance(error, CancelledError) else f": {error}"
    message = (
        f"the Dask scheduler has gone{reason}; what is stored stays, and the same "
        "command goes on with the rest"
    )
    return InputError([Issue("no-scheduler", message, "--scheduler")])
