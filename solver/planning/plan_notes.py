"""What a plan has to say beside its figures: warnings, and where figures come from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from solver.candidates import CandidateTable
from solver.hardware import calibration_for, pcie_rate_is_assumed
from solver.messages import sentence
from solver.options import Option
from solver.plan import Message
from solver.provenance import source_text
from solver.setting import Setting

if TYPE_CHECKING:
    from solver.catalog.schema import StorageTier

LOW_MFU = 0.15
"""Below this the step-time model was not checked against measurements."""

HOST_RAM_RULE = 1.5
"""Host memory that is usual for a node, times its GPU memory."""


SPOT_SUFFIX = "/spot"
"""What the spot offer's id has more than the name of one's own offer."""


def is_estimate(source: str) -> bool:
    """Whether a figure was not read by its source but known or guessed."""
    words = source.lower()
    return words.startswith("memory") or "estimate" in words


def note(message_id: str, **values: Any) -> Message:
    """The message of that id with its English sentence."""
    return Message(message_id, values, sentence(message_id, **values))


def plan_warnings(
    setting: Setting, option: Option, tier: StorageTier, one: CandidateTable
) -> tuple[Message, ...]:
    """All that the reader of a plan has to know, most important first."""
    found = [
        *_stock(option, one),
        *_purchase(option),
        *_prices(option, tier),
        *_physics(setting, option, one),
        *_host(setting, option, one),
        *(n for n in setting.scenario.notices if _concerns(n, option)),
    ]
    return tuple(found)


def _concerns(notice: Message, option: Option) -> bool:
    """Whether a notice is of no single offer, or of this one."""
    name = option.offer.id.removesuffix(SPOT_SUFFIX)
    return bool(notice.values.get("offer", name) == name)


def _stock(option: Option, one: CandidateTable) -> list[Message]:
    if option.stock_known or option.offer.purchase == "owned":
        return []
    nodes = int(one.layouts.nodes[0])
    if option.offer.marketplace:
        return [note("warning.stock-marketplace", nodes=nodes)]
    if option.network is None:
        return [note("warning.stock-no-fabric", nodes=nodes)]
    return [note("warning.stock-assumed", nodes=nodes, assumed=option.max_nodes)]


def _purchase(option: Option) -> list[Message]:
    if option.offer.purchase != "spot":
        return []
    return [note("warning.spot", as_of=option.offer.as_of or "?")]


def _prices(option: Option, tier: StorageTier) -> list[Message]:
    found = []
    if is_estimate(option.offer.source):
        found.append(
            note("warning.price-estimate", source=source_text(option.offer.source))
        )
    if tier.usd_per_gb_month is None:
        found.append(note("warning.storage-price-unknown", tier=tier.name))
    return found


def _physics(setting: Setting, option: Option, one: CandidateTable) -> list[Message]:
    from solver.performance.step_time import mfu

    found = []
    group = setting.classes[int(one.group[0])]
    utilisation = mfu(
        setting.shape, setting.job, group.hardware, one.layouts, one.step_time_s
    )
    if utilisation[0] < LOW_MFU:
        found.append(
            note("warning.low-mfu", percent=round(100 * float(utilisation[0])))
        )
    tier = setting.catalog.intra_node.get(option.server.intra_node)
    if pcie_rate_is_assumed(option.server, tier):
        found.append(note("warning.pcie-assumed", gpu=option.gpu.id))
    if is_estimate(calibration_for(option.gpu, setting.catalog.calibration).source):
        found.append(note("warning.gpu-estimate", generation=option.gpu.generation))
    if not option.gpu.ecc:
        found.append(note("warning.no-ecc", gpu=option.gpu.id))
    tp, kv_heads = int(one.layouts.tp[0]), setting.shape.kv_heads
    if tp > kv_heads and not setting.shape.is_mla:
        found.append(note("warning.kv-replicated", tp=tp, kv_heads=kv_heads))
    return found


def _host(setting: Setting, option: Option, one: CandidateTable) -> list[Message]:
    server = option.server
    if server.ram_gb is None:
        return [note("warning.host-unknown")]
    gpu_gb = option.gpu.memory_gb * server.gpus_per_node
    if server.ram_gb >= HOST_RAM_RULE * gpu_gb:
        return []
    return [
        note(
            "warning.host-ram",
            ram=round(server.ram_gb),
            times=round(server.ram_gb / gpu_gb, 1),
        )
    ]


def provenance_of(
    setting: Setting, option: Option, tier: StorageTier
) -> dict[str, str]:
    """Where each kind of figure comes from: source and date."""

    def dated(source: str, as_of: str) -> str:
        return f"{source} ({as_of})" if as_of else source

    constants = calibration_for(option.gpu, setting.catalog.calibration)
    found = {
        "price": dated(option.offer.source, option.offer.as_of),
        "gpu": dated(option.gpu.source, option.gpu.as_of),
        "usable_memory": option.gpu.usable_memory_source,
        "server": dated(option.server.source, option.server.as_of),
        "storage": dated(tier.source, tier.as_of),
        "step_time": f"fitted constants, {constants.key}: {constants.source}",
        "memory": dated(*_framework_source(setting)),
        "model": dated(
            setting.scenario.architecture.source, setting.scenario.architecture.as_of
        ),
    }
    if option.network is not None:
        found["network"] = dated(option.network.source, option.network.as_of)
    return found


def _framework_source(setting: Setting) -> tuple[str, str]:
    entry = setting.catalog.frameworks[setting.framework.name]
    return entry.source, entry.as_of
