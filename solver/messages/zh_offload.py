"""The Chinese texts about what leaves the GPU, and what it needs of hosts."""

__all__ = ["ZH_OFFLOAD"]

ZH_OFFLOAD = {
    "warning.way-chosen": (
        "在允许的 {what}（{allowed}）中仅按成本和时间选择了 {chosen}：同样的 token "
        "用不同做法，结果并不相同。"
    ),
    "value.offload": "卸载：{offload}",
    "part.offload": "卸载",
    "lever.offload": "卸载",
    "rule.drives": "节点硬盘放得下卸载的内容",
    "why.drives": (
        "没有节点的硬盘放得下卸载的内容：至少需要 {need:,.0f} GB，最多只有 "
        "{have:,.0f} GB。"
    ),
    "short.dropped.drives": "没有节点的硬盘放得下卸载的内容",
    "note.offload-memory": (
        "主机放不下卸载的内容：每节点需要 {need:,.0f} GB 内存，只有 {have:,.0f} GB。"
    ),
    "note.offload-drives": (
        "硬盘放不下卸载的内容：每节点需要 {need:,.0f} GB，只有 {have:,.0f} GB。"
    ),
    "warning.offload-host": (
        "卸载的内容占用每节点 {have:,.0f} GB 内存中的 {need:,.0f} GB；DeepSpeed 的估算"
        "还要再加一半用于缓冲区。"
    ),
    "warning.offload-slow": (
        "卸载占一步的 {share:.0%}：批次越大，这一开销的次数越少；若 GPU 能容纳这些状态"
        "，则无此开销。"
    ),
}
"""Message id to format string."""
