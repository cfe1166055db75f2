"""The English texts of HTML pages alone; they show those of the terminal too."""

__all__ = ["HTML"]

HTML = {
    "html.this-plan": "this plan",
    "html.skip": "To the figures",
    "html.known": "Proved: nothing in the catalog does better",
    "html.none": "Proved: there is no plan",
    "html.unknown": "Not decided: the time limit came first",
    "html.notices": "{count} {count:thing|things} to know before you rely on this",
    "html.fact.cost": "Cost",
    "html.fact.p90": "{value} in nine of ten runs",
    "html.fact.finish": "Finish",
    "html.fact.duration": "after {duration}",
    "html.fact.duration-p90": "after {duration}; nine of ten runs within {late}",
    "html.fact.gpus": "GPUs",
    "html.fact.chain": "Phases",
    "html.fact.leases": "{leases:,} {leases:lease|leases}",
    "html.fact.mfu": "MFU",
    "html.fact.tokens": "{rate} tokens a second",
    "html.fact.memory": "Memory used",
    "html.fact.headroom": "{free} of {capacity} GiB free on the fullest GPU",
    "html.fact.proof": "Gap to the bound",
    "html.fact.candidates": "{candidates:,} candidates",
    "html.chart.cost": "Cost by part, {total} in all.",
    "html.chart.duration": "Time by part, {total} in all.",
    "html.chart.memory": "{used} of {capacity} used, {free} free.",
    "html.chart.step": "The exposed parts of one step add up to {total}.",
    "html.chart.step-interval": (
        "The exposed parts of one step add up to {total}; eight of ten measured steps "
        "would take {interval}."
    ),
    "html.route": "From here to there",
    "html.fact.start": "Day 0",
    "html.free": "free",
    "html.data": "Data of this chart",
    "html.more": "{count:,} more {count:row|rows}",
    "html.drawn": "The layout, drawn",
    "html.drawn.text": (
        "{gpus:,} {gpus:GPU|GPUs} on {nodes:,} {nodes:node|nodes}: TP {tp} × CP {cp} × "
        "DP {dp:,} × PP {pp}. Ranks count from the inside out: TP, CP, DP, PP."
    ),
    "html.stage": "Stage {stage} of {stages} · {layers} {layers:layer|layers}",
    "html.stages": "Stages {first} to {last} of {stages}",
    "html.whole-model": "All {layers} {layers:layer|layers}",
    "html.node": "Node {number:,}",
    "html.more-nodes": "{count:,} more {count:node|nodes} alike",
    "html.more-stages": "{count:,} more {count:stage|stages} between them",
    "html.rollout": "Rollout nodes: they generate only",
    "html.spare": "Spare nodes: they take the place of one that fails",
    "html.legend.stage": "A colour is a stage of the pipeline, D a data-parallel rank.",
    "html.legend.one-stage": "Every GPU has all layers; D is its data-parallel rank.",
    "html.legend.tp": (
        "GPUs in one frame share each layer (TP {tp}); T is the rank in it."
    ),
    "html.legend.cp": "C is the part of the sequence (CP {cp}).",
    "html.legend.ep": (
        "E is the part of the experts: {ep} of them in turn hold all experts (EP {ep})."
    ),
    "html.legend.virtual": (
        "Each stage holds {chunks} separate chunks of its layers (interleaved)."
    ),
    "html.frontier": "Cost and time: what else is possible",
    "html.frontier.text": (
        "{points:,} {points:plan|plans} that no other betters in both cost and time, "
        "within the same constraints; proved."
    ),
    "html.frontier.open": (
        "{points:,} {points:plan|plans} of the trade-off of cost and time; the time "
        "for it ran out, so that better ones may exist."
    ),
    "html.regions": "The same GPU elsewhere",
    "html.regions.text": (
        "The same question asked for {gpu} in one region at a time: {planned:,} of "
        "{rows:,} {rows:region has|regions have} a plan."
    ),
    "html.regions.unplaced": (
        "{count:,} {count:region is|regions are} not on the map: the place is not "
        "known."
    ),
    "html.map": "On the map",
    "html.map.text": "{planned:,} of {rows:,} {rows:region has|regions have} a plan.",
    "html.map.land": "Land: Natural Earth, simplified; places: GeoNames.",
    "html.map.best": "best",
    "html.map.plan": "with a plan",
    "html.map.none": "without one",
    "html.column.region": "region",
    "html.column.place": "place",
    "html.column.price": "USD a GPU-hour",
    "html.column.stock": "stock",
    "html.column.result": "result",
    "html.compare.text": "The best {count:,}, the best one first.",
    "html.fact.points": "Points with a plan",
    "html.sweep.heatmap": "The best of each pair of values",
    "html.sweep.lines": "Along the first axis",
    "html.sweep.tornado": "What moves the figure most",
    "html.timeline": "Phases and leases over time",
    "html.timeline.text": "{phases:,} phases on {leases:,} {leases:lease|leases}.",
    "html.timeline.lease": "Lease {number}: {nodes:,} {nodes:node|nodes}",
    "html.days": "{start} to {end} days",
    "html.phase": "Phase: {name}",
    "html.assumed": "Assumptions made for you",
    "html.asked": "What was asked",
    "html.footer": "Made on {day} for prices and stock of that day's catalog {digest}.",
    "html.no-network": "This page loads nothing from elsewhere.",
}
"""Message id to format string."""
