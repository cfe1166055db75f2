"""What leaving one requirement out opens, and how figures are rounded and typed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from solver.candidates import CandidateTable
from solver.errors import InputError
from solver.options import Option
from solver.scenario.scenario import Scenario
from solver.setting import Setting
from solver.yaml_source import load_plain

Described = dict[str, Any]


@dataclass(frozen=True)
class Opening:
    """What leaving one requirement out opens: the best plan there."""

    rule: str
    setting: Setting
    """Of the scenario without the requirement."""
    table: CandidateTable
    row: int
    """The candidate that needs least of what was left out."""
    opened: tuple[Setting, CandidateTable, int] | None = None
    """The best plan under the limit as it is printed; None: the same."""
    stated: Scenario | None = None
    """The scenario with the requirement; None where it does not matter."""

    @property
    def asked(self) -> Scenario:
        """The scenario as it was asked."""
        return self.setting.scenario if self.stated is None else self.stated

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
    return float(np.ceil(value * scale - 1e-9) / scale) + 0.0  # no minus before a 0


def round_down(value: float, digits: int) -> float:
    """``value`` rounded down to so many decimals."""
    scale = 10.0**digits
    return float(np.floor(value * scale + 1e-9) / scale)


def flow(value: Any) -> str:
    """A value as it is typed in an override, names quoted where YAML needs that."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{k}: {flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (tuple, list)):
        return "[" + ",".join(flow(v) for v in value) + "]"
    if isinstance(value, str):
        return value if _plain(value) else json.dumps(value, ensure_ascii=False)
    return f"{value:.15g}"


def _plain(name: str) -> bool:
    """Whether YAML reads a name in a list as that name."""
    try:
        return bool(load_plain(f"[{name}]", "override") == [name])
    except InputError:
        return False
