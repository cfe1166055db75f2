"""How a policy is aligned, as people write it: models, lengths and placement."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Tag

from solver.scenario.model_schema import ModelSpec
from solver.scenario.quantities import PositiveWhole, Text
from solver.scenario.quantities import SequenceTokens as Tokens
from solver.scenario.spec import AnyOf, Form, Spec, Spelled

Reference = Literal["own", "shared", "none"]
Placement = Literal["together", "apart"]

ModelWritten = Annotated[
    Annotated[Text, Tag("<value>")] | Annotated[ModelSpec, Tag("<mapping>")], Form
]
"""same, none, a model of the catalog, a config.json, or sizes."""


class GenerationSpec(Spec):
    """How responses are generated."""

    max_response_tokens: Tokens | None = None
    """Tokens of the longest response, for which the whole batch waits and in which
    training has to fit. Default: twice `response_tokens`, an estimate, or what a stated
    `sequence_length` leaves beside the prompt if that is less; the same as
    `response_tokens` where all responses are of one length."""
    rollout_nodes: Annotated[tuple[PositiveWhole, ...], AnyOf] = ()
    """Numbers of nodes that only generate, where models are placed apart; the best is
    taken; left aside where placement is together alone. Default: 1, 2, 4, 8 and 16 are
    tried."""
    one_step_behind: bool = False
    """Whether rollout nodes generate the next batch while this one is trained on, with
    weights one step old; left aside where placement is together alone. Default: no, on
    policy."""


class AlignmentSpec(Spec):
    """The models beside the policy and the work of a step; dpo, ppo and grpo only."""

    prompt_tokens: Tokens | None = None
    """Mean tokens of a prompt (ppo, grpo). Default: 1,024, or what `sequence_length`
    leaves."""
    response_tokens: Tokens | None = None
    """Mean tokens of a response (ppo, grpo). Default: 1,024, or what
    `sequence_length` leaves."""
    group: PositiveWhole | None = None
    """Responses to each prompt. Default: 8 with grpo, 1 with ppo."""
    update_epochs: PositiveWhole = 1
    """Times that each generated batch is trained on. Default: 1."""
    reward_model: ModelWritten | None = None
    """same (as the policy), none (a rule or verifier at no GPU time), a model of the
    catalog, a path to a config.json, or sizes. Default: same with ppo, none with
    grpo."""
    critic_model: ModelWritten | None = None
    """The trained value model of ppo: as `reward_model`. Default: what the reward model
    is, from which it starts."""
    reference: Annotated[Reference, Spelled] | None = None
    """own (a frozen 16-bit copy), shared (the base without adapters; lora and qlora
    only) or none. Default: own where all weights train, else shared."""
    placement: Annotated[tuple[Annotated[Placement, Spelled], ...], AnyOf] = ()
    """together (the nodes that train generate too) or apart (rollout nodes are rented
    beside them), or both, of which the better is taken (ppo, grpo). Default: both."""
    generation: GenerationSpec | None = None
    """How responses are generated (ppo, grpo)."""
