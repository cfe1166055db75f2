"""Training programs that are written beside their configuration.

They hold nothing of a plan: all of it is in ``run.json``, which they read.
"""

from __future__ import annotations

__all__ = ["DEEPSPEED", "NEMO", "TORCHTITAN", "TRAINER"]

_SAID = '''\
RUN = json.loads(Path(__file__).with_name("run.json").read_text(encoding="utf-8"))


def said(name):
    """Return what the user has set, or stop."""
    if not os.environ.get(name):
        sys.exit(f"set {name}: {RUN['variables'].get(name, name)}")
    return os.environ[name]
'''

_COMMON = f'''\
import json
import os
import sys
from pathlib import Path

import torch
from datasets import load_from_disk
from transformers import AutoConfig, AutoModelForCausalLM, BitsAndBytesConfig

{_SAID}

def model():
    """Return the model; stop if it is not the one that was planned."""
    sizes = AutoConfig.from_pretrained(said("MODEL"))
    text = sizes.get_text_config()
    wanted = RUN["model"]["sizes"]
    found = {{name: getattr(text, name, None) for name in wanted}}
    if found != wanted:
        sys.exit(f"the plan is of {{wanted}}, and this model has {{found}}")
    dtype = getattr(torch, RUN["model"]["dtype"])
    if RUN["model"]["start"] == "scratch":
        return AutoModelForCausalLM.from_config(sizes, dtype=dtype)
    options = {{"dtype": dtype}}
    if RUN["quantization"]:
        options["quantization_config"] = BitsAndBytesConfig(**RUN["quantization"])
        options["device_map"] = {{"": int(os.environ.get("LOCAL_RANK", 0))}}
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
        sys.exit(f"expected rows of {{RUN['sequence_length']}} tokens in input_ids")
    return data


def batched(rows):
    """Return rows as the tensors of a batch."""
    ids = torch.tensor([row["input_ids"] for row in rows])
    labels = torch.tensor([row.get("labels", row["input_ids"]) for row in rows])
    return {{"input_ids": ids, "labels": labels}}
'''

TRAINER = f'''\
"""Trains a model with Hugging Face Trainer as run.json says; written by gpuplan."""

{_COMMON}

def main():
    """Train, and go on from the newest checkpoint if there is one."""
    from transformers import Trainer, TrainingArguments
    from transformers.trainer_utils import get_last_checkpoint

    folder = said("CHECKPOINT_DIR")
    newest = get_last_checkpoint(folder) if Path(folder).is_dir() else None
    steps = RUN["training_arguments"]["max_steps"]
    if newest and int(newest.rpartition("-")[2]) >= steps:
        print(f"all {{steps}} steps are done: {{newest}}")
        return
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

TORCHTITAN = f'''\
"""What torchtitan trains, and how, as run.json says; written by gpuplan."""

import json
import os
import sys
from functools import partial
from pathlib import Path

import torch.nn as nn
from datasets import load_dataset
from torchtitan.components.checkpoint import CheckpointManager
from torchtitan.components.loss import ChunkedLossWrapper, CrossEntropyLoss
from torchtitan.components.metrics import MetricsProcessor
from torchtitan.components.optimizer import default_adamw
from torchtitan.config import DebugConfig, ParallelismConfig, TrainingConfig
from torchtitan.distributed.activation_checkpoint import FullAC, SelectiveAC
from torchtitan.distributed.pipeline_parallel import pipeline_llm
from torchtitan.hf_datasets import DatasetConfig
from torchtitan.hf_datasets.text_datasets import DATASETS, HuggingFaceTextDataLoader
from torchtitan.models.common import ComplexRoPE, Embedding, Linear, RMSNorm
from torchtitan.models.common.config_utils import (
    get_attention_config,
    make_ffn_config,
    make_gqa_config,
)
from torchtitan.models.llama3 import parallelize_llama
from torchtitan.models.llama3.model import Llama3Model, Llama3TransformerBlock
from torchtitan.models.llama3.state_dict_adapter import Llama3StateDictAdapter
from torchtitan.protocols.model_spec import ModelSpec
from torchtitan.trainer import Trainer

{_SAID}

def drawn(std):
    """Return how a linear begins: a normal distribution cut at two deviations."""
    weight = partial(nn.init.trunc_normal_, std=std, a=-2 * std, b=2 * std)
    return {{"weight": weight, "bias": nn.init.zeros_}}


def model():
    """Return the sizes of the model; what is drawn matters from scratch alone."""
    sizes = RUN["model"]
    dim, vocabulary, width = sizes["dim"], sizes["vocab_size"], sizes["head_dim"]
    ones = {{"weight": nn.init.ones_}}
    positions = ComplexRoPE.Config(
        dim=width,
        max_seq_len=RUN["training"]["seq_len"],
        theta=float(said("ROTARY_BASE")),
        scaling="none",
    )

    def norm():
        return RMSNorm.Config(normalized_shape=dim, param_init=ones)

    def layer():
        last = drawn(0.02 / (2 * sizes["n_layers"]) ** 0.5)
        attention = make_gqa_config(
            dim=dim,
            n_heads=sizes["n_heads"],
            n_kv_heads=sizes["n_kv_heads"],
            head_dim=width,
            wqkv_param_init=drawn(0.02),
            wo_param_init=last,
            inner_attention=get_attention_config("flex"),
            rope=positions,
        )
        mlp = make_ffn_config(
            dim=dim,
            hidden_dim=sizes["hidden_dim"],
            w1_param_init=drawn(0.02),
            w2w3_param_init=last,
        )
        return Llama3TransformerBlock.Config(
            attention_norm=norm(),
            ffn_norm=norm(),
            attention=attention,
            feed_forward=mlp,
        )

    return Llama3Model.Config(
        dim=dim,
        vocab_size=vocabulary,
        enable_weight_tying=sizes["enable_weight_tying"],
        tok_embeddings=Embedding.Config(
            num_embeddings=vocabulary,
            embedding_dim=dim,
            param_init={{"weight": partial(nn.init.normal_, std=0.02)}},
        ),
        norm=norm(),
        lm_head=Linear.Config(
            in_features=dim, out_features=vocabulary, param_init=drawn(dim**-0.5)
        ),
        layers=[layer() for _ in range(sizes["n_layers"])],
    )


