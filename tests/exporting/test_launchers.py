"""Tests of what all launchers have in common: nodes, GPUs, words, names."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from solver.errors import InputError
from solver.exporting.nodes import (
    FEWEST_RESTARTS,
    NODE_SCRIPT,
    held_days,
    network_environment,
    restarts,
)
from solver.exporting.program import shell_word
from tests.exporting.launching import (
    NASTY,
    PLANS,
    SAID,
    STUB,
    WRITERS,
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
from tests.exporting.listed import read_words
from tests.planning.jobs import catalog

HURT = ('"; touch hurt; "', "'$(touch hurt)", "a\n`touch hurt`\n", "# }\ntouch hurt\n")
"""Names of scenarios that would run something of their own."""


@pytest.mark.parametrize("name", PLANS)
def test_nodes_and_gpus_are_those_of_the_plan(name: str, tmp_path: Path) -> None:
    """Tests that a node starts a process a GPU, and knows of the other nodes."""
    run = shipped(name)
    put(tmp_path, texts(run, "torchrun", *NASTY))
    where = install(tmp_path, torchrun=STUB)
    done = ran(
        tmp_path, ["bash", NODE_SCRIPT], where, NODE_RANK="0", MASTER_ADDR="head"
    )
    assert done.returncode == 0, done.stderr
    (call,) = calls(tmp_path)
    options, rest = split(call["words"])
    assert rest == ["/somewhere else/train it.py", *NASTY]
    processes = int(options["--nproc-per-node"]) * int(options.get("--nnodes", "1"))
    assert processes == run.plan.nodes * run.plan.gpus_per_node == run.gpus
    if run.nodes == 1:
        assert "--standalone" in options
    else:
        assert options["--rdzv-endpoint"] == "head:29500"
        assert options["--rdzv-conf"] == "is_host=1"
        assert call["seen"]["TORCH_DISABLE_SHARE_RDZV_TCP_STORE"] == "1"
    read_words("torchrun", [w for pair in options.items() for w in pair if w])


@pytest.mark.parametrize("rank", ["1", "3"])
def test_only_node_0_is_the_host(rank: str, tmp_path: Path) -> None:
    """Tests that the other nodes look for the store and do not open one."""
    put(tmp_path, texts(shipped(), "torchrun"))
    where = install(tmp_path, torchrun=STUB)
    ran(tmp_path, ["bash", NODE_SCRIPT], where, NODE_RANK=rank, MASTER_ADDR="head")
    options, _ = split(calls(tmp_path)[0]["words"])
    assert options["--rdzv-conf"] == "is_host=0"


@pytest.mark.parametrize("missing", [*SAID, "NODE_RANK", "MASTER_ADDR"])
def test_what_has_to_be_said_is_asked_for(missing: str, tmp_path: Path) -> None:
    """Tests that a node stops where a variable is missing or empty, and names it."""
    put(tmp_path, texts(shipped(), "torchrun"))
    where = install(tmp_path, torchrun=STUB)
    told = {"NODE_RANK": "0", "MASTER_ADDR": "head"} | {missing: ""}
    done = ran(tmp_path, ["bash", NODE_SCRIPT], where, **told)
    assert done.returncode != 0
    assert missing in done.stderr
    assert calls(tmp_path) == []


@given(st.lists(st.text(st.characters(exclude_characters="\x00"), max_size=8)))
@settings(max_examples=60)
def test_words_pass_through_the_shell_unchanged(words: list[str]) -> None:
    """Tests that a shell reads any words back as they were."""
    words = [word.encode(errors="ignore").decode() for word in words]
    line = "printf '%s\\0' " + " ".join(shell_word(word) for word in words)
    done = subprocess.run(
        ["bash", "-c", line], capture_output=True, env={"LC_ALL": "C.UTF-8"}
    )
    said = done.stdout.decode().split("\0")[:-1]
    assert said == (words or [""])
    assert done.returncode == 0


def test_a_variable_in_a_word_is_filled_in() -> None:
    """Tests that what is around a variable stays as it is, whatever it is."""
    line = "printf %s " + shell_word('$x "${LR}" `${N:-a b}` $(y) \\')
    done = subprocess.run(
        ["bash", "-c", line], capture_output=True, text=True, env={"LR": "$(no)"}
    )
    assert done.stdout == '$x "$(no)" `a b` $(y) \\'


@pytest.mark.parametrize("launcher", WRITERS)
@pytest.mark.parametrize("title", HURT)
def test_a_scenarios_name_runs_nothing(
    title: str, launcher: str, tmp_path: Path
) -> None:
    """Tests that names of scenarios stay comments in all files."""
    run = replace(shipped(), title=title)
    found = texts(run, launcher)
    put(tmp_path, found)
    for name, text in found.items():
        if name.endswith(".yaml") and name != "settings.yaml":
            plain = texts(shipped(), launcher)[name]
            assert len(list(yaml.safe_load_all(text))) == plain.count("\n---\n") + 1
            continue
        subprocess.run(["bash", "-n", name], cwd=tmp_path, check=True)
    if NODE_SCRIPT in found:
        where = install(tmp_path, torchrun=STUB)
        told = {"NODE_RANK": "0", "MASTER_ADDR": "head"}
        assert ran(tmp_path, ["bash", NODE_SCRIPT], where, **told).returncode == 0
    assert not (tmp_path / "hurt").exists()


@pytest.mark.parametrize("launcher", WRITERS)
def test_files_of_the_program_are_beside_the_script(launcher: str) -> None:
    """Tests that what the program reads is where a node starts it."""
    found = texts(shipped(), launcher)
    if launcher == "kubernetes":
        found = next(iter(yaml.safe_load_all(found["pytorchjob.yaml"])))["data"]
    assert found["settings.yaml"] == "a: 1\n"
    assert NODE_SCRIPT in found


@pytest.mark.parametrize("name", PLANS)
def test_names_are_what_clusters_take(name: str) -> None:
    """Tests that a job's name is a DNS label with what launchers add to it."""
    assert re.fullmatch(r"[a-z]([-a-z0-9]*[a-z0-9])?", shipped(name).job)
    assert len(f"{shipped(name).job}-worker-1023") <= 63


