"""What stock, fabrics, lead times and terms would have to be for a plan."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from solver.candidates import CandidateTable
from solver.catalog.schema import Offer
from solver.cost import UNIT_S, billed_seconds
from solver.geography import around
from solver.messages import sentence
from solver.performance.inputs import FloatArray, IntArray
from solver.planning.node_parts import node_parts, quota_count
from solver.planning.opening import Described, Opening, flow
from solver.scenario.scenario import Constraints, Quota, Scenario
from solver.setting import Setting
from solver.tariffs import base_nodes
from solver.units import DAY, HOUR

DAY_HOURS = DAY // HOUR

SPOT_SUFFIX = "/spot"
"""What the spot offer's id has more than the name of one's own offer."""


FRACTION = re.compile(r"/(\d+)-of-(\d+)$")
"""What the offer of a fraction of a node has more."""


def own_override(scenario: Scenario, offer: Offer, key: str, value: str) -> str | None:
    """The override of a key of one's own offer; None for one of the catalog."""
    names = [_written_name(o) for o in scenario.supply.offers]
    name = _written_name(offer)
    if name not in names:
        return None
    return f"offers[{list(dict.fromkeys(names)).index(name)}].{key}={value}"


def _written_name(offer: Offer) -> str:
    """The name that an offer of one's own has in the scenario."""
    return FRACTION.sub("", offer.id.removesuffix(SPOT_SUFFIX))


