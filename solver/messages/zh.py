"""The Chinese (Simplified) texts; `solver.messages` says how they are used."""

from solver.messages.zh_accuracy import ZH_ACCURACY
from solver.messages.zh_adapters import ZH_ADAPTERS
from solver.messages.zh_alignment import ZH_ALIGNMENT
from solver.messages.zh_cards import ZH_CARDS
from solver.messages.zh_catalog import ZH_CATALOG
from solver.messages.zh_check import ZH_CHECK
from solver.messages.zh_data import ZH_DATA
from solver.messages.zh_explain import ZH_EXPLAIN
from solver.messages.zh_exporting import ZH_EXPORTING
from solver.messages.zh_geography import ZH_GEOGRAPHY
from solver.messages.zh_html import ZH_HTML
from solver.messages.zh_import import ZH_IMPORTING
from solver.messages.zh_labels import ZH_LABELS
from solver.messages.zh_launching import ZH_LAUNCHING
from solver.messages.zh_offload import ZH_OFFLOAD
from solver.messages.zh_phases import ZH_PHASES
from solver.messages.zh_plan_file import ZH_PLAN_FILE
from solver.messages.zh_purchase import ZH_PURCHASE
from solver.messages.zh_questions import ZH_QUESTIONS
from solver.messages.zh_route import ZH_ROUTE
from solver.messages.zh_supply import ZH_SUPPLY
from solver.messages.zh_sweeps import ZH_SWEEPS

__all__ = ["MESSAGES"]

_HEADLINES = {
    "headline.rent": "在 {where} 租用 {what}：{cost}，{duration}",
    "headline.use": "使用 {where} 的 {what}：{cost}，{duration}",
    "headline.known": "{decision}——{known}",
    "headline.why": "{decision}：{why}",
    "headline.optimal.cost": "成本最低，已证明最优",
    "headline.optimal.time": "用时最短，已证明最优",
    "headline.optimal.weighted": "成本与时间的最佳折中，已证明最优",
    "headline.feasible": "时限内找到的最好方案，未证明最优：差距 {gap}",
    "headline.feasible.no-bound": "时限内找到的最好方案，未证明最优",
    "headline.infeasible": "没有方案能满足此场景（已证明）",
    "headline.unknown": "时限内未找到方案；可能仍有方案存在",
    "headline.scenarios": (
        "按名称求解：'gpuplan solve quickstart-7b'；用 'gpuplan scenarios copy' "
        "取得可修改的文件"
    ),
    "headline.estimate.fits": "显存放得下；每步 {step}，训练 {training}",
    "headline.estimate.tight": "占用预留余量才放得下；每步 {step}，训练 {training}",
    "headline.estimate.impossible": "显存放不下",
}

_SECTIONS = {
    "section.hardware": "硬件与地点",
    "section.layout": "并行布局",
    "section.memory": "每卡显存（占用最多的流水级）",
    "section.step": "单步时间",
    "section.duration": "工期",
    "section.cost": "成本",
    "section.host": "节点主机",
    "section.proof": "证明",
    "section.alternatives": "备选方案及各自的差别",
    "section.warnings": "警告",
    "section.notes": "说明",
    "section.provenance": "数据来源",
    "section.explanation": "为什么没有方案",
    "section.scenarios": "自带场景",
    "section.try": "如需尝试，请加上",
    "section.relaxations": "单独放宽哪一项就有方案",
    "section.levers": "同样的节点上可减少显存需求的做法",
    "section.nearest": "最接近可行的情况",
    "section.counts": "各项要求排除的报价数",
}

