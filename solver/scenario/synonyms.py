"""Words that people write for others: what each means here, or why it means nothing.

Spelling alone leads to the wrong word (from int4 to int8, orpo to grpo) or to none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from solver.catalog.names import compact
from solver.yaml_source import DataPath

__all__ = ["WORDS", "Meaning", "key_meant", "meaning"]


@dataclass(frozen=True, slots=True)
class Meaning:
    """What was meant by a word that is none of the right ones.

    Parameters
    ----------
    hint
        The right word; None: there is none.
    remark
        What else to say of it, a clause for the end of a message.
    """

    hint: str | None
    remark: str = ""


def _means(hint: str, *words: str) -> dict[str, Meaning]:
    return dict.fromkeys(words, Meaning(hint))


def _tells(remark: str, *words: str) -> dict[str, Meaning]:
    return dict.fromkeys(words, Meaning(None, remark))


_LEAVES = (
    "offload says what leaves, such as optimizer or any, and offload_to where to: "
)
_ABSENT = "it is not modelled; of these {} is nearest in kind"

_METHODS = {
    **_means("ppo", "rlhf"),
    **_tells(_ABSENT.format("dpo"), "orpo", "kto", "simpo", "ipo", "cpo"),
    **_tells(_ABSENT.format("grpo"), "rloo", "dapo", "gspo"),
    **_tells(_ABSENT.format("lora"), "dora", "adalora", "vera", "loha", "lokr"),
}

WORDS: Mapping[tuple[str, str], Mapping[str, Meaning]] = {
    ("workload", "method"): _METHODS,
    ("workload", "train"): _METHODS,
    ("workload", "packing"): _means("padded", "pad", "padding", "none", "false", "no"),
    ("workload", "tokens"): _means("compute-optimal", "chinchilla", "optimal"),
    ("workload", "offload"): {
        **_tells(f"{_LEAVES}host", "cpu", "host", "ram", "memory", "true", "yes"),
        **_tells(f"{_LEAVES}nvme", "nvme", "disk", "drive", "drives", "ssd"),
    },
    ("workload", "offload_to"): {
        **_means("host", "cpu", "ram", "memory", "dram"),
        **_means("nvme", "disk", "drive", "drives", "ssd"),
    },
    ("lora", "base"): {
        **_means("nf4", "int4", "4bit", "bnb4bit", "nf4double", "nf4dq", "doublenf4"),
        **_means("int8", "8bit", "bnb8bit", "llmint8"),
    },
    ("lora", "targets"): _means("[q, k, v, o, gate, up, down]", "alllinear", "all"),
}
"""By section and key, as `solver.catalog.names.compact` writes the words."""

_KEYS: Mapping[tuple[str, str], str] = {
    ("lora", "r"): "rank",
    ("lora", "lorar"): "rank",
    ("lora", "targetmodules"): "targets",
    ("lora", "bits"): "base",
    ("workload", "cpuoffload"): "offload",
}
"""By section and compact key."""


def meaning(path: DataPath, written: object) -> Meaning | None:
    """Return what was meant by a wrong value at a place, where that is known."""
    words = WORDS.get(_section_and_key(path), {})
    if not isinstance(written, str | bool):
        return None
    return words.get(compact(str(written)))


def key_meant(path: DataPath) -> str | None:
    """Return the key that was meant by a wrong one, where that is known."""
    section, key = _section_and_key(path)
    return _KEYS.get((section, compact(key)))


def _section_and_key(path: DataPath) -> tuple[str, str]:
    """Return the last two keys of a path; positions in lists do not count."""
    keys = ["", "", *(part for part in path if isinstance(part, str))]
    return keys[-2], keys[-1]
