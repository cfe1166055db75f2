"""The English texts about stock, deliveries, fabrics, lead times, terms and quotas."""

__all__ = ["SUPPLY"]

SUPPLY = {
    "rule.stock": "nodes in stock",
    "rule.cluster": "nodes on one fabric",
    "rule.quota": "quota of the account",
    "rule.spares": "number of spare nodes",
    "rule.lead_time": "time from order to nodes",
    "rule.term": "minimum rental term",
    "row.stock": "nodes in stock",
    "row.cluster": "on one fabric",
    "row.quota": "quota",
    "row.spares": "spare nodes",
    "row.start": "start",
    "row.term": "minimum term",
    "row.unused": "of it unused",
    "part.delivery": "wait for nodes",
    "part.replacement": "replacements",
    "alternative.spares": "other spares",
    "alternative.start": "other start",
    "value.alternative.start": "{plan}, from {start} on",
    "value.alternative.now": "{plan}, at once",
    "value.cluster": "at most {nodes:,} {nodes:node|nodes} a job",
    "value.later-nodes": "{nodes:,} on {day}",
    "value.waited": "{days:,.0f} {days:day|days} after the order ({ordered}), unpaid",
    "value.stock.known": "{nodes:,}, stated by the offer",
    "value.stock.assumed": "{nodes:,}, assumed: the offer says nothing of it",
    "term.years": "{count:,.0f} {count:year|years}",
    "term.months": "{count:,.0f} {count:month|months}",
    "term.days": "{count:,.0f} {count:day|days}",
    "term.hours": "{count:,.4g} {count:hour|hours}",
    "note.keeps-size": (
        "A job keeps the size that it starts with: {nodes:,} {nodes:node|nodes}. "
        "Nodes that come later ({later}) are not used."
    ),
    "note.waits": (
        "The plan waits until {start} for {nodes:,} {nodes:node|nodes}; a job keeps "
        "its size, so starting with the {fewer:,} that are there sooner and growing "
        "is not modelled."
    ),
    "warning.term": (
        "At least {term} are paid: ${unused:,} of the rent ({share}) are for time that "
        "the run does not use."
    ),
    "warning.term-passed": (
        "The run is longer than the term of {term}: what follows it is taken at the "
        "same price."
    ),
    "value.spares": (
        "{spares:,} beside the {nodes:,} that {nodes:trains|train}, ready when one "
        "fails; paid as they are"
    ),
    "value.and-spares": "{servers} + {spares:,} spare {spares:node|nodes}",
    "note.more-spares": (
        "More than {spares:,} spare {spares:node was|nodes were} not tried: allow them "
        "with failures.spares, as {{max: {more}}}."
    ),
    "notice.spares.idle": (
        "Up to {spares:,} spare {spares:node is|nodes are} allowed, but no failure has "
        "to be waited for: say how long a replacement takes (failures.replacement)."
    ),
    "value.quota": "at most {nodes:,} {nodes:node|nodes} of these",
    "warning.quota-unknown": (
        "The vCPUs of this server are not known, so the quota of {limit:,} vCPUs was "
        "not held against it."
    ),
    "notice.quota.unused": (
        "Quota {number} ({quota}) matches no offer and limits nothing."
    ),
    "relax.quota.nodes": "{count:,} {count:node|nodes}",
    "relax.quota.gpus": "{count:,} {count:GPU|GPUs}",
    "relax.quota.vcpus": "{count:,} {count:vCPU|vCPUs}",
    "relax.spares": "{spares:,} spare {spares:node|nodes}",
    "relax.stock.now": "what is known or assumed",
    "relax.stock": "{nodes:,} {nodes:node|nodes} of {offer}",
    "relax.hours-of": "{hours:,.4g} {hours:hour|hours} of {offer}",
    "relax.days-of": "{days:,.4g} {days:day|days} of {offer}",
}
