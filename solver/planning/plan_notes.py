"""What a plan has to say beside its figures: warnings, and where figures come from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from solver.candidates import CandidateTable, late_s
from solver.catalog.consistency import OUTLIER_FACTOR
from solver.catalog.egress import egress_steps
from solver.catalog.ownership import OWN_KINDS
from solver.catalog.slices import is_slice
from solver.catalog.supply import LOCAL_KINDS
from solver.cost import UNIT_S
from solver.dates import age_days
from solver.energy import energy_sources
from solver.geography import around
from solver.hardware import calibration_for
from solver.messages import sentence
from solver.options import Option
from solver.plan import Message
from solver.planning.card_notes import card_notes
from solver.planning.host_figures import host_notes
from solver.planning.input_figures import input_notes
from solver.planning.layout_notes import layout_notes
from solver.planning.moving_notes import moves, moving_notes
from solver.planning.node_parts import NodePart, node_parts
from solver.planning.offload_notes import offload_notes
from solver.planning.prediction_notes import PredictedSteps
from solver.planning.purchase_notes import purchase_notes
from solver.planning.supply_notes import (
    calendar_notes,
    quota_notes,
    spare_notes,
    term_notes,
)
from solver.planning.supply_relaxations import SPOT_SUFFIX
from solver.planning.way_notes import way_notes
from solver.provenance import is_estimate, source_text
from solver.setting import Setting
from solver.spread import P90_Z
from solver.units import DAY, HOUR

if TYPE_CHECKING:
    from solver.catalog.schema import Gpu, StorageTier

FEW_STEPS = 500
"""Fewer optimizer steps than this are rarely meant: the batch is very large."""

MIN_PEERS = 4
"""So many offers of a card make a median."""

SLICED = "mig_"
"""How the fields of a card begin that are about its slices."""


def note(message_id: str, **values: Any) -> Message:
    """The message of that id with its English sentence."""
    return Message(message_id, values, sentence(message_id, **values))


def plan_warnings(
    setting: Setting, option: Option, tier: StorageTier, one: CandidateTable
) -> tuple[Message, ...]:
    """All that the reader of a plan has to know, most important first."""
    parts = node_parts(setting, one)
    found = [
        *_stock(option, parts[-1].nodes),
        *purchase_notes(setting, option, parts, one),
        *quota_notes(setting, option),
        *calendar_notes(setting, option, one),
        *spare_notes(setting, one),
        *(n for part in parts for n in _billing(setting, part, one)),
        *term_notes(parts),
        *(n for part in option.parts for n in _prices(setting, part)),
        *_storage_price(tier),
        *_price_ages(setting, option, tier),
        *moving_notes(setting, option),
        *_local_drives(option, tier, one),
        *_few_steps(one),
        *_physics(setting, option, one),
        *offload_notes(setting, option, one),
        *way_notes(setting, setting.classes[int(one.group[0])].job),
        *host_notes(option),
        *input_notes(setting, one),
        *(n for n in setting.scenario.notices if _concerns(n, option)),
    ]
    return tuple(found)


def _concerns(notice: Message, option: Option) -> bool:
    """Whether a notice is of no single offer, or of one of these."""
    names = [part.offer.id.removesuffix(SPOT_SUFFIX) for part in option.parts]
    return bool(notice.values.get("offer", names[0]) in names)


def _stock(option: Option, nodes: int) -> list[Message]:
    """What is assumed of stock; of a mix that of the rest may be."""
    rest = option.parts[-1]
    if rest.stock_known or rest.offer.purchase in OWN_KINDS:
        return []
    if rest.offer.marketplace:
        return [note("warning.stock-marketplace", nodes=nodes)]
    if rest.network is None and not is_slice(rest.gpu.id):
        return [note("warning.stock-no-fabric", nodes=nodes)]
    return [note("warning.stock-assumed", nodes=nodes, assumed=rest.max_nodes)]


def _billing(setting: Setting, part: NodePart, one: CandidateTable) -> list[Message]:
    """Units that are paid whole: their number is uncertain, the cost is the mean."""
    unit_s = UNIT_S[part.option.offer.billing_unit]
    if not unit_s:
        return []
    beside = around(setting, one.option, one.tier)
    fixed, active = float(beside.paid_s[0]), one.duration_s - beside.all_s
    late = late_s(active, one.failure_variance_s2, one.sigma, P90_Z)
    paid = [max(fixed + float(run[0]), part.option.term_s) for run in (active, late)]
    units = [int(np.ceil(seconds / unit_s - 1e-9)) for seconds in paid]
    price = part.usd_per_hour * unit_s / HOUR
    return [
        note(
            "warning.whole-units",
            unit="month" if unit_s > HOUR else "hour",
            expected=units[0],
            late=units[1],
            usd=round(price * units[0]),
            late_usd=round(price * units[1]),
        )
    ]


def _local_drives(
    option: Option, tier: StorageTier, one: CandidateTable
) -> list[Message]:
    """Checkpoints that lie in the nodes, where a job could lose one of them."""
    alone = int(one.layouts.nodes[0]) == 1 and option.offer.purchase != "spot"
    if tier.kind not in LOCAL_KINDS or alone:
        return []
    return [note("warning.local-drives", tier=tier.name)]


def _few_steps(one: CandidateTable) -> list[Message]:
    steps = int(one.steps[0])
    return [note("warning.few-steps", steps=steps)] if steps < FEW_STEPS else []


def _peers_usd(setting: Setting, option: Option) -> float | None:
    """Median price a GPU-hour of the same card and purchase kind in the catalog."""
    servers = setting.catalog.servers
    peers = [
        o.usd_per_node_hour / servers[o.server].gpus_per_node
        for o in setting.catalog.offers.values()
        if o.purchase == option.offer.purchase
        and servers[o.server].gpu == option.gpu.id
    ]
    return float(np.median(peers)) if len(peers) >= MIN_PEERS else None


def _prices(setting: Setting, option: Option) -> list[Message]:
    found = []
    peers = _peers_usd(setting, option)
    price = option.offer.usd_per_node_hour / option.server.gpus_per_node
    if peers is not None and price < peers / OUTLIER_FACTOR:
        found.append(note("warning.price-outlier", price=price, peers=peers))
    if is_estimate(option.offer.source):
        found.append(
            note("warning.price-estimate", source=source_text(option.offer.source))
        )
    return found


def _storage_price(tier: StorageTier) -> list[Message]:
    if tier.usd_per_gb_month is not None:
        return []
    return [note("warning.storage-price-unknown", tier=tier.name)]


def _price_ages(setting: Setting, option: Option, tier: StorageTier) -> list[Message]:
    """Prices that are older than the scenario wants them, at least so many days."""
    scenario, offer = setting.scenario, option.offer
    offers = [part.offer for part in option.parts]
    priced: dict[str, list[str]] = {
        "servers": [offer.as_of for offer in offers if offer.usd_per_node_hour],
        "storage": [tier.as_of] if tier.usd_per_gb_month else [],
        "egress": _egress_dates(setting, offer.region),
    }
    found = []
    for what, dates in priced.items():
        ages = [(age_days(as_of, scenario.start_date) or 0, as_of) for as_of in dates]
        days, as_of = max(ages, default=(0, ""))
        if days * DAY > scenario.limits.price_age_s:
            name = sentence(f"priced.{what}")
            found.append(note("warning.price-age", what=name, as_of=as_of, days=days))
    return found


def _egress_dates(setting: Setting, region: str) -> list[str]:
    """Dates of the prices of copies to a region and from it."""
    return [
        step.as_of
        for origin, target, _ in moves(setting.scenario, region)
        for step in egress_steps(setting.catalog, origin, target)
        if step.usd_per_gb
    ]


def _physics(setting: Setting, option: Option, one: CandidateTable) -> list[Message]:
    group = setting.classes[int(one.group[0])]
    gpus, training_s = int(one.layouts.gpus[0]), float(one.training_s[0])
    made = PredictedSteps(
        setting, group.job, option.gpu, group.hardware, gpus, training_s
    )
    found = made.notes()
    found += card_notes(setting.catalog, option.gpu, option.server, group.hardware)
    return found + layout_notes(setting.shape, setting.framework, one.layouts)


def provenance_of(
    setting: Setting, option: Option, tier: StorageTier
) -> dict[str, str]:
    """Where each kind of figure comes from: source and date."""

    def dated(source: str, as_of: str) -> str:
        return f"{source} ({as_of})" if as_of else source

    constants = calibration_for(option.gpu, setting.catalog.calibration)
    prices = [
        f"{dated(offer.source, offer.as_of)}; {offer.note}"
        if offer.note
        else dated(offer.source, offer.as_of)
        for offer in (part.offer for part in option.parts)
    ]
    found = {
        "price": "; ".join(prices),
        "gpu": dated(_sources_in_use(option.gpu), option.gpu.as_of),
        "usable_memory": option.gpu.usable_memory_source,
        "server": dated(option.server.source, option.server.as_of),
        "storage": dated(tier.all_sources, tier.as_of),
        "step_time": f"fitted constants, {constants.key}: {constants.source}",
        "memory": dated(*_framework_source(setting)),
        "model": dated(
            setting.scenario.architecture.source, setting.scenario.architecture.as_of
        ),
    }
    found |= energy_sources(setting.catalog, option.parts[0].offer)
    if option.network is not None:
        found["network"] = dated(option.network.source, option.network.as_of)
    return found


def _sources_in_use(gpu: Gpu) -> str:
    """Sources of a GPU's figures, but of those that only its slices have."""
    used = {n: s for n, s in gpu.sources.items() if not n.startswith(SLICED)}
    return gpu.model_copy(update={"sources": used}).all_sources


def _framework_source(setting: Setting) -> tuple[str, str]:
    entry = setting.catalog.frameworks[setting.framework.name]
    return entry.source, entry.as_of
