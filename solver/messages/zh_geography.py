"""The Chinese texts about places, moved data, energy and carbon."""

__all__ = ["ZH_GEOGRAPHY"]

ZH_GEOGRAPHY = {
    "headline.optimal.energy": "能耗最低，已证明最优",
    "headline.optimal.carbon": "碳排放最低，已证明最优",
    "section.energy": "能耗与碳排放",
    "row.energy": "能耗",
    "row.carbon": "碳排放",
    "value.power": "每节点 {power:,.3g} kW × PUE {pue:g}，估计值",
    "value.carbon": "{carbon} CO2",
    "value.carbon.unknown": "未知：没有该电网的数据",
    "value.grid": "每 kWh {grams:,.0f} g",
    "provenance.pue": "PUE",
    "part.transfer": "复制数据",
    "part.serving": "复制权重",
    "rule.residency": "数据允许存放的地点",
    "rule.energy": "训练能耗",
    "rule.carbon": "训练碳排放",
    "why.energy": "其他条件不变时，最低能耗为 {needed}，而要求为 {now}。",
    "why.carbon": "其他条件不变时，最低碳排放为 {needed}，而要求为 {now}。",
    "notice.residency.location": (
        "数据目前位于 {location}（{country}），不在允许存放的地点之内（"
        "data.residency）。"
    ),
    "moved.data": "数据",
    "moved.weights": "权重",
    "warning.transfer-assumed": (
        "地域间复制按 {rate:,.4g} Gb/s 计（data.transfer）：此为假设。"
    ),
    "warning.egress-unknown": (
        "把{what}从 {origin} 复制到 {target} 的价格未知，未计入成本。"
    ),
    "relax.carbon.asked": "有数据的电网",
    "relax.carbon.unknown": "不限：此报价的电网没有数据",
}
"""Message id to format string."""
