"""What every launcher does on a node: the script that it starts there, and its limits.

torchrun's options are those of ``torch.distributed.run`` of PyTorch 2.13, accelerate's
those of ``accelerate launch`` 1.15. NCCL's and libfabric's variables: NVIDIA's user
guide of NCCL, and aws-ofi-nccl @2daf7d30 of August 2026.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from solver.catalog.supply import LOCAL_KINDS
from solver.exporting.command import training_command
from solver.exporting.program import Command
from solver.exporting.run import Run
from solver.exporting.shell import script
from solver.plan import Message

__all__ = [
    "FEWEST_RESTARTS",
    "LOCAL_ADDRESS",
    "NODE_SCRIPT",
    "NodeFiles",
    "cpus_needed",
    "held_days",
    "launch_words",
    "launcher_notes",
    "memory_gb_needed",
    "network_environment",
    "node_files",
    "restarts",
]

NODE_SCRIPT = "train.sh"
"""Name of the script that every node of a job runs."""

IN_PLACE = 3
"""How often processes are started again on the same nodes where the launcher starts the
whole job again after that."""

FEWEST_RESTARTS = 3
"""A job that starts wrongly shall end soon; one that fails by chance shall go on."""

OWN_STORE: Mapping[str, str] = {"TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1"}
"""Gives the processes of each start a store of their own.

By default they share the one in which nodes meet, under a prefix that counts restarts.
Nodes count apart: one whose process failed is a number ahead of one that only sees that
others start again, and reads addresses of processes that are gone (seen with PyTorch
2.13 on two nodes; torch/distributed/elastic/rendezvous/dynamic_rendezvous.py).
"""

LOCAL_ADDRESS = "PET_LOCAL_ADDR"
"""Where other nodes find a node; torchrun takes the host's full name without it."""

_SIGMAS = 3.0
"""So many standard deviations more failures than expected are allowed for."""


@dataclass(frozen=True, slots=True)
class NodeFiles:
    """What a node needs in the folder where it starts.

    Parameters
    ----------
    command
        What the script runs.
    texts
        Name to text: the script itself, then what its program reads.
    """

    command: Command
    texts: Mapping[str, str]


def node_files(
    run: Run, times: int = IN_PLACE, notes: Sequence[Message] = ()
) -> NodeFiles:
    """Return the script that every node of a run starts, and what it reads.

    Parameters
    ----------
    times
        How often its processes are started again before it fails.
    notes
        What else the script says at its top.

    Raises
    ------
    InputError
        The framework's files cannot say what the plan does.
    """
    command = training_command(run)
    meeting = {} if run.nodes == 1 else OWN_STORE
    environment = {**meeting, **network_environment(run), **command.environment}
    said = (*command.notes, *notes)
    ready = replace(command, environment=environment, notes=said)
    text = script(run, ready, launch_words(run, command, times))
    return NodeFiles(ready, {NODE_SCRIPT: text, **command.files})


def launch_words(run: Run, command: Command, times: int) -> tuple[str, ...]:
    """Return what starts the program on every GPU of a node, and again after a failure.

    Parameters
    ----------
    times
        How often it is started again.

    Notes
    -----
    With the dynamic rendezvous (``c10d``) a failed process is started again together
    with those of the other nodes, and a node that was replaced joins them; with the
    static one all nodes would have to be started anew. The store is where NODE_RANK is
    0, which is said, since guessing it from names fails behind a service's name.
    """
    meeting = _meeting(run, str(times), accelerate="accelerate" in command.launcher)
    if not command.launcher:
        return ("torchrun", "--nproc-per-node", str(run.gpus_per_node), *meeting)
    processes = ("--num_processes", str(run.nodes * run.gpus_per_node))
    machines = ("--num_machines", str(run.nodes))
    return (*command.launcher, *processes, *machines, *meeting)


