"""The English texts about cards: slices, fractions of a node, consumer cards."""

__all__ = ["CARDS"]

CARDS = {
    "warning.slice": (
        "The slice {slice} is {sm_count} of the {card_sm_count} multiprocessors of "
        "its card, and is timed as that share of it: no training on slices was "
        "measured. A job has one slice: nothing joins slices, not even of one card."
    ),
    "warning.slice-memory": (
        "The memory of {slice} is an estimate, {gib:.1f} GiB: see what nvidia-smi "
        "lists on the card before you rely on it."
    ),
    "warning.no-ecc": (
        "The GPU {gpu} has no ECC memory: errors can go unnoticed in long runs."
    ),
    "warning.ecc-off": (
        "The GPU {gpu} has ECC, off by default: errors can go unnoticed in long runs. "
        "'nvidia-smi -e 1' turns it on, and takes some memory and speed."
    ),
    "warning.pcie-only": (
        "No NVLink joins the {gpus} {gpus:GPU|GPUs} of a node: they reach {rate:.3g} "
        "GB/s each over PCIe in groups of {group}."
    ),
    "warning.pairs-only": (
        "NVLink bridges join two GPUs each: of the {gpus} {gpus:GPU|GPUs} of a node "
        "groups of {group} reach {rate:.3g} GB/s each over PCIe."
    ),
    "warning.no-peer": (
        "The driver of {gpu} lets no card copy to another: the {gpus} "
        "{gpus:GPU|GPUs} of a node talk through host memory, {rate:.3g} GB/s each in "
        "groups of {group}."
    ),
    "warning.pcie-assumed": (
        "How fast {gpu} cards talk over PCIe was not measured in this server; the rate "
        "of a similar one is assumed."
    ),
    "warning.geforce-licence": (
        "GeForce drivers are not licensed for datacenters (NVIDIA driver licence, "
        "section 2.8): ask the provider, or keep {gpu} cards in a workstation of your "
        "own."
    ),
    "notice.offer.fraction": (
        "Offer {offer}: {gpus} of the {whole} GPUs of a node, with {gpus:its|their} "
        "share of host memory, vCPUs, drives and NICs."
    ),
    "why.memory.larger-slice": (
        "A larger slice or the whole card holds more; nothing joins slices."
    ),
    "row.slice": "slice",
    "value.slice": (
        "{compute_slices} compute and {memory_slices} memory "
        "{memory_slices:slice|slices} of {card}, {sm_count} SMs; {slices_per_card} "
        "{slices_per_card:fits|fit} on a card"
    ),
}
"""Message id to format string."""
