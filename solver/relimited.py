"""The same offers asked about again, under other limits or for another objective.

Which offers may be used, and what their layouts need and take, does not depend on the
deadline, the budget or the objective: a setting that was joined once serves them all.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from copy import copy
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from solver.scenario.scenario import Scenario
    from solver.setting import Setting

__all__ = ["remembered", "under"]

T = TypeVar("T")

_MEMO = "_memo"


def under(setting: Setting, scenario: Scenario) -> Setting:
    """A setting of the same offers under other limits, or for another objective.

    ``scenario`` may differ from that of the setting in deadline, budget and other
    limits on what a plan spends, in its objective, and in what it is called. Lattices,
    figures of the options and what is `remembered` serve both.
    """
    _memo(setting)
    if setting.options:  # derived now, or each copy would derive it for itself
        _ = setting.space, setting.option_tiers, setting.storage
    joined = copy(setting)  # with all that was derived, which `replace` would leave
    object.__setattr__(joined, "scenario", scenario)
    return joined


def remembered(setting: Setting, key: Hashable, find: Callable[[], T]) -> T:
    """What was found for a key among the offers of a setting, found once.

    ``find`` depends on the key and on what settings made by `under` share.
    """
    memo = _memo(setting)
    if key not in memo:
        memo[key] = find()
    found: T = memo[key]
    return found


def _memo(setting: Setting) -> dict[Hashable, Any]:
    """What is remembered; no field of the setting, so that other copies start anew."""
    memo: dict[Hashable, Any] = setting.__dict__.setdefault(_MEMO, {})
    return memo
