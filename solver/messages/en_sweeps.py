"""The English texts of sweeps."""

__all__ = ["SWEEPS"]

SWEEPS = {
    "progress.sweep": (
        "{done:,} of {total:,} points, {rate:.3g}/s, {left} left, {failed:,} failed"
    ),
    "progress.sweep.start": "starting workers",
    "progress.sweep.estimate": "answering a few points",
    "headline.sweep.dry": (
        "{points:,} {points:point|points}, {left:,} of them not answered yet: about "
        "{time} on {workers:,} {workers:process|processes}"
    ),
    "headline.sweep.run": (
        "{answered:,} {answered:point|points} answered in {time}: all {total:,} are "
        "stored"
    ),
    "headline.sweep.stopped": (
        "Stopped: {done:,} of {total:,} points are stored; the same command goes on"
    ),
    "headline.sweep.show": (
        "{name}: {planned:,} of {answered:,} points have a plan, the best {cost} in "
        "{duration}"
    ),
    "headline.sweep.nothing": "{name}: no point is answered yet",
    "headline.sweep.none": "{name}: none of {answered:,} points has a plan",
    "section.sweep.size": "The sweep",
    "section.sweep.run": "This run",
    "section.sweep.points": "Points",
    "section.sweep.best": "The best of each value",
    "section.sweep.effects": "What moves cost and time, all else as it is",
    "section.sweep.scatters": "Over the draws",
    "section.sweep.correlations": "What moves them among the draws",
    "section.sweep.map": "Which points have a plan",
    "section.sweep.infeasible": "Where there is no plan",
    "label.sweep.combinations": "points",
    "label.sweep.skipped": "skipped",
    "label.sweep.duplicates": "asked twice",
    "label.sweep.kinds": "kinds of physics",
    "label.sweep.first": "first of a kind",
    "label.sweep.next": "each other",
    "label.sweep.stored": "stored before",
    "label.sweep.elsewhere": "by other processes",
    "label.sweep.rate": "points a second",
    "label.sweep.results": "look at them",
    "value.sweep.sampled": (
        "{time}, measured on {sampled:,} {sampled:point|points} one after the other"
    ),
    "column.sweep.axis": "axis",
    "column.sweep.value": "value",
    "column.sweep.planned": "with a plan",
    "column.sweep.cost": "least cost",
    "column.sweep.time": "done in",
    "column.sweep.servers": "best servers",
    "column.sweep.place": "place",
    "column.sweep.cost_range": "cost differs by",
    "column.sweep.time_range": "time differs by",
    "column.sweep.decides": "decides on a plan",
    "column.sweep.at": "at",
    "column.sweep.cost_draws": "cost, P10 – median – P90",
    "column.sweep.time_draws": "time, median",
    "column.sweep.drawn": "drawn",
    "column.sweep.cost_rank": "with cost",
    "column.sweep.time_rank": "with time",
    "column.sweep.no_plan": "without a plan",
    "column.sweep.why": "mostly because of",
    "value.sweep.of": "{count:,} of {whole:,}",
    "value.sweep.range": "{median} (most {most})",
    "value.sweep.decides": "{opened:,} of {groups:,}",
    "value.sweep.planned": "yes",
    "value.sweep.all": "all points",
    "note.sweep.effects": (
        "Largest over least among points that differ in one axis alone: median of all "
        "such groups, and the most. An axis decides on a plan where some of its values "
        "have one and others have none."
    ),
    "note.sweep.map": (
        "Which points have a plan: 'yes' where all have one over the other axes, else "
        "how many, or what mostly stands in the way."
    ),
    "note.sweep.more": "{count:,} more values; --csv and --json have all.",
    "note.sweep.left": (
        "{count:,} {count:point is|points are} not answered yet: 'sweep run' goes on."
    ),
    "note.sweep.failed": (
        "{count:,} {count:point|points} ended in an error, such as: {error}."
    ),
    "note.sweep.correlations": (
        "Rank correlation over the draws, from -1 to 1: near 0 it does not matter."
    ),
    "note.sweep.mixed": (
        "The rows are of several sweeps, catalogs or versions: --csv tells which."
    ),
    "plot.sweep.cost_usd": "least cost, USD",
    "plot.sweep.duration_days": "shortest time, days",
    "plot.sweep.carbon_t": "least CO2, t",
    "plot.sweep.energy_mwh": "least energy, MWh",
    "plot.sweep.none": "no plan",
    "plot.sweep.tornado": "{name}: each axis alone, from {at}",
    "sweep_status.optimal": "optimal",
    "sweep_status.feasible": "found, not proved",
    "sweep_status.infeasible": "no plan, proved",
    "sweep_status.unknown": "time limit, no plan yet",
    "sweep_status.error": "error",
    "sweep_status.unanswered": "not answered yet",
    "sweep_reason.short.deadline": "deadline",
    "sweep_reason.short.deadline.within": "deadline",
    "sweep_reason.short.budget": "budget",
    "sweep_reason.short.budget.within": "budget",
    "sweep_reason.short.throughput": "throughput",
    "sweep_reason.short.throughput.within": "throughput",
    "sweep_reason.short.energy": "energy",
    "sweep_reason.short.energy.within": "energy",
    "sweep_reason.short.carbon": "carbon",
    "sweep_reason.short.carbon.within": "carbon",
    "sweep_reason.short.memory": "memory",
    "sweep_reason.short.layout": "no layout divides",
    "sweep_reason.short.stock": "stock",
    "sweep_reason.short.removed": "no offer is allowed",
    "sweep_reason.short.no-offer": "no offer",
    "sweep_reason.short.no-time": "time limit",
    "sweep_reason.short.none": "all limits together",
    "sweep_reason.short.dropped": "hosts, drives or failures",
    "sweep_reason.short.dropped.host": "host memory",
    "sweep_reason.short.dropped.drives": "drives of the hosts",
    "sweep_reason.short.dropped.storage_capacity": "storage",
    "sweep_reason.short.dropped.goodput": "failures",
    "sweep_reason.unknown": "time limit",
    "sweep_reason.error": "error",
}
