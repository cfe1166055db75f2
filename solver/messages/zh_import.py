"""Chinese texts about imports; `solver.messages` says how they are used."""

__all__ = ["ZH_IMPORTING"]

ZH_IMPORTING = {
    "headline.import": "已将 {providers} 的 {offers:,} 个报价写入 {out}",
    "headline.import.entry": "已将 {name} 写入 {file}",
    "section.import.written": "已写入",
    "section.import.skipped": "未导入；--json 逐条列出",
    "section.import.assumed": "所作假设；各行备注有说明",
    "section.import.warnings": "值得留意",
    "row.import.offers": "报价",
    "row.import.servers": "新服务器",
    "row.import.regions": "新地域",
    "row.import.files": "文件",
    "column.import.count": "行数",
    "column.import.reason": "原因",
    "column.import.examples": "例如",
    "value.import.try": "gpuplan solve SCENARIO --catalog {out}",
    "row.import.try": "用于规划",
    "row.import.parameters": "参数量",
    "row.import.active": "每 token 激活",
    "row.import.sizes": "尺寸",
    "value.import.model": "gpuplan solve SCENARIO --catalog {out} --set model={id}",
    "note.import.replaces": "自带目录也有 {id}；使用 --catalog 时以此条目为准。",
    "template.offers": (
        "自有报价：另存为 {file}，再运行 'gpuplan solve SCENARIO --offers {file}'。场景"
        "中也可写明该文件（offers: {file}）。"
    ),
    "template.prices": (
        "目录文件夹的价格：以 {file} 存入其中，每个供应商一个文件，并用 --catalog 指定"
        "该文件夹。"
    ),
    "template.servers": "目录文件夹的节点类型：以 {file} 存入其中。",
    "template.regions": "目录文件夹的地域：以 {file} 存入其中。",
    "template.egress": "目录文件夹的数据流出价格：以 {file} 存入其中。",
    "template.gpus": "目录文件夹的 GPU：以 {file} 存入其中；文件名即 id。",
    "template.networks": "目录文件夹的节点间网络：以 {file} 存入其中；文件名即 id。",
    "template.storage": "目录文件夹的存储档次：以 {file} 存入其中；文件名即 id。",
    "template.architectures": "目录文件夹的模型：以 {file} 存入其中；文件名即 id。",
    "template.measurements": (
        "自有实测：另存为 {file}，再运行 'gpuplan accuracy {file}'。需填 step_time_s、"
        "peak_memory_gib、fits 之一；完整训练则填 tokens_b 和 gpu_hours。"
    ),
    "template.form": "以 # 开头的行是注释。留空或省略的项取通常值。",
    "template.lists": (
        "单元格内的列表以 ; 分隔：按日期的库存写作 4;2027-03-01:12（现有 4 个节点，"
        "届时再加 12 个），存储写名称。"
    ),
    "template.needed": "必填",
    "import.skipped.unknown-column": "不读取的列",
    "import.skipped.unreadable": "无法读取的单元格",
    "import.skipped.cpu-only": "没有 GPU",
    "import.skipped.tpu": "TPU：不是目录中的 GPU",
    "import.skipped.unknown-gpu": "目录中没有此 GPU",
    "import.skipped.unknown-memory": "目录中没有此显存容量的 GPU",
    "import.skipped.part-of-a-gpu": "只是 GPU 的一部分",
    "import.skipped.impossible-node": "没有节点装有这么多此型号的 GPU",
    "import.skipped.no-price": "没有价格",
    "import.skipped.no-accelerator-price": "主机的 GPU 在此没有价格",
    "import.skipped.no-host-price": "GPU 的主机在此没有价格",
    "import.skipped.attached-gpu": "附加到自选主机的 GPU",
    "import.skipped.flexible-start": (
        "低于竞价价格：属于弹性启动（Dynamic Workload Scheduler），不是按需"
    ),
    "import.skipped.other-system": "非 Linux 操作系统",
    "import.skipped.other-currency": "以人民币而非美元计价",
    "import.skipped.term": "未知的租期",
    "import.assumed.form-of-provider": (
        "未注明 PCIe 或 SXM：与该供应商的其他服务器相同"
    ),
    "import.assumed.form-of-board": "未注明 PCIe 或 SXM：八卡成板，按 SXM 计",
    "import.assumed.form-slowest": "未注明 PCIe 或 SXM：按较慢的卡计",
    "import.assumed.count-of-catalog": "GPU 数与目录不同，以目录为准",
    "import.assumed.new-provider": (
        "目录中没有此供应商；若应为其他供应商，请用 --provider 指定"
    ),
    "import.assumed.one-node": "节点间网络未知：只用一个节点",
}
"""Message id to format string."""
