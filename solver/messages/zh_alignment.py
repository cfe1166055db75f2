"""Chinese sentences about alignment: sft, dpo, ppo and grpo."""

__all__ = ["ZH_ALIGNMENT"]

ZH_ALIGNMENT = {
    "section.alignment": "对齐训练",
    "row.rollout": "rollout 节点",
    "value.rollout": "{nodes:,} 个节点，共 {gpus:,} 卡，只做生成",
    "warning.alignment.loop": (
        "{method} 的一步按各部分速度的 {percent}% 规划，取自公开的训练记录，其上下相差"
        "三分之一：十次中有一次会超过 {times} 倍。"
    ),
    "warning.alignment.engine-copy": (
        "生成期间，推理引擎以 16 位保存全部权重，与 {train} 训练适配器所用的基座并存："
        "若引擎与训练共用基座，或以 4 位读取，所需显存会少于方案。"
    ),
    "estimate.none-trains": (
        "除 {beside:,} 个 rollout 节点外，总共 {nodes:,} 个节点中没有节点可用于训练："
        "--nodes 和 --gpus 都包含两者，请填写方案中 nodes 与 rollout_nodes 之和"
    ),
    "value.and-rollout": "{servers} + {nodes:,} 个 rollout 节点",
    "row.alignment.kind": "方法",
    "row.alignment.placement": "生成位置",
    "value.alignment.pairs": "每步 {samples:,} 对",
    "value.alignment.prompts": (
        "每步 {samples:,} 条提示、{sequences:,} 条回复，训练 {epochs:,} 遍"
    ),
    "value.placement.together": "与训练共用节点",
    "value.placement.apart": "{nodes:,} 个独立节点，交替进行",
    "value.placement.behind": "{nodes:,} 个独立节点，滞后一步",
    "row.model.policy": "策略模型",
    "row.model.reference": "参考模型",
    "row.model.reward": "奖励模型",
    "row.model.critic": "价值模型",
    "value.model.trained": "每卡 {gib} GiB，参与训练；占一步的 {share}",
    "value.model.frozen": "每卡 {gib} GiB，冻结；占一步的 {share}",
    "value.model.shared": "即不带适配器的基座：无额外副本；占一步的 {share}",
    "row.generation": "生成",
    "value.generation": "占一步的 {share}",
    "row.generation.speed": "生成速度",
    "value.generated": "共 {tokens} token",
    "row.generation.layout": "副本",
    "value.replicas": (
        "{replicas:,} 个，TP {tp} × {stages} 级，每个同时处理 {concurrent:,} 条序列"
    ),
    "row.generation.memory": "每卡引擎显存",
    "value.engine": "权重 {weights} GiB，KV 缓存 {cache} GiB",
    "part.generation": "生成",
    "part.scoring": "打分前向",
    "part.critic": "价值模型",
    "part.weight_sync": "权重同步",
    "notice.alignment.train": (
        "{method} 训练全部权重：`train` 未指定为 lora 或 qlora。"
    ),
    "notice.alignment.pairs": (
        "每对为两条至多 {length:,} token 的序列，即选中与落选；批次与微批次按对计数。"
    ),
    "notice.alignment.lengths": (
        "提示平均按 {prompt:,} token、回复平均按 {response:,} token 计；请指定 "
        "prompt_tokens 和 response_tokens。"
    ),
    "notice.alignment.longest": (
        "最长回复按 {longest:,} token 计，即均值 {mean:,} 的两倍（估计值）：整批要等它"
        "生成完，训练也要放得下它；请指定 generation.max_response_tokens。"
    ),
    "notice.alignment.longest-held": (
        "最长回复按 {longest:,} token 计，均值为 {mean:,}：提示与回复合计不超过 "
        "sequence_length 的 {sequence_length:,}。"
    ),
    "notice.alignment.together": (
        "生成只与训练共用节点：alignment.generation 中仅在独立节点时有效的 {keys} "
        "不予采用。"
    ),
    "notice.alignment.group": "未指定组大小：每条提示按 {group:,} 条回复计。",
    "notice.alignment.models": (
        "除策略模型外：参考模型 {reference}，奖励模型 {reward}，价值模型 {critic}。"
    ),
    "notice.alignment.batch": (
        "未指定全局批次：每步按 {prompts:,} 条提示、{batch:,} 条回复计。"
    ),
    "notice.alignment.rollout": (
        "独立放置时尝试 {tried} 个 rollout 节点；如需其他数量，请用 "
        "alignment.generation.rollout_nodes 指定。"
    ),
    "notice.alignment.samples.pairs": (
        "{samples:,.0f} 对 × {epochs:g} 轮 × 每对 {length:,} token，共计算 "
        "{tokens:,.0f} token。"
    ),
    "notice.alignment.samples.prompts": (
        "{samples:,.0f} 条提示 × {epochs:g} 轮 × {group:,} 条各 {length:,} token"
        "（含提示）的回复，共训练 {tokens:,.0f} token。"
    ),
}
"""Message id to format string."""
