"""Tests of SkyPilot's task: what is rented where, and what its nodes run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from solver.errors import InputError
from solver.exporting.run import Run
from solver.exporting.skypilot import POOL, TASK
from solver.exporting.skypilot_names import CLOUDS, SERVERS, USUAL
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


def task(run: Run) -> dict[str, Any]:
    """The task of a run."""
    return dict(yaml.safe_load(texts(run, "skypilot", *NASTY)[TASK]))


def reasons(run: Run) -> list[str]:
    """Why there is no task of a run."""
    with pytest.raises(InputError) as told:
        texts(run, "skypilot")
    return [issue.message for issue in told.value.issues]


def of_offer(run: Run, server: str, region: str, **plan: Any) -> Run:
    """A run on another server of the catalog."""
    entry, place = catalog().servers[server], catalog().regions[region]
    wanted = (server, region, plan.get("purchase", "on_demand"))
    offers = catalog().offers.values()
    found = [o for o in offers if (o.server, o.region, o.purchase) == wanted]
    changed = {
        "provider": entry.provider,
        "region": place.region,
        "country": place.country,
        "server": server,
        "gpu": entry.gpu,
        **plan,
    }
    return replace(
        run,
        plan=replace(run.plan, **changed),
        server=entry,
        gpu=catalog().gpus[entry.gpu],
        region=place,
        offer=next(iter(found), None),
    )


def resources(server: str, region: str, **plan: Any) -> dict[str, Any]:
    """What is rented for one node of a server."""
    run = of_offer(shipped("sft-8b"), server, region, **plan)
    return dict(task(run)["resources"])


@pytest.mark.parametrize("name", PLANS)
def test_tasks_have_the_plans_nodes_in_keys_that_exist(name: str) -> None:
    """Tests nodes, GPUs and place of every shipped plan that SkyPilot can rent."""
    run = shipped(name)
    if run.plan.slice is not None:
        assert reasons(run) == ["SkyPilot rents no MIG slices"]
        return
    found = task(run)
    assert found["num_nodes"] == run.plan.nodes
    assert list(found["resources"]["accelerators"].values()) == [run.plan.gpus_per_node]
    keys = {(row["part"], row["key"]) for row in rows("skypilot")}
    assert {("task", key) for key in found} <= keys
    assert {("resources", key) for key in found["resources"]} <= keys
    for mount in found.get("file_mounts", {}).values():
        assert {("file_mounts", key) for key in mount} <= keys


@pytest.mark.parametrize(
    ("server", "region", "expected"),
    [
        ("aws-p4d.24xlarge", "aws/us-east-1", ("aws/us-east-1", "A100")),
        ("aws-p4de.24xlarge", "aws/us-east-1", ("aws/us-east-1", "A100-80GB")),
        ("gcp-a3-megagpu-8g", "gcp/us-central1", ("gcp/us-central1", "H100-MEGA")),
        ("gcp-a3-highgpu-8g", "gcp/us-central1", ("gcp/us-central1", "H100")),
        (
            "runpod-8x-h100-sxm-secure",
            "runpod/us-tx-3",
            ("runpod/US/US-TX-3", "H100-SXM"),
        ),
        ("verda-8b200.240v", "verda/fin-03", ("verda/FIN-03", "B200")),
        ("digitalocean-gpu-h100x8-640gb", "digitalocean/tor1", ("do/tor1", "H100")),
        ("vast-8x-h100-sxm-32", "vast/us-tx", ("vast", "H100")),
        (
            "paperspace-a6000x4",
            "paperspace/newyork-usa-1",
            ("shadeform/newyork-usa-1", "A6000"),
        ),
        (
            "lambda-gpu-8x-h100-sxm5",
            "lambda/saltlakecity-usa-1",
            ("shadeform/saltlakecity-usa-1", "H100"),
        ),
        ("lambda-gpu-8x-h100-sxm5", "lambda/us-east-1", ("lambda/us-east-1", "H100")),
        ("lambda-1cc-h100-16", "lambda/1-click-cluster", (POOL, "H100")),
        (
            "primeintellect-nebius-gpu-h200-sxm-8gpu-128vcpu-1600gb",
            "primeintellect-nebius/eu-north1",
            ("primeintellect/FI", "H200"),
        ),
        ("coreweave-h100", "aws/us-east-1", (POOL, "H100")),
    ],
)
def test_places_and_cards_are_called_as_skypilot_does(
    server: str, region: str, expected: tuple[str, str]
) -> None:
    """Tests infra and accelerator of servers of several providers."""
    if server == "coreweave-h100":
        servers = catalog().servers.values()
        of_coreweave = (s for s in servers if s.provider == "coreweave")
        server = next(s.id for s in of_coreweave if s.gpu == "h100-sxm-80gb")
        (region, *_) = [r for r in catalog().regions if r.startswith("coreweave/")]
    found = resources(server, region)
    assert (found["infra"], *found["accelerators"]) == expected


def test_servers_are_named_where_the_catalog_has_their_names() -> None:
    """Tests that a cloud's own name of a server tells it from those with such cards."""
    assert resources("aws-p5en.48xlarge", "aws/us-east-1")["instance_type"] == (
        "p5en.48xlarge"
    )
    assert resources("lambda-gpu-8x-h100-sxm5", "lambda/us-east-1")[
        "instance_type"
    ] == ("gpu_8x_h100_sxm5")
    assert "instance_type" not in resources(
        "azure-standard-nd96isr-h100-v5", "azure/eastus"
    )


