"""What a node's host has and needs, and how data reaches the GPUs."""

from __future__ import annotations

from typing import Any

from solver.messages import sentence
from solver.plan import Plan
from solver.report.figures import Row, Section, label, number
from solver.units import GB, format_bytes, format_count, format_duration_s

__all__ = ["host_section", "input_section"]


def host_section(plan: Plan) -> Section:
    """Return what a node's host has, and what is needed of it."""
    host = plan.host
    rows = []
    for key, unit in (("vcpus", ""), ("local_nvme_tb", "TB"), ("nic_gbps", "Gb/s")):
        have = host.get(key)
        text = (
            sentence("value.unknown")
            if have is None
            else f"{format_count(have)} {unit}".rstrip()
        )
        away = host.get("nvme_needed_gb")
        if key == "local_nvme_tb" and away:
            text = sentence("value.ram", have=text, needed=f"{number(away)} GB")
        rows.append(Row(label("row.host", key), text))
    rows.insert(1, Row(sentence("row.host.ram_gb"), _ram(host)))
    low, high = host.get("ram_usual_low_gb"), host.get("ram_usual_high_gb")
    if low is not None and high is not None:
        usual = sentence("value.ram.usual", low=low, high=high)
        rows.insert(2, Row(sentence("row.host.usual"), usual))
    return Section("section.host", tuple(rows))


def _ram(host: dict[str, float | None]) -> str:
    """Return the host's memory beside what the job needs of it."""
    have, needed = host.get("ram_gb"), host.get("ram_needed_gb")
    shown = sentence("value.unknown") if have is None else f"{format_count(have)} GB"
    if needed is None:
        return shown
    return sentence("value.ram", have=shown, needed=f"{number(needed)} GB")


def input_section(plan: Plan) -> tuple[Section, ...]:
    """Return how data reaches the GPUs; nothing for plans made without."""
    got = plan.input
    if not got:
        return ()
    rates = sentence(
        "value.input.rate",
        have=_rate(got["read_gb_per_s"]),
        needed=_rate(got["read_gb_per_s_needed"]),
    )
    written = sentence(
        "value.input.checkpoint",
        time=format_duration_s(got["checkpoint_s"]),
        rate=_rate(got["write_gb_per_s"]),
    )
    rows = [
        Row(sentence("row.input"), sentence(f"value.input.{got['path']}")),
        Row(sentence("row.input.read"), rates),
        *_decoding(got),
        Row(sentence("row.input.checkpoint"), written),
    ]
    if got["stall_s_a_step"]:
        stall = format_duration_s(got["stall_s_a_step"])
        text = sentence("value.input.stall", stall=stall)
        rows.append(Row(sentence("row.input.stall"), text))
    return (Section("section.input", tuple(rows)),)


def _rate(gb_per_s: float) -> str:
    """Return a rate in the unit that suits it."""
    return f"{format_bytes(gb_per_s * GB)}/s"


def _decoding(got: dict[str, Any]) -> list[Row]:
    """Return who decodes, how fast and on how many cores; nothing for token ids."""
    if got["samples_per_s_needed"] is None:
        return []
    rate = sentence(
        f"value.input.samples.{got['decode']}",
        have=got["samples_per_s"],
        needed=got["samples_per_s_needed"],
    )
    rows = [Row(sentence("row.input.decode"), rate)]
    if got["loader_cores"] is not None:
        text = sentence(
            "value.input.cores",
            have=got["loader_cores"],
            needed=got["loader_cores_needed"],
        )
        rows.append(Row(sentence("row.input.cores"), text))
    return rows
