"""Tests of matching names to ids."""

import pytest

from solver.catalog.load import load_catalog
from solver.catalog.names import (
    resolve_architecture,
    resolve_country,
    resolve_framework,
    resolve_gpu,
    resolve_intra_node,
    resolve_network,
    resolve_optimizer,
    resolve_provider,
    resolve_region,
    resolve_storage,
)
from solver.errors import Issue

CATALOG = load_catalog(environment={})

ONE = {
    "A100-SXM4-80GB": "a100-sxm-80gb",
    "A100-80-SXM": "a100-sxm-80gb",
    "NVIDIA A100 80GB SXM": "a100-sxm-80gb",
    "80gb sxm4 a100": "a100-sxm-80gb",
    "a100_sxm_80gb": "a100-sxm-80gb",
    "A100-SXM4-40GB": "a100-sxm-40gb",
    "A100-PCIE-40GB": "a100-pcie-40gb",
    "H100 SXM": "h100-sxm-80gb",
    "h100-80gb-sxm5": "h100-sxm-80gb",
    "NVIDIA H100 80GB HBM3": "h100-sxm-80gb",
    "H100-80GB-SXM": "h100-sxm-80gb",
    "H100 PCIe": "h100-pcie-80gb",
    "H100-94GB": "h100-nvl-94gb",
    "H100 NVL": "h100-nvl-94gb",
    "H200-141GB-SXM": "h200-sxm-141gb",
    "B200": "b200-sxm-180gb",
    "GB200": "gb200-nvl72",
    "GH200": "gh200-96gb",
    "V100-32GB": "v100-sxm-32gb",
    "Tesla V100-SXM2-16GB": "v100-sxm-16gb",
    "L4": "l4",
    "L40": "l40",
    "l40s": "l40s",
    "NVIDIA L40S 48GB": "l40s",
    "A10": "a10",
    "A10G": "a10g",
    "A10G-24GB": "a10g",
    "A6000": "rtx-a6000",
    "RTX A6000": "rtx-a6000",
    "RTX6000Ada": "rtx-6000-ada",
    "RTX PRO 6000 Blackwell Server": "rtx-pro-6000",
    "GeForce RTX 4090": "rtx-4090",
    "RTX-4090-24GB": "rtx-4090",
    "4090": "rtx-4090",
    "AMD Instinct MI300X": "mi300x",
    "Gaudi 2": "gaudi2",
    "T4-16GB": "t4",
}

SEVERAL = {
    "A100": {"a100-sxm-40gb", "a100-sxm-80gb", "a100-pcie-40gb", "a100-pcie-80gb"},
    "A100-80GB": {"a100-sxm-80gb", "a100-pcie-80gb"},
    "a100 sxm": {"a100-sxm-40gb", "a100-sxm-80gb"},
    "H100": {"h100-sxm-80gb", "h100-pcie-80gb", "h100-nvl-94gb"},
    "h100-80gb": {"h100-sxm-80gb", "h100-pcie-80gb"},
    "V100": {"v100-sxm-16gb", "v100-sxm-32gb", "v100-pcie-16gb"},
    "H200": {"h200-sxm-141gb", "h200-nvl-141gb"},
    "A800": {"a800-sxm-80gb", "a800-pcie-80gb"},
}


@pytest.mark.parametrize(("name", "gpu"), ONE.items())
def test_one_gpu(name, gpu):
    """Tests that family, form and memory name one card in any order and spelling."""
    assert resolve_gpu(name, CATALOG, allow_family=False) == (gpu,)
    assert resolve_gpu(name.lower(), CATALOG, allow_family=True) == (gpu,)


@pytest.mark.parametrize(("name", "gpus"), SEVERAL.items())
def test_a_family(name, gpus):
    """Tests that a family means all its members, and in an offer is refused."""
    found = resolve_gpu(name, CATALOG, allow_family=True)
    assert found == tuple(sorted(gpus))
    issue = resolve_gpu(name, CATALOG, allow_family=False)
    assert isinstance(issue, Issue)
    assert issue.code == "ambiguous-name"
    assert issue.hint in gpus
    assert all(gpu in issue.message for gpu in gpus)


def test_every_id_and_alias_means_its_gpu():
    """Tests that each id and alias of the catalog names exactly its own entry."""
    for gpu in CATALOG.gpus.values():
        for name in (gpu.id, *gpu.aliases):
            assert resolve_gpu(name, CATALOG, allow_family=False) == (gpu.id,)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("H10", "H100"),
        ("A100-SXM4-60GB", "A100-SXM4-40GB"),
        ("rtx 4091", "RTX 4090"),
        ("L40Z", "l40"),
        ("", None),
        ("80GB", None),
        ("H100 L40S", None),
    ],
)
def test_unknown_gpus(name, hint):
    """Tests that a wrong name is refused, with the nearest right one."""
    issue = resolve_gpu(name, CATALOG, allow_family=True)
    assert isinstance(issue, Issue)
    assert issue.code == "unknown-name"
    if hint is not None:
        assert issue.hint == hint


