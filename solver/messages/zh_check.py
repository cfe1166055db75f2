"""The Chinese texts of a plan held against what was measured."""

__all__ = ["ZH_CHECK"]

ZH_CHECK = {
    "headline.check.kept": "按实测，{finish}完成，费用 {cost}：方案的限制都能守住",
    "headline.check.missed": "按实测，{finish}完成，费用 {cost}：{what}无法守住",
    "headline.check.deadline": "截止时间",
    "headline.check.budget": "预算",
    "headline.check.both": "截止时间和预算",
    "section.check.measured": "实测与预测",
    "section.check.forecast": "完成日与账单",
    "section.check.suspects": "时间可能花在哪里",
    "section.check.verdict": "该怎么做",
    "section.check.notes": "依据",
    "column.check.figure": "指标",
    "column.check.measured": "实测",
    "column.check.predicted": "预测",
    "column.check.ratio": "比值",
    "column.check.band": "十之八九",
    "column.check.inside": "在区间内",
    "measured.step_time": "步时间",
    "measured.tokens_per_s": "每秒 token 数",
    "measured.mfu": "MFU（实测）",
    "measured.peak_memory": "显存峰值",
    "measured.checkpoint": "一个检查点",
    "measured.data_read": "读取数据",
    "measured.failures": "故障",
    "value.check.yes": "是",
    "value.check.no": "否",
    "value.check.days": "{now:,.2f} 天，计划 {planned:,.2f} 天",
    "value.check.usd": "{now}，计划 {planned}",
    "value.check.done": "{steps:,} 步，占时间的 {share:.1%}；第 {day:.2f} 天",
    "value.check.limit": "{limit}，{state}",
    "value.check.kept": "守住",
    "value.check.missed": "守不住",
    "row.check.done": "已完成",
    "row.check.duration": "时长",
    "row.check.p90": "九成运行",
    "row.check.cost": "费用",
    "row.check.rest": "尚需支付",
    "row.check.deadline": "截止时间",
    "row.check.budget": "预算",
    "check.suspect.measured": "{part}：每步比预测多 {excess}，占差距的 {share:.0%}。",
    "check.suspect.needed": ("{part} 要达到预测的 {factor:.2f} 倍才能单独解释差距。"),
    "check.suspect.unsure": (
        "仅凭步时间无法判断是哪一部分：请用性能分析器测量各部分并写明，"
        "例如 --measured data_parallel=0.3s。"
    ),
    "check.suspect.none": "步内没有可疑的部分。",
    "check.cause.compute": (
        "功率或温度限制（负载下的频率）、未调优的内核、与方案不同的精度。"
    ),
    "check.cause.recompute": "激活重计算与方案不同。",
    "check.cause.tensor_parallel": ("TP 跨节点或走 PCIe；NVLink 出错；没有序列并行。"),
    "check.cause.context_parallel": "CP 走慢链路，或没有重叠。",
    "check.cause.expert_parallel": "专家负载不均；EP 跨节点。",
    "check.cause.pipeline": "各级不均、micro-batch 比方案少、没有交错。",
    "check.cause.data_parallel": (
        "梯度与反向传播没有重叠；网络只达到线速的一部分（all_reduce_perf）。"
    ),
    "check.cause.optimizer": "优化器没有融合，或没有分布。",
    "check.cause.offload": "主机内存或硬盘慢；没有用锁页内存。",
    "check.cause.overhead": "启动开销：没有 CUDA graph、CPU 慢、每步写日志。",
    "check.cause.generation": "并发回复更少，或回复更长。",
    "check.cause.scoring": "回复比方案更长。",
    "check.cause.critic": "critic 模型比方案更大。",
    "check.cause.weight_sync": "权重经慢路到达生成节点。",
    "check.cause.data_stall": "加载进程太少、小块随机读、存储太远。",
    "check.memory.fine": (
        "显存：{capacity:.1f} GiB 中用 {measured:.1f} GiB，空闲 {free:.0%}："
        "不超过预测。"
    ),
    "check.memory.above": (
        "显存：{capacity:.1f} GiB 中用 {measured:.1f} GiB，超过预测；空闲 {free:.0%}，"
        "要求的 {headroom:.0%} 余量仍在。"
    ),
    "check.memory.tight": (
        "显存：{capacity:.1f} GiB 中用 {measured:.1f} GiB，只剩 {free:.0%}，少于要求的 "
        "{headroom:.0%}：请减半 micro-batch、多做激活重计算或减少碎片"
        "（expandable segments），以免长序列中断运行。"
    ),
    "check.memory.beyond": (
        "显存：{measured:.1f} GiB 超过可用的 {capacity:.1f} GiB："
        "测的是最满的卡吗？是这种卡吗？"
    ),
    "check.note.paces": "步时间、每秒 token 数与 MFU 相差超过 5%：采用 {used}。",
    "check.note.no-pace": (
        "没有测量速度（step_time、tokens_per_s 或 mfu）：沿用预测的速度。"
    ),
    "check.note.failures.inside": "这样的故障次数属于偶然：沿用方案的故障率。",
    "check.note.failures.outside": "这样的故障次数并非偶然：此后采用实测故障率。",
    "check.note.as-of": (
        "假定今天是 {date}，按此速度到那天做完这么多：请写明 --as-of。"
    ),
    "check.note.done": "假定到那天已完成 {steps:,} 步：请写明 --done-steps。",
    "check.note.efficiency": (
        "新方案取调优软件栈预测速度的 {share:.1%}，对所有硬件一样：原因在软件时如此。"
        "原因在节点时，其他节点不受影响；若速度不寻常，也会规划这种情况。"
    ),
    "check.note.change": (
        "更换意味着现在停用原节点，付清其已开始的计费单位和租期，部署新节点，"
        "并从所在处带走数据和检查点。"
    ),
    "check.verdict.stay": "保持不变。",
    "check.verdict.change": "更换：剩余工作比在现有节点上更好。",
    "check.verdict.needed": "更换：现有节点守不住限制。",
    "check.verdict.cannot_tell": ("取决于原因，要先查明：下面两种情况要求不同的做法。"),
    "check.verdict.cannot": "已没有办法守住限制。",
    "check.stay": "在运行中的节点上，剩余工作需要 {days} 和 {usd}。",
    "check.change.everywhere": (
        "若实测速度对所有硬件成立：{provider} 在 {region} 的 {nodes:,} × {per_node} "
        "{gpu}，{days}，{usd}。"
    ),
    "check.change.elsewhere": (
        "若原因在这些节点而新节点如预测：{provider} 在 {region} 的 {nodes:,} × "
        "{per_node} {gpu}，{days}，{usd}。"
    ),
    "check.same": "若实测速度对所有硬件成立，现有节点最好。",
    "check.none.everywhere": "若实测速度对所有硬件成立，没有其他节点能守住限制。",
    "check.none.elsewhere": "若新节点如预测，也没有能守住限制的。",
    "check.move": "已计入检查点的迁移费 {usd}。",
    "check.move-unknown": "目录里没有这次迁移的价格：按 $0 计。",
    "check.over.deadline": "截止时间已过。",
    "check.over.budget": "预算已用完：{spent}。",
    "check.open.deadline": "若截止时间为第 0 天起 {days}，现有节点可行。",
    "check.open.budget": "若总预算为 {usd}，现有节点可行。",
    "check.open.other": (
        "或者换节点：从现在起 {constraint} 为 {needed}，而不是 {now}。"
    ),
    "check.replan.refused": "剩余工作无法再次求解：{reason}。",
}
