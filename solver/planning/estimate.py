"""Memory and step time of one pinned layout, by part.

Nothing about offers, prices or dates is decided. Degrees that are not pinned take
the fastest layout that fits under the pins, and the answer says which were pinned.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from solver.catalog.names import most_usual_first, resolve_gpu
from solver.catalog.schema import Offer
from solver.catalog.slices import is_slice
from solver.catalog.supply import standard_server
from solver.errors import InputError, Issue, IssueLog, nearest
from solver.hardware import hardware_of, precision_supported
from solver.layout_space import Lattice, LayoutSpace, NodeLimits
from solver.messages import sentence
from solver.performance.efficiency import attained
from solver.performance.inputs import (
    RECOMPUTE,
    FloatArray,
    Hardware,
    IntArray,
    Layouts,
    TrainingJob,
)
from solver.performance.parallelism import explain_divisibility
from solver.performance.step_time import mfu, step_time
from solver.plan import LayoutPlan, Message
from solver.planning.alignment_plan import alignment_of, as_if_held
from solver.planning.build_plan import layout_plan, memory_gib
from solver.planning.card_notes import card_notes
from solver.planning.layout_notes import layout_notes
from solver.planning.offload_notes import host_notes
from solver.planning.plan_notes import note
from solver.planning.prediction_notes import PredictedSteps
from solver.ranges import Range
from solver.setting import Setting, node_kind, setting_of
from solver.units import DAY, GIB

if TYPE_CHECKING:
    from solver.catalog.load import Catalog
    from solver.catalog.schema import Server
    from solver.scenario.scenario import Scenario

VERDICTS = ("fits", "tight", "impossible")
Verdict = Literal["fits", "tight", "impossible"]

DEGREES = ("tp", "pp", "cp", "ep", "dp", "virtual_stages", "micro_batch", "zero_stage")
"""Pins that are axes of the lattice."""

SHOWN_NAMES = 4
"""How many GPUs or servers a question names."""

JOINED_TO_NONE = "no network joins MIG slices: one slice is one job"

OTHER_COLUMNS = ("etp", "accumulation")
"""Pins on columns that follow from the axes."""


@dataclass(frozen=True, slots=True)
class EstimatePins:
    """What the user fixes; None is free."""

    gpu: str | None = None
    server: str | None = None
    offer: str | None = None
    gpus: int | None = None
    nodes: int | None = None
    gpus_per_node: int | None = None
    tp: int | None = None
    pp: int | None = None
    cp: int | None = None
    ep: int | None = None
    etp: int | None = None
    dp: int | None = None
    virtual_stages: int | None = None
    micro_batch: int | None = None
    accumulation: int | None = None
    zero_stage: int | None = None
    recompute: str | None = None
    network_gbps: float | None = None


@dataclass(frozen=True, slots=True)
class Estimate:
    """The memory and time of one layout."""

    gpu: str
    server: str
    nodes: int
    gpus: int
    network: str | None
    framework: str
    layout: LayoutPlan
    memory_gib: dict[str, float]
    verdict: Verdict
    step_time_s: float
    step_time_parts_s: dict[str, float]
    mfu: float
    tokens_per_s: float
    training_days: float
    step_time_p10_s: float
    step_time_p90_s: float
    """Between these lie eight of ten measured steps."""
    efficiency: float
    """Share of the predicted speed that the step is timed at."""
    notes: tuple[Message, ...]
    alignment: dict[str, Any] | None = None
    """What DPO, PPO or GRPO adds, as in a plan."""

    def as_dict(self) -> dict[str, Any]:
        """The estimate for ``--json``."""
        data = asdict(self)
        data["layout"]["layers_per_stage"] = list(self.layout.layers_per_stage)
        data["notes"] = [
            {"id": n.id, "text": n.text, "values": n.values} for n in self.notes
        ]
        return data


def estimate(scenario: Scenario, catalog: Catalog, pins: EstimatePins) -> Estimate:
    """Memory and step time of the pinned layout of ``scenario``.

    Raises
    ------
    InputError
        If pins name nothing known, contradict each other or do not divide.
    """
    setting = setting_of(scenario, catalog)
    server = _server(setting, pins)
    nodes = _nodes(setting, pins, server)
    setting = _with_pins(setting, pins)
    variants, refused = [], []
    for job in _runnable(setting, server, nodes):
        alone = replace(setting, job=job, others=())
        try:
            variants.append(_of_variant(alone, server, nodes, pins))
        except InputError as error:  # another way to train may have the layout
            refused.append(error)
    if not variants:
        raise refused[0]
    return min(variants, key=_rank)


def _of_variant(
    setting: Setting, server: Server, nodes: int, pins: EstimatePins
) -> Estimate:
    """The estimate of one way to train."""
    hardware = _hardware(setting, server, nodes)
    lattice = _lattice(setting, server, hardware, nodes, pins)
    row = _choose(setting, hardware, lattice, server)
    return _answer(setting, hardware, lattice, row, server)


def _runnable(setting: Setting, server: Server, nodes: int) -> tuple[TrainingJob, ...]:
    """The ways to train that the GPU computes in; the first where there are none.

    Left out is where no node would be left to train, or new weights can't reach those
    that generate.
    """
    gpu = setting.catalog.gpu(server.gpu)
    found = [
        job
        for job in setting.jobs
        if precision_supported(gpu, job.precision)
        and job.rollout_nodes < nodes
        and (server.network or not job.rollout_nodes)
    ]
    first = setting.jobs[0]
    if not found and first.rollout_nodes and not server.network:
        raise _fault("contradiction", "rollout nodes need a network", "server")
    beside = min(job.rollout_nodes for job in setting.jobs)
    if not found and beside >= nodes:
        message = sentence("estimate.none-trains", nodes=nodes, beside=beside)
        raise _fault("contradiction", message, "nodes")
    return tuple(found) or (first,)


def _rank(estimate: Estimate) -> tuple[int, float]:
    """Order of estimates: those that fit by their time, others by their need."""
    place = VERDICTS.index(estimate.verdict)
    impossible = estimate.verdict == VERDICTS[-1]
    need = estimate.memory_gib["total"]
    return place, need if impossible else estimate.training_days


def _flag(pin: str) -> str:
    """The option of a pin as it is typed: ``--zero-stage``."""
    return f"--{pin.replace('_', '-')}"


def _fault(code: str, message: str, pin: str, hint: str | None = None) -> InputError:
    return InputError([Issue(code, message, where=_flag(pin), hint=hint)])


def _named(kind: str, name: str, entries: Any) -> Any:
    if name not in entries:
        raise _fault(
            "unknown-name", f"no {kind} '{name}'", kind, nearest(name, entries)
        )
    return entries[name]


def _server(setting: Setting, pins: EstimatePins) -> Server:
    """The pinned node, or the only one that the scenario allows."""
    catalog = setting.catalog
    if pins.offer is not None:
        offer: Offer = _named("offer", pins.offer, catalog.offers)
        found = catalog.servers[offer.server]
    elif pins.server is not None:
        found = _named("server", pins.server, catalog.servers)
    elif pins.gpu is not None:
        gpus = resolve_gpu(pins.gpu, catalog, allow_family=True)
        if isinstance(gpus, Issue):
            raise InputError([replace(gpus, where="--gpu")])
        found = _usual_server(catalog, usual_member(catalog, gpus), pins)
    else:
        servers = {o.server.id: o.server for o in setting.options}
        if len(servers) != 1:
            raise _fault("missing-key", _which_node(setting, servers), "gpu")
        found = next(iter(servers.values()))
    if pins.network_gbps is not None:
        found = _with_network(setting, found, pins.network_gbps)
    return found


def usual_member(catalog: Catalog, gpus: tuple[str, ...]) -> str:
    """Of the GPUs that a family name stands for the most usual one."""
    return most_usual_first(gpus, catalog)[0]


def _which_node(setting: Setting, servers: dict[str, Server]) -> str:
    """Ask for the kind of node, naming a few."""
    if not servers:
        return "the scenario allows no node: name one with --gpu or --server"
    gpus = most_usual_first({s.gpu for s in servers.values()}, setting.catalog)
    if len(gpus) == 1:
        few = ", ".join(sorted(servers)[:SHOWN_NAMES])
        more = " ..." if len(servers) > SHOWN_NAMES else ""
        return (
            f"{len(servers)} kinds of node fit the scenario: name one with --server or "
            f"--offer, such as {few}{more}"
        )
    more = " ..." if len(gpus) > SHOWN_NAMES else ""
    return (
        f"{len(servers)} kinds of node fit the scenario: name one with --gpu, --server "
        f"or --offer, such as --gpu with one of {', '.join(gpus[:SHOWN_NAMES])}{more}"
    )


def _usual_server(catalog: Catalog, gpu_id: str, pins: EstimatePins) -> Server:
    """The usual server of a GPU; as many GPUs a node as are asked for, 8 at most."""
    wanted = pins.gpus_per_node
    if wanted is None:
        usual = [
            s.gpus_per_node
            for s in catalog.servers.values()
            if s.standard and s.gpu == gpu_id
        ]
        wanted = 1 if is_slice(gpu_id) else max(usual, default=8)
        total = pins.gpus or (wanted * (pins.nodes or 1))
        wanted = min(wanted, total) if pins.nodes is None else wanted
    return standard_server(catalog, gpu_id, wanted)


def _with_network(setting: Setting, server: Server, gbps: float) -> Server:
    if is_slice(server.gpu):
        raise _fault("no-network", JOINED_TO_NONE, "network_gbps")
    networks = setting.catalog.networks
    tier = server.network or min(
        networks, key=lambda n: (abs(networks[n].gbps_per_nic * 8 - gbps), n)
    )
    values = {"network": tier if gbps > 0 else None, "network_gbps": gbps}
    return server.model_copy(update=values)


def _nodes(setting: Setting, pins: EstimatePins, server: Server) -> int:
    """Number of nodes from what is pinned; refused where it does not divide."""
    size = server.gpus_per_node
    if pins.nodes is not None:
        if pins.gpus is not None and pins.gpus != pins.nodes * size:
            raise _fault(
                "not-divisible",
                f"{pins.nodes} nodes of {size} are {pins.nodes * size} GPUs, "
                f"not {pins.gpus}",
                "gpus",
            )
        return pins.nodes
    gpus = pins.gpus
    if gpus is None and pins.dp is not None:
        gpus = pins.dp * (pins.tp or 1) * (pins.pp or 1) * (pins.cp or 1)
    if gpus is None:
        bound = setting.scenario.constraints.gpus
        if bound.min is not None and bound.min == bound.max:
            gpus = int(bound.min)
    if gpus is None and is_slice(server.gpu):
        gpus = 1
    if gpus is None:
        raise _fault("missing-key", "say how many GPUs: --gpus or --nodes", "gpus")
    if gpus % size:
        low = gpus // size * size
        near = f"{low} or {low + size} are" if low else f"{size} are"
        message = f"{gpus} GPUs are no whole number of nodes of {size}: {near}"
        raise _fault("not-divisible", message, "gpus")
    return gpus // size


def _with_pins(setting: Setting, pins: EstimatePins) -> Setting:
    user = setting.scenario.constraints
    degrees = {
        name: Range(values=(getattr(pins, name),))
        for name in DEGREES
        if getattr(pins, name) is not None
    }
    recompute = user.recompute
    if pins.recompute is not None:
        if pins.recompute not in RECOMPUTE:
            *first, last = RECOMPUTE
            expected = f"expected {', '.join(first)} or {last}"
            message = f"{expected}, not '{pins.recompute}'"
            hint = nearest(pins.recompute, RECOMPUTE)
            raise _fault("wrong-value", message, "recompute", hint)
        recompute = (pins.recompute,)
    constraints = replace(
        user,
        parallelism={**user.parallelism, **degrees},
        recompute=recompute,
        gpus=Range(),
    )
    return replace(setting, scenario=replace(setting.scenario, constraints=constraints))


def _hardware(setting: Setting, server: Server, nodes: int) -> Hardware:
    gpu = setting.catalog.gpu(server.gpu)
    precision = setting.job.precision
    if not precision_supported(gpu, precision):
        raise _fault(
            "precision-unsupported",
            f"{gpu.id} does not compute in {precision}",
            "gpu",
        )
    if nodes > 1 and is_slice(gpu.id):
        raise _fault("no-network", JOINED_TO_NONE, "gpus")
    if nodes > 1 and not server.network:
        raise _fault(
            "no-network",
            f"{server.id} has no known network between nodes: one node, or say "
            "--network-gbps",
            "nodes",
        )
    return hardware_of(setting.catalog, server, precision)


def _lattice(
    setting: Setting,
    server: Server,
    hardware: Hardware,
    nodes: int,
    pins: EstimatePins,
) -> Lattice:
    """Layouts under the pins on exactly so many nodes, fitting or not."""
    kind = node_kind(server, hardware)
    user = setting.scenario.constraints
    gpus = Range(values=(nodes * server.gpus_per_node,))
    space = LayoutSpace(
        setting.shape,
        setting.job,
        setting.framework,
        replace(user, gpus=gpus),
        {kind: NodeLimits(nodes, np.inf)},
    )
    lattice = space.lattice(kind)
    keep = np.ones(len(lattice), dtype=bool)
    for name in OTHER_COLUMNS:
        wanted = getattr(pins, name)
        if wanted is not None:
            keep &= getattr(lattice.layouts, name) == wanted
    rows = np.flatnonzero(keep)
    if not len(rows):
        raise _no_layout(setting, space, kind, pins)
    return lattice.take(rows)


def _where(axis: str, pins: EstimatePins) -> str:
    """The option, or the key of the scenario, that pins an axis."""
    if getattr(pins, axis, None) is None and axis in (*DEGREES, "recompute"):
        return f"constraints.parallelism.{axis}"
    return _flag(axis)


def _no_layout(
    setting: Setting, space: LayoutSpace, kind: Any, pins: EstimatePins
) -> InputError:
    log = IssueLog()
    faults = explain_divisibility(
        setting.shape, setting.job, setting.framework, space.limits(kind)
    )
    for fault in faults:
        if not fault.repaired:
            hint = " or ".join(str(n) for n in fault.nearest) or None
            log.add(fault.code, fault.why, where=_where(fault.axis, pins), hint=hint)
    if not log:
        log.add(
            "not-divisible",
            "no layout divides as pinned: gpus = tp x pp x cp x dp, batch = dp x "
            "micro-batch x accumulation",
            where="--gpus",
        )
    return InputError(log.issues)


def _choose(
    setting: Setting, hardware: Hardware, lattice: Lattice, server: Server
) -> int:
    """The fastest layout that fits; where none fits the one that needs least."""
    usable = setting.catalog.gpu(server.gpu).usable_memory_gib * GIB
    headroom = setting.scenario.constraints.memory_headroom
    for allowed in (usable * (1.0 - headroom), usable):
        rows = np.flatnonzero(lattice.memory_bytes <= allowed)
        if len(rows):
            _, training_s = _times(setting, hardware, lattice, rows)
            return int(rows[np.argmin(training_s)])
    return int(np.argmin(lattice.memory_bytes))


def _times(
    setting: Setting, hardware: Hardware, lattice: Lattice, rows: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Seconds of one whole step, and of all steps, of the layouts at ``rows``."""
    model = (setting.shape, setting.job, setting.framework, hardware)
    return lattice.training_s("here", rows, lambda some: step_time(*model, some).total)


