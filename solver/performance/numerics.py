"""How a job keeps its numbers: the optimizer's states, and what leaves the GPU."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Optimizer:
    """Bytes that one optimizer keeps for each trained parameter, and its work.

    ``master_bytes`` is the fp32 copy of the weights (0 where there is none) and
    ``state_bytes`` the moments; ``paged`` moments move to host memory as far as the GPU
    is full, so that they need no GPU memory here.
    """

    name: str
    state_bytes: float
    """Of the layers' matrices, on average; of all parameters where others are alike."""
    master_bytes: float | None = None
    """None: whatever the framework keeps."""
    paged: bool = False
    other_state_bytes: float | None = None
    """Of embeddings, head, norms and routers, on average; None: as of matrices."""
    matrix_flops: float = 0.0
    """FLOPs of a step for each parameter of the layers' matrices (Muon)."""

    @property
    def beside(self) -> float:
        """Bytes by which a parameter outside of the layers' matrices keeps more."""
        other = self.other_state_bytes
        return 0.0 if other is None else other - self.state_bytes


@dataclass(frozen=True, slots=True)
class Offload:
    """What leaves the GPU between its uses; nothing by default."""

    optimizer: bool = False
    """Moments and master copy, which the CPU then updates, and sharded gradients."""
    parameters: bool = False
    """The ZeRO-3 shards of weights, and optimizer states with them."""
    activations: bool = False
    """The layers' inputs that full recomputation keeps, always to host memory."""
    nvme: bool = False
    """States lie on the node's drives and not in host memory."""

    def __bool__(self) -> bool:
        """Whether anything leaves the GPU."""
        return self.states or self.activations

    @property
    def states(self) -> bool:
        """Whether the optimizer's states leave, so that the CPU updates."""
        return self.optimizer or self.parameters

    def __str__(self) -> str:
        """What a plan says: ``none``, ``optimizer+activations to host`` ..."""
        if not self:
            return "none"
        return f"{self.what} to {'nvme' if self.nvme else 'host'}"

    @property
    def what(self) -> str:
        """What leaves, as `workload.offload` names it."""
        states = "parameters" if self.parameters else "optimizer" * self.optimizer
        names = (states, "activations" * self.activations)
        return "+".join(name for name in names if name) or "none"


NOTHING_LEAVES = Offload()
