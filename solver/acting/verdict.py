"""Stay with the nodes of a plan, change to others, or neither: the plan asked again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from solver.acting.replan import Change, Left, change_of, left_scenario
from solver.errors import InputError
from solver.plan import Message, PlanResult
from solver.scenario.quantities import EFFICIENCY
from solver.units import DAY, format_duration_s, format_usd

if TYPE_CHECKING:
    from solver.acting.basis import Acting
    from solver.acting.checking import Check

__all__ = ["WORTHWHILE", "Verdict", "verdict_of"]

WORTHWHILE = 0.05
"""Share of what is left that a change has to save: less is told apart by no prediction
(`solver.planning.single_job.PRACTICAL_TIE`)."""

Progress = Callable[[str, float], None]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What to do, and what it rests on."""

    kind: str
    """stay, change, cannot_tell or cannot."""
    stay_usd: float
    """From now on, on the nodes that run."""
    stay_days: float
    stay_kept: bool
    change: Change | None
    """The best change if the measured speed holds on all hardware."""
    elsewhere: Change | None
    """The best change if other hardware runs as predicted."""
    saves_usd: float | None
    saves_days: float | None
    efficiency: float
    lines: tuple[Message, ...]

    def as_dict(self) -> dict[str, Any]:
        """The verdict as the JSON contract has it."""
        return {
            "verdict": self.kind,
            "stay": {
                "cost_usd": self.stay_usd,
                "days": self.stay_days,
                "kept": self.stay_kept,
            },
            "change": _shown(self.change),
            "elsewhere": _shown(self.elsewhere),
            "saves_usd": self.saves_usd,
            "saves_days": self.saves_days,
            "efficiency": self.efficiency,
            "reasons": [line.as_dict() for line in self.lines],
        }


def _shown(change: Change | None) -> dict[str, Any] | None:
    """Return a change as the JSON contract has it."""
    if change is None:
        return None
    result = change.result
    return {
        "same": change.same,
        "cost_usd": change.cost_usd,
        "days": change.days,
        "move_usd": change.move_usd,
        "move_days": change.move_days,
        "move_price_known": change.move_known,
        "status": result.status,
        "plan": result.plan.as_dict() if result.plan else None,
        "phases": [{"name": p.name, "plan": p.plan.as_dict()} for p in result.phases],
    }


def verdict_of(
    acting: Acting,
    check: Check,
    document: dict[str, Any],
    pace: float,
    progress: Progress | None = None,
) -> Verdict:
    """Ask what is left of a plan again, and choose.

    Parameters
    ----------
    acting, check
        The plan, and how it does.
    document
        What was asked.
    pace
        Measured over predicted step time.
    progress
        Called with a label and the fraction done.
    """
    left = _left(acting, check, pace)
    plan = acting.jobs[left.place].plan
    share = min(max(plan.efficiency / pace, EFFICIENCY.low), EFFICIENCY.high)
    stay_usd = check.rest_usd
    stay_days = check.forecast.duration_days - check.elapsed_days
    found: list[Change | PlanResult] = []
    lines: list[Message] = []
    over = _over(check, left)
    # a usual speed says nothing of these nodes alone
    views = (pace,) if check.usual else tuple(dict.fromkeys((pace, 1.0)))
    for speed in () if over else views:
        at = replace(left, pace=speed)
        try:
            scenario = left_scenario(acting, document, at)
            found.append(change_of(acting, scenario, at, progress))
        except InputError as error:
            told = "; ".join(issue.message for issue in error.issues)
            lines.append(Message.of("check.replan.refused", reason=told))
    changes = [_kept(one, left) for one in found]
    if len(changes) > 1 and changes[1] is not None:
        # nodes of the same kind that run as predicted are not those that run now
        changes[1] = replace(changes[1], same=False)
    everywhere = changes[0] if changes else None
    elsewhere = changes[1] if len(changes) > 1 else None
    stay = (stay_usd, stay_days)
    kinds = [_choice(acting, stay, check.kept, one) for one in changes or [None]]
    kind = kinds[0] if len(set(kinds)) == 1 else "cannot_tell"
    saved = everywhere if everywhere and not everywhere.same else None
    lines += _reasons(check, kind, changes, found, stay)
    if over:
        lines.append(over)
    return Verdict(
        kind,
        stay_usd,
        stay_days,
        check.kept,
        everywhere,
        elsewhere,
        None if saved is None else stay_usd - saved.cost_usd,
        None if saved is None else stay_days - saved.days,
        share,
        tuple(lines),
    )


