"""Chinese sentences about the training data: how much of it, and how it is read."""

__all__ = ["ZH_DATA"]

ZH_DATA = {
    "row.ramp": "批次爬升",
    "row.ramp.steps": "爬升步数",
    "section.input": "数据与检查点",
    "row.input": "数据路径",
    "row.input.checkpoint": "单个检查点",
    "row.input.read": "读取",
    "row.input.decode": "解码",
    "row.input.cores": "加载用核数",
    "row.input.stall": "等待数据",
    "value.input.gpudirect": "GPUDirect Storage，硬盘或网卡与 GPU 同处一个 PCIe 域",
    "value.input.bounce": "经锁页主机内存中的中转缓冲区",
    "value.input.rate": "{have}，需要 {needed}",
    "value.input.samples.cpu": (
        "由加载进程完成，{have:,.0f} 样本/s，需要 {needed:,.0f}"
    ),
    "value.input.samples.gpu": "在 GPU 上完成，{have:,.0f} 样本/s，需要 {needed:,.0f}",
    "value.input.cores": "每节点 {have:,.0f}，需要 {needed:,.1f}",
    "value.input.checkpoint": "{time}，{rate}",
    "value.input.stall": "每步 {stall}，未计入步时间",
    "value.ram.usual": "{low:,.0f} 到 {high:,.0f} GB，即显存的 1.5 到 2 倍",
    "row.host.usual": "通常内存",
    "warning.host-unknown": "此服务器的主机内存未知：请核实。",
    "warning.host-ram": (
        "主机内存 {ram:,} GB 只有显存的 {times} 倍；通常为 1.5 到 2 倍。"
    ),
    "warning.input-cores-unknown": (
        "此服务器的 vCPU 数未知：加载进程按 {cores:,.0f} 核计，即同型号、同卡数的已知"
        "服务器中最少的核数。"
    ),
    "warning.input-storage": (
        "GPU 等待输入 {wait}，占训练的 {share:.1%}：需要 {needed:,.2f} GB/s，而存储只能"
        "读 {have:,.2f}。"
    ),
    "warning.input-decoding-cpu": (
        "GPU 等待输入 {wait}，占训练的 {share:.1%}：需要 {needed:,.0f} 样本/s，而加载"
        "进程只能解码 {have:,.0f}。"
    ),
    "warning.input-decoding-gpu": (
        "GPU 等待输入 {wait}，占训练的 {share:.1%}：需要 {needed:,.0f} 样本/s，而 GPU "
        "只能解码 {have:,.0f}。"
    ),
    "warning.input-cure-tier": "换用同一报价的 {tier}，等待可减为 {wait}。",
    "warning.input-cure-gpu": (
        "改在 GPU 上解码（data.decode: gpu，每卡 {rate:,.0f} 图/s），等待可减为 "
        "{wait}。"
    ),
    "warning.input-cure-workers": (
        "每卡用 {workers:,} 个加载进程（data.workers），等待可减为 {wait}。"
    ),
    "warning.input-cure-cores": (
        "每节点用 {vcpus:,} 个 vCPU 而非 {have:,} 个，等待可减为 {wait}。"
    ),
    "warning.layers-uneven": (
        "{layers:,} 层不能平分到 {pp:,} 个流水级：按 {stages} 运行，词嵌入与输出头各按"
        "一层计（Megatron-LM 用 --account-for-embedding-in-pipeline-split 和 "
        "--account-for-loss-in-pipeline-split）。"
    ),
    "warning.kv-replicated": "TP {tp} 多于 {kv_heads} 个 KV 头，KV 头会被复制。",
    "warning.vocabulary-padded": (
        "词表 {vocab:,} 补齐到 {rows:,} 行，即对 {tp:,} 个张量并行 rank 各为 128 的"
        "倍数；补齐部分已计入。"
    ),
    "notice.tokens.compute-optimal": (
        "计算最优：每个 token 经过的 {parameters:,.0f} 个参数各配 "
        "{tokens_per_parameter} token，共 {tokens:,.0f} token。"
    ),
    "notice.tokens.text.stated": (
        "{gb:,.0f} GB 文本，每 token {bytes_per_token:g} 字节，读 {epochs:g} 遍，共 "
        "{tokens:,.0f} token。"
    ),
    "notice.tokens.text.english": (
        "{gb:,.0f} GB 文本，读 {epochs:g} 遍，按 {tokens:,.0f} token 计：每 token "
        "{bytes_per_token:g} 字节，即词表为 {vocabulary:,} 的英文（arXiv 2407.21783）。"
        "同样的文本换一种语言，token 数可达 15 倍（arXiv 2305.15425）：请抽样统计并指"
        "定 bytes_per_token。"
    ),
    "notice.tokens.padded": (
        "数据共 {data:,.0f} token，样本平均 {mean:,.0f}，各补齐到 {length:,}，共计算 "
        "{tokens:,.0f} token：其中 {useful:.1%} 是数据。"
    ),
    "notice.decode-rate.cpu": (
        "未指定图像解码速度：按每进程 {rate:,.0f} 图/s 计，即 8 个进程在 ImageNet 上"
        "达到的速度（data.decode_rate；更大的图像更慢）。"
    ),
    "notice.decode-rate.gpu": (
        "未指定图像解码速度：按每卡 {rate:,.0f} 图/s 计，即 A100 在 ImageNet 上达到的"
        "速度（data.decode_rate；更大的图像更慢）。"
    ),
    "notice.batch.ramp": (
        "批次从 {start:,} 起每次增加 {step:,}，直到 {end:,}，共 {increments:,} 级，每"
        "级 {each:,.0f} 条序列。DP × 微批次在整个训练中须整除 {unit:,}；若把爬升作为单"
        "独阶段，则只在该阶段须整除。"
    ),
    "notice.batch.ramp.uneven": (
        "批次从 {start:,} 起每次增加 {step:,}，直到 {end:,}；{samples:,.0f} 条序列不能"
        "平分为 {increments:,} 级，因此每级持续到再处理 {each:,.1f} 条为止，按整批计。"
        "DP × 微批次在整个训练中须整除 {unit:,}；若把爬升作为单独阶段，则只在该阶段须"
        "整除。"
    ),
    "notice.tokens.samples.full": (
        "{samples:,.0f} 个样本 × {epochs:g} 轮，每个按 {length:,} token 的整条序列计，"
        "共 {tokens:,.0f} token；若样本更短，请设置 data.mean_document_tokens。"
    ),
    "notice.tokens.samples.packed": (
        "{samples:,.0f} 个样本 × {epochs:g} 轮，平均 {length:,.0f} token，打包后共 "
        "{tokens:,.0f} token。"
    ),
    "notice.tokens.samples.padded": (
        "{samples:,.0f} 个样本 × {epochs:g} 轮，各补齐到 {length:,} token，共计算 "
        "{tokens:,.0f} token：其中 {useful:.1%} 是数据。"
    ),
    "notice.tokens.samples.padded-unknown": (
        "{samples:,.0f} 个样本 × {epochs:g} 轮，各补齐到 {length:,} token，共计算 "
        "{tokens:,.0f} token；未设置 data.mean_document_tokens，无从得知其中多少是数据"
        "。"
    ),
}
"""Message id to format string."""
