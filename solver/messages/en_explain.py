"""The English texts of ``gpuplan explain``: what binds, what a step gains, prices."""

__all__ = ["EXPLAIN"]

EXPLAIN = {
    "section.binding": "What holds this plan back, each left out alone",
    "section.steps": "One step more, each alone",
    "section.free": "What does not hold it back",
    "section.break-even": "Prices at which other offers would win",
    "section.joint": "What would open a plan together, as nothing does alone",
    "column.saves": "saves",
    "column.saves_days": "days",
    "column.saves_energy_mwh": "MWh",
    "column.saves_carbon_t": "t CO2",
    "column.becomes": "the plan then",
    "column.offer": "offer",
    "column.price": "$/GPU-h",
    "column.wins-below": "wins below",
    "column.change": "change",
    "value.and": "and {what}",
    "row.free": "no gain without",
    "section.more": "And more",
    "value.size-and-time": "{gpus:,} {gpus:GPU|GPUs}, {duration}",
    "value.others-lose": (
        "{count:,} more {count:offer|offers} in the JSON object (--json)"
    ),
    "explain.none": "none",
    "explain.more-nodes": "{nodes:,} more in each pool",
    "explain.headroom": "{share:.0%} of the card left free",
    "explain.confidence": "{share:.0%} sure",
    "explain.nothing-binds": (
        "No requirement holds this plan back: none of them, left out alone, makes it "
        "better."
    ),
    "explain.no-time": (
        "There was no time for some of the reasons: raise --time-limit, or let it end."
    ),
    "explain.no-proof": (
        "The plan is not proved best in the time limit, so that what would gain is not "
        "known: raise --time-limit."
    ),
}
