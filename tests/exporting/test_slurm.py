"""Tests of Slurm's batch script, run with stand-ins for Slurm's programs."""

from __future__ import annotations

import re
import signal
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from solver.exporting.run import Run
from solver.exporting.slurm import SCRIPT, files, time_limit
from tests.exporting.launching import (
    NASTY,
    PLANS,
    SCONTROL,
    SINFO,
    SRUN,
    STUB,
    calls,
    install,
    put,
    ran,
    rows,
    shipped,
    split,
    texts,
    written,
)

DAY_S = 86_400


def small(spares: int = 0, **changes: object) -> Run:
    """A run of three nodes."""
    return replace(shipped(nodes=3, spare_nodes=spares), **changes)


def options(run: Run) -> dict[str, str | None]:
    """What the batch script asks of Slurm."""
    text = texts(run, "slurm")[SCRIPT]
    found = {}
    for line in text.splitlines():
        if line.startswith("#SBATCH "):
            name, told, value = line.removeprefix("#SBATCH ").partition("=")
            found[name] = value if told else None
    return found


def started(
    folder: Path, run: Run, *words: str, states: str = "", **told: str
) -> subprocess.CompletedProcess[str]:
    """Run the batch script as Slurm does on its first node."""
    put(folder, texts(run, "slurm", *NASTY))
    where = install(folder, torchrun=STUB, srun=SRUN, scontrol=SCONTROL, sinfo=SINFO)
    (folder / "states.txt").write_text(states, encoding="utf-8")
    hosts = [f"n{number}" for number in range(run.nodes + run.spare_nodes)]
    environment = {
        "SLURM_SUBMIT_DIR": str(folder),
        "SLURM_JOB_ID": "17",
        "SLURM_JOB_NODELIST": ",".join(hosts),
        "SLURM_CPUS_PER_TASK": "8",
        "STATES": str(folder / "states.txt"),
        **told,
    }
    return ran(folder, ["bash", SCRIPT, *words], where, **environment)


def requeued(folder: Path) -> str:
    """What scontrol was asked beside the names of nodes."""
    path = folder / "requeued.txt"
    return path.read_text(encoding="utf-8") if path.exists() else ""


def steps(folder: Path) -> list[str]:
    """The nodes of each step."""
    return (folder / "steps.txt").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("name", PLANS)
def test_slurm_is_asked_for_the_plans_nodes(name: str) -> None:
    """Tests nodes, GPUs and time of every shipped plan, in options that Slurm has."""
    run = shipped(name)
    asked = options(run)
    plan = run.plan
    assert asked["--nodes"] == str(plan.nodes + plan.spare_nodes)
    if plan.slice is None:
        assert asked["--gpus-per-node"] == str(plan.gpus_per_node)
    else:
        assert asked["--gres"] == f"gpu:{plan.slice['profile']}:{plan.gpus_per_node}"
        assert "--exclusive" not in asked
    known = {row["option"]: row for row in rows("slurm") if row["sbatch"] == "yes"}
    for option, value in asked.items():
        assert known[option]["takes"] in {
            None: ("nothing", "none or one"),
        }.get(value, ("one", "none or one"))


def test_a_step_has_options_that_slurm_has() -> None:
    """Tests the options of srun, with and without a slice."""
    known = {row["option"] for row in rows("slurm") if row["srun"] == "yes"}
    for run in (shipped("spare-nodes"), shipped("qlora-8b-mig-slice")):
        text = texts(run, "slurm")[SCRIPT]
        (step,) = re.findall(r"  srun (.*?) bash -c", text, re.DOTALL)
        used = re.findall(r"--[a-z-]+", step)
        assert len(used) >= 5
        assert set(used) <= known


@given(st.floats(1e-6, 400))
def test_a_time_limit_is_never_short(days: float) -> None:
    """Tests that a limit holds the days it is for, and is rounded up by a minute."""
    read = re.fullmatch(r"(\d+)-([01]\d|2[0-3]):([0-5]\d):00", time_limit(days))
    assert read is not None
    whole, hours, minutes = map(int, read.groups())
    limit_s = whole * DAY_S + hours * 3600 + minutes * 60
    assert days * DAY_S <= limit_s < days * DAY_S + 60.001


def test_every_node_starts_the_program_once(tmp_path: Path) -> None:
    """Tests ranks, meeting place and words of a job of three nodes."""
    done = started(tmp_path, small(), "--more", "a b")
    assert done.returncode == 0, done.stderr
    found = calls(tmp_path)
    assert [call["seen"]["NODE_RANK"] for call in found] == ["0", "1", "2"]
    assert {call["seen"]["MASTER_ADDR"] for call in found} == {"n0"}
    for rank, call in enumerate(found):
        told, rest = split(call["words"])
        assert told["--nnodes"] == "3"
        assert told["--nproc-per-node"] == "8"
        assert told["--rdzv-conf"] == f"is_host={int(rank == 0)}"
        assert rest[1:] == [*NASTY, "--more", "a b"]


