"""What a requirement asks now, what would open a plan, and how to type that.

``now`` and ``needed`` are for people, ``set`` is the override that opens the plan when
given to ``--set`` as it stands. Numbers are rounded outward to what is printed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from solver.candidates import CandidateTable
from solver.messages import sentence
from solver.options import Option, network_gbps_per_gpu
from solver.ranges import Range
from solver.scenario.scenario import Constraints, Scenario
from solver.setting import Setting
from solver.units import DAY, HOUR, format_count, format_duration_s, format_usd

Described = dict[str, Any]

SHORT_DAYS = 3.0
"""Finishes sooner than this are told in hours."""

SMALL_USD = 100.0
"""Costs below this are told to the cent."""


@dataclass(frozen=True)
class Opening:
    """What leaving one requirement out opens: the best plan there."""

    rule: str
    setting: Setting
    table: CandidateTable
    row: int
    """The candidate that needs least of what was left out."""
    opened: tuple[CandidateTable, int] | None = None
    """The best plan under the limit as it is printed; None: the same."""

    @property
    def option(self) -> Option:
        """The offer of that plan."""
        return self.setting.options[int(self.table.option[self.row])]

    @property
    def tier_kind(self) -> str:
        """The kind of its storage tier."""
        return self.setting.tiers[int(self.table.tier[self.row])].kind


def round_up(value: float, digits: int) -> float:
    """``value`` rounded up to so many decimals."""
    scale = 10.0**digits
    return float(np.ceil(value * scale - 1e-9) / scale)


def round_down(value: float, digits: int) -> float:
    """``value`` rounded down to so many decimals."""
    scale = 10.0**digits
    return float(np.floor(value * scale + 1e-9) / scale)


def describe(opening: Opening, scenario: Scenario) -> Described:
    """One relaxation as the JSON contract has it, with the plan that it opens."""
    table, row = opening.opened or (opening.table, opening.row)
    return {
        "constraint": opening.rule,
        **_DESCRIBE[opening.rule](opening, scenario.constraints),
        "opens": {
            "offer": opening.setting.options[int(table.option[row])].offer.id,
            "gpus": int(table.layouts.gpus[row]),
            "cost_usd": round(float(table.cost_limit_usd[row]), 2),
            "duration_days": round_up(float(table.duration_limit_s[row]) / DAY, 2),
        },
    }


def range_text(wanted: Range) -> str | None:
    """A range in words; None where it allows everything."""
    if wanted.values is not None:
        return ", ".join(f"{v:g}" for v in wanted.values)
    if wanted.min is not None and wanted.min == wanted.max:
        return f"{wanted.min:g}"
    if wanted.min is not None and wanted.max is not None:
        return sentence("range.between", least=wanted.min, most=wanted.max)
    if wanted.min is not None:
        return sentence("range.least", least=wanted.min)
    return None if wanted.max is None else sentence("range.most", most=wanted.max)


def _joined(*parts: str | None) -> str | None:
    known = [part for part in parts if part]
    return ", ".join(known) if known else None


def _listed(values: tuple[str, ...] | None) -> str | None:
    return ", ".join(values) if values else None


def _with(values: tuple[str, ...] | None, new: str) -> str:
    return "[" + ",".join(dict.fromkeys((*(values or ()), new))) + "]"


def deadline_needed_s(opening: Opening) -> float:
    """The soonest finish, rounded up to a tenth of a day, or of an hour if short."""
    seconds = float(opening.table.duration_limit_s[opening.row])
    unit = HOUR if seconds < SHORT_DAYS * DAY else DAY
    return round_up(seconds / unit, 1) * unit


def budget_needed_usd(opening: Opening) -> float:
    """The least cost, rounded up to a dollar, or to a cent if small."""
    usd = float(opening.table.cost_limit_usd[opening.row])
    return round_up(usd, 0 if usd >= SMALL_USD else 2)


def _deadline(opening: Opening, user: Constraints) -> Described:
    needed = deadline_needed_s(opening)
    short = needed < SHORT_DAYS * DAY
    text = f"{needed / HOUR:.1f} hours" if short else f"{needed / DAY:.1f} days"
    hours = sentence("relax.hours", hours=needed / HOUR)
    return {
        "now": format_duration_s(user.deadline_s or 0.0),
        "needed": hours if short else sentence("relax.days", days=needed / DAY),
        "now_value": (user.deadline_s or 0.0) / DAY,
        "needed_value": needed / DAY,
        "unit": "days",
        "set": f"constraints.deadline={text}",
    }


def _budget(opening: Opening, user: Constraints) -> Described:
    needed = budget_needed_usd(opening)
    return {
        "now": format_usd(user.budget_usd or 0.0),
        "needed": format_usd(needed),
        "now_value": user.budget_usd,
        "needed_value": needed,
        "unit": "USD",
        "set": f"constraints.budget={needed:.2f}".removesuffix(".00"),
    }


def _throughput(opening: Opening, user: Constraints) -> Described:
    sigma = opening.setting.arrays.sigma[opening.table.option[opening.row]]
    pace = opening.table.tokens_per_s[opening.row] / np.exp(opening.setting.z * sigma)
    needed = round_down(float(pace), 0)
    return {
        "now": format_count(user.min_tokens_per_s or 0.0),
        "needed": format_count(needed),
        "now_value": user.min_tokens_per_s,
        "needed_value": needed,
        "unit": "tokens/s",
        "set": f"constraints.min_tokens_per_s={needed:.0f}",
    }


def _set(
    field: str, key: str, label: Callable[[Opening], str]
) -> Callable[[Opening, Constraints], Described]:
    """A set of names: what is allowed now, and the one more that opens."""

    def described(opening: Opening, user: Constraints) -> Described:
        now: tuple[str, ...] | None = getattr(user, field)
        needed = label(opening)
        return {
            "now": _listed(now),
            "needed": needed,
            "unit": field,
            "set": f"constraints.{key}={_with(now, needed)}",
        }

    return described


def _gpu_types(opening: Opening, user: Constraints) -> Described:
    needed = opening.option.gpu.id
    excluded = _listed(user.gpu_exclude)
    without = sentence("relax.not", names=excluded) if excluded else None
    exclude = [name for name in user.gpu_exclude if name != needed]
    types = f"constraints.gpus.types={_with(user.gpu_types, needed)}"
    return {
        "now": _joined(_listed(user.gpu_types), without),
        "needed": needed,
        "unit": "gpu_types",
        "set": types
        if user.gpu_types
        else f"constraints.gpus.exclude=[{','.join(exclude)}]",
    }


def _gpus(opening: Opening, user: Constraints) -> Described:
    needed = int(opening.table.layouts.gpus[opening.row])
    per_node = range_text(user.gpus_per_node)
    each = sentence("range.per-node", limit=per_node) if per_node else None
    key = "min" if user.gpus.min is not None and needed < user.gpus.min else "max"
    free = user.gpus.allows(needed)
    size = opening.option.server.gpus_per_node
    node = f"constraints.gpus.per_node=[{size}]"
    return {
        "now": _joined(range_text(user.gpus), each),
        "needed": f"{needed}" if not free else sentence("range.per-node", limit=size),
        "needed_value": needed,
        "unit": "GPUs",
        "set": node if free else f"constraints.gpus.{key}={needed}",
    }


def _stock(opening: Opening, _user: Constraints) -> Described:
    needed = int(opening.table.layouts.nodes[opening.row])
    offer = opening.option.offer
    assumed = offer.max_nodes is None and not offer.available and not offer.marketplace
    return {
        "now": sentence("relax.stock.now"),
        "needed": sentence("relax.stock", nodes=needed, offer=offer.id),
        "needed_value": needed,
        "unit": "nodes",
        "set": f"stock.unknown_nodes={needed}" if assumed else None,
    }


def _parallelism(opening: Opening, user: Constraints) -> Described:
    layouts, row = opening.table.layouts, opening.row
    pins = [
        f"{sentence(f'axis.{axis}')} {range_text(wanted)}"
        for axis, wanted in sorted(user.parallelism.items())
    ]
    if user.recompute is not None:
        pins.append(f"{sentence('axis.recompute')} {_listed(user.recompute)}")
    degrees = ("tp", "pp", "cp", "ep", "dp")
    values = {d: int(getattr(layouts, d)[row]) for d in degrees}
    needed = " ".join(f"{sentence(f'axis.{d}')} {v}" for d, v in values.items())
    return {
        "now": _joined(*pins),
        "needed": needed,
        "unit": "layout",
        "set": "constraints.parallelism={}",
    }


def _intra_node(opening: Opening, user: Constraints) -> Described:
    server = opening.option.server
    least, kinds = user.intra_node_min_gb_per_s, user.intra_node_kinds
    floor = None if least is None else sentence("relax.gb-per-s", rate=least)
    slow = least is not None and server.intra_node_gb_per_s < least
    rate, kind = server.intra_node_gb_per_s, server.intra_node_kind
    change = (
        f"min_gb_per_s={rate:g}" if slow or not kinds else f"kinds={_with(kinds, kind)}"
    )
    return {
        "now": _joined(_listed(kinds), floor),
        "needed": sentence("relax.gb-per-s", rate=rate) if slow else kind,
        "unit": "intra_node",
        "set": f"constraints.intra_node.{change}",
    }


def _network(opening: Opening, user: Constraints) -> Described:
    option = opening.option
    least, kinds = user.network_min_gbps_per_gpu, user.network_kinds
    floor = None if least is None else sentence("relax.gbps", rate=least)
    rate = network_gbps_per_gpu(option.server)
    kind = option.network.kind if option.network else None
    slow = least is not None and rate < least
    if kind is None:
        needed, change = sentence("relax.no-network"), "constraints.network={}"
    elif slow:
        needed = sentence("relax.gbps", rate=rate)
        change = f"constraints.network.min_gbps_per_gpu={rate:g}"
    else:
        needed, change = kind, f"constraints.network.kinds={_with(kinds, kind)}"
    return {
        "now": _joined(_listed(kinds), floor),
        "needed": needed,
        "unit": "network",
        "set": change,
    }


def _storage(opening: Opening, user: Constraints) -> Described:
    least, kinds = user.storage_min_read_bytes_per_s, user.storage_kinds
    floor = None if least is None else sentence("relax.reads", rate=least / 1e9)
    rate = round_down(float(opening.table.read_bytes_per_s[opening.row]) / 1e9, 2)
    slow = least is not None and rate * 1e9 < least
    kind = opening.tier_kind
    change = f"min_read={rate:g} GB/s" if slow else f"kinds={_with(kinds, kind)}"
    return {
        "now": _joined(_listed(kinds), floor),
        "needed": sentence("relax.reads", rate=rate) if slow else kind,
        "unit": "storage",
        "set": f"constraints.storage.{change}",
    }


_DESCRIBE: dict[str, Callable[[Opening, Constraints], Described]] = {
    "deadline": _deadline,
    "budget": _budget,
    "throughput": _throughput,
    "gpus": _gpus,
    "gpu_types": _gpu_types,
    "stock": _stock,
    "parallelism": _parallelism,
    "regions": _set("regions", "regions", lambda o: o.option.offer.region),
    "countries": _set("countries", "countries", lambda o: str(o.option.country)),
    "providers": _set("providers", "providers", lambda o: o.option.offer.provider),
    "intra_node": _intra_node,
    "network": _network,
    "storage": _storage,
    "purchase": _set("purchase", "purchase", lambda o: o.option.offer.purchase),
}
