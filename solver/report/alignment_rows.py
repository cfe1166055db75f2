"""The section of alignment: placement, models, and how responses are generated."""

from __future__ import annotations

from typing import Any

from solver.messages import sentence
from solver.report.figures import Row, Section, label, number, percent
from solver.units import format_count

__all__ = ["alignment_section", "rollout_row"]


def alignment_section(alignment: dict[str, Any] | None) -> tuple[Section, ...]:
    """Return the section; nothing where nothing is aligned."""
    if alignment is None:
        return ()
    kind = alignment["kind"]
    rows = [Row(sentence("row.alignment.kind"), kind.upper(), note=_counted(alignment))]
    if kind != "dpo":
        rows.append(Row(sentence("row.alignment.placement"), _placement(alignment)))
    rows += [_model(model) for model in alignment["models"]]
    rows += _generation(alignment)
    return (Section("section.alignment", tuple(rows)),)


def rollout_row(rollout_nodes: int, gpus_per_node: int) -> list[Row]:
    """Return the nodes that only generate, where there are any."""
    if not rollout_nodes:
        return []
    text = sentence(
        "value.rollout", nodes=rollout_nodes, gpus=rollout_nodes * gpus_per_node
    )
    return [Row(sentence("row.rollout"), text)]


def _counted(alignment: dict[str, Any]) -> str:
    """Return what a step trains on: pairs, or prompts and responses."""
    kind = "pairs" if alignment["kind"] == "dpo" else "prompts"
    return sentence(
        f"value.alignment.{kind}",
        samples=alignment["samples_per_step"],
        sequences=alignment["sequences_per_step"],
        epochs=alignment["update_epochs"],
    )


def _placement(alignment: dict[str, Any]) -> str:
    """Return where responses are generated."""
    place = alignment["placement"]
    if alignment["one_step_behind"]:
        place = "behind"
    return sentence(f"value.placement.{place}", nodes=alignment["rollout_nodes"])


def _model(model: dict[str, Any]) -> Row:
    """Return one model: its state on a GPU and its share of a step."""
    state = "trained" if model["trained"] else "frozen"
    if not model["memory_gib"]:
        state = "shared"
    text = sentence(
        f"value.model.{state}",
        gib=number(model["memory_gib"]),
        share=percent(model["time_share"]),
    )
    return Row(label("row.model", model["role"]), text, note=model["model"])


def _generation(alignment: dict[str, Any]) -> list[Row]:
    """Return share, speed and layout of generation."""
    made = alignment["generation"]
    if made is None:
        return []
    replicas = sentence(
        "value.replicas",
        replicas=made["replicas"],
        tp=made["tp"],
        stages=made["stages"],
        concurrent=int(made["concurrent"]),
    )
    cache = sentence(
        "value.engine",
        weights=number(made["weights_gib"]),
        cache=number(made["kv_cache_gib"]),
    )
    share = alignment["generation_share"]
    speed = f"{format_count(made['tokens_per_s'])} tok/s"
    whole = sentence(
        "value.generated", tokens=format_count(alignment["tokens_generated"])
    )
    return [
        Row(
            sentence("row.generation"),
            sentence("value.generation", share=percent(share)),
        ),
        Row(sentence("row.generation.speed"), speed, note=whole),
        Row(sentence("row.generation.layout"), replicas),
        Row(sentence("row.generation.memory"), cache),
    ]
