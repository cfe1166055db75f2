"""Where no host has the memory: other choices that open a plan, each with it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from solver.physics_inputs import offload_of, updates_on
from solver.planning.by_name import best_first
from solver.planning.least_change import Solve
from solver.planning.memory_miss import LEAN_OPTIMIZERS, runs
from solver.planning.relaxation_text import opened_plan
from solver.scenario.offloads import framework_can, moves_states
from solver.scenario.scenario import Workload
from solver.setting import Setting

__all__ = ["host_relaxations"]


def host_relaxations(setting: Setting, solve: Solve) -> tuple[dict[str, Any], ...]:
    """Choices that ask less of hosts and open a plan, each proved by a search.

    Parameters
    ----------
    solve
        Solves a scenario on the catalog of the setting.
    """
    found = []
    for name, now, needed, workload in _choices(setting):
        answer = solve(replace(setting.scenario, workload=workload), 0.0)
        if answer is None:
            continue
        joined, table = answer
        found.append(
            {
                "constraint": name,
                "now": now,
                "needed": needed,
                "unit": "choice",
                "set": f"workload.{name}={needed}",
                "opens": opened_plan(joined, table, int(best_first(joined, table)[0])),
            }
        )
    return tuple(found)


def _choices(setting: Setting) -> Iterator[tuple[str, str, str, Workload]]:
    """Each choice: the key, what it is now, what it would be, the work with it."""
    work, catalog = setting.scenario.workload, setting.catalog
    leaving = [what for what, _ in work.offloads if moves_states(what)]
    places = dict.fromkeys(place for what, place in work.offloads if what in leaving)
    entry = catalog.frameworks[work.framework]
    if "nvme" not in places and any(framework_can(entry, w, "nvme") for w in leaving):
        moved = tuple(
            (what, "nvme" if moves_states(what) else place)
            for what, place in work.offloads
        )
        able = tuple(pair for pair in moved if framework_can(entry, *pair))
        yield "offload_to", ", ".join(places), "nvme", replace(work, offloads=able)
    for optimizer in LEAN_OPTIMIZERS:
        if optimizer in work.optimizers or not runs(catalog, work.framework, optimizer):
            continue
        on_host = catalog.optimizers[optimizer].on_host
        if any(updates_on(on_host, offload_of(what)) for what, _ in work.offloads):
            now = ", ".join(work.optimizers)
            yield "optimizer", now, optimizer, replace(work, optimizers=(optimizer,))
