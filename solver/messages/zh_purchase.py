"""The Chinese texts about mixes, spot, one's own nodes and buying them."""

__all__ = ["ZH_PURCHASE"]

ZH_PURCHASE = {
    "purchase.bought": "购置",
    "purchase.and": "{base} + {rest}",
    "headline.buy": "在 {where} 购置 {what}：{cost}，{duration}",
    "headline.up-front": "计入 {cost}，前期支出 {outlay}",
    "warning.outlay": (
        "预算 ${budget:,.0f} 针对计入的成本；前期支出为 ${outlay:,.0f}。"
    ),
    "part.energy": "电费",
    "part.hosting": "托管",
    "row.mix.base": "基本部分",
    "row.mix.rest": "其余部分",
    "value.mix": "{nodes:,} 个 {offer} 节点，{purchase}，每节点小时 {node_hour}",
    "value.price.mean": "每 GPU 小时 {gpu_hour}，每节点小时 {node_hour}，均为平均值",
    "value.price.bought": "折旧：每 GPU 小时 {gpu_hour}，每节点小时 {node_hour}",
    "row.lost": "故障损失",
    "section.purchase": "购置",
    "row.outlay": "前期支出",
    "row.resale": "残值",
    "value.resale": "{years:g} 年后 {usd}",
    "row.yearly": "每年",
    "value.yearly": "{usd}：满负荷下的折旧、托管和电费",
    "row.full_use": "每 GPU 小时",
    "value.full_use": "满负荷下 {usd}",
    "row.break_even": "盈亏平衡",
    "value.break_even": (
        "满负荷使用 {months:,.1f} 个月；对比此作业租用 {offer} 的 {gpu}（{purchase}）"
        "的 {cost}"
    ),
    "value.break_even.late": (
        "满负荷使用 {months:,.1f} 个月，超过使用年限；对比此作业租用 {offer} 的 {gpu}"
        "（{purchase}）的 {cost}"
    ),
    "value.break_even.never": (
        "永不：运行费用已超过此作业租用 {offer} 的 {gpu}（{purchase}）的 {cost}"
    ),
    "value.break_even.none": "没有可租的服务器能完成此作业",
    "warning.lost": (
        "训练中 {percent}% 的时间因故障损失：每 {hours:,.1f} 小时发生一次，十次训练中有"
        "一次会超过 {days:,.1f} 天。减少节点，或使用节点丢失后仍保留数据的存储，可减少"
        "损失。"
    ),
    "warning.lost-spot": (
        "训练中 {percent}% 的时间因中断和故障损失：每 {hours:,.1f} 小时发生一次，十次"
        "训练中有一次会超过 {days:,.1f} 天。改用按需节点，或减少节点，可减少损失。"
    ),
    "note.mix": (
        "{base:,} 个 {base_offer} 节点与 {rest:,} 个按需的 {rest_offer} 节点混用：两者"
        "为同一供应商、同一地域的同种节点，假设在同一网络内。"
    ),
    "warning.node-power": (
        "未注明节点功率：按 {kw:.1f} kW 计，即其 GPU 功耗上限的 {factor:g} 倍。电费以此"
        "为依据。"
    ),
    "warning.pue": ("未注明机房的 PUE：按 {pue:g} 计（{source}）。电费以此为依据。"),
    "note.bought": (
        "方案只计入 {nodes:,} 个购置节点在使用期间的折旧，即 {term}中的 {share}：其余"
        "须由其他作业承担（若没有其他作业，用 charge: whole）。"
    ),
    "note.bought-whole": (
        "{nodes:,} 个购置节点的全价减去残值都计入此方案，而它只使用 {term}中的 "
        "{share}。"
    ),
    "why.goodput": (
        "允许的节点故障过于频繁，训练无法完成：即使最稳定的也每 {hours:,.1f} 小时中断"
        "一次，都要超过其工作量的 {times:g} 倍。改用按需而非竞价节点、减少节点，或使用"
        "节点丢失后仍保留数据的存储，会有帮助。"
    ),
    "relax.charge.whole": "{offer} 的全价",
    "relax.charge.used": "{offer} 的使用时间",
}
"""Message id to format string."""
