"""The check of a MIG slice: what its name says, from the card's entry alone."""

from __future__ import annotations

from collections.abc import Iterator

from solver.verify.evidence import Evidence
from solver.verify.violation import Violation, at_most, facts

RULE = "gpus"

EIGHTHS = {7: 8, 4: 4}
"""Compute slices of a whole card to its memory slices."""


def check_slice(evidence: Evidence) -> Iterator[Violation]:
    """A slice is one GPU alone, of a profile of its card, with its share of memory."""
    plan = evidence.plan
    card_name, parted, profile = evidence.gpu.id.partition("/")
    if not parted:
        yield from facts(RULE, {"slice": None}, plan)
        return
    card = evidence.catalog.gpus[card_name]
    count = card.mig_profiles.get(profile, 0)
    if count < 1:
        yield Violation(RULE, "the card has no such slice", card.mig_profiles, profile)
        return
    compute, memory_gb = _numbers(profile)
    most_compute, most_gb = max(_numbers(name) for name in card.mig_profiles)
    memory = max(1, round(EIGHTHS[most_compute] * memory_gb / most_gb))
    stated = {
        "card": card_name,
        "profile": profile,
        "slices_per_card": count,
        "compute_slices": compute,
        "memory_slices": memory,
        "sm_count": evidence.gpu.sm_count,
    }
    yield from facts(RULE, {"slice": stated, "network": None}, plan)
    if (plan.nodes, plan.gpus, plan.spare_nodes) != (1, 1, 0):
        message = "nothing joins slices: one is one job"
        yield Violation(RULE, message, (1, 1, 0), (plan.nodes, plan.gpus))
    share = memory / EIGHTHS[most_compute]
    if not at_most(plan.memory_gib["capacity"], card.usable_memory_gib * share):
        message = "more memory than the slice's share of the card, GiB"
        allowed = card.usable_memory_gib * share
        yield Violation("memory", message, allowed, plan.memory_gib["capacity"])
    if evidence.gpu.sm_count * count > card.sm_count:
        message = "more multiprocessors than the card has"
        yield Violation(RULE, message, card.sm_count, evidence.gpu.sm_count * count)


def _numbers(profile: str) -> tuple[int, int]:
    """The compute slices and gigabytes that a profile's name says."""
    compute, _, memory = profile.partition("g.")
    return int(compute), int(memory.removesuffix("gb"))
