"""A run as a batch script of Slurm.

Options are those of sbatch(1), srun(1), sinfo(1) and scontrol(1) of Slurm 26.11 at
commit 284c3b95 of August 2026; all of them are in 22.05 as well.
"""

from __future__ import annotations

import math

from solver.exporting.nodes import (
    FEWEST_RESTARTS,
    NODE_SCRIPT,
    cpus_needed,
    held_days,
    launcher_notes,
    memory_gb_needed,
    node_files,
    restarts,
)
from solver.exporting.output import Files
from solver.exporting.run import Run
from solver.exporting.shell import commented, header
from solver.messages import sentence
from solver.plan import Message
from solver.units import DAY

__all__ = ["SCRIPT", "files", "time_limit"]

SCRIPT = "job.sbatch"

NOTICE_S = 300
"""Seconds before the limit at which the job is queued again."""

SOON_S = 900
"""An attempt that fails within so many seconds has hardly trained: it may never."""


def files(run: Run) -> Files:
    """Return a batch script and what it starts on each node.

    Raises
    ------
    InputError
        The framework's files cannot say what the plan does.
    """
    node = node_files(run)
    notes = (*node.command.notes, *_notes(run))
    return Files({SCRIPT: _script(run), **node.texts}, notes)


def time_limit(days: float) -> str:
    """Return a limit as ``--time`` takes it: days-hours:minutes:seconds, rounded up."""
    minutes = max(1, math.ceil(days * DAY / 60.0))
    hours, minutes = divmod(minutes, 60)
    whole, hours = divmod(hours, 24)
    return f"{whole}-{hours:02}:{minutes:02}:00"


def _script(run: Run) -> str:
    """Return the batch script."""
    lines = [
        "#!/usr/bin/env bash",
        *(f"#SBATCH {option}" for option in _options(run)),
        *(f"##SBATCH {option}" for option in ("--partition=", "--account=")),
        *commented([*header(run), *(note.text for note in _notes(run))]),
        "",
        "set -euo pipefail",
        'cd "${SLURM_SUBMIT_DIR}"',
        *_body(run),
    ]
    return "\n".join(lines) + "\n"


def _options(run: Run) -> list[str]:
    """Return what is asked of Slurm.

    Notes
    -----
    Whole nodes are taken with all their memory. A MIG slice shares its node, so that
    only what the job needs is taken. ``--no-kill`` keeps the nodes of a job of which
    one fails, where there is a spare to go on with.
    """
    options = [
        f"--job-name={run.job}",
        f"--nodes={run.nodes + run.spare_nodes}",
        "--ntasks-per-node=1",
    ]
    if run.plan.slice is None:
        options += [f"--gpus-per-node={run.gpus_per_node}", "--exclusive", "--mem=0"]
    else:
        options.append(f"--gres=gpu:{run.plan.slice['profile']}:{run.gpus_per_node}")
        options.append(f"--cpus-per-task={cpus_needed(run)}")
        memory = memory_gb_needed(run)
        options += [] if memory is None else [f"--mem={memory}G"]
    options += [
        f"--time={time_limit(held_days(run))}",
        f"--signal=B:USR1@{NOTICE_S}",
        "--requeue",
        "--open-mode=append",
        "--output=%x-%j.log",
    ]
    return options + (["--no-kill"] if run.spare_nodes else [])


def _body(run: Run) -> list[str]:
    """Return what runs on the first node: a step on all of them, again if it fails."""
    return [
        f"NODES={run.nodes}",
        f"ATTEMPTS={restarts(run)}  # {sentence('launch.slurm.attempts')}",
        f"SOON={SOON_S}  # {sentence('launch.slurm.soon', times=FEWEST_RESTARTS)}",
        "",
        *commented([sentence("launch.slurm.requeue", minutes=NOTICE_S // 60)]),
        "again() {",
        '  echo "queued again: goes on from the last checkpoint" >&2',
        '  scontrol requeue "${SLURM_JOB_ID}"',
        "  exit 0",
        "}",
        "trap again USR1",
        "",
        *_hosts(run),
        *commented([sentence("launch.slurm.step")]),
        "# shellcheck disable=SC2016",
        f"NODE='{_on_node(run)}'",
        "",
        "soon=0",
        f"for ((n = 1; n <= ATTEMPTS && soon < {FEWEST_RESTARTS}; n++)); do",
        "  began=${SECONDS}",
        "  mapfile -t hosts < <(fit_hosts)",
        "  if ((${#hosts[@]} < NODES)); then",
        "    again",
        "  fi",
        '  nodelist=$(IFS=,; echo "${hosts[*]:0:NODES}")',
        '  srun --nodes="${NODES}" --ntasks="${NODES}" --ntasks-per-node=1 \\',
        f'    --nodelist="${{nodelist}}" {_step_options(run)} \\',
        '    bash -c "${NODE}" node "$@" &',
        "  if wait $!; then",
        "    exit 0",
        "  fi",
        '  echo "attempt ${n} of ${ATTEMPTS} failed" >&2',
        "  soon=$((SECONDS - began < SOON ? soon + 1 : 0))",
        "done",
        "exit 1",
    ]


def _hosts(run: Run) -> list[str]:
    """Return the function that lists the nodes that can work, in Slurm's order.

    Notes
    -----
    Slurm kills the whole job where a node of it fails, unless ``--no-kill`` is set. A
    state is the bare word only where nothing is wrong with a node: one that is drained
    or does not answer has a mark or another word.
    """
    every = 'scontrol show hostnames "${SLURM_JOB_NODELIST}"'
    if not run.spare_nodes:
        return ["fit_hosts() {", f"  {every}", "}", ""]
    return [
        *commented([sentence("launch.slurm.spares", spares=run.spare_nodes)]),
        "fit_hosts() {",
        "  local fit",
        '  fit=$(sinfo --noheader --Node --nodes="${SLURM_JOB_NODELIST}" \\',
        "    --format='%N %t' | awk '$2 ~ /^(alloc|mix)[-+$]?$/ {print $1}')",
        f"  {every} \\",
        '    | grep --fixed-strings --line-regexp "${fit}" || true',
        "}",
        "",
    ]


def _step_options(run: Run) -> str:
    """Return how a step takes what the job has."""
    bound = (
        "--cpu-bind=none"
        if run.plan.slice is None
        else ('--cpus-per-task="${SLURM_CPUS_PER_TASK}"')
    )
    return f"--kill-on-bad-exit=1 {bound}"


def _on_node(run: Run) -> str:
    """Return what a node runs: who it is among those of the step, then the script."""
    lines = []
    if run.nodes > 1:
        lines = [
            "export NODE_RANK=${SLURM_NODEID}",
            'nodes=$(scontrol show hostnames "${SLURM_STEP_NODELIST}")',
            "export MASTER_ADDR=${nodes%%[[:space:]]*}",
        ]
    return "\n".join([*lines, f'exec bash {NODE_SCRIPT} "$@"'])


def _notes(run: Run) -> list[Message]:
    """Return what the user should know of the job on a cluster."""
    notes = [
        Message.of("launch.slurm.partition"),
        Message.of("launch.slurm.limit", days=held_days(run)),
    ]
    if run.plan.slice is not None:
        notes.append(
            Message.of("launch.slurm.slice", profile=run.plan.slice["profile"])
        )
    return [*notes, *launcher_notes(run)]
