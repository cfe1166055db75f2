"""What sft, dpo, ppo and grpo ask of a workload, with its defaults.

A batch and the tokens are counted in what the physics trains on: one *sequence* of dpo
is a pair (chosen and rejected side by side, each masked from the other), of ppo and
grpo a prompt with one response.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Literal

from solver.catalog.schema import Architecture
from solver.scenario.alignment_schema import AlignmentSpec, GenerationSpec
from solver.scenario.architecture import named_model
from solver.scenario.consistency import check_sizes
from solver.scenario.model_schema import ModelSpec
from solver.scenario.quantities import TOKENS
from solver.scenario.reading import Reading
from solver.scenario.scenario import AlignmentWork
from solver.scenario.schema import BatchSpec, ScenarioFile
from solver.yaml_source import DataPath

ALIGNMENT: DataPath = ("workload", "alignment")
WORKLOAD: DataPath = ("workload",)

ALIGNED = ("dpo", "ppo", "grpo")
GENERATING = ("ppo", "grpo")
WITH_TRAIN = ("sft", *ALIGNED)

PAIR_TOKENS = 2048
"""Tokens of each sequence of a pair where none are stated."""
PROMPT_TOKENS = RESPONSE_TOKENS = 1024
"""Tokens of a prompt and a response where none are stated, as in verl's examples."""
GROUP = 8
"""Responses to a prompt under GRPO where none are stated: TRL's default."""
ROLLOUT_BATCH = 1024
"""Responses of a step where none are stated, as in DeepSpeed-Chat and DeepSeekMath."""
ROLLOUT_NODES = (1, 2, 4, 8, 16)
"""Numbers of rollout nodes that are tried where none are stated."""

_ONLY = {
    "prompt_tokens": GENERATING,
    "response_tokens": GENERATING,
    "group": GENERATING,
    "update_epochs": GENERATING,
    "placement": GENERATING,
    "generation": GENERATING,
    "reward_model": GENERATING,
    "critic_model": ("ppo",),
}
"""Keys that only some methods have."""


@dataclass(frozen=True, slots=True)
class Aligned:
    """A workload of alignment on its way: what is known before tokens and batch."""

    work: AlignmentWork
    sequence_length: int
    """Tokens of what counts as one sequence."""


def train_of(file: ScenarioFile, reading: Reading) -> Literal["full", "lora", "qlora"]:
    """Return which weights train."""
    spec = file.workload
    if spec.method == "full" or spec.method == "lora" or spec.method == "qlora":
        if spec.train is not None and spec.train != spec.method:
            message = (
                f"method {spec.method} says what is trained already; train goes with "
                "sft, dpo, ppo and grpo"
            )
            path = (*WORKLOAD, "train")
            depends = [(*WORKLOAD, "method")]
            reading.fault("contradiction", message, path, key=True, depends_on=depends)
        return spec.method
    if spec.train is None and not reading.is_broken((*WORKLOAD, "train")):
        reading.notice("notice.alignment.train", method=spec.method)
    return spec.train or "full"


def kind_of(file: ScenarioFile) -> Literal["train", "sft", "dpo", "ppo", "grpo"]:
    """Return what the training is for."""
    method = file.workload.method
    if method == "full" or method == "lora" or method == "qlora":
        return "train"
    return method


def check_start(file: ScenarioFile, reading: Reading) -> None:
    """Log a start from scratch of what tunes a trained model."""
    spec = file.workload
    if spec.method in WITH_TRAIN and spec.start == "scratch":
        message = f"{spec.method} starts from a checkpoint"
        depends = [(*WORKLOAD, "method")]
        path = (*WORKLOAD, "start")
        reading.fault("contradiction", message, path, depends_on=depends)


def check_groups(
    work: AlignmentWork, smallest: int, largest: int, reading: Reading
) -> None:
    """Log a range of batches in which no whole number of groups lies."""
    if largest // work.group * work.group < smallest:
        message = (
            f"no batch of {smallest:,} to {largest:,} responses is whole groups of "
            f"{work.group:,}"
        )
        path = (*WORKLOAD, "global_batch_size")
        depends = [(*ALIGNMENT, "group")]
        reading.fault("not-divisible", message, path, depends_on=depends)


