"""The Chinese texts of the way from a plan to a finished run."""

__all__ = ["ZH_ROUTE"]

ZH_ROUTE = {
    "headline.route": (
        "{day}到{finish}：{steps} 步，{duration}，九成运行在{late}前完成"
    ),
    "section.route.milestones": "关键日期",
    "section.route.order": "订购",
    "section.route.stage": "准备数据",
    "section.route.queue": "排队等待",
    "section.route.setup": "部署并检查",
    "section.route.first_hour": "测量第一个小时",
    "section.route.run": "运行",
    "section.route.serve": "迁移权重",
    "section.route.move": "迁移检查点",
    "section.route.release": "释放节点",
    "column.route.date": "日期",
    "column.route.day": "天",
    "column.route.what": "事项",
    "column.route.steps": "步数",
    "column.route.tokens": "token 数",
    "milestone.start": "训练开始",
    "milestone.ramp_end": "批大小达到全量",
    "milestone.progress": "完成 {share:.0%} 的 token",
    "milestone.end": "全部 token 完成",
    "milestone.finish": "预计完成",
    "milestone.finish_p90": "九成运行能守住的完成日",
    "milestone.deadline": "截止时间",
    "milestone.of-phase": "{phase}：{what}",
    "value.route.when": "{date}，第 {day:.1f} 天",
    "value.route.span": "{start}至{end}，第 {first:.1f} 至 {last:.1f} 天",
    "value.route.of-phases": "{phases}：{when}",
    "route.order.rent": (
        "向 {provider} 在 {region} 订购 {nodes:,} 个节点，每个 {per_node} 张 {gpu}，"
        "共 {gpus:,} 张卡，每卡时 {price}。"
    ),
    "route.order.buy": (
        "购买 {nodes:,} 个节点，每个 {per_node} 张 {gpu}，共 {gpus:,} 张卡。"
    ),
    "route.order.use": (
        "在 {provider} 的 {region} 预留 {nodes:,} 个节点，每个 {per_node} 张 {gpu}，"
        "共 {gpus:,} 张卡。"
    ),
    "route.spares": "其中 {spares} 个是备用节点。",
    "route.mix": "其中 {nodes:,} 个以 {purchase} 方式来自 {offer}。",
    "route.quota": (
        "请把账户配额提高到 {nodes:,} 个节点：{gpus:,} 张卡，vCPU：{vcpus}。"
    ),
    "route.quota-stated": "场景写明的配额允许 {nodes:,} 个节点。",
    "route.stock.known": "库存：{nodes:,} 个节点，报价写明。",
    "route.stock.assumed": (
        "报价没有写明库存，假定有 {nodes:,} 个节点。请先确认这个数量。"
    ),
    "route.lead-time": "下单 {days} 天后节点到位。",
    "route.term": "每个节点至少付费 {days:,.1f} 天。",
    "route.ask.on_demand": (
        "询问能否一次拿到全部节点并保留到运行结束；如果不能，同样时长的预留要多少钱。"
    ),
    "route.ask.spot": (
        "询问这类节点多久被收回一次、提前多久通知；方案已计入它所估计的中断。"
    ),
    "route.ask.reserved": "请把租期、开始日、价格和故障节点的处理写进合同。",
    "route.ask.monthly": "请把首月的开始日和退租通知期写进合同。",
    "route.ask.owned": "请在集群调度器里锁定这些节点。",
    "route.ask.bought": "请把交付日、机房的供电与冷却以及维修时间写进合同。",
    "route.ask.fabric": (
        "要求全部 {nodes:,} 个节点在同一网络（{network}）上，彼此靠近。"
    ),
    "route.stage.moved": (
        "把 {size} 从 {origin} 复制到 {region} 的 {storage}：{time}，"
        "出口流量与读取费 {price}。"
    ),
    "route.stage.there": "数据（{size}）已在 {region}：放到 {storage} 上。",
    "route.stage.unstated": (
        "运行前把 {size} 放到 {region} 的 {storage}。来源没有写明："
        "方案不含复制的时间和价格。"
    ),
    "route.stage.assumed": "大小是假定的：每个 token {bytes:g} 字节。请实测。",
    "route.stage.rate": "速率是假定的：区域之间 {rate}。",
    "route.stage.unpriced": "目录里没有这次复制的价格：按 $0 计。",
    "route.stage.residency": "数据只能存放在 {codes}：请检查每一份拷贝。",
    "route.stage.local": "数据在节点自己的硬盘上，随节点一起消失。",
    "route.queue": "预计排队 {hours:g} 小时。",
    "route.setup.nccl": (
        "在全部 {gpus:,} 张卡上运行 nccl-tests 的 all_reduce_perf："
        "方案按大消息 {rate:,.0f} GB/s 的总线带宽计算。"
    ),
    "route.setup.nic": (
        "每个节点有 {gbps:,.0f} Gb/s 网络；请逐个测试，一条慢链路会拖慢每一步。"
    ),
    "route.setup.ram": (
        "主机内存：每个节点需要 {needed:,.0f} GB，承诺 {have:,.0f} GB。"
    ),
    "route.setup.ram-unknown": (
        "主机内存：每个节点需要 {needed:,.0f} GB；实际有多少未知。"
    ),
    "route.setup.drives": "本地硬盘：每个节点需要 {needed:,.0f} GB 存放卸载的数据。",
    "route.setup.cores": "数据加载需要每个节点 {cores:,.1f} 个核。",
    "route.setup.read": ("存储 {tier}：需要读取 {needed}/s；方案按 {have}/s 计算。"),
    "route.setup.dry-run": (
        "用方案的布局运行 {framework} 20 步，写一个检查点，停止，再从它恢复。"
    ),
    "route.measure.step": (
        "步时间，前 20 步之后 100 步的中位数：预测 {step}，"
        "十次这样的运行有八次在 {low} 到 {high} 之间。"
    ),
    "route.measure.tokens": "每秒 token 数：预测 {rate}，通常 {low} 到 {high}。",
    "route.measure.mfu": "MFU：预测 {mfu:.1%}，相对该任务精度的稠密峰值。",
    "route.measure.memory": (
        "最满的卡的显存峰值：预测 {total:.1f} GiB；在 {capacity:.1f} GiB 中不超过 "
        "{limit:.1f} GiB 时余量得以保持。"
    ),
    "route.measure.checkpoint": "写一个检查点：预测停顿 {time}。",
    "route.measure.data": "等待数据：一步中加载器占用的时间。",
    "route.measure.stop": (
        "若中位步时间不在 {low} 到 {high} 之间、显存没有余量或损失不是数字，"
        "请停下重新规划。"
    ),
    "route.measure.command": "填入测得的数值后运行：{command}",
    "route.run.checkpoints": (
        "每 {interval}（{steps:,} 步）把 {size} 的检查点写到 {tier}："
        "共 {count:,} 个；保留最近 {kept} 个。"
    ),
    "route.run.checkpoint-end": "只保存运行的结果，{size}：一次故障就要从头再来。",
    "route.run.failures": "预计故障次数：{failures}。它们占运行的 {lost:.1%}。",
    "route.run.spares": "保持 {spares} 个备用节点就绪，部署与其他节点相同。",
    "route.run.no-spares": "没有备用节点：故障节点要请人更换。",
    "route.run.goodput": "有效产出应保持在付费时间的 {goodput:.1%}。",
    "route.run.evaluation": "评估占训练的 {share:.1%}：共 {time}。",
    "route.run.no-evaluation": "没有为评估安排时间：请在别处用检查点评估。",
    "route.serve.none": "权重以 16 位存储为 {size}；没有写明提供服务的区域。",
    "route.serve.copy": "把权重（{size}）复制到 {region}：{time}，{price}。",
    "route.serve.unpriced": (
        "把权重（{size}）复制到 {region}：{time}；目录里没有价格。"
    ),
    "route.serve.here": "权重就在提供服务的 {region}。",
    "route.move": (
        "{after} 之后，把检查点（{size}）从 {origin} 移到 {region}：{time}，{price}。"
    ),
    "route.move.unpriced": (
        "{after} 之后，把检查点（{size}）从 {origin} 移到 {region}：{time}；"
        "目录里没有价格。"
    ),
    "route.release.give-back": "退还 {nodes:,} 个节点，并在账单中确认。",
    "route.release.bought": "{nodes:,} 个购买的节点可用于其他工作。",
    "route.release.kept": (
        "{tier} 上的数据和检查点若保留，每月 {month}；仅最后一个检查点（{size}）"
        "每月 {checkpoint}。"
    ),
    "route.release.local": (
        "最后一个检查点（{size}）在节点自己的硬盘上：请先复制走，否则随节点一起消失。"
    ),
    "route.release.unused": ("租金中有 {usd} 属于预计完成之后的时间：可用于其他工作。"),
}
