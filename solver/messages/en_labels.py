"""English labels of layouts, levers and sources that are called as their keys."""

__all__ = ["LABELS"]

LABELS = {
    "provenance.usable_memory": "usable memory",
    "provenance.storage": "storage",
    "provenance.step_time": "step time",
    "provenance.server": "server",
    "provenance.price": "price",
    "provenance.power": "power",
    "provenance.model": "model",
    "provenance.grid": "grid",
    "provenance.network": "network",
    "lever.optimizer": "optimizer",
    "lever.method": "method",
    "lever.framework": "framework",
    "miss.nodes": "nodes",
    "miss.layout": "layout",
    "axis.nodes": "nodes",
    "axis.min_tokens_per_context_rank": "min tokens per context rank",
    "axis.max_micro_batch": "max micro batch",
    "axis.batch": "batch",
    "axis.accumulation": "accumulation",
}
"""Message id to format string."""
