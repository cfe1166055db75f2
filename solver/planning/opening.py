"""What leaving one requirement out opens, and how its figures are rounded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from solver.candidates import CandidateTable
from solver.options import Option
from solver.setting import Setting

Described = dict[str, Any]


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
