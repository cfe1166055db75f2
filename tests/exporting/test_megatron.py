"""Tests of the arguments of Megatron-LM."""

from __future__ import annotations

import subprocess
from argparse import Namespace
from dataclasses import replace
from math import prod

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from solver.exporting.command import training_command
from solver.exporting.formats import FORMATS
from solver.exporting.megatron import command
from solver.exporting.refusals import NotExpressibleError
from solver.exporting.run import Run
from tests.exporting.listed import read_words
from tests.exporting.runs import (
    laid_out,
    layout_of,
    shipped_plans,
    shipped_run,
    worked,
)

PLANS = [
    name
    for name, plan in shipped_plans().items()
    if plan.framework == "megatron" and name != "grpo-8b-rollouts"
]
DEEPSEEK = {
    "n_experts": 64,
    "experts_topk": 6,
    "shared_experts": 2,
    "moe_ffn": 1408,
    "first_dense_layers": 1,
    "kv_lora_rank": 512,
    "q_lora_rank": 1536,
    "qk_nope_dim": 128,
    "qk_rope_dim": 64,
    "v_head_dim": 128,
}


def read(run: Run) -> Namespace:
    """The arguments of a run, read by the list of Megatron-LM's options."""
    return read_words("megatron_lm", command(run).arguments)


