"""A run as a PyTorchJob of the Kubeflow Training Operator, with a ConfigMap of files.

Fields and what the operator makes of them: kubeflow.org/v1 of its release 1.9 (Python
models kubeflow-training 1.9.4) and, of the environment it sets,
pkg/controller.v1/pytorch of kubeflow/training-operator. Names of devices are those of
the vendors' device plugins: NVIDIA's k8s-device-plugin with the mixed strategy for MIG
slices, AMD's and Habana's, and of AWS's EFA.
"""

from __future__ import annotations

import math
from typing import Any

from solver.exporting.nodes import (
    IN_PLACE,
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
from solver.exporting.run import CHECKPOINTS, DATA, Run
from solver.exporting.shell import header
from solver.exporting.yaml_text import yaml_text
from solver.plan import Message

__all__ = ["MANIFEST", "device", "files"]

MANIFEST = "pytorchjob.yaml"

IMAGE = "SET_IMAGE"
DATA_CLAIM = "set-data-claim"
CHECKPOINT_CLAIM = "set-checkpoint-claim"
"""What the user has to put in; the first is no image's name, so it cannot be pulled."""

FILES = "/gpuplan/files"
FOLDER = "/gpuplan/job"
"""Files of a ConfigMap cannot be written to, and a job may write beside them."""
DATA_FOLDER = "/data"
CHECKPOINT_FOLDER = "/checkpoints"

DEVICES = {"NVIDIA": "nvidia.com/gpu", "AMD": "amd.com/gpu", "Intel": "habana.ai/gaudi"}
EFA = "vpc.amazonaws.com/efa"

NAMED_REGIONS = ("aws", "azure", "gcp")
"""Providers whose clusters label a node with the region as the catalog has it."""
NAMED_SERVERS = ("aws", "gcp")
"""Those that label it with the instance as the catalog has it after the provider."""

RDMA = ("infiniband", "roce", "efa")


def files(run: Run) -> Files:
    """Return a manifest: the files of a node as a ConfigMap, and the job.

    Raises
    ------
    InputError
        The framework's files cannot say what the plan does.
    """
    node = node_files(run)
    notes = _notes(run)
    text = yaml_text(
        [*header(run), *(note.text for note in notes)],
        _config_map(run, node),
        _job(run, node),
    )
    return Files({MANIFEST: text}, (*node.command.notes, *notes))


def device(run: Run) -> str:
    """Return the resource that a GPU of a run is, or a slice of one."""
    if run.plan.slice is None:
        return DEVICES[run.gpu.vendor]
    return f"nvidia.com/mig-{run.plan.slice['profile'].replace('+', '.')}"


def _config_map(run: Run, node: NodeFiles) -> dict[str, Any]:
    """Return the files of a node; a key has no slash, so it stands for the path."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": _files_name(run)},
        "data": {_key(path): text for path, text in node.texts.items()},
    }


def _job(run: Run, node: NodeFiles) -> dict[str, Any]:
    """Return the job.

    Notes
    -----
    One node is a master alone. Several are workers that meet by themselves: the first
    has the store, and ``elasticPolicy`` with one size makes the operator treat them as
    such. The operator adds up the restarts of all pods, and a job that fails restarts
    all of them. There is no ``activeDeadlineSeconds``: it would end one run in ten.
    """
    replicas = {
        "replicas": run.nodes,
        "restartPolicy": "OnFailure",
        "template": {
            "metadata": {"annotations": {"sidecar.istio.io/inject": "false"}},
            "spec": _pod(run, node),
        },
    }
    spec: dict[str, Any] = {"nprocPerNode": str(run.gpus_per_node)}
    policy: dict[str, Any] = {
        "backoffLimit": restarts(run) * run.nodes,
        "cleanPodPolicy": "Running",
    }
    if run.nodes > 1:
        policy["schedulingPolicy"] = {"minAvailable": run.nodes}
        spec["elasticPolicy"] = {
            "rdzvBackend": "c10d",
            "minReplicas": run.nodes,
            "maxReplicas": run.nodes,
            "maxRestarts": IN_PLACE,
        }
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": run.job},
        "spec": {
            "runPolicy": policy,
            **spec,
            "pytorchReplicaSpecs": {"Worker" if run.nodes > 1 else "Master": replicas},
        },
    }


def _pod(run: Run, node: NodeFiles) -> dict[str, Any]:
    """Return what runs on a node."""
    pod: dict[str, Any] = {}
    where = _labels(run)
    if where:
        pod["nodeSelector"] = where
    container = {
        "name": "pytorch",
        "image": IMAGE,
        "command": ["bash", "-c", f"cp -rL {FILES}/* . && exec bash {NODE_SCRIPT}"],
        "workingDir": FOLDER,
        "env": _environment(run, node),
        "resources": _resources(run),
        "volumeMounts": [
            {"name": "files", "mountPath": FILES},
            {"name": "folder", "mountPath": FOLDER},
            {"name": "data", "mountPath": DATA_FOLDER},
            {"name": "checkpoints", "mountPath": CHECKPOINT_FOLDER},
            {"name": "shared-memory", "mountPath": "/dev/shm"},  # noqa: S108
        ],
    }
    if run.nodes > 1 and run.network is not None and run.network.kind in RDMA:
        container["securityContext"] = {"capabilities": {"add": ["IPC_LOCK"]}}
    return {**pod, "containers": [container], "volumes": _volumes(run, node)}


def _volumes(run: Run, node: NodeFiles) -> list[dict[str, Any]]:
    """Return where the files, data and checkpoints of a node come from."""
    items = [{"key": _key(path), "path": path} for path in node.texts]
    return [
        {"name": "files", "configMap": {"name": _files_name(run), "items": items}},
        {"name": "data", "persistentVolumeClaim": {"claimName": DATA_CLAIM}},
        {
            "name": "checkpoints",
            "persistentVolumeClaim": {"claimName": CHECKPOINT_CLAIM},
        },
        {"name": "folder", "emptyDir": {}},
        {"name": "shared-memory", "emptyDir": {"medium": "Memory"}},
    ]


def _labels(run: Run) -> dict[str, str]:
    """Return the labels of the nodes that were planned, where they are well known."""
    plan, labels = run.plan, {}
    if run.region is None:
        return {}
    if plan.provider in NAMED_REGIONS:
        labels["topology.kubernetes.io/region"] = plan.region
    if plan.provider in NAMED_SERVERS and run.server.provider == plan.provider:
        name = plan.server.removeprefix(f"{plan.provider}-")
        labels["node.kubernetes.io/instance-type"] = name
    return labels


def _environment(run: Run, node: NodeFiles) -> list[dict[str, Any]]:
    """Return the variables of a pod; those that are empty are the user's to set."""
    known = {CHECKPOINTS: CHECKPOINT_FOLDER}
    found: list[dict[str, Any]] = [
        {"name": one.name, "value": known.get(one.name, one.default or "")}
        for one in node.command.variables
    ]
    if run.nodes > 1:
        own = {
            "NODE_RANK": "metadata.labels['training.kubeflow.org/replica-index']",
            LOCAL_ADDRESS: "status.podIP",
        }
        found += [
            {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}
            for name, path in own.items()
        ]
        found.append({"name": "MASTER_ADDR", "value": f"{run.job}-worker-0"})
    return found


def _resources(run: Run) -> dict[str, Any]:
    """Return what a pod takes of its node.

    Notes
    -----
    Devices are requested as they are limited. Of EFA as many interfaces as the node's
    rate has; names of other fabrics' devices are the cluster's own.
    """
    devices = {device(run): str(run.gpus_per_node)}
    network, rate = run.network, run.plan.host.get("nic_gbps")
    if run.nodes > 1 and network is not None and network.kind == "efa" and rate:
        devices[EFA] = str(max(1, math.floor(rate / network.gbps_per_nic)))
    memory = memory_gb_needed(run)
    requests = {"cpu": str(cpus_needed(run))}
    if memory is not None:
        requests["memory"] = f"{memory}G"
    return {"requests": requests, "limits": devices}


def _files_name(run: Run) -> str:
    """Return the name of the ConfigMap."""
    return f"{run.job}-files"


def _key(path: str) -> str:
    """Return the key of a file in the ConfigMap."""
    return path.replace("/", "--")


def _notes(run: Run) -> list[Message]:
    """Return what the user should know of the job on a cluster."""
    notes = [
        Message.of(
            "launch.kubernetes.set",
            image=IMAGE,
            data=DATA_CLAIM,
            saved=CHECKPOINT_CLAIM,
        ),
        Message.of("launch.kubernetes.empty", folder=DATA_FOLDER, name=DATA),
    ]
    if run.spare_nodes:
        notes.append(Message.of("launch.kubernetes.spares", nodes=run.spare_nodes))
    fabric = run.network
    if run.nodes > 1 and fabric is not None and fabric.kind in ("infiniband", "roce"):
        notes.append(Message.of("launch.kubernetes.fabric", network=fabric.name))
    return [*notes, *launcher_notes(run)]
