"""The Chinese texts of HTML pages alone; they show those of the terminal too."""

__all__ = ["ZH_HTML"]

ZH_HTML = {
    "html.this-plan": "本方案",
    "html.skip": "跳到数据",
    "html.known": "已证明：目录中没有更好的方案",
    "html.none": "已证明：不存在可行方案",
    "html.unknown": "未定论：先到达时间上限",
    "html.notices": "采用前须知 {count} 项",
    "html.fact.cost": "成本",
    "html.fact.p90": "十次中九次不超过 {value}",
    "html.fact.finish": "完成日期",
    "html.fact.duration": "历时 {duration}",
    "html.fact.duration-p90": "历时 {duration}；十次中九次不超过 {late}",
    "html.fact.gpus": "GPU 数",
    "html.fact.chain": "阶段数",
    "html.fact.leases": "{leases:,} 次租用",
    "html.fact.mfu": "MFU",
    "html.fact.tokens": "每秒 {rate} token",
    "html.fact.memory": "显存占用",
    "html.fact.headroom": "最满的 GPU 上 {capacity} GiB 中空闲 {free} GiB",
    "html.fact.proof": "与下界的差距",
    "html.fact.candidates": "{candidates:,} 个候选",
    "html.fact.points": "有方案的点",
    "html.chart.cost": "各部分成本，共 {total}。",
    "html.chart.duration": "各部分时间，共 {total}。",
    "html.chart.memory": "{capacity} 中已用 {used}，空闲 {free}。",
    "html.chart.step": "一步中未被掩盖的各部分合计 {total}。",
    "html.chart.step-interval": (
        "一步中未被掩盖的各部分合计 {total}；实测的步时间十次中有八次在 {interval} 内。"
    ),
    "html.free": "空闲",
    "html.data": "此图的数据",
    "html.more": "另有 {count:,} 行",
    "html.drawn": "并行布局图",
    "html.drawn.text": (
        "{nodes:,} 个节点上共 {gpus:,} 张 GPU：TP {tp} × CP {cp} × DP {dp:,} × "
        "PP {pp}。rank 由内到外依次为 TP、CP、DP、PP。"
    ),
    "html.stage": "第 {stage} 级，共 {stages} 级 · {layers} 层",
    "html.stages": "第 {first} 至 {last} 级，共 {stages} 级",
    "html.whole-model": "全部 {layers} 层",
    "html.node": "节点 {number:,}",
    "html.more-nodes": "另有 {count:,} 个相同的节点",
    "html.more-stages": "其间另有 {count:,} 级",
    "html.rollout": "rollout 节点：只做生成",
    "html.spare": "备用节点：顶替发生故障的节点",
    "html.legend.stage": "一种颜色为一个流水线级，D 为数据并行 rank。",
    "html.legend.one-stage": "每张 GPU 都有全部层；D 为其数据并行 rank。",
    "html.legend.tp": "同一框内的 GPU 分担每一层（TP {tp}）；T 为框内 rank。",
    "html.legend.cp": "C 为序列的分段（CP {cp}）。",
    "html.legend.ep": "E 为专家的分组：依次 {ep} 组合起来有全部专家（EP {ep}）。",
    "html.legend.virtual": "每一级的层分为 {chunks} 个不相邻的块（交错）。",
    "html.frontier": "成本与时间：还能怎样选",
    "html.frontier.text": (
        "{points:,} 个在相同约束下成本与时间都不被超过的方案；已证明。"
    ),
    "html.frontier.open": (
        "成本与时间权衡中的 {points:,} 个方案；计算时间已用完，可能还有更好的。"
    ),
    "html.regions": "同款 GPU 在其他地区",
    "html.regions.text": (
        "把同一问题中的 {gpu} 每次限定在一个地区：{rows:,} 个地区中有 {planned:,} "
        "个有方案。"
    ),
    "html.regions.unplaced": "{count:,} 个地区因位置未知而不在图上。",
    "html.map": "地图",
    "html.map.text": "{rows:,} 个地区中有 {planned:,} 个有方案。",
    "html.map.land": "陆地：Natural Earth，已简化；地点：GeoNames。",
    "html.map.best": "最佳",
    "html.map.plan": "有方案",
    "html.map.none": "无方案",
    "html.compare.text": "最好的 {count:,} 个，最佳的在前。",
    "html.sweep.heatmap": "每对取值中的最佳",
    "html.sweep.lines": "沿第一个轴",
    "html.sweep.tornado": "影响最大的因素",
    "html.column.region": "地区",
    "html.column.place": "地点",
    "html.column.price": "美元/卡时",
    "html.column.stock": "库存",
    "html.column.result": "结果",
    "html.timeline": "各阶段与租用的时间",
    "html.timeline.text": "{phases:,} 个阶段，{leases:,} 次租用。",
    "html.timeline.lease": "租用 {number}：{nodes:,} 个节点",
    "html.days": "第 {start} 至 {end} 天",
    "html.phase": "阶段：{name}",
    "html.assumed": "代为作出的假设",
    "html.asked": "所提的问题",
    "html.footer": "依据 {day} 的目录 {digest} 中的价格与库存生成。",
    "html.no-network": "本页不从别处加载任何内容。",
}
