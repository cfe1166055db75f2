"""Negotiated discounts, their names resolved."""

from __future__ import annotations

from itertools import product

from solver.scenario import lookup
from solver.scenario.reading import Reading
from solver.scenario.scenario import PriceRule
from solver.scenario.schema import ScenarioFile
from solver.scenario.supply_schema import PriceSpec
from solver.yaml_source import DataPath


def resolve_prices(file: ScenarioFile, reading: Reading) -> tuple[PriceRule, ...]:
    """Return one rule for each provider, region and GPU that a discount names.

    Notes
    -----
    A family of GPUs and a bare region name stand for several, of which each gets a
    rule of its own.
    """
    rules: list[PriceRule] = []
    for position, spec in enumerate(file.prices):
        rules.extend(_rules(spec, ("prices", position), reading))
    return tuple(rules)


def _rules(spec: PriceSpec, path: DataPath, reading: Reading) -> list[PriceRule]:
    """Return the rules of one discount; none if a name in it is wrong."""
    providers: tuple[str | None, ...] = (None,)
    regions: tuple[str | None, ...] = (None,)
    gpus: tuple[str | None, ...] = (None,)
    if spec.provider is not None:
        providers = lookup.providers(reading, spec.provider, (*path, "provider"))
    if spec.region is not None:
        regions = lookup.regions(reading, spec.region, (*path, "region"))
    if spec.gpu is not None:
        gpus = lookup.gpus(reading, spec.gpu, (*path, "gpu"))
    return [
        PriceRule(spec.discount, provider, region, gpu, spec.purchase)
        for provider, region, gpu in product(providers, regions, gpus)
    ]
