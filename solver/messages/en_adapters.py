"""English sentences about adapters and long sequences."""

ADAPTERS = {
    "notice.lora.quantised": (
        "Adapters on a base in {base} are what gpuplan calls qlora: the plan counts a "
        "quantised base."
    ),
    "value.base": "base in {base}",
    "value.pure": "no fp32 copy of the weights",
    "value.loss": "{loss} loss",
    "lever.loss": "loss",
    "why.memory.sequence": (
        "The limit is per sequence: one of {tokens:,} tokens takes {need:.1f} GiB on "
        "each GPU at micro-batch 1, however many data-parallel GPUs there are."
    ),
    "why.memory.longest": "The longest sequence that fits is {tokens:,} tokens.",
    "why.memory.longest.none": "No shorter sequence is known to fit.",
    "why.memory.divides": (
        "{framework} divides a sequence over GPUs by {ways}; more GPUs help only so."
    ),
    "why.memory.via": "On {gpus:,} {gpus:GPU|GPUs} it fits, divided by {ways}.",
    "why.memory.on-request": (
        "Only some programs of {framework} divide a sequence over GPUs (context "
        "parallelism, with everything sharded): if yours does, name its degrees, as "
        "constraints.parallelism.cp=[1, 2, 4, 8]; more GPUs help only so."
    ),
    "why.memory.asked": "More GPUs help only at a higher degree of CP.",
    "why.memory.undivided": (
        "{framework} does not divide one sequence over GPUs; {others} can."
    ),
    "why.memory.no-framework": "no other",
    "why.memory.replicated": (
        "Every GPU keeps the whole base of {need:.1f} GiB ({base}), so that more GPUs "
        "do not help."
    ),
    "why.memory.shard": (
        "Sharding the base does ({framework}: zero_stage 3), or a larger card."
    ),
    "why.memory.unshardable": (
        "A larger card does, or a base that can be sharded ({others}): {base} cannot."
    ),
    "why.memory.larger-card": "A larger card does, or a framework that shards it.",
}