_ROWS = {
    "row.servers": "服务器",
    "row.place": "地点",
    "row.price": "价格",
    "row.intra_node": "节点内互联",
    "row.network": "节点间网络",
    "row.storage": "存储",
    "row.parallel": "并行度",
    "row.layers": "每级层数",
    "row.batch": "批次",
    "row.sharding": "分片",
    "row.recompute": "激活重计算",
    "row.numerics": "数值格式",
    "row.framework": "框架",
    "row.total": "合计",
    "row.usable": "可用",
    "row.steps": "步数",
    "row.throughput": "吞吐",
    "row.interval": "80% 区间",
    "row.mfu": "MFU",
    "row.efficiency": "占预测速度",
    "row.p90": "90 分位",
    "row.confidence": "{confidence:.0%} 置信度",
    "row.checkpoint": "单个检查点",
    "row.checkpoint_interval": "写入间隔",
    "row.goodput": "有效时间占比",
    "row.gpu_hours": "GPU 小时",
    "row.host.vcpus": "vCPU",
    "row.host.ram_gb": "主机内存",
    "row.host.local_nvme_tb": "本地 NVMe",
    "row.host.nic_gbps": "网卡",
    "row.status": "状态",
    "row.bound": "下界",
    "row.searched": "搜索范围",
    "row.layouts": "布局",
    "row.lattice": "搜索网格",
    "row.ties": "难分优劣",
    "row.wall_time": "求解耗时",
    "row.kind": "类别",
    "row.conflict": "冲突项",
    "row.training": "训练",
    "row.versions": "版本",
}

_VALUES = {
    "value.node": "{per_node} {gpu}",
    "value.nodes": "{nodes:,} × {per_node} {gpu}",
    "value.servers.one": "{what}，单节点，{purchase}",
    "value.servers": "{what} = {gpus:,} 卡，{purchase}",
    "value.place": "{provider}，{region}",
    "value.place.country": "{provider}，{region}（{country}）",
    "value.where": "{provider} {region}",
    "value.where.unstated": "{provider}",
    "value.price": "每 GPU 小时 {gpu_hour}，每节点小时 {node_hour}",
    "value.price.hour": "每 GPU 小时 {gpu_hour}，每节点小时 {node_hour}，按整小时计费",
    "value.price.month": "每节点月 {node_month}，按整月计费；每 GPU 小时 {gpu_hour}",
    "value.price.free": "无：服务器为自有",
    "value.network.none": "无：单节点",
    "value.storage.none": "节点自带 NVMe，免费",
    "value.interval": "{low}–{high} {unit}",
    "value.virtual": "{virtual_stages} 个虚拟流水级",
    "value.batch": (
        "{global_batch:,} 条序列 = DP {dp} × 微批次 {micro_batch} × 累积 {accumulation}"
    ),
    "value.zero": "ZeRO-{stage}，跨 {degree:,} 卡",
    "value.zero.none": "无（ZeRO-0）",
    "value.sequence_parallel": "序列并行",
    "value.numerics": "{precision}，{optimizer}",
    "value.ram": "{have}，需要 {needed}",
    "value.opens": "{cost}，{duration}，{gpus:,} 卡",
    "value.region.unstated": "地域未注明",
    "value.divides": "{why}；最接近的取值：{nearest}",
    "value.yes": "是",
    "value.no": "否",
    "value.unknown": "未知",
    "value.bound": "{bound}（差距 {gap}）",
    "value.searched": "{candidates:,} 个候选，其中 {pruned:,} 个经精确剪枝排除",
    "value.layouts": (
        "{layouts:,} 个；{memory:,} 个显存放不下，{bounded:,} 个因下界排除"
    ),
    "value.ties": "{count:,} 个候选与最优之差在预测误差以内",
    "value.alternative": "{what}，{place}，{purchase}",
    "value.alternative.place": "{provider} {region}",
    "value.alternative.batch": "{plan}，批次 {batch:,}",
}