def _answer(
    setting: Setting, hardware: Hardware, lattice: Lattice, row: int, server: Server
) -> Estimate:
    one = lattice.layouts.take(np.array([row]))
    seconds = step_time(setting.shape, setting.job, setting.framework, hardware, one)
    holds = bool(np.isfinite(seconds.total[0]))
    if not holds:
        hardware, seconds = as_if_held(setting, hardware, one)
    step_s = float(seconds.total[0])
    gpu = setting.catalog.gpu(server.gpu)
    job = setting.job
    memory = memory_gib(setting, job, one, gpu.usable_memory_gib, hardware)
    used = float(mfu(setting.shape, job, hardware, one, seconds.total)[0])
    tokens = int(one.global_batch[0]) * job.sequence_length
    training_s = float(_times(setting, hardware, lattice, np.array([row]))[1][0])
    steps = int(lattice.steps[row])
    made = PredictedSteps(setting, job, gpu, hardware, int(one.gpus[0]), training_s)
    return Estimate(
        gpu=gpu.id,
        server=server.id,
        nodes=int(one.nodes[0]),
        gpus=int(one.gpus[0]),
        network=server.network if one.nodes[0] > 1 else None,
        framework=setting.framework.name,
        layout=layout_plan(setting, job, one),
        memory_gib=memory,
        verdict=_verdict(setting, memory) if holds else "impossible",
        step_time_s=step_s,
        step_time_parts_s={k: float(v[0]) for k, v in seconds.parts().items()},
        mfu=used,
        tokens_per_s=tokens / step_s,
        training_days=training_s / DAY,
        step_time_p10_s=step_s / made.late_factor,
        step_time_p90_s=step_s * made.late_factor,
        efficiency=float(attained(job, hardware)),
        notes=(
            *_notes(setting, server, len(lattice), one, made),
            *card_notes(setting.catalog, gpu, server, hardware),
            *host_notes(setting, server, one),
        ),
        alignment=alignment_of(setting, job, hardware, one, seconds, steps),
    )


def _verdict(setting: Setting, memory: dict[str, float]) -> Verdict:
    share = memory["total"] / memory["capacity"]
    if share <= 1.0 - setting.scenario.constraints.memory_headroom:
        return "fits"
    return "tight" if share <= 1.0 else "impossible"


def _notes(
    setting: Setting, server: Server, layouts: int, one: Layouts, made: PredictedSteps
) -> tuple[Message, ...]:
    """What was assumed of the scenario and of the node, and of the layout shown."""
    offers = setting.catalog.offers
    named = {name for name, offer in offers.items() if offer.server != server.id}
    found = [n for n in setting.scenario.notices if n.values.get("offer") not in named]
    if layouts > 1:
        found.append(note("note.layout-chosen", count=layouts))
    found += layout_notes(setting.shape, setting.framework, one)
    return (*found, *made.notes())
