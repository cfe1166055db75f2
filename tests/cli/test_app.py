"""Tests of the command line as such: help, faults, statuses, streams."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import solver
from solver.acting.request import CatalogAsked, Request
from solver.cli import scenarios
from solver.errors import InputError, InternalError, Issue, PackagingError
from solver.plan import PlanResult
from tests.cli.running import ROOT, run, run_process
from tests.report.examples import FEASIBLE, INFEASIBLE, OPTIMAL, UNKNOWN

COMMANDS = [
    (),
    ("solve",),
    ("estimate",),
    ("scenarios",),
    ("scenarios", "list"),
    ("scenarios", "show"),
    ("scenarios", "copy"),
    ("scenarios", "schema"),
]


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Let `solve` read nothing and give the answer that the test puts here."""
    asked: dict[str, Any] = {"result": OPTIMAL}

    def read_inputs(*arguments: Any, **offers: Any) -> tuple[Any, str]:
        asked["inputs"] = arguments
        asked["offers"] = offers
        return SimpleNamespace(phases=()), "catalog"

    def plan_job(scenario: Any, catalog: str, **options: Any) -> PlanResult:
        asked["options"] = options
        if isinstance(asked["result"], BaseException):
            raise asked["result"]
        answer: PlanResult = asked["result"]
        return answer

    asked_for = Request({}, "2026-12-01", CatalogAsked("", []))
    monkeypatch.setattr("solver.cli.solve.read_inputs", read_inputs)
    monkeypatch.setattr("solver.planning.answering.request_of", lambda *_: asked_for)
    # answers built by hand follow from no catalog, so that they have no route
    monkeypatch.setattr("solver.planning.answering.acting_on_result", lambda *_: None)
    planner = ModuleType("solver.planning.single_job")
    monkeypatch.setattr(planner, "plan_job", plan_job, raising=False)
    monkeypatch.setitem(sys.modules, "solver.planning.single_job", planner)
    return asked


