"""The Chinese texts about stock, deliveries, lead times, terms and quotas."""

__all__ = ["ZH_SUPPLY"]

ZH_SUPPLY = {
    "rule.stock": "节点库存",
    "rule.cluster": "同一网络内的节点数",
    "rule.quota": "账户配额",
    "rule.spares": "备用节点数",
    "rule.lead_time": "从下单到交付的时间",
    "rule.term": "最短租期",
    "row.stock": "节点库存",
    "row.cluster": "同一网络内",
    "row.quota": "配额",
    "row.spares": "备用节点",
    "row.start": "开始",
    "row.term": "最短租期",
    "row.unused": "其中未使用",
    "part.delivery": "等待节点交付",
    "part.replacement": "节点替换",
    "alternative.spares": "换备用节点数",
    "alternative.start": "换开始时间",
    "value.alternative.start": "{plan}，自{start}起",
    "value.alternative.now": "{plan}，立即开始",
    "value.cluster": "每个作业至多 {nodes:,} 个节点",
    "value.later-nodes": "{day}起 {nodes:,} 个",
    "value.waited": "下单（{ordered}）后 {days:,.0f} 天，不计费",
    "value.stock.known": "{nodes:,}，报价已注明",
    "value.stock.assumed": "{nodes:,}，假设值：报价未注明库存",
    "term.years": "{count:,.0f} 年",
    "term.months": "{count:,.0f} 个月",
    "term.days": "{count:,.0f} 天",
    "term.hours": "{count:,.4g} 小时",
    "note.keeps-size": (
        "作业保持开始时的规模：{nodes:,} 个节点。之后到货的节点（{later}）不会使用。"
    ),
    "note.waits": (
        "方案等到{start}以取得 {nodes:,} 个节点；作业规模不变，先用较早到位的 "
        "{fewer:,} 个再扩容的做法不在模型之内。"
    ),
    "warning.term": (
        "至少按 {term}付费：租金中有 ${unused:,}（{share}）对应训练用不到的时间。"
    ),
    "warning.term-passed": "训练超过 {term}的租期：之后的时间按同样价格计。",
    "value.spares": (
        "除用于训练的 {nodes:,} 个外另有 {spares:,} 个，故障时立即顶替；同价付费"
    ),
    "value.and-spares": "{servers} + {spares:,} 个备用节点",
    "note.more-spares": (
        "未尝试 {spares:,} 个以上的备用节点：可用 failures.spares 设为 "
        "{{max: {more}}} 来允许。"
    ),
    "notice.spares.idle": (
        "允许至多 {spares:,} 个备用节点，但故障无需等待：请指定替换所需时间"
        "（failures.replacement）。"
    ),
    "value.quota": "此类至多 {nodes:,} 个节点",
    "warning.quota-unknown": (
        "此服务器的 vCPU 数未知，因此未按 {limit:,} 个 vCPU 的配额核对。"
    ),
    "notice.quota.unused": "第 {number} 条配额（{quota}）未匹配任何报价，不起作用。",
    "relax.quota.nodes": "{count:,} 个节点",
    "relax.quota.gpus": "{count:,} 卡",
    "relax.quota.vcpus": "{count:,} 个 vCPU",
    "relax.spares": "{spares:,} 个备用节点",
    "relax.stock.now": "已知或假设的库存",
    "relax.stock": "{offer} 的 {nodes:,} 个节点",
    "relax.hours-of": "{offer} 的 {hours:,.4g} 小时",
    "relax.days-of": "{offer} 的 {days:,.4g} 天",
}
"""Message id to format string."""
