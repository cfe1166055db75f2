"""Tests of what writers of files are told of a run."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from solver.acting.plan_file import PlannedJob
from solver.errors import InputError
from solver.exporting.pipeline import chunks, is_even
from solver.exporting.refusals import NotExpressibleError, Refusals
from solver.exporting.run import run_of
from solver.performance.stages import is_clean_split, layers_per_stage
from tests.exporting.runs import layout_of, shipped_plans, shipped_run
from tests.planning.jobs import catalog, job

NAME = re.compile(r"[a-z](?:-?[a-z0-9]+)*")


def planned(name: str, phase: str = "", **changes: object) -> PlannedJob:
    """A job of a scenario of that name, with the plan of another."""
    plan = replace(shipped_plans()["quickstart-7b"], **changes)
    return PlannedJob(phase, plan, replace(job(), name=name), 0.0, 1.0)


@pytest.mark.parametrize("name", sorted(shipped_plans()))
def test_a_run_adds_up(name: str) -> None:
    """Tests ranks, sequences and checkpoints of every shipped plan."""
    run = shipped_run(name)
    layout, plan = run.layout, run.plan
    assert run.gpus == run.nodes * run.gpus_per_node == plan.gpus
    batch = layout.micro_batch * layout.accumulation * layout.dp
    assert batch == layout.global_batch_size
    assert sum(layout.layers_per_stage) == run.architecture.layers
    if plan.batch_ramp is None:
        assert run.sequences == run.steps * batch
    if run.checkpoint_steps is None:
        assert run.checkpoint_s is None
    elif run.checkpoint_steps > 1:
        taken_s = run.checkpoint_steps * plan.step_time_s
        assert taken_s <= plan.checkpoint_interval_s < taken_s + plan.step_time_s


@pytest.mark.parametrize(
    ("name", "phase", "wanted"),
    [
        ("Llama-2 7B in 30 days", "", "llama-2-7b-in-30-days"),
        ("70B: the fastest!", "", "run-70b-the-fastest"),
        ("训练", "", "run"),
        ("训练", "微调", "run"),
        ("a", "b c", "a-b-c"),
        ("x" * 90, "", "x" * 40),
        ("words " * 20, "tune", "words-words-words-words-words-words-tune"),
    ],
)
def test_names_are_those_of_clusters(name: str, phase: str, wanted: str) -> None:
    """Tests that names keep to letters, digits and hyphens, and keep the phase."""
    run = run_of(planned(name, phase), catalog())
    assert run.job == wanted
    assert NAME.fullmatch(run.job)
    assert len(run.job) <= 40
    assert run.title == (f"{name}, {phase}" if phase else name)


def test_what_the_catalog_no_longer_has() -> None:
    """Tests that every name that is gone is told at once."""
    gone = planned("x", framework="f", gpu="g/1g.5gb", server="s")
    with pytest.raises(InputError) as told:
        run_of(gone, catalog())
    assert [issue.path for issue in told.value.issues] == ["framework", "gpu", "server"]
    assert {issue.code for issue in told.value.issues} == {"unknown-name"}


def test_slices_and_own_servers_are_found() -> None:
    """Tests a MIG slice and a server that the scenario itself states."""
    assert shipped_run("qlora-8b-mig-slice").gpu.id == "a30/4g.24gb"
    own = shipped_run("host-inventory")
    assert own.server.id == own.plan.server
    assert own.server.id not in catalog().servers


@pytest.mark.parametrize("virtual", [1, 2, 3, 5])
@pytest.mark.parametrize("pp", [1, 2, 4, 8])
def test_chunks_are_those_of_the_planner(pp: int, virtual: int) -> None:
    """Tests that chunks keep every stage's layers, shorter at both ends alone."""
    tried = 0
    for layers in range(pp * virtual, 200):
        if not is_clean_split(layers, pp, virtual):
            continue
        stages = tuple(layers_per_stage(layers, pp, virtual))
        layout = layout_of(
            shipped_run("quickstart-7b"),
            pp=pp,
            virtual_stages=virtual,
            layers_per_stage=stages,
        ).layout
        held = chunks(layout)
        assert len(held) == pp * virtual
        assert [sum(held[stage::pp]) for stage in range(pp)] == list(stages)
        inner = set(held[1:-1] or held)
        assert len(inner) == 1
        assert is_even(layout) == (layers % (pp * virtual) == 0)
        if not is_even(layout):
            assert {held[0], held[-1]} == {held[1 % len(held)] - 1} or len(held) == 2
        tried += 1
    assert tried > 5


def test_refusals_are_told_together_and_once() -> None:
    """Tests the collector of reasons: order kept, doubles and false ones left out."""
    refusals = Refusals("Tool")
    refusals.add("has no a")
    refusals.add("has no b", where=False)
    refusals.add("has no c")
    refusals.add("has no a")
    with pytest.raises(NotExpressibleError) as told:
        refusals.check()
    messages = [issue.message for issue in told.value.issues]
    assert messages == ["Tool has no a", "Tool has no c"]
    Refusals("Tool").check()
