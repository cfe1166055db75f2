"""Tests of launchers' files by the real tools, where they are installed.

``pip install 'gpuplan[exports]'`` brings them; none needs GPU, account or network.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from solver.errors import InputError
from solver.exporting.formats import FORMATS
from solver.exporting.kubernetes import MANIFEST
from solver.exporting.nodes import NODE_SCRIPT
from solver.exporting.skypilot import TASK
from solver.exporting.skypilot_names import CLOUDS
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
    shipped,
    texts,
)

pytestmark = pytest.mark.filterwarnings("ignore")
"""What these tools warn of is not about our files."""


def scripts(name: str) -> Iterator[tuple[str, str]]:
    """Every script of a shipped plan, also with its own program where there is one."""
    run = shipped(name)
    for launcher in ("torchrun", "slurm"):
        for file, text in texts(run, launcher, *NASTY).items():
            if not file.endswith(".yaml"):
                yield file, text
        try:
            own = FORMATS[launcher].files(run).texts
        except InputError:
            continue
        yield from ((f, t) for f, t in own.items() if f.endswith((".sh", ".sbatch")))


@pytest.mark.parametrize("name", PLANS)
def test_shellcheck_finds_nothing(name: str, tmp_path: Path) -> None:
    """Tests all scripts of every shipped plan."""
    program = shutil.which("shellcheck")
    if program is None:
        pytest.skip("shellcheck is not installed")
    for number, (file, text) in enumerate(scripts(name)):
        path = tmp_path / f"{number}-{file}"
        path.write_text(text, encoding="utf-8")
    # words that look like an expansion and are none are in quotes on purpose
    words = [program, "--shell=bash", "--exclude=SC2016", *map(str, tmp_path.iterdir())]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name", PLANS)
def test_torchrun_reads_its_options(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests what torchrun makes of each shipped plan's options, and of a pod's."""
    pytest.importorskip("torch", reason="PyTorch is not installed")
    for variable, value in (("NNODES", "9:9"), ("MAX_RESTARTS", "7"), ("RDZV_ID", "x")):
        monkeypatch.setenv(f"PET_{variable}", value)  # as Kubeflow's operator does
    monkeypatch.setenv("PET_LOCAL_ADDR", "10.0.0.1")
    from torch.distributed.run import config_from_args, parse_args

    run = shipped(name)
    put(tmp_path, texts(run, "torchrun", *NASTY))
    where = install(tmp_path, torchrun=STUB)
    told = {"NODE_RANK": "0", "MASTER_ADDR": "head"}
    ran(tmp_path, ["bash", NODE_SCRIPT], where, **told)
    (call,) = calls(tmp_path)
    read = parse_args(call["words"])
    assert read.training_script_args == list(NASTY)
    config, _, _ = config_from_args(read)
    assert config.min_nodes == config.max_nodes == run.nodes
    assert config.nproc_per_node == run.gpus_per_node
    if run.nodes == 1:
        assert read.standalone
    else:
        assert config.rdzv_backend == "c10d"
        assert config.rdzv_endpoint == "head:29500"
        assert config.rdzv_configs["is_host"] == "1"
        assert (config.run_id, config.local_addr) == (run.job, "10.0.0.1")


def test_accelerate_reads_its_options() -> None:
    """Tests the options of a program that accelerate has to start."""
    pytest.importorskip("accelerate", reason="accelerate is not installed")
    from accelerate.commands.launch import (
        _validate_launch_command,
        launch_command_parser,
    )
    from accelerate.utils.launch import prepare_multi_gpu_env

    from solver.exporting.nodes import launch_words
    from solver.exporting.program import Command

    how = ("accelerate", "launch", "--multi_gpu", "--mixed_precision", "bf16")
    command = Command("train.py", (), launcher=how)
    run = shipped()
    words = [
        word.replace("${NODE_RANK}", "2").replace("${MASTER_ADDR}", "head")
        for word in launch_words(run, command, 3)
    ]
    words = [word.replace("${MASTER_PORT}", "29500") for word in words]
    read = launch_command_parser().parse_args([*words[2:], "train.py"])
    read, _, _ = _validate_launch_command(read)
    prepare_multi_gpu_env(read)
    assert (read.nnodes, read.nproc_per_node) == (str(run.nodes), "8")
    assert read.rdzv_endpoint == "head:29500"
    assert (read.rdzv_backend, read.max_restarts) == ("c10d", 3)


