"""English sentences about the training data: how much of it, and how it is read."""

DATA = {
    "row.ramp": "batch ramp",
    "row.ramp.steps": "steps of the ramp",
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
