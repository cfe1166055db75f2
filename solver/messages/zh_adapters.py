"""Chinese sentences about adapters and long sequences."""

__all__ = ["ZH_ADAPTERS"]

ZH_ADAPTERS = {
    "notice.lora.quantised": (
        "基座为 {base} 的适配器训练在 gpuplan 中称为 qlora：方案按量化基座计算。"
    ),
    "value.base": "基座 {base}",
    "value.pure": "不保留 fp32 权重副本",
    "value.loss": "{loss} 损失计算",
    "lever.loss": "损失计算",
    "why.memory.sequence": (
        "瓶颈在单条序列：微批次为 1 时，一条 {tokens:,} token 的序列在每张卡上占用 "
        "{need:.1f} GiB，与数据并行的卡数无关。"
    ),
    "why.memory.longest": "放得下的最长序列为 {tokens:,} token。",
    "why.memory.longest.none": "没有已知放得下的更短序列。",
    "why.memory.divides": (
        "{framework} 通过 {ways} 把一条序列切分到多卡；只有这样增加卡数才有用。"
    ),
    "why.memory.via": "用 {gpus:,} 卡、以 {ways} 切分，就放得下。",
    "why.memory.on-request": (
        "{framework} 只有部分程序能把一条序列切分到多卡（上下文并行，且全部分片）：如果"
        "你的程序可以，请指定并行度，例如 constraints.parallelism.cp=[1, 2, 4, 8]；"
        "只有这样增加卡数才有用。"
    ),
    "why.memory.asked": "只有提高 CP，增加卡数才有用。",
    "why.memory.undivided": "{framework} 不能切分单条序列；{others} 可以。",
    "why.memory.no-framework": "没有其他框架",
    "why.memory.replicated": (
        "每张卡都保存完整的 {need:.1f} GiB 基座（{base}），因此增加卡数没有用。"
    ),
    "why.memory.shard": "将基座分片（{framework}：zero_stage 3）或换更大的卡才有用。",
    "why.memory.unshardable": (
        "换更大的卡，或换可以分片的基座（{others}）才有用：{base} 不能分片。"
    ),
    "why.memory.larger-card": "换更大的卡，或换能将基座分片的框架才有用。",
}
"""Message id to format string."""
