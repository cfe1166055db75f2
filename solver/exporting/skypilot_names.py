"""What SkyPilot calls the providers, regions, servers and GPUs of the catalog.

Accelerators: skypilot-catalog v8, common/accelerators.csv @d4d53f0e and @001ca549 and
vms.csv of Cudo @113567a7, Lambda @0f407038, Nebius @0082b043, Oracle @05887511,
Shadeform @002363da, Vast @01b8cdda and Verda @000c1d0b, read on 2026-12-01. What
a cloud cannot do: ``_CLOUD_UNSUPPORTED_FEATURES`` of sky/clouds in SkyPilot 0.14.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from solver.exporting.run import Run

__all__ = ["CLOUDS", "Cloud", "accelerator", "cloud_of", "infra", "instance_type"]


@dataclass(frozen=True, slots=True)
class Cloud:
    """A cloud of SkyPilot.

    Parameters
    ----------
    name
        In ``infra``.
    several_nodes, spot
        Whether SkyPilot can start clusters of nodes, and spot nodes, there.
    fast_network
        Whether ``network_tier: best`` is taken there.
    gpus
        Its own names of GPUs, where they are not the usual ones.
    """

    name: str
    several_nodes: bool = True
    spot: bool = True
    fast_network: bool = False
    gpus: Mapping[str, str] | None = None


USUAL: Mapping[str, str] = {
    "a10": "A10",
    "a100-pcie-40gb": "A100",
    "a100-pcie-80gb": "A100-80GB",
    "a100-sxm-40gb": "A100",
    "a100-sxm-80gb": "A100-80GB",
    "a10g": "A10G",
    "a30": "A30",
    "a40": "A40",
    "a800-pcie-80gb": "A800",
    "a800-sxm-80gb": "A800",
    "b200-sxm-180gb": "B200",
    "b300-sxm-288gb": "B300",
    "gb200-nvl72": "GB200",
    "gb300-nvl72": "GB300",
    "gh200-96gb": "GH200",
    "h100-nvl-94gb": "H100",
    "h100-pcie-80gb": "H100",
    "h100-sxm-80gb": "H100",
    "h200-nvl-141gb": "NVIDIA-H200-NVL",
    "h200-sxm-141gb": "H200",
    "l4": "L4",
    "l40": "L40",
    "l40s": "L40S",
    "mi300x": "MI300X",
    "mi355x": "MI355X",
    "rtx-3090": "RTX3090",
    "rtx-4090": "RTX4090",
    "rtx-5090": "RTX5090",
    "rtx-6000-ada": "RTX6000-Ada",
    "rtx-a6000": "RTXA6000",
    "rtx-pro-6000": "RTXPRO6000",
    "t4": "T4",
    "v100-pcie-16gb": "V100",
    "v100-sxm-16gb": "V100",
    "v100-sxm-32gb": "V100-32GB",
}
"""GPU of the catalog to accelerator; those that are left out have no name there."""

CLOUDS: Mapping[str, Cloud] = {
    "aws": Cloud("aws", fast_network=True),
    "azure": Cloud("azure"),
    "cudo": Cloud(
        "cudo", spot=False, gpus={"a100-pcie-80gb": "A100", "h100-sxm-80gb": "H100-SXM"}
    ),
    "digitalocean": Cloud("do", spot=False),
    "gcp": Cloud("gcp", fast_network=True),
    "hyperbolic": Cloud("hyperbolic", several_nodes=False, spot=False),
    "lambda": Cloud("lambda", spot=False, gpus={"rtx-a6000": "A6000"}),
    "nebius": Cloud("nebius", fast_network=True),
    "oci": Cloud("oci"),
    "paperspace": Cloud("paperspace", spot=False),
    "primeintellect": Cloud(
        "primeintellect",
        several_nodes=False,
        gpus={"rtx-6000-ada": "RTX6000Ada", "rtx-a6000": "A6000"},
    ),
    "runpod": Cloud(
        "runpod",
        several_nodes=False,
        gpus={
            "a100-sxm-80gb": "A100-80GB-SXM",
            "h100-nvl-94gb": "H100-NVL",
            "h100-sxm-80gb": "H100-SXM",
            "h200-sxm-141gb": "H200-SXM",
        },
    ),
    "shadeform": Cloud(
        "shadeform",
        several_nodes=False,
        spot=False,
        gpus={"rtx-6000-ada": "RTX6000Ada", "rtx-a6000": "A6000"},
    ),
    "vast": Cloud(
        "vast",
        several_nodes=False,
        gpus={"a100-pcie-80gb": "A100", "a100-sxm-80gb": "A100"},
    ),
    "verda": Cloud(
        "verda",
        several_nodes=False,
        gpus={"rtx-6000-ada": "RTX-6000-Ada", "rtx-pro-6000": "RTX-PRO-6000"},
    ),
}
"""Provider of the catalog to cloud."""

BROKER = "primeintellect-"
"""Providers of the catalog that begin so are sold by one cloud."""
LISTED_BY = "shadeform"
"""A broker whose offers stand under the clouds that it sells, with its own regions."""
ELSEWHERE = "lambda-1cc-"
"""Servers that a cloud rents out, and SkyPilot does not: 1-Click Clusters."""

SERVERS: Mapping[str, str] = {"gcp-a3-megagpu-8g": "H100-MEGA"}
"""Servers whose GPUs have a name of their own."""

SAME_REGIONS = (
    *("aws", "azure", "cudo", "do", "gcp", "hyperbolic", "lambda", "nebius", "oci"),
    "shadeform",
)
"""Clouds that name regions as the catalog does."""


def cloud_of(run: Run) -> Cloud | None:
    """Return the cloud of a run; None: SkyPilot does not know its provider.

    An offer of the user's own is no cloud's, whatever its provider is called.
    """
    if run.region is None or not run.server.provider:
        return None
    if run.plan.server.startswith(ELSEWHERE):
        return None
    if run.offer is not None and LISTED_BY in run.offer.source.casefold():
        return CLOUDS[LISTED_BY]
    provider = run.plan.provider
    return CLOUDS.get(BROKER[:-1] if provider.startswith(BROKER) else provider)


def accelerator(run: Run, cloud: Cloud | None) -> str | None:
    """Return the name of a run's GPU; None: SkyPilot has none."""
    if run.plan.server in SERVERS:
        return SERVERS[run.plan.server]
    own = (cloud.gpus if cloud is not None else None) or {}
    return own.get(run.plan.gpu, USUAL.get(run.plan.gpu))