def fail_with(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    """Let `scenarios list` raise an error."""

    def list_scenarios() -> None:
        raise error

    monkeypatch.setattr("solver.scenario.gallery.list_scenarios", list_scenarios)


@pytest.mark.parametrize("option", ["-h", "--help"])
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(
    command: tuple[str, ...], option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tests that help can be had of everything, in both spellings."""
    ran = run(capsys, *command, option)
    assert ran.status == 0
    assert ran.out.startswith(f"Usage: {' '.join(('gpuplan', *command))} ")
    assert "--help" in ran.out
    assert ran.err == ""


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    """Tests that --version prints the distribution's version."""
    ran = run(capsys, "--version")
    assert (ran.status, ran.out) == (0, f"gpuplan {solver.__version__}\n")


def test_without_a_command_help_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    """Tests that a newcomer who types only the name learns the commands."""
    ran = run(capsys)
    assert ran.status == 2
    assert "scenarios" in ran.out + ran.err


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["slove"], "Did you mean 'solve'?"),
        (["solve"], "SCENARIO"),
        (["solve", "x", "--jsno"], "--jsno"),
        (["solve", "x", "--workers", "many"], "--workers"),
        (["solve", "x", "--workers", "0"], "--workers"),
        (["solve", "x", "y"], "y"),
        (["estimate", "x", "--tp", "0"], "--tp"),
        (["estimate", "x", "--dp", "10000000000000000000"], "--dp"),
        (["estimate", "x", "--gpus", "10000000000"], "--gpus"),
    ],
)
def test_wrong_usage(
    words: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tests that a wrong command line ends with 2 and says what is wrong with it."""
    ran = run(capsys, *words)
    assert ran.status == 2
    assert ran.out == ""
    assert expected in ran.err
    assert "Usage: gpuplan" in ran.err
    as_json = run(capsys, *words, "--json")
    assert as_json.status == 2
    assert as_json.data["ok"] is False
    assert as_json.data["errors"][0]["code"] == "bad-usage"


def test_faults_are_told_one_a_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests that every fault is told with place, path and nearest spelling."""
    issues = [
        Issue("unknown-key", "unknown key", "a.yaml:1:2", "dat", "data"),
        Issue("wrong-type", "expected a number", "a.yaml:3:4", "workload.tokens"),
    ]
    fail_with(monkeypatch, InputError(issues))
    ran = run(capsys, "scenarios", "list")
    assert ran.status == 2
    assert ran.out == ""
    assert ran.err.splitlines() == [
        "a.yaml:1:2: dat: unknown key (did you mean 'data'?)",
        "a.yaml:3:4: workload.tokens: expected a number",
    ]
    as_json = run(capsys, "scenarios", "list", "--json")
    assert as_json.status == 2
    assert as_json.err == ""
    assert [error["hint"] for error in as_json.data["errors"]] == ["data", None]


@pytest.mark.parametrize(
    "error", [ZeroDivisionError("oh"), InternalError("oh"), PackagingError("oh")]
)
def test_a_bug_of_ours(
    error: Exception,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Tests that our bugs end with 1, asking for a report, without a traceback."""
    fail_with(monkeypatch, error)
    ran = run(capsys, "scenarios", "list")
    assert ran.status == 1
    assert ran.out == ""
    assert "oh" in ran.err
    assert "report" in ran.err
    assert "Traceback" not in ran.err
    as_json = run(capsys, "scenarios", "list", "--json")
    assert as_json.status == 1
    assert as_json.data["errors"][0]["code"] == "internal-error"
    assert "oh" in as_json.data["errors"][0]["message"]


@pytest.mark.parametrize(
    "words", [("--debug", "scenarios", "list"), ("scenarios", "list", "--debug")]
)
def test_debug_shows_the_traceback(
    words: tuple[str, ...],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Tests that --debug works before and after the command."""
    fail_with(monkeypatch, ZeroDivisionError("oh"))
    ran = run(capsys, *words)
    assert ran.status == 1
    assert "Traceback" in ran.err
    assert "in list_scenarios" in ran.err


def test_stopped_by_the_user(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests that Ctrl-C ends with 130 and one word."""
    fail_with(monkeypatch, KeyboardInterrupt())
    ran = run(capsys, "scenarios", "list")
    assert ran.status == 130
    assert ran.out == ""
    assert ran.err.strip() == "gpuplan: stopped"


@pytest.mark.parametrize(
    ("result", "status"),
    [(OPTIMAL, 0), (FEASIBLE, 0), (INFEASIBLE, 3), (UNKNOWN, 4)],
)
def test_status_of_an_answer(
    result: PlanResult,
    status: int,
    answers: dict[str, Any],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Tests the exit status of each answer, as text and as JSON."""
    answers["result"] = result
    ran = run(capsys, "solve", "any")
    assert ran.status == status
    assert ran.err == ""
    as_json = run(capsys, "solve", "any", "--json")
    assert as_json.status == status
    assert as_json.data["ok"] is True
    assert as_json.data["status"] == result.status


def test_quiet_prints_the_decision_only(
    answers: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    """Tests that --quiet leaves the headline and no section."""
    ran = run(capsys, "solve", "any", "-q")
    assert ran.out.startswith("Rent 32 × 8 H100 SXM 80GB")
    assert "Layout" not in ran.out


def test_number_of_runners_up(
    answers: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    """Tests that --alternatives asks for so many runners-up, five by default."""
    run(capsys, "solve", "any")
    assert answers["options"]["alternatives"] == 5
    run(capsys, "solve", "any", "--alternatives", "0")
    assert answers["options"]["alternatives"] == 0


def test_options_reach_the_planner(
    answers: dict[str, Any], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Tests that every option of solve gets to where it is used."""
    model = tmp_path / "model.txt"
    limits = ["--time-limit", "5", "--gap", "1%", "--workers", "2", "--seed", "7"]
    limits += ["--max-price-age", "90 days"]
    others = ["--set", "a.b=1", "--export-model", model, "--log"]
    ran = run(capsys, "solve", "any", *limits, *others)
    assert ran.status == 0
    name, folders, overrides, options = answers["inputs"]
    assert (name, folders, overrides) == ("any", None, ["a.b=1"])
    assert options == {
        "--time-limit": ("limits.time", "5"),
        "--gap": ("limits.gap", "1%"),
        "--workers": ("limits.workers", 2),
        "--seed": ("limits.seed", 7),
        "--max-price-age": ("limits.price_age", "90 days"),
    }
    assert answers["options"]["export_model"] == model
    answers["options"]["log"]("a line of the log")
    assert capsys.readouterr().err == "a line of the log\n"


def test_export_into_no_folder(
    answers: dict[str, Any], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Tests that a file that cannot be written is refused before the work."""
    for file in (tmp_path / "no" / "model.txt", tmp_path):
        ran = run(capsys, "solve", "any", "--export-model", file)
        assert ran.status == 2
        assert "--export-model" in ran.err
    assert "inputs" not in answers


def test_colors(
    answers: dict[str, Any],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Tests that pipes get no colours, and NO_COLOR is stronger than FORCE_COLOR."""
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert "\x1b" not in run(capsys, "solve", "any").out
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in run(capsys, "solve", "any").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in run(capsys, "solve", "any").out


@pytest.mark.parametrize("columns", [30, 80, 120])
def test_width_of_the_terminal(
    columns: int,
    answers: dict[str, Any],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Tests that a page is as wide as the terminal says."""
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = run(capsys, "solve", "any").out.splitlines()
    assert columns - 12 < max(map(len, lines)) <= columns


def test_nothing_heavy_for_help() -> None:
    """Tests that help needs neither the optimiser nor arrays, schemas or tables."""
    code = (
        "import sys; from solver.cli.app import main; main(['--help']);"
        "heavy = {'ortools', 'numpy', 'pydantic', 'rich', 'yaml', 'pandas'};"
        "print(sorted(heavy & sys.modules.keys()))"
    )
    assert run_process(code=code).out.splitlines()[-1] == "[]"


def test_no_optimiser_for_wrong_input(tmp_path: Path) -> None:
    """Tests that a fault in a scenario is told without loading ortools or numpy."""
    file = tmp_path / "wrong.yaml"
    file.write_text("modell: llama\n", encoding="utf-8")
    code = (
        "import sys; from solver.cli.app import main;"
        f"status = main(['solve', {str(file)!r}]);"
        "print(status, sorted({'ortools', 'numpy', 'pandas'} & sys.modules.keys()))"
    )
    ran = run_process(code=code)
    assert ran.out.strip() == "2 []"
    assert "modell" in ran.err


def test_a_reader_that_goes_away() -> None:
    """Tests that `| head` is no error: no message, and the status stays."""
    code = "import sys; from solver.cli.app import main; sys.exit(main(sys.argv[1:]))"
    process = subprocess.Popen(
        [sys.executable, "-c", code, "scenarios", "schema"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    with process.stderr as stream:
        assert stream.read() == b""
    assert process.wait(timeout=60) == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk() -> None:
    """Tests that output which cannot be written is told, with status 2."""
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "solver", "scenarios", "schema"],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=full,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            timeout=60,
            check=False,
        )
    assert done.returncode == 2
    assert "standard output cannot be written: No space left" in done.stderr
    assert "Traceback" not in done.stderr


def test_closed_standard_output() -> None:
    """Tests that `>&-` is no error."""
    done = subprocess.run(
        ["/bin/sh", "-c", f"exec '{sys.executable}' -m solver scenarios schema >&-"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stderr=subprocess.PIPE,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_an_old_terminal_gets_ascii() -> None:
    """Tests that a terminal without UTF-8 sees x and #, not question marks."""
    code = (
        "import solver.cli.terminal as terminal;"
        "from solver.report.answer_rows import page;"
        "from tests.report.examples import OPTIMAL;"
        "terminal.prepare_streams(); terminal.write_page(page(OPTIMAL))"
    )
    ran = run_process(code=code, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert (ran.status, ran.err) == (0, "")
    assert ran.out.isascii()
    assert ran.out.startswith("Rent 32 x 8 H100 SXM 80GB at nebius")
    assert "?" not in ran.out


def test_unprintable_names_are_no_error() -> None:
    """Tests that a name from another alphabet does not break an old terminal."""
    ran = run_process("solve", "не-то", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert ran.status == 2
    assert "no such file" in ran.err
    ran = run_process(
        "solve", "не-то", "--json", PYTHONIOENCODING="ascii", PYTHONUTF8="0"
    )
    assert ran.data["errors"][0]["where"] == "не-то"


def test_objects_are_not_shared_between_runs(
    answers: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    """Tests that the same command twice gives the same text twice."""
    answers["result"] = replace(OPTIMAL, scenario="twice")
    first, second = (run(capsys, "solve", "any", "--json").out for _ in range(2))
    assert first == second


def test_command_group_is_importable() -> None:
    """Tests that the group of a command is the one that the application uses."""
    names = {command.name for command in scenarios.app.registered_commands}
    assert names == {"list", "show", "copy", "schema"}


@pytest.mark.parametrize(
    ("words", "usage"),
    [
        (("solve",), "gpuplan solve [OPTIONS] SCENARIO"),
        (("estimate",), "gpuplan estimate [OPTIONS] SCENARIO"),
        (("scenarios", "copy"), "gpuplan scenarios copy [OPTIONS] SCENARIO [TARGET]"),
        (("scenarios", "list"), "gpuplan scenarios list [OPTIONS]"),
    ],
)
def test_usage_names_arguments_plainly(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], usage: str
) -> None:
    """Tests that nobody has to wonder whether braces are to be typed."""
    ran = run(capsys, *words, "--help")
    assert ran.out.splitlines()[0] == f"Usage: {usage}"
