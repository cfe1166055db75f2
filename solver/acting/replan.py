"""What is left of a plan asked again: work, time and money, at the measured speed."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

from solver.catalog.egress import egress_usd, unpriced
from solver.errors import InternalError
from solver.planning.answering import answer
from solver.scenario.load import resolve_scenario
from solver.scenario.quantities import EFFICIENCY
from solver.units import DAY, QuantityError, parse_count
from solver.yaml_source import Source

if TYPE_CHECKING:
    from collections.abc import Callable

    from solver.acting.basis import Acting
    from solver.plan import Plan, PlanResult
    from solver.scenario.scenario import Scenario
    from solver.verify.figures import Figures

__all__ = ["Change", "Left", "change_of", "left_scenario"]


@dataclass(frozen=True, slots=True)
class Left:
    """What is left of a plan."""

    place: int
    """Position of the job that runs."""
    token_share: float
    """Part of that job's tokens that is still to be computed."""
    elapsed_days: float
    day: date
    deadline_s: float | None
    budget_usd: float | None
    pace: float
    """Measured over predicted step time, to be planned with; 1: as predicted."""

    @property
    def begun(self) -> bool:
        """Whether anything has been done or spent."""
        return self.token_share < 1 or self.elapsed_days > 0 or self.place > 0


@dataclass(frozen=True, slots=True)
class Change:
    """The best plan for what is left, on nodes that are ordered now."""

    result: PlanResult
    cost_usd: float
    """From now on, the move of the checkpoint included."""
    days: float
    move_usd: float
    move_days: float
    move_known: bool
    same: bool
    """Whether these are the nodes and the layout that run already."""


def left_scenario(acting: Acting, document: dict[str, Any], left: Left) -> Scenario:
    """The scenario of what is left; the one that was asked where nothing is done.

    Raises
    ------
    InputError
        What is left is no scenario any more.
    """
    data = copy.deepcopy(document)
    if left.begun:
        _shrink(acting, data, left)
    if left.pace != 1.0:
        _slow(acting, data, left)
    source = Source(acting.file or "the rest of the plan", data, {}, {})
    return resolve_scenario(source, acting.catalog, today=left.day)


def _shrink(acting: Acting, data: dict[str, Any], left: Left) -> None:
    """Leave what is still to be done, in the time and for the money that are left."""
    work = data["workload"] = dict(data.get("workload") or {})
    stated = work
    if data.get("phases"):
        data["phases"] = data["phases"][left.place :]
        stated = data["phases"][0].setdefault("workload", {})
    if left.token_share < 1 or left.place:
        _less_work(acting, work, stated, left)
    limits = data["constraints"] = dict(data.get("constraints") or {})
    if left.deadline_s is not None:
        limits["deadline"] = f"{left.deadline_s:.3f} s"
    if left.budget_usd is not None:
        limits["budget"] = left.budget_usd
    job = acting.figures[left.place].evidence
    region = job.offer.region
    if region in acting.catalog.regions:
        facts = data["data"] = dict(data.get("data") or {})
        if facts.get("location") != region:
            facts.pop("storage", None)
        facts["location"] = region


def _less_work(
    acting: Acting, work: dict[str, Any], stated: dict[str, Any], left: Left
) -> None:
    """Set the tokens, or samples, that are left, to go on from a checkpoint."""
    job = acting.jobs[left.place]
    for each in (work, stated):
        each.pop("batch_ramp", None)
    stated["start"] = "checkpoint"
    stated["framework"] = job.plan.framework
    merged = {**work, **stated}
    if merged.get("samples") is not None:
        stated["samples"] = float(parse_count(merged["samples"])) * left.token_share
        return
    whole = _stated_tokens(merged.get("tokens"))
    if whole is None:
        whole = job.scenario.workload.tokens
    stated["tokens"] = whole * left.token_share


def _stated_tokens(value: Any) -> float | None:
    """Tokens that are stated as a number; None where a rule stands for them."""
    try:
        return float(parse_count(value))
    except QuantityError:
        return None


def _slow(acting: Acting, data: dict[str, Any], left: Left) -> None:
    """Plan every step at the share of the predicted speed that was measured."""
    work = data["workload"] = dict(data.get("workload") or {})
    reached = acting.jobs[left.place].plan.efficiency / left.pace
    share = min(max(reached, EFFICIENCY.low), EFFICIENCY.high)
    work["efficiency"] = share
    for phase in data.get("phases") or ():
        (phase.get("workload") or {}).pop("efficiency", None)


def change_of(
    acting: Acting,
    scenario: Scenario,
    left: Left,
    progress: Callable[[str, float], None] | None = None,
) -> Change | PlanResult:
    """The best plan for what is left, with its move; the answer where there is none."""
    result = answer(scenario, acting.catalog, progress=progress, alternatives=0)
    plan = result.plan or (result.phases[0].plan if result.phases else None)
    if plan is None:
        return result
    cost, days = _spent(result)
    current = acting.jobs[left.place].plan
    here, region = (
        acting.figures[left.place].evidence.offer.region,
        _region(acting, plan),
    )
    usd, move_days, known = 0.0, 0.0, True
    if left.token_share < 1 and region != here:
        size = moved_bytes(acting.figures[left.place])
        usd = egress_usd(acting.catalog, here, region, size)
        known = not unpriced(acting.catalog, here, region)
        copied = size / scenario.data.transfer_bytes_per_s / DAY
        waited = plan.duration_parts_days["delivery"]
        move_days = max(0.0, copied - waited)
    same = (plan.offer, plan.nodes, plan.layout, plan.storage) == (
        current.offer,
        current.nodes,
        current.layout,
        current.storage,
    )
    return Change(result, cost + usd, days + move_days, usd, move_days, known, same)


def moved_bytes(figures: Figures) -> float:
    """Bytes of the checkpoint that goes along, adapters with the weights they adapt."""
    size = figures.checkpoint_bytes
    if figures.evidence.scenario.workload.method != "full":
        size += figures.moving.weight_bytes
    return size


def _spent(result: PlanResult) -> tuple[float, float]:
    """Cost and days of an answer that has a plan."""
    if result.total is not None:
        return result.total.cost_usd, result.total.duration_days
    if result.plan is None:
        raise InternalError("an answer without a plan spends nothing")
    return result.plan.cost_usd, result.plan.duration_days


def _region(acting: Acting, plan: Plan) -> str:
    """Id of the region of a plan."""
    offer = acting.catalog.offers.get(plan.offer)
    return offer.region if offer is not None else f"{plan.provider}/{plan.region}"
