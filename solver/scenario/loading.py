"""How samples are loaded: their size, who decodes them, and how fast."""

from __future__ import annotations

import math
from typing import Literal

from solver.scenario.reading import Reading
from solver.scenario.scenario import Loading, Workload
from solver.scenario.schema import ScenarioFile
from solver.yaml_source import DataPath

DATA: DataPath = ("data",)

BYTES_PER_TOKEN = 4.0
"""A token id as 32 bits."""

IMAGE_BYTES = 117e3
"""Mean of ImageNet: 150 GB (developer.nvidia.com/blog, Loading Data Fast with DALI,
2021) of 1.28 million images."""

IMAGE_RATE: dict[str, float] = {"cpu": 219.0, "gpu": 6000.0}
"""Images/s, decoded, of a worker and of a GPU.

cpu: simplejpeg in a PyTorch DataLoader, 1,754/s by 8 workers on a Xeon Platinum 8581C
(ImageNet; ternaus/imread_benchmark, arXiv 2605.08731); EPYC 9B45 and Neoverse-V2 reach
more. gpu: CUDA decoding of DALI on an A100, as NVIDIA/DALI#5362 quotes NVIDIA's blog.
"""


def resolve_loading(
    file: ScenarioFile, workload: Workload, useful: float | None, reading: Reading
) -> tuple[float, Loading]:
    """Return the bytes read for each computed token, and how samples are loaded.

    Parameters
    ----------
    file, workload
        The scenario as written, and what it trains.
    useful
        Part of the computed tokens that is data; None if it is not known.
    reading
        Takes faults and notices.
    """
    spec = file.data
    decode = spec.decode or ("none" if spec.kind == "text" else "cpu")
    _check(file, decode, reading)
    per_token = _samples_per_token(file, workload)
    size = spec.sample_bytes or (IMAGE_BYTES if spec.kind == "image" else None)
    if size is not None and spec.bytes_per_token is None:
        each = size * per_token
    else:
        share = 1.0 if useful is None else useful
        each = (spec.bytes_per_token or BYTES_PER_TOKEN) * share
    rate = spec.decode_rate or IMAGE_RATE.get(decode, math.inf)
    if decode == "none":
        rate = math.inf
    elif spec.decode_rate is None and spec.kind == "image":
        reading.notice(f"notice.decode-rate.{decode}", rate=rate)
    return each, Loading(spec.kind, decode, rate, per_token, spec.workers)


def _samples_per_token(file: ScenarioFile, workload: Workload) -> float:
    """Return samples for each computed token: one fills its share of a sequence."""
    length, mean = workload.sequence_length, file.data.mean_document_tokens
    if workload.packing == "padded" or mean is None:
        return 1.0 / length
    return 1.0 / min(mean, length)


def _check(
    file: ScenarioFile, decode: Literal["none", "cpu", "gpu"], reading: Reading
) -> None:
    """Log keys that are missing, or that nothing would use."""
    spec = file.data
    if spec.sample_bytes is not None and spec.bytes_per_token is not None:
        message = "say the bytes of a sample or of a token, not both"
        reading.fault("conflicting-keys", message, (*DATA, "sample_bytes"), key=True)
    if decode == "none":
        for key in ("decode_rate", "workers"):
            if getattr(spec, key) is not None:
                message = f"nothing is decoded: leave {key} out, or say decode: cpu"
                path = (*DATA, key)
                depends = [(*DATA, "decode"), (*DATA, "kind")]
                reading.fault(
                    "contradiction", message, path, key=True, depends_on=depends
                )
        return
    if decode == "gpu" and spec.workers is not None:
        message = "GPUs decode: leave workers out, or say decode: cpu"
        reading.fault("contradiction", message, (*DATA, "workers"), key=True)
    if spec.decode_rate is None and spec.kind != "image":
        message = (
            f"no rate is known at which {spec.kind} is decoded: state 'decode_rate', "
            "samples/s"
        )
        depends = [(*DATA, "decode"), (*DATA, "kind")]
        reading.fault(
            "missing-key", message, (*DATA, "decode_rate"), depends_on=depends
        )
    if spec.kind in ("audio", "video") and not (
        spec.sample_bytes or spec.bytes_per_token
    ):
        message = f"{spec.kind} needs the stored size of a sample, 'sample_bytes'"
        path = (*DATA, "sample_bytes")
        depends = [(*DATA, "kind"), (*DATA, "bytes_per_token")]
        reading.fault("missing-key", message, path, depends_on=depends)
