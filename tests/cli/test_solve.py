"""Tests of `gpuplan solve` from end to end, on the shipped catalog."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from solver.plan import Plan
from tests.cli.running import ROOT, run, run_process

SMALL = """\
# Does a small job of one's own work?
name: small
model: llama-2-7b
workload: {method: lora, tokens: 10M, sequence_length: 1024, global_batch_size: 32}
offers:
  - {name: mine, gpu: a100-sxm-80gb, gpus_per_node: 8, usd_per_gpu_hour: 2.00,
     max_nodes: 1, region: sg}
"""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Return a scenario that is solved in no time."""
    path = tmp_path / "small.yaml"
    path.write_text(SMALL, encoding="utf-8")
    return path


def test_quickstart(capsys: pytest.CaptureFixture[str]) -> None:
    """Tests that the first command of the README gives a proved plan."""
    ran = run(capsys, "solve", "quickstart-7b")
    assert (ran.status, ran.err) == (0, "")
    assert "proved optimal" in " ".join(ran.out.splitlines()[:2])
    assert re.search(r"(?m)^  bound +\$[\d,]+ \(gap 0%\)$", ran.out)


def test_json_is_all_there_is(small: Path) -> None:
    """Tests that a real process prints one object, nothing else, and a whole plan."""
    ran = run_process("solve", small, "--json")
    assert (ran.status, ran.err) == (0, "")
    plan = Plan.from_dict(ran.data["plan"])
    assert (plan.provider, plan.region, plan.country) == ("mine", "sg", "SG")
    layout = plan.layout
    assert plan.gpus == layout.tp * layout.pp * layout.cp * layout.dp
    assert sum(plan.cost_parts_usd.values()) == pytest.approx(plan.cost_usd)
    assert sum(plan.duration_parts_days.values()) == pytest.approx(plan.duration_days)
    assert plan.cost_usd == pytest.approx(plan.gpu_hours * 2.00, abs=0.005)


def test_same_question_same_answer(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tests that two runs differ in nothing but the time they took."""
    answers = [run(capsys, "solve", small, "--json").data for _ in range(2)]
    for answer in answers:
        answer["proof"]["wall_time_s"] = 0.0
    assert answers[0] == answers[1]


def test_infeasible(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Tests that an impossible deadline ends with 3, and the least that would do."""
    words = ("solve", small, "--set", "constraints.deadline=1 min", "--json")
    ran = run(capsys, *words)
    assert ran.status == 3
    assert ran.data["status"] == "infeasible"
    explanation = ran.data["explanation"]
    assert explanation["conflict"] == ["deadline"]
    (relaxation,) = explanation["relaxations"]
    needed = relaxation["needed_value"]
    enough = run(capsys, *words[:3], f"constraints.deadline={needed} days", "--json")
    assert enough.status == 0
    assert enough.data["plan"]["duration_days"] <= needed


@pytest.mark.parametrize(
    ("option", "value"),
    [("--time-limit", "soon"), ("--gap", "a lot"), ("--set", "limits.time=soon")],
)
def test_faults_of_options(
    option: str, value: str, small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tests that a wrong value is told under the option that it was given to."""
    ran = run(capsys, "solve", small, "--set", "name=other", option, value)
    assert ran.status == 2
    assert ran.err.startswith(f"{option}{' #2' if option == '--set' else ''}: limits.")


def test_every_fault_at_once(tmp_path: Path) -> None:
    """Tests that a bad file is told with lines and hints, and nothing else happens."""
    file = tmp_path / "bad.yaml"
    file.write_text(
        SMALL.replace("name:", "nmae:", 1).replace("10M", "10 parsecs"),
        encoding="utf-8",
    )
    ran = run_process("solve", "bad.yaml", cwd=tmp_path)
    assert (ran.status, ran.out) == (2, "")
    lines = ran.err.splitlines()
    assert lines[0] == "bad.yaml:2:1: nmae: unknown key (did you mean 'name'?)"
    assert lines[1].startswith("bad.yaml:4:34: workload.tokens: ")


def test_a_catalog_folder_that_is_none(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tests that a misspelled catalog folder is refused."""
    ran = run(capsys, "solve", small, "--catalog", small.parent / "none", "--json")
    assert ran.status == 2
    assert ran.data["errors"][0]["code"] == "folder-not-found"


def test_export_of_the_model(
    small: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Tests that the exported model names the decisions that people speak of."""
    file = tmp_path / "model.txt"
    assert run(capsys, "solve", small, "--export-model", file).status == 0
    text = file.read_text(encoding="utf-8")
    for name in ("gpus", "nodes", "region", "tp", "step_time", "cost"):
        assert name in text


def test_log_goes_to_standard_error(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tests that --log keeps standard output clean for --json."""
    ran = run(capsys, "solve", small, "--json", "--log")
    assert ran.status == 0
    assert ran.data["status"] == "optimal"


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_interrupt(small: Path) -> None:
    """Tests that Ctrl-C stops a running solve at once, without a traceback."""
    code = (
        "import time, types, sys;"
        "planner = types.ModuleType('planner');"
        "wait = lambda *a, **k: (print('busy', flush=True), time.sleep(60));"
        "planner.plan_job = wait;"
        "sys.modules['solver.planning.single_job'] = planner;"
        "from solver.cli.app import main;"
        f"sys.exit(main(['solve', {str(small)!r}]))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "busy\n"
    start = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert time.monotonic() - start < 20
    assert process.returncode == 130
    assert err.strip() == "gpuplan: stopped"
