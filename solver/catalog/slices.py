"""MIG slices: what a profile gives of a card, as a GPU of its own.

A profile ``3g.40gb`` is 3 of the card's compute slices and as many memory slices as
40 GB are. A card has 7 compute and 8 memory slices, a smaller one 4 of each. Nothing
joins slices: no NVLink and no peer-to-peer copies, not even within a card, and one
process sees one slice, so that each is a job of its own (NVIDIA MIG user guide,
*Partitioning* and *Deployment Considerations*).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any

from pydantic import Field

from solver.catalog.schema import Gpu
from solver.errors import Issue, shown

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "Slice",
    "SliceName",
    "card_id",
    "is_slice",
    "slice_facts",
    "slice_fault",
    "slice_id",
    "slice_name",
    "slice_of",
    "slices_of",
    "whole_card",
]

SEPARATOR = "/"
"""Between card and profile in the id of a slice."""

MOST_COMPUTE_SLICES = 7
"""Compute slices of the large cards, which have one memory slice more."""

MEMORY_KEPT = 0.91
"""Least part of a slice's share of the card's memory that a process has, of those that
drivers list (1g.18gb of an H200); assumed where no figure is known."""

MOST_SHOWN = 7
"""Profiles that an error lists; of more the nearest few."""

PROFILE = re.compile(r"([1-7])g\.(\d{1,3})gb")

_NAME = re.compile(
    r"(?<![a-z0-9])(?:mig\W*)?(\d)g[\W_]?(\d{1,3})gb([+-]\w+(?:\.all)?)?(?![a-z0-9])"
)
_RESOURCE = "nvidia.com/"
"""Before the name of a slice as Kubernetes has it."""
_ANY = re.compile(r"(?<![a-z0-9])mig(?![a-z0-9])")


class Slice(Gpu):
    """A MIG slice of a card: the card's figures times its share of them."""

    card: str
    """Id of the card that it is a part of."""
    profile: str
    """Name of the part: ``3g.40gb``."""
    slices_per_card: int
    """So many of this profile fit on a card."""
    compute_slices: int
    """Compute slices that it has."""
    memory_slices: int
    """Memory slices that it has: its share of memory, bandwidth and L2 cache."""
    whole: Gpu = Field(exclude=True, repr=False)
    """The card itself."""

    @property
    def link_share(self) -> float:
        """Its share of what all slices use together: power and the card's PCIe link."""
        return self.compute_slices / _compute_slices(self.whole)


@dataclass(frozen=True, slots=True)
class SliceName:
    """What a name says of a slice."""

    card: str
    """What is left of the name: the card or family; empty for any."""
    profile: str
    """The profile; empty for any."""


def slice_name(name: str) -> SliceName | None:
    """Return what a name says of a slice; None: it means whole cards.

    Vendors write ``NVIDIA A100-SXM4-80GB MIG 3g.40gb``, clusters
    ``nvidia.com/mig-3g.40gb`` and ``a100_3g.40gb``; ``MIG`` alone is any profile.
    """
    spelled = name.casefold().replace("_", " ").removeprefix(_RESOURCE)
    found = _NAME.search(spelled)
    if found is None:
        anything = _ANY.search(spelled)
        return None if anything is None else SliceName(_rest(spelled, anything), "")
    parts, memory, suffix = found.groups()
    return SliceName(_rest(spelled, found), f"{parts}g.{memory}gb{suffix or ''}")


def _rest(name: str, found: re.Match[str]) -> str:
    """Return a name without the part that was found."""
    return f"{name[: found.start()]} {name[found.end() :]}".strip(f" {SEPARATOR}-")


def slice_id(card: str, profile: str) -> str:
    """Return the id of a card's slice: ``a100-sxm-80gb/3g.40gb``."""
    return f"{card}{SEPARATOR}{profile}"


def is_slice(gpu_id: str) -> bool:
    """Return whether an id is that of a slice."""
    return SEPARATOR in gpu_id


def card_id(gpu_id: str) -> str:
    """Return the id of the card that a GPU is, or is a slice of."""
    return gpu_id.partition(SEPARATOR)[0]


def whole_card(gpu: Gpu) -> Gpu:
    """Return the card that a GPU is, or is a slice of."""
    return gpu.whole if isinstance(gpu, Slice) else gpu


def slice_facts(gpu: Gpu) -> dict[str, Any] | None:
    """Return what a plan says of a slice; None of a whole card."""
    if not isinstance(gpu, Slice):
        return None
    names = ("card", "profile", "slices_per_card", "compute_slices", "memory_slices")
    return {name: getattr(gpu, name) for name in (*names, "sm_count")}


def slices_of(card: Gpu) -> Iterator[Slice]:
    """Yield the slices that a card can be cut into, by profile."""
    for profile, count in card.mig_profiles.items():
        if count and PROFILE.fullmatch(profile):
            yield slice_of(card, profile)