@pytest.fixture(scope="module")
def sky(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """SkyPilot, which keeps files in the user's folder and reports its use."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("SKYPILOT_DISABLE_USAGE_COLLECTION", "1")
        patched.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        yield pytest.importorskip("sky", reason="SkyPilot is not installed")


@pytest.mark.parametrize("name", PLANS)
def test_skypilot_reads_its_task(name: str, sky: Any) -> None:
    """Tests each shipped plan's task with SkyPilot's own reader and schema."""
    run = shipped(name)
    if run.plan.slice is not None:
        pytest.skip("SkyPilot rents no MIG slices")
    written = yaml.safe_load(texts(run, "skypilot", *NASTY)[TASK])
    asked = [key for key, value in written["envs"].items() if value is None]
    given = [(key, "s3://mine" if "BUCKET" in key else "mine") for key in asked]
    with pytest.raises(ValueError, match=r"Please set a value|is None|not set"):
        sky.Task.from_yaml_config(yaml.safe_load(yaml.safe_dump(written)))
    task = sky.Task.from_yaml_config(written, env_overrides=given)
    assert task.num_nodes == run.plan.nodes
    (resources,) = task.resources
    assert list((resources.accelerators or {}).values()) == [run.plan.gpus_per_node]
    assert resources.use_spot == (run.plan.purchase == "spot")
    tier = resources.network_tier
    assert (tier is not None and tier.value == "best") == (
        written_tier(texts(run, "skypilot")[TASK]) == "best"
    )


def written_tier(text: str) -> str | None:
    """The network tier of a task."""
    found: dict[str, Any] = yaml.safe_load(text)["resources"]
    return found.get("network_tier")


@pytest.mark.parametrize("provider", CLOUDS)
def test_clouds_can_do_what_skypilot_says(provider: str, sky: Any) -> None:
    """Tests which clouds start several nodes and rent spot, as SkyPilot has it."""
    from sky.clouds import CloudImplementationFeatures as Feature
    from sky.utils.registry import CLOUD_REGISTRY

    cloud = CLOUD_REGISTRY.from_str(CLOUDS[provider].name)
    assert isinstance(cloud, sky.clouds.Cloud)
    lacking = getattr(cloud, "_CLOUD_UNSUPPORTED_FEATURES", {})
    assert CLOUDS[provider].several_nodes == (Feature.MULTI_NODE not in lacking)
    assert CLOUDS[provider].spot == (Feature.SPOT_INSTANCE not in lacking)
    if CLOUDS[provider].fast_network and provider != "nebius":
        assert Feature.CUSTOM_NETWORK_TIER not in lacking


@pytest.mark.parametrize("name", PLANS)
def test_kubeflow_has_every_field(name: str) -> None:
    """Tests each shipped plan's job against the models of Kubeflow's own client."""
    pytest.importorskip(
        "kubeflow.training", reason="kubeflow-training is not installed"
    )
    files, job = yaml.safe_load_all(
        texts(shipped(name), "kubernetes", *NASTY)[MANIFEST]
    )
    fits(job, "KubeflowOrgV1PyTorchJob")
    fits(files, "V1ConfigMap")


def fits(value: Any, kind: str) -> None:
    """Check a value against a model of Kubeflow or Kubernetes, all the way down."""
    from kubeflow.training import models as kubeflow
    from kubernetes.client import models as kubernetes

    many = re.fullmatch(r"(?:list\[|dict\(str, ?)(.+)[\])]", kind)
    if many is not None:
        for each in value.values() if isinstance(value, dict) else value:
            fits(each, many[1])
        return
    plain = {"str": str, "int": int, "bool": bool, "Quantity": str}
    if kind in plain:
        assert type(value) is plain[kind]
        return
    model = getattr(kubeflow, kind, None) or getattr(kubernetes, kind)
    types = {
        name: model.openapi_types[key] for key, name in model.attribute_map.items()
    }
    assert value.keys() <= types.keys()
    for name, each in value.items():
        fits(each, types[name])


def test_every_launcher_is_a_format() -> None:
    """Tests that what is tested here is what the command offers."""
    assert WRITERS.keys() <= FORMATS.keys()


MEETS = """
import os, sys
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
total = torch.tensor([float(dist.get_rank())])
dist.all_reduce(total)
first = os.path.join(os.path.dirname(__file__), "failed once")
if dist.get_rank() == 1 and not os.path.exists(first):
    open(first, "w").close()
    sys.exit(3)
dist.barrier()
told = os.path.join(os.path.dirname(__file__), f"rank {dist.get_rank()}")
with open(told, "w") as out:
    out.write(f"{dist.get_world_size()} {total.item():g} {sys.argv[1:]}")
"""


def test_nodes_meet_and_start_again_together(tmp_path: Path) -> None:
    """Tests two nodes with the real torchrun: one process fails, all start again."""
    pytest.importorskip("torch", reason="PyTorch is not installed")
    small = shipped(nodes=2, gpus_per_node=2, gpus=4)
    put(tmp_path, texts(small, "torchrun", "a b", "$HOME"))
    (tmp_path / "train it.py").write_text(MEETS, encoding="utf-8")
    told = {
        **os.environ,
        **SAID,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "CHECKPOINT_DIR": str(tmp_path),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(free_port()),
        "PET_LOCAL_ADDR": "127.0.0.1",
        "OMP_NUM_THREADS": "1",
    }
    nodes = [
        subprocess.Popen(
            ["bash", NODE_SCRIPT],
            cwd=tmp_path,
            env=told | {"NODE_RANK": str(rank)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for rank in (1, 0)
    ]
    try:
        assert [node.wait(timeout=120) for node in nodes] == [0, 0]
    finally:
        for node in nodes:
            node.kill()
            node.wait()
    assert (tmp_path / "failed once").exists()
    for rank in range(4):
        said = (tmp_path / f"rank {rank}").read_text(encoding="utf-8")
        assert said == "4 6 ['a b', '$HOME']"


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
