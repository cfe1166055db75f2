"""The English texts of comparisons, frontiers and alternatives."""

__all__ = ["QUESTIONS"]

QUESTIONS = {
    "headline.compare": (
        "Best {dimension}: {value} with {what}, {cost}, {duration} – {planned:,} of "
        "{rows:,} {planned:has|have} a plan, each proved optimal"
    ),
    "headline.compare.open": (
        "Best {dimension} found: {value} with {what}, {cost}, {duration} – {planned:,} "
        "of {rows:,} {planned:has|have} a plan; the time limit came before all were "
        "proved"
    ),
    "headline.compare.none": "No {dimension} has a plan",
    "dimension.region": "region",
    "dimension.country": "country",
    "dimension.provider": "provider",
    "dimension.gpu": "GPU",
    "dimension.purchase": "purchase kind",
    "dimension.network": "network",
    "dimension.method": "method",
    "section.compare": "The best plan of each",
    "section.differences": "What makes the difference to the best",
    "section.without_plan": "Without a plan",
    "column.cost": "cost",
    "column.to_best": "to the best",
    "column.finish": "finish",
    "column.servers": "servers",
    "column.layout": "layout",
    "column.stock": "of the stock",
    "column.usd_more": "costs",
    "column.days_more": "takes",
    "column.causes": "by cause, added up",
    "column.why_not": "why",
    "value.best": "best",
    "value.finish": "{days}, {day}",
    "value.finish.narrow": "{days}\n{day}",
    "value.stock_used.known": "{nodes:,} of {stock:,} {stock:node|nodes}",
    "value.stock_used.assumed": "{nodes:,} of {stock:,} {stock:node|nodes} (?)",
    "value.same": "same",
    "value.no_difference": "none",
    "cause.price": "price of a GPU-hour",
    "cause.computing": "computing",
    "cause.communication": "communication",
    "cause.checkpoints": "checkpoints",
    "cause.failures": "failures",
    "cause.data_stall": "waiting for data",
    "cause.evaluation": "evaluation",
    "cause.setup": "set-up",
    "cause.queue": "queue",
    "cause.delivery": "wait for nodes",
    "cause.spares": "spare nodes",
    "cause.replacement": "waiting for replacements",
    "cause.unused": "paid, not used",
    "cause.transfer": "copying data",
    "cause.serving": "copying weights",
    "cause.storage": "storage",
    "cause.egress": "moving the data",
    "cause.other": "other",
    "note.compare.limited": (
        "{count:,} more {count:has|have} a plan; --csv and --json have all."
    ),
    "note.compare.left-out": (
        "{count:,} more {count:value has|values have} offers, but none that the "
        "scenario allows: --all shows them, and why."
    ),
    "note.compare.forbidden": (
        "Values with (!) are not allowed by the scenario; shown is the plan if they "
        "were."
    ),
    "note.compare.stock": (
        "Where (?) stands the offer says nothing of stock: so many nodes are assumed "
        "(stock.unknown_nodes)."
    ),
    "note.compare.spot": (
        "Spot servers are taken back: interruptions are in the expected time and cost."
    ),
    "note.compare.method": (
        "The methods train different weights: the same tokens are not the same result."
    ),
    "headline.pareto": (
        "{points:,} {points:plan|plans} that no other betters in all that counts, "
        "proved: from {cost} in {duration} to {fast_duration} for {fast_cost}"
    ),
    "headline.pareto.open": (
        "{points:,} {points:plan|plans} found in the time limit, which others may "
        "better: from {cost} in {duration} to {fast_duration} for {fast_cost}"
    ),
    "section.pareto": "The frontier, cheapest first",
    "column.finish_in": "done in",
    "column.day_saved": "a day saved",
    "column.memory_headroom": "memory free",
    "column.carbon": "CO2",
    "column.knee": "",
    "value.mwh": "{mwh} MWh",
    "value.tonnes": "{tonnes} t",
    "column.place": "place",
    "value.knee": "knee",
    "plot.pareto": "{scenario}: cost and time",
    "plot.with-unit": "{title}, {unit}",
    "plot.days": "days until done",
    "plot.dollars": "USD",
    "plot.memory_headroom": "memory free on the fullest GPU, %",
    "plot.carbon": "CO2, tonnes",
    "plot.knee": "knee: {cost}, {duration}",
    "plot.deadline": "deadline",
    "plot.budget": "budget",
    "note.pareto.thinned": (
        "{shown:,} of {points:,} points are shown, spread evenly, with both ends and "
        "the knee; --csv and --json have all, --points N shows more."
    ),
    "note.pareto.saved": (
        "A day saved: what a plan costs more than the one above, for each day that it "
        "ends sooner."
    ),
    "note.pareto.knee": (
        "The knee is the best compromise: with each figure scaled to 0 at its best and "
        "1 at its worst on the frontier, the point with the least sum."
    ),
    "note.pareto.carbon": (
        "CO2 is an estimate from the power of nodes and the average of the grid; "
        "offers whose grid is not known are left out."
    ),
    "note.pareto.stock": (
        "Stock is assumed where offers say nothing of it (stock.unknown_nodes), and "
        "decides how far the frontier reaches."
    ),
    "section.choices": "What else would do",
    "column.gains": "gains",
    "column.loses": "loses",
    "value.nothing": "nothing",
    "alternative.network": "other network",
    "objective.cost": "cost",
    "objective.time": "time",
    "objective.carbon": "CO2",
    "objective.energy": "energy",
    "objective.weighted": "the weighted sum",
    "change.with-share": "{told} ({share})",
    "change.cost_usd.more": "{figure} dearer",
    "change.cost_usd.less": "{figure} cheaper",
    "change.duration_days.more": "{figure} later",
    "change.duration_days.less": "{figure} sooner",
    "change.gpus.more": "{figure:,} more {figure:GPU|GPUs}",
    "change.gpus.less": "{figure:,} fewer {figure:GPU|GPUs}",
    "change.memory_headroom.more": "{figure} points more memory free",
    "change.memory_headroom.less": "{figure} points less memory free",
    "change.stock_left_nodes.more": "{figure:,} more {figure:node|nodes} left in stock",
    "change.stock_left_nodes.less": (
        "{figure:,} fewer {figure:node|nodes} left in stock"
    ),
    "change.interruptions_per_month.more": "{figure} interruptions more a month",
    "change.interruptions_per_month.less": "{figure} interruptions fewer a month",
    "change.carbon_t.more": "{figure} t more CO2",
    "change.carbon_t.less": "{figure} t less CO2",
    "note.choices.within": (
        "Shown are plans that take at most {within} more of the objective, the best of "
        "each kind; all keep the constraints of the scenario."
    ),
    "note.choices.none": (
        "With {kind} there is no plan within the constraints; 'compare --by "
        "{dimension}' says why."
    ),
    "note.choices.not-free": (
        "With {kind} nothing is that near: only the best plan takes nothing."
    ),
    "note.choices.nearest": (
        "With {kind} nothing is that near: the nearest takes {more} more ({what})."
    ),
    "note.choices.no-time": (
        "The time limit came before it was known how far other kinds are."
    ),
    "note.choices.stock": (
        "What is left in stock is assumed where offers say nothing of it "
        "(stock.unknown_nodes)."
    ),
    "short.no-offer": "nothing in the catalog",
    "short.removed": (
        "{count:its only offer breaks|{count:,} of its offers break}: {title}"
    ),
    "short.layout": "no layout divides as asked",
    "short.memory": (
        "does not fit in memory: {need:.1f} GiB needed, {usable:.1f} GiB may be used, "
        "on {gpu}"
    ),
    "short.deadline": "soonest {needed} instead of {now}",
    "short.budget": "cheapest {needed} instead of {now}",
    "short.throughput": "fastest {needed} tokens/s instead of {now}",
    "short.energy": "least {needed} instead of {now}",
    "short.carbon": "least CO2 {needed} instead of {now}",
    "short.energy.within": "within the other limits the least is {needed}, not {now}",
    "short.carbon.within": (
        "within the other limits the least CO2 is {needed}, not {now}"
    ),
    "short.deadline.within": (
        "within the other limits the soonest is {needed}, not {now}"
    ),
    "short.budget.within": (
        "within the other limits the cheapest is {needed}, not {now}"
    ),
    "short.throughput.within": (
        "within the other limits the fastest does {needed} tokens/s, not {now}"
    ),
    "short.stock": (
        "the deadline takes {nodes:,} {nodes:node|nodes} of {gpu} at least, "
        "{stock:,} {stock:is|are} to be had"
    ),
    "short.dropped": "nothing meets: {title}",
    "short.dropped.host": "no host has the memory that its GPUs need",
    "short.dropped.storage_capacity": "no storage holds the data and two checkpoints",
    "short.dropped.goodput": "failures come so often that no run would end",
    "short.none": "no candidate keeps all limits",
    "short.no-time": "the time limit came first",
}
