"""The English texts about mixes, spot, one's own nodes and buying them."""

__all__ = ["PURCHASE"]

PURCHASE = {
    "purchase.bought": "bought",
    "purchase.and": "{base} + {rest}",
    "headline.buy": "Buy {what} at {where}: {cost}, {duration}",
    "headline.up-front": "{cost} charged, {outlay} up front",
    "warning.outlay": (
        "The budget of ${budget:,.0f} is held against what is charged; the outlay up "
        "front is ${outlay:,.0f}."
    ),
    "part.energy": "energy",
    "part.hosting": "hosting",
    "row.mix.base": "base",
    "row.mix.rest": "rest",
    "value.mix": (
        "{nodes:,} {nodes:node|nodes} of {offer}, {purchase}, {node_hour} a node-hour"
    ),
    "value.price.mean": "{gpu_hour} a GPU-hour, {node_hour} a node-hour, a mean",
    "value.price.bought": (
        "{gpu_hour} a GPU-hour, {node_hour} a node-hour, of depreciation"
    ),
    "row.lost": "lost to failures",
    "section.purchase": "Buying",
    "row.outlay": "to pay up front",
    "row.resale": "resale",
    "value.resale": "{usd} after {years:g} {years:year|years}",
    "row.yearly": "a year",
    "value.yearly": "{usd}: depreciation, hosting and energy at full use",
    "row.full_use": "a GPU-hour",
    "value.full_use": "{usd} at full use",
    "row.break_even": "break-even",
    "value.break_even": (
        "{months:,.1f} months of full use, against {cost} for this job on {gpu} of "
        "{offer}, {purchase}"
    ),
    "value.break_even.late": (
        "{months:,.1f} months of full use, more than the years of use, against {cost} "
        "for this job on {gpu} of {offer}, {purchase}"
    ),
    "value.break_even.never": (
        "never: running it costs more than {cost} for this job on {gpu} of {offer}, "
        "{purchase}"
    ),
    "value.break_even.none": "nothing that is rented can do this job",
    "warning.lost": (
        "Of the run {percent}% is lost to failures: one comes every {hours:,.1f} "
        "hours, and one of ten runs takes more than {days:,.1f} days. Fewer nodes, or "
        "storage that outlives a node, would lose less."
    ),
    "warning.lost-spot": (
        "Of the run {percent}% is lost to interruptions and failures: one comes every "
        "{hours:,.1f} hours, and one of ten runs takes more than {days:,.1f} days. "
        "Nodes on demand, or fewer of them, would lose less."
    ),
    "note.mix": (
        "A mix of {base:,} {base:node|nodes} of {base_offer} and {rest:,} of "
        "{rest_offer} on demand: both are taken to be on one fabric, as they are the "
        "same nodes of one provider in one region."
    ),
    "warning.node-power": (
        "The power of a node is not stated: {kw:.1f} kW is assumed, {factor:g} x the "
        "power limits of its GPUs. The price of energy rests on it."
    ),
    "warning.pue": (
        "The PUE of the site is not stated: {pue:g} is assumed ({source}). The price "
        "of energy rests on it."
    ),
    "note.bought": (
        "The plan is charged what {nodes:,} bought {nodes:node|nodes} lose of their "
        "price in the time that it uses them, {share} of {term}: other jobs have to "
        "pay for the rest (charge: whole, if there are none)."
    ),
    "note.bought-whole": (
        "The whole price of {nodes:,} bought {nodes:node|nodes}, less resale, is "
        "charged to this plan, which uses them for {share} of {term}."
    ),
    "why.goodput": (
        "What is allowed fails so often that no run would end: even the steadiest is "
        "interrupted every {hours:,.1f} hours, and every one would take more than "
        "{times:g} times its work. Nodes on demand rather than spot, fewer of them, or "
        "storage that outlives a node would help."
    ),
    "relax.charge.whole": "the whole price of {offer}",
    "relax.charge.used": "the time used of {offer}",
}