_PARTS = {
    "part.weights": "权重",
    "part.gradients": "梯度",
    "part.optimizer": "优化器",
    "part.activations": "激活",
    "part.other": "其他",
    "part.compute": "计算",
    "part.recompute": "重计算",
    "part.tensor_parallel": "张量并行",
    "part.context_parallel": "上下文并行",
    "part.expert_parallel": "专家并行",
    "part.pipeline": "流水线气泡",
    "part.data_parallel": "数据并行",
    "part.overhead": "额外开销",
    "part.training": "训练",
    "part.failures": "故障与重启",
    "part.checkpoints": "检查点",
    "part.checkpoint": "检查点",
    "part.data_stall": "等待数据",
    "part.setup": "准备",
    "part.queue": "排队",
    "part.evaluation": "评测",
    "part.storage": "存储",
    "part.egress": "流出流量",
}

_KINDS = {
    "purchase.on_demand": "按需",
    "purchase.spot": "竞价",
    "purchase.reserved": "预留",
    "purchase.monthly": "包月",
    "purchase.owned": "自有",
    "status.optimal": "在下述网格与本模型内已证明最优",
    "status.feasible": "方案已校验，但未证明最优",
    "status.infeasible": "在下述网格与本模型内已证明不可行",
    "status.unknown": "先到时限",
    "explanation.memory": "显存：没有布局放得进该卡",
    "explanation.layout": "布局：无法按要求整除",
    "explanation.catalog": "目录：没有符合要求的报价",
    "explanation.constraints": "约束：没有候选能同时满足全部约束",
    "alternative.gpu": "换 GPU",
    "alternative.provider": "换供应商",
    "alternative.region": "换地域",
    "alternative.purchase": "换购买方式",
    "alternative.size": "换规模",
    "alternative.batch": "换批次（与要求不同）",
}

_COLUMNS = {
    "column.kind": "类别",
    "column.plan": "方案",
    "column.cost_change": "成本",
    "column.duration_change": "天数",
    "column.constraint": "约束",
    "column.now": "当前",
    "column.needed": "需要",
    "column.scenario": "场景",
    "column.question": "问题",
    "column.opens": "放宽后可行",
    "column.change": "改动",
    "column.need": "需要 GiB",
    "column.fits": "放得下",
    "column.requirement": "要求",
    "column.removed": "排除",
}

_NOTICES = {
    "notice.batch.default": "未指定全局批次：按 {sequences:,} 条序列计。",
    "notice.batch.open": "未指定全局批次上限：最多搜索到 {sequences:,} 条序列。",
    "notice.batch.rounded": (
        "全局批次 {tokens:,.0f} token 相当于 {exact:,.2f} 条长 {sequence_length:,} "
        "的序列：取整为 {sequences:,} 条，即 {taken:,} token。"
    ),
    "notice.batch.rounded-badly": (
        "全局批次 {tokens:,.0f} token 相当于 {exact:,.2f} 条长 {sequence_length:,} "
        "的序列：取整为 {sequences:,} 条，即 {taken:,} token。{sequences:,} "
        "不易在各卡间整除；{nearest:,} 条（{nearest_tokens:,} token）更易整除，也可用 "
        "'tolerance: 5%' 交由 gpuplan 选择。"
    ),
    "notice.sequence.default": "未指定序列长度：按 {sequence_length:,} token 计。",
    "notice.sequence.too-long": (
        "序列长 {sequence_length:,} token，超过模型的 {max_seq:,} 个位置。"
    ),
    "notice.purchase.own": (
        "未指定购买方式：取按需，以及自有报价所含的方式（{kinds}）。"
    ),
    "notice.offer.network": (
        "报价 {offer}：每节点 {gbps:,.0f} Gb/s 的 {kind} 按 {tier} 档处理。"
    ),
    "notice.offer.one-node": (
        "报价 {offer}：未注明其 {nodes:,} 个节点之间的网络，因此一个作业只用一个节点。"
    ),
    "notice.price.unused": "第 {number} 条价格规则（{rule}）未匹配任何报价，不起作用。",
}

