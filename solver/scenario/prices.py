"""Negotiated discounts, their names resolved."""

from __future__ import annotations

from itertools import product

from solver.catalog.schema import Offer
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
        found = _rules(spec, ("prices", position), reading)
        if found and not any(_matches_any(rule, reading) for rule in found):
            named = spec.model_dump(exclude={"discount"}, exclude_none=True)
            shown = ", ".join(f"{key}: {value}" for key, value in named.items())
            reading.notice("notice.price.unused", number=position + 1, rule=shown)
        rules.extend(found)
    return tuple(rules)


def _matches_any(rule: PriceRule, reading: Reading) -> bool:
    """Return whether an offer that may be used has all that a rule names."""
    supply, catalog = reading.supply, reading.catalog
    own = {server.id: server.gpu for server in supply.servers}
    if any(_matches(rule, offer, own[offer.server]) for offer in supply.offers):
        return True
    return supply.with_catalog and any(
        _matches(rule, offer, catalog.servers[offer.server].gpu)
        for offer in catalog.offers.values()
        if offer.server in catalog.servers
    )


def _matches(rule: PriceRule, offer: Offer, gpu: str) -> bool:
    """Return whether a rule applies to an offer."""
    return (
        rule.provider in (None, offer.provider)
        and rule.region in (None, offer.region)
        and rule.gpu in (None, gpu)
        and rule.purchase in (None, offer.purchase)
    )


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
