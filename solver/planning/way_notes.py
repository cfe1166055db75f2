"""What the choice among several ways to train leaves open: what is learnt."""

from __future__ import annotations

from solver.performance.inputs import TrainingJob
from solver.physics_inputs import numerics_of
from solver.plan import Message
from solver.setting import Setting

__all__ = ["way_notes"]

LEARNT = ("precision", "optimizer", "master_weights")
"""Choices that change what the same tokens teach; others change where bytes lie."""


def way_notes(setting: Setting, chosen: TrainingJob) -> list[Message]:
    """Which of several was chosen, for what it costs and takes alone."""
    named, found = [numerics_of(job) for job in setting.jobs], []
    for key in LEARNT:
        allowed = list(dict.fromkeys(str(way[key]) for way in named))
        if len(allowed) > 1:
            values = {"chosen": numerics_of(chosen)[key], "allowed": ", ".join(allowed)}
            what = key.replace("_", " ")
            found.append(Message.of("warning.way-chosen", what=what, **values))
    return found
