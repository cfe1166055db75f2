"""The Chinese texts of ``gpuplan explain``: what binds, what a step gains, prices."""

__all__ = ["ZH_EXPLAIN"]

ZH_EXPLAIN = {
    "section.binding": "哪些要求限制了方案（单独去掉各项）",
    "section.steps": "各放宽一步（单独）",
    "section.free": "哪些要求没有限制方案",
    "section.break-even": "其他报价降到什么价格会胜出",
    "section.joint": "单独放宽无解，一起放宽才有方案的组合",
    "column.saves": "节省",
    "column.saves_days": "天数",
    "column.saves_energy_mwh": "MWh",
    "column.saves_carbon_t": "t CO2",
    "column.becomes": "届时的方案",
    "column.offer": "报价",
    "column.price": "美元/GPU 小时",
    "column.wins-below": "低于此价胜出",
    "column.change": "改动",
    "value.and": "以及 {what}",
    "row.free": "去掉也无收益",
    "section.more": "其他",
    "value.size-and-time": "{gpus:,} 卡，{duration}",
    "value.others-lose": "另有 {count:,} 个报价见 JSON 对象（--json）",
    "explain.none": "无",
    "explain.more-nodes": "每个资源池增加 {nodes:,} 个",
    "explain.headroom": "显存预留 {share:.0%}",
    "explain.confidence": "{share:.0%} 把握",
    "explain.nothing-binds": "没有要求限制此方案：单独去掉任何一项都不会更好。",
    "explain.no-time": ("部分原因来不及分析：请提高 --time-limit，或让它运行到结束。"),
    "explain.no-proof": (
        "时限内未证明方案最优，因此不知道哪些改动有收益：请提高 --time-limit。"
    ),
}
"""Message id to format string."""
