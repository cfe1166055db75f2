"""A scenario as one document that names no other file."""

from __future__ import annotations

import copy
from typing import Any

from solver.catalog.schema import Architecture
from solver.scenario.architecture import is_config_path
from solver.scenario.model_schema import ModelSpec
from solver.scenario.scenario import Scenario

__all__ = ["sizes_of", "standalone"]


def standalone(
    data: dict[str, Any], scenario: Scenario, stem: str | None
) -> dict[str, Any]:
    """Return a scenario's data with the sizes of models in place of their files.

    Parameters
    ----------
    data
        With overrides set and tables of offers in place; left as it is.
    scenario
        What was read from it.
    stem
        Its name if it states none.
    """
    document = copy.deepcopy(data)
    if not document.get("name") and stem:
        document["name"] = stem
    _place_sizes(document, "model", scenario.architecture)
    _place_aligned(document.get("workload"), scenario)
    for written, phase in zip(
        document.get("phases") or (), scenario.phases, strict=False
    ):
        _place_aligned(written.get("workload"), phase.scenario)
    return document


def sizes_of(architecture: Architecture) -> dict[str, Any]:
    """Return the sizes of an architecture as a scenario's ``model`` states them."""
    sizes = {name: getattr(architecture, name) for name in ModelSpec.model_fields}
    usual = {name: field.default for name, field in ModelSpec.model_fields.items()}
    return {name: size for name, size in sizes.items() if size != usual[name]}


def _place_aligned(workload: Any, scenario: Scenario) -> None:
    """Put sizes in the place of the files of a reward and a critic model."""
    alignment = workload.get("alignment") if isinstance(workload, dict) else None
    work = scenario.workload.alignment
    if not isinstance(alignment, dict) or work is None:
        return
    _place_sizes(alignment, "reward_model", work.reward)
    _place_sizes(alignment, "critic_model", work.critic)


def _place_sizes(
    parent: dict[str, Any], key: str, architecture: Architecture | None
) -> None:
    """Put sizes in the place of a model that is named by its file."""
    written = parent.get(key)
    if isinstance(written, str) and is_config_path(written) and architecture:
        parent[key] = sizes_of(architecture)
