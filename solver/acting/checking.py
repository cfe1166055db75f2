"""A plan held against what was measured: finish, bill, what is suspect, what to do."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from datetime import date
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

from solver.acting.basis import Acting
from solver.acting.forecast import Outlook, Reality, forecast_of, outlook, stopped_usd
from solver.acting.measured import PARTS, Measured
from solver.acting.progress import Done, Progress
from solver.acting.suspects import SPEEDS, Suspect, memory_lines, suspects_of
from solver.errors import InputError, Issue, IssueLog, nearest, shown
from solver.plan import Message
from solver.units import DAY

if TYPE_CHECKING:
    from solver.acting.verdict import Verdict
    from solver.plan import Plan
    from solver.verify.figures import Figures

__all__ = ["Asked", "Check", "Compared", "check_plan"]

ABSURD = 100.0
"""A figure so many times the prediction, or so small a part, has a wrong unit."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What the user says of a run beside what was measured."""

    phase: str | None = None
    done_steps: int | None = None
    done_tokens: float | None = None
    spent_usd: float | None = None
    as_of: date | float | None = None
    """A date, or seconds from day 0."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A measured figure beside the predicted one."""

    name: str
    unit: str
    measured: float
    predicted: float
    ratio: float | None
    low: float | None
    high: float | None
    """What eight of ten runs lie between; None: no spread is known."""
    inside: bool | None
    count: int = 1


@dataclass(frozen=True, slots=True)
class Check:
    """A plan held against reality."""

    phase: str
    day: date
    elapsed_days: float
    done: Done
    compared: tuple[Compared, ...]
    suspects: tuple[Suspect, ...]
    planned: Outlook
    forecast: Outlook
    finish: date
    finish_p90: date
    deadline_days: float | None
    deadline_kept: bool | None
    budget_usd: float | None
    budget_kept: bool | None
    spent_usd: float
    rest_usd: float
    pace: float
    """Measured over predicted step time."""
    lines: tuple[Message, ...]
    verdict: Verdict | None = None

    @property
    def usual(self) -> bool:
        """Whether the speed is one that the plan's interval holds, or is not known."""
        return all(one.inside for one in self.compared if one.name in SPEEDS)

    @property
    def kept(self) -> bool:
        """Whether the forecast keeps the limits that there are."""
        return self.deadline_kept is not False and self.budget_kept is not False

    def as_dict(self) -> dict[str, Any]:
        """The check as the JSON contract has it."""
        return {
            "phase": self.phase,
            "as_of": self.day.isoformat(),
            "elapsed_days": self.elapsed_days,
            "pace": self.pace,
            "done": asdict(self.done),
            "measured": [asdict(one) for one in self.compared],
            "suspects": [asdict(one) for one in self.suspects],
            "planned": asdict(self.planned),
            "forecast": asdict(self.forecast)
            | {
                "finish": self.finish.isoformat(),
                "finish_p90": self.finish_p90.isoformat(),
                "deadline_days": self.deadline_days,
                "deadline_kept": self.deadline_kept,
                "budget_usd": self.budget_usd,
                "budget_kept": self.budget_kept,
                "spent_usd": self.spent_usd,
                "rest_usd": self.rest_usd,
            },
            "replan": None if self.verdict is None else self.verdict.as_dict(),
            "notes": [line.as_dict() for line in self.lines],
        }


@dataclass(frozen=True, slots=True)
class Moment:
    """How far a run is, and when that is."""

    place: int
    """Position of the job that runs."""
    done: Done
    start_day: float
    """Of the job's first step."""
    spent_s: float
    """From that to now."""
    elapsed_days: float
    lines: tuple[Message, ...] = ()


def check_plan(acting: Acting, measured: Measured, asked: Asked) -> Check:
    """Hold a plan against what was measured; without a new plan.

    Raises
    ------
    InputError
        Everything that cannot be: a phase that is none, more done than there is, a day
        before the plan's, figures far from any prediction.
    """
    log = IssueLog()
    place = _place(acting, asked.phase, log)
    if place is None:
        raise InputError(log.issues)
    compared = _compared(acting, place, measured, log)
    _check_asked(acting, place, asked, log)
    if log:
        raise InputError(log.issues)
    reality, notes = _reality(acting.figures[place], measured, compared)
    moment = _moment(acting, place, reality, asked)
    return _check(acting, moment, compared, reality, asked, (*notes, *moment.lines))


def _place(acting: Acting, phase: str | None, log: IssueLog) -> int | None:
    """Return the position of the job that was measured; None after saying why not."""
    names = [job.phase for job in acting.jobs if job.phase]
    if phase is None:
        if len(acting.jobs) == 1:
            return 0
        message = f"the plan has phases; name one with --phase: {', '.join(names)}"
        log.add("bad-usage", message)
        return None
    if phase in names:
        return names.index(phase)
    listed = f"there are {', '.join(names)}" if names else "the plan has no phases"
    message = f"there is no phase {shown(phase)}; {listed}"
    log.add("unknown-name", message, "--phase", hint=nearest(phase, names))
    return None


