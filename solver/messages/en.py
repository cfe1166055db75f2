"""The English texts; `solver.messages` says how they are used."""

from solver.messages.en_accuracy import ACCURACY
from solver.messages.en_adapters import ADAPTERS
from solver.messages.en_alignment import ALIGNMENT
from solver.messages.en_cards import CARDS
from solver.messages.en_catalog import CATALOG
from solver.messages.en_check import CHECK
from solver.messages.en_data import DATA
from solver.messages.en_explain import EXPLAIN
from solver.messages.en_exporting import EXPORTING
from solver.messages.en_geography import GEOGRAPHY
from solver.messages.en_html import HTML
from solver.messages.en_import import IMPORTING
from solver.messages.en_labels import LABELS
from solver.messages.en_launching import LAUNCHING
from solver.messages.en_offload import OFFLOAD
from solver.messages.en_phases import PHASES
from solver.messages.en_plan_file import PLAN_FILE
from solver.messages.en_purchase import PURCHASE
from solver.messages.en_questions import QUESTIONS
from solver.messages.en_route import ROUTE
from solver.messages.en_supply import SUPPLY
from solver.messages.en_sweeps import SWEEPS

__all__ = ["MESSAGES"]

_HEADLINES = {
    "headline.rent": "Rent {what} at {where}: {cost}, {duration}",
    "headline.use": "Use {what} of {where}: {cost}, {duration}",
    "headline.known": "{decision} – {known}",
    "headline.why": "{decision}: {why}",
    "headline.optimal.cost": "cheapest, proved optimal",
    "headline.optimal.time": "fastest, proved optimal",
    "headline.optimal.weighted": "best trade of cost and time, proved optimal",
    "headline.feasible": "best found in the time limit, not proved: gap {gap}",
    "headline.feasible.no-bound": "best found in the time limit, not proved",
    "headline.infeasible": "No plan fulfils this scenario (proved)",
    "headline.unknown": "No plan found within the time limit; one may still exist",
    "headline.scenarios": (
        "Solve one by its name: 'gpuplan solve quickstart-7b'; 'gpuplan scenarios "
        "copy' gives you the file to change"
    ),
    "headline.estimate.fits": "fits in memory; {step} a step, {training} of training",
    "headline.estimate.tight": (
        "fits only within the headroom; {step} a step, {training} of training"
    ),
    "headline.estimate.impossible": "does not fit in memory",
}

_SECTIONS = {
    "section.hardware": "Hardware and place",
    "section.layout": "Layout",
    "section.memory": "Memory per GPU, fullest stage",
    "section.step": "One step",
    "section.duration": "Duration",
    "section.cost": "Cost",
    "section.host": "Host of a node",
    "section.proof": "Proof",
    "section.alternatives": "Runners-up, and what each would change",
    "section.warnings": "Warnings",
    "section.notes": "Notes",
    "section.provenance": "Where the figures come from",
    "section.explanation": "Why there is no plan",
    "section.scenarios": "Shipped scenarios",
    "section.try": "To try one, add",
    "section.relaxations": "What would open a plan, each alone",
    "section.levers": "What would need less memory on the same nodes",
    "section.nearest": "The nearest miss",
    "section.counts": "Offers that each requirement removes",
}

_ROWS = {
    "row.servers": "servers",
    "row.place": "place",
    "row.price": "price",
    "row.intra_node": "inside a node",
    "row.network": "between nodes",
    "row.storage": "storage",
    "row.parallel": "parallel",
    "row.layers": "layers a stage",
    "row.batch": "batch",
    "row.sharding": "sharding",
    "row.recompute": "recompute",
    "row.numerics": "numerics",
    "row.framework": "framework",
    "row.total": "total",
    "row.usable": "usable",
    "row.steps": "steps",
    "row.throughput": "throughput",
    "row.interval": "80% interval",
    "row.mfu": "MFU",
    "row.efficiency": "of predicted speed",
    "row.p90": "90th percentile",
    "row.confidence": "at {confidence:.0%} confidence",
    "row.checkpoint": "a checkpoint",
    "row.checkpoint_interval": "written every",
    "row.goodput": "goodput",
    "row.gpu_hours": "GPU-hours",
    "row.host.vcpus": "vCPUs",
    "row.host.ram_gb": "RAM",
    "row.host.local_nvme_tb": "local NVMe",
    "row.host.nic_gbps": "NICs",
    "row.status": "status",
    "row.bound": "bound",
    "row.searched": "searched",
    "row.layouts": "layouts",
    "row.lattice": "lattice",
    "row.ties": "ties",
    "row.wall_time": "time taken",
    "row.kind": "kind",
    "row.conflict": "in conflict",
    "row.training": "training",
    "row.versions": "versions",
}

