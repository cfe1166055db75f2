"""The Chinese texts of the files that run a plan."""

__all__ = ["ZH_EXPORTING"]

ZH_EXPORTING = {
    "export.format.megatron": "Megatron-LM：带参数的 shell 脚本",
    "export.format.deepspeed": "DeepSpeed：JSON 配置和训练程序",
    "export.format.fsdp": "PyTorch FSDP2：accelerate 的 YAML 和训练程序",
    "export.format.trainer": "Hugging Face Trainer 和 PEFT：训练程序和 JSON",
    "export.format.nemo": "NeMo 的 Megatron-Bridge：recipe 和 JSON",
    "export.format.torchtitan": "torchtitan：Python 配置和 JSON",
    "export.header.what": "运行方案“{title}”，由 gpuplan 生成。",
    "export.header.where": (
        "方案使用 {provider} {region} 的 {nodes:,} 台 {server}，{purchase}。"
    ),
    "export.header.layout": (
        "{gpus:,} 张 GPU：{layout}；micro-batch {micro_batch} × {accumulation} × DP = "
        "每步 {batch:,} 条序列。"
    ),
    "export.header.predicted": (
        "按 {framework} 预测：每步 {step_s:.3g} 秒，占用最多的 GPU 为 {memory_gib:.1f} "
        "GiB。"
    ),
    "export.script.variables": "方案无法得知的内容：请在环境变量中或在此处设置。",
    "export.script.more": (
        "上面未列出的选项使用程序自身的默认值；脚本名之后的参数会追加在后面。"
    ),
    "export.variable.megatron": "请设置 Megatron-LM 的目录",
    "export.variable.megatron-data": "请设置已分词数据的前缀，不含 .bin 和 .idx",
    "export.variable.megatron-initial": "请设置起始检查点的目录，Megatron-LM 格式",
    "export.variable.tokenizer": "请设置分词器，目录或 Hugging Face 上的名称",
    "export.variable.checkpoints": "请设置写入检查点的目录",
    "export.variable.lr": "请设置学习率",
    "export.variable.rotary-base": "请设置模型旋转位置编码的 base",
    "export.variable.dropout": "请设置模型的 dropout 率",
    "export.variable.fp8-recipe": (
        "FP8 缩放方式：tensorwise、delayed 或 blockwise（程序自身的默认值）"
    ),
    "export.variable.seed": "运行的随机种子（程序自身的默认值）",
    "export.variable.model": "请设置模型：目录或 Hugging Face 上的名称",
    "export.variable.model-named": "模型：目录或 Hugging Face 上的名称",
    "export.variable.dataset": "请设置已分词数据集的目录",
    "export.variable.seed-trainer": "运行的随机种子（Trainer 自身的默认值）",
    "export.variable.lora-alpha": "适配器的缩放（PEFT 自身的默认值）",
    "export.variable.nvme": "请设置节点本地硬盘上的目录",
    "export.variable.torchtitan": "请设置 torchtitan 的目录",
    "export.variable.texts": "请设置数据集：目录或名称，需有 text 列",
    "export.variable.tokenizer-folder": "请设置分词器的目录",
    "export.variable.seed-own": "运行的随机种子",
    "export.variable.initial-huggingface": (
        "请设置起始检查点的目录，Hugging Face 格式"
    ),
    "export.variable.lora-alpha-bridge": (
        "适配器的缩放（Megatron-Bridge 自身的默认值）"
    ),
    "export.variable.node-rank": "请设置本节点的编号，从 0 开始",
    "export.variable.master": "请设置 node 0 的地址",
    "export.variable.port": "node 0 的端口（通常的取值）",
    "note.export.megatron-model": (
        "目录中只有模型的尺寸：请对照模型自身的配置检查激活函数、归一化的 epsilon "
        "和旋转位置编码的缩放。"
    ),
    "note.export.dataset": (
        "DATA_PATH 是 Hugging Face datasets 的 save_to_disk 写入的目录：每行 "
        "input_ids 有 {tokens:,} 个词元，labels 不同时另列。"
    ),
    "note.export.liger": (
        "分块损失来自 Liger：需要安装 liger-kernel，并且它要支持该模型。"
    ),
    "note.export.torchtitan-model": (
        "模型由 Llama 3 的模块按方案的尺寸构建：请对照模型自身的配置检查归一化的 "
        "epsilon 和旋转位置编码的缩放。"
    ),
    "note.export.router": (
        "目录中只有专家的数量：路由的打分函数和均衡专家的损失在设置之前使用程序的默认"
        "值。"
    ),
    "note.export.spares": (
        "除参与训练的节点外另租了 {nodes:,} 台备用节点，有节点故障时顶上。"
    ),
    "note.export.written": "已写入 {files:,} 个文件到 {folder}。{what}。",
    "note.export.framework": (
        "方案是按 {framework} 预测的，而这里为 {format} 生成：步时间和显存会有所不同。"
    ),
}
