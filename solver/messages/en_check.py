"""The English texts of a plan held against what was measured."""

__all__ = ["CHECK"]

CHECK = {
    "headline.check.kept": (
        "As measured it ends on {finish} for {cost}: the limits of the plan are kept"
    ),
    "headline.check.missed": (
        "As measured it ends on {finish} for {cost}: {what} cannot be kept"
    ),
    "headline.check.deadline": "the deadline",
    "headline.check.budget": "the budget",
    "headline.check.both": "deadline and budget",
    "section.check.measured": "Measured against predicted",
    "section.check.forecast": "Finish and bill",
    "section.check.suspects": "Where the time may go",
    "section.check.verdict": "What to do",
    "section.check.notes": "What this rests on",
    "column.check.figure": "figure",
    "column.check.measured": "measured",
    "column.check.predicted": "predicted",
    "column.check.ratio": "ratio",
    "column.check.band": "eight of ten",
    "column.check.inside": "inside",
    "measured.step_time": "step time",
    "measured.tokens_per_s": "tokens a second",
    "measured.mfu": "MFU",
    "measured.peak_memory": "peak memory",
    "measured.checkpoint": "a checkpoint",
    "measured.data_read": "reading data",
    "measured.failures": "failures",
    "value.check.yes": "yes",
    "value.check.no": "no",
    "value.check.days": "{now:,.2f} days, {planned:,.2f} planned",
    "value.check.usd": "{now}, {planned} planned",
    "value.check.done": (
        "{steps:,} {steps:step|steps}, {share:.1%} of the time; day {day:.2f}"
    ),
    "value.check.limit": "{limit}, {state}",
    "value.check.kept": "kept",
    "value.check.missed": "not kept",
    "row.check.done": "done",
    "row.check.duration": "duration",
    "row.check.p90": "nine of ten",
    "row.check.cost": "cost",
    "row.check.rest": "still to be paid",
    "row.check.deadline": "deadline",
    "row.check.budget": "budget",
    "check.suspect.measured": (
        "{part}: {excess} a step beyond the prediction, {share:.0%} of the gap."
    ),
    "check.suspect.needed": (
        "{part} would have to be {factor:.2f} times its prediction to explain the gap "
        "alone."
    ),
    "check.suspect.unsure": (
        "Which part it is cannot be told from the step time: measure parts by a "
        "profiler and name them, such as --measured data_parallel=0.3s."
    ),
    "check.suspect.none": "No part of the step is suspect.",
    "check.cause.compute": (
        "Power or temperature caps (clocks under load), untuned kernels, another "
        "precision than planned."
    ),
    "check.cause.recompute": "Another recomputation than the plan's.",
    "check.cause.tensor_parallel": (
        "TP across nodes or over PCIe; NVLink errors; no sequence parallelism."
    ),
    "check.cause.context_parallel": "CP over a slow link, or without overlap.",
    "check.cause.expert_parallel": "Uneven experts; EP across nodes.",
    "check.cause.pipeline": (
        "Uneven stages, fewer micro-batches than planned, no interleaving."
    ),
    "check.cause.data_parallel": (
        "Overlap of gradients with the backward pass is off; the network runs at a "
        "part of its line rate (all_reduce_perf)."
    ),
    "check.cause.optimizer": "An optimizer that is not fused, or not distributed.",
    "check.cause.offload": "Slow host memory or drives; pinned memory is off.",
    "check.cause.overhead": "Launches: no CUDA graphs, slow CPU, logging every step.",
    "check.cause.generation": "Fewer concurrent responses, or longer ones.",
    "check.cause.scoring": "Longer responses than planned.",
    "check.cause.critic": "A larger critic than planned.",
    "check.cause.weight_sync": "Weights take a slow way to where they generate.",
    "check.cause.data_stall": (
        "Too few loader workers, small random reads, storage far away."
    ),
    "check.memory.fine": (
        "Memory: {measured:.1f} of {capacity:.1f} GiB, {free:.0%} free: no more than "
        "predicted."
    ),
    "check.memory.above": (
        "Memory: {measured:.1f} of {capacity:.1f} GiB is more than predicted; "
        "{free:.0%} is free, and the {headroom:.0%} asked for are kept."
    ),
    "check.memory.tight": (
        "Memory: {measured:.1f} of {capacity:.1f} GiB leaves {free:.0%} free, less "
        "than the {headroom:.0%} asked for: halve the micro-batch, recompute more, or "
        "reduce fragmentation (expandable segments) before a long sequence ends the "
        "run."
    ),
    "check.memory.beyond": (
        "Memory: {measured:.1f} GiB is more than the {capacity:.1f} GiB that are "
        "usable: was it the fullest GPU, and one of these?"
    ),
    "check.note.paces": (
        "Step time, tokens a second and MFU do not agree within 5%: {used} is used."
    ),
    "check.note.no-pace": (
        "No speed was measured (step_time, tokens_per_s or mfu): that predicted is "
        "kept."
    ),
    "check.note.failures.inside": (
        "So many failures are within chance: the plan's rate is kept."
    ),
    "check.note.failures.outside": (
        "So many failures are no chance: the measured rate is used from now on."
    ),
    "check.note.as-of": (
        "The day is taken to be {date}, by which so much is done at this speed: say "
        "--as-of."
    ),
    "check.note.done": (
        "{steps:,} steps are taken to be done by then: say --done-steps."
    ),
    "check.note.efficiency": (
        "The new plan takes {share:.1%} of the speed that the model predicts of a "
        "tuned stack, on all hardware alike: so it is where software is the cause. "
        "Where the nodes are, others do not share it; if the speed is unusual, that "
        "case is planned too."
    ),
    "check.note.change": (
        "A change stops the nodes now, pays begun units and terms of theirs, sets new "
        "ones up, and brings data and checkpoint along from where they are."
    ),
    "check.verdict.stay": "Stay.",
    "check.verdict.change": "Change: what is left gets better than on these nodes.",
    "check.verdict.needed": "Change: on these nodes the limits cannot be kept.",
    "check.verdict.cannot_tell": (
        "It depends on the cause, which is to be found first: the two cases below ask "
        "for different things."
    ),
    "check.verdict.cannot": "No way keeps the limits any more.",
    "check.stay": "On the nodes that run, what is left takes {days} and {usd}.",
    "check.change.everywhere": (
        "If the measured speed holds on all hardware: {nodes:,} × {per_node} {gpu} at "
        "{provider} in {region}, {days} and {usd}."
    ),
    "check.change.elsewhere": (
        "If it is a matter of these nodes, and new ones run as predicted: {nodes:,} × "
        "{per_node} {gpu} at {provider} in {region}, {days} and {usd}."
    ),
    "check.same": (
        "If the measured speed holds on all hardware, these nodes are the best."
    ),
    "check.none.everywhere": (
        "If the measured speed holds on all hardware, no others keep the limits."
    ),
    "check.none.elsewhere": (
        "If new nodes run as predicted, none keep the limits either."
    ),
    "check.move": "The checkpoint's move, {usd}, is in it.",
    "check.move-unknown": "The catalog knows no price of that move: it counts as $0.",
    "check.over.deadline": "The deadline has passed.",
    "check.over.budget": "The budget is spent: {spent}.",
    "check.open.deadline": (
        "With a deadline of {days} from day 0 these nodes would do."
    ),
    "check.open.budget": "With a budget of {usd} in all these nodes would do.",
    "check.open.other": (
        "Or, on other nodes: {constraint} of {needed} from now on in place of {now}."
    ),
    "check.replan.refused": "What is left cannot be asked again: {reason}.",
}