_VALUES = {
    "value.node": "{per_node} {gpu}",
    "value.nodes": "{nodes:,} × {per_node} {gpu}",
    "value.servers.one": "{what}, one node, {purchase}",
    "value.servers": "{what} = {gpus:,} {gpus:GPU|GPUs}, {purchase}",
    "value.place": "{provider}, {region}",
    "value.place.country": "{provider}, {region} ({country})",
    "value.where": "{provider} in {region}",
    "value.where.unstated": "{provider}",
    "value.price": "{gpu_hour} a GPU-hour, {node_hour} a node-hour",
    "value.price.hour": ("{gpu_hour} a GPU-hour, {node_hour} a node-hour, whole hours"),
    "value.price.month": (
        "{node_month} a node-month, whole months; {gpu_hour} a GPU-hour"
    ),
    "value.price.free": "none: the servers are owned",
    "value.network.none": "none: one node",
    "value.storage.none": "the nodes' own NVMe, free",
    "value.interval": "{low}–{high} {unit}",
    "value.virtual": "{virtual_stages} virtual {virtual_stages:stage|stages}",
    "value.batch": (
        "{global_batch:,} {global_batch:sequence|sequences} = DP {dp} × "
        "micro-batch {micro_batch} × accumulation {accumulation}"
    ),
    "value.zero": "ZeRO-{stage} over {degree:,} {degree:GPU|GPUs}",
    "value.zero.none": "none (ZeRO-0)",
    "value.sequence_parallel": "sequence parallel",
    "value.numerics": "{precision}, {optimizer}",
    "value.ram": "{have}, {needed} needed",
    "value.opens": "{cost}, {duration}, {gpus:,} {gpus:GPU|GPUs}",
    "value.region.unstated": "region not stated",
    "value.divides": "{why}; nearest: {nearest}",
    "value.yes": "yes",
    "value.no": "no",
    "value.unknown": "not known",
    "value.bound": "{bound} (gap {gap})",
    "value.searched": (
        "{candidates:,} {candidates:candidate|candidates}, {pruned:,} of them pruned "
        "exactly"
    ),
    "value.layouts": (
        "{layouts:,}; {memory:,} {memory:does|do} not fit in memory, {bounded:,} ruled "
        "out by a bound"
    ),
    "value.ties": (
        "{count:,} {count:candidate|candidates} within the prediction error of the best"
    ),
    "value.alternative": "{what}, {place}, {purchase}",
    "value.alternative.place": "{provider} {region}",
    "value.alternative.batch": "{plan}, batch {batch:,}",
}

_PARTS = {
    "part.weights": "weights",
    "part.gradients": "gradients",
    "part.optimizer": "optimizer",
    "part.activations": "activations",
    "part.other": "other",
    "part.compute": "compute",
    "part.recompute": "recompute",
    "part.tensor_parallel": "tensor parallel",
    "part.context_parallel": "context parallel",
    "part.expert_parallel": "expert parallel",
    "part.pipeline": "pipeline bubble",
    "part.data_parallel": "data parallel",
    "part.overhead": "overhead",
    "part.training": "training",
    "part.failures": "failures, restarts",
    "part.checkpoints": "checkpoints",
    "part.checkpoint": "checkpoint",
    "part.data_stall": "data stall",
    "part.setup": "set-up",
    "part.queue": "queue",
    "part.evaluation": "evaluation",
    "part.storage": "storage",
    "part.egress": "egress",
}

_KINDS = {
    "purchase.on_demand": "on demand",
    "purchase.spot": "spot",
    "purchase.reserved": "reserved",
    "purchase.monthly": "monthly",
    "purchase.owned": "owned",
    "status.optimal": "proved optimal over the lattice below and this model",
    "status.feasible": "a plan, verified, but not proved optimal",
    "status.infeasible": "proved infeasible over the lattice below and this model",
    "status.unknown": "the time limit came first",
    "explanation.memory": "memory: no layout fits in the card",
    "explanation.layout": "layout: nothing divides as asked",
    "explanation.catalog": "catalog: nothing on offer matches",
    "explanation.constraints": "constraints: no candidate keeps all of them",
    "alternative.gpu": "other GPU",
    "alternative.provider": "other provider",
    "alternative.region": "other region",
    "alternative.purchase": "other purchase",
    "alternative.size": "other size",
    "alternative.batch": "other batch, not as asked",
}

_COLUMNS = {
    "column.kind": "kind",
    "column.plan": "plan",
    "column.cost_change": "cost",
    "column.duration_change": "days",
    "column.constraint": "constraint",
    "column.now": "now",
    "column.needed": "needed",
    "column.scenario": "scenario",
    "column.question": "question",
    "column.opens": "then possible",
    "column.change": "change",
    "column.need": "GiB needed",
    "column.fits": "fits",
    "column.requirement": "requirement",
    "column.removed": "removed",
}

