"""The English texts of the way from a plan to a finished run."""

__all__ = ["ROUTE"]

ROUTE = {
    "headline.route": (
        "From {day} to {finish}: {steps} {steps:step|steps}, {duration}, nine of ten "
        "runs by {late}"
    ),
    "section.route.milestones": "Dates to look at",
    "section.route.order": "Order",
    "section.route.stage": "Bring the data",
    "section.route.queue": "Wait in the queue",
    "section.route.setup": "Set up and check",
    "section.route.first_hour": "Measure the first hour",
    "section.route.run": "Run",
    "section.route.serve": "Move the weights",
    "section.route.move": "Move the checkpoint",
    "section.route.release": "Release the nodes",
    "column.route.date": "date",
    "column.route.day": "day",
    "column.route.what": "what",
    "column.route.steps": "steps",
    "column.route.tokens": "tokens",
    "milestone.start": "training starts",
    "milestone.ramp_end": "the batch has its full size",
    "milestone.progress": "{share:.0%} of the tokens",
    "milestone.end": "all tokens",
    "milestone.finish": "expected finish",
    "milestone.finish_p90": "finish that nine of ten runs keep",
    "milestone.deadline": "deadline",
    "milestone.of-phase": "{phase}: {what}",
    "value.route.when": "{date}, day {day:.1f}",
    "value.route.span": "{start} to {end}, days {first:.1f} to {last:.1f}",
    "value.route.of-phases": "{phases}: {when}",
    "route.order.rent": (
        "Order {nodes:,} {nodes:node|nodes} of {per_node} {gpu}, {gpus:,} "
        "{gpus:GPU|GPUs} in all, from {provider} in {region}, at {price} a GPU-hour."
    ),
    "route.order.buy": (
        "Buy {nodes:,} {nodes:node|nodes} of {per_node} {gpu}, {gpus:,} "
        "{gpus:GPU|GPUs} in all."
    ),
    "route.order.use": (
        "Set {nodes:,} {nodes:node|nodes} of {per_node} {gpu}, {gpus:,} "
        "{gpus:GPU|GPUs} in all, of {provider} in {region} aside."
    ),
    "route.spares": "Of these {spares} {spares:is a spare node|are spare nodes}.",
    "route.mix": "Of these {nodes:,} {purchase} from {offer}.",
    "route.quota": (
        "Have the account's quota raised to {nodes:,} {nodes:node|nodes}: {gpus:,} "
        "{gpus:GPU|GPUs}, vCPUs: {vcpus}."
    ),
    "route.quota-stated": (
        "The quota that the scenario states allows {nodes:,} {nodes:node|nodes}."
    ),
    "route.stock.known": "In stock: {nodes:,} {nodes:node|nodes}, as the offer says.",
    "route.stock.assumed": (
        "The offer says nothing of its stock; {nodes:,} "
        "{nodes:node is|nodes are} assumed. Have the number confirmed before "
        "anything else."
    ),
    "route.lead-time": "Nodes are there {days} {days:day|days} after the order.",
    "route.term": "At least {days:,.1f} days of each node are paid.",
    "route.ask.on_demand": (
        "Ask whether all nodes can be had at once and held for the whole run; if not, "
        "what a reservation of that length costs."
    ),
    "route.ask.spot": (
        "Ask how often such nodes are taken back and with how much warning; the plan "
        "expects the interruptions that it counts."
    ),
    "route.ask.reserved": (
        "Have term, start, price and what happens to failed nodes put into the "
        "contract."
    ),
    "route.ask.monthly": (
        "Have the start of the first month and the notice to be given put into the "
        "contract."
    ),
    "route.ask.owned": "Have the nodes blocked in the cluster's scheduler.",
    "route.ask.bought": (
        "Have the day of delivery, power and cooling of the hall, and the repair times "
        "put into the contracts."
    ),
    "route.ask.fabric": (
        "Ask for all {nodes:,} {nodes:node|nodes} on one fabric ({network}), close to "
        "each other."
    ),
    "route.stage.moved": (
        "Copy {size} from {origin} to {storage} in {region}: {time}, {price} of "
        "egress and reading."
    ),
    "route.stage.there": "The data ({size}) is in {region}: put it on {storage}.",
    "route.stage.unstated": (
        "Bring {size} to {storage} in {region} before the run. Where it comes from is "
        "not stated: neither time nor price of the copy is in the plan."
    ),
    "route.stage.assumed": (
        "The size is assumed: {bytes:g} bytes for each token. Measure it."
    ),
    "route.stage.rate": "The rate is assumed: {rate} between regions.",
    "route.stage.unpriced": "The catalog knows no price of this copy: it counts as $0.",
    "route.stage.residency": "The data may lie in {codes} alone: check every copy.",
    "route.stage.local": "It lies on the nodes' own drives and is gone with them.",
    "route.queue": "{hours:g} hours in the queue are expected.",
    "route.setup.nccl": (
        "all_reduce_perf of nccl-tests over all {gpus:,} {gpus:GPU|GPUs}: the plan "
        "counts on {rate:,.0f} GB/s of bus bandwidth for large messages."
    ),
    "route.setup.nic": (
        "Every node has {gbps:,.0f} Gb/s of network; test all of them, a single slow "
        "link slows every step."
    ),
    "route.setup.ram": (
        "Host memory: {needed:,.0f} GB are needed of each node, {have:,.0f} GB are "
        "promised."
    ),
    "route.setup.ram-unknown": (
        "Host memory: {needed:,.0f} GB are needed of each node; what it has is not "
        "known."
    ),
    "route.setup.drives": (
        "Own drives: {needed:,.0f} GB are needed of each node for what is offloaded."
    ),
    "route.setup.cores": "Data loading needs {cores:,.1f} cores of each node.",
    "route.setup.read": (
        "Storage {tier}: {needed}/s have to be read; the plan counts on {have}/s."
    ),
    "route.setup.dry-run": (
        "Run 20 steps of {framework} with the plan's layout, write a checkpoint, stop, "
        "and start again from it."
    ),
    "route.measure.step": (
        "Step time, median of 100 steps after the first 20: {step} predicted, eight of "
        "ten such runs between {low} and {high}."
    ),
    "route.measure.tokens": (
        "Tokens a second: {rate} predicted, usually {low} to {high}."
    ),
    "route.measure.mfu": "MFU: {mfu:.1%} predicted, of the job's dense peak.",
    "route.measure.memory": (
        "Peak memory of a GPU, the fullest: {total:.1f} GiB predicted; up to "
        "{limit:.1f} of {capacity:.1f} GiB the headroom is kept."
    ),
    "route.measure.checkpoint": (
        "Writing a checkpoint: {time} of standstill predicted."
    ),
    "route.measure.data": "Waiting for data: the part of a step that the loader takes.",
    "route.measure.stop": (
        "Stop and plan again if the median step lies outside {low} to {high}, memory "
        "has no headroom, or a loss is no number."
    ),
    "route.measure.command": "With what was measured in place: {command}",
    "route.run.checkpoints": (
        "Write a checkpoint of {size} to {tier} every {interval}, {steps:,} "
        "{steps:step|steps}: {count:,} in all; keep the last {kept}."
    ),
    "route.run.checkpoint-end": (
        "Only the end of the run is saved, {size}: a failure starts it anew."
    ),
    "route.run.failures": (
        "Failures expected: {failures}. They take {lost:.1%} of the run."
    ),
    "route.run.spares": (
        "Keep {spares} spare {spares:node|nodes} ready, set up as the others."
    ),
    "route.run.no-spares": "There is no spare node: have a failed one replaced.",
    "route.run.goodput": "Goodput is to stay at {goodput:.1%} of the time paid for.",
    "route.run.evaluation": "Evaluations take {share:.1%} of training: {time} in all.",
    "route.run.no-evaluation": (
        "No time is planned for evaluations: run them elsewhere, on checkpoints."
    ),
    "route.serve.none": (
        "The weights are {size} in 16 bits; no region that serves them is stated."
    ),
    "route.serve.copy": "Copy the weights, {size}, to {region}: {time}, {price}.",
    "route.serve.unpriced": (
        "Copy the weights, {size}, to {region}: {time}; the catalog knows no price."
    ),
    "route.serve.here": "The weights serve in {region}, where they are.",
    "route.move": (
        "After {after}, move its checkpoint ({size}) from {origin} to {region}: "
        "{time}, {price}."
    ),
    "route.move.unpriced": (
        "After {after}, move its checkpoint ({size}) from {origin} to {region}: "
        "{time}; the catalog knows no price."
    ),
    "route.release.give-back": (
        "Give {nodes:,} {nodes:node|nodes} back, and see in the bill that they are."
    ),
    "route.release.bought": (
        "{nodes:,} bought {nodes:node|nodes} are free for other work."
    ),
    "route.release.kept": (
        "Data and checkpoints on {tier} cost {month} a month if kept; the last "
        "checkpoint alone ({size}) {checkpoint}."
    ),
    "route.release.local": (
        "The last checkpoint ({size}) lies on the nodes' own drives: copy it away "
        "first, for it goes with them."
    ),
    "route.release.unused": (
        "{usd} of the rent is for time beyond the expected finish: other work can use "
        "it."
    ),
}
