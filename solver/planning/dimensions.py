"""What tells one way to do a job from another: GPU, provider, region and so on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from solver.options import Option

NO_NETWORK = "none"
"""Label of a node without a network to others."""

NOT_KNOWN = "not known"
"""Label of an offer whose country is not known."""


@dataclass(frozen=True, slots=True)
class Dimension:
    """One property of an offer.

    Parameters
    ----------
    rule
        Id of the rule by which a scenario restricts it.
    label
        Its value of an offer.
    """

    rule: str
    label: Callable[[Option], str]


DIMENSIONS: Mapping[str, Dimension] = {
    "gpu": Dimension("gpu_types", lambda o: o.gpu.id),
    "provider": Dimension("providers", lambda o: o.offer.provider),
    "region": Dimension("regions", lambda o: o.offer.region),
    "country": Dimension("countries", lambda o: o.country or NOT_KNOWN),
    "purchase": Dimension("purchase", lambda o: o.purchase),
    "network": Dimension("network", lambda o: o.server.network or NO_NETWORK),
}
"""Name of each dimension, as options and JSON have it."""
