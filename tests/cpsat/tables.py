"""Small candidate tables that everybody can do in their head, and random ones."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from solver.cpsat.table import (
    AllowedSet,
    AllowedValues,
    Bound,
    JobTable,
    Requirement,
    Term,
)

COST = (Term("cost"),)
TIME = (Term("duration"),)


def table(
    quantities: dict[str, Sequence[int]],
    categories: dict[str, Sequence[str]] | None = None,
    *,
    rank: Sequence[int] | None = None,
    name: str = "job",
) -> JobTable:
    """A table from plain lists; labels are numbered in order of the alphabet."""
    n = len(next(iter(quantities.values())))
    coded = {}
    for category, values in (categories or {}).items():
        labels = tuple(sorted(set(values)))
        codes = np.array([labels.index(v) for v in values], dtype=np.int64)
        coded[category] = (codes, labels)
    return JobTable(
        name=name,
        quantities={k: np.array(v, dtype=np.int64) for k, v in quantities.items()},
        units={"cost": "0.01 USD", "duration": "1 s"},
        categories=coded,
        rank=np.array(range(n) if rank is None else rank, dtype=np.int64),
    )


def three_offers(**changes: Any) -> JobTable:
    """Cheap and slow, middling, dear and fast; every quantity and category differs."""
    quantities: dict[str, Sequence[int]] = {
        "cost": [100, 200, 300],
        "duration": [30, 20, 10],
        "cost_at_confidence": [110, 220, 330],
        "energy": [100, 200, 300],
        "energy_at_confidence": [110, 220, 330],
        "carbon": [30, 20, 10],
        "carbon_at_confidence": [33, 22, 11],
        "duration_at_confidence": [33, 22, 11],
        "gpus": [8, 16, 64],
        "nodes": [2, 2, 8],
        "spares": [0, 1, 2],
        "gpus_per_node": [4, 8, 8],
        "tp": [1, 2, 4],
        "pp": [1, 2, 4],
        "cp": [1, 2, 4],
        "ep": [1, 2, 4],
        "etp": [1, 2, 4],
        "dp": [8, 2, 1],
        "virtual_stages": [1, 2, 4],
        "micro_batch": [1, 2, 4],
        "zero_stage": [0, 1, 3],
        "step_time": [9, 5, 2],
        "memory": [70, 50, 30],
        "memory_excess": [6, 0, 0],
        "stock_excess": [0, 0, 4],
        "cluster_excess": [0, 0, 6],
        "quota_0": [8, 16, 64],
        "storage_excess": [0, 3, 0],
        "storage_read": [10, 20, 40],
        "intra_node_bandwidth": [30, 300, 450],
        "network_bandwidth": [3, 25, 50],
        "tokens_per_s": [1000, 2000, 4000],
    }
    categories = {
        "gpu_type": ["a100-80gb", "a100-80gb", "h100-sxm"],
        "intra_node_tier": ["pcie4", "nvlink3", "nvswitch-nvlink4"],
        "intra_node_kind": ["pcie", "nvlink", "nvswitch"],
        "network_tier": ["ethernet-25", "roce-200", "ndr-400"],
        "network_kind": ["ethernet", "roce", "infiniband"],
        "start": ["2026-12-01", "2026-12-01", "2027-03-01"],
        "storage_tier": ["local-nvme", "lustre", "object"],
        "storage_kind": ["local_nvme", "parallel_fs", "object_store"],
        "region": ["aws/us-east-1", "gcp/asia-southeast1", "mine/sg"],
        "country": ["US", "SG", "SG"],
        "provider": ["aws", "gcp", "mine"],
        "purchase": ["spot", "on_demand", "owned"],
        "recompute": ["full", "selective", "none"],
    }
    quantities.update(changes)
    return table(quantities, categories)


@st.composite
def random_tables(draw: st.DrawFn, max_rows: int = 12, name: str = "job") -> JobTable:
    """A table of up to ``max_rows`` candidates with many ties and equal rows."""
    n = draw(st.integers(1, max_rows))
    top = draw(st.sampled_from([2, 5, 10**6, 10**12]))

    def column() -> list[int]:
        return draw(st.lists(st.integers(0, top), min_size=n, max_size=n))

    def labels(names: str) -> list[str]:
        return draw(st.lists(st.sampled_from(names), min_size=n, max_size=n))

    quantities = {q: column() for q in ("cost", "duration", "tokens_per_s", "gpus")}
    rank = draw(st.permutations(range(n)))
    categories = {"region": labels("abc"), "purchase": labels("xy")}
    return table(quantities, categories, rank=rank, name=name)


@st.composite
def random_requirements(draw: st.DrawFn, of: JobTable) -> list[Requirement]:
    """Limits near the values of the table, so that many bind and some forbid all."""

    def some(quantity: str) -> int:
        offset = draw(st.integers(-1, 1))
        values = of.quantity(quantity).tolist()
        return max(0, draw(st.sampled_from(values)) + offset)

    pool: list[Requirement] = [
        Bound("deadline", "duration", None, some("duration")),
        Bound("budget", "cost", None, some("cost")),
        Bound("throughput", "tokens_per_s", some("tokens_per_s"), None),
        Bound("gpus", "gpus", some("gpus"), some("gpus")),
        AllowedValues("gpus", "gpus", frozenset({some("gpus"), some("gpus")})),
        AllowedSet(
            "regions", "region", frozenset(draw(st.sets(st.sampled_from("abcd"))))
        ),
        AllowedSet("purchase", "purchase", frozenset("x")),
    ]
    return draw(st.lists(st.sampled_from(pool), max_size=3, unique=True))


@st.composite
def random_objectives(draw: st.DrawFn) -> list[tuple[Term, ...]]:
    """cost, time, both in either order, or a weighted sum."""
    weighted = (Term("cost", draw(st.integers(1, 50))), Term("duration", 3))
    return draw(
        st.sampled_from([[COST, TIME], [TIME, COST], [COST], [weighted, COST], []])
    )


def brute_force(
    of: JobTable, requirements: Iterable[Requirement], objective: Sequence[Any]
) -> int | None:
    """The best row by plain Python over plain lists; shares no code with the solver."""
    best: tuple[list[int], int] | None = None
    for row in range(len(of.rank)):
        if not all(_meets(of, row, r) for r in requirements):
            continue
        key = [
            sum(t.weight * int(of.quantities[t.quantity][row]) for t in level)
            for level in objective
        ]
        key.append(int(of.rank[row]))
        if best is None or key < best[0]:
            best = (key, row)
    return None if best is None else best[1]


def _meets(of: JobTable, row: int, requirement: Requirement) -> bool:
    if isinstance(requirement, AllowedSet):
        codes, labels = of.categories[requirement.category]
        return labels[int(codes[row])] in requirement.labels
    value = int(of.quantities[requirement.quantity][row])
    if isinstance(requirement, AllowedValues):
        return value in requirement.values
    over = requirement.upper is not None and value > requirement.upper
    under = requirement.lower is not None and value < requirement.lower
    return not over and not under