def staged_layers(told: Namespace, layers: int) -> list[int]:
    """Layers of every chunk of the pipeline, as Megatron-LM understands arguments."""
    pp = told.pipeline_model_parallel_size
    layout = told.pipeline_model_parallel_layout
    if layout is None:
        held = pp * (told.num_virtual_stages_per_pipeline_rank or 1)
        assert layers % held == 0
        return [layers // held] * held
    stages = layout.split("|")
    assert stages[0].startswith("E,")
    assert stages[-1].endswith(",L")
    assert len(stages) % pp == 0
    return [int(s.strip("E,L").removeprefix("t*")) for s in stages]


def conserves(run: Run) -> Namespace:
    """Check that the arguments say as many GPUs, layers and sequences as the plan."""
    told, layout, model = read(run), run.layout, run.architecture
    tp, pp = told.tensor_model_parallel_size, told.pipeline_model_parallel_size
    cp = told.context_parallel_size
    assert run.gpus % (tp * pp * cp) == 0
    dp = run.gpus // (tp * pp * cp)
    assert dp == layout.dp
    micro_batches, rest = divmod(told.global_batch_size, told.micro_batch_size * dp)
    assert (micro_batches, rest) == (layout.accumulation, 0)
    held = staged_layers(told, told.num_layers)
    assert sum(held) == told.num_layers == model.layers
    stages = [sum(held[stage::pp]) for stage in range(pp)]
    assert stages == list(layout.layers_per_stage)
    if model.n_experts > 1:
        ep, etp = told.expert_model_parallel_size, told.expert_tensor_parallel_size
        assert told.num_experts == model.n_experts
        assert model.n_experts % ep == 0
        assert tp * cp * dp % (ep * etp) == 0
        assert sum(eval(told.moe_layer_freq)) == layers_with_experts(run)
        assert len(eval(told.moe_layer_freq)) == model.layers
    return told


def layers_with_experts(run: Run) -> int:
    """Layers that the planner counts with experts."""
    model = run.architecture
    return (model.layers - model.first_dense_layers) // model.moe_layer_freq


@pytest.mark.parametrize("name", PLANS)
def test_shipped_plans_are_conserved(name: str) -> None:
    """Tests that every shipped plan of Megatron-LM keeps GPUs, layers and batch."""
    run = shipped_run(name)
    told = conserves(run)
    assert told.seq_length == run.sequence_length
    assert told.save_interval == (run.checkpoint_steps or run.steps)
    assert told.train_iters == run.steps
    assert told.use_distributed_optimizer == (run.layout.zero_stage == 1 or None)


degrees = st.sampled_from([1, 2, 3, 4, 8])


@given(
    degrees=st.tuples(degrees, degrees, degrees, degrees),
    virtual=st.integers(1, 3),
    each=st.integers(1, 4),
    ends=st.booleans(),
    micro_batch=st.integers(1, 4),
    accumulation=st.integers(1, 9),
)
def test_any_layout_is_conserved(
    degrees: tuple[int, int, int, int],
    virtual: int,
    each: int,
    ends: bool,
    micro_batch: int,
    accumulation: int,
) -> None:
    """Tests layouts with and without shorter ends of the pipeline."""
    tp, pp, cp, dp = degrees
    virtual = virtual if pp > 1 else 1
    stages = [each * virtual] * pp
    if ends:
        assume(pp > 1 and each * virtual > 1 and each > 1)
        stages[0] -= 1
        stages[-1] -= 1
    run = laid_out(
        shipped_run("quickstart-7b"),
        {"layers": sum(stages)},
        tp=tp,
        pp=pp,
        cp=cp,
        dp=dp,
        virtual_stages=virtual,
        layers_per_stage=tuple(stages),
        micro_batch=micro_batch,
        accumulation=accumulation,
        shard_degree=dp * cp,
    )
    run = worked(run, sequence_length=2 * prod(degrees) * 64)
    told = conserves(run)
    assert (told.cp_comm_type == ["p2p"]) == (cp > 1)


@pytest.mark.parametrize("first", [0, 1, 3])
@pytest.mark.parametrize("every", [1, 2, 4])
def test_layers_with_experts(first: int, every: int) -> None:
    """Tests that dense layers come first and the rest alternates, none lost."""
    model = {**DEEPSEEK, "first_dense_layers": first, "moe_layer_freq": every}
    run = laid_out(
        shipped_run("quickstart-7b"), {**model, "layers": 14}, ep=8, shard_degree=32
    )
    told = conserves(run)
    freq = eval(told.moe_layer_freq)
    assert freq[:first] == [0] * first
    assert told.moe_shared_expert_intermediate_size == 2 * 1408
    assert told.moe_router_topk == 6


def test_latent_attention_has_no_groups() -> None:
    """Tests the widths of MLA, which excludes grouped queries."""
    run = laid_out(shipped_run("quickstart-7b"), {**DEEPSEEK, "kv_heads": 4})
    told = read(run)
    assert told.multi_latent_attention
    assert told.group_query_attention is None
    widths = (told.q_lora_rank, told.kv_lora_rank, told.qk_head_dim, told.v_head_dim)
    assert widths == (1536, 512, 128, 128)
    assert told.qk_pos_emb_head_dim == 64


def test_sizes_of_a_model() -> None:
    """Tests the sizes and kinds of Llama 3 70B and of GPT-3, which are opposites."""
    llama = read(shipped_run("llama3-70b-deadline"))
    assert (llama.num_layers, llama.hidden_size, llama.ffn_hidden_size) == (
        *(80, 8192),
        28672,
    )
    assert (llama.num_query_groups, llama.kv_channels) == (8, 128)
    assert (llama.normalization, llama.position_embedding_type) == ("RMSNorm", "rope")
    assert llama.swiglu
    assert llama.disable_bias_linear
    assert llama.untie_embeddings_and_output_weights
    gpt = read(shipped_run("table-175b-pretrain-many-nodes"))
    assert gpt.normalization == "LayerNorm"
    assert gpt.position_embedding_type == "learned_absolute"
    assert (gpt.swiglu, gpt.disable_bias_linear) == (None, None)
    assert (gpt.group_query_attention, gpt.num_query_groups) == (None, None)
    assert gpt.untie_embeddings_and_output_weights is None


def test_a_sliding_window_counts_its_own_token() -> None:
    """Tests that a window of 128 tokens looks back at 127, and which layers have it."""
    model = {"sliding_window": 128, "full_attention_every": 2}
    told = read(laid_out(shipped_run("quickstart-7b"), model))
    assert (told.window_size, told.window_attn_skip_freq) == ("127,0", "2")


def test_a_ramp_counts_samples() -> None:
    """Tests that a run whose batch grows is told by its sequences, not by its steps."""
    run = shipped_run("quickstart-7b")
    ramp = {"from": 128, "step": 128, "samples": 5_000_000.0}
    run = replace(run, plan=replace(run.plan, batch_ramp=ramp), sequences=488_281_250)
    told = read(run)
    assert told.rampup_batch_size == [128, 128, 5_000_000]
    assert (told.train_samples, told.train_iters) == (488_281_250, None)


@pytest.mark.parametrize(
    ("precision", "wanted"),
    [
        ("bf16", {"bf16": True, "fp8_format": None}),
        ("fp16", {"fp16": True, "bf16": None}),
        ("fp32", {"fp16": None, "bf16": None}),
        ("fp8", {"bf16": True, "fp8_format": "hybrid"}),
        ("mxfp8", {"fp8_format": "e4m3", "fp8_recipe": "mxfp8"}),
        ("nvfp4", {"fp4_format": "e2m1", "fp4_recipe": "nvfp4"}),
    ],
)
def test_precisions(precision: str, wanted: dict[str, object]) -> None:
    """Tests how each precision is asked for."""
    words = command(layout_of(shipped_run("quickstart-7b"), precision=precision))
    recipes = ["delayed" if w == "${FP8_RECIPE}" else w for w in words.arguments]
    told = vars(read_words("megatron_lm", recipes))
    assert {key: told[key] for key in wanted} == wanted


def test_recomputation_offload_and_gradients() -> None:
    """Tests what else decides on memory."""
    run = shipped_run("quickstart-7b")
    full = read(layout_of(run, recompute="full"))
    assert (full.recompute_granularity, full.recompute_method) == ("full", "uniform")
    assert full.recompute_num_layers == 1
    some = read(layout_of(run, recompute="selective"))
    assert (some.recompute_granularity, some.recompute_method) == ("selective", None)
    away = read(layout_of(run, offload="optimizer to host"))
    assert away.optimizer_cpu_offload
    assert away.use_precision_aware_optimizer
    short = read(worked(run, gradient_precision="bf16"))
    assert short.grad_reduce_in_bf16
    assert short.accumulate_allreduce_grads_in_fp32 is None
    eight = worked(layout_of(run, precision="mxfp8"), fp8_weights=True)
    assert "--fp8-param-gather" in command(eight).arguments


def test_all_reasons_are_told_at_once() -> None:
    """Tests a plan that Megatron-LM's arguments cannot say for many reasons."""
    run = layout_of(
        shipped_run("qlora-70b-two-24gb"), loss="chunked", offload="parameters to host"
    )
    with pytest.raises(NotExpressibleError) as told:
        command(run)
    text = "\n".join(issue.message for issue in told.value.issues)
    assert len(told.value.issues) == 5
    for part in ("qlora", "ZeRO-3", "paged-adamw-8bit", "parameters to host", "chunks"):
        assert part in text


def test_sequences_that_do_not_divide_over_ranks() -> None:
    """Tests that ring attention halves each rank's part once more."""
    run = laid_out(shipped_run("quickstart-7b"), cp=4, dp=8, shard_degree=32)
    with pytest.raises(NotExpressibleError, match="2052 tokens"):
        command(worked(run, sequence_length=2052))


def test_experts_need_sequence_parallelism_beside_tensor_parallelism() -> None:
    """Tests what Megatron Core refuses when it starts."""
    run = laid_out(shipped_run("mixtral-8x7b-pretrain"), tp=2, dp=16, shard_degree=16)
    with pytest.raises(NotExpressibleError, match="sequence parallelism"):
        command(run)
    assert command(layout_of(run, sequence_parallel=True)).arguments


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"tp": 3}, "96 GPUs"),
        ({"accumulation": 7}, "batches of 896"),
        ({"layers_per_stage": (31,)}, "31 layers"),
        ({"layers_per_stage": (16, 16)}, "2 stages"),
        ({"cp": 2}, "64 GPUs"),
    ],
)
def test_an_edited_plan_that_loses_something(
    changes: dict[str, object], part: str
) -> None:
    """Tests that layers, GPUs and sequences which do not add up are refused."""
    with pytest.raises(NotExpressibleError) as told:
        command(layout_of(shipped_run("quickstart-7b"), **changes))
    assert part in "\n".join(issue.message for issue in told.value.issues)


def test_the_script_stops_until_it_is_told_what_no_plan_knows() -> None:
    """Tests the script in a real shell: it asks for the first variable, then runs."""
    text = FORMATS["megatron"].files(shipped_run("llama31-405b")).texts["train.sh"]
    bash = ("bash", "-c", text.replace("torchrun ", "printf '%s\\n' "))
    asked = subprocess.run(bash, env={}, capture_output=True, text=True, check=False)
    assert asked.returncode != 0
    assert "set the folder of Megatron-LM" in asked.stderr
    asked_for = training_command(shipped_run("llama31-405b")).variables
    names = {one.name: "a b'c" for one in asked_for}
    names |= {"NODE_RANK": "3", "MASTER_ADDR": "node-0"}
    done = subprocess.run(bash, env=names, capture_output=True, text=True, check=True)
    words = done.stdout.splitlines()
    assert words[:4] == ["--nproc-per-node", "8", "--nnodes", "1024"]
    assert words[words.index("--rdzv-endpoint") + 1] == "node-0:29500"
    assert "a b'c/pretrain_gpt.py" in words
    assert words[words.index("--data-path") + 1] == "a b'c"
    layout = words[words.index("--pipeline-model-parallel-layout") + 1]
    assert layout.count("|") == 63
