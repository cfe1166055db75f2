"""The English texts about phases that run one after the other."""

__all__ = ["PHASES"]

PHASES = {
    "headline.phases": (
        "Run {phases} {phases:phase|phases} on {leases} {leases:lease|leases}: {cost}, "
        "{duration}"
    ),
    "section.phases": "Phases, one after the other",
    "section.leases": "Leases, each billed once",
    "section.moves": "Moves between regions",
    "column.phase": "phase",
    "column.servers": "servers",
    "column.place": "place",
    "column.days": "days",
    "column.parallel": "parallel",
    "column.step": "step",
    "column.lease": "phases",
    "column.storage": "storage",
    "column.paid": "paid hours",
    "column.waited": "wait",
    "column.cost": "cost",
    "column.after": "after",
    "column.from": "from",
    "column.to": "to",
    "column.checkpoint": "checkpoint",
    "column.price": "price",
    "column.time": "time",
    "value.days": "{start:.1f}–{end:.1f}",
    "part.moves": "moving checkpoints",
    "part.data": "bringing data",
    "why.phase": (
        "Phase {phase} has no plan by itself, without deadline and budget: {why}"
    ),
    "why.phases": "Each phase has plans by itself, but no chain keeps all limits.",
    "why.phases.deadline": (
        "With all else as it is, the soonest is {needed} instead of {now}."
    ),
    "why.phases.budget": (
        "With all else as it is, the least is {needed} instead of {now}."
    ),
    "why.phases.neither": (
        "Neither the deadline nor the budget alone opens a plan: the soonest chain "
        "takes {soonest} and costs {soonest_cost}, the cheapest costs {cheapest} and "
        "takes {cheapest_days}."
    ),
    "relax.phase": "no such limit",
    "phases.moves": (
        "Checkpoints are taken to move between regions at {gbps:,.4g} Gb/s; neither "
        "nodes nor storage are paid for meanwhile. Within a region reading them is "
        "part of the set-up. Training data is copied from day 0 on, without nodes."
    ),
    "phases.price-unknown": (
        "The catalog knows no price for moving a checkpoint from {origin} to "
        "{destination}: it counts as $0."
    ),
    "phases.confidence": (
        "At {confidence:.0%} confidence the error of the model is taken to be the same "
        "in all phases. Failures are independent within a lease; the late finishes of "
        "leases add up, which is on the safe side."
    ),
    "phases.data": (
        "Each phase reads data of its own, {size} in all, sized by its tokens; say "
        "data.size if all read one data set."
    ),
}
