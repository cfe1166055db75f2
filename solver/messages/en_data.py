"""English sentences about the training data: how much of it, and how it is read."""

DATA = {
    "row.ramp": "batch ramp",
    "row.ramp.steps": "steps of the ramp",
    "section.input": "Data and checkpoints",
    "row.input": "data path",
    "row.input.checkpoint": "a checkpoint",
    "row.input.read": "reading",
    "row.input.decode": "decoding",
    "row.input.cores": "loader cores",
    "row.input.stall": "data stall",
    "value.input.gpudirect": (
        "GPUDirect Storage, with drives or NIC in the GPUs' PCIe domain"
    ),
    "value.input.bounce": "through a bounce buffer in pinned host memory",
    "value.input.rate": "{have}, {needed} needed",
    "value.input.samples.cpu": (
        "by loader workers, {have:,.0f} samples/s, {needed:,.0f} needed"
    ),
    "value.input.samples.gpu": "on GPUs, {have:,.0f} samples/s, {needed:,.0f} needed",
    "value.input.cores": "{have:,.0f} a node, {needed:,.1f} needed",
    "value.input.checkpoint": "{time} at {rate}",
    "value.input.stall": "{stall} a step, not in it",
    "value.ram.usual": "{low:,.0f} to {high:,.0f} GB, 1.5 to 2 x the GPU memory",
    "row.host.usual": "usual RAM",
    "warning.host-unknown": "The host memory of this server is not known; check it.",
    "warning.host-ram": (
        "Host memory of {ram:,} GB is only {times} times the GPU memory; 1.5 to 2 "
        "times is usual."
    ),
    "warning.input-cores-unknown": (
        "The vCPUs of this server are not known: loaders are taken to have "
        "{cores:,.0f} cores, as the leanest known server of this GPU has for as many."
    ),
    "warning.input-storage": (
        "GPUs wait {wait} for input, {share:.1%} of the training: it needs "
        "{needed:,.2f} GB/s, and the storage reads {have:,.2f}."
    ),
    "warning.input-decoding-cpu": (
        "GPUs wait {wait} for input, {share:.1%} of the training: it needs "
        "{needed:,.0f} samples/s, and loader workers decode {have:,.0f}."
    ),
    "warning.input-decoding-gpu": (
        "GPUs wait {wait} for input, {share:.1%} of the training: it needs "
        "{needed:,.0f} samples/s, and they decode {have:,.0f}."
    ),
    "warning.input-cure-tier": (
        "With {tier} of the same offer {wait} of that wait would be left."
    ),
    "warning.input-cure-gpu": (
        "Decoded on the GPUs (data.decode: gpu, {rate:,.0f} images/s each), "
        "{wait} of that wait would be left."
    ),
    "warning.input-cure-workers": (
        "With {workers:,} loader {workers:worker|workers} a GPU (data.workers), "
        "{wait} of that wait would be left."
    ),
    "warning.input-cure-cores": (
        "With {vcpus:,} vCPUs a node instead of {have:,}, {wait} of that wait "
        "would be left."
    ),
    "warning.layers-uneven": (
        "{layers:,} layers do not divide over {pp:,} stages: they run as {stages}, "
        "embedding and head counted as a layer each (in Megatron-LM by "
        "--account-for-embedding-in-pipeline-split and "
        "--account-for-loss-in-pipeline-split)."
    ),
    "warning.kv-replicated": (
        "TP {tp} is more than the {kv_heads} KV {kv_heads:head, which is|heads, which "
        "are} replicated."
    ),
    "warning.vocabulary-padded": (
        "The vocabulary of {vocab:,} is padded to {rows:,} rows, a multiple of 128 for "
        "each of {tp:,} tensor-parallel {tp:rank|ranks}; they are counted."
    ),
    "notice.tokens.compute-optimal": (
        "Compute-optimal: {tokens_per_parameter} tokens for each of {parameters:,.0f} "
        "parameters that a token passes are {tokens:,.0f} tokens."
    ),
    "notice.tokens.text.stated": (
        "{gb:,.0f} GB of text at {bytes_per_token:g} bytes a token, read {epochs:g} "
        "{epochs:time|times}, are {tokens:,.0f} tokens."
    ),
    "notice.tokens.text.english": (
        "{gb:,.0f} GB of text, read {epochs:g} {epochs:time|times}, are taken as "
        "{tokens:,.0f} tokens: {bytes_per_token:g} bytes a token, English in a "
        "vocabulary of {vocabulary:,} (arXiv 2407.21783). The same text in another "
        "language can take up to 15 times the tokens (arXiv 2305.15425): count a "
        "sample of yours and state bytes_per_token."
    ),
    "notice.tokens.padded": (
        "{data:,.0f} tokens of samples of {mean:,.0f} on average, each padded to "
        "{length:,}, are {tokens:,.0f} tokens to compute: {useful:.1%} of them are "
        "data."
    ),
    "notice.decode-rate.cpu": (
        "How fast images are decoded is not stated: {rate:,.0f} images/s a worker, as "
        "8 workers reached on ImageNet (data.decode_rate; larger images take longer)."
    ),
    "notice.decode-rate.gpu": (
        "How fast images are decoded is not stated: {rate:,.0f} images/s a GPU, as an "
        "A100 reached on ImageNet (data.decode_rate; larger images take longer)."
    ),
    "notice.batch.ramp": (
        "The batch grows from {start:,} by {step:,} to {end:,}, in {increments:,} "
        "{increments:step|steps} of {each:,.0f} sequences each. DP x micro-batch has "
        "to divide {unit:,} in the whole run; with the ramp as a phase of its own, in "
        "that phase alone."
    ),
    "notice.batch.ramp.uneven": (
        "The batch grows from {start:,} by {step:,} to {end:,}; {samples:,.0f} "
        "sequences do not divide into {increments:,} steps, so each is held until "
        "another {each:,.1f} are seen, in whole batches. DP x micro-batch has to "
        "divide {unit:,} in the whole run; with the ramp as a phase of its own, in "
        "that phase alone."
    ),
    "notice.tokens.samples.full": (
        "{samples:,.0f} {samples:sample|samples} x {epochs:g} {epochs:epoch|epochs}, "
        "each taken as a whole sequence of {length:,} tokens, are {tokens:,.0f} "
        "tokens; if samples are shorter, set data.mean_document_tokens."
    ),
    "notice.tokens.samples.packed": (
        "{samples:,.0f} {samples:sample|samples} x {epochs:g} {epochs:epoch|epochs} of "
        "{length:,.0f} tokens on average, packed, are {tokens:,.0f} tokens."
    ),
    "notice.tokens.samples.padded": (
        "{samples:,.0f} {samples:sample|samples} x {epochs:g} {epochs:epoch|epochs}, "
        "each padded to {length:,} tokens, are {tokens:,.0f} tokens to compute: "
        "{useful:.1%} of them are data."
    ),
    "notice.tokens.samples.padded-unknown": (
        "{samples:,.0f} {samples:sample|samples} x {epochs:g} {epochs:epoch|epochs}, "
        "each padded to {length:,} tokens, are {tokens:,.0f} tokens to compute; how "
        "many of them are data is not known without data.mean_document_tokens."
    ),
}
