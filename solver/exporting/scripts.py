"""Training programs that are written beside their configuration.

They hold nothing of a plan: all of it is in ``run.json``, which they read.
"""

from __future__ import annotations

__all__ = ["DEEPSPEED", "TRAINER"]

_COMMON = '''\
import json
import os
import sys
from pathlib import Path

import torch
from datasets import load_from_disk
from transformers import AutoConfig, AutoModelForCausalLM, BitsAndBytesConfig

RUN = json.loads(Path(__file__).with_name("run.json").read_text(encoding="utf-8"))


def said(name):
    """Return what the user has set, or stop."""
    if not os.environ.get(name):
        sys.exit(f"set {name}: {RUN['variables'].get(name, name)}")
    return os.environ[name]


def model():
    """Return the model; stop if it is not the one that was planned."""
    sizes = AutoConfig.from_pretrained(said("MODEL"))
    text = sizes.get_text_config()
    found = {name: getattr(text, name, None) for name in RUN["model"]["sizes"]}
    if found != RUN["model"]["sizes"]:
        sys.exit(f"the plan is of {RUN['model']['sizes']}, and this model has {found}")
    dtype = getattr(torch, RUN["model"]["dtype"])
    if RUN["model"]["start"] == "scratch":
        return AutoModelForCausalLM.from_config(sizes, dtype=dtype)
    options = {"dtype": dtype}
    if RUN["quantization"]:
        options["quantization_config"] = BitsAndBytesConfig(**RUN["quantization"])
        options["device_map"] = {"": int(os.environ.get("LOCAL_RANK", 0))}
    return AutoModelForCausalLM.from_pretrained(said("MODEL"), **options)


def adapted(base):
    """Return the model with the adapters of the plan, or as it is."""
    if not RUN["lora"]:
        return base
    from peft import LoraConfig, get_peft_model, prepare_model_for_kbit_training

    if RUN["quantization"]:
        base = prepare_model_for_kbit_training(base, use_gradient_checkpointing=False)
    alpha = int(said("LORA_ALPHA"))
    return get_peft_model(base, LoraConfig(lora_alpha=alpha, **RUN["lora"]))


def sequences():
    """Return the tokenised data: rows of input_ids, and labels where they differ."""
    data = load_from_disk(said("DATA_PATH"))
    if len(data[0]["input_ids"]) != RUN["sequence_length"]:
        sys.exit(f"expected rows of {RUN['sequence_length']} tokens in input_ids")
    return data


def batched(rows):
    """Return rows as the tensors of a batch."""
    ids = torch.tensor([row["input_ids"] for row in rows])
    labels = torch.tensor([row.get("labels", row["input_ids"]) for row in rows])
    return {"input_ids": ids, "labels": labels}
'''

TRAINER = f'''\
"""Trains a model with Hugging Face Trainer as run.json says; written by gpuplan."""

{_COMMON}

def main():
    """Train, and go on from the newest checkpoint if there is one."""
    from transformers import Trainer, TrainingArguments
    from transformers.trainer_utils import get_last_checkpoint

    folder = said("CHECKPOINT_DIR")
    arguments = TrainingArguments(
        output_dir=folder,
        learning_rate=float(said("LR")),
        seed=int(said("SEED")),
        **RUN["training_arguments"],
    )
    trainer = Trainer(
        model=adapted(model()),
        args=arguments,
        train_dataset=sequences(),
        data_collator=batched,
    )
    newest = get_last_checkpoint(folder) if Path(folder).is_dir() else None
    trainer.train(resume_from_checkpoint=newest)
    trainer.save_model(str(Path(folder) / "final"))


if __name__ == "__main__":
    main()
'''

DEEPSPEED = f'''\
"""Trains a model with DeepSpeed as run.json and ds_config.json say; by gpuplan."""

{_COMMON}

def optimizer(parameters):
    """Return an optimizer that DeepSpeed does not have itself, or nothing."""
    wanted = RUN["client_optimizer"]
    if wanted is None:
        return None
    import importlib

    kind = getattr(importlib.import_module(wanted["module"]), wanted["name"])
    return kind(parameters, lr=float(said("LR")), **wanted["options"])


def configured():
    """Return DeepSpeed's configuration with the learning rate in its place."""
    place = Path(__file__).with_name("ds_config.json")
    config = json.loads(place.read_text(encoding="utf-8"))
    if "optimizer" in config:
        config["optimizer"]["params"]["lr"] = float(said("LR"))
    offload = config["zero_optimization"]
    for part in ("offload_optimizer", "offload_param"):
        if offload.get(part, {{}}).get("device") == "nvme":
            offload[part]["nvme_path"] = said("NVME_PATH")
    return config


def batches(data, engine):
    """Yield this replica's batches for ever, in an order that the seed decides."""
    from torch.utils.data import DataLoader, DistributedSampler

    from deepspeed.utils import groups

    ranks = groups._get_data_parallel_world_size()
    rank = groups._get_data_parallel_rank()
    sampler = DistributedSampler(data, ranks, rank, seed=int(said("SEED")))
    size = engine.train_micro_batch_size_per_gpu()
    loader = DataLoader(
        data, size, sampler=sampler, collate_fn=batched, drop_last=True
    )
    start = engine.global_steps * engine.gradient_accumulation_steps()
    epoch, done = divmod(start, len(loader))
    while True:
        sampler.set_epoch(epoch)
        for number, batch in enumerate(loader):
            if number >= done:
                yield batch
        epoch, done = epoch + 1, 0


def main():
    """Train, and go on from the newest checkpoint if there is one."""
    import deepspeed

    deepspeed.init_distributed()
    torch.manual_seed(int(said("SEED")))
    config, net = configured(), adapted(model())
    if RUN["recompute"]:
        net.config.use_cache = False
        if config.get("activation_checkpointing"):
            deepspeed.checkpointing.configure(None, deepspeed_config=config)
            net._set_gradient_checkpointing(True, deepspeed.checkpointing.checkpoint)
        else:
            net.gradient_checkpointing_enable()
        net.enable_input_require_grads()
    trained = [p for p in net.parameters() if p.requires_grad]
    engine, *_ = deepspeed.initialize(
        model=net, model_parameters=trained, optimizer=optimizer(trained), config=config
    )
    folder = said("CHECKPOINT_DIR")
    engine.load_checkpoint(folder)
    for batch in batches(sequences(), engine):
        if engine.global_steps >= RUN["steps"]:
            break
        whole = engine.is_gradient_accumulation_boundary()
        batch = {{name: part.to(engine.device) for name, part in batch.items()}}
        engine.backward(engine(**batch).loss)
        engine.step()
        if whole and engine.global_steps % RUN["checkpoint_steps"] == 0:
            engine.save_checkpoint(folder)
    engine.save_checkpoint(folder)


if __name__ == "__main__":
    main()
'''