def test_spot_nodes_are_rented_where_there_are_some() -> None:
    """Tests spot, and that a cloud without it is refused."""
    found = resources("aws-p5.48xlarge", "aws/us-east-1", purchase="spot")
    assert found["use_spot"] is True
    assert found["job_recovery"]["max_restarts_on_errors"] >= 3
    run = of_offer(
        shipped("sft-8b"),
        "lambda-gpu-8x-h100-sxm5",
        "lambda/us-east-1",
        purchase="spot",
    )
    assert reasons(run) == ["SkyPilot rents no spot nodes at lambda"]


def test_what_skypilot_cannot_start_is_refused_with_every_reason() -> None:
    """Tests several nodes at a marketplace, and a card without a name."""
    run = of_offer(shipped("quickstart-7b"), "vast-8x-h100-sxm-32", "vast/us-tx")
    assert reasons(run) == [
        "SkyPilot starts single nodes alone at vast, and the plan has 4"
    ]
    gaudi = replace(run, plan=replace(run.plan, gpu="gaudi2"))
    assert len(reasons(gaudi)) == 2


def test_fast_networks_are_asked_for_where_they_are_set_up() -> None:
    """Tests the network tier at AWS, and the note where there is none."""
    assert task(shipped("llama3-8b-apac"))["resources"]["network_tier"] == "best"
    assert "network_tier" not in task(shipped("sft-8b"))["resources"]
    run = of_offer(shipped("quickstart-7b"), "oci-bm.gpu.h100.8", "oci/us-chicago-1")
    assert "network_tier" not in task(run)["resources"]
    ids = [note.id for note in written(run, "skypilot").notes]
    assert "launch.skypilot.network" in ids


def test_nodes_of_ones_own_are_a_pool_to_be_named() -> None:
    """Tests that nothing is rented elsewhere for a plan on the user's own nodes."""
    for name in ("rent-or-buy", "table-7b-full-4x80gb"):
        assert task(shipped(name))["resources"]["infra"] == POOL
        ids = [note.id for note in written(shipped(name), "skypilot").notes]
        assert "launch.skypilot.own" in ids


def test_a_name_of_several_cards_is_told() -> None:
    """Tests the note where SkyPilot's name says less than the plan."""
    run = of_offer(shipped("sft-8b"), "vast-4x-a100-sxm4-32", "vast/us-or")
    notes = {note.id: note.values for note in written(run, "skypilot").notes}
    assert "a100-sxm-80gb" in notes["launch.skypilot.card"]["others"]
    assert "launch.skypilot.region" in notes


def test_buckets_are_mounted_where_the_plan_has_an_object_store() -> None:
    """Tests mounts and folders, and the note where the plan has other storage."""
    found = task(shipped("quickstart-7b"))
    assert found["file_mounts"]["/checkpoints"]["source"] == "${CHECKPOINT_BUCKET}"
    assert found["envs"]["CHECKPOINT_DIR"] == "/checkpoints"
    assert found["envs"]["CHECKPOINT_BUCKET"] is None
    other = shipped("llama3-70b-deadline")
    assert "file_mounts" not in task(other)
    assert task(other)["envs"]["CHECKPOINT_DIR"] is None
    ids = [note.id for note in written(other, "skypilot").notes]
    assert "launch.note.storage" in ids


def test_every_node_starts_the_program(tmp_path: Path) -> None:
    """Tests the commands of a task with the variables that SkyPilot sets."""
    run = shipped("quickstart-7b")
    files = texts(run, "skypilot", *NASTY)
    put(tmp_path, files)
    where = install(tmp_path, torchrun=STUB)
    told = {"SKYPILOT_NODE_IPS": "10.0.0.4\n10.0.0.2\n10.0.0.9\n10.0.0.1"}
    for rank in range(4):
        done = ran(
            tmp_path,
            ["bash", "-c", task(run)["run"]],
            where,
            **told,
            SKYPILOT_NODE_RANK=str(rank),
        )
        assert done.returncode == 0, done.stderr
    found = calls(tmp_path)
    assert [call["seen"]["NODE_RANK"] for call in found] == ["0", "1", "2", "3"]
    assert {call["seen"]["MASTER_ADDR"] for call in found} == {"10.0.0.4"}
    own = [call["seen"]["PET_LOCAL_ADDR"] for call in found]
    assert own == told["SKYPILOT_NODE_IPS"].split()
    options, rest = split(found[1]["words"])
    assert (options["--nnodes"], options["--nproc-per-node"]) == ("4", "8")
    assert rest[1:] == list(NASTY)


def test_names_are_of_what_the_catalog_has() -> None:
    """Tests that no name of the catalog in these tables has been changed there."""
    known = catalog()
    assert USUAL.keys() <= known.gpus.keys()
    assert SERVERS.keys() <= known.servers.keys()
    for provider, cloud in CLOUDS.items():
        sold = any(provider in offer.source for offer in known.offers.values())
        assert sold or any(name.startswith(provider) for name in known.providers)
        assert (cloud.gpus or {}).keys() <= USUAL.keys()


def test_mixes_with_spot_are_refused() -> None:
    """Tests that nodes of two kinds of purchase are not asked for as one kind."""
    mix = ({"offer": "a", "nodes": 1}, {"offer": "b", "nodes": 3})
    run = shipped("quickstart-7b", mix=mix, purchase="reserved+spot")
    assert reasons(run) == [
        "SkyPilot starts nodes of one kind of purchase, and the plan mixes "
        "reserved+spot"
    ]
