"""Chinese labels of layouts, levers and sources."""

__all__ = ["ZH_LABELS"]

ZH_LABELS = {
    "provenance.usable_memory": "可用显存",
    "provenance.storage": "存储",
    "provenance.step_time": "步时间",
    "provenance.server": "服务器",
    "provenance.price": "价格",
    "provenance.power": "功率",
    "provenance.model": "模型",
    "provenance.grid": "电网",
    "provenance.network": "网络",
    "lever.optimizer": "优化器",
    "lever.method": "训练方法",
    "lever.framework": "框架",
    "miss.nodes": "节点数",
    "miss.layout": "布局",
    "axis.nodes": "节点数",
    "axis.min_tokens_per_context_rank": "每个 CP rank 最少 token",
    "axis.max_micro_batch": "微批次上限",
    "axis.batch": "批次",
    "axis.accumulation": "累积",
}
"""Message id to format string."""