def test_networks_are_held_to() -> None:
    """Tests that a job with a fabric does not fall back to sockets in silence."""
    run = shipped()
    expected = {
        "infiniband-ndr-400": {"NCCL_NET": "${NCCL_NET:-IB}"},
        "roce-400": {"NCCL_NET": "${NCCL_NET:-IB}"},
        "efa-v2-100": {"FI_PROVIDER": "${FI_PROVIDER:-efa}"},
        "ethernet-100": {"NCCL_NET": "${NCCL_NET:-Socket}"},
        "gpudirect-tcpx-200": {},
        "omnipath-100": {},
    }
    networks = catalog().networks
    found = {
        n: network_environment(replace(run, network=networks[n])) for n in expected
    }
    assert found == expected
    assert network_environment(shipped("sft-8b")) == {}


def test_what_the_user_set_wins(tmp_path: Path) -> None:
    """Tests that a variable of the network is only set where it is not."""
    put(tmp_path, texts(shipped(), "torchrun"))
    where = install(tmp_path, torchrun=STUB)
    told = {"NODE_RANK": "0", "MASTER_ADDR": "head"}
    ran(tmp_path, ["bash", NODE_SCRIPT], where, **told)
    ran(tmp_path, ["bash", NODE_SCRIPT], where, **told, NCCL_NET="Mine")
    assert [call["seen"]["NCCL_NET"] for call in calls(tmp_path)] == ["IB", "Mine"]


def test_restarts_follow_the_expected_interruptions() -> None:
    """Tests that a large job may fail often, and a small one ends soon."""
    few, many = (replace(shipped(), interruptions=n) for n in (0.0, 100.0))
    assert restarts(few) == FEWEST_RESTARTS
    assert restarts(many) == 130
    assert restarts(shipped("spare-nodes")) > restarts(shipped("sft-8b"))


def test_time_is_that_in_which_nodes_are_held() -> None:
    """Tests that waits for nodes are not in a job's time limit."""
    run = shipped("wait-for-delivery")
    waits = run.plan.duration_parts_days["delivery"]
    assert waits > 0
    assert run.plan.duration_p90_days is not None
    assert held_days(run) == pytest.approx(run.plan.duration_p90_days - waits)


@pytest.mark.parametrize("launcher", WRITERS)
def test_rollout_nodes_are_told(launcher: str) -> None:
    """Tests that nodes which only generate are named, as no file starts them."""
    notes = written(shipped("grpo-8b-rollouts"), launcher).notes
    assert "launch.note.rollouts" in [note.id for note in notes]


@pytest.mark.parametrize("launcher", WRITERS)
def test_a_refusal_of_the_framework_is_one_of_the_launcher(launcher: str) -> None:
    """Tests that a plan which its framework cannot say is not launched."""
    with pytest.raises(InputError):
        WRITERS[launcher](shipped("grpo-8b-rollouts"))


def test_lists_say_where_they_are_from() -> None:
    """Tests that each list of names that files are held against can be read."""
    for name in ("slurm", "torchrun", "pytorchjob", "skypilot"):
        assert len(rows(name)) > 20


@pytest.mark.parametrize("launcher", WRITERS)
def test_where_data_lies_is_told(launcher: str) -> None:
    """Tests that shared storage and drives of the nodes' own are told apart."""
    expected = {"llama3-70b-deadline": "storage", "rent-or-buy": "local-storage"}
    for name, kind in expected.items():
        ids = [note.id for note in written(shipped(name), launcher).notes]
        assert f"launch.note.{kind}" in ids


def test_a_slice_is_named_by_hand() -> None:
    """Tests that a script without a launcher says how a slice is chosen."""
    ids = [note.id for note in written(shipped("qlora-8b-mig-slice"), "torchrun").notes]
    assert "launch.torchrun.slice" in ids
