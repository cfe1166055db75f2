"""What a plan has to say of spot, lost time, mixes and nodes of one's own."""

from __future__ import annotations

from collections.abc import Sequence

from solver.candidates import CandidateTable, at_quantile
from solver.catalog.supply import interruptions_per_node_hour
from solver.energy import HOST_FACTOR, node_power_kw, site_pue
from solver.messages import sentence
from solver.options import Option
from solver.plan import Message
from solver.planning.node_parts import NodePart, purchase_plan
from solver.setting import Setting
from solver.spread import P90_Z
from solver.units import DAY, HOUR, MONTH_HOURS

__all__ = ["LOSSY_SHARE", "lost_share", "purchase_notes"]

LOSSY_SHARE = 0.2
"""A run that loses this part of itself to failures is warned of."""

SMALL_SHARE = 0.005
"""Less than this is told as below one per cent."""


def purchase_notes(
    setting: Setting, option: Option, parts: Sequence[NodePart], one: CandidateTable
) -> list[Message]:
    """All that there is to say of how the nodes are had, most important first."""
    return [
        *_spot(setting, option),
        *_lost(setting, option, one),
        *_mix(parts),
        *(note for part in parts for note in _energy(setting, part.option)),
        *_outlay(setting, parts),
        *(note for part in parts for note in _bought(part)),
    ]


def _spot(setting: Setting, option: Option) -> list[Message]:
    if option.offer.purchase != "spot":
        return []
    rate = interruptions_per_node_hour(setting.catalog, option.offer)
    return [
        Message.of(
            "warning.spot-moment" if option.offer.one_moment else "warning.spot",
            as_of=option.offer.as_of or "?",
            monthly=round(rate * MONTH_HOURS, 2),
        )
    ]


def lost_share(one: CandidateTable) -> float:
    """Part of the run, checkpoints included, that failures and their waits take."""
    work = one.training_s[0] + one.stall_s[0] + one.evaluation_s[0]
    lost = one.failures_s[0] + one.replacement_s[0]
    return float(lost / (work + one.checkpoints_s[0] + lost))


def _lost(setting: Setting, option: Option, one: CandidateTable) -> list[Message]:
    """A run that failures take much of."""
    share = lost_share(one)
    if share < LOSSY_SHARE:
        return []
    arrays, layouts = setting.arrays.take(one.option), one.layouts
    nodes = layouts.nodes + one.rollout_nodes
    gpus = nodes * layouts.gpus_per_node
    rate = gpus * arrays.gpu_rate + nodes * arrays.node_rate
    late_s, _ = at_quantile(setting, one, P90_Z)
    spot = option.offer.purchase == "spot"
    return [
        Message.of(
            "warning.lost-spot" if spot else "warning.lost",
            percent=round(100 * share),
            hours=1.0 / float(rate[0]) / HOUR,
            days=float(late_s[0]) / DAY,
        )
    ]


def _mix(parts: Sequence[NodePart]) -> list[Message]:
    if len(parts) == 1:
        return []
    base, rest = parts
    return [
        Message.of(
            "note.mix",
            base=base.nodes,
            base_offer=base.option.offer.id,
            rest=rest.nodes,
            rest_offer=rest.option.offer.id,
        )
    ]


def _energy(setting: Setting, option: Option) -> list[Message]:
    """What the price of energy is assumed from."""
    offer, found = option.offer, []
    if not offer.usd_per_kwh:
        return []
    if offer.node_power_kw is None:
        power_kw = node_power_kw(option.server, option.gpu)
        values = {"kw": power_kw, "factor": HOST_FACTOR}
        found.append(Message.of("warning.node-power", **values))
    if offer.pue is None:
        pue, source = site_pue(setting.catalog, offer.region)
        found.append(Message.of("warning.pue", pue=pue, source=source))
    return found


def _outlay(setting: Setting, parts: Sequence[NodePart]) -> list[Message]:
    """An outlay past the budget, which is held against the charge alone."""
    budget, bought = setting.scenario.constraints.budget_usd, purchase_plan(parts)
    if budget is None or bought is None or bought["outlay_usd"] <= budget:
        return []
    values = {"budget": budget, "outlay": bought["outlay_usd"]}
    return [Message.of("warning.outlay", **values)]


def _bought(part: NodePart) -> list[Message]:
    """What of the price of bought nodes the plan is charged."""
    offer = part.option.offer
    if offer.purchase != "bought" or offer.years is None:
        return []
    share = part.used_s / (offer.years * 365 * DAY)
    return [
        Message.of(
            "note.bought-whole" if offer.min_term_hours else "note.bought",
            nodes=part.nodes,
            share=f"{share:.0%}" if share >= SMALL_SHARE else "<1%",
            term=sentence("term.years", count=offer.years),
        )
    ]