def planned():
    """Return the configuration, for --module planned --config planned."""
    DATASETS["planned"] = DatasetConfig(
        path=said("DATA_PATH"),
        loader=lambda path: load_dataset(path, split="train", streaming=True),
        sample_processor=lambda sample: sample["text"],
    )
    loss = CrossEntropyLoss.Config(global_vocab_size=RUN["model"]["vocab_size"])
    if RUN["loss_chunks"]:
        chunks = RUN["loss_chunks"]
        loss = ChunkedLossWrapper.Config(loss_fn=loss, num_chunks=chunks)
    start = {{}}
    if RUN["start"] == "checkpoint":
        path = said("INITIAL_CHECKPOINT")
        path = path if "://" in path else os.path.abspath(path)
        start = {{"initial_load_path": path, "initial_load_in_hf": True}}
    policies = {{"full": FullAC.Config, "selective": SelectiveAC.Config}}
    policy = policies.get(RUN["recompute"])
    return Trainer.Config(
        model_spec=ModelSpec(
            name="llama3",
            flavor="planned",
            model=model(),
            parallelize_fn=parallelize_llama,
            pipelining_fn=pipeline_llm,
            post_optimizer_build_fn=None,
            state_dict_adapter=Llama3StateDictAdapter,
        ),
        loss=loss,
        hf_assets_path=said("TOKENIZER"),
        dump_folder=said("CHECKPOINT_DIR"),
        optimizer=default_adamw(lr=float(said("LR"))),
        training=TrainingConfig(**RUN["training"]),
        parallelism=ParallelismConfig(**RUN["parallelism"]),
        checkpoint=CheckpointManager.Config(
            enable=True, interval=RUN["checkpoint_steps"], **start
        ),
        activation_checkpoint=policy() if policy else None,
        dataloader=HuggingFaceTextDataLoader.Config(dataset="planned"),
        metrics=MetricsProcessor.Config(log_freq=1),
        debug=DebugConfig(seed=int(said("SEED"))),
    )
'''

NEMO = f'''\
"""A recipe for NeMo's Megatron-Bridge, as run.json says; written by gpuplan."""

import json
import os
import sys
from pathlib import Path

from megatron.bridge import AutoBridge
from megatron.bridge.peft.lora import LoRA
from megatron.bridge.training.config import (
    CheckpointConfig,
    ConfigContainer,
    DistributedDataParallelConfig,
    GPTDatasetConfig,
    LoggerConfig,
    OptimizerConfig,
    RNGConfig,
    SchedulerConfig,
    TokenizerConfig,
    TrainingConfig,
    ValidationConfig,
)

{_SAID}

def model():
    """Return the model, laid out; stop if it is not the one that was planned."""
    bridge = AutoBridge.from_hf_pretrained(said("MODEL"))
    provider = bridge.to_megatron_provider(load_weights=False)
    found = {{name: getattr(provider, name) for name in RUN["sizes"]}}
    if found != RUN["sizes"]:
        sys.exit(f"the plan is of {{RUN['sizes']}}, and this model has {{found}}")
    for name, value in RUN["model"].items():
        setattr(provider, name, value)
    return provider


def planned():
    """Return the configuration of the run."""
    folder = said("CHECKPOINT_DIR")
    lora = RUN["lora"] and LoRA(alpha=int(said("LORA_ALPHA")), **RUN["lora"])
    begin = said("INITIAL_CHECKPOINT") if RUN["start"] == "checkpoint" else None
    return ConfigContainer(
        model=model(),
        train=TrainingConfig(**RUN["train"]),
        validation=ValidationConfig(eval_iters=0),
        optimizer=OptimizerConfig(lr=float(said("LR")), **RUN["optimizer"]),
        scheduler=SchedulerConfig(),
        ddp=DistributedDataParallelConfig(**RUN["ddp"]),
        dataset=GPTDatasetConfig(
            random_seed=int(said("SEED")),
            seq_length=RUN["model"]["seq_length"],
            data_path=said("DATA_PATH"),
            split="1,0,0",
            reset_attention_mask=False,
            reset_position_ids=False,
            eod_mask_loss=False,
        ),
        tokenizer=TokenizerConfig(
            tokenizer_type="HuggingFaceTokenizer", tokenizer_model=said("MODEL")
        ),
        logger=LoggerConfig(log_interval=1, log_throughput=True),
        checkpoint=CheckpointConfig(
            save=folder,
            load=folder,
            save_interval=RUN["checkpoint_steps"],
            pretrained_checkpoint=begin,
        ),
        rng=RNGConfig(seed=int(said("SEED"))),
        peft=lora or None,
        mixed_precision=RUN["mixed_precision"],
    )


if __name__ == "__main__":
    from megatron.bridge.training.finetune import finetune
    from megatron.bridge.training.gpt_step import forward_step
    from megatron.bridge.training.pretrain import pretrain

    run = finetune if RUN["start"] == "checkpoint" else pretrain
    run(planned(), forward_step)
'''
