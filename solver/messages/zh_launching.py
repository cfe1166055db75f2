"""The Chinese texts of the files that start a plan's job on a cluster."""

__all__ = ["ZH_LAUNCHING"]

ZH_LAUNCHING = {
    "export.format.torchrun": "torchrun：每个节点运行的 shell 脚本",
    "export.format.slurm": "Slurm：批处理脚本",
    "export.format.kubernetes": "Kubernetes：Kubeflow Training Operator 的 PyTorchJob",
    "export.format.skypilot": "SkyPilot：租用节点并运行作业的任务",
    "launch.variable.host": "各节点是否在本节点会合",
    "launch.note.rollouts": (
        "方案中另有 {nodes:,} 个节点只做生成：这些文件不启动其上的程序。"
    ),
    "launch.note.storage": (
        "数据和检查点计划放在 {tier} 上：每个节点都须看到相同的文件夹。"
    ),
    "launch.note.local-storage": (
        "数据和检查点计划放在节点自己的硬盘上（{tier}）：请把数据复制到每个节点；顶替的"
        "节点上两者都没有。"
    ),
    "launch.note.no-checkpoints": (
        "方案只在结束时写一个检查点：作业若重新启动，将从头开始。"
    ),
    "launch.note.tcpx": (
        "{network} 需要 Google 的插件及其变量；它们随插件安装，此处不设置。"
    ),
    "launch.torchrun.slice": (
        "请将 CUDA_VISIBLE_DEVICES 设为 MIG 切片的 UUID（'nvidia-smi -L'）：一个进程"
        "只能使用一个切片。"
    ),
    "launch.torchrun.each": (
        "在 {nodes:,} 个节点上各启动 {script}：NODE_RANK 从 0 起编号，MASTER_ADDR 为 0 "
        "号节点的地址。要替换故障节点，请在另一节点上以相同编号启动。"
    ),
    "launch.slurm.partition": (
        "分区和账户因集群而异：请填写以两个 # 开头的行，或设置 SBATCH_PARTITION 和 "
        "SBATCH_ACCOUNT。"
    ),
    "launch.slurm.limit": (
        "--time 为十次运行中九次所需的时间，即 {days:.3g} 天。分区的时限未知：若更短，"
        "请在此填写。到时限之前，作业会重新排队，并从最近的检查点继续。"
    ),
    "launch.slurm.slice": (
        "各集群对 MIG 切片的命名不同：若不是 {profile}，请改用您的名称。"
    ),
    "launch.slurm.attempts": "预期故障数加三个标准差",
    "launch.slurm.soon": "秒；连续 {times} 次在此之前失败则结束作业",
    "launch.slurm.requeue": (
        "Slurm 在时限前 {minutes} 分钟发送 USR1；可用节点也可能不足：此时作业重新排队。"
    ),
    "launch.slurm.spares": (
        "其中 {spares:,} 个节点为备用：被排空或宕机的节点从下一次尝试起不再使用。"
    ),
    "launch.slurm.step": "每个节点运行的内容；作业步的 0 号节点是会合处。",
    "launch.kubernetes.set": (
        "请替换 {image}（含 PyTorch 和训练程序的镜像）、{data} 和 {saved}"
        "（所有节点都能挂载的存储卷声明）。"
    ),
    "launch.kubernetes.empty": "空的变量必须设置；{name} 位于 {folder} 之下。",
    "launch.kubernetes.spares": (
        "{nodes:,} 个备用节点不在此申请：请在集群中保持空闲，故障节点的 pod "
        "会移到那里。"
    ),
    "launch.kubernetes.fabric": (
        "{network} 设备的名称因集群而异：请将其加入 limits，使 pod 能访问该网络。"
    ),
    "launch.skypilot.launch": (
        "在此运行 'sky jobs launch {task}'，并为每个没有值的变量加上 --env NAME=VALUE："
        "托管作业在失去节点时会重新启动。"
    ),
    "launch.skypilot.setup": (
        "在此安装 PyTorch 和训练程序，或在 resources: image_id 中指定镜像。"
    ),
    "launch.skypilot.own": (
        "SkyPilot 不在 {provider} 租用：请将 {pool} 换成您的节点池名称，或 k8s "
        "加集群的 context。"
    ),
    "launch.skypilot.region": (
        "SkyPilot 对那里的区域另有名称，因此 infra 比方案宽：请确认它选择 {region}。"
    ),
    "launch.skypilot.card": "{name} 也可指 {others}：请确认它选择 {gpu}。",
    "launch.skypilot.reserved": (
        "方案的节点为 {purchase}：SkyPilot 使用其自身配置（specific_reservations）中"
        "指定的预留，否则按需租用。"
    ),
    "launch.skypilot.network": (
        "SkyPilot 不在 {provider} 配置 {network}：请确认节点之间经由它通信。"
    ),
    "launch.skypilot.spares": (
        "{nodes:,} 个备用节点不租用：SkyPilot 在失去节点时另租一个，所需时间比方案"
        "假设的更长。"
    ),
}