def predictions(figures: Figures) -> dict[str, float]:
    """What the plan predicts of each figure that can be measured."""
    plan = figures.evidence.plan
    stall = figures.stall_s / figures.steps if figures.steps else 0.0
    return {
        "step_time": plan.step_time_s,
        "tokens_per_s": plan.tokens_per_s,
        "mfu": plan.mfu,
        "peak_memory": plan.memory_gib["total"],
        "checkpoint": figures.checkpoint_s,
        "data_read": figures.read_rate / 1e9,
        **{n: s for n, s in plan.step_time_parts_s.items() if n in PARTS},
        "data_stall": stall,
    }


def _compared(
    acting: Acting, place: int, measured: Measured, log: IssueLog
) -> tuple[Compared, ...]:
    """Put each measured figure beside its prediction."""
    figures = acting.figures[place]
    plan, predicted = figures.evidence.plan, predictions(figures)
    bands = _bands(plan)
    found = []
    for name, one in measured.figures.items():
        if name not in predicted:
            message = f"the plan's step has no part {shown(name)}"
            log.add("unknown-name", message, "--measured", name)
            continue
        wanted = predicted[name]
        ratio = one.value / wanted if wanted > 0 else None
        part = name in PARTS
        if ratio is not None and not part and not 1 / ABSURD <= ratio <= ABSURD:
            message = f"{one.value:g} {one.unit} is {ratio:.2g} times the prediction"
            message += f" of {wanted:.4g} {one.unit}: check the unit"
            log.add("out-of-range", message, "--measured", name)
        low, high = bands.get(name, (None, None))
        inside = None
        if low is not None and high is not None:
            inside = low <= one.value <= high
        found.append(
            Compared(
                name, one.unit, one.value, wanted, ratio, low, high, inside, one.count
            )
        )
    if measured.failures is not None:
        found.append(_failures(figures, *measured.failures))
    return tuple(found)


def _bands(plan: Plan) -> dict[str, tuple[float, float]]:
    """What eight of ten measured figures lie between, where that is known."""
    low, high = plan.step_time_p10_s, plan.step_time_p90_s
    if not low or not high:
        return {}
    slow, fast = plan.step_time_s / high, plan.step_time_s / low
    return {
        "step_time": (low, high),
        "tokens_per_s": (plan.tokens_per_s * slow, plan.tokens_per_s * fast),
        "mfu": (plan.mfu * slow, plan.mfu * fast),
    }


def _failures(figures: Figures, count: float, time_s: float) -> Compared:
    """Compare a number of failures with a Poisson number at the planned rate."""
    mean = figures.failures_per_s * time_s
    low, high = _poisson(mean, 0.1), _poisson(mean, 0.9)
    ratio = count / mean if mean > 0 else None
    inside = low <= count <= high
    unit = f"in {time_s / DAY:g} days"
    return Compared("failures", unit, count, mean, ratio, low, high, inside)


def _poisson(mean: float, share: float) -> float:
    """Smallest number that so large a share of Poisson numbers does not pass."""
    if mean > 500:
        return max(0.0, mean + NormalDist().inv_cdf(share) * math.sqrt(mean))
    number, term = 0, math.exp(-mean)
    total = term
    while total < share - 1e-12:
        number += 1
        term *= mean / number
        total += term
    return float(number)


def _check_asked(acting: Acting, place: int, asked: Asked, log: IssueLog) -> None:
    """Log what is said of the run that cannot be."""
    progress = Progress(acting.figures[place])
    both = asked.done_steps is not None and asked.done_tokens is not None
    if both:
        log.add("conflicting-keys", "--done-steps and --done-tokens exclude each other")
    if asked.done_steps is not None and asked.done_steps >= progress.steps:
        message = f"expected fewer than the {progress.steps:,} steps of the plan"
        log.add("out-of-range", message, "--done-steps")
    if asked.done_tokens is not None and asked.done_tokens >= progress.tokens:
        message = f"expected fewer than the {progress.tokens:g} tokens of the plan"
        log.add("out-of-range", message, "--done-tokens")
    if isinstance(asked.as_of, date) and asked.as_of < acting.day:
        message = f"{asked.as_of} is before the plan's day 0, {acting.day}"
        log.add("out-of-range", message, "--as-of")


