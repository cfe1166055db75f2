"""The English texts of the files that run a plan."""

__all__ = ["EXPORTING"]

EXPORTING = {
    "export.format.megatron": "Megatron-LM: a shell script with its arguments",
    "export.format.deepspeed": "DeepSpeed: its JSON and a program",
    "export.format.fsdp": "PyTorch FSDP2: accelerate's YAML and a program",
    "export.format.trainer": "Hugging Face Trainer and PEFT: a program and its JSON",
    "export.format.nemo": "NeMo's Megatron-Bridge: a recipe and its JSON",
    "export.format.torchtitan": "torchtitan: a configuration in Python and its JSON",
    "export.header.what": "Runs the plan '{title}', written by gpuplan.",
    "export.header.where": (
        "Planned on {nodes:,} x {server} of {provider} in {region}, {purchase}."
    ),
    "export.header.layout": (
        "{gpus:,} {gpus:GPU|GPUs} as {layout}; micro-batch {micro_batch} x "
        "{accumulation} x DP = {batch:,} sequences a step."
    ),
    "export.header.predicted": (
        "Predicted for {framework}: {step_s:.3g} s a step, {memory_gib:.1f} GiB on the "
        "fullest GPU."
    ),
    "export.script.variables": (
        "What no plan knows: set these in the environment, or here."
    ),
    "export.script.more": (
        "Options that are not named above have the program's own defaults; words after "
        "this script's name are added to them."
    ),
    "export.variable.megatron": "set the folder of Megatron-LM",
    "export.variable.megatron-data": (
        "set the prefix of the tokenised data, without .bin and .idx"
    ),
    "export.variable.megatron-initial": (
        "set the folder of the checkpoint to start from, in Megatron-LM's format"
    ),
    "export.variable.tokenizer": "set the tokenizer: a folder or a Hugging Face name",
    "export.variable.checkpoints": "set the folder that checkpoints are written to",
    "export.variable.lr": "set the learning rate",
    "export.variable.rotary-base": "set the base of the model's rotary embedding",
    "export.variable.dropout": "set the model's dropout rate",
    "export.variable.fp8-recipe": (
        "scaling of FP8: tensorwise, delayed or blockwise (the program's own default)"
    ),
    "export.variable.seed": "seed of the run (the program's own default)",
    "export.variable.model": "set the model: a folder or a Hugging Face name",
    "export.variable.model-named": "the model: a folder or a Hugging Face name",
    "export.variable.dataset": "set the folder of the tokenised dataset",
    "export.variable.seed-trainer": "seed of the run (Trainer's own default)",
    "export.variable.lora-alpha": "scale of the adapters (PEFT's own default)",
    "export.variable.nvme": "set a folder on the node's own drives",
    "export.variable.torchtitan": "set the folder of torchtitan",
    "export.variable.texts": "set the dataset: a folder or name, with a column text",
    "export.variable.tokenizer-folder": "set the folder of the tokenizer",
    "export.variable.seed-own": "seed of the run",
    "export.variable.initial-huggingface": (
        "set the folder of the checkpoint to start from, in Hugging Face's format"
    ),
    "export.variable.lora-alpha-bridge": (
        "scale of the adapters (Megatron-Bridge's own default)"
    ),
    "export.variable.node-rank": "set the number of this node, from 0",
    "export.variable.master": "set the address of node 0",
    "export.variable.port": "port on node 0 (the usual one)",
    "note.export.megatron-model": (
        "The catalog has the model's sizes alone: check the activation, the norm's "
        "epsilon and the scaling of rotary embeddings against the model's own "
        "configuration."
    ),
    "note.export.dataset": (
        "DATA_PATH is a folder that save_to_disk of Hugging Face's datasets wrote: "
        "rows of {tokens:,} tokens in input_ids, and labels where they differ."
    ),
    "note.export.liger": (
        "The chunked loss is Liger's: liger-kernel has to be installed, and to know "
        "the model."
    ),
    "note.export.torchtitan-model": (
        "The model is built of Llama 3's blocks in the plan's sizes: check the norm's "
        "epsilon and the scaling of rotary embeddings against the model's own "
        "configuration."
    ),
    "note.export.router": (
        "The catalog has the number of experts alone: the router's score function and "
        "the loss that balances experts are the program's defaults until you set them."
    ),
    "note.export.spares": (
        "{nodes:,} spare {nodes:node is|nodes are} rented beside those that train, to "
        "take part when one fails."
    ),
    "note.export.written": "Wrote {files:,} {files:file|files} to {folder}. {what}.",
    "note.export.framework": (
        "The plan is predicted for {framework}, and this is written for {format}: step "
        "time and memory will differ from it."
    ),
}
