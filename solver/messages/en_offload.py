"""The English texts about what leaves the GPU, and what it needs of hosts."""

__all__ = ["OFFLOAD"]

OFFLOAD = {
    "warning.way-chosen": (
        "Of the {what} allowed ({allowed}) {chosen} was chosen for cost and time "
        "alone: the same tokens are not the same result with each."
    ),
    "value.offload": "offload: {offload}",
    "part.offload": "offload",
    "lever.offload": "offload",
    "rule.drives": "a node's drives hold what is offloaded",
    "why.drives": (
        "No node has drives enough for what is offloaded: it needs {need:,.0f} GB at "
        "least and has {have:,.0f} GB at most."
    ),
    "short.dropped.drives": "no node has the drives that hold what is offloaded",
    "note.offload-memory": (
        "The host is too small for what is offloaded: a node needs {need:,.0f} GB of "
        "memory and has {have:,.0f} GB."
    ),
    "note.offload-drives": (
        "The drives are too small for what is offloaded: a node needs {need:,.0f} GB "
        "and has {have:,.0f} GB."
    ),
    "warning.offload-host": (
        "What is offloaded takes {need:,.0f} of a node's {have:,.0f} GB of memory; "
        "DeepSpeed's estimate has half as much again for buffers."
    ),
    "warning.offload-slow": (
        "Offload takes {share:.0%} of a step: a larger batch pays it less often, and "
        "GPUs that hold the states do without."
    ),
}
