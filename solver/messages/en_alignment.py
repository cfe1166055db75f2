"""English sentences about alignment: sft, dpo, ppo and grpo."""

ALIGNMENT = {
    "section.alignment": "Alignment",
    "row.rollout": "rollout nodes",
    "value.rollout": (
        "{nodes:,} {nodes:node|nodes}, {gpus:,} {gpus:GPU|GPUs} in all, which only "
        "generate"
    ),
    "warning.alignment.loop": (
        "A step of {method} is planned at {percent}% of the speed of its parts, as in "
        "published runs, which differ by a third either way: one of ten takes "
        "more than {times} times as long."
    ),
    "warning.alignment.engine-copy": (
        "While it generates, the engine holds all weights in 16 bits, beside the base "
        "that {train} trains adapters on: an engine that shares that base, or reads it "
        "in 4 bits, needs less memory than planned."
    ),
    "estimate.none-trains": (
        "beside {beside:,} rollout {beside:node|nodes}, {nodes:,} {nodes:node|nodes} "
        "in all {nodes:leaves|leave} none to train: --nodes and --gpus count both, so "
        "give the sum of a plan's nodes and rollout_nodes"
    ),
    "value.and-rollout": "{servers} + {nodes:,} rollout {nodes:node|nodes}",
    "row.alignment.kind": "method",
    "row.alignment.placement": "generation on",
    "value.alignment.pairs": "{samples:,} {samples:pair|pairs} a step",
    "value.alignment.prompts": (
        "{samples:,} {samples:prompt|prompts}, {sequences:,} "
        "{sequences:response|responses} a step, trained on {epochs:,} "
        "{epochs:time|times}"
    ),
    "value.placement.together": "the nodes that train",
    "value.placement.apart": "{nodes:,} {nodes:node|nodes} apart, in turn",
    "value.placement.behind": "{nodes:,} {nodes:node|nodes} apart, one step behind",
    "row.model.policy": "policy",
    "row.model.reference": "reference",
    "row.model.reward": "reward model",
    "row.model.critic": "critic",
    "value.model.trained": "{gib} GiB a GPU, trained; {share} of a step",
    "value.model.frozen": "{gib} GiB a GPU, frozen; {share} of a step",
    "value.model.shared": "the base without adapters: no copy; {share} of a step",
    "row.generation": "generation",
    "value.generation": "{share} of a step",
    "row.generation.speed": "generation speed",
    "value.generated": "{tokens} tokens in all",
    "row.generation.layout": "replicas",
    "value.replicas": (
        "{replicas:,} of TP {tp} x {stages} {stages:stage|stages}, {concurrent:,} "
        "sequences at once on each"
    ),
    "row.generation.memory": "engine a GPU",
    "value.engine": "weights {weights} GiB, keys and values {cache} GiB",
    "part.generation": "generation",
    "part.scoring": "scoring passes",
    "part.critic": "critic",
    "part.weight_sync": "moving weights",
    "notice.alignment.train": (
        "All weights train under {method}: `train` is not stated as lora or qlora."
    ),
    "notice.alignment.pairs": (
        "Each pair is two sequences of up to {length:,} tokens, chosen and rejected; "
        "batch and micro-batch count pairs."
    ),
    "notice.alignment.lengths": (
        "Prompts are taken as {prompt:,} tokens and responses as {response:,}, on "
        "average; state prompt_tokens and response_tokens."
    ),
    "notice.alignment.longest": (
        "The longest response is taken as {longest:,} tokens, twice the mean of "
        "{mean:,} (an estimate): the batch waits for it and training has to fit it; "
        "state generation.max_response_tokens."
    ),
    "notice.alignment.longest-held": (
        "The longest response is taken as {longest:,} tokens, with a mean of {mean:,}: "
        "prompt and response together stay within the sequence_length of "
        "{sequence_length:,}."
    ),
    "notice.alignment.together": (
        "Generation is placed together alone: {keys} of alignment.generation, which "
        "only count apart, are left aside."
    ),
    "notice.alignment.group": (
        "No group is stated: {group:,} responses to each prompt are assumed."
    ),
    "notice.alignment.models": (
        "Beside the policy: reference {reference}, reward model {reward}, critic "
        "{critic}."
    ),
    "notice.alignment.batch": (
        "No global batch is stated: {batch:,} responses to {prompts:,} "
        "{prompts:prompt|prompts} a step are assumed."
    ),
    "notice.alignment.rollout": (
        "Placed apart, {tried} rollout nodes are tried; name others with "
        "alignment.generation.rollout_nodes."
    ),
    "notice.alignment.samples.pairs": (
        "{samples:,.0f} {samples:pair|pairs} x {epochs:g} {epochs:epoch|epochs} x "
        "{length:,} tokens a pair are {tokens:,.0f} tokens to compute."
    ),
    "notice.alignment.samples.prompts": (
        "{samples:,.0f} {samples:prompt|prompts} x {epochs:g} {epochs:epoch|epochs} x "
        "{group:,} {group:response|responses} of {length:,} tokens, prompt included, "
        "are {tokens:,.0f} tokens to train on."
    ),
}