def slice_of(card: Gpu, profile: str) -> Slice:
    """Return a slice of a card.

    Parameters
    ----------
    card
        A whole card.
    profile
        A key of its `mig_profiles`.

    Notes
    -----
    Peak rates go with the multiprocessors, memory and its bandwidth with the memory
    slices, power with the compute slices. What the card's entry lists of a profile
    counts; else a compute slice is as many pairs of multiprocessors as a memory slice
    has of the card (16 of 132, 18 of 148), and memory `MEMORY_KEPT` of its share. No
    slice has more than its card.
    """
    compute, memory = _parts(card, profile)
    sm_count = _multiprocessors(card, profile, compute)
    rate = sm_count / card.sm_count
    share = memory / _memory_slices(card)
    listed = card.mig_memory_gib.get(profile)
    estimate = card.usable_memory_gib * (share * MEMORY_KEPT if share < 1 else 1.0)
    same: dict[str, Any] = {name: getattr(card, name) for name in _SAME}
    rates: dict[str, Any] = {n: _scaled(getattr(card, n), rate) for n in _RATES}
    return Slice(
        id=slice_id(card.id, profile),
        **same,
        **rates,
        memory_gb=float(profile.partition(".")[2].removesuffix("gb")),
        usable_memory_gib=min(listed or estimate, card.usable_memory_gib),
        usable_memory_source=_memory_source(card, profile),
        memory_bandwidth_gb_per_s=card.memory_bandwidth_gb_per_s * share,
        tdp_w=card.tdp_w * compute / _compute_slices(card),
        sm_count=sm_count,
        peer_to_peer=False,
        source=f"derived: its share of {card.id} ({card.source})",
        sources=_sources(card, profile),
        card=card.id,
        profile=profile,
        slices_per_card=card.mig_profiles[profile],
        compute_slices=compute,
        memory_slices=memory,
        whole=card,
    )


_RATES = (
    *("fp32_tflops", "tf32_tflops", "fp16_tflops", "bf16_tflops"),
    *("fp8_tflops", "fp4_tflops", "int8_tops"),
)
"""Peak rates, which go with the multiprocessors."""

_SAME = (
    *("vendor", "family", "generation", "compute_capability", "memory_type"),
    *("pcie_generation", "pcie_lanes", "ecc", "ecc_option"),
    *("release", "as_of"),
)
"""What a slice is like its card in."""


def _scaled(value: float | None, share: float) -> float | None:
    """Return a share of a rate; None where the card lacks it."""
    return None if value is None else value * share


def _parts(card: Gpu, profile: str) -> tuple[int, int]:
    """Return the compute and memory slices of a profile, by its name."""
    compute, memory_gb = _numbers(profile)
    largest = max(_numbers(name)[1] for name in card.mig_profiles)
    return compute, max(1, round(memory_gb / largest * _memory_slices(card)))


def _numbers(profile: str) -> tuple[int, int]:
    """Return the two numbers in the name of a profile."""
    found = PROFILE.fullmatch(profile)
    return (int(found[1]), int(found[2])) if found else (1, 1)


def _compute_slices(card: Gpu) -> int:
    """Return the compute slices of a whole card: those of its largest profile."""
    return max(_numbers(name)[0] for name in card.mig_profiles)


def _memory_slices(card: Gpu) -> int:
    """Return the memory slices of a whole card."""
    compute = _compute_slices(card)
    return compute + (compute == MOST_COMPUTE_SLICES)


def _multiprocessors(card: Gpu, profile: str, compute: int) -> int:
    """Return the multiprocessors of a profile: as listed, or estimated."""
    listed = card.mig_sm_counts.get(profile)
    if listed is not None:
        return min(listed, card.sm_count)
    if compute == _compute_slices(card):
        return card.sm_count
    pairs = card.sm_count // (2 * _memory_slices(card))
    return max(1, 2 * pairs * compute)


def _memory_source(card: Gpu, profile: str) -> str:
    """Return where the memory of a slice was read, or that it is an estimate."""
    if profile in card.mig_memory_gib:
        return card.sources.get("mig_memory_gib", card.source)
    return (
        f"estimate: {MEMORY_KEPT:g} of its share of the card's, the least of the "
        f"slices whose memory is known; {card.usable_memory_source}"
    )


def _sources(card: Gpu, profile: str) -> dict[str, str]:
    """Return where the figures of the profile itself were read."""
    known = {"slices_per_card": card.sources.get("mig_profiles", card.source)}
    if profile in card.mig_sm_counts:
        known["sm_count"] = card.sources.get("mig_sm_counts", card.source)
    else:
        known["sm_count"] = "estimate: an eighth or quarter of the card's a slice"
    return known


def slice_fault(name: str, profile: str, cards: Iterable[Gpu]) -> Issue:
    """Return the issue of a profile that none of some cards has.

    Parameters
    ----------
    name
        What was written.
    profile
        The profile that was meant.
    cards
        At least one card.
    """
    found = list(cards)
    counts: dict[str, int] = {}
    for card in found:
        counts |= card.mig_profiles
    who = found[0].id if len(found) == 1 else shown(name)
    if not counts:
        return Issue("unknown-name", f"{who} cannot be cut into MIG slices")
    near = sorted(counts, key=lambda known: -_likeness(profile, known))
    few = counts if len(counts) <= MOST_SHOWN else {n: counts[n] for n in near[:3]}
    verb = "it has" if len(few) == len(counts) else "the nearest are"
    if slice_name(name) == SliceName("", profile):
        who = "no GPU"
    has = "has" if who == "no GPU" else "has no"
    message = f"{who} {has} MIG profile {shown(profile)}; {verb} {_listed(few)}"
    return Issue("unknown-name", message, hint=near[0])


def _likeness(written: str, known: str) -> float:
    """Return how much alike two profiles are spelled, 0 to 1."""
    return SequenceMatcher(None, written, known, autojunk=False).ratio()


def _listed(counts: Mapping[str, int]) -> str:
    """Return profiles as a sentence has them, with how many of each fit on a card."""
    return ", ".join(f"{profile} ({count} a card)" for profile, count in counts.items())
