"""GPU names: family, form factor and memory in any order and spelling."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from solver.catalog.schema import Gpu

__all__ = ["gpus_like"]

_NOISE = frozenset(
    (
        *("nvidia", "amd", "intel", "tesla", "geforce", "quadro", "instinct"),
        *("gpu", "gpus", "card", "accelerator", "tensor", "core", "graphics"),
        *("hgx", "dgx", "oam", "server", "edition", "generation", "blackwell"),
        *("gb", "gib", "hbm", "ac"),
    )
)
"""Words that say nothing beyond family, form factor and memory."""

_FORMS = {
    **{f"sxm{n}": "sxm" for n in ("", 2, 3, 4, 5, 6)},
    **{f"pcie{n}": "pcie" for n in ("", 3, 4, 5)},
    "pci": "pcie",
    "nvl": "nvl",
    "nvl72": "nvl72",
}
_MEMORY = re.compile(r"(\d{2,3})(?:gb|gib|g)?")
_MEMORY_TYPE = re.compile(r"(?:hbm|gddr)\d\w?")
_MEMORY_SLACK = 0.03
"""Marketed sizes differ by so much: 140 and 141 GB, 180 and 183."""


@dataclass(frozen=True, slots=True)
class _Traits:
    """What tells a GPU from others of its family."""

    form: str
    memory_gb: float


def gpus_like(name: str, gpus: Iterable[Gpu]) -> tuple[str, ...]:
    """Return the ids of the GPUs that a name can mean, sorted.

    A name that is an id or alias means that GPU. Else it has to hold a family, and all
    that it holds besides has to be true of a GPU: its form factor, its memory.
    """
    gpus = list(gpus)
    wanted = _compact(name)
    exact = {gpu.id for gpu in gpus if wanted and wanted in _own_names(gpu)}
    words = [w for w in _words(name) if w not in _NOISE]
    found = {gpu.id for gpu in gpus if _matches(words, gpu)}
    # an id such as l40 is a family as well, and an alias may be: the id wins
    return tuple(sorted(exact if exact and not _is_wider(exact, found) else found))


def _is_wider(exact: set[str], found: set[str]) -> bool:
    """Return whether a name means a family of which an alias is only one member."""
    return exact < found and len(found) > 1


def _own_names(gpu: Gpu) -> set[str]:
    """Return id and aliases as they are compared."""
    return {_compact(written) for written in (gpu.id, *gpu.aliases)}


def _matches(words: list[str], gpu: Gpu) -> bool:
    """Return whether words name the family of a GPU and nothing untrue of it."""
    family = _compact(gpu.family)
    for start in range(len(words)):
        for end in range(start + 1, len(words) + 1):
            if "".join(words[start:end]) in (family, _short(family)):
                rest = words[:start] + words[end:]
                if all(_is_true(word, gpu) for word in rest):
                    return True
    return False


def _short(family: str) -> str:
    """Return a family without the brand that people leave out: 4090, a6000."""
    short = family.removeprefix("rtx")
    return short if len(short) >= 4 and short != "pro6000" else family


def _is_true(word: str, gpu: Gpu) -> bool:
    """Return whether a form factor, memory size or memory type is that of a GPU."""
    traits = _traits(gpu)
    if _MEMORY_TYPE.fullmatch(word):
        return word == gpu.memory_type.casefold()
    if word in _FORMS:
        return _FORMS[word] == traits.form
    size = _MEMORY.fullmatch(word)
    if size is None:
        return False
    return abs(int(size[1]) - traits.memory_gb) <= _MEMORY_SLACK * traits.memory_gb


def _traits(gpu: Gpu) -> _Traits:
    """Return form factor and memory of a GPU; the form is part of its id."""
    forms = [_FORMS[word] for word in _words(gpu.id) if word in _FORMS]
    return _Traits(forms[0] if forms else _usual_form(gpu), gpu.memory_gb)


def _usual_form(gpu: Gpu) -> str:
    """Return the form factor of a GPU that comes in one only."""
    own_links = gpu.vendor != "NVIDIA"
    return "" if own_links or gpu.family.startswith("G") else "pcie"


def _words(name: str) -> list[str]:
    """Return the words of a name, without case and punctuation."""
    return re.findall(r"[a-z0-9]+", name.casefold())


def _compact(name: str) -> str:
    """Return a name as it is compared: letters and digits, without case."""
    return "".join(_words(name))