_NOTICES = {
    "notice.batch.default": (
        "No global batch is stated: {sequences:,} "
        "{sequences:sequence is|sequences are} assumed."
    ),
    "notice.batch.open": (
        "No upper limit of the global batch is stated: up to {sequences:,} sequences "
        "are searched."
    ),
    "notice.batch.rounded": (
        "A global batch of {tokens:,.0f} tokens is {exact:,.2f} sequences of "
        "{sequence_length:,}: rounded to {sequences:,} {sequences:sequence|sequences}, "
        "{taken:,} tokens."
    ),
    "notice.batch.rounded-badly": (
        "A global batch of {tokens:,.0f} tokens is {exact:,.2f} sequences of "
        "{sequence_length:,}: rounded to {sequences:,} sequences, {taken:,} tokens. "
        "{sequences:,} divides badly among GPUs; {nearest:,} sequences, "
        "{nearest_tokens:,} tokens, divide well, and 'tolerance: 5%' leaves the choice "
        "to gpuplan."
    ),
    "notice.sequence.default": (
        "No sequence length is stated: {sequence_length:,} tokens are assumed."
    ),
    "notice.sequence.too-long": (
        "Sequences of {sequence_length:,} tokens are longer than the {max_seq:,} "
        "positions of the model."
    ),
    "notice.purchase.own": (
        "No purchase kind is stated: on demand, and what the offers of your own are "
        "({kinds})."
    ),
    "notice.offer.network": (
        "Offer {offer}: {gbps:,.0f} Gb/s a node of {kind} is taken as the tier {tier}."
    ),
    "notice.offer.one-node": (
        "Offer {offer}: no network between its {nodes:,} nodes is stated, so a job "
        "uses one node."
    ),
    "notice.price.unused": (
        "Price rule {number} ({rule}) matches no offer and changes nothing."
    ),
}

_WARNINGS = {
    "warning.stock-assumed": (
        "Stock is not known: the plan takes {nodes:,} {nodes:node|nodes}, and "
        "{assumed:,} {assumed:is|are} assumed to be there (stock.unknown_nodes). Ask "
        "the provider."
    ),
    "warning.stock-marketplace": (
        "Stock is not known: a marketplace's quote counts as one node."
    ),
    "warning.stock-no-fabric": (
        "Nothing is known of a network between nodes of this offer, so it counts as "
        "one node."
    ),
    "warning.spot": (
        "Spot prices move and servers are taken back: this price is of {as_of}; "
        "{monthly:g} interruptions a node and month are in the duration."
    ),
    "warning.spot-moment": (
        "Spot prices move and servers are taken back: this price was the lowest of the "
        "region's zones at one moment ({as_of}), so expect more; {monthly:g} "
        "interruptions a node and month are in the duration."
    ),
    "warning.whole-units": (
        "Whole {unit}s are paid: {expected:,} (${usd:,}) if it runs as expected, "
        "{late:,} (${late_usd:,}) at the 90th percentile. The cost is the mean of what "
        "may come."
    ),
    "warning.price-outlier": (
        "The price of ${price:.2f} a GPU-hour is far below the ${peers:.2f} that "
        "others ask for this card: make sure of it."
    ),
    "warning.local-drives": (
        "Checkpoints lie on the nodes' own drives ({tier}): copy them elsewhere, or a "
        "lost node takes the run with it."
    ),
    "warning.few-steps": (
        "There {steps:is|are} only {steps:,} optimizer {steps:step|steps}: the batch "
        "is very large for so few tokens."
    ),
    "warning.price-estimate": "The price is an estimate ({source}): ask for a quote.",
    "warning.price-age": (
        "The price of {what} is of {as_of}, {days:,} days old at least: look up "
        "today's."
    ),
    "priced.servers": "the servers",
    "priced.storage": "the storage",
    "priced.egress": "moving the data",
    "warning.storage-price-unknown": (
        "The price of the storage {tier} is not known and not in the cost."
    ),
    "warning.low-mfu": (
        "At an MFU of {percent}% launches and latency decide over a step, which is "
        "hard to predict: one of ten runs takes more than {times:g} times as long."
    ),
    "warning.gpu-unmeasured": (
        "No step time was measured on {gpu}: it is predicted from other {generation} "
        "cards."
    ),
    "warning.combination-unmeasured": (
        "No step time of {framework} with a {kind} model in {precision} was measured "
        "on {gpu}: it is predicted from other runs."
    ),
    "warning.scale-unmeasured": (
        "{gpus:,} {gpus:GPU is|GPUs are} more than the {most:,} of the largest run "
        "measured on {gpu}."
    ),
    "warning.efficiency": (
        "Steps are planned at {percent:g}% of the predicted speed, which is that of a "
        "well-tuned framework (workload.efficiency)."
    ),
    "warning.efficiency-held": (
        "At {asked:g}% of the predicted speed something in these {gpu} nodes would "
        "pass its data sheet: steps are planned at {taken:g}% (workload.efficiency)."
    ),
    "warning.gpu-estimate": (
        "No measurements calibrate the {generation} generation: its efficiency is an "
        "estimate."
    ),
    "note.layout-chosen": (
        "{count:,} {count:layout fulfils|layouts fulfil} what was pinned; shown is the "
        "fastest that fits in "
        "memory (or the leanest, where none does)."
    ),
}