def _whole_nodes(offer: Offer, nodes: int) -> int:
    """Nodes of an offer as it states them: a fraction's are parts of one."""
    found = FRACTION.search(offer.id.removesuffix(SPOT_SUFFIX))
    if found is None:
        return nodes
    return -(-nodes // (int(found[2]) // int(found[1])))


def stating(opening: Opening) -> Offer:
    """The offer that states most of what is left out; of a mix one of two."""
    stated: Mapping[str, Callable[[Offer], float]] = {
        "lead_time": lambda offer: offer.lead_time_days,
        "term": lambda offer: offer.min_term_hours,
        "cluster": lambda offer: -(offer.max_nodes_per_cluster or np.inf),
    }
    offers = [part.offer for part in opening.option.parts]
    figure = stated.get(opening.rule)
    return offers[-1] if figure is None else max(offers, key=figure)


def lead_left(setting: Setting, table: CandidateTable) -> FloatArray:
    """Share of its offer's lead time that the deadline leaves a candidate, (n,)."""
    ready_s = around(setting, table.option, table.tier).ready_s
    leads = [max(p.offer.lead_time_days for p in o.parts) for o in setting.options]
    lead_s = np.array(leads, dtype=np.float64)[table.option] * DAY
    deadline = setting.scenario.constraints.deadline_s or np.inf
    return _share(deadline - (table.duration_limit_s - ready_s), lead_s)


def term_left(setting: Setting, table: CandidateTable) -> FloatArray:
    """Share of its offers' terms that the budget pays for a candidate, (n,).

    What has no term is paid first.
    """
    nodes = table.rented_nodes
    base = base_nodes(setting.arrays.tariffs[table.option], nodes)
    whole, free = np.zeros(len(table)), np.zeros(len(table))
    for place, count in ((0, base), (-1, nodes - base)):
        parts = [option.parts[place] for option in setting.options]
        price = np.array([p.usd_per_node_hour for p in parts])[table.option]
        term = np.array([p.offer.min_term_hours for p in parts])[table.option]
        whole = whole + count * price * term
        free = free + count * price * (term == 0) * table.billed_s / HOUR
    budget = setting.scenario.constraints.budget_usd or np.inf
    other = table.storage_usd + table.egress_usd + table.serving_usd
    return _share(budget - other - table.running_usd - free, whole)


def _share(left: FloatArray, whole: FloatArray) -> FloatArray:
    """``left / whole``; least where there is nothing to shorten, (n,)."""
    some = whole > 0
    return np.where(some, left / np.where(some, whole, 1.0), -np.inf)


def _stock(opening: Opening, _user: Constraints) -> Described:
    needed = int(opening.table.rented_nodes[opening.row])
    offer = opening.option.offer
    typed: str | None = f"stock.unknown_nodes={needed}"
    if not _is_assumed(offer):
        changed = changed_offer(opening)
        nodes = _whole_nodes(offer, needed)
        own = own_override(opening.asked, offer, "max_nodes", f"{nodes}")
        typed = own if changed else None
    return {
        "now": sentence("relax.stock.now"),
        "needed": sentence("relax.stock", nodes=needed, offer=offer.id),
        "needed_value": needed,
        "unit": "nodes",
        "set": typed,
    }


def _is_assumed(offer: Offer) -> bool:
    """Whether the scenario says how many nodes the offer has."""
    return offer.max_nodes is None and not offer.available and not offer.marketplace


def _cluster(opening: Opening, _user: Constraints) -> Described:
    needed = int(opening.table.rented_nodes[opening.row])
    offer, scenario = stating(opening), opening.setting.scenario
    now = offer.max_nodes_per_cluster
    return {
        "now": sentence("relax.stock", nodes=now or needed, offer=offer.id),
        "needed": sentence("relax.stock", nodes=needed, offer=offer.id),
        "now_value": now,
        "needed_value": needed,
        "unit": "nodes",
        "set": own_override(
            scenario,
            offer,
            "max_nodes_per_cluster",
            f"{_whole_nodes(offer, needed)}",
        ),
    }


def quota_use(setting: Setting, table: CandidateTable) -> tuple[IntArray, FloatArray]:
    """Quotas that each candidate passes, and nodes over those allowed, (n,) each."""
    passed = np.zeros(len(table), dtype=np.int64)
    use = np.zeros(len(table))
    for place, quota in enumerate(setting.scenario.quotas):
        count = quota_count(setting, table, place)
        each = -(-count // table.rented_nodes)  # of a node, rounded up
        passed += count > quota.limit
        allowed = quota.limit // np.maximum(each, 1) * each
        use = np.maximum(use, count / np.maximum(allowed + each, 1))
    return passed, use


def _broken_quotas(opening: Opening) -> dict[int, int]:
    """Position of each quota that the plan passes to what it would have to be."""
    one = opening.table.take(np.array([opening.row]))
    quotas = opening.setting.scenario.quotas
    counts = {
        place: int(quota_count(opening.setting, one, place)[0])
        for place in range(len(quotas))
    }
    return {place: n for place, n in counts.items() if n > quotas[place].limit}


def changed_quotas(opening: Opening) -> tuple[Quota, ...]:
    """The quotas as they would have to be."""
    needed = _broken_quotas(opening)
    return tuple(
        quota if place not in needed else _enlarged(quota, needed[place])
        for place, quota in enumerate(opening.setting.scenario.quotas)
    )


def _enlarged(quota: Quota, limit: int) -> Quota:
    written = {**quota.written, f"max_{quota.unit}": limit}
    return replace(quota, limit=limit, written=written)


def _quota(opening: Opening, _user: Constraints) -> Described:
    needed, quotas = _broken_quotas(opening), opening.setting.scenario.quotas
    changed = changed_quotas(opening)
    (first, *others) = needed
    key = f"[{first}].max_{quotas[first].unit}={needed[first]}"
    every = f"={flow([quota.written for quota in changed])}"
    return {
        "now": ", ".join(_quota_text(quotas[place]) for place in needed),
        "needed": ", ".join(_quota_text(changed[place]) for place in needed),
        "now_value": quotas[first].limit,
        "needed_value": needed[first],
        "unit": quotas[first].unit,
        "set": f"stock.quota{every if others else key}",
    }


def _quota_text(quota: Quota) -> str:
    return sentence(f"relax.quota.{quota.unit}", count=quota.limit)


def _lead_days(opening: Opening) -> int:
    """The longest lead time of the offer that keeps the deadline, whole days."""
    user = opening.setting.scenario.constraints
    one = opening.table.take(np.array([opening.row]))
    ready_s = around(opening.setting, one.option, one.tier).ready_s
    active = float((one.duration_limit_s - ready_s)[0])
    spare = (user.deadline_s or active) - active
    return min(max(0, int(spare / DAY + 1e-9)), stating(opening).lead_time_days)


def _lead_time(opening: Opening, _user: Constraints) -> Described:
    offer, needed = stating(opening), _lead_days(opening)
    scenario = opening.setting.scenario
    return {
        "now": sentence("relax.days-of", days=offer.lead_time_days, offer=offer.id),
        "needed": sentence("relax.days-of", days=needed, offer=offer.id),
        "now_value": offer.lead_time_days,
        "needed_value": needed,
        "unit": "days",
        "set": own_override(scenario, offer, "lead_time", f"{needed} days"),
    }


def _term(opening: Opening, _user: Constraints) -> Described:
    if stating(opening).purchase == "bought":
        return _charge(opening)
    offer, hours = stating(opening), term_hours(opening)
    scenario, unit = opening.setting.scenario, "days" if hours >= DAY_HOURS else "hours"
    each = DAY_HOURS if unit == "days" else 1
    now, needed = offer.min_term_hours / each, hours // each
    return {
        "now": sentence(f"relax.{unit}-of", **{unit: now}, offer=offer.id),
        "needed": sentence(f"relax.{unit}-of", **{unit: needed}, offer=offer.id),
        "now_value": now,
        "needed_value": needed,
        "unit": unit,
        "set": own_override(scenario, offer, "min_term", f"{needed} {unit}"),
    }


def _charge(opening: Opening) -> Described:
    """The whole price of what is bought, and that of the time used instead."""
    offer, scenario = stating(opening), opening.setting.scenario
    return {
        "now": sentence("relax.charge.whole", offer=offer.id),
        "needed": sentence("relax.charge.used", offer=offer.id),
        "unit": "charge",
        "set": own_override(scenario, offer, "charge", "used"),
    }


def term_hours(opening: Opening) -> int:
    """The longest term of the offer that the budget pays for, hours.

    Whole days, and below one day whole hours.
    """
    setting, offer = opening.setting, stating(opening)
    if offer.purchase == "bought":
        return 0
    budget_usd = setting.scenario.constraints.budget_usd or np.inf
    one = opening.table.take(np.array([opening.row]))
    surely = setting.z != 0.0
    beside = around(setting, one.option, one.tier)
    active = (one.duration_limit_s if surely else one.duration_s) - beside.all_s
    sigma = one.sigma * (not surely)
    (part,) = (p for p in node_parts(setting, one) if p.option.offer.id == offer.id)
    unit_s = np.array([UNIT_S[offer.billing_unit]])

    def rent(hours: int) -> float:
        term_s = hours * float(HOUR)
        billed = billed_seconds(active, beside.paid_s, unit_s, sigma, term_s)
        return part.usd_per_hour * float(billed[0]) / HOUR

    other = float(one.cost_limit_usd[0]) - rent(0)
    low, high = 0, int(offer.min_term_hours)
    while low < high:
        middle = (low + high + 1) // 2
        fits = rent(middle) + other <= budget_usd
        low, high = (middle, high) if fits else (low, middle - 1)
    return low - low % DAY_HOURS if low >= DAY_HOURS else low


def spares_over(setting: Setting, table: CandidateTable) -> IntArray:
    """How far each candidate's spares are from a number that is allowed, (n,)."""
    allowed = np.array(setting.scenario.failures.spares or (0,), dtype=np.int64)
    away = np.abs(table.spares[:, None] - allowed[None, :])
    return np.asarray(away.min(axis=1))


def _spares(opening: Opening, _user: Constraints) -> Described:
    needed = int(opening.table.spares[opening.row])
    now = opening.setting.scenario.failures.spares or ()
    return {
        "now": numbers_text(now),
        "needed": sentence("relax.spares", spares=needed),
        "now_value": now[0] if len(now) == 1 else None,
        "needed_value": needed,
        "unit": "nodes",
        "set": f"failures.spares={needed}",
    }


def changed_supply(opening: Opening, scenario: Scenario) -> Scenario:
    """A scenario with quotas, spares or assumed stock as they would have to be."""
    if opening.rule == "quota":
        return replace(scenario, quotas=changed_quotas(opening))
    if opening.rule == "spares":
        spares = (int(opening.table.spares[opening.row]),)
        return replace(scenario, failures=replace(scenario.failures, spares=spares))
    if opening.rule == "stock" and _is_assumed(opening.option.offer):
        nodes = int(opening.table.rented_nodes[opening.row])
        return replace(scenario, stock_unknown_nodes=nodes)
    return scenario


def numbers_text(numbers: tuple[int, ...]) -> str:
    """Whole numbers in words: ``0 to 4``, or each of them."""
    low, high = numbers[0], numbers[-1]
    if len(numbers) > 2 and len(numbers) == high - low + 1:
        return sentence("range.between", least=low, most=high)
    return ", ".join(f"{number:,}" for number in numbers)


def is_possible(opening: Opening) -> bool:
    """Whether what a requirement would have to be is something that can be stated.

    A reserved offer has a term: that without one it would do is of no use.
    """
    if opening.rule != "term" or stating(opening).purchase != "reserved":
        return True
    return term_hours(opening) > 0


def changed_offer(opening: Opening) -> Offer | None:
    """The offer as it would have to be; None where no figure of it is relaxed."""
    needed: dict[str, Callable[[], tuple[str, float]]] = {
        "cluster": lambda: (
            "max_nodes_per_cluster",
            int(opening.table.rented_nodes[opening.row]),
        ),
        "lead_time": lambda: ("lead_time_days", _lead_days(opening)),
        "term": lambda: ("min_term_hours", float(term_hours(opening))),
    }
    counted = opening.option.offer
    if (
        opening.rule == "stock"
        and counted.max_nodes is not None
        and not counted.available
    ):
        needed["stock"] = lambda: (
            "max_nodes",
            int(opening.table.rented_nodes[opening.row]),
        )
    if opening.rule not in needed:
        return None
    field, value = needed[opening.rule]()
    return stating(opening).model_copy(update={field: value})


SUPPLY: Mapping[str, Callable[[Opening, Constraints], Described]] = {
    "stock": _stock,
    "cluster": _cluster,
    "quota": _quota,
    "spares": _spares,
    "lead_time": _lead_time,
    "term": _term,
}
"""Rule of supply to what would have to be, as the JSON contract has it."""
