"""A run as a task of SkyPilot.

Keys are those of sky/utils/schemas.py of SkyPilot 0.14.1; a variable without a value
has to be given with ``--env``, which SkyPilot asks for by itself.
"""

from __future__ import annotations

from typing import Any

from solver.exporting.nodes import (
    LOCAL_ADDRESS,
    NODE_SCRIPT,
    NodeFiles,
    cpus_needed,
    launcher_notes,
    memory_gb_needed,
    node_files,
    restarts,
)
from solver.exporting.output import Files
from solver.exporting.refusals import Refusals
from solver.exporting.run import CHECKPOINTS, Run
from solver.exporting.shell import commented, header
from solver.exporting.skypilot_names import (
    Cloud,
    accelerator,
    cloud_of,
    infra,
    instance_type,
    shared_names,
)
from solver.exporting.yaml_text import yaml_text
from solver.messages import sentence
from solver.plan import Message

__all__ = ["POOL", "TASK", "files"]

TASK = "task.yaml"

POOL = "ssh/SET-NODE-POOL"
"""Where nodes are that SkyPilot does not rent: the user puts in a pool that is."""

DATA_BUCKET = "DATA_BUCKET"
CHECKPOINT_BUCKET = "CHECKPOINT_BUCKET"
DATA_FOLDER = "/data"
CHECKPOINT_FOLDER = "/checkpoints"

FAST = ("infiniband", "roce", "efa", "tcpx")


def files(run: Run) -> Files:
    """Return a task, and what its nodes start.

    Raises
    ------
    InputError
        SkyPilot cannot rent or start what the plan says, with every reason, or the
        framework's files cannot say what it does.
    """
    cloud = cloud_of(run)
    _check(run, cloud)
    node = node_files(run)
    notes = _notes(run, cloud)
    text = yaml_text(
        [*header(run), *(note.text for note in notes)], _task(run, cloud, node)
    )
    return Files({TASK: text, **node.texts}, (*node.command.notes, *notes))


def _check(run: Run, cloud: Cloud | None) -> None:
    """Refuse what SkyPilot does not have.

    Raises
    ------
    NotExpressible
        With every reason.
    """
    plan, refusals = run.plan, Refusals("SkyPilot")
    refusals.add("rents no MIG slices", where=plan.slice is not None)
    refusals.add(
        f"has no name for {plan.gpu}",
        where=plan.slice is None and accelerator(run, cloud) is None,
    )
    refusals.add(
        f"starts nodes of one kind of purchase, and the plan mixes {plan.purchase}",
        where=plan.mix is not None and "spot" in plan.purchase,
    )
    if cloud is not None:
        refusals.add(
            f"starts single nodes alone at {cloud.name}, and the plan has {run.nodes}",
            where=run.nodes > 1 and not cloud.several_nodes,
        )
        refusals.add(
            f"rents no spot nodes at {cloud.name}",
            where=plan.purchase == "spot" and not cloud.spot,
        )
    refusals.check()


def _task(run: Run, cloud: Cloud | None, node: NodeFiles) -> dict[str, Any]:
    """Return the task."""
    mounts = _mounts(run)
    task: dict[str, Any] = {
        "name": run.job,
        "workdir": ".",
        "num_nodes": run.nodes,
        "resources": _resources(run, cloud),
        "envs": _variables(node, mounts),
    }
    if mounts:
        task["file_mounts"] = mounts
    task["setup"] = "\n".join(commented([sentence("launch.skypilot.setup")])) + "\n"
    task["run"] = _commands(run)
    return task


