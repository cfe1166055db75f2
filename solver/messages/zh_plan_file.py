"""The Chinese texts of what is done with a plan that was written to a file."""

__all__ = ["ZH_PLAN_FILE"]

ZH_PLAN_FILE = {
    "notice.plan.version": (
        "此方案由 gpuplan {made} 生成，当前版本为 {now}：数值可能不同。"
    ),
    "notice.plan.catalog": ("方案生成之后目录已有变化：价格、库存和硬件数据可能不同。"),
}
"""Message id to format string."""