_RULES = {
    "rule.memory": "peak memory fits the card",
    "rule.divisibility": "the layout divides evenly",
    "rule.parallelism": "pinned parallel degrees",
    "rule.host": "host memory is enough",
    "rule.precision": "the GPU computes in this precision",
    "rule.regions": "allowed regions",
    "rule.countries": "allowed countries",
    "rule.providers": "allowed providers",
    "rule.gpu_types": "allowed GPU types",
    "rule.gpus": "number of GPUs",
    "rule.intra_node": "NVLink tier inside a node",
    "rule.network": "network tier between nodes",
    "rule.storage": "storage tier",
    "rule.storage_capacity": "storage capacity",
    "rule.purchase": "allowed purchase kinds",
    "rule.throughput": "throughput floor",
    "rule.deadline": "deadline",
    "rule.budget": "budget",
    "rule.goodput": "failures leave time to finish",
}

_WHY = {
    "why.catalog": (
        "{total:the only offer is not allowed; it fails on|none of the {total:,} "
        "offers is allowed; most fail on}: {rule}"
    ),
    "why.layout": "no layout divides as asked: {reasons}",
    "why.layout.none": "no number of GPUs allows one",
    "why.layout.nodes": "nodes of {sizes} GPUs do not add up to the number asked",
    "why.memory": (
        "nothing fits in memory: at best {need:.1f} GiB are needed where {usable:.1f} "
        "GiB may be used, on {gpu}"
    ),
    "why.constraints": "no candidate keeps all limits together.",
    "why.deadline": "With all else as it is, the soonest is {needed} instead of {now}.",
    "why.budget": "With all else as it is, the least is {needed} instead of {now}.",
    "why.reachable": (
        "No single change opens a plan. Without deadline, budget and throughput floor "
        "the soonest is {soonest} for {soonest_cost}, the cheapest {cheapest} in "
        "{cheapest_days}."
    ),
    "why.host": (
        "Every host that is allowed has too little memory: a node needs {need:,.0f} GB "
        "at least and has {have:,.0f} GB at most."
    ),
    "why.storage_capacity": (
        "No storage that is allowed holds the data and two checkpoints, {need:,.0f} GB."
    ),
    "why.no-time": "The time limit left none to find out what would open a plan.",
    "why.sets": "Even without deadline, budget and throughput floor there is none.",
    "why.throughput": (
        "With all else as it is, the most is {needed} tokens/s instead of {now}."
    ),
    "relax.hours": "{hours:,.1f} hours",
    "relax.days": "{days:,.1f} days",
    "relax.headroom": "{share:.1%} of it free",
    "relax.not": "not {names}",
    "relax.gb-per-s": "{rate:,.0f} GB/s a GPU inside the node",
    "relax.gbps": "{rate:,.0f} Gb/s a GPU",
    "relax.reads": "{rate:,.2f} GB/s read",
    "relax.no-network": "none: one node",
    "relax.no-country": "any: the country of this offer is not known",
    "range.per-node": "{limit} a node",
    "range.least": "at least {least:,.0f}",
    "range.most": "at most {most:,.0f}",
    "range.between": "{least:,.0f} to {most:,.0f}",
}

_LISTS = {
    "list.pair": "{first}, {second}",
    "value.day": "{year:04d}-{month:02d}-{day:02d}",
    "list.words": ", ",
    "list.clauses": "; ",
    "list.sentences": " ",
}

MESSAGES: dict[str, str] = (
    _HEADLINES
    | _LISTS
    | _SECTIONS
    | _ROWS
    | _VALUES
    | _PARTS
    | _KINDS
    | _COLUMNS
    | _RULES
    | _WHY
    | _WARNINGS
    | _NOTICES
    | ACCURACY
    | ADAPTERS
    | ALIGNMENT
    | CHECK
    | DATA
    | EXPLAIN
    | EXPORTING
    | IMPORTING
    | LABELS
    | LAUNCHING
    | OFFLOAD
    | PLAN_FILE
    | PURCHASE
    | QUESTIONS
    | ROUTE
    | SUPPLY
    | SWEEPS
    | GEOGRAPHY
    | HTML
    | PHASES
    | CATALOG
    | CARDS
)
"""Message id to format string."""
