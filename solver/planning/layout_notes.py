"""What a layout does with what does not divide: told, never rounded away."""

from __future__ import annotations

from solver.performance.inputs import Framework, Layouts, TransformerShape
from solver.performance.stages import divides_evenly, layers_per_stage
from solver.performance.transformer import padded_vocab
from solver.plan import Message

__all__ = ["layout_notes"]


def layout_notes(
    shape: TransformerShape, framework: Framework, layouts: Layouts
) -> list[Message]:
    """Uneven stages, copied KV heads and a padded vocabulary of the first layout."""
    row = layouts.row(0)
    tp, pp, virtual = row["tp"], row["pp"], row["virtual_stages"]
    found = []
    if not framework.stages_by_cost and not divides_evenly(shape.layers, pp):
        split = layers_per_stage(shape.layers, pp, virtual)
        stages = " + ".join(map(str, split))
        found.append(
            Message.of(
                "warning.layers-uneven", layers=shape.layers, pp=pp, stages=stages
            )
        )
    if tp > shape.kv_heads and not shape.is_mla:
        found.append(
            Message.of("warning.kv-replicated", tp=tp, kv_heads=shape.kv_heads)
        )
    rows = padded_vocab(shape, tp)
    if rows != shape.vocab:
        found.append(
            Message.of("warning.vocabulary-padded", vocab=shape.vocab, rows=rows, tp=tp)
        )
    return found
