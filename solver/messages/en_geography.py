"""The English texts about places, moved data, energy and carbon."""

__all__ = ["GEOGRAPHY"]

GEOGRAPHY = {
    "headline.optimal.energy": "least energy, proved optimal",
    "headline.optimal.carbon": "least carbon, proved optimal",
    "section.energy": "Energy and carbon",
    "row.energy": "energy",
    "row.carbon": "carbon",
    "value.power": "{power:,.3g} kW a node × PUE {pue:g}, an estimate",
    "value.carbon": "{carbon} CO2",
    "value.carbon.unknown": "not known: nothing is known of the grid",
    "value.grid": "{grams:,.0f} g a kWh",
    "provenance.pue": "PUE",
    "part.transfer": "copying data",
    "part.serving": "copying weights",
    "rule.residency": "where the data may lie",
    "rule.energy": "energy of the run",
    "rule.carbon": "carbon of the run",
    "why.energy": (
        "With all else as it is, the least energy is {needed} instead of {now}."
    ),
    "why.carbon": (
        "With all else as it is, the least carbon is {needed} instead of {now}."
    ),
    "notice.residency.location": (
        "The data lies in {location} ({country}) now, outside of where it may lie "
        "(data.residency)."
    ),
    "moved.data": "the data",
    "moved.weights": "the weights",
    "warning.transfer-assumed": (
        "Copies between regions are taken to run at {rate:,.4g} Gb/s (data.transfer): "
        "an assumption."
    ),
    "warning.egress-unknown": (
        "The price of copying {what} from {origin} to {target} is not known and not "
        "in the cost."
    ),
    "relax.carbon.asked": "what is known",
    "relax.carbon.unknown": "any: the grid of this offer is not known",
}