_WARNINGS = {
    "warning.stock-assumed": (
        "库存未知：方案需要 {nodes:,} 个节点，按有 {assumed:,} 个计"
        "（stock.unknown_nodes）。请向供应商确认。"
    ),
    "warning.stock-marketplace": "库存未知：交易市场的一条报价按一个节点计。",
    "warning.stock-no-fabric": "此报价的节点间网络情况未知，因此按一个节点计。",
    "warning.spot": (
        "竞价价格会波动，服务器会被收回：此价为 {as_of} 的价格；工期已计入每节点每月 "
        "{monthly:g} 次中断。"
    ),
    "warning.spot-moment": (
        "竞价价格会波动，服务器会被收回：此价是该地域各可用区在某一时刻（{as_of}）"
        "的最低价，实际可能更高；工期已计入每节点每月 {monthly:g} 次中断。"
    ),
    "warning.whole-units": (
        "按整{unit}付费：若如预期进行，为 {expected:,}（${usd:,}）；按 90 分位为 "
        "{late:,}（${late_usd:,}）。成本取各种可能的平均值。"
    ),
    "warning.price-outlier": (
        "每 GPU 小时 ${price:.2f} 远低于同款卡其他报价的 ${peers:.2f}：请核实。"
    ),
    "warning.local-drives": (
        "检查点存放在节点自带的盘上（{tier}）：请复制到别处，否则丢失一个节点就会"
        "丢失整个训练。"
    ),
    "warning.few-steps": "优化器只更新 {steps:,} 步：相对如此少的 token，批次过大。",
    "warning.price-estimate": "此价格为估计值（{source}）：请询价。",
    "warning.price-age": (
        "{what}的价格日期为 {as_of}，至少已过 {days:,} 天：请查询当前价格。"
    ),
    "priced.servers": "服务器",
    "priced.storage": "存储",
    "priced.egress": "数据流出",
    "warning.storage-price-unknown": "存储 {tier} 的价格未知，未计入成本。",
    "warning.low-mfu": (
        "MFU 为 {percent}% 时，步时间取决于内核启动与延迟，难以预测：十次训练中有一次"
        "会超过预测的 {times:g} 倍。"
    ),
    "warning.gpu-unmeasured": (
        "{gpu} 没有实测步时间：由其他 {generation} 卡推算得出。"
    ),
    "warning.combination-unmeasured": (
        "{gpu} 上没有 {framework} 以 {precision} 训练 {kind} 模型的实测步时间：由其他"
        "训练推算得出。"
    ),
    "warning.scale-unmeasured": ("{gpus:,} 卡超过 {gpu} 上最大实测规模 {most:,} 卡。"),
    "warning.efficiency": (
        "步时间按预测速度的 {percent:g}% 规划，预测速度对应调优良好的框架"
        "（workload.efficiency）。"
    ),
    "warning.efficiency-held": (
        "若达到预测速度的 {asked:g}%，这些 {gpu} 节点的某项指标会超过规格书：步时间按 "
        "{taken:g}% 规划（workload.efficiency）。"
    ),
    "warning.gpu-estimate": "没有实测数据校准 {generation} 这一代：其效率为估计值。",
    "note.layout-chosen": (
        "{count:,} 个布局符合指定条件；所示为显存放得下的最快者（若都放不下，则为占用"
        "最少者）。"
    ),
}

_RULES = {
    "rule.memory": "峰值显存放得进该卡",
    "rule.divisibility": "布局可整除",
    "rule.parallelism": "指定的并行度",
    "rule.host": "主机内存足够",
    "rule.precision": "GPU 支持该精度",
    "rule.regions": "允许的地域",
    "rule.countries": "允许的国家",
    "rule.providers": "允许的供应商",
    "rule.gpu_types": "允许的 GPU 型号",
    "rule.gpus": "GPU 数量",
    "rule.intra_node": "节点内 NVLink 档次",
    "rule.network": "节点间网络档次",
    "rule.storage": "存储档次",
    "rule.storage_capacity": "存储容量",
    "rule.purchase": "允许的购买方式",
    "rule.throughput": "吞吐下限",
    "rule.deadline": "截止时间",
    "rule.budget": "预算",
    "rule.goodput": "故障之外有时间完成",
}

