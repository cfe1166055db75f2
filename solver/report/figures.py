"""An answer as titled rows of text: what every renderer prints, and nothing of how.

`page` turns a `PlanResult` into a `Page`; `as_table` draws it. All formatting of
numbers and all choice of words happens on this side.
"""

from __future__ import annotations

from dataclasses import dataclass

from solver.messages import has_text, sentence
from solver.plan import Plan
from solver.units import DAY, format_duration_s, unit_word

__all__ = [
    "Grid",
    "Page",
    "Row",
    "Section",
    "duration_text",
    "gpu_name",
    "label",
    "layers_text",
    "number",
    "of_whole",
    "part_rows",
    "percent",
    "region_text",
    "rented_text",
    "servers_text",
    "time_of_whole",
    "time_rows",
    "where_text",
]

_NEGLIGIBLE = 5e-4
"""Parts below this share of the whole are printed as '<0.1%'."""

_ONE_HOUR = 1 / 24
_SHOWN_IN_HOURS = 2.0
"""Days from which a duration is shown in days."""

_NOT_REGIONS = frozenset(("unstated", "default", "local"))
"""What stands for a region where a price list, or an offer, names none."""

_SPELLED = {"pcie": "PCIe", "ada": "Ada", "ti": "Ti", "super": "Super"}
"""Parts of GPU names that are not all capitals."""


@dataclass(frozen=True, slots=True)
class Row:
    """One labelled figure.

    Parameters
    ----------
    label, value
        What it is called and what it is, both as shown.
    share
        Share of a whole in [0, 1], drawn as a bar; None without one.
    note
        Shown after the value, less prominently.
    """

    label: str
    value: str
    share: float | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """Rows that belong together.

    Parameters
    ----------
    id
        Message id of the title, such as ``section.memory``.
    rows
        In printing order.
    numeric
        The values are numbers to be aligned on the right.
    """

    id: str
    rows: tuple[Row, ...]
    numeric: bool = False

    @property
    def title(self) -> str:
        """The title as shown."""
        return sentence(self.id)


@dataclass(frozen=True, slots=True)
class Grid:
    """A table with a head.

    Parameters
    ----------
    id
        Message id of the title.
    columns
        Heads of the columns, as shown.
    rows
        One tuple a row, as long as ``columns``.
    right
        Positions of the columns that are aligned on the right.
    """

    id: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: tuple[int, ...] = ()

    @property
    def title(self) -> str:
        """The title as shown."""
        return sentence(self.id)


@dataclass(frozen=True, slots=True)
class Page:
    """A whole answer.

    Parameters
    ----------
    headline
        The decision and how it is known, one sentence.
    good
        Whether there is something to use, for the headline's colour.
    parts
        Sections and grids in printing order.
    """

    headline: str
    good: bool
    parts: tuple[Section | Grid, ...]


def label(family: str, key: str) -> str:
    """Return the label ``family.key``, or the key in words where there is none."""
    message_id = f"{family}.{key}"
    return sentence(message_id) if has_text(message_id) else key.replace("_", " ")


def number(value: float) -> str:
    """Return a number to three digits, with commas: ``12.6``, ``1,630``."""
    size = abs(value)
    decimals = 0 if size >= 99.95 else 1 if size >= 9.995 else 2
    return f"{value:,.{decimals}f}"


def _decimals(whole: float) -> int:
    """Return the digits after the point with which parts of a whole are printed."""
    return 0 if whole >= 9_995 else 1 if whole >= 99.95 else 2


def percent(share: float) -> str:
    """Return a share in per cent; what would round to 0.0% is ``<0.1%``."""
    if 0 < share < _NEGLIGIBLE:
        return "<0.1%"
    return f"{share * 100:.1f}%"


def gpu_name(gpu_id: str) -> str:
    """Return a GPU's id as people write it: ``H100 SXM 80GB``, ``A30 MIG 1g.6gb``."""
    card, _, profile = gpu_id.partition("/")
    words = card.replace("_", "-").split("-")
    name = " ".join(_SPELLED.get(word, word.upper()) for word in words)
    return f"{name} MIG {profile}" if profile else name