def resolve_alignment(
    file: ScenarioFile,
    architecture: Architecture | None,
    base: Traversable | Path | None,
    reading: Reading,
) -> Aligned | None:
    """Return what dpo, ppo or grpo adds; None with other methods.

    Parameters
    ----------
    file
        The scenario as written.
    architecture
        The policy; None if the scenario's model is wrong.
    base
        Folder that a path to a model is relative to.
    reading
        Takes faults and notices.
    """
    kind, written = file.workload.method, file.workload.alignment
    if kind not in ALIGNED:
        if written is not None:
            message = f"the method {kind} has no alignment; dpo, ppo and grpo have"
            depends = [(*WORKLOAD, "method")]
            reading.fault(
                "contradiction", message, ALIGNMENT, key=True, depends_on=depends
            )
        return None
    spec = written or AlignmentSpec()
    _check_keys(kind, spec, reading)
    _check_workload(file, reading)
    if kind == "dpo":
        length = _pair_length(file, architecture, reading)
        work = AlignmentWork(
            kind="dpo",
            prompt_tokens=0,
            response_tokens=length,
            longest_response=length,
            group=1,
            update_epochs=1,
            reference=_reference(file, spec, reading),
            reward=None,
            critic=None,
            rollout_nodes=(0,),
        )
        reading.notice("notice.alignment.pairs", length=length)
        return Aligned(work, 2 * length)
    return _generating(kind, file, spec, architecture, base, reading)


def _generating(
    kind: str,
    file: ScenarioFile,
    spec: AlignmentSpec,
    architecture: Architecture | None,
    base: Traversable | Path | None,
    reading: Reading,
) -> Aligned:
    """Return the work of a step that generates what it trains on."""
    prompt, response = _lengths(file, spec, architecture, reading)
    longest = _longest(file, spec, prompt, response, reading)
    max_seq = architecture.max_seq if architecture is not None else None
    _tell_too_long(prompt + longest, max_seq, reading)
    group = spec.group or (GROUP if kind == "grpo" else 1)
    if spec.group is None and kind == "grpo":
        reading.notice("notice.alignment.group", group=group)
    usual = "same" if kind == "ppo" else "none"
    reward = _model(
        spec.reward_model, "reward_model", usual, architecture, base, reading
    )
    critic = None
    if kind == "ppo":
        critic = _critic(spec, reward, architecture, base, reading)
    reading.notice(
        "notice.alignment.models",
        reward=reward.id if reward else "none",
        critic=critic.id if critic else "none",
        reference=_reference(file, spec, reading, quiet=True),
    )
    rollouts = _rollout_nodes(spec, reading)
    generation = spec.generation or GenerationSpec()
    work = AlignmentWork(
        kind="ppo" if kind == "ppo" else "grpo",
        prompt_tokens=prompt,
        response_tokens=response,
        longest_response=longest,
        group=group,
        update_epochs=spec.update_epochs,
        reference=_reference(file, spec, reading),
        reward=reward,
        critic=critic,
        rollout_nodes=rollouts,
        one_step_behind=any(rollouts) and generation.one_step_behind,
    )
    return Aligned(work, prompt + response)


def _check_keys(kind: str, spec: AlignmentSpec, reading: Reading) -> None:
    """Log keys that the method does not have."""
    for key in sorted(spec.model_fields_set):
        able = _ONLY.get(key, ALIGNED)
        if kind not in able and getattr(spec, key) not in (None, ()):
            message = f"{kind} has no {key}; {' and '.join(able)} {_have(able)}"
            depends = [(*WORKLOAD, "method")]
            path = (*ALIGNMENT, key)
            reading.fault("contradiction", message, path, key=True, depends_on=depends)


def _have(able: tuple[str, ...]) -> str:
    return "has" if len(able) == 1 else "have"


def _check_workload(file: ScenarioFile, reading: Reading) -> None:
    """Log keys of the workload that do not go with samples of pairs or prompts."""
    spec = file.workload
    kind = spec.method
    what = "pairs" if kind == "dpo" else "prompts"
    if spec.tokens is not None:
        message = f"{kind} counts samples: say samples, the number of {what}"
        reading.fault("contradiction", message, (*WORKLOAD, "tokens"), key=True)
    if spec.packing is not None:
        message = f"{kind} has its own lengths: leave packing out"
        reading.fault("contradiction", message, (*WORKLOAD, "packing"), key=True)
    if spec.batch_ramp is not None and kind in GENERATING:
        message = f"{kind} generates the same batch in every step: leave batch_ramp out"
        reading.fault("contradiction", message, (*WORKLOAD, "batch_ramp"), key=True)
    if file.data.mean_document_tokens is not None:
        keys = "sequence_length says" if kind == "dpo" else "prompt_tokens and "
        keys += "" if kind == "dpo" else "response_tokens say"
        message = f"{keys} how long a sample is: leave mean_document_tokens out"
        path = ("data", "mean_document_tokens")
        reading.fault("contradiction", message, path, key=True)


