"""The Chinese texts of comparisons, frontiers and alternatives."""

__all__ = ["ZH_QUESTIONS"]

ZH_QUESTIONS = {
    "headline.compare": (
        "最优（{dimension}）：{value}，{what}，{cost}，{duration}——{rows:,} 个中 "
        "{planned:,} 个有方案，均已证明最优"
    ),
    "headline.compare.open": (
        "已找到的最优（{dimension}）：{value}，{what}，{cost}，{duration}——{rows:,} 个"
        "中 {planned:,} 个有方案；先到时限，未全部证明"
    ),
    "headline.compare.none": "{dimension}：都没有方案",
    "dimension.region": "地域",
    "dimension.country": "国家",
    "dimension.provider": "供应商",
    "dimension.gpu": "GPU",
    "dimension.purchase": "购买方式",
    "dimension.network": "网络",
    "dimension.method": "方法",
    "section.compare": "各自的最优方案",
    "section.differences": "与最优者的差别所在",
    "section.without_plan": "没有方案",
    "column.cost": "成本",
    "column.to_best": "与最优相比",
    "column.finish": "完成",
    "column.servers": "服务器",
    "column.layout": "布局",
    "column.stock": "占库存",
    "column.usd_more": "成本差",
    "column.days_more": "用时差",
    "column.causes": "各项原因，合计",
    "column.why_not": "原因",
    "value.best": "最优",
    "value.finish": "{days}，{day}",
    "value.finish.narrow": "{days}\n{day}",
    "value.stock_used.known": "{stock:,} 个节点中的 {nodes:,} 个",
    "value.stock_used.assumed": "{stock:,} 个节点中的 {nodes:,} 个 (?)",
    "value.same": "相同",
    "value.no_difference": "无",
    "cause.price": "GPU 小时单价",
    "cause.computing": "计算",
    "cause.communication": "通信",
    "cause.checkpoints": "检查点",
    "cause.failures": "故障",
    "cause.data_stall": "等待数据",
    "cause.evaluation": "评测",
    "cause.setup": "准备",
    "cause.queue": "排队",
    "cause.delivery": "等待节点交付",
    "cause.spares": "备用节点",
    "cause.replacement": "等待替换节点",
    "cause.unused": "已付费未使用",
    "cause.transfer": "复制数据",
    "cause.serving": "复制权重",
    "cause.storage": "存储",
    "cause.egress": "数据流出",
    "cause.other": "其他",
    "note.compare.limited": "另有 {count:,} 个有方案；用 --csv 和 --json 可得全部。",
    "note.compare.left-out": (
        "另有 {count:,} 个有报价，但场景都不允许：用 --all 可查看及其原因。"
    ),
    "note.compare.forbidden": "标有 (!) 的不为场景所允许；所示为假如允许时的方案。",
    "note.compare.stock": (
        "标有 (?) 处报价未注明库存：按该节点数计（stock.unknown_nodes）。"
    ),
    "note.compare.spot": "竞价服务器会被收回：预期时间和成本已计入中断。",
    "note.compare.method": "各方法训练的权重不同：同样的 token，结果并不相同。",
    "headline.pareto": (
        "{points:,} 个方案在所有指标上均不被其他方案胜过，已证明：从 {cost}、"
        "{duration} 到 {fast_cost}、{fast_duration}"
    ),
    "headline.pareto.open": (
        "时限内找到 {points:,} 个方案，可能还有更好的：从 {cost}、{duration}，到 "
        "{fast_cost}、{fast_duration}"
    ),
    "section.pareto": "帕累托前沿，从便宜到贵",
    "column.finish_in": "用时",
    "column.day_saved": "每省一天",
    "column.memory_headroom": "空闲显存",
    "column.carbon": "CO2",
    "column.knee": "",
    "value.mwh": "{mwh} MWh",
    "value.tonnes": "{tonnes} t",
    "column.place": "地点",
    "value.knee": "拐点",
    "plot.pareto": "{scenario}：成本与时间",
    "plot.with-unit": "{title}（{unit}）",
    "plot.days": "完成所需天数",
    "plot.dollars": "美元",
    "plot.memory_headroom": "占用最多的卡的空闲显存，%",
    "plot.carbon": "CO2，吨",
    "plot.knee": "拐点：{cost}，{duration}",
    "plot.deadline": "截止时间",
    "plot.budget": "预算",
    "note.pareto.thinned": (
        "显示 {points:,} 个点中均匀分布的 {shown:,} 个，含两端和拐点；用 --csv 和 "
        "--json 可得全部，--points N 显示更多。"
    ),
    "note.pareto.saved": "每省一天：比上一行方案每早完成一天要多付的成本。",
    "note.pareto.knee": (
        "拐点是最佳折中：把各指标在前沿上的最好值记为 0、最差值记为 1，其和最小的点。"
    ),
    "note.pareto.carbon": (
        "CO2 为按节点功率和电网平均值得出的估计；没有电网数据的报价未列入。"
    ),
    "note.pareto.stock": (
        "报价未注明库存处按假设计（stock.unknown_nodes），它决定前沿能延伸多远。"
    ),
    "section.choices": "其他可选方案",
    "column.gains": "得",
    "column.loses": "失",
    "value.nothing": "无",
    "alternative.network": "换网络",
    "objective.cost": "成本",
    "objective.time": "时间",
    "objective.carbon": "CO2",
    "objective.energy": "能耗",
    "objective.weighted": "加权和",
    "change.with-share": "{told}（{share}）",
    "change.cost_usd.more": "贵 {figure}",
    "change.cost_usd.less": "便宜 {figure}",
    "change.duration_days.more": "晚 {figure}",
    "change.duration_days.less": "早 {figure}",
    "change.gpus.more": "多 {figure:,} 卡",
    "change.gpus.less": "少 {figure:,} 卡",
    "change.memory_headroom.more": "空闲显存多 {figure} 个百分点",
    "change.memory_headroom.less": "空闲显存少 {figure} 个百分点",
    "change.stock_left_nodes.more": "剩余库存多 {figure:,} 个节点",
    "change.stock_left_nodes.less": "剩余库存少 {figure:,} 个节点",
    "change.interruptions_per_month.more": "每月多中断 {figure} 次",
    "change.interruptions_per_month.less": "每月少中断 {figure} 次",
    "change.carbon_t.more": "CO2 多 {figure} t",
    "change.carbon_t.less": "CO2 少 {figure} t",
    "note.choices.within": (
        "所示方案的目标值最多比最优高 {within}，每类取最好者；都满足场景的约束。"
    ),
    "note.choices.none": (
        "{kind}：没有满足约束的方案；用 'compare --by {dimension}' 查看原因。"
    ),
    "note.choices.not-free": "{kind}：没有这么接近的方案：只有最优方案为零。",
    "note.choices.nearest": (
        "{kind}：没有这么接近的方案：最接近者高出 {more}（{what}）。"
    ),
    "note.choices.no-time": "先到时限，尚不清楚其他类别相差多少。",
    "note.choices.stock": (
        "报价未注明库存处，剩余库存按假设计（stock.unknown_nodes）。"
    ),
    "short.no-offer": "目录中没有",
    "short.removed": "其 {count:,} 个报价不满足：{title}",
    "short.layout": "没有布局能按要求整除",
    "short.memory": (
        "显存放不下：在 {gpu} 上需要 {need:.1f} GiB，可用 {usable:.1f} GiB"
    ),
    "short.deadline": "最快 {needed}，要求 {now}",
    "short.budget": "最便宜 {needed}，要求 {now}",
    "short.throughput": "最快 {needed} token/s，要求 {now}",
    "short.energy": "最低 {needed}，要求 {now}",
    "short.carbon": "CO2 最低 {needed}，要求 {now}",
    "short.energy.within": "在其他限制内最低为 {needed}，要求 {now}",
    "short.carbon.within": "在其他限制内 CO2 最低为 {needed}，要求 {now}",
    "short.deadline.within": "在其他限制内最快为 {needed}，要求 {now}",
    "short.budget.within": "在其他限制内最便宜为 {needed}，要求 {now}",
    "short.throughput.within": "在其他限制内最快为 {needed} token/s，要求 {now}",
    "short.stock": "按截止时间至少需要 {nodes:,} 个 {gpu} 节点，只有 {stock:,} 个",
    "short.dropped": "都不满足：{title}",
    "short.dropped.host": "没有主机具备其 GPU 所需的内存",
    "short.dropped.storage_capacity": "没有存储放得下数据和两个检查点",
    "short.dropped.goodput": "故障过于频繁，训练无法完成",
    "short.none": "没有候选能满足全部限制",
    "short.no-time": "先到时限",
}
"""Message id to format string."""