_WHY = {
    "why.catalog": "{total:,} 个报价均不符合要求；最主要的未满足项：{rule}",
    "why.layout": "没有布局能按要求整除：{reasons}",
    "why.layout.none": "没有任何 GPU 数量可行",
    "why.layout.nodes": "每节点 {sizes} 卡的节点凑不出所要求的数量",
    "why.memory": (
        "显存放不下：在 {gpu} 上至少需要 {need:.1f} GiB，而可用 {usable:.1f} GiB"
    ),
    "why.constraints": "没有候选能同时满足全部限制。",
    "why.deadline": "其他条件不变时，最快为 {needed}，而要求为 {now}。",
    "why.budget": "其他条件不变时，最低为 {needed}，而要求为 {now}。",
    "why.reachable": (
        "单独放宽任何一项都没有方案。若去掉截止时间、预算和吞吐下限，最快为 {soonest}"
        "（{soonest_cost}），最便宜为 {cheapest}（{cheapest_days}）。"
    ),
    "why.host": (
        "所有允许的主机内存都不足：每节点至少需要 {need:,.0f} GB，最多只有 "
        "{have:,.0f} GB。"
    ),
    "why.storage_capacity": ("允许的存储都放不下数据和两个检查点，共 {need:,.0f} GB。"),
    "why.no-time": "时限已到，来不及找出放宽哪一项会有方案。",
    "why.sets": "即使去掉截止时间、预算和吞吐下限，也没有方案。",
    "why.throughput": "其他条件不变时，最高为 {needed} token/s，而要求为 {now}。",
    "relax.hours": "{hours:,.1f} 小时",
    "relax.days": "{days:,.1f} 天",
    "relax.headroom": "预留 {share:.1%}",
    "relax.not": "排除 {names}",
    "relax.gb-per-s": "节点内每卡 {rate:,.0f} GB/s",
    "relax.gbps": "每卡 {rate:,.0f} Gb/s",
    "relax.reads": "读取 {rate:,.2f} GB/s",
    "relax.no-network": "无：单节点",
    "relax.no-country": "不限：此报价所在国家未知",
    "range.per-node": "每节点 {limit}",
    "range.least": "至少 {least:,.0f}",
    "range.most": "至多 {most:,.0f}",
    "range.between": "{least:,.0f} 到 {most:,.0f}",
}

_LISTS = {
    "list.pair": "{first}，{second}",
    "value.day": "{year}年{month}月{day}日",
    "list.words": "、",
    "list.clauses": "；",
    "list.sentences": "",
}

MESSAGES: dict[str, str] = (
    _HEADLINES
    | _LISTS
    | _SECTIONS
    | _ROWS
    | _VALUES
    | _PARTS
    | _KINDS
    | _COLUMNS
    | _RULES
    | _WHY
    | _WARNINGS
    | _NOTICES
    | ZH_ACCURACY
    | ZH_ADAPTERS
    | ZH_ALIGNMENT
    | ZH_CHECK
    | ZH_DATA
    | ZH_EXPLAIN
    | ZH_EXPORTING
    | ZH_LABELS
    | ZH_LAUNCHING
    | ZH_IMPORTING
    | ZH_OFFLOAD
    | ZH_PLAN_FILE
    | ZH_PURCHASE
    | ZH_QUESTIONS
    | ZH_ROUTE
    | ZH_SUPPLY
    | ZH_SWEEPS
    | ZH_GEOGRAPHY
    | ZH_HTML
    | ZH_PHASES
    | ZH_CATALOG
    | ZH_CARDS
)
"""Message id to format string."""