def test_one_node_needs_no_meeting(tmp_path: Path) -> None:
    """Tests a job of one node, and one of a slice."""
    for name in ("sft-8b", "qlora-8b-mig-slice"):
        folder = tmp_path / name
        folder.mkdir()
        run = shipped(name)
        assert started(folder, run).returncode == 0
        (call,) = calls(folder)
        told, _ = split(call["words"])
        assert told["--nproc-per-node"] == str(run.gpus_per_node)
        assert "NODE_RANK" not in call["seen"]


def test_spares_take_the_place_of_nodes_that_fail(tmp_path: Path) -> None:
    """Tests that a step has fit nodes alone, as many as train."""
    states = "n0 alloc\nn1 drng\nn2 alloc*\nn3 mix\nn3 mix\nn4 alloc\n"
    done = started(tmp_path, small(spares=2), states=states)
    assert done.returncode == 0, done.stderr
    assert steps(tmp_path) == ["n0,n3,n4"]
    assert [call["seen"]["NODE_RANK"] for call in calls(tmp_path)] == ["0", "1", "2"]


def test_spares_wait_while_nothing_fails(tmp_path: Path) -> None:
    """Tests that the first nodes train where all are fit."""
    states = "".join(f"n{number} alloc\n" for number in range(5))
    started(tmp_path, small(spares=2), states=states)
    assert steps(tmp_path) == ["n0,n1,n2"]


@pytest.mark.parametrize("states", ["", "n0 alloc\nn1 down\n"])
def test_too_few_nodes_queue_the_job_again(states: str, tmp_path: Path) -> None:
    """Tests that a job without enough fit nodes gives them back and waits."""
    done = started(tmp_path, small(spares=2), states=states)
    assert done.returncode == 0
    assert requeued(tmp_path) == "requeue 17\n"
    assert calls(tmp_path) == []


def test_a_job_that_fails_at_once_ends(tmp_path: Path) -> None:
    """Tests that a broken job does not hold its nodes for as long as it may restart."""
    done = started(tmp_path, small(interruptions=400.0), EXIT="1")
    assert done.returncode == 1
    assert len(steps(tmp_path)) == 3
    assert "attempt 3 of 460 failed" in done.stderr


def test_the_time_limit_queues_the_job_again(tmp_path: Path) -> None:
    """Tests that Slurm's signal before the limit is answered while a step runs."""
    run = small()
    put(tmp_path, texts(run, "slurm"))
    where = install(
        tmp_path,
        srun="#!/usr/bin/env bash\ntouch began\nexec sleep 30\n",
        scontrol=SCONTROL,
    )
    told = {
        "PATH": f"{where}:/usr/bin:/bin",
        "SLURM_SUBMIT_DIR": str(tmp_path),
        "SLURM_JOB_ID": "17",
        "SLURM_JOB_NODELIST": "n0,n1,n2",
        "REQUEUED": str(tmp_path / "requeued.txt"),
    }
    job = subprocess.Popen(
        ["bash", SCRIPT],
        cwd=tmp_path,
        env=told,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        for _ in range(500):
            if (tmp_path / "began").exists():
                break
            time.sleep(0.02)
        job.send_signal(signal.SIGUSR1)
        assert job.wait(timeout=20) == 0
    finally:
        subprocess.run(["kill", "--", f"-{job.pid}"], check=False, capture_output=True)
    assert requeued(tmp_path) == "requeue 17\n"
    (notice,) = re.findall(r"--signal=B:(\w+)@\d+", texts(run, "slurm")[SCRIPT])
    assert notice == "USR1"


def test_what_is_not_known_of_the_cluster_is_marked() -> None:
    """Tests that no partition is made up, and that the limit is said to be unknown."""
    found = written(small(), "slurm")
    text = found.texts[SCRIPT]
    assert "\n##SBATCH --partition=\n" in text
    assert "--partition" not in options(small())
    ids = [note.id for note in found.notes]
    assert {"launch.slurm.partition", "launch.slurm.limit"} <= set(ids)


def test_a_plan_is_written_with_its_own_framework() -> None:
    """Tests the real program of a plan, without a stand-in."""
    found = files(shipped())
    assert "--tensor-model-parallel-size" in found.texts["train.sh"]
    assert list(found.texts) == [SCRIPT, "train.sh"]