def test_regions():
    """Tests that ids name one region and bare names each provider's."""
    assert resolve_region("AWS/us-east-1", CATALOG) == ("aws/us-east-1",)
    found = resolve_region("us-east-1", CATALOG)
    assert found == ("alicloud/us-east-1", "aws/us-east-1", "lambda/us-east-1")
    assert resolve_region("us-east1", CATALOG) == ("gcp/us-east1",)
    assert resolve_region("Runpod/CA-MTL-1", CATALOG) == ("runpod/ca-mtl-1",)
    issue = resolve_region("aws/us-east-9", CATALOG)
    assert isinstance(issue, Issue)
    assert issue.hint == "aws/us-east-1"
    for name in ("", "/", "aws/"):
        assert isinstance(resolve_region(name, CATALOG), Issue)


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("sg", "SG"),
        ("NO", "NO"),
        ("Japan", "JP"),
        ("south korea", "KR"),
        ("UK", "GB"),
        ("U.S.A.", "US"),
        ("新加坡", "SG"),
        ("日本", "JP"),
        ("香港", "HK"),
        ("韩国", "KR"),
        ("美国", "US"),
    ],
)
def test_countries(name, code):
    """Tests that codes, English and Chinese names of countries are known."""
    assert resolve_country(name, CATALOG) == code


def test_unknown_countries():
    """Tests that a misspelled country has a hint and two wrong letters have none."""
    issue = resolve_country("Japn", CATALOG)
    assert isinstance(issue, Issue)
    assert issue.hint == "Japan"
    issue = resolve_country("XX", CATALOG)
    assert isinstance(issue, Issue)
    assert issue.hint is None


def test_providers():
    """Tests that a broker's name means all clouds behind it."""
    assert resolve_provider("AWS", CATALOG) == ("aws",)
    assert resolve_provider("primeintellect(nebius)", CATALOG) == (
        "primeintellect-nebius",
    )
    assert len(resolve_provider("Prime Intellect", CATALOG)) == 8
    issue = resolve_provider("lamda", CATALOG)
    assert isinstance(issue, Issue)
    assert issue.hint == "lambda"


@pytest.mark.parametrize(
    ("name", "architecture"),
    [
        ("llama-2-7b", "llama-2-7b"),
        ("Llama 2 7B", "llama-2-7b"),
        ("meta-llama/Llama-2-7b-hf", "llama-2-7b"),
        ("llama-3-70b", "llama-3-70b"),
        ("llama-3.1-405b", "llama-3.1-405b"),
        ("meta-llama/Meta-Llama-3.1-405B", "llama-3.1-405b"),
        ("meta-llama/Llama-3.1-405B", "llama-3.1-405b"),  # its newer name there
        ("a-copy/Llama-3.1-405B", "llama-3.1-405b"),
        ("qwen3-32b", "qwen3-32b"),
        ("Qwen/Qwen3-32B", "qwen3-32b"),
        ("mixtral-8x7b", "mixtral-8x7b-v0.1"),
        ("gpt3-175b", "gpt3-175b"),
        ("GPT-3", "gpt3-175b"),
        ("LLaMA-65B", "llama-1-65b"),
        ("opt-1.3b", "opt-1.3b"),
        ("opt-13b", "opt-13b"),
    ],
)
def test_architectures(name, architecture):
    """Tests that ids, names, Hugging Face ids and aliases of models are known."""
    assert resolve_architecture(name, CATALOG) == architecture


def test_unknown_architectures():
    """Tests that a misspelled model has a hint, and that none is no model."""
    issue = resolve_architecture("lama-2-7b", CATALOG)
    assert isinstance(issue, Issue)
    assert (issue.code, issue.hint) == ("unknown-name", "llama-2-7b")
    assert isinstance(resolve_architecture(" ", CATALOG), Issue)
    assert isinstance(resolve_architecture("layers", CATALOG), Issue)
    for path in ("owner/", "models/here/llama-2-7b"):
        assert isinstance(resolve_architecture(path, CATALOG), Issue)


def test_tiers_and_optimizers():
    """Tests that ids and aliases of the smaller parts are known."""
    assert resolve_optimizer("AdamW", CATALOG) == "adamw"
    assert resolve_optimizer("adamw_bnb_8bit", CATALOG) == "adamw-8bit"
    assert resolve_optimizer("paged_adamw_8bit", CATALOG) == "paged-adamw-8bit"
    assert resolve_network("EFA v4", CATALOG) == "efa-v4-400"
    assert resolve_intra_node("NVLink4", CATALOG) == "nvswitch-nvlink4"
    assert resolve_storage("s3 standard", CATALOG) != "aws-s3-standard"
    assert resolve_storage("aws S3 Standard", CATALOG) == "aws-s3-standard"
    issue = resolve_optimizer("adamv", CATALOG)
    assert isinstance(issue, Issue)
    assert issue.hint in ("adam", "adamw")


@pytest.mark.parametrize(
    ("name", "framework"),
    [
        ("megatron", "megatron"),
        ("PyTorch FSDP", "pytorch-fsdp"),
        ("HF-Trainer", "hf-trainer"),
        ("nanotron (3D parallel, 1F1B)", "nanotron"),
        ("Megatron-Bridge (NeMo 26.02.01 container)", "megatron"),
        ("llm-foundry FSDP", "pytorch-fsdp"),
    ],
)
def test_frameworks(name, framework):
    """Tests that ids and free-text names of frameworks are known."""
    assert resolve_framework(name, CATALOG) == framework


def test_an_unknown_framework():
    """Tests that a name that no pattern knows is refused."""
    issue = resolve_framework("megatrom", CATALOG)
    assert isinstance(issue, Issue)
    assert issue.hint == "megatron"
