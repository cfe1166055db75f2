"""Two plans for the toy model: a plain one, and one that uses every kind of figure."""

from functools import cache
from typing import NamedTuple

from solver.catalog.load import Catalog, load_catalog
from solver.plan import Plan
from solver.planning.single_job import plan_job
from solver.scenario.load import resolve_scenario
from solver.scenario.scenario import Scenario
from solver.yaml_source import load_yaml
from tests.catalog.small import OK_SMALL

PLAIN = """
name: plain
model: toy-1b
workload: {tokens: 200B, sequence_length: 2048, global_batch_size: 512, start: scratch}
constraints: {providers: [acme], gpus: {max: 64}}
"""

RICH = """
name: rich
model: toy-1b
workload: {tokens: 200B, sequence_length: 2048, global_batch_size: 512, start: scratch}
data: {size: 3 TB, bytes_per_token: 4, location: aws/us-east-1, residency: [US],
       transfer: 5 Gb/s, storage: aws-s3-standard-ia}
serving: {regions: [acme/east, aws/us-east-1, aws/eu-west-1]}
constraints:
  deadline: 7 days
  budget: $20k
  min_tokens_per_s: 100k
  regions: [acme/east]
  countries: [US]
  providers: [acme]
  gpus: {types: [small-a, small-b], max: 64, per_node: [8]}
  intra_node: {min_gb_per_s: 10, kinds: [nvswitch, nvlink, pcie]}
  network: {min_gbps_per_gpu: 50, kinds: [infiniband]}
  storage: {kinds: [parallel_fs], min_read: 1 GB/s}
  purchase: [on_demand]
  parallelism: {tp: 2, pp: [2], micro_batch: {max: 4}, recompute: [none]}
  confidence: 0.8
overheads: {evaluation: 2%, queue: 3 hours}
prices: [{provider: acme, discount: 20%}]
"""

SPOT = """
name: spot
model: toy-1b
workload: {tokens: 20B, sequence_length: 2048, global_batch_size: 256, start: scratch}
objective: time
constraints: {providers: [acme], purchase: [spot], confidence: 0.9}
stock: {unknown_nodes: 4}
"""

MONTHLY = """
name: monthly
model: toy-1b
data: {location: aws/us-east-1, size: 100 GB}
serving: {regions: [aws/us-east-1]}
workload: {tokens: 200B, sequence_length: 2048, global_batch_size: 512, start: scratch}
constraints: {confidence: 0.7}
offers:
  - name: mine
    gpu: small-a
    gpus_per_node: 8
    usd_per_node_month: 9000
    network: {gbps_per_node: 1600, kind: infiniband}
    max_nodes: 2
    region: sg
"""

TIMED = """
name: timed
model: toy-1b
stock: {quota: [{provider: mine, max_gpus: 28}, {max_vcpus: 1}]}
workload: {tokens: 200B, sequence_length: 2048, global_batch_size: 512, start: scratch}
constraints: {confidence: 0.8}
offers:
  - name: mine
    gpu: small-a
    gpus_per_node: 8
    usd_per_gpu_hour: 2
    network: {gbps_per_node: 1600, kind: infiniband}
    max_nodes: 8
    max_nodes_per_cluster: 4
    lead_time: 2 weeks
    purchase: reserved
    min_term: 1 year
    region: sg
    storage:
      - {name: fs, kind: parallel_fs, read: 9 GB/s, write: 9 GB/s, usd_per_gb_month: 1}
"""

SPARED = """
name: spared
model: toy-1b
workload: {tokens: 300B, sequence_length: 2048, global_batch_size: 512, start: scratch}
constraints: {providers: [acme], gpus: {max: 64}, confidence: 0.9}
objective: time
stock: {unknown_nodes: 11, quota: [{provider: acme, max_gpus: 80}]}
failures:
  gpu_mtbf: 300 hours
  checkpoint_interval: 1 hour
  restart: 20 min
  replacement: 18 hours
  spares: [1, 2, 3]
"""

ADAPTERS = """
name: adapters
model: toy-1b
workload: {method: qlora, tokens: 2B, sequence_length: 2048, global_batch_size: 64,
           efficiency: 80%}
objective: {cost: 1, usd_per_day: 300}
constraints: {providers: [acme]}
"""


MIXED = """
name: mixed
model: toy-1b
stock: {quota: [{provider: host, max_gpus: 48}, {purchase: monthly, max_nodes: 2}]}
workload: {tokens: 200B, sequence_length: 2048, global_batch_size: 512, start: scratch}
constraints: {confidence: 0.8, deadline: 24 days, gpus: {min: 32}}
prices: [{purchase: on_demand, discount: 10%}]
offers:
  - name: contract
    provider: host
    gpu: small-a
    gpus_per_node: 8
    usd_per_node_month: 5000
    network: {gbps_per_node: 1600, kind: infiniband}
    max_nodes: 3
    lead_time: 10 days
    region: sg
    ram_gb: 512
  - name: burst
    provider: host
    gpu: small-a
    gpus_per_node: 8
    usd_per_gpu_hour: 2.4
    network: {gbps_per_node: 1600, kind: infiniband}
    max_nodes: 2
    max_nodes_per_cluster: 5
    region: sg
    ram_gb: 1024
"""

BOUGHT = """
name: bought
model: toy-1b
workload: {tokens: 200B, sequence_length: 2048, global_batch_size: 512, start: scratch}
constraints: {confidence: 0.8}
offers:
  - name: hall
    gpu: small-a
    gpus_per_node: 8
    buy_usd_per_node: $150k
    years: 4
    resale: 20%
    usd_per_kwh: 0.11
    pue: 1.3
    hosting_usd_per_node_month: 400
    network: {gbps_per_node: 1600, kind: infiniband}
    max_nodes: 2
    lead_time: 60 days
    region: sg
  - name: cloud
    gpu: small-a
    gpus_per_node: 8
    usd_per_gpu_hour: 1.9
    network: {gbps_per_node: 1600, kind: infiniband}
    max_nodes: 4
    region: jp
"""

OWNED = """
name: owned
model: toy-1b
workload: {tokens: 200B, sequence_length: 2048, global_batch_size: 512, start: scratch}
constraints: {gpus: {min: 24}}
offers:
  - name: ours
    provider: host
    gpu: small-a
    gpus_per_node: 8
    usd_per_kwh: 0.2
    node_power: 4.2 kW
    network: {gbps_per_node: 1600, kind: infiniband}
    max_nodes: 2
    region: sg
  - name: burst
    provider: host
    gpu: small-a
    gpus_per_node: 8
    usd_per_gpu_hour: 2.4
    network: {gbps_per_node: 1600, kind: infiniband}
    max_nodes: 6
    region: sg
"""


class Example(NamedTuple):
    """A plan with the question that it answers."""

    plan: Plan
    scenario: Scenario
    catalog: Catalog


@cache
def catalog() -> Catalog:
    """The tiny catalog on top of the shipped one."""
    return load_catalog([OK_SMALL], environment={})


def scenario_of(text: str) -> Scenario:
    """The scenario in a YAML text."""
    return resolve_scenario(load_yaml(text, "scenario.yaml"), catalog())


@cache
def example(text: str) -> Example:
    """The best plan for a scenario in a YAML text."""
    scenario = scenario_of(text)
    plan = plan_job(scenario, catalog(), alternatives=0).plan
    assert plan is not None
    return Example(plan, scenario, catalog())