def _left(acting: Acting, check: Check, pace: float) -> Left:
    """What is left of a plan as of the check."""
    names = [job.phase for job in acting.jobs]
    place = names.index(check.phase)
    whole = acting.figures[place].evidence.scenario.workload.tokens
    user = acting.scenario.constraints
    begun = check.elapsed_days > 0
    deadline = None
    if begun and user.deadline_s is not None:
        deadline = user.deadline_s - check.elapsed_days * DAY
    budget = None
    if begun and user.budget_usd is not None:
        budget = user.budget_usd - check.spent_usd
    share = 1.0 - check.done.tokens / whole
    day = check.day
    return Left(place, share, check.elapsed_days, day, deadline, budget, pace)


def _over(check: Check, left: Left) -> Message | None:
    """Say which limit has passed already, so that nothing can be asked under it."""
    if left.deadline_s is not None and left.deadline_s <= 0:
        return Message.of("check.over.deadline")
    if left.budget_usd is not None and left.budget_usd <= 0:
        return Message.of("check.over.budget", spent=format_usd(check.spent_usd))
    return None


def _kept(one: Change | PlanResult, left: Left) -> Change | None:
    """Return a change that keeps the limits with its move; None for others."""
    if isinstance(one, PlanResult):
        return None
    if not one.move_usd and not one.move_days:
        return one
    late = left.deadline_s is not None and one.days * DAY > left.deadline_s
    dear = left.budget_usd is not None and one.cost_usd > left.budget_usd
    return None if late or dear else one


def _choice(
    acting: Acting, stay: tuple[float, float], kept: bool, one: Change | None
) -> str:
    """Return what is best under one view of the hardware."""
    if one is None:
        return "stay" if kept else "cannot"
    if not kept:
        return "change"
    if one.same:
        return "stay"
    kind = acting.scenario.objective
    first = kind.cost_weight * stay[0] + kind.usd_per_day * stay[1]
    other = kind.cost_weight * one.cost_usd + kind.usd_per_day * one.days
    if kind.kind == "time":
        first, other = stay[1], one.days
    elif kind.kind in ("energy", "carbon"):
        first, other = stay[0], one.cost_usd
    return "change" if other < (1.0 - WORTHWHILE) * first else "stay"


def _reasons(
    check: Check,
    kind: str,
    changes: list[Change | None],
    found: list[Change | PlanResult],
    stay: tuple[float, float],
) -> list[Message]:
    """Return the sentences behind a verdict."""
    days = format_duration_s(stay[1] * DAY)
    lines = [Message.of("check.stay", usd=format_usd(stay[0]), days=days)]
    for view, one in zip(("everywhere", "elsewhere"), changes, strict=False):
        if one is None:
            lines.append(Message.of(f"check.none.{view}"))
        elif one.same:
            lines.append(Message.of("check.same"))
        else:
            plan = one.result.plan or one.result.phases[0].plan
            words = {
                "nodes": plan.rented_nodes,
                "per_node": plan.gpus_per_node,
                "gpu": plan.gpu,
                "provider": plan.provider,
                "region": plan.region,
                "usd": format_usd(one.cost_usd),
                "days": format_duration_s(one.days * DAY),
            }
            lines.append(Message.of(f"check.change.{view}", **words))
            if one.move_usd or one.move_days:
                lines.append(Message.of("check.move", usd=format_usd(one.move_usd)))
            if not one.move_known:
                lines.append(Message.of("check.move-unknown"))
    if kind == "cannot":
        lines += _openings(check, found)
    return lines


def _openings(check: Check, found: list[Change | PlanResult]) -> list[Message]:
    """Return the least changes of limits that open a way."""
    lines = []
    if check.deadline_kept is False:
        late = format_duration_s(check.forecast.limit_days * DAY)
        lines.append(Message.of("check.open.deadline", days=late))
    if check.budget_kept is False:
        more = format_usd(check.forecast.limit_usd)
        lines.append(Message.of("check.open.budget", usd=more))
    for one in found[:1]:
        if isinstance(one, PlanResult) and one.explanation is not None:
            for relaxation in one.explanation.relaxations[:3]:
                words = {k: relaxation[k] for k in ("constraint", "now", "needed")}
                lines.append(Message.of("check.open.other", **words))
    return lines
