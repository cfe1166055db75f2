"""The Chinese texts about cards: slices, fractions of a node, consumer cards."""

__all__ = ["ZH_CARDS"]

ZH_CARDS = {
    "warning.slice": (
        "切片 {slice} 占整卡 {card_sm_count} 个 SM 中的 {sm_count} 个，按此比例估算"
        "时间：切片上没有实测的训练。一个作业只用一个切片：切片之间无法组合，同一张卡"
        "上的也不行。"
    ),
    "warning.slice-memory": (
        "{slice} 的显存为估计值，{gib:.1f} GiB：使用前请以 nvidia-smi 在该卡上列出的"
        "为准。"
    ),
    "warning.no-ecc": "{gpu} 没有 ECC 显存：长时间训练中的错误可能不被发现。",
    "warning.ecc-off": (
        "{gpu} 有 ECC 但默认关闭：长时间训练中的错误可能不被发现。'nvidia-smi -e 1' "
        "可将其打开，会占用少量显存和速度。"
    ),
    "warning.pcie-only": (
        "节点内 {gpus} 卡之间没有 NVLink：每 {group} 卡一组，经 PCIe 每卡可达 "
        "{rate:.3g} GB/s。"
    ),
    "warning.pairs-only": (
        "NVLink 桥接器只连接两张卡：节点内 {gpus} 卡中，每 {group} 卡一组，经 PCIe "
        "每卡可达 {rate:.3g} GB/s。"
    ),
    "warning.no-peer": (
        "{gpu} 的驱动不允许卡间直接拷贝：节点内 {gpus} 卡经主机内存通信，每 {group} "
        "卡一组，每卡 {rate:.3g} GB/s。"
    ),
    "warning.pcie-assumed": (
        "此服务器上 {gpu} 卡间的 PCIe 速度没有实测：取类似服务器的速率。"
    ),
    "warning.geforce-licence": (
        "GeForce 驱动不许可用于数据中心（NVIDIA 驱动许可第 2.8 节）：请询问供应商，或"
        "把 {gpu} 卡用在自己的工作站中。"
    ),
    "notice.offer.fraction": (
        "报价 {offer}：占节点 {whole} 卡中的 {gpus} 卡，并按比例分得主机内存、vCPU、"
        "硬盘和网卡。"
    ),
    "why.memory.larger-slice": "更大的切片或整卡容量更大；切片之间无法组合。",
    "row.slice": "切片",
    "value.slice": (
        "{card} 的 {compute_slices} 个计算切片和 {memory_slices} 个显存切片，"
        "{sm_count} 个 SM；每卡可切 {slices_per_card} 个"
    ),
}
"""Message id to format string."""