def _pair_length(
    file: ScenarioFile, architecture: Architecture | None, reading: Reading
) -> int:
    """Return the tokens of each sequence of a pair."""
    written = file.workload.sequence_length
    longest = architecture.max_seq if architecture is not None else None
    if written is None:
        length = min(PAIR_TOKENS, longest or PAIR_TOKENS)
        if not reading.is_broken((*WORKLOAD, "sequence_length")):
            reading.notice("notice.sequence.default", sequence_length=length)
        return length
    _tell_too_long(written, longest, reading)
    return written


def _tell_too_long(length: int, longest: int | None, reading: Reading) -> None:
    if longest is not None and length > longest:
        reading.notice(
            "notice.sequence.too-long", sequence_length=length, max_seq=longest
        )


def _lengths(
    file: ScenarioFile,
    spec: AlignmentSpec,
    architecture: Architecture | None,
    reading: Reading,
) -> tuple[int, int]:
    """Return the mean tokens of a prompt and of a response."""
    whole = file.workload.sequence_length
    prompt, response = spec.prompt_tokens, spec.response_tokens
    if whole is not None:
        if prompt is None:
            prompt = whole - response if response is not None else whole // 2
        if response is None:
            response = whole - prompt
        if prompt + response > whole or min(prompt, response) < 1:
            message = (
                f"prompt_tokens {prompt:,} and response_tokens {response:,} do not go "
                f"into a sequence of {whole:,}: raise sequence_length or leave it out"
            )
            depends = [(*ALIGNMENT, "prompt_tokens"), (*ALIGNMENT, "response_tokens")]
            path = (*WORKLOAD, "sequence_length")
            reading.fault("contradiction", message, path, depends_on=depends)
            prompt, response = max(prompt, 1), max(response, 1)
    longest = architecture.max_seq if architecture is not None else None
    half = (longest or 2 * PROMPT_TOKENS) // 2
    if None in (spec.prompt_tokens, spec.response_tokens):
        prompt = prompt or min(PROMPT_TOKENS, half)
        response = response or min(RESPONSE_TOKENS, half)
        reading.notice("notice.alignment.lengths", prompt=prompt, response=response)
    if prompt is None or response is None:
        return PROMPT_TOKENS, RESPONSE_TOKENS  # never: both are stated
    return prompt, response


def _longest(
    file: ScenarioFile,
    spec: AlignmentSpec,
    prompt: int,
    response: int,
    reading: Reading,
) -> int:
    """Return the tokens of the longest response, which a sequence has to hold."""
    stated = spec.generation.max_response_tokens if spec.generation else None
    whole = file.workload.sequence_length
    if stated is None:
        return _assumed_longest(whole, prompt, response, reading)
    path = (*ALIGNMENT, "generation", "max_response_tokens")
    depends = [(*ALIGNMENT, "response_tokens")]
    if stated < response:
        message = f"the longest response is shorter than the mean of {response:,}"
        reading.fault("contradiction", message, path, depends_on=depends)
    elif whole is not None and prompt + stated > whole:
        message = (
            f"a prompt of {prompt:,} tokens and a response of {stated:,} pass the "
            f"sequence_length of {whole:,}"
        )
        depends += [(*ALIGNMENT, "prompt_tokens"), (*WORKLOAD, "sequence_length")]
        reading.fault("contradiction", message, path, depends_on=depends)
    return max(stated, response)


def _assumed_longest(
    whole: int | None, prompt: int, response: int, reading: Reading
) -> int:
    """Return a multiple of the mean, or what a stated sequence leaves of it."""
    over = float(reading.catalog.calibration["inference"]["longest_over_mean"])
    usual = round(over * response)
    if whole is None or prompt + usual <= whole:
        reading.notice("notice.alignment.longest", longest=usual, mean=response)
        return usual
    longest = max(whole - prompt, response)
    values = {"longest": longest, "mean": response, "sequence_length": whole}
    reading.notice("notice.alignment.longest-held", **values)
    return longest


def _model(
    written: str | ModelSpec | None,
    key: str,
    usual: str,
    architecture: Architecture | None,
    base: Traversable | Path | None,
    reading: Reading,
) -> Architecture | None:
    """Return the architecture of a model beside the policy; None: there is none."""
    path = (*ALIGNMENT, key)
    written = usual if written is None else written
    word = written.strip().casefold() if isinstance(written, str) else ""
    if word in ("same", "none"):
        return architecture if word == "same" else None
    found = named_model(written, path, base, reading)
    if isinstance(written, ModelSpec) and found is not None:
        check_sizes(written, reading, path)
    return found


def _critic(
    spec: AlignmentSpec,
    reward: Architecture | None,
    architecture: Architecture | None,
    base: Traversable | Path | None,
    reading: Reading,
) -> Architecture | None:
    """Return the critic, which by default starts from the reward model."""
    if spec.critic_model is None:
        return reward or architecture
    critic = _model(
        spec.critic_model, "critic_model", "same", architecture, base, reading
    )
    if critic is None and str(spec.critic_model).strip().casefold() == "none":
        message = "ppo trains a critic; grpo has none"
        reading.fault("contradiction", message, (*ALIGNMENT, "critic_model"))
    return critic


