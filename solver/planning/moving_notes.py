"""What a plan has to say of moving data and weights: rates and prices not known."""

from __future__ import annotations

from solver.catalog.egress import unpriced
from solver.messages import sentence
from solver.options import Option
from solver.plan import Message
from solver.scenario.scenario import Scenario
from solver.setting import Setting

__all__ = ["moves", "moving_notes"]


def moves(scenario: Scenario, region: str) -> list[tuple[str, str, str]]:
    """Copies to the nodes' region and from it: origin, target, and what is copied."""
    found = [(region, target, "weights") for target in scenario.serving]
    if scenario.data.location is not None:
        found.insert(0, (scenario.data.location, region, "data"))
    return [move for move in found if move[0] != move[1]]


def moving_notes(setting: Setting, option: Option) -> list[Message]:
    """Copies at an assumed rate, and copies whose price is not known."""
    data, found = setting.scenario.data, []
    copies = moves(setting.scenario, option.offer.region)
    if copies and data.transfer_is_assumed:
        rate = data.transfer_bytes_per_s * 8 / 1e9
        found.append(Message.of("warning.transfer-assumed", rate=rate))
    for origin, target, what in copies:
        if unpriced(setting.catalog, origin, target):
            values = {"origin": origin, "target": target}
            name = sentence(f"moved.{what}")
            found.append(Message.of("warning.egress-unknown", what=name, **values))
    return found