def region_text(region: str) -> str:
    """Return a region as shown; some price lists do not state theirs."""
    return sentence("value.region.unstated") if region in _NOT_REGIONS else region


def where_text(provider: str, region: str) -> str:
    """Return provider and region as part of a sentence: ``aws in us-east-1``."""
    stated = "" if region not in _NOT_REGIONS else ".unstated"
    return sentence(f"value.where{stated}", provider=provider, region=region)


def layers_text(layers_per_stage: tuple[int, ...]) -> str:
    """Return the layers of the pipeline's stages in short: ``10 + 6×11 + 10``."""
    runs: list[tuple[int, int]] = []
    for layers in layers_per_stage:
        if runs and runs[-1][1] == layers:
            runs[-1] = (runs[-1][0] + 1, layers)
        else:
            runs.append((1, layers))
    return " + ".join(str(n) if times == 1 else f"{times}×{n}" for times, n in runs)


def part_rows(
    parts: dict[str, float], unit: str, whole: float | None = None
) -> tuple[Row, ...]:
    """Return one row a part that is not zero, each with its share of the whole.

    Parameters
    ----------
    parts
        Name of a part to its size.
    unit
        Shown after each size.
    whole
        What the shares are of; by default the sum of the parts.
    """
    whole = sum(parts.values()) if whole is None else whole
    return tuple(
        Row(
            label("part", name),
            of_whole(size, whole, unit),
            share=size / whole if whole > 0 else 0.0,
        )
        for name, size in parts.items()
        if size
    )


def of_whole(size: float, whole: float, unit: str) -> str:
    """Return a part of a whole with as many decimals as all of its parts have."""
    return f"{size:,.{_decimals(whole)}f} {unit_word(unit)}"


def time_rows(parts_days: dict[str, float], whole_days: float) -> tuple[Row, ...]:
    """Return one row a part of a duration that is not zero, as `part_rows`.

    All have the unit of the whole but those under an hour, which would be 0.01 of it.
    """
    return tuple(
        Row(
            label("part", name),
            time_of_whole(days, whole_days),
            share=days / whole_days if whole_days > 0 else 0.0,
        )
        for name, days in parts_days.items()
        if days
    )


def time_of_whole(days: float, whole_days: float) -> str:
    """Return a part of a duration: in days, in hours, or as short as it is."""
    if whole_days < _ONE_HOUR or abs(days) < _ONE_HOUR:
        return format_duration_s(days * DAY)
    if whole_days < _SHOWN_IN_HOURS:
        return of_whole(days * 24.0, whole_days * 24.0, "hours")
    return of_whole(days, whole_days, "days")


def servers_text(
    nodes: int,
    gpus_per_node: int,
    gpu_id: str,
    spare_nodes: int = 0,
    rollout_nodes: int = 0,
) -> str:
    """Return what is rented in short: ``32 × 8 H100 SXM 80GB + 2 spare nodes``."""
    kind = "value.node" if nodes == 1 else "value.nodes"
    gpu = gpu_name(gpu_id)
    text = sentence(kind, nodes=nodes, per_node=gpus_per_node, gpu=gpu)
    if rollout_nodes:
        text = sentence("value.and-rollout", servers=text, nodes=rollout_nodes)
    if spare_nodes:
        text = sentence("value.and-spares", servers=text, spares=spare_nodes)
    return text


def rented_text(plan: Plan) -> str:
    """Return all that a plan rents in short, rollout and spare nodes included."""
    return servers_text(
        plan.nodes,
        plan.gpus_per_node,
        plan.gpu,
        plan.spare_nodes,
        plan.layout.rollout_nodes,
    )


def duration_text(days: float) -> str:
    """Return a number of days as people say it: ``28.4 days``, ``5.1 h``."""
    return format_duration_s(days * DAY)