def _reference(
    file: ScenarioFile, spec: AlignmentSpec, reading: Reading, *, quiet: bool = False
) -> Literal["own", "shared", "none"]:
    """Return where the frozen reference comes from."""
    train = file.workload.train or "full"
    if spec.reference is None:
        return "own" if train == "full" else "shared"
    if spec.reference == "shared" and train == "full" and not quiet:
        message = (
            "the base is trained whole, so no reference is left in it: own or none, or "
            "train lora"
        )
        path = (*ALIGNMENT, "reference")
        depends = [(*WORKLOAD, "train")]
        reading.fault("contradiction", message, path, depends_on=depends)
    return spec.reference


def _rollout_nodes(spec: AlignmentSpec, reading: Reading) -> tuple[int, ...]:
    """Return the numbers of rollout nodes that may be rented, 0 for together."""
    generation = spec.generation or GenerationSpec()
    places = spec.placement or ("together", "apart")
    together, apart = "together" in places, "apart" in places
    if not apart:
        _tell_unused(generation, reading)
    numbers = tuple(dict.fromkeys(generation.rollout_nodes)) or ROLLOUT_NODES
    if apart and not generation.rollout_nodes:
        tried = ", ".join(str(n) for n in ROLLOUT_NODES)
        reading.notice("notice.alignment.rollout", tried=tried)
    return ((0,) if together else ()) + (numbers if apart else ())


def _tell_unused(generation: GenerationSpec, reading: Reading) -> None:
    """Tell of keys that only count apart: a placement is tried with all else kept."""
    stated = {
        "rollout_nodes": bool(generation.rollout_nodes),
        "one_step_behind": generation.one_step_behind,
    }
    keys = " and ".join(key for key, is_stated in stated.items() if is_stated)
    if keys:
        reading.notice("notice.alignment.together", keys=keys)


def aligned_tokens(
    file: ScenarioFile, aligned: Aligned, reading: Reading
) -> float | None:
    """Return the tokens of all sequences, or None after logging why there are none."""
    spec, work = file.workload, aligned.work
    path = (*WORKLOAD, "samples")
    if spec.samples is None and spec.tokens is not None:
        return None  # told already
    if spec.samples is None:
        what = "pairs" if work.kind == "dpo" else "prompts"
        message = f"'samples' is needed: the number of {what}"
        reading.fault("missing-key", message, path)
        return None
    epochs = spec.epochs or 1.0
    sequences = spec.samples * epochs * (1 if work.kind == "dpo" else work.group)
    tokens = sequences * aligned.sequence_length
    if not TOKENS.allows(tokens):
        message = f"samples x epochs x tokens a sample: expected {TOKENS}"
        reading.fault("out-of-range", message, path)
    reading.notice(
        f"notice.alignment.samples.{'pairs' if work.kind == 'dpo' else 'prompts'}",
        samples=spec.samples,
        epochs=epochs,
        group=work.group,
        length=aligned.sequence_length,
        tokens=tokens,
    )
    return tokens


def aligned_batch(
    file: ScenarioFile, aligned: Aligned, tokens: float | None, reading: Reading
) -> int | BatchSpec | None:
    """Return the batch as written, or the default of a method that generates.

    Responses of a step are whole groups: other numbers are refused.
    """
    written, work = file.workload.global_batch_size, aligned.work
    path: DataPath = (*WORKLOAD, "global_batch_size")
    if work.kind == "dpo":
        return written
    group = work.group
    if written is None:
        if reading.is_broken(path):
            return None
        most = ROLLOUT_BATCH
        if tokens is not None:
            most = min(most, max(int(tokens // aligned.sequence_length), group))
        batch = max(most // group, 1) * group
        reading.notice("notice.alignment.batch", batch=batch, prompts=batch // group)
        return batch
    number = written if isinstance(written, int) else written.sequences
    if isinstance(number, int) and number % group and not _has_range(written):
        near = max(round(number / group), 1) * group
        message = (
            f"{number:,} responses are not whole groups of {group:,}; "
            f"{near:,} are {near // group:,} prompts"
        )
        depends = [(*ALIGNMENT, "group")]
        reading.fault("not-divisible", message, path, str(near), depends_on=depends)
    return written


def _has_range(written: int | BatchSpec) -> bool:
    """Return whether a batch leaves room to find whole groups in."""
    if isinstance(written, int):
        return False
    return any(v is not None for v in (written.min, written.max, written.tolerance))