def _resources(run: Run, cloud: Cloud | None) -> dict[str, Any]:
    """Return what is rented for a node."""
    name = accelerator(run, cloud)
    found: dict[str, Any] = {"infra": POOL if cloud is None else infra(run, cloud)}
    server = None if cloud is None else instance_type(run, cloud)
    if server is not None:
        found["instance_type"] = server
    found["accelerators"] = {name: run.gpus_per_node}
    if server is None:
        found["cpus"] = f"{cpus_needed(run)}+"
        memory = memory_gb_needed(run)
        found.update({} if memory is None else {"memory": f"{memory}+"})
    if cloud is not None and run.plan.purchase == "spot":
        found["use_spot"] = True
    if _is_fast(run) and cloud is not None and cloud.fast_network:
        found["network_tier"] = "best"
    found["job_recovery"] = {"max_restarts_on_errors": restarts(run)}
    return found


def _is_fast(run: Run) -> bool:
    """Return whether the run needs more between its nodes than sockets."""
    return run.nodes > 1 and run.network is not None and run.network.kind in FAST


def _mounts(run: Run) -> dict[str, Any]:
    """Return buckets as folders; nothing where the plan has no object store."""
    if run.storage is None or run.storage.kind != "object_store":
        return {}
    return {
        DATA_FOLDER: {"source": f"${{{DATA_BUCKET}}}", "mode": "MOUNT"},
        CHECKPOINT_FOLDER: {
            "source": f"${{{CHECKPOINT_BUCKET}}}",
            "mode": "MOUNT_CACHED",
        },
    }


def _variables(node: NodeFiles, mounts: dict[str, Any]) -> dict[str, str | None]:
    """Return the variables of a task; those without a value are the user's to give."""
    found: dict[str, str | None] = {}
    if mounts:
        found = {DATA_BUCKET: None, CHECKPOINT_BUCKET: None}
    for one in node.command.variables:
        found[one.name] = one.default
        if mounts and one.name == CHECKPOINTS:
            found[one.name] = CHECKPOINT_FOLDER
    return found


def _commands(run: Run) -> str:
    """Return what every node runs."""
    lines = ["set -euo pipefail"]
    if run.nodes > 1:
        lines += [
            'export NODE_RANK="${SKYPILOT_NODE_RANK}"',
            'mapfile -t addresses <<< "${SKYPILOT_NODE_IPS}"',
            'export MASTER_ADDR="${addresses[0]}"',
            f'export {LOCAL_ADDRESS}="${{addresses[NODE_RANK]}}"',
        ]
    return "\n".join([*lines, f"bash {NODE_SCRIPT}"]) + "\n"


def _notes(run: Run, cloud: Cloud | None) -> list[Message]:
    """Return what the user should know of the task."""
    plan = run.plan
    notes = [Message.of("launch.skypilot.launch", task=TASK)]
    if cloud is None:
        notes.append(
            Message.of("launch.skypilot.own", provider=plan.provider, pool=POOL)
        )
    else:
        notes += _cloud_notes(run, cloud)
    if run.spare_nodes:
        notes.append(Message.of("launch.skypilot.spares", nodes=run.spare_nodes))
    return [*notes, *launcher_notes(run, mounted=bool(_mounts(run)))]


def _cloud_notes(run: Run, cloud: Cloud) -> list[Message]:
    """Return where a cloud's names say less than the plan, or it does less."""
    plan, notes = run.plan, []
    if infra(run, cloud) in (cloud.name, f"{cloud.name}/{plan.country}"):
        notes.append(Message.of("launch.skypilot.region", region=plan.region))
    others = shared_names(run, cloud)
    if others and instance_type(run, cloud) is None:
        notes.append(
            Message.of(
                "launch.skypilot.card",
                name=accelerator(run, cloud),
                gpu=plan.gpu,
                others=", ".join(others),
            )
        )
    if plan.purchase not in ("on_demand", "spot"):
        notes.append(Message.of("launch.skypilot.reserved", purchase=plan.purchase))
    if _is_fast(run) and not cloud.fast_network:
        name = run.network.name if run.network is not None else ""
        notes.append(
            Message.of("launch.skypilot.network", network=name, provider=plan.provider)
        )
    return notes