def _reality(
    figures: Figures, measured: Measured, compared: tuple[Compared, ...]
) -> tuple[Reality, tuple[Message, ...]]:
    """What takes the place of predictions, and what is to be said of that."""
    notes = []
    ratios = {one.name: one.ratio for one in compared if one.ratio}
    paces = {}
    for name in SPEEDS:
        if name in ratios:
            paces[name] = ratios[name] if name == "step_time" else 1 / ratios[name]
    pace = next(iter(paces.values()), 1.0)
    if paces and max(paces.values()) > 1.05 * min(paces.values()):
        notes.append(Message.of("check.note.paces", used=next(iter(paces))))
    if not paces:
        notes.append(Message.of("check.note.no-pace"))
    rate = None
    for one in compared:
        if one.name == "failures":
            told = "inside" if one.inside else "outside"
            notes.append(Message.of(f"check.note.failures.{told}"))
            if not one.inside and measured.failures is not None:
                count, time_s = measured.failures
                rate = count / time_s
    read = measured.value("data_read")
    return (
        Reality(
            pace=pace,
            checkpoint_s=measured.value("checkpoint"),
            failures_per_s=rate,
            stall_s_a_step=measured.value("data_stall"),
            read_bytes_per_s=None if read is None else read * 1e9,
        ),
        (*notes, *memory_lines(figures, measured.value("peak_memory"))),
    )


def _moment(acting: Acting, place: int, reality: Reality, asked: Asked) -> Moment:
    """Find out how far the run is, and when."""
    start = _start_day(acting, place)
    progress, whole = Progress(acting.figures[place]), _active_s(acting, place, reality)
    done, notes = progress.of_steps(asked.done_steps or 0), []
    if asked.done_tokens is not None:
        done = progress.of_tokens(asked.done_tokens)
    stated = asked.done_steps is not None or asked.done_tokens is not None
    if asked.as_of is None:
        spent = whole * done.time_share
        elapsed = start + spent / DAY if stated and done.steps else 0.0
        if elapsed:
            now = acting.date_of(elapsed).isoformat()
            notes.append(Message.of("check.note.as-of", date=now))
        elif place:
            elapsed = start
        return Moment(place, done, start, spent, elapsed, tuple(notes))
    if isinstance(asked.as_of, date):
        elapsed = float((asked.as_of - acting.day).days)
    else:
        elapsed = asked.as_of / DAY
    spent = max(0.0, (elapsed - start) * DAY)
    if stated and done.steps and not spent and not place:
        raise InputError([_too_early(acting, start)])
    if not stated and spent:
        done = progress.of_time(min(spent / whole, 1.0 - 1e-9))
        notes.append(Message.of("check.note.done", steps=done.steps))
    return Moment(place, done, start, spent, elapsed, tuple(notes))


def _too_early(acting: Acting, start: float) -> Issue:
    """The fault of steps that were done before the run could start."""
    message = f"the run starts on {acting.date_of(start)} (day {start:.2f}) by the plan"
    return Issue("out-of-range", f"{message}: no step can be done", "--as-of")


def _start_day(acting: Acting, place: int) -> float:
    """Day of the first step of a job."""
    job, figures = acting.jobs[place], acting.figures[place]
    if not acting.leases:
        return (figures.fixed_s - figures.moving.serving_s) / DAY
    first = any(lease.phases[0] == job.phase for lease in acting.leases)
    setup_s = acting.scenario.overheads.setup_s if first else 0.0
    return job.start_day + setup_s / DAY


def _active_s(acting: Acting, place: int, reality: Reality) -> float:
    """Expected seconds of the whole run of a job, as measured."""
    return forecast_of(acting, place, reality, 1.0, 0.0)[place].active_s


def _check(
    acting: Acting,
    moment: Moment,
    compared: tuple[Compared, ...],
    reality: Reality,
    asked: Asked,
    notes: tuple[Message, ...],
) -> Check:
    """Put together what the run comes to."""
    place, left = moment.place, 1.0 - moment.done.time_share
    known = forecast_of(acting, place, reality, left, moment.spent_s)
    found = outlook(acting, known)
    behind = 0.0
    if moment.elapsed_days > 0:
        behind = stopped_usd(acting, known, place)
    spent = behind if asked.spent_usd is None else asked.spent_usd
    more = spent - behind  # what the bill has been beyond the model's
    found = replace(
        found,
        cost_usd=found.cost_usd + more,
        cost_p90_usd=found.cost_p90_usd + more,
        limit_usd=found.limit_usd + more,
    )
    user = acting.scenario.constraints
    deadline = None if user.deadline_s is None else user.deadline_s / DAY
    room = 1.0 + 1e-9
    return Check(
        phase=acting.jobs[place].phase,
        day=acting.date_of(moment.elapsed_days),
        elapsed_days=moment.elapsed_days,
        done=moment.done,
        compared=compared,
        suspects=suspects_of(
            acting.figures[place].evidence.plan, compared, reality.pace
        ),
        planned=outlook(acting, acting.figures),
        forecast=found,
        finish=acting.date_of(found.duration_days),
        finish_p90=acting.date_of(found.duration_p90_days),
        deadline_days=deadline,
        deadline_kept=None if deadline is None else found.limit_days <= deadline * room,
        budget_usd=user.budget_usd,
        budget_kept=None
        if user.budget_usd is None
        else found.limit_usd <= user.budget_usd * room,
        spent_usd=spent,
        rest_usd=found.cost_usd - spent,
        pace=reality.pace,
        lines=notes,
    )
