"""How a policy is aligned: the models beside it, what is generated, and where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from solver.performance.inputs import TransformerShape

Kind = Literal["dpo", "ppo", "grpo"]


@dataclass(frozen=True, slots=True)
class GenerationEngine:
    """How well an inference engine uses the hardware; catalog/calibration.yaml."""

    weights_rate: float
    """Share of memory bandwidth that reading weights reaches in decode."""
    cache_rate: float
    """Share of memory bandwidth that reading keys and values reaches in decode."""
    matmul_rate: float
    """Share of the sustained rate of large matmuls that prefill and decode reach."""
    layer_s: float
    """Seconds between kernels of one layer and decode step (CUDA graphs)."""
    step_s: float
    """Seconds of a decode step beside its kernels: scheduler and sampling."""
    all_reduce_s: float
    """Seconds to start one all-reduce of tensor parallelism."""
    workspace_bytes: float
    """Memory of a GPU for graphs, activations and buffers of the engine."""
    most_sequences: int
    """Sequences that a replica runs at once at most."""
    cache_bytes: float = 2.0
    """Bytes of an element of keys and values."""


@dataclass(frozen=True, slots=True)
class Lengths:
    """Tokens of prompts and responses of one batch."""

    prompt: float
    """Mean prompt."""
    response: float
    """Mean response."""
    longest: float
    """Longest response: the batch is done when it is."""
    group: int = 1
    """Responses to each prompt, which share its prefill and its cache."""


@dataclass(frozen=True, slots=True)
class Alignment:
    """Models and work of one step of alignment, beside the policy's training."""

    kind: Kind
    lengths: Lengths
    engine: GenerationEngine
    update_epochs: int = 1
    """Times that a generated batch is trained on."""
    has_reference: bool = True
    """Whether a frozen reference scores every sequence."""
    reference_shared: bool = False
    """Whether it is the policy's own base without adapters: no second copy."""
    reward: TransformerShape | None = None
    """Frozen reward model; None: a rule or verifier, at no GPU time."""
    critic: TransformerShape | None = None
    """Trained value model (PPO)."""
    rollout_nodes: int = 0
    """Nodes that only generate; 0: the training nodes generate too."""
    one_step_behind: bool = False
    """Whether rollout nodes generate the next batch while this one is trained on."""
    memory_share: float = 0.9
    """Part of a card's usable memory that may be filled."""
    loop_rate: float = 1.0
    """Share of the speed of its parts that a whole step reaches: responses of uneven
    length, engines that sleep and wake, data that moves between them."""

    @property
    def generates(self) -> bool:
        """Whether responses are generated while training."""
        return self.kind != "dpo"

    @property
    def apart(self) -> bool:
        """Whether nodes of their own generate."""
        return self.rollout_nodes > 0

    @property
    def longest_sequence(self) -> int:
        """Tokens of the longest sequence that is trained on."""
        return int(self.lengths.prompt + self.lengths.longest)
