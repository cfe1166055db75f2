"""Tests of the PyTorchJob: its fields, what a pod takes, and what it runs."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from solver.exporting.kubernetes import FILES, IMAGE, MANIFEST, device
from solver.exporting.run import Run
from tests.exporting.launching import (
    NASTY,
    PLANS,
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
from tests.planning.jobs import catalog

PLAIN = {
    "str": str,
    "int": int,
    "bool": bool,
    "Quantity": str,
    "object": dict,
}


def documents(run: Run) -> tuple[dict[str, Any], dict[str, Any]]:
    """The ConfigMap and the job."""
    files, job = yaml.safe_load_all(texts(run, "kubernetes", *NASTY)[MANIFEST])
    return files, job


def replicas(run: Run) -> dict[str, Any]:
    """The only kind of replicas of a job."""
    (found,) = documents(run)[1]["spec"]["pytorchReplicaSpecs"].values()
    return found


def container(run: Run) -> dict[str, Any]:
    """What a pod runs."""
    (found,) = replicas(run)["template"]["spec"]["containers"]
    return found


def check(value: Any, kind: str, where: str = "") -> None:
    """Check that a value has fields that its kind has, all the way down."""
    if kind.startswith("list of "):
        for number, each in enumerate(value):
            check(each, kind.removeprefix("list of "), f"{where}[{number}]")
    elif kind.startswith("map of "):
        for key, each in value.items():
            check(each, kind.removeprefix("map of "), f"{where}.{key}")
    elif kind in PLAIN:
        assert type(value) is PLAIN[kind], f"{where}: {value!r}"
    else:
        fields = {
            r["field"]: r["type"] for r in rows("pytorchjob") if r["kind"] == kind
        }
        assert value.keys() <= fields.keys(), f"{where}: {value.keys() - fields.keys()}"
        for field, each in value.items():
            check(each, fields[field], f"{where}.{field}")


@pytest.mark.parametrize("name", PLANS)
def test_jobs_have_the_plans_nodes_in_fields_that_exist(name: str) -> None:
    """Tests replicas and devices of every shipped plan, and all names and types."""
    run = shipped(name)
    files, job = documents(run)
    check(files, "V1ConfigMap")
    check(job, "KubeflowOrgV1PyTorchJob")
    assert replicas(run)["replicas"] == run.plan.nodes
    limits = container(run)["resources"]["limits"]
    assert limits[device(run)] == str(run.plan.gpus_per_node)
    assert job["spec"]["nprocPerNode"] == str(run.plan.gpus_per_node)
    elastic = job["spec"].get("elasticPolicy")
    if run.nodes == 1:
        assert elastic is None
    else:
        assert elastic["minReplicas"] == elastic["maxReplicas"] == run.plan.nodes


def test_a_manifest_reads_back_as_it_was() -> None:
    """Tests that the script of a node goes through YAML unchanged."""
    run = shipped()
    files, _ = documents(run)
    assert files["data"]["train.sh"] == texts(run, "slurm", *NASTY)["train.sh"]


@pytest.mark.parametrize("rank", [0, 2])
def test_a_pod_runs_the_script_of_its_node(rank: int, tmp_path: Path) -> None:
    """Tests the command of a pod with the files and variables that it is given."""
    run = shipped()
    files, _ = documents(run)
    pod = container(run)
    given, folder = tmp_path / "given", tmp_path / "job"
    folder.mkdir()
    volumes = replicas(run)["template"]["spec"]["volumes"]
    (items,) = (v["configMap"]["items"] for v in volumes if "configMap" in v)
    put(given, {item["path"]: files["data"][item["key"]] for item in items})
    words = [word.replace(FILES, str(given)) for word in pod["command"]]
    told = {e["name"]: e["value"] for e in pod["env"] if e.get("value")}
    own = {e["name"] for e in pod["env"] if "valueFrom" in e}
    assert own == {"NODE_RANK", "PET_LOCAL_ADDR"}
    where = install(tmp_path, torchrun=STUB)
    done = ran(folder, words, where, **told, NODE_RANK=str(rank))
    assert done.returncode == 0, done.stderr
    options, rest = split(calls(folder)[0]["words"])
    assert options["--rdzv-endpoint"] == f"{run.job}-worker-0:29500"
    assert options["--rdzv-conf"] == f"is_host={int(rank == 0)}"
    assert rest == [f"{told['CHECKPOINT_DIR']}/train it.py", *NASTY]
    assert (folder / "settings.yaml").exists()


def test_what_the_user_has_to_set_is_empty_or_marked() -> None:
    """Tests that no image, claim or value is made up."""
    run = shipped()
    pod = container(run)
    assert pod["image"] == IMAGE
    assert not IMAGE.islower()  # no registry takes it
    values = {e["name"]: e.get("value") for e in pod["env"]}
    assert values["LR"] == values["DATA_PATH"] == ""
    found = written(run, "kubernetes")
    assert IMAGE in found.texts[MANIFEST].partition("apiVersion")[0]


def test_slices_and_other_vendors_have_their_own_devices() -> None:
    """Tests the names of MIG slices and of AMD's and Intel's devices."""
    assert device(shipped("qlora-8b-mig-slice")) == "nvidia.com/mig-4g.24gb"
    gpus = catalog().gpus
    amd = replace(shipped(), gpu=gpus["mi300x"])
    intel = replace(shipped(), gpu=gpus["gaudi3"])
    assert [device(amd), device(intel)] == ["amd.com/gpu", "habana.ai/gaudi"]


def test_efa_is_asked_for_by_the_interface() -> None:
    """Tests that a pod on P5 gets all of its 32 interfaces, and may lock memory."""
    run = shipped("llama3-8b-apac")
    assert run.plan.server == "aws-p5.48xlarge"
    pod = container(run)
    assert pod["resources"]["limits"]["vpc.amazonaws.com/efa"] == "32"
    assert pod["securityContext"]["capabilities"]["add"] == ["IPC_LOCK"]
    spec = replicas(run)["template"]["spec"]
    assert spec["nodeSelector"] == {
        "topology.kubernetes.io/region": "ap-northeast-1",
        "node.kubernetes.io/instance-type": "p5.48xlarge",
    }


def test_hosts_own_places_are_not_selected() -> None:
    """Tests that labels are only named where they are well known."""
    assert "nodeSelector" not in replicas(shipped("rent-or-buy"))["template"]["spec"]
    assert "nodeSelector" not in replicas(shipped())["template"]["spec"]


def test_a_job_asks_for_the_memory_that_it_needs() -> None:
    """Tests that requests are what the plan needs, and not the whole node."""
    run = shipped()
    requests = container(run)["resources"]["requests"]
    needed, there = run.plan.host["ram_needed_gb"], run.plan.host["ram_gb"]
    assert needed is not None
    assert there is not None
    assert needed <= int(requests["memory"].removesuffix("G")) < needed + 1 < there
    assert int(requests["cpu"]) <= (run.plan.host["vcpus"] or 0)


def test_restarts_are_those_of_all_pods() -> None:
    """Tests that a job of many pods may restart each as often as it may fail."""
    run = replace(shipped(), interruptions=100.0)
    policy = documents(run)[1]["spec"]["runPolicy"]
    assert policy["backoffLimit"] == 130 * run.nodes
    assert "activeDeadlineSeconds" not in policy


def test_spares_stay_free_in_the_cluster() -> None:
    """Tests that spares are told and are no pods."""
    run = shipped("spare-nodes")
    assert replicas(run)["replicas"] == run.plan.nodes
    ids = [note.id for note in written(run, "kubernetes").notes]
    assert "launch.kubernetes.spares" in ids


def test_paths_need_no_folder_in_the_config_map() -> None:
    """Tests that keys are names that a ConfigMap takes."""
    files, _ = documents(shipped())
    assert all(os.sep not in key for key in files["data"])
