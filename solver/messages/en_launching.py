"""The English texts of the files that start a plan's job on a cluster."""

__all__ = ["LAUNCHING"]

LAUNCHING = {
    "export.format.torchrun": "torchrun: a shell script that each node runs",
    "export.format.slurm": "Slurm: a batch script",
    "export.format.kubernetes": (
        "Kubernetes: a PyTorchJob of the Kubeflow Training Operator"
    ),
    "export.format.skypilot": "SkyPilot: a task that rents the nodes and runs the job",
    "launch.variable.host": "whether the nodes meet on this one",
    "launch.note.rollouts": (
        "{nodes:,} more {nodes:node|nodes} of the plan only {nodes:generates|generate}:"
        " these files do not start what runs there."
    ),
    "launch.note.storage": (
        "Data and checkpoints are planned on {tier}: every node has to see the same "
        "folders."
    ),
    "launch.note.local-storage": (
        "Data and checkpoints are planned on the nodes' own drives ({tier}): copy data "
        "to each node, and expect a node that takes another's place to have neither."
    ),
    "launch.note.no-checkpoints": (
        "The plan writes one checkpoint, at the end: a job that is started again "
        "starts from the beginning."
    ),
    "launch.note.tcpx": (
        "{network} needs Google's plugin and its variables, which come with its "
        "installation and are not set here."
    ),
    "launch.torchrun.slice": (
        "Set CUDA_VISIBLE_DEVICES to the UUID of the MIG slice ('nvidia-smi -L'): a "
        "process sees one slice."
    ),
    "launch.torchrun.each": (
        "Start {script} on each of {nodes:,} {nodes:node|nodes}, with NODE_RANK from 0 "
        "and MASTER_ADDR the address of node 0. To replace a node that failed, start "
        "it with the same number on another."
    ),
    "launch.slurm.partition": (
        "Partition and account are your cluster's own: fill in the lines that start "
        "with two #, or set SBATCH_PARTITION and SBATCH_ACCOUNT."
    ),
    "launch.slurm.limit": (
        "--time is what nine of ten runs need, {days:.3g} days. The limit of your "
        "partition is not known: where it is shorter, put that here. Before it comes "
        "the job is queued again and goes on from its last checkpoint."
    ),
    "launch.slurm.slice": (
        "Clusters name MIG slices in their own way: ask for yours if it is not "
        "{profile}."
    ),
    "launch.slurm.attempts": "expected failures and three standard deviations",
    "launch.slurm.soon": (
        "seconds; {times} failures in a row that come sooner end the job"
    ),
    "launch.slurm.requeue": (
        "Slurm sends USR1 {minutes} minutes before the time limit, and too few nodes "
        "may be fit: the job is queued again."
    ),
    "launch.slurm.spares": (
        "{spares:,} of the nodes {spares:is a spare|are spares}: a node that is "
        "drained or down is left out from the next attempt on."
    ),
    "launch.slurm.step": "What a node runs; node 0 of the step is where all meet.",
    "launch.kubernetes.set": (
        "Put in yours for {image} (PyTorch and the training program), {data} and "
        "{saved} (claims that all nodes can mount)."
    ),
    "launch.kubernetes.empty": (
        "Variables that are empty have to be set; {name} lies below {folder}."
    ),
    "launch.kubernetes.spares": (
        "{nodes:,} spare {nodes:node is|nodes are} not asked for here: keep "
        "{nodes:it|them} free in the cluster, and the pod of a node that fails moves "
        "there."
    ),
    "launch.kubernetes.fabric": (
        "Devices of {network} have names of your cluster's own: add them to the limits "
        "so that pods reach the fabric."
    ),
    "launch.skypilot.launch": (
        "Run 'sky jobs launch {task}' here, with --env NAME=VALUE for each variable "
        "without a value: a managed job starts again where a node is lost."
    ),
    "launch.skypilot.setup": (
        "Install PyTorch and the training program here, or name an image under "
        "resources: image_id."
    ),
    "launch.skypilot.own": (
        "SkyPilot does not rent at {provider}: put the name of your pool of nodes for "
        "{pool}, or k8s and the context of your cluster."
    ),
    "launch.skypilot.region": (
        "SkyPilot has other names for regions there, so that infra is wider than "
        "the plan: see that it chooses {region}."
    ),
    "launch.skypilot.card": (
        "{name} stands for {others} as well: see that it chooses {gpu}."
    ),
    "launch.skypilot.reserved": (
        "The plan's nodes are {purchase}: SkyPilot uses a reservation that is named in "
        "its own configuration (specific_reservations), else it rents on demand."
    ),
    "launch.skypilot.network": (
        "SkyPilot does not set up {network} at {provider}: check that nodes reach each "
        "other over it."
    ),
    "launch.skypilot.spares": (
        "{nodes:,} spare {nodes:node is|nodes are} not rented: SkyPilot rents another "
        "node when one is lost, which takes longer than the plan assumes."
    ),
}
