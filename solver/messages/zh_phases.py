"""The Chinese texts about phases that run one after the other."""

__all__ = ["ZH_PHASES"]

ZH_PHASES = {
    "headline.phases": "{phases} 个阶段，{leases} 份租约：{cost}，{duration}",
    "section.phases": "各阶段，依次进行",
    "section.leases": "租约，各计费一次",
    "section.moves": "地域间迁移",
    "column.phase": "阶段",
    "column.servers": "服务器",
    "column.place": "地点",
    "column.days": "天",
    "column.parallel": "并行度",
    "column.step": "单步",
    "column.lease": "阶段",
    "column.storage": "存储",
    "column.paid": "付费小时",
    "column.waited": "等待",
    "column.cost": "成本",
    "column.after": "之后",
    "column.from": "自",
    "column.to": "至",
    "column.checkpoint": "检查点",
    "column.price": "价格",
    "column.time": "时间",
    "value.days": "{start:.1f}–{end:.1f}",
    "part.moves": "迁移检查点",
    "part.data": "取得数据",
    "why.phase": "阶段 {phase} 即使去掉截止时间和预算，单独也没有方案：{why}",
    "why.phases": "每个阶段单独都有方案，但没有一条链能满足全部限制。",
    "why.phases.deadline": "其他条件不变时，最快为 {needed}，而要求为 {now}。",
    "why.phases.budget": "其他条件不变时，最低为 {needed}，而要求为 {now}。",
    "why.phases.neither": (
        "单独放宽截止时间或预算都没有方案：最快的链用时 {soonest}，成本 "
        "{soonest_cost}；最便宜的链成本 {cheapest}，用时 {cheapest_days}。"
    ),
    "relax.phase": "无此限制",
    "phases.moves": (
        "检查点在地域间迁移按 {gbps:,.4g} Gb/s 计；期间节点和存储都不付费。同一地域内"
        "读取检查点计入准备时间。训练数据自第 0 天起复制，不占用节点。"
    ),
    "phases.price-unknown": (
        "目录中没有把检查点从 {origin} 迁移到 {destination} 的价格：按 $0 计。"
    ),
    "phases.confidence": (
        "在 {confidence:.0%} 置信度下，假设各阶段的模型误差相同。同一租约内的故障相互"
        "独立；各租约的延迟相加，结果偏保守。"
    ),
    "phases.data": (
        "各阶段读取各自的数据，共 {size}，按其 token 数估算；若都读同一份数据，请指定 "
        "data.size。"
    ),
}
"""Message id to format string."""