def _meeting(run: Run, times: str, *, accelerate: bool) -> tuple[str, ...]:
    """Return the options by which nodes find each other, and how often they restart."""
    if accelerate:
        if run.nodes == 1:
            return ("--max_restarts", times)
        return (
            *("--machine_rank", "${NODE_RANK}", "--max_restarts", times),
            *("--main_process_ip", "${MASTER_ADDR}"),
            *("--main_process_port", "${MASTER_PORT}"),
            *("--rdzv_backend", "c10d", "--rdzv_conf", _HOST),
        )
    if run.nodes == 1:
        return ("--standalone", "--nnodes", "1", "--max-restarts", times)
    return (
        *("--nnodes", str(run.nodes), "--max-restarts", times),
        *("--rdzv-backend", "c10d", "--rdzv-id", run.job),
        *("--rdzv-endpoint", "${MASTER_ADDR}:${MASTER_PORT}"),
        *("--rdzv-conf", _HOST),
    )


_HOST = "is_host=${IS_HOST}"


def network_environment(run: Run) -> dict[str, str]:
    """Return the variables that hold the job to the network that was planned.

    Notes
    -----
    Without them NCCL falls back to sockets in silence where it finds no fabric, and a
    step takes many times what was predicted. What the user has set wins. Of EFA the
    plugin's name is not set, since it has changed between releases; GPUDirect-TCPX has
    variables of its own that come with the plugin's installation.
    """
    if run.nodes == 1 or run.network is None or run.gpu.vendor == "Intel":
        return {}
    if "omnipath" in run.network.id:
        return {}
    chosen = {
        "infiniband": ("NCCL_NET", "IB"),
        "roce": ("NCCL_NET", "IB"),
        "efa": ("FI_PROVIDER", "efa"),
        "ethernet": ("NCCL_NET", "Socket"),
    }.get(run.network.kind)
    if chosen is None:
        return {}
    name, value = chosen
    return {name: f"${{{name}:-{value}}}"}


def restarts(run: Run) -> int:
    """Return how often a job may be started again before it is given up.

    Notes
    -----
    Interruptions are counted as Poisson's: three standard deviations above their
    expected number, and not fewer than `FEWEST_RESTARTS`.
    """
    expected = run.interruptions
    return max(FEWEST_RESTARTS, math.ceil(expected + _SIGMAS * math.sqrt(expected)))


def held_days(run: Run) -> float:
    """Return the days for which nodes are held, as nine of ten runs need at most.

    Waits for nodes are left out. Where the plan has no 90th percentile it is the
    expected time.
    """
    plan = run.plan
    whole = plan.duration_p90_days or plan.duration_days
    waits = ("queue", "delivery")
    return whole - sum(plan.duration_parts_days.get(name, 0.0) for name in waits)


def memory_gb_needed(run: Run) -> int | None:
    """Return the host memory that a node needs, whole GB; None: not known."""
    needed = run.plan.host.get("ram_needed_gb")
    return None if needed is None else math.ceil(needed)


def cpus_needed(run: Run) -> int:
    """Return the host threads of a node: one a process, and those that decode data."""
    decoding = run.plan.input.get("loader_cores_needed") or 0.0
    wanted = run.gpus_per_node + math.ceil(decoding)
    there = run.plan.host.get("vcpus")
    return wanted if there is None else max(1, min(wanted, int(there)))


def launcher_notes(run: Run, *, mounted: bool = False) -> list[Message]:
    """Return what any launcher leaves to the user.

    Parameters
    ----------
    mounted
        Whether it brings data and checkpoints to the nodes itself.
    """
    notes = []
    if run.storage is not None and not mounted:
        kind = "local-storage" if run.storage.kind in LOCAL_KINDS else "storage"
        notes.append(Message.of(f"launch.note.{kind}", tier=run.storage.name))
    if run.rollout_nodes:
        notes.append(Message.of("launch.note.rollouts", nodes=run.rollout_nodes))
    if run.checkpoint_s is None and run.plan.duration_days > 1:
        notes.append(Message.of("launch.note.no-checkpoints"))
    if run.network is not None and run.network.kind == "tcpx" and run.nodes > 1:
        notes.append(Message.of("launch.note.tcpx", network=run.network.name))
    return notes