def shared_names(run: Run, cloud: Cloud) -> list[str]:
    """Return the other GPUs of the catalog that a cloud calls as it does the run's."""
    name = accelerator(run, cloud)
    all_names = {**USUAL, **(cloud.gpus or {})}
    return [gpu for gpu, of in all_names.items() if of == name and gpu != run.plan.gpu]


def infra(run: Run, cloud: Cloud) -> str:
    """Return cloud, region and zone, as far as SkyPilot names them as the catalog does.

    Notes
    -----
    RunPod's regions are countries, and its zones are what the catalog has as regions.
    """
    region = run.plan.region
    if cloud.name in SAME_REGIONS:
        return f"{cloud.name}/{region}"
    if cloud.name == "verda":
        return f"verda/{region.upper()}"
    if cloud.name == "runpod" and run.plan.country:
        return f"runpod/{run.plan.country}/{region.upper()}"
    if cloud.name == "primeintellect" and run.plan.country:
        return f"primeintellect/{run.plan.country}"
    return cloud.name


def instance_type(run: Run, cloud: Cloud) -> str | None:
    """Return the server's name there; None: the catalog's id does not tell it."""
    name = run.plan.server.removeprefix(f"{run.plan.provider}-")
    if cloud.name in ("aws", "gcp"):
        return name
    if cloud.name == "lambda" and name.startswith("gpu-"):
        return name.replace("-", "_")
    if cloud.name == "verda":
        return name.upper()
    return None
