"""What a requirement asks now, what would open a plan, and how to type that.

``now`` and ``needed`` are for people, ``set`` is the override that opens the plan when
given to ``--set`` as it stands. Numbers are rounded outward to what is printed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from solver.candidates import CandidateTable
from solver.catalog.country_groups import grouped
from solver.messages import sentence
from solver.options import network_gbps_per_gpu
from solver.planning.energy_relaxations import ENERGY
from solver.planning.least_change import HEADROOM_STEPS, pace
from solver.planning.opening import Described, Opening, flow, round_down, round_up
from solver.planning.place_relaxations import PLACES
from solver.planning.supply_relaxations import SUPPLY
from solver.ranges import Range
from solver.scenario.scenario import Constraints, Scenario
from solver.setting import Setting
from solver.units import DAY, GB, GIB, HOUR, format_count, format_duration_s, format_usd
from solver.wording import listed

OF_SCENARIO = {**ENERGY, **PLACES}
"""Rules that are described from all of the scenario, not its constraints alone."""

SHORT_DAYS = 3.0
"""Finishes sooner than this are told in hours."""

SMALL_USD = 100.0
"""Costs below this are told to the cent."""


def describe(opening: Opening, scenario: Scenario) -> Described:
    """One relaxation as the JSON contract has it, with the plan that it opens."""
    known = (opening.setting, opening.table, opening.row)
    setting, table, row = opening.opened or known
    if opening.rule in OF_SCENARIO:
        told = OF_SCENARIO[opening.rule](opening, scenario)
    else:
        told = _DESCRIBE[opening.rule](opening, scenario.constraints)
    return {
        "constraint": opening.rule,
        **told,
        "opens": opened_plan(setting, table, row),
    }


def opened_plan(setting: Setting, table: CandidateTable, row: int) -> Described:
    """The plan that a relaxation opens, in short."""
    return {
        "offer": setting.options[int(table.option[row])].name,
        "gpus": int(table.layouts.gpus[row]),
        "cost_usd": round(float(table.cost_limit_usd[row]), 2),
        "duration_days": round_up(float(table.duration_limit_s[row]) / DAY, 4),
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
    return listed(known) if known else None


def _listed(values: tuple[str, ...] | None) -> str | None:
    return ", ".join(values) if values else None


def _override(section: str, now: Mapping[str, Any], changes: Mapping[str, Any]) -> str:
    """The one override for all changes of a section, which keeps the rest of it."""
    if len(changes) == 1:
        ((key, value),) = changes.items()
        return f"constraints.{section}.{key}={flow(value)}"
    both = {**now, **changes}
    kept = {key: value for key, value in both.items() if value not in (None, ())}
    return f"constraints.{section}={flow(kept)}"


def _with(values: tuple[str, ...] | None, new: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*(values or ()), new)))


def deadline_needed_s(opening: Opening) -> float:
    """The soonest finish, rounded up to a tenth of a day, or of an hour if short."""
    return deadline_rounded_up(float(opening.table.duration_limit_s[opening.row]))


def deadline_rounded_up(seconds: float) -> float:
    """A finish, rounded up to a tenth of a day, or of an hour if short."""
    unit = HOUR if seconds < SHORT_DAYS * DAY else DAY
    return round_up(seconds / unit, 1) * unit


def budget_needed_usd(opening: Opening) -> float:
    """The least cost, rounded up to a dollar, or to a cent if small."""
    return budget_rounded_up(float(opening.table.cost_limit_usd[opening.row]))


def budget_rounded_up(usd: float) -> float:
    """A cost, rounded up to a dollar, or to a cent if small."""
    return round_up(usd, 0 if usd >= SMALL_USD else 2)


def _deadline(opening: Opening, user: Constraints) -> Described:
    return deadline_text(user.deadline_s or 0.0, deadline_needed_s(opening))


def deadline_text(now_s: float, needed_s: float) -> Described:
    """A deadline and the one that is needed, and how to type that."""
    short = needed_s < SHORT_DAYS * DAY
    text = f"{needed_s / HOUR:.1f} hours" if short else f"{needed_s / DAY:.1f} days"
    hours = sentence("relax.hours", hours=needed_s / HOUR)
    return {
        "now": format_duration_s(now_s),
        "needed": hours if short else sentence("relax.days", days=needed_s / DAY),
        "now_value": now_s / DAY,
        "needed_value": needed_s / DAY,
        "unit": "days",
        "set": f"constraints.deadline={text}",
    }


def _budget(opening: Opening, user: Constraints) -> Described:
    return budget_text(user.budget_usd, budget_needed_usd(opening))


def budget_text(now_usd: float | None, needed_usd: float) -> Described:
    """A budget and the one that is needed, and how to type that."""
    return {
        "now": format_usd(now_usd or 0.0),
        "needed": format_usd(needed_usd),
        "now_value": now_usd,
        "needed_value": needed_usd,
        "unit": "USD",
        "set": f"constraints.budget={needed_usd:.2f}".removesuffix(".00"),
    }


def pace_needed(opening: Opening) -> float:
    """The fastest training at the confidence asked, rounded down, tokens/s."""
    return round_down(float(pace(opening.setting, opening.table)[opening.row]), 0)


def _throughput(opening: Opening, user: Constraints) -> Described:
    needed = pace_needed(opening)
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
            "set": f"constraints.{key}={flow(_with(now, needed))}",
        }

    return described


def _countries(opening: Opening, user: Constraints) -> Described:
    country, now = opening.option.country, grouped(user.countries or ())
    if country is not None:
        more = grouped((*(user.countries or ()), country))
        return {
            "now": _listed(now),
            "needed": country,
            "unit": "countries",
            "set": f"constraints.countries={flow(more)}",
        }
    return {
        "now": _listed(now),
        "needed": sentence("relax.no-country"),
        "unit": "countries",
        "set": "constraints.countries=null",
    }


def _purchase(opening: Opening, user: Constraints) -> Described:
    """The purchase kinds that are missing: of a mix there may be two."""
    kinds = [part.offer.purchase for part in opening.option.parts]
    missing = tuple(kind for kind in kinds if kind not in user.purchase)
    return {
        "now": _listed(user.purchase),
        "needed": ", ".join(missing),
        "unit": "purchase",
        "set": f"constraints.purchase={flow((*user.purchase, *missing))}",
    }


def _gpu_types(opening: Opening, user: Constraints) -> Described:
    needed = opening.option.gpu.id
    excluded = _listed(user.gpu_exclude)
    without = sentence("relax.not", names=excluded) if excluded else None
    changes = {}
    if user.gpu_types and needed not in user.gpu_types:
        changes["types"] = _with(user.gpu_types, needed)
    if needed in user.gpu_exclude:
        kept = tuple(name for name in user.gpu_exclude if name != needed)
        changes["exclude"] = kept
    return {
        "now": _joined(_listed(user.gpu_types), without),
        "needed": needed,
        "unit": "gpu_types",
        "set": _override("gpus", _gpus_now(user), changes),
    }


def _gpus_now(user: Constraints) -> dict[str, Any]:
    """The section ``gpus`` of the constraints as it stands."""
    return {
        "types": user.gpu_types,
        "exclude": user.gpu_exclude,
        "min": user.gpus.min,
        "max": user.gpus.max,
        "per_node": user.gpus_per_node.values,
    }


def _gpus(opening: Opening, user: Constraints) -> Described:
    needed = int(opening.table.busy_gpus[opening.row])
    size = opening.option.server.gpus_per_node
    per_node = range_text(user.gpus_per_node)
    each = sentence("range.per-node", limit=per_node) if per_node else None
    changes: dict[str, Any] = {}
    parts = []
    if not user.gpus.allows(needed):
        key = "min" if user.gpus.min is not None and needed < user.gpus.min else "max"
        changes[key] = needed
        parts.append(f"{needed}")
    if not user.gpus_per_node.allows(size):
        changes["per_node"] = (size,)
        parts.append(sentence("range.per-node", limit=size))
    return {
        "now": _joined(range_text(user.gpus), each),
        "needed": _joined(*parts),
        "needed_value": needed,
        "unit": "GPUs",
        "set": _override("gpus", _gpus_now(user), changes),
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


@dataclass(frozen=True)
class _Floor:
    """The rate that a section asks, and the one of the plan that opens."""

    key: str
    now: float | None
    needed: float
    words: str
    """Id of the sentence that tells a rate."""
    unit: str = ""
    """What is typed after a rate."""

    @property
    def broken(self) -> bool:
        """Whether the plan that opens is slower than is asked."""
        return self.now is not None and self.needed < self.now

    def typed(self, rate: float | None) -> float | str | None:
        """A rate as it is typed."""
        return f"{rate:g}{self.unit}" if self.unit and rate is not None else rate


def _floor_and_kinds(
    section: str, floor: _Floor, kinds: tuple[str, ...] | None, kind: str
) -> Described:
    """What opens a section of a floor and a set of kinds: either, or both at once."""
    changes: dict[str, Any] = {}
    parts = []
    if floor.broken:
        changes[floor.key] = floor.typed(floor.needed)
        parts.append(sentence(floor.words, rate=floor.needed))
    if kinds and kind not in kinds:
        changes["kinds"] = _with(kinds, kind)
        parts.append(kind)
    limit = None if floor.now is None else sentence(floor.words, rate=floor.now)
    now = {floor.key: floor.typed(floor.now), "kinds": kinds}
    return {
        "now": _joined(_listed(kinds), limit),
        "needed": _joined(*parts),
        "unit": section,
        "set": _override(section, now, changes),
    }


def _intra_node(opening: Opening, user: Constraints) -> Described:
    server, least = opening.option.server, user.intra_node_min_gb_per_s
    rate = server.intra_node_gb_per_s
    floor = _Floor("min_gb_per_s", least, rate, "relax.gb-per-s")
    kinds = user.intra_node_kinds
    return _floor_and_kinds("intra_node", floor, kinds, server.intra_node_kind)


def _network(opening: Opening, user: Constraints) -> Described:
    option, least = opening.option, user.network_min_gbps_per_gpu
    rate = network_gbps_per_gpu(option.server)
    floor = _Floor("min_gbps_per_gpu", least, rate, "relax.gbps")
    kind = option.network.kind if option.network else ""
    described = _floor_and_kinds("network", floor, user.network_kinds, kind)
    if not kind:
        described["needed"] = sentence("relax.no-network")
        described["set"] = "constraints.network={}"
    return described


def _storage(opening: Opening, user: Constraints) -> Described:
    least = user.storage_min_read_bytes_per_s
    rate = round_down(float(opening.table.read_bytes_per_s[opening.row]) / GB, 2)
    asked = None if least is None else least / GB
    floor = _Floor("min_read", asked, rate, "relax.reads", " GB/s")
    return _floor_and_kinds("storage", floor, user.storage_kinds, opening.tier_kind)


def _memory(opening: Opening, user: Constraints) -> Described:
    usable = opening.option.gpu.usable_memory_gib * GIB
    unused = 1.0 - float(opening.table.memory_bytes[opening.row]) / usable
    needed = int(unused * HEADROOM_STEPS) / HEADROOM_STEPS
    return {
        "now": sentence("relax.headroom", share=user.memory_headroom),
        "needed": sentence("relax.headroom", share=needed),
        "now_value": user.memory_headroom,
        "needed_value": needed,
        "unit": "share",
        "set": f"constraints.memory_headroom={needed:g}",
    }


def _precision(opening: Opening, _user: Constraints) -> Described:
    needed, work = opening.setting.scenario.workload.precision, opening.asked.workload
    # weights in 8 bits belong to 8-bit precisions alone, which stay allowed then
    typed = f"[{','.join(work.precisions)},{needed}]" if work.fp8_weights else needed
    return {
        "now": work.precision,
        "needed": needed,
        "unit": "precision",
        "set": f"workload.precision={typed}",
    }


_DESCRIBE: dict[str, Callable[[Opening, Constraints], Described]] = {
    "memory": _memory,
    "precision": _precision,
    "deadline": _deadline,
    "budget": _budget,
    "throughput": _throughput,
    "gpus": _gpus,
    "gpu_types": _gpu_types,
    "parallelism": _parallelism,
    "regions": _set("regions", "regions", lambda o: o.option.offer.region),
    "countries": _countries,
    "providers": _set("providers", "providers", lambda o: o.option.offer.provider),
    "intra_node": _intra_node,
    "network": _network,
    "storage": _storage,
    "purchase": _purchase,
    **SUPPLY,
}
