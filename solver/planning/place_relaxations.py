"""What would have to be allowed of where the data may lie."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from solver.catalog.country_groups import grouped
from solver.messages import sentence
from solver.planning.opening import Described, Opening, flow
from solver.scenario.scenario import Scenario

__all__ = ["PLACES"]


def _residency(opening: Opening, asked: Scenario) -> Described:
    now, country = asked.data.residency or (), opening.option.country
    told = {"now": ", ".join(grouped(now)), "unit": "countries"}
    if country is None:
        needed = {"needed": sentence("relax.no-country"), "set": "data.residency=null"}
        return {**told, **needed}
    more = grouped((*now, country))
    return {**told, "needed": country, "set": f"data.residency={flow(more)}"}


PLACES: Mapping[str, Callable[[Opening, Scenario], Described]] = {
    "residency": _residency
}
"""Rule to what would have to be, as the JSON contract has it."""
