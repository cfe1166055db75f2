"""Tests of Ctrl-C at any moment: what is known is told, and a second one ends all."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

from solver.interruption import ended_as_stopped, gently, is_asked
from solver.plan import Message
from solver.planning import infeasibility
from solver.planning.choosing import alternatives
from solver.planning.clock import Clock
from solver.planning.comparing import compare
from solver.planning.insight import explain_job
from solver.planning.pareto import pareto
from solver.planning.single_job import plan_job
from solver.report.answer_rows import message_section
from solver.report.as_json import fields_as_json
from solver.report.insight_rows import insight_page
from solver.setting import Setting
from tests.planning.jobs import A100, H100, catalog, job
from tests.project.source import ROOT

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals to oneself")


def interrupt() -> None:
    """Press Ctrl-C."""
    os.kill(os.getpid(), signal.SIGINT)


def test_the_first_is_remembered_and_the_second_ends() -> None:
    """Tests both within the context, and that nothing is left behind after it."""
    with gently():
        interrupt()
        assert is_asked()
        assert Clock(60).is_over
        with pytest.raises(KeyboardInterrupt):
            interrupt()
    assert not is_asked()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_the_signal_that_ends_is_as_ctrl_c() -> None:
    """Tests ``kill`` within the context, and that nothing is left behind after it."""
    with gently(), ended_as_stopped():
        os.kill(os.getpid(), signal.SIGTERM)
        assert is_asked()
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_handlers_of_others_stay() -> None:
    """Tests a caller who ignores Ctrl-C, and a thread that may set no handler."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with gently():
            interrupt()
            assert not is_asked()
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
    entered: list[bool] = []

    def enter() -> None:
        with gently():
            entered.append(True)

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert entered == [True]


def test_ctrl_c_still_reaches_python_after_a_solve() -> None:
    """Tests that the handler is Python's own again once CP-SAT has solved."""
    assert plan_job(job(), catalog(), alternatives=0).plan is not None
    with pytest.raises(KeyboardInterrupt):
        interrupt()


OFFERS: list[dict[str, Any]] = [
    A100,
    H100,
    {**A100, "name": "b", "region": "de", "usd_per_gpu_hour": 2.5},
]
Ask = Callable[[Callable[[str, float], None]], Any]

QUESTIONS: dict[str, Ask] = {
    "explain": lambda tell: explain_job(job(OFFERS), catalog(), progress=tell),
    "compare": lambda tell: compare(job(OFFERS), catalog(), "region", progress=tell),
    "pareto": lambda tell: pareto(job(OFFERS), catalog(), progress=tell),
    "alternatives": lambda tell: alternatives(
        job(OFFERS), catalog(), 0.5, progress=tell
    ),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_an_answer_at_any_moment(question: str) -> None:
    """Tests Ctrl-C each time that progress is told: there is always an answer."""
    moments: list[str] = []
    whole = QUESTIONS[question](lambda label, _: moments.append(label)).as_dict()
    assert moments
    for moment in range(len(moments)):
        told: list[str] = []

        def press(label: str, _share: float) -> None:
            if len(told) == moment:  # noqa: B023
                interrupt()
            told.append(label)  # noqa: B023

        with gently():
            cut = QUESTIONS[question](press).as_dict()
        assert len(told) > moment
        assert fields_as_json(cut)
        if question == "explain":
            assert not cut["complete"]
        if question == "compare":
            assert len(cut["rows"]) == len(whole["rows"])
            states = [row["status"] for row in cut["rows"]]
            assert states.count("optimal") == moment


def test_a_no_is_told_as_far_as_it_is_explained(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Tests Ctrl-C as the reasons of a 'no' are looked for: they are not complete."""
    in_force = infeasibility.in_force

    def pressed(setting: Setting) -> tuple[str, ...]:
        if not is_asked():
            interrupt()
        return in_force(setting)

    limits = {"deadline": "1 min", "budget": 10}
    whole = explain_job(job(OFFERS, limits), catalog())
    monkeypatch.setattr(infeasibility, "in_force", pressed)
    with gently():
        cut = explain_job(job(OFFERS, limits), catalog())
    assert (whole.result.status, whole.complete) == ("infeasible", True)
    assert (cut.result.status, cut.complete) == ("infeasible", False)
    assert cut.result.explanation is not None
    assert cut.result.explanation.relaxations == ()
    said = [message_section("section.binding", (Message.of("explain.no-time"),))]
    assert insight_page(cut).parts[-1:] == tuple(said)
    assert insight_page(whole).parts[-1:] != tuple(said)


def test_a_worker_remembers_ctrl_c() -> None:
    """Tests that Ctrl-C between two answers ends no worker, and is not forgotten."""
    code = (
        "import os, signal; from solver.interruption import gently, is_asked, remember;"
        "remember(); os.kill(os.getpid(), signal.SIGINT);"
        "print(is_asked());"
        "context = gently(); context.__enter__(); context.__exit__(None, None, None);"
        "print(is_asked())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, cwd=ROOT
    )
    assert done.stdout.split() == [b"True", b"True"]
